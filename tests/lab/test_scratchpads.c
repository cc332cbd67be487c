/* test_scratchpads.c - every entry of the study of scratchpads trains one step, is evaluated and judged, at
 * toy settings and at the paper's; and what the last judgement says of so little. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "ref_lab.h"
#include "reproduce/scratchpads.h"
#include "reproduce/study.h"

/* The study's lines with a batch of two, and the paper's model cut down in everything but context and what
 * goes with it: its 12 layers of 768 would take minutes for a step. */
static void add_small(struct pw_str *out, const char *script)
{
    static const char model[] = "model paper", train[] = "train\n";
    while (*script != '\0') {
        int n = (int)strcspn(script, "\n") + 1;
        if (strncmp(script, train, sizeof train - 1) == 0)
            pw_str_add(out, "optim batch=2\n");
        pw_str_add(out, "%.*s", n - 1, script);
        if (strncmp(script, model, sizeof model - 1) == 0)
            pw_str_add(out, " layers=1 width=16 heads=2 ffn=16");
        pw_str_add(out, "\n");
        script += n;
    }
}

static int entries_of(const char *script)
{
    int n = 0;
    for (const char *at = script; (at = strstr(at, "judge ")) != NULL; at++)
        n++;
    return n;
}

static void run_all(int protocol)
{
    const struct pw_study *study;
    struct pw_scratchpads o;
    struct bench b;
    struct pw_err err;
    assert_int_equal(pw_study_find(&study, "scratchpads", &err), PW_OK);
    pw_opt_defaults(study->opts, &o);
    o.protocol = protocol;
    o.seeds = o.steps = o.samples = 1;
    strcpy(o.pes, "none,t5");
    bench_open(&b, 2, false);
    for (o.task = 0; o.task < PW_PAD_TASKS; o.task++) {
        struct pw_str script = {0}, small = {0};
        int formats = pw_pad_tasks[o.task].no_variables ? PW_PAD_FORMATS - 1 : PW_PAD_FORMATS;
        study->script(&o, &script);
        assert_int_equal(entries_of(script.s), formats);
        add_small(&small, script.s);
        pw_str_add(&small, "judge scratchpads");
        pw_opt_print(study->opts, &o, true, &small);
        bench_must(&b, small.s);
        const struct pw_finding_view *v = pw_finding_of(b.s, "scratchpads", pw_pad_tasks[o.task].name);
        assert_non_null(v);
        assert_int_equal(v->f.n_claims, 3);
        for (int i = 0; i < v->f.n_claims; i++)
            assert_int_equal(v->f.claims[i].verdict, PW_CLAIM_INCONCLUSIVE);
        assert_int_equal(v->f.blocks[2].rows,
                         2 * (formats - 1)); /* each format of each encoding against none */
        pw_str_fini(&script);
        pw_str_fini(&small);
    }
    bench_close(&b);
}

static void test_toy(void **state)
{
    (void)state;
    run_all(PW_PROTOCOL_TOY);
}

static void test_paper(void **state)
{
    (void)state;
    run_all(PW_PROTOCOL_PAPER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_toy), cmocka_unit_test(test_paper)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
