/* test_why.c - tests the statistics of the probe why: pairs of outcomes, and the interval of their
 * difference. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/rng.h"
#include "probe/why.h"

static void test_pairs(void **state)
{
    static const uint8_t before[] = {0, 0, 0, 1, 1, 1}, after[] = {1, 1, 0, 1, 0, 1};
    struct pw_why_effect e = pw_why_compare(before, after, 6);
    (void)state;
    assert_int_equal(e.fixed, 2);
    assert_int_equal(e.broken, 1);
    assert_int_equal(e.right, 4);
    e = pw_why_compare(before, before, 6);
    assert_true(e.fixed == 0 && e.broken == 0 && e.right == 3);
}

/* Without any change the interval is symmetric around 0. Exchanged outcomes negate it. It stays in -1..1. */
static void test_shape(void **state)
{
    (void)state;
    for (int fixed = 0; fixed <= 20; fixed++)
        for (int broken = 0; fixed + broken <= 20; broken++) {
            int both = (20 - fixed - broken) / 2;
            double low, high, low2, high2, d = (fixed - broken) / 20.0;
            pw_why_interval(both, fixed, broken, 20, &low, &high);
            pw_why_interval(both, broken, fixed, 20, &low2, &high2);
            assert_true(low <= d && d <= high && low < high && low > -1.0001 && high < 1.0001);
            assert_true(fabs(low + high2) < 1e-12 && fabs(high + low2) < 1e-12);
        }
}

/* Its coverage is near 95 %: in 4000 draws of 64 samples it may miss the true difference in 3 to 7 %. */
static void test_coverage(void **state)
{
    static const double shares[][3] = {{0.3, 0.3, 0.1}, {0.05, 0.6, 0.02}, {0.6, 0.1, 0.1}};
    (void)state;
    for (int k = 0; k < 3; k++) {
        const double *p = shares[k]; /* both, fixed, broken */
        struct pw_rng rng;
        int missed = 0;
        pw_rng_init(&rng, 5, PW_STREAM_TEST, (uint64_t)k);
        for (int draw = 0; draw < 4000; draw++) {
            int n[4] = {0};
            double low, high;
            for (int i = 0; i < 64; i++) {
                double u = pw_rng_below(&rng, 1 << 24) / (double)(1 << 24);
                n[u < p[0] ? 0 : u < p[0] + p[1] ? 1 : u < p[0] + p[1] + p[2] ? 2 : 3]++;
            }
            pw_why_interval(n[0], n[1], n[2], 64, &low, &high);
            missed += p[1] - p[2] < low || p[1] - p[2] > high;
        }
        if (missed < 120 || missed > 280)
            fail_msg("case %d: %d of 4000 intervals miss the difference", k, missed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_pairs), cmocka_unit_test(test_shape),
                                       cmocka_unit_test(test_coverage)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
