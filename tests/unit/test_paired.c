/* test_paired.c - tests arms compared on the same samples: counts, several seeds, and when an arm is called
 * best. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/rng.h"
#include "base/stats.h"
#include "sessions/paired.h"

static void fold_and_free(struct pw_snapshot *s, struct pw_event *e)
{
    pw_fold(s, e);
    pw_event_free(e);
}

static struct pw_snapshot *lab_of(int arms, int replicas)
{
    struct pw_snapshot *s = pw_snapshot_new();
    for (int id = 1; id <= arms; id++) {
        struct pw_event *e = pw_event_new(PW_EV_ARM);
        e->arm = id;
        e->u.arm = (struct pw_ev_arm){.id = id, .replicas = replicas, .name = "t5"};
        fold_and_free(s, e);
    }
    return s;
}

/* Adds an evaluation with 100 samples at each of lengths 3 and 4. At each length the arm has `right` of
 * them right, from sample `from` on. */
static void put_eval(struct pw_snapshot *s, int arm, int replica, uint64_t draw, int from, int right)
{
    struct pw_event *e = pw_event_new(PW_EV_EVAL);
    struct pw_ev_eval *v = &e->u.eval;
    e->arm = arm, e->replica = replica;
    v->draw = draw, v->n = 2, v->n_words = 4;
    v->rows = calloc(2, sizeof *v->rows);
    v->outcomes = calloc(4, sizeof *v->outcomes);
    for (int r = 0; r < 2; r++) {
        v->rows[r] =
            (struct pw_eval_row){.length = 3 + r, .samples = 100, .exact = right, .first_word = 2 * r};
        for (int i = from; i < from + right; i++)
            v->outcomes[2 * r + i / 64] |= UINT64_C(1) << i % 64;
    }
    fold_and_free(s, e);
}

static void test_outcomes(void **state)
{
    (void)state;
    struct pw_snapshot *s = lab_of(1, 1);
    put_eval(s, 1, 1, 7, 10, 80);
    const struct pw_ev_eval *e = &s->arms[0].rep[0].eval;
    struct pw_eval_row row = e->rows[1];
    for (int i = 0; i < 100; i++)
        assert_int_equal(pw_eval_right(e, &row, i), i >= 10 && i < 90);
    assert_false(pw_eval_right(e, &row, 100));
    assert_false(pw_eval_right(e, &row, -1));
    assert_int_equal(pw_eval_failing(e, &row, 0), 0);
    assert_int_equal(pw_eval_failing(e, &row, 10), 90);
    assert_int_equal(pw_eval_failing(e, &row, 99), 99);
    assert_int_equal(pw_eval_failing(e, &row, 100), -1);
    row.first_word = 9; /* a damaged file could contain this */
    assert_int_equal(pw_eval_failing(e, &row, 0), -1);
    row.errors[PW_ERROR_LATE] = 5, row.errors[PW_ERROR_EARLY] = 9;
    assert_true(pw_eval_forced(&row) == 0.85f);
    row.samples = 0;
    assert_true(isnan(pw_eval_forced(&row)));
    pw_snapshot_free(s);
}

static void test_counts(void **state)
{
    (void)state;
    struct pw_snapshot *s = lab_of(3, 1);
    struct pw_paired x;
    put_eval(s, 1, 1, 7, 0, 60);  /* 0..59 */
    put_eval(s, 2, 1, 7, 50, 50); /* 50..99: 50 only the first, 40 only the second */
    put_eval(s, 3, 1, 8, 0, 100); /* on other samples */
    pw_paired_find(&x, s, ~0u, 0, 4, 4);
    assert_int_equal(x.n_arms, 2);
    assert_int_equal(x.n, 1);
    assert_int_equal(x.left_out, 1);
    assert_int_equal(x.tests[0].samples, 100);
    assert_int_equal(x.tests[0].only_a, 50);
    assert_int_equal(x.tests[0].only_b, 40);
    assert_int_equal(x.tests[0].seeds, 1);
    assert_true(x.tests[0].p == 1 && x.tests[0].corrected == 1); /* one run of each decides nothing */
    assert_true(fabs(x.tests[0].difference - 0.1) < 1e-12);
    assert_int_equal(x.tests[0].networks, pw_mcnemar(50, 40) < 0.05);
    pw_paired_find(&x, s, ~0u, 0, 0, 99); /* both lengths */
    assert_int_equal(x.tests[0].samples, 200);
    pw_paired_find(&x, s, ~0u, 1, 0, 99); /* a task that doesn't exist */
    assert_int_equal(x.n_arms, 0);
    assert_int_equal(x.left_out, 3);
    pw_paired_find(&x, s, 1, 0, 0, 99);
    assert_int_equal(x.n_arms, 1);
    assert_int_equal(x.n, 0);
    assert_int_equal(x.best, 0);
    pw_snapshot_free(s);
}

static void verdict_is(const struct pw_paired *x, const struct pw_snapshot *s, const char *part)
{
    struct pw_str text = {0};
    pw_paired_verdict(x, s, &text);
    if (strstr(text.s, part) == NULL)
        fail_msg("\"%s\" lacks \"%s\"", text.s, part);
    pw_str_fini(&text);
}

/* Arm 2 has `right` of 100 samples right at each length in run r, the other arms 40. */
static void put_run(struct pw_snapshot *s, int r, int right)
{
    put_eval(s, 1, r, 7, 0, 40);
    put_eval(s, 2, r, 7, 0, right);
    put_eval(s, 3, r, 7, 0, 40);
}

/* Fewer than six seeds can't reach p < 0.05, however clear the difference of each pair of networks is. */
static void test_best(void **state)
{
    (void)state;
    struct pw_snapshot *s = lab_of(3, 6);
    struct pw_paired x;
    for (int r = 1; r <= 5; r++)
        put_run(s, r, 80);
    pw_paired_find(&x, s, ~0u, 0, 0, 99);
    assert_int_equal(x.tests[0].seeds, 5);
    assert_int_equal(x.tests[0].networks, 5);
    assert_true(x.tests[0].shared && x.tests[0].p == 2.0 / 32);
    assert_int_equal(x.best, 0);
    verdict_is(&x, s, "p < 0.05 needs 6 seeds of each (race ... seeds=6), here are 5; foremost: 2 t5");
    put_run(s, 6, 80);
    pw_paired_find(&x, s, ~0u, 0, 0, 99);
    assert_int_equal(x.n, 3);
    assert_int_equal(x.tests[0].ahead_b, 6);
    assert_int_equal(x.tests[0].only_b, 6 * 80);
    assert_true(x.tests[0].p == 2.0 / 64 && x.tests[0].corrected == 3 * 2.0 / 64);
    assert_true(x.tests[1].p == 1); /* the first and the last don't differ at all */
    assert_int_equal(x.tests[1].networks, 0);
    assert_int_equal(x.best, 2);
    verdict_is(&x, s, "best: 2 t5, better than each other arm over 6 seeds, p < 0.05 (exact sign-flip test");

    put_run(s, 6, 30); /* behind in one seed by 10 points, ahead by 40 in five: 4 of 64 are as far from 0 */
    pw_paired_find(&x, s, ~0u, 0, 0, 99);
    assert_int_equal(x.best, 0);
    assert_true(x.tests[0].p == 4.0 / 64);
    verdict_is(&x, s, "change order between seeds (1 to 5, p=0.062)");
    put_run(s, 6, 41); /* ahead in all seeds, in one by a point */
    pw_paired_find(&x, s, ~0u, 0, 0, 99);
    assert_int_equal(x.best, 2);
    assert_int_equal(x.tests[0].networks, 5);
    pw_snapshot_free(s);
}

/* With own batches, run k of both arms learned from the same batches, whatever their initialisation seeds.
 * A test that exchanged runs between pairs would compare runs of easy batches with runs of hard ones. */
static void test_own_batches(void **state)
{
    (void)state;
    struct pw_snapshot *s = lab_of(2, 6);
    struct pw_paired x;
    s->arms[0].info.own_batches = s->arms[1].info.own_batches = true;
    s->arms[1].info.seed = 500;
    for (int r = 1; r <= 6; r++) { /* the batches decide the level; arm 2 is a point ahead */
        put_eval(s, 1, r, 7, 0, 15 * r);
        put_eval(s, 2, r, 7, 0, 15 * r + 1);
    }
    pw_paired_find(&x, s, ~0u, 0, 0, 99);
    assert_true(x.tests[0].shared && x.tests[0].p == 2.0 / 64);
    assert_int_equal(x.best, 2);
    verdict_is(&x, s,
               "over 6 seeds, p < 0.05 (exact sign-flip test over training runs, each pair on batches of "
               "its own)");
    s->arms[0].info.own_batches = s->arms[1].info.own_batches = false;
    pw_paired_find(&x, s, ~0u, 0, 0, 99);
    assert_true(!x.tests[0].shared && x.tests[0].p > 0.5);
    s->arms[1].info.seed = s->arms[0].info.seed;
    s->arms[0].info.own_batches = s->arms[1].info.own_batches = true;
    s->arms[1].info.replicas = 5;
    pw_paired_find(&x, s, ~0u, 0, 0, 99);
    assert_int_equal(x.tests[0].seeds, 5);
    verdict_is(&x, s, "p < 0.05 needs 6 seeds of each (race ... seeds=6), here are 5");
    pw_snapshot_free(s);
}

/* Arms with different seeds are compared as groups: four of each can reach 0.05, and pairing them would be
 * arbitrary. */
static void test_groups(void **state)
{
    (void)state;
    struct pw_snapshot *s = lab_of(2, 4);
    struct pw_paired x;
    s->arms[1].info.seed = 500;
    for (int r = 1; r <= 4; r++) {
        put_eval(s, 1, r, 7, 0, 40 + r);
        put_eval(s, 2, r, 7, 0, 50 - r);
    }
    pw_paired_find(&x, s, ~0u, 0, 0, 99);
    assert_true(!x.tests[0].shared && fabs(x.tests[0].p - 2.0 / 70) < 1e-12);
    assert_int_equal(x.best, 2);
    verdict_is(&x, s, "exact permutation test");
    put_eval(s, 2, 1, 7, 0, 30);
    pw_paired_find(&x, s, ~0u, 0, 0, 99);
    assert_int_equal(x.best, 0);
    s->arms[0].info.replicas = 3;
    pw_paired_find(&x, s, ~0u, 0, 0, 99);
    verdict_is(&x, s, "needs 4 seeds of each (race ... seeds=4), here are 3");
    pw_snapshot_free(s);
}

/* ---- how often equal arms are called best */

/* Draws a result of a run from one of the usual shapes: bell-shaped, learned or not, skewed. */
static int draw_right(struct pw_rng *r, int shape)
{
    double sum = 0;
    for (int i = 0; i < 6; i++)
        sum += pw_rng_unit(r);
    double u = pw_rng_unit(r);
    double x = shape == 0   ? 0.5 + 0.1 * (sum - 3)
               : shape == 1 ? (u < 0.5 ? 0.95 : 0.1) + 0.02 * (sum - 3)
                            : u * u * u;
    x = x < 0 ? 0 : x > 1 ? 1 : x;
    return (int)(100 * x + 0.5);
}

/* Of 2,000 races of equal arms at most 5 % may have a best arm. The bound of 6.3 % adds more than 2.5
 * standard deviations for chance. */
static void test_null_races(void **state)
{
    (void)state;
    static const struct {
        int arms, seeds, shape;
        bool shared;
    } cases[] = {{2, 6, 0, true},  {2, 6, 1, true}, {2, 10, 2, true}, {2, 4, 0, false},
                 {2, 6, 1, false}, {3, 6, 0, true}, {3, 5, 2, false}, {5, 6, 1, true}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct pw_snapshot *s = lab_of(cases[c].arms, cases[c].seeds);
        struct pw_rng r;
        int best = 0;
        pw_rng_init(&r, c, PW_STREAM_TEST, 0);
        for (int a = 0; a < cases[c].arms && !cases[c].shared; a++)
            s->arms[a].info.seed = (uint64_t)(500 * a);
        for (int race = 0; race < 2000; race++) {
            struct pw_paired x;
            for (int a = 1; a <= cases[c].arms; a++)
                for (int k = 1; k <= cases[c].seeds; k++)
                    put_eval(s, a, k, 7, 0, draw_right(&r, cases[c].shape));
            pw_paired_find(&x, s, ~0u, 0, 0, 99);
            best += x.best > 0;
        }
        if (best > 126)
            fail_msg("%d arms, %d seeds, shape %d, %s: %d of 2000 null races have a best arm", cases[c].arms,
                     cases[c].seeds, cases[c].shape, cases[c].shared ? "shared" : "other seeds", best);
        pw_snapshot_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_outcomes),    cmocka_unit_test(test_counts), cmocka_unit_test(test_best),
        cmocka_unit_test(test_own_batches), cmocka_unit_test(test_groups), cmocka_unit_test(test_null_races),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
