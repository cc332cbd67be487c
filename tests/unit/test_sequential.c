/* test_sequential.c - tests the sequential test by enumeration of all signs, its error rate and the coverage
 * of its interval by simulation, and the decisions on several comparisons. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "base/sequential.h"

enum { MOST = 40 };

static void near_to(double got, double want, double error)
{
    if (!(fabs(got - want) <= error))
        fail_msg("%.15g, not %.15g", got, want);
}

/* Under the null hypothesis every assignment of signs is equally likely, so E averages to exactly 1, whatever
 * the magnitudes. Ville's inequality: the share of assignments whose maximum reaches 1 / a is at most a. */
static void test_every_sign(void **state)
{
    static const double sizes[4][12] = {
        {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
        {0.5, 0.01, 0.3, 0.9, 0.001, 0.2, 0.2, 0.7, 0.05, 0.6, 0.4, 0.1},
        {1e-9, 3, 0, 2, 1e6, 0, 1, 5, 1e-3, 1, 2, 1},
        {1, 1, (double)INFINITY, 2, 1, 1, (double)INFINITY, 3, 2, 1, 1, 2},
    };
    (void)state;
    for (int row = 0; row < 4; row++)
        for (int n = 0; n <= 12; n++) {
            double sum = 0, d[12];
            int at_5 = 0, at_20 = 0;
            for (uint32_t signs = 0; signs < UINT32_C(1) << n; signs++) {
                for (int k = 0; k < n; k++)
                    d[k] = signs >> k & 1 ? -sizes[row][k] : sizes[row][k];
                struct pw_evidence e = pw_evidence_of(d, n);
                sum += e.e;
                at_5 += e.p <= 0.05;
                at_20 += e.p <= 0.2;
            }
            double all = (double)(UINT32_C(1) << n);
            near_to(sum / all, 1, 1e-12);
            assert_true(at_5 / all <= 0.05 && at_20 / all <= 0.2);
            assert_true(n < 12 || row == 2 || at_5 > 0); /* it can reject */
        }
}

/* Differences of one sign and size: as many seeds as the header says. */
static void test_clear(void **state)
{
    static const double level[] = {0.05, 0.05 / 3, 0.05 / 10};
    static const int needed[] = {6, 8, 10};
    double d[MOST];
    (void)state;
    for (int k = 0; k < MOST; k++)
        d[k] = -0.3;
    for (int i = 0; i < 3; i++) {
        assert_true(pw_evidence_of(d, needed[i]).p <= level[i]);
        assert_true(pw_evidence_of(d, needed[i] - 1).p > level[i]);
    }
    struct pw_evidence e = pw_evidence_of(d, 6);
    assert_true(e.n == 6 && e.side == -1 && e.e == e.most);
    /* One pair: (1 + b) / 2 + (1 - b) / 2. Two: (1 + b^2) averaged over the grid, tanh 1.2 and the cap. */
    near_to(pw_evidence_of(d, 1).e, 1, 1e-15);
    near_to(pw_evidence_of(d, 2).e, 1 + (tanh(1.2) * tanh(1.2) + 0.95 * 0.95) / 2, 1e-14);
    /* A smaller difference has a smaller bet: the scale of the second is that of 0.3 and 0.1. */
    double ratio = 0.1 / sqrt((0.09 + 0.01) / 2), even[] = {0.3, 0.1};
    near_to(pw_evidence_of(even, 2).e, 1 + (tanh(1.2) * tanh(1.2 * ratio) + 0.95 * tanh(2.2 * ratio)) / 2,
            1e-14);
}

static void test_properties(void **state)
{
    const double d[] = {0.2, 0.3, 0.1, 0.25, 0.3, 0.2, -0.4, -0.3, -0.3},
                 gaps[] = {0.2, (double)NAN, 0.3, 0.1, 0};
    const double up[] = {1, 1, 1, 1, 1, (double)INFINITY}, nothing[] = {0, 0, (double)NAN};
    double other[9], most = 1;
    (void)state;
    /* The maximum is that of all earlier n, so p never grows again, and the side is that of the maximum. */
    for (int n = 0; n <= 9; n++) {
        struct pw_evidence e = pw_evidence_of(d, n);
        most = e.e > most ? e.e : most;
        assert_true(e.most == most && e.p == 1 / most && e.n == n);
        assert_int_equal(e.side, n < 2 ? 0 : 1);
    }
    assert_true(pw_evidence_of(d, 9).e < pw_evidence_of(d, 9).most);
    /* The exchange of the arms, and another unit, change nothing but the side. */
    for (int k = 0; k < 9; k++)
        other[k] = -1024 * d[k];
    struct pw_evidence e = pw_evidence_of(d, 9), f = pw_evidence_of(other, 9);
    assert_true(e.e == f.e && e.p == f.p && e.side == 1 && f.side == -1);
    /* NaN is left out. A difference of 0 counts as a pair without a bet. */
    const double whole[] = {0.2, 0.3, 0.1};
    e = pw_evidence_of(gaps, 5), f = pw_evidence_of(whole, 3);
    assert_true(e.e == f.e && e.n == 4 && f.n == 3);
    e = pw_evidence_of(nothing, 3);
    assert_true(e.n == 2 && e.e == 1 && e.p == 1 && e.side == 0);
    e = pw_evidence_of(d, 0);
    assert_true(e.n == 0 && e.e == 1 && e.most == 1 && e.p == 1 && e.side == 0);
    /* A run that diverged is a pair like any other. */
    e = pw_evidence_of(up, 6);
    assert_true(e.n == 6 && e.p <= 0.05 && e.side == 1);
}

static void test_decisions(void **state)
{
    struct pw_evidence e[3] = {
        {10, 70, 70, 1 / 70.0, 1}, {10, 2, 35, 1 / 35.0, -1}, {10, 1, 25, 1 / 25.0, 1}};
    struct pw_decision out[3];
    (void)state;
    /* 3/70 < 0.05. 2/35 is above, and keeps 1/25 from being decided, although that is below 0.05. */
    pw_decide(out, e, 3, 0.05);
    near_to(out[0].corrected, 3 / 70.0, 1e-15);
    near_to(out[1].corrected, 2 / 35.0, 1e-15);
    near_to(out[2].corrected, 2 / 35.0, 1e-15);
    near_to(out[2].p, 1 / 25.0, 1e-15);
    assert_true(out[0].side == 1 && out[1].side == 0 && out[2].side == 0);
    pw_decide(out, e, 3, 0.06);
    assert_true(out[0].side == 1 && out[1].side == -1 && out[2].side == 1);
    pw_decide(out, e, 1, 0.05);
    assert_true(out[0].corrected == out[0].p && out[0].side == 1);
    pw_decide(out, e, 0, 0.05);
    /* A comparison without data counts. */
    e[1] = e[2] = pw_evidence_of(NULL, 0);
    pw_decide(out, e, 3, 0.05);
    near_to(out[0].corrected, 3 / 70.0, 1e-15);
    assert_true(out[1].corrected == 1 && out[1].side == 0);
}

static void test_effect(void **state)
{
    const double d[] = {1, 2, (double)NAN, 3, 4, 5}, even[] = {0.1 + 0.2, 0.3, 0.3}, none[] = {0, 0};
    double many[MOST];
    (void)state;
    near_to(pw_effect_size(d, 6), 3 / sqrt(2.5), 1e-15);
    assert_true(isnan(pw_effect_size(d, 1)) && isnan(pw_effect_size(d, 0)));
    assert_true(isnan(pw_effect_size(even, 3)) && isnan(pw_effect_size(none, 2)));
    /* Up to six pairs the interval is Student's; then it is wider, about the same mean. */
    struct pw_interval t = pw_mean_interval(d, 6), v = pw_interval_after_looks(d, 6, 1);
    assert_true(v.n == 5 && v.lo == t.lo && v.hi == t.hi);
    for (int k = 0; k < MOST; k++)
        many[k] = k % 7;
    t = pw_mean_interval(many, 12), v = pw_interval_after_looks(many, 12, 3);
    near_to(v.hi - v.mean, (t.hi - t.mean) * (1 + 0.14 / 2), 1e-14);
    near_to(v.mean - v.lo, (t.hi - t.mean) * (1 + 0.14 / 2), 1e-14);
    v = pw_interval_after_looks(d, 1, 1);
    assert_true(v.n == 1 && v.mean == 1 && isnan(v.lo) && isnan(v.hi));
    many[3] = (double)INFINITY; /* a run diverged: there is no interval */
    v = pw_interval_after_looks(many, 12, 3);
    assert_true(isnan(v.lo) && isnan(v.hi) && isnan(pw_effect_size(many, 12)));
}

/* One comparison of m that are asked, tested after every seed from 3 on, until it is decided or has `budget`
 * seeds. The others have no data, so it needs a p of at most 0.05 / m. */
struct outcome {
    int seeds, side;
    bool covered; /* its interval contains the difference */
};

static struct outcome run_study(int number, int m, double difference, int budget,
                                double (*draw)(struct pw_rng *))
{
    double d[MOST];
    struct outcome o = {0, 0, false};
    struct pw_rng r;
    pw_rng_init(&r, 27, PW_STREAM_PROBE, (uint64_t)number);
    for (int k = 0; k < budget; k++)
        d[k] = difference + draw(&r);
    for (o.seeds = 2; o.seeds < budget && o.side == 0;) {
        struct pw_evidence e[10];
        struct pw_decision decision[10];
        for (int i = 0; i < m; i++)
            e[i] = pw_evidence_of(d, i == 0 ? o.seeds + 1 : 0);
        pw_decide(decision, e, m, 0.05);
        o.side = decision[0].side;
        o.seeds++;
    }
    struct pw_interval v = pw_interval_after_looks(d, o.seeds, m);
    o.covered = v.lo <= difference && difference <= v.hi;
    return o;
}

static double bell(struct pw_rng *r)
{
    return pw_rng_normal(r);
}

/* One pair in two is a tie. */
static double all_or_nothing(struct pw_rng *r)
{
    return (double)pw_rng_below(r, 2) - (double)pw_rng_below(r, 2);
}

static double skewed(struct pw_rng *r)
{
    double a = pw_rng_unit(r), b = pw_rng_unit(r);
    return a * a * a - b * b * b;
}

static void test_error_rate(void **state)
{
    double (*const draws[])(struct pw_rng *) = {bell, all_or_nothing, skewed};
    (void)state;
    for (int i = 0; i < 3; i++) {
        int wrong = 0, least = 20;
        for (int k = 0; k < 2000; k++)
            wrong += run_study(k, 1, 0, MOST, draws[i]).side != 0;
        if (wrong > 100 || wrong < least)
            fail_msg("draw %d: %d of 2,000 studies without a difference are decided", i, wrong);
    }
}

/* In units of the standard deviation of a difference. At 0.2, near the worst, the interval of Student's t
 * covers 90 % with up to 40 seeds. */
static void test_coverage(void **state)
{
    static const double differences[] = {0, 0.2, 0.35, 0.7, 1, 1.5, 3};
    static const int asked[] = {1, 10};
    enum { STUDIES = 2500 };
    (void)state;
    for (int budget = 20; budget <= MOST; budget += 20)
        for (size_t i = 0; i < sizeof differences / sizeof *differences; i++)
            for (int a = 0; a < 2; a++) {
                int covered = 0, opposite = 0;
                for (int k = 0; k < STUDIES; k++) {
                    struct outcome o = run_study(k, asked[a], differences[i], budget, bell);
                    covered += o.covered;
                    opposite += differences[i] > 0 && o.side < 0;
                }
                double percent = 100.0 * covered / STUDIES;
                if (percent < 93 || percent > 97)
                    fail_msg("up to %d seeds, one of %d, difference %g: %.1f %% are covered", budget,
                             asked[a], differences[i], percent);
                assert_true(opposite <= STUDIES / 40);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_sign), cmocka_unit_test(test_clear),  cmocka_unit_test(test_properties),
        cmocka_unit_test(test_decisions),  cmocka_unit_test(test_effect), cmocka_unit_test(test_error_rate),
        cmocka_unit_test(test_coverage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
