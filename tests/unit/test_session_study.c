/* test_session_study.c - tests how awareness is judged: by intervals of the accuracy of several models. A
 * near result, or one of only some models, decides nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/stats.h"
#include "reproduce/repro.h"

extern const struct pw_repro pw_repro_session;

enum { SEEDS = 8, MEAN = 0, FROM, TO, CHANCE, MODELS };

static union {
    char bytes[PW_REPRO_OPTS_MAX];
    double align;
} opts;

/* Puts the right answers, in per cent, of an encoding's models: half of them `one`, half `two`. */
static void put(struct pw_finding *f, int b, int row, const char *pe, double one, double two)
{
    double x[SEEDS];
    pw_finding_row(f, b, row, "%s", pe);
    for (int k = 0; k < SEEDS; k++)
        pw_finding_put(f, b, row, MODELS + k, x[k] = k % 2 ? two : one);
    struct pw_interval i = pw_mean_interval(x, SEEDS);
    pw_finding_put(f, b, row, MEAN, i.mean);
    pw_finding_put(f, b, row, FROM, i.lo);
    pw_finding_put(f, b, row, TO, i.hi);
    pw_finding_put(f, b, row, CHANCE, 30);
}

/* Adds a measurement with the options that are judged; seeds=8 is the default. */
static void measured(struct pw_snapshot *s, const char *by, const double longer[4][2], double none,
                     double trained)
{
    static const char *const pes[] = {"sinusoidal", "rspe", "dpe", "none"};
    struct pw_finding_view *v = &s->findings[by[0] == 'l'];
    if (v->f_seq != 0)
        pw_finding_fini(&v->f);
    v->f_seq = 1 + (uint64_t)(by[0] == 'l');
    pw_finding_init(&v->f, "session", by, "from a test");
    for (int t = 0; t < 2; t++) {
        int b = pw_finding_table(&v->f, t == 0 ? "trained lengths" : "longer ones", 4, MODELS + SEEDS);
        for (int i = 0; i < 4; i++)
            if (t == 0)
                put(&v->f, b, i, pes[i], i == 3 ? none : trained, i == 3 ? none : trained);
            else
                put(&v->f, b, i, pes[i], longer[i][0], longer[i][1]);
    }
    pw_finding_made(&v->f, "session", opts.bytes);
}

static void judged(const struct pw_snapshot *s, const enum pw_claim_verdict want[4])
{
    struct pw_finding f = {0};
    struct pw_err err;
    if (pw_repro_session.judge(opts.bytes, s, &f, &err) != PW_OK)
        fail_msg("%s", err.msg);
    assert_int_equal(f.n_claims, 4);
    for (int i = 0; i < 4; i++)
        assert_int_equal(f.claims[i].verdict, want[i]);
    assert_null(pw_finding_check(&f));
    pw_finding_fini(&f);
}

static void test_intervals(void **state)
{
    static const enum pw_claim_verdict T = PW_CLAIM_TOY, I = PW_CLAIM_INCONCLUSIVE, C = PW_CLAIM_CONTRADICTED;
    struct pw_snapshot *s = pw_snapshot_new();
    (void)state;
    pw_opt_defaults(pw_repro_session.opts, opts.bytes);
    /* Aware from 75 %, not aware below 50 %. */
    measured(s, "first", (const double[4][2]){{99, 100}, {20, 25}, {90, 95}, {10, 10}}, 30, 100);
    measured(s, "last", (const double[4][2]){{20, 22}, {99, 99}, {85, 95}, {10, 10}}, 31, 100);
    judged(s, (const enum pw_claim_verdict[]){T, T, T, T});
    /* The means suffice, the models don't: medians and single models gave "same order". */
    measured(s, "first", (const double[4][2]){{100, 60}, {20, 70}, {55, 100}, {10, 10}}, 39.9, 100);
    judged(s, (const enum pw_claim_verdict[]){I, I, I, T});
    /* The opposite results. */
    measured(s, "first", (const double[4][2]){{30, 31}, {80, 82}, {30, 31}, {10, 10}}, 45, 100);
    judged(s, (const enum pw_claim_verdict[]){C, C, C, C});
    /* A model that hasn't learned the trained lengths decides nothing. */
    measured(s, "first", (const double[4][2]){{30, 31}, {80, 82}, {30, 31}, {10, 10}}, 45, 60);
    judged(s, (const enum pw_claim_verdict[]){I, I, I, C});
    pw_snapshot_free(s);
}

static void refused(const struct pw_snapshot *s, const char *what)
{
    struct pw_finding f = {0};
    struct pw_err err;
    assert_int_equal(pw_repro_session.judge(opts.bytes, s, &f, &err), PW_EUSER);
    assert_non_null(strstr(err.msg, what));
    pw_finding_fini(&f);
}

static void test_refused(void **state)
{
    struct pw_snapshot *s = pw_snapshot_new();
    struct pw_err err;
    (void)state;
    pw_opt_defaults(pw_repro_session.opts, opts.bytes);
    refused(s, "nothing has been measured");
    measured(s, "first", (const double[4][2]){{0}}, 30, 100);
    assert_int_equal(pw_opt_set(pw_repro_session.opts, opts.bytes, "t", "seeds", "5", &err), PW_OK);
    refused(s, "'session first' was made by 'reproduce session', not by 'reproduce session seeds=5'");
    assert_int_equal(pw_opt_set(pw_repro_session.opts, opts.bytes, "t", "by", "0", &err), PW_OK);
    refused(s, "no arm has been evaluated");
    pw_snapshot_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_intervals), cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
