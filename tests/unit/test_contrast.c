/* test_contrast.c - tests comparisons over training runs: how many runs a claim needs, which runs are left
 * out, and how often noise counts as a difference. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/rng.h"
#include "reproduce/contrast.h"
#include "reproduce/suite.h"

/* 2 / C(2n, n) times the number of tests is below 0.05 from n runs on. */
static void test_runs(void **state)
{
    static const int expected[][2] = {{1, 5},  {3, 5},  {6, 5},  {9, 6},  {14, 6},
                                      {24, 7}, {35, 7}, {75, 7}, {105, 8}};
    (void)state;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        int tests = expected[i][0], n = expected[i][1];
        struct pw_run_contrast c[105] = {{.p = 1}};
        double low[12], high[12];
        assert_int_equal(pw_contrast_runs(tests), n);
        for (int few = n - 1; few <= n;
             few++) { /* the largest difference: significant with n runs, not with one fewer */
            for (int r = 0; r < few; r++) {
                low[r] = r;
                high[r] = 50 + r;
            }
            for (int k = 0; k < tests; k++)
                c[k].p = 1;
            pw_contrast_measure(&c[0], high, low, few);
            pw_contrast_correct(c, tests);
            assert_int_equal(pw_contrast_sign(&c[0]), few == n ? 1 : 0);
        }
    }
}

static void test_values(void **state)
{
    const double a[7] = {10, 11, NAN, 12, 13, 14, 15}, b[7] = {1, 3, 2, 2, 4, NAN, 6};
    struct pw_run_contrast c;
    (void)state;
    pw_contrast_measure(&c, a, b, 7);
    assert_int_equal(c.difference.n, 5); /* runs that both have */
    assert_true(fabs(c.difference.mean - 9) < 1e-12);
    assert_true(fabs(c.p - 2.0 / 252) < 1e-12);
    pw_contrast_correct(&c, 1);
    assert_int_equal(pw_contrast_sign(&c), 1);
    assert_true(pw_contrast_beyond(&c, 5) && !pw_contrast_within(&c, 5) && pw_contrast_within(&c, 20));
    pw_contrast_measure(&c, b, a, 7);
    pw_contrast_correct(&c, 1);
    assert_int_equal(pw_contrast_sign(&c), -1);
    assert_true(pw_contrast_beyond(&c, 5));
    pw_contrast_measure(&c, a, b, 4); /* three runs: an interval that decides nothing */
    pw_contrast_correct(&c, 1);
    assert_true(pw_contrast_sign(&c) == 0 && !pw_contrast_beyond(&c, 0) && !pw_contrast_within(&c, 1000));
    pw_contrast_measure(&c, a, b, 0);
    assert_true(c.p == 1 && c.difference.n == 0);
}

static void test_verdicts(void **state)
{
    (void)state;
    assert_int_equal(pw_contrast_verdict(PW_PROTOCOL_TOY, 7, 7, false, true), PW_CLAIM_TOY);
    assert_int_equal(pw_contrast_verdict(PW_PROTOCOL_PAPER, 7, 7, false, true), PW_CLAIM_REPRODUCED);
    assert_int_equal(pw_contrast_verdict(PW_PROTOCOL_PAPER, 7, 7, true, false), PW_CLAIM_CONTRADICTED);
    assert_int_equal(pw_contrast_verdict(PW_PROTOCOL_PAPER, 6, 7, true, false), PW_CLAIM_INCONCLUSIVE);
    assert_int_equal(pw_contrast_verdict(PW_PROTOCOL_PAPER, 6, 7, false, true), PW_CLAIM_INCONCLUSIVE);
    assert_int_equal(pw_contrast_verdict(PW_PROTOCOL_PAPER, 7, 7, false, false), PW_CLAIM_INCONCLUSIVE);
}

/* Draws the exact match of equal runs: between 0 and 100 points, mostly low. */
static double draw(struct pw_rng *rng)
{
    return pw_rng_below(rng, 1000) * (double)pw_rng_below(rng, 1000) / 1e4;
}

/* Seven formats that are as good as none, on five encodings. Counts how often one of the 35 comparisons of a
 * task is a difference. Counts also how often the best of seven is two points above none in most encodings,
 * with one run. */
static void test_null(void **state)
{
    enum { TASKS = 1000, FORMATS = 7, PES = 5, RUNS = 7 };
    int wrong = 0, best = 0;
    struct pw_rng rng;
    (void)state;
    pw_rng_init(&rng, 22, PW_STREAM_TEST, 0);
    for (int task = 0; task < TASKS; task++) {
        struct pw_run_contrast c[FORMATS * PES];
        int any = 0, helped = 0;
        for (int pe = 0; pe < PES; pe++) {
            double none[RUNS], with[RUNS], most = 0;
            for (int r = 0; r < RUNS; r++)
                none[r] = draw(&rng);
            for (int k = 0; k < FORMATS; k++) {
                for (int r = 0; r < RUNS; r++)
                    with[r] = draw(&rng);
                most = with[0] > most ? with[0] : most;
                pw_contrast_measure(&c[pe * FORMATS + k], with, none, RUNS);
            }
            helped += most > none[0] + 2;
        }
        pw_contrast_correct(c, FORMATS * PES);
        for (int i = 0; i < FORMATS * PES; i++)
            any += pw_contrast_sign(&c[i]) != 0;
        wrong += any > 0;
        best += 2 * helped > PES;
    }
    print_message(
        "of %d tasks without any difference: %d have a certain one; by the best of seven formats of one run "
        "%d would be helped\n",
        TASKS, wrong, best);
    assert_true(wrong <= TASKS / 20);
    assert_true(best > TASKS / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_runs), cmocka_unit_test(test_values),
                                       cmocka_unit_test(test_verdicts), cmocka_unit_test(test_null)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
