/* test_linearity.c - tests the probe linearity: which equations hold as printed, and that the others hold
 * when corrected. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "probe/products.h"
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
        assert_true(right != right || right < 1e-12); /* NaN: there is no correction */
        assert_int_equal((int)pw_finding_cell(&f, b, i, 2), holds[i]);
    }
    /* The paper's statement is about the products, and holds. The rotation is a different statement. */
    const struct pw_block *one = ref_block(&f, "P_{x+y} as one linear map");
    assert_true(pw_finding_cell(&f, one, 0, 0) > 1 - 1e-12);
    assert_true(fabs(pw_finding_cell(&f, one, 1, 0) - 0.749) <
                0.03); /* computed in Python by Gauss-Jordan elimination, on other random draws */
    assert_int_equal(ref_claim(&f, "Qiu et al. 2021, appendix E: P_{x+y} of ASPE")->verdict,
                     PW_CLAIM_REPRODUCED);
    assert_int_equal(ref_claim(&f, "Qiu et al. 2021, appendix E: Eq. 15")->verdict, PW_CLAIM_CONTRADICTED);
    assert_non_null(strstr(f.remarks[0].text, "the rotation by Y for every L"));
    pw_finding_fini(&f);
}

/* The fit must give R^2 = 1 if one map exists, and less if the map depends on a third number. */
static void test_products(void **state)
{
    struct pw_product_sums same = {0}, varies = {0};
    (void)state;
    for (int i = 0; i < 200; i++) {
        double x[2] = {sin(i), cos(2 * i)}, y[2] = {cos(3 * i), sin(5 * i)}, z = sin(i * i);
        double sum[2] = {x[0] * y[1] - 2 * x[1] * y[1] + 3, x[1] * y[0]};
        pw_products_add(&same, x, y, sum);
        sum[0] *= z;
        sum[1] *= z;
        pw_products_add(&varies, x, y, sum);
    }
    assert_true(fabs(pw_products_r2(&same) - 1) < 1e-12);
    assert_true(pw_products_r2(&varies) < 0.5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_equations), cmocka_unit_test(test_products)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
