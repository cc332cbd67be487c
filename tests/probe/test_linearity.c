/* test_linearity.c - which equations hold as printed, and that the others do when corrected. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "ref_probe.h"

static void test_equations(void **state)
{
    static const bool holds[] = {true, true, false, true, false, true, true, false, false};
    struct pw_finding f;
    (void)state;
    ref_probe(&f, "linearity", "samples=2000", NULL, NULL, 0);
    const struct pw_block *b = ref_block(&f, "largest difference");
    assert_int_equal(b->rows, sizeof holds / sizeof *holds);
    for (int i = 0; i < b->rows; i++) {
        double printed = pw_finding_cell(&f, b, i, 0), right = pw_finding_cell(&f, b, i, 1);
        assert_true(holds[i] ? printed < 1e-12 : printed > 0.5);
        assert_true(right != right || right < 1e-12); /* NaN: there is nothing to correct */
        assert_int_equal((int)pw_finding_cell(&f, b, i, 2), holds[i]);
    }
    assert_int_equal(ref_claim(&f, "Qiu et al. 2021, appendix E: steps")->verdict, PW_CLAIM_CONTRADICTED);
    pw_finding_fini(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_equations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
