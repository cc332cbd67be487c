/* test_stats.c - tests the statistics of differences, against values computed by hand, and against sums of
 * exact integers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <math.h>
#include <cmocka.h>

#include "base/stats.h"

static void close_to(double got, double want)
{
    if (!(fabs(got - want) <= 1e-9 * fabs(want)))
        fail_msg("%.15g, not %.15g", got, want);
}

/* 2 (1 + 5) / 2^5; 2 / 2^5; 2 (1 + 10 + 45) / 2^10; an even split, and no pairs: 1. */
static void test_by_hand(void **state)
{
    (void)state;
    close_to(pw_mcnemar(1, 4), 12.0 / 32);
    close_to(pw_mcnemar(5, 0), 2.0 / 32);
    close_to(pw_mcnemar(2, 8), 112.0 / 1024);
    close_to(pw_mcnemar(8, 2), 112.0 / 1024);
    assert_true(pw_mcnemar(3, 3) == 1 && pw_mcnemar(0, 0) == 1 && pw_mcnemar(0, 1) == 1);
}

/* Every split of up to 60: the coefficients are integers that fit. */
static void test_against_whole_numbers(void **state)
{
    (void)state;
    for (int n = 1; n <= 60; n++) {
        uint64_t c = 1, sum = 0;
        for (int k = 0; 2 * k <= n; k++) {
            sum += c;
            double p = 2 * (double)sum / exp2(n);
            close_to(pw_mcnemar(k, n - k), p < 1 ? p : 1);
            c = c * (uint64_t)(n - k) / (uint64_t)(k + 1);
        }
    }
}

/* Large counts neither overflow nor underflow. They approach the normal distribution with continuity
 * correction: 2 (1 - Phi((b - c - 1) / sqrt(b + c))). */
static void test_large(void **state)
{
    (void)state;
    double p = pw_mcnemar(5000, 5200), normal = erfc(199 / sqrt(10200) / sqrt(2));
    assert_true(fabs(p - normal) < 1e-4);
    p = pw_mcnemar(500000000, 500030000), normal = erfc(29999 / sqrt(1000030000.0) / sqrt(2));
    assert_true(fabs(p - normal) < 1e-4);
    assert_true(pw_mcnemar(1000, 100000) >= 0 && pw_mcnemar(1000, 100000) < 1e-300);
    close_to(pw_mcnemar(0, 1000), exp2(-999));
}

/* The smallest p of n signs. Sign assignments with an equally extreme sum count. */
static void test_sign_flip(void **state)
{
    (void)state;
    const double up[] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6}, one_down[] = {0.1, -0.2, 0.3, 0.4, 0.5, 0.6};
    close_to(pw_sign_flip(up, 6), 2.0 / 64);
    close_to(pw_sign_flip(up, 5), 2.0 / 32);
    /* The sum is 1.7 of 2.1: at most 0.2 may be on negative terms: {}, {.1}, {.2}; and as many below -1.7. */
    close_to(pw_sign_flip(one_down, 6), 6.0 / 64);
    assert_true(pw_sign_flip((const double[]){0, 0, 0}, 3) == 1);
    assert_true(pw_sign_flip((const double[]){0, 0, 0.5}, 3) == 1);
    assert_true(isnan(pw_sign_flip(up, 0)));
    /* 0.1 + 0.2 and 0.3 are equal but for rounding. */
    close_to(pw_sign_flip((const double[]){0.1, 0.2, -0.3}, 3), 1);
}

static void test_two_sample(void **state)
{
    (void)state;
    const double low[] = {0, 1, 2, 3}, high[] = {4, 5, 6, 7}, mixed[] = {2.5, 5, 6, 7};
    close_to(pw_two_sample(low, 4, high, 4), 2.0 / 70);
    close_to(pw_two_sample(high, 4, low, 4), 2.0 / 70);
    close_to(pw_two_sample(low, 3, high, 3), 2.0 / 20);
    /* The sum of the lower four is 6; exchanging 3 for 2.5 makes it 5.5: two assignments a side. */
    close_to(pw_two_sample(low, 4, mixed, 4), 4.0 / 70);
    assert_true(pw_two_sample(low, 4, low, 4) == 1);
    close_to(pw_two_sample(low, 1, high, 4), 1.0 / 5);
    assert_true(isnan(pw_two_sample(low, 0, high, 4)) && isnan(pw_two_sample(low, 4, high, 0)));
}

/* Against quantiles of Student's t from tables, to their digits. */
static void test_interval(void **state)
{
    (void)state;
    const double x[] = {1, 2, (double)NAN, 3, 4, 5};
    struct pw_interval r = pw_mean_interval(x, 6);
    assert_int_equal(r.n, 5);
    assert_true(r.mean == 3);
    assert_true(fabs(r.hi - (3 + 2.776 * sqrt(2.5 / 5))) < 1e-3 && fabs(r.hi + r.lo - 6) < 1e-12);
    r = pw_mean_interval(x, 1);
    assert_true(r.n == 1 && r.mean == 1 && isnan(r.lo) && isnan(r.hi));
    r = pw_mean_interval(x + 2, 1);
    assert_true(r.n == 0 && isnan(r.mean));
    double many[101];
    for (int i = 0; i < 101; i++)
        many[i] = i; /* variance 101 * 102 / 12, t of 100 degrees of freedom 1.984 */
    r = pw_mean_interval(many, 101);
    assert_true(fabs(r.hi - (50 + 1.984 * sqrt(101 * 102 / 12.0 / 101))) < 0.01);
}

static void test_holm(void **state)

{
    (void)state;
    /* 0.005 * 4, 0.01 * 3, 0.03 * 2, and 0.04 * 1, which is raised to the maximum before */
    const double p[] = {0.01, 0.04, 0.03, 0.005}, want[] = {0.03, 0.06, 0.06, 0.02};
    const double even[] = {0.02, 0.02, 0.02}, large[] = {0.9, 0.4};
    double got[4];
    pw_holm(got, p, 4);
    for (int i = 0; i < 4; i++)
        close_to(got[i], want[i]);
    pw_holm(got, even, 3);
    for (int i = 0; i < 3; i++)
        close_to(got[i], 0.06);
    pw_holm(got, large, 2);
    close_to(got[0], 0.9);
    close_to(got[1], 0.8);
    pw_holm(got, p, 1);
    close_to(got[0], 0.01);
    pw_holm(got, p, 0);
}

static void test_ranks(void **state)
{
    (void)state;
    /* Ranks 2, 3.5, 1, 3.5; one for all; two first of three. */
    const double x[] = {0.5, 0.2, 0.9, 0.2}, even[] = {1, 1, 1}, first[] = {1, 0, 1};
    const double want[] = {0.5, 1 / 3.5, 1, 1 / 3.5};
    for (int i = 0; i < 4; i++)
        close_to(pw_reciprocal_rank(x, 4, i), want[i]);
    close_to(pw_reciprocal_rank(even, 3, 0), 0.5);
    close_to(pw_reciprocal_rank(first, 3, 2), 1 / 1.5);
    close_to(pw_reciprocal_rank(x, 1, 0), 1);
    const double gap[] = {0.5, (double)NAN, 0.9};
    close_to(pw_reciprocal_rank(gap, 3, 0), 0.5);
    assert_true(isnan(pw_reciprocal_rank(gap, 3, 1)));
    /* Rows of three columns. The third has a NaN and does not count. */
    const double rows[] = {1, 0, 1, 0.1, 0.2, 0.3, (double)NAN, 0, 1};
    double mean[3];
    assert_int_equal(pw_mean_reciprocal_ranks(mean, rows, 3, 3), 2);
    close_to(mean[0], (1 / 1.5 + 1 / 3.0) / 2);
    close_to(mean[1], (1 / 3.0 + 1 / 2.0) / 2);
    close_to(mean[2], (1 / 1.5 + 1) / 2);
    assert_int_equal(pw_mean_reciprocal_ranks(mean, rows + 6, 1, 3), 0);
    assert_true(isnan(mean[0]) && isnan(mean[2]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand),    cmocka_unit_test(test_against_whole_numbers),
        cmocka_unit_test(test_large),      cmocka_unit_test(test_sign_flip),
        cmocka_unit_test(test_two_sample), cmocka_unit_test(test_interval),
        cmocka_unit_test(test_holm),       cmocka_unit_test(test_ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
