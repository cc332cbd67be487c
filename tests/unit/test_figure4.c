/* test_figure4.c - tests the verdicts on Figures 4 and E.5. Runs have the paper's own numbers, the
 * reverse, or too wide a spread. Other cases: too few runs, models that have not learned, missing findings.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "reproduce/figure4.h"
#include "reproduce/repro.h"

/* NoPE*, T5, ALiBi, rotary, APE; and the growth of each from the shortest length to the longest. */
static const double as_paper[] = {.265, .263, .490, .987, .719}, growing[] = {1.1, 1.1, 1.7, 1.5, 1.4};
static const double reversed[] = {.9, .95, .5, .3, .4}, flat[] = {1, 1, 1, 1, 1};

enum { PROBED = 0, JUDGED = 10 }; /* indices in the snapshot: the probe's findings, and those of the runs */

/* Adds a finding of the probe: distances at the lengths 8 to 28, all of them times `scale`. */
static void add_distances(struct pw_snapshot *s, int at, const char *topic, const double *mean,
                          const double *growth, double scale)
{
    struct pw_finding *f = &s->findings[at].f;
    pw_finding_fini(f);
    s->findings[at].f_seq = (uint64_t)at + 1;
    pw_finding_init(f, "distance", topic, "from a test; 10 sequences a length, all rows");
    for (int block = 0; block < 3; block++) {
        static const char *const titles[] = {"mean over 2 layers", "layer 0", "layer 1"};
        int plot = pw_finding_plot(f, titles[block], "length", "nats", 21, 5, true);
        for (int i = 0; i < 21; i++) {
            pw_finding_x(f, plot, i, 8 + i);
            for (int k = 0; k < 5; k++)
                pw_finding_band(f, plot, i, k, scale * mean[k] * (1 + (growth[k] - 1) * (i - 10) / 20), 0, 1);
        }
    }
    int table = pw_finding_table(f, "over layers and lengths", 5, 1);
    pw_finding_col(f, table, 0, "untrained");
    for (int k = 0; k < 5; k++)
        pw_finding_put(f, table, k, 0, .01 * k);
}

/* Adds the measurements of a run: six arms with `exact` of 100 samples right at the trained lengths. */
static void add_run(struct pw_snapshot *s, const double *mean, const double *growth, int exact, double scale)
{
    static const char *const topics[] = {"1 2 3 4 5 6 released", "1 2 3 4 5 6", "2 1 3 4 5 6 released",
                                         "2 1 3 4 5 6"};
    s->lab.n_tasks = 1;
    s->lab.tasks[0].train_lo = 8;
    s->lab.tasks[0].train_hi = 20;
    for (int i = 0; i < 6; i++) {
        struct pw_ev_eval *e = &s->arms[i].rep[0].eval;
        s->arms[i].used = true;
        s->arms[i].info.replicas = 1;
        e->n = 1;
        e->rows = e->rows != NULL ? e->rows : calloc(1, sizeof *e->rows);
        e->rows[0] = (struct pw_eval_row){.length = 10, .samples = 100, .exact = exact};
    }
    for (int i = 0; i < 4; i++)
        add_distances(s, PROBED + i, topics[i], mean, growth, scale);
}

static const struct pw_figure4 toy = {.task = "scan", .samples = 10, .runs = 6},
                               whole = {.task = "scan", .samples = 10, .runs = 6, .protocol = 1};

static void judge_run(struct pw_snapshot *s, const struct pw_figure4 *made, int run)
{
    struct pw_figure4 o = *made;
    struct pw_finding *f = &s->findings[JUDGED + run].f;
    struct pw_err err;
    o.run = run;
    if (pw_figure4_judge(&o, s, f, &err) != PW_OK)
        fail_msg("%s", err.msg);
    assert_null(pw_finding_check(f));
    assert_int_equal(f->n_claims, 0); /* six models claim nothing */
    s->findings[JUDGED + run].f_seq = (uint64_t)(JUDGED + run + 1);
}

/* Returns a snapshot with this many runs. Between the first and the last run distances differ by the
 * fraction `apart`. */
static struct pw_snapshot *seen_as(const struct pw_figure4 *made, const double *mean, const double *growth,
                                   int exact, int runs, double apart)
{
    struct pw_snapshot *s = pw_snapshot_new();
    for (int run = 1; run <= runs; run++) {
        add_run(s, mean, growth, exact, 1 + apart * ((run - 1) / 5.0 - .5));
        judge_run(s, made, run);
    }
    return s;
}

static struct pw_snapshot *seen(const double *mean, const double *growth, int exact, int runs, double apart)
{
    return seen_as(&toy, mean, growth, exact, runs, apart);
}

static void judge(const struct pw_snapshot *s, const struct pw_figure4 *o, struct pw_finding *f)
{
    struct pw_err err;
    memset(f, 0, sizeof *f);
    if (pw_figure4_judge(o, s, f, &err) != PW_OK)
        fail_msg("%s", err.msg);
    assert_null(pw_finding_check(f));
    assert_int_equal(f->n_claims, 7);
    for (int i = 0; i < f->n_claims; i++)
        assert_true(strlen(f->claims[i].found) < sizeof f->claims[i].found - 1); /* not cut off */
}

static void expect_all(const struct pw_snapshot *s, int verdict)
{
    struct pw_finding f;
    judge(s, &toy, &f);
    for (int i = 0; i < f.n_claims; i++)
        if ((int)f.claims[i].verdict != verdict)
            fail_msg("claim %d is %s: %s", i, pw_claim_verdicts[f.claims[i].verdict], f.claims[i].found);
    pw_finding_fini(&f);
}

static void test_as_paper(void **state)
{
    struct pw_snapshot *s = seen(as_paper, growing, 99, 6, .1);
    struct pw_finding f;
    (void)state;
    expect_all(s, PW_CLAIM_TOY);
    judge(s, &toy, &f);
    const struct pw_block *table = &f.blocks[f.n_blocks - 1];
    assert_string_equal(pw_finding_row_name(&f, table, 3), "rotary");
    assert_true(fabs(pw_finding_cell(&f, table, 3, 0) - .987) < 1e-9); /* mean over runs */
    assert_true(pw_finding_cell(&f, table, 3, 1) < .987 && pw_finding_cell(&f, table, 3, 2) > .987);
    assert_true(fabs(pw_finding_cell(&f, table, 3, 3) - .987) < 1e-6); /* the paper's value */
    assert_true(fabs(pw_finding_cell(&f, table, 3, 7) - .03) < 1e-9);
    assert_true(fabs(pw_finding_cell(&f, table, 3, 8) - 99) < 1e-4);
    assert_string_equal(f.blocks[1].title, "released formula, layer 0");
    assert_string_equal(f.blocks[2].title, "released formula, layer 1"); /* all layers: Figure E.5 */
    assert_true(pw_finding_y_at(&f, &f.blocks[0], 10, 3, 1) < .95 &&
                pw_finding_y_at(&f, &f.blocks[0], 10, 3, 2) > 1);
    pw_finding_fini(&f);
    pw_snapshot_free(s);
    s = seen_as(&whole, as_paper, growing, 99, 6, .1);
    judge(s, &whole, &f); /* at its own size the verdict is not 'toy' */
    assert_int_equal(pw_finding_verdict(&f), PW_CLAIM_REPRODUCED);
    pw_finding_fini(&f);
    pw_snapshot_free(s);
}

/* The paper's protocol with fewer steps, with files of any size, or on another task than the figure's. */
static void test_not_its_size(void **state)
{
    struct pw_figure4 of[3] = {whole, whole, whole};
    (void)state;
    of[0].steps = 100;
    strcpy(of[1].load, "folder");
    strcpy(of[2].task, "copy rsc");
    for (int i = 0; i < 3; i++) {
        struct pw_snapshot *s = seen_as(&of[i], as_paper, growing, 99, 6, .1);
        struct pw_finding f;
        judge(s, &of[i], &f);
        assert_int_equal(pw_finding_verdict(&f), PW_CLAIM_TOY);
        pw_finding_fini(&f);
        pw_snapshot_free(s);
    }
}

static void test_contradicted(void **state)
{
    struct pw_snapshot *s = seen(reversed, flat, 99, 6, .1);
    (void)state;
    expect_all(s, PW_CLAIM_CONTRADICTED);
    pw_snapshot_free(s);
}

/* Six models are one run, whatever their distances. */
static void test_few_runs(void **state)
{
    (void)state;
    for (int runs = 1; runs <= 3; runs += 2) {
        struct pw_snapshot *s = seen(as_paper, growing, 99, runs, .1);
        expect_all(s, PW_CLAIM_INCONCLUSIVE);
        pw_snapshot_free(s);
        s = seen(reversed, flat, 99, runs, .1);
        expect_all(s, PW_CLAIM_INCONCLUSIVE);
        pw_snapshot_free(s);
    }
}

/* Medians in the paper's order, but the spread of the runs exceeds the differences between encodings. */
static void test_wide(void **state)
{
    struct pw_snapshot *s = seen(as_paper, growing, 99, 6, 1.9);
    struct pw_finding f;
    (void)state;
    judge(s, &toy, &f);
    assert_int_equal(f.claims[0].verdict, PW_CLAIM_INCONCLUSIVE);
    assert_int_equal(f.claims[3].verdict, PW_CLAIM_INCONCLUSIVE);
    pw_finding_fini(&f);
    pw_snapshot_free(s);
}

/* Models that haven't learned the task don't count, whatever their distances. */
static void test_not_learned(void **state)
{
    const double *const means[] = {as_paper, reversed};
    (void)state;
    for (int k = 0; k < 2; k++) {
        struct pw_snapshot *s = seen(means[k], k == 0 ? growing : flat, 90, 6, .1);
        expect_all(s, PW_CLAIM_INCONCLUSIVE);
        pw_snapshot_free(s);
    }
}

static void test_missing(void **state)
{
    struct pw_snapshot *s = pw_snapshot_new();
    struct pw_figure4 one = toy;
    struct pw_finding f = {0};
    struct pw_err err;
    (void)state;
    one.run = 1;
    add_run(s, as_paper, growing, 99, 1);
    assert_int_equal(pw_figure4_judge(&toy, s, &f, &err), PW_EUSER);
    assert_non_null(strstr(err.msg, "no run has been measured"));
    pw_finding_fini(&s->findings[2].f); /* a finding without a name */
    assert_int_equal(pw_figure4_judge(&one, s, &f, &err), PW_EUSER);
    assert_non_null(strstr(err.msg, "no finding 'distance' about '2 1 3 4 5 6 released'"));
    pw_finding_init(&s->findings[2].f, "distance", "2 1 3 4 5 6 released", "of something else");
    pw_finding_plot(&s->findings[2].f, "mean over 2 layers", "length", "nats", 3, 2, true);
    assert_int_equal(pw_figure4_judge(&one, s, &f, &err), PW_EUSER);
    assert_non_null(strstr(err.msg, "is about other arms"));
    add_run(s, as_paper, growing, 99, 1);
    one.samples = 9;
    assert_int_equal(pw_figure4_judge(&one, s, &f, &err), PW_EUSER);
    assert_non_null(strstr(err.msg, "'1 2 3 4 5 6 released' doesn't have 9 sequences a length"));
    one.samples = 10;
    s->arms[0].rep[0].eval_seq = 3; /* two findings are older */
    assert_int_equal(pw_figure4_judge(&one, s, &f, &err), PW_EUSER);
    assert_non_null(strstr(err.msg, "'1 2 3 4 5 6 released' is older than the evaluation of the models"));
    pw_snapshot_free(s);
}

/* A verdict refuses runs that were made with other options. The chosen runs and the folder for saving don't
 * matter. */
static void test_made_otherwise(void **state)
{
    struct pw_snapshot *s = seen(as_paper, growing, 99, 3, .1);
    struct pw_figure4 o = toy;
    struct pw_finding f;
    struct pw_err err;
    (void)state;
    o.runs = 3;
    snprintf(o.save, sizeof o.save, "elsewhere");
    judge(s, &o, &f);
    pw_finding_fini(&f);
    o.steps = 5;
    assert_int_equal(pw_figure4_judge(&o, s, &f, &err), PW_EUSER);
    assert_non_null(strstr(err.msg, "judge: 'figure4 run 1' was made by 'reproduce figure4"));
    assert_non_null(strstr(err.msg, "steps=5"));
    pw_snapshot_free(s);
}

/* Six models, the second with the next seed. Models from files keep their own. */
static void test_plan(void **state)
{
    const struct pw_repro *study;
    struct pw_plan plan;
    struct pw_figure4 o;
    struct pw_err err;
    (void)state;
    assert_int_equal(pw_repro_find(&study, "figure4", &err), PW_OK);
    pw_opt_defaults(study->opts, &o);
    assert_false(study->plan(&o, &plan)); /* all runs: the plan is in their findings */
    o.run = 2;
    assert_true(study->plan(&o, &plan));
    assert_string_equal(plan.task, "scan");
    assert_string_equal(plan.optim, "steps=8000");
    assert_int_equal(plan.seed, 103);
    assert_int_equal(plan.other, 2);
    assert_false(plan.loaded);
    strcpy(o.load, "old runs");
    assert_true(study->plan(&o, &plan));
    assert_true(plan.loaded);
}

/* Its script consists of command lines, and impossible options are refused. */
static void test_script(void **state)
{
    const struct pw_repro *study;
    struct pw_err err;
    struct pw_str out = {0};
    struct pw_figure4 o;
    (void)state;
    assert_int_equal(pw_repro_find(&study, "figure4", &err), PW_OK);
    pw_opt_defaults(study->opts, &o);
    assert_int_equal(study->check(&o, &err), PW_OK);
    study->script(&o, &out);
    assert_non_null(strstr(out.s, "seed 101\ntask scan\nmodel tiny context=fit\n"));
    assert_non_null(
        strstr(out.s, "seed 103\ntask scan\n")); /* the second run: other data, and another NoPE* */
    assert_non_null(strstr(out.s, "seed 111\ntask scan\n"));
    assert_null(strstr(out.s, "seed 113\n"));
    assert_non_null(strstr(out.s, " run=6"));
    assert_non_null(strstr(out.s,
                           "race none,none,t5(buckets=32,distance=128),alibi,rotary,sinusoidal seeds=1\n"
                           "seed 102 arm=2\ntrain\neval"));
    assert_non_null(strstr(out.s, "compare 2 1 3 4 5 6 samples=10 formula=released"));
    assert_null(strstr(out.s, "weights"));
    snprintf(o.load, sizeof o.load, "old runs");
    pw_str_fini(&out);
    study->script(&o, &out);
    assert_null(strstr(out.s, "train"));
    assert_non_null(strstr(out.s, "arm 2\nimport weights \"old runs/none_other.safetensors\"\narm 3\n"));
    assert_non_null(strstr(out.s, "arm 6\nimport weights \"old runs/sinusoidal-6.safetensors\"\n"));
    o.steps = 5;
    assert_int_equal(study->check(&o, &err), PW_EUSER);
    assert_non_null(strstr(err.msg, "load= uses trained models: remove steps="));
    o.steps = 0;
    o.load[0] = '"';
    assert_int_equal(study->check(&o, &err), PW_EUSER);
    assert_non_null(strstr(err.msg, "must not contain quotes"));
    pw_str_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_paper),       cmocka_unit_test(test_not_its_size),
        cmocka_unit_test(test_contradicted),   cmocka_unit_test(test_few_runs),
        cmocka_unit_test(test_wide),           cmocka_unit_test(test_not_learned),
        cmocka_unit_test(test_missing),        cmocka_unit_test(test_script),
        cmocka_unit_test(test_made_otherwise), cmocka_unit_test(test_plan)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
