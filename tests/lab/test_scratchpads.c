/* test_scratchpads.c - every entry of the study of scratchpads trains one step, is evaluated and judged, with
 * toy settings and with the paper's. Tests also the final verdict on so little data. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "ref_lab.h"
#include "reproduce/repro.h"
#include "reproduce/scratchpads.h"

static int formats_of(const struct pw_pad_task *t)
{
    return t->no_variables ? PW_PAD_FORMATS - 1 : PW_PAD_FORMATS;
}

static const struct pw_repro *read_defaults(struct pw_scratchpads *o)
{
    const struct pw_repro *study;
    struct pw_err err;
    assert_int_equal(pw_repro_find(&study, "scratchpads", &err), PW_OK);
    pw_opt_defaults(study->opts, o);
    o->seeds = o->steps = o->samples = 1;
    strcpy(o->pes, "none,t5");
    return study;
}

/* The study's own lines. */
static void test_toy(void **state)
{
    struct pw_scratchpads o;
    struct bench b;
    const struct pw_repro *study = read_defaults(&o);
    (void)state;
    bench_open(&b, 2, false);
    for (o.task = 0; o.task < PW_PAD_TASKS; o.task++) {
        struct pw_str script = {0};
        study->script(&o, &script);
        pw_str_add(&script, "judge scratchpads");
        pw_opt_print(study->opts, &o, true, &script);
        bench_must(&b, script.s);
        const struct pw_finding_view *v = pw_finding_of(b.s, "scratchpads", pw_pad_tasks[o.task].name);
        assert_non_null(v);
        assert_int_equal(v->f.n_claims, 3);
        for (int i = 0; i < v->f.n_claims; i++)
            assert_int_equal(v->f.claims[i].verdict, PW_CLAIM_INCONCLUSIVE);
        /* each format of each encoding against none */
        assert_int_equal(v->f.blocks[2].rows, 2 * (formats_of(&pw_pad_tasks[o.task]) - 1));
        pw_str_fini(&script);
    }
    bench_close(&b);
}

/* checkpoint=best: a race is evaluated (decoded) at equal numbers of steps, and the finding says so. */
static void test_checkpoints(void **state)
{
    struct pw_scratchpads o;
    struct bench b;
    struct pw_str script = {0};
    const struct pw_repro *study = read_defaults(&o);
    (void)state;
    o.task = 2; /* parity */
    o.steps = 3;
    o.checkpoint = PW_CHECKPOINT_BEST;
    study->script(&o, &script);
    pw_str_add(&script, "judge scratchpads");
    pw_opt_print(study->opts, &o, true, &script);
    bench_open(&b, 2, false);
    bench_must(&b, script.s);
    assert_int_equal(b.s->arms[0].rep[0].track.n, 3);
    const struct pw_finding_view *v = pw_finding_of(b.s, "scratchpads", "parity minimal");
    assert_non_null(v);
    assert_non_null(strstr(v->f.blocks[0].title, "at the best of 20 checkpoints in range"));
    bench_close(&b);
    pw_str_fini(&script);
}

/* Runs a script of the paper with a batch of two. Its model is reduced in everything except the context and
 * its dependents, as a step of 12 layers of 768 would take minutes. `judge` must refuse such a model. Returns
 * the number of races evaluated. */
static int run_small(struct bench *b, char *script)
{
    int races = 0;
    for (char *rest = script, *line; (line = strtok_r(rest, "\n", &rest)) != NULL;) {
        char text[1024];
        snprintf(text, sizeof text, "%s%s", line,
                 strncmp(line, "model paper", 11) == 0 ? " layers=1 width=16 heads=2 ffn=16; optim batch=2"
                                                       : "");
        bench_run(b, text);
        if (strncmp(line, "judge ", 6) != 0) {
            if (b->errors != 0)
                fail_msg("%s: %s", text, b->error);
            continue;
        }
        assert_int_equal(b->s->arms[1].rep[0].eval_step, 1);
        assert_true(b->s->arms[1].rep[0].eval.n > 0);
        if (b->errors != 1 || strstr(b->error, "the study needs") == NULL)
            fail_msg("%s: '%s'", text, b->error);
        races++;
    }
    return races;
}

static void test_paper(void **state)
{
    struct pw_scratchpads o;
    struct bench b;
    const struct pw_repro *study = read_defaults(&o);
    (void)state;
    o.protocol = PW_PROTOCOL_PAPER;
    bench_open(&b, 2, false);
    for (o.task = 0; o.task < PW_PAD_TASKS; o.task++) {
        struct pw_str script = {0};
        study->script(&o, &script);
        assert_int_equal(run_small(&b, script.s), formats_of(&pw_pad_tasks[o.task]));
        pw_str_fini(&script);
    }
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_toy), cmocka_unit_test(test_checkpoints),
                                       cmocka_unit_test(test_paper)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
