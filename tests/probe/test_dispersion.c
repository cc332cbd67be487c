/* test_dispersion.c - a head that looks at everything alike disperses as ln n does; ALiBi's doesn't. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ref_probe.h"

/* All parameters 0: every score is 0 but for the encoding's bias. */
static struct pw_model *blank(const char *pe)
{
    struct pw_model *m = ref_probe_model("layers=1", pe, 1);
    float *zero = calloc(pw_model_size(m), sizeof *zero);
    pw_model_put(m, zero, NULL, NULL);
    free(zero);
    return m;
}

static void test_uniform(void **state)
{
    struct pw_model *m = blank("none");
    struct pw_finding f;
    (void)state;
    ref_probe(&f, "dispersion", "samples=2", &m, NULL, 1);
    const struct pw_block *slopes = ref_block(&f, "slope"), *plot = ref_block(&f, "mean entropy");
    for (int h = 0; h < 4; h++)
        assert_true(fabs(pw_finding_cell(&f, slopes, 0, h) - 1) < 1e-6);
    for (int i = 0; i < plot->rows; i++)
        assert_true(fabs(pw_finding_y_at(&f, plot, i, 0, 0) - pw_finding_x_at(&f, plot, i)) < 1e-6);
    assert_int_equal(plot->rows, 11);
    pw_finding_fini(&f);
    pw_model_destroy(m);
}

/* Four heads have slopes 1/4, 1/16, 1/64, 1/256: the first keeps its grip, the last doesn't yet. */
static void test_alibi(void **state)
{
    struct pw_model *m = blank("alibi");
    struct pw_finding f;
    (void)state;
    ref_probe(&f, "dispersion", "samples=2", &m, NULL, 1);
    const struct pw_block *slopes = ref_block(&f, "slope");
    assert_true(pw_finding_cell(&f, slopes, 0, 0) < 0.8);
    assert_true(pw_finding_cell(&f, slopes, 0, 3) > 0.98);
    for (int h = 1; h < 4; h++)
        assert_true(pw_finding_cell(&f, slopes, 0, h) > pw_finding_cell(&f, slopes, 0, h - 1));
    pw_finding_fini(&f);
    pw_model_destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_uniform), cmocka_unit_test(test_alibi)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
