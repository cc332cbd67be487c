/* test_equations.c - tests the probe equations: it must confirm the printed formulas that hold and report
 * those that don't. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "ref_probe.h"

static void test_claims(void **state)
{
    static const struct {
        const char *claim;
        enum pw_claim_verdict verdict;
        const char *found;
    } claims[] = {
        {"Kazemnejad et al. 2023, Eq. 13 and its example", PW_CLAIM_REPRODUCED, "within 0.0e+00"},
        {"Kazemnejad et al. 2023, Eq. 13: C = ", PW_CLAIM_CONTRADICTED,
         "it is 0.9389, but the example needs 1/2"},
        {"Kazemnejad et al. 2023, Eq. 14", PW_CLAIM_REPRODUCED, "300 pairs of 4 sequences"},
        {"Qiu et al. 2021, Eq. 13", PW_CLAIM_REPRODUCED, "300 pairs of 4 sequences"},
        {"Qiu et al. 2021, Eq. 14", PW_CLAIM_CONTRADICTED, "3 of 5 do (alibi, t5, clipped"},
        {"Qiu et al. 2021, Eq. 24", PW_CLAIM_REPRODUCED, "lengths 1 to 20"},
    };
    struct pw_finding f;
    (void)state;
    ref_probe(&f, "equations", "", NULL, NULL, 0);
    assert_int_equal(f.n_claims, sizeof claims / sizeof *claims);
    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++) {
        const struct pw_claim *c = ref_claim(&f, claims[i].claim);
        assert_int_equal(c->verdict, claims[i].verdict);
        assert_non_null(strstr(c->found, claims[i].found));
    }
    const struct pw_block *b = ref_block(&f, "contribution of a relative encoding");
    for (int i = 0; i < b->rows; i++) {
        double varies = pw_finding_cell(&f, b, i, 0);
        assert_true(i < 3 ? varies < 1e-5 : varies > 0.3);
        assert_int_equal((int)pw_finding_cell(&f, b, i, 1), i < 3);
    }
    pw_finding_fini(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_claims)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
