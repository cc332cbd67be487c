/* test_scratchpads.c - tests verdicts on scratchpad formats. The best of several formats in one run decides
 * nothing; several runs decide for or against. Formats that have not learned aren't compared. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "ref_races.h"

static const char *const pes[] = {"none", "t5", "alibi", "rotary", "sinusoidal", NULL};

#define HELPS "a scratchpad"
#define BEST  "no scratchpad format is the best"

/* Mean accuracy on longer inputs by encoding: without a scratchpad, minimal, full. */
struct numbers {
    double of[3][5];
};

static struct pw_snapshot *seen(const char *task, const struct numbers *x, double step, double in_range,
                                int runs)
{
    static const char *const formats[] = {"none", "minimal", "full"};
    struct pw_snapshot *s = pw_snapshot_new();
    for (int k = 0; k < 3; k++) {
        char topic[64], made[64];
        snprintf(topic, sizeof topic, "%s %s", task, formats[k]);
        snprintf(made, sizeof made, "reproduce scratchpads%s%s",
                 strcmp(task, "parity") == 0 ? "" : " task=", strcmp(task, "parity") == 0 ? "" : task);
        races_add(s, "scratchpads", topic, made, pes, x->of[k], step, in_range, runs);
    }
    return s;
}

static void expect(const char *task, const struct numbers *x, double step, double in_range, int runs,
                   int helps, int best)
{
    struct pw_snapshot *s = seen(task, x, step, in_range, runs);
    struct pw_finding f;
    races_judge(&f, s, "scratchpads", (const char *const[]){"task", task, NULL});
    if (races_verdict(&f, HELPS) != helps || races_verdict(&f, BEST) != best)
        fail_msg("%s, %d runs: %s; %s: %s, %s", task, runs, f.claims[0].found, f.claims[f.n_claims - 1].found,
                 pw_claim_verdicts[races_verdict(&f, HELPS)], pw_claim_verdicts[races_verdict(&f, BEST)]);
    pw_finding_fini(&f);
    pw_snapshot_free(s);
}

enum { TOY = PW_CLAIM_TOY, NOT = PW_CLAIM_CONTRADICTED, OPEN = PW_CLAIM_INCONCLUSIVE };

static const struct numbers helped = {{{20, 20, 20, 20, 20}, {60, 60, 60, 20, 20}, {20, 20, 20, 20, 20}}},
                            alike = {{{20, 20, 20, 20, 20}, {21, 21, 20, 20, 20}, {20, 20, 20, 20, 20}}},
                            crossing = {{{20, 20, 20, 20, 20}, {60, 30, 20, 20, 20}, {30, 60, 20, 20, 20}}},
                            full_best = {{{20, 20, 20, 20, 20}, {30, 30, 30, 30, 30}, {60, 60, 60, 60, 60}}};

/* One run chosen among formats decides nothing. An earlier version judged parity "contradicted" and
 * addition "same order". */
static void test_one_run(void **state)
{
    (void)state;
    expect("parity", &helped, 0, 99, 1, OPEN, OPEN);
    expect("addition", &helped, 0, 99, 1, OPEN, OPEN);
    expect("parity", &alike, 0, 99, 1, OPEN, OPEN);
    expect("parity", &full_best, 0, 99, 3, OPEN, OPEN);
}

static void test_several_runs(void **state)
{
    (void)state;
    expect("parity", &helped, .5, 99, 6, NOT, OPEN);
    expect("addition", &helped, .5, 99, 6, TOY, OPEN);
    expect("parity", &alike, .1, 99, 6, TOY, OPEN);
    expect("addition", &alike, .1, 99, 6, NOT, OPEN);
    expect("parity", &alike, 20, 99, 6, OPEN, OPEN);  /* the intervals are too wide */
    expect("parity", &helped, 40, 99, 6, OPEN, OPEN); /* these runs overlap, too */
    expect("parity", &crossing, .5, 99, 6, TOY, TOY); /* three encodings are not helped */
    expect("parity", &full_best, .5, 99, 6, NOT, NOT);
}

static void test_not_learned(void **state)
{
    (void)state;
    expect("parity", &helped, .5, 90, 6, OPEN, OPEN);
    expect("parity", &alike, .1, 90, 6, OPEN, OPEN);
}

/* Every difference is listed with its interval, and the number of runs that a claim needs is named. */
static void test_listed(void **state)
{
    struct pw_snapshot *s = seen("parity", &helped, .5, 99, 3);
    struct pw_finding f;
    (void)state;
    races_judge(&f, s, "scratchpads", (const char *const[]){"task", "parity", NULL});
    const struct pw_block *b = &f.blocks[2];
    assert_int_equal(b->rows, 10);
    assert_string_equal(pw_finding_row_name(&f, b, 1), "none full");
    assert_true(fabs(pw_finding_cell(&f, b, 0, 0) - 40) < 1e-9 && pw_finding_cell(&f, b, 0, 1) < 40);
    assert_true(fabs(pw_finding_cell(&f, b, 0, 3) - .1) < 1e-9 && pw_finding_cell(&f, b, 0, 4) == 1);
    assert_non_null(strstr(f.claims[0].found, "3 replicas (a claim needs 6)"));
    pw_finding_fini(&f);
    pw_snapshot_free(s);
}

/* A verdict refuses a format that was measured with other steps, for one task and for all. */
static void test_made_otherwise(void **state)
{
    struct pw_snapshot *s = seen("parity", &helped, .5, 99, 6);
    static const char *const all[] = {"task", "all", NULL}, *const addition[] = {"task", "addition", NULL};
    struct pw_finding f;
    (void)state;
    races_add(s, "scratchpads", "addition none", "reproduce scratchpads task=addition", pes, helped.of[0], .5,
              99, 6);
    races_judge(&f, s, "scratchpads", all);
    pw_finding_fini(&f);
    races_add(s, "scratchpads", "addition full", "reproduce scratchpads task=addition steps=5", pes,
              helped.of[1], .5, 99, 6);
    for (int i = 0; i < 2; i++)
        races_refuse(s, "scratchpads", i == 0 ? all : addition,
                     "judge: 'scratchpads addition full' was made by 'reproduce scratchpads task=addition "
                     "steps=5', not by 'reproduce scratchpads task=addition'");
    races_add(s, "scratchpads", "lego full", NULL, pes, helped.of[1], .5, 99, 6);
    races_refuse(s, "scratchpads", (const char *const[]){"task", "lego", NULL},
                 "judge: 'scratchpads lego full' doesn't record the options that made it: measure it again");
    races_judge(&f, s, "scratchpads", (const char *const[]){NULL}); /* parity's are not among them */
    pw_finding_fini(&f);
    pw_snapshot_free(s);
}

/* The verdict 'reproduced' needs at least the paper's steps. */
static void test_size(void **state)
{
    static const struct {
        const char *made, *options[7];
        int verdict;
    } cases[] = {
        {"reproduce scratchpads protocol=paper", {"protocol", "paper"}, PW_CLAIM_REPRODUCED},
        {"reproduce scratchpads protocol=paper steps=40000",
         {"protocol", "paper", "steps", "40000"},
         PW_CLAIM_REPRODUCED},
        {"reproduce scratchpads protocol=paper steps=100", {"protocol", "paper", "steps", "100"}, TOY},
        {"reproduce scratchpads steps=40000", {"steps", "40000"}, TOY}};
    static const char *const formats[] = {"none", "minimal", "full"};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pw_snapshot *s = pw_snapshot_new();
        struct pw_finding f;
        for (int k = 0; k < 3; k++) {
            char topic[64];
            snprintf(topic, sizeof topic, "parity %s", formats[k]);
            races_add(s, "scratchpads", topic, cases[i].made, pes, crossing.of[k], .5, 99, 6);
        }
        races_judge(&f, s, "scratchpads", cases[i].options);
        assert_int_equal(races_verdict(&f, HELPS), cases[i].verdict);
        assert_int_equal(races_verdict(&f, BEST), cases[i].verdict);
        pw_finding_fini(&f);
        pw_snapshot_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_run),        cmocka_unit_test(test_several_runs),
        cmocka_unit_test(test_not_learned),    cmocka_unit_test(test_listed),
        cmocka_unit_test(test_made_otherwise), cmocka_unit_test(test_size)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
