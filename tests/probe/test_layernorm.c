/* test_layernorm.c - tests the probe layernorm: two large dimensions must bypass the norm before the MLP, two
 * small ones must not. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "ref_probe.h"

static void test_bypass(void **state)
{
    static const char *const opts[] = {"T=2", "T=16", "T=64"};
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct pw_finding f;
        ref_probe(&f, "layernorm", opts[i], NULL, NULL, 0);
        const struct pw_block *b = ref_block(&f, "largest error"), *plot = ref_block(&f, "dimension 3");
        assert_int_equal(pw_finding_verdict(&f), PW_CLAIM_REPRODUCED);
        assert_true(pw_finding_cell(&f, b, 0, 0) > 0.3);  /* N = 0 */
        assert_true(pw_finding_cell(&f, b, 4, 0) < 0.02); /* N = 256 */
        for (int k = 1; k < 3; k++) /* the remaining error is of second order: N = 4, 16, 64 */
            assert_true(pw_finding_cell(&f, b, k + 1, 0) < pw_finding_cell(&f, b, k, 0) / 8);
        for (int t = 1; t <= plot->rows; t++)
            assert_true(fabs(pw_finding_y_at(&f, plot, t - 1, 0, 0) - t) < 0.02);
        pw_finding_fini(&f);
    }
}

/* A single N that is too small must not contradict the claim. */
static void test_small(void **state)
{
    struct pw_finding f;
    (void)state;
    ref_probe(&f, "layernorm", "large=4", NULL, NULL, 0);
    assert_int_equal(pw_finding_verdict(&f), PW_CLAIM_INCONCLUSIVE);
    pw_finding_fini(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_bypass), cmocka_unit_test(test_small)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
