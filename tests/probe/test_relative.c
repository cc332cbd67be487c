/* test_relative.c - tests the probe relative. A model without an encoding must score by any function of the
 * distance; with a single dimension, only by a linear one. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "ref_probe.h"

static void test_functions(void **state)
{
    static const struct {
        const char *opts;
        int T;
    } cases[] = {{"T=4", 4}, {"T=7", 7}, {"T=64", 64}};
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct pw_finding f;
        ref_probe(&f, "relative", cases[i].opts, NULL, NULL, 0);
        const struct pw_block *b = ref_block(&f, "score without its content"),
                              *plot = ref_block(&f, "contribution of the position");
        assert_int_equal(f.n_claims, 2);
        assert_int_equal(pw_finding_verdict(&f), PW_CLAIM_REPRODUCED);
        assert_int_equal(plot->rows, cases[i].T);
        for (int d = 0; d < plot->rows; d++) { /* compared with functions that are computed here */
            assert_true(fabs(pw_finding_y_at(&f, plot, d, 0, 0) + log(1 + d)) < 1e-3);
            assert_true(fabs(pw_finding_y_at(&f, plot, d, 1, 0) + (d < cases[i].T / 4 ? 0 : 4)) < 1e-3);
            assert_true(fabs(pw_finding_y_at(&f, plot, d, 3, 0) - cos(6.283185307179586 * d / 7)) < 1e-3);
        }
        for (int k = 0; k < b->rows; k++)
            assert_true(pw_finding_cell(&f, b, k, 0) < 1e-3 && pw_finding_cell(&f, b, k, 1) > 0.5);
        pw_finding_fini(&f);
    }
}

static void test_one_dimension(void **state)
{
    struct pw_finding f;
    (void)state;
    ref_probe(&f, "relative", "T=8", NULL, NULL, 0);
    const struct pw_block *b = ref_block(&f, "dimension 3 alone");
    assert_true(fabs(pw_finding_cell(&f, b, 0, 0) - 1) < 1e-12); /* linear */
    for (int g = 1; g < b->rows; g++)
        assert_true(pw_finding_cell(&f, b, g, 0) < 0.99 && pw_finding_cell(&f, b, g, 0) > 0.3);
    pw_finding_fini(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_functions),
                                       cmocka_unit_test(test_one_dimension)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
