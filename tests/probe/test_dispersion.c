/* test_dispersion.c - tests the probe dispersion. A head with uniform attention must disperse as ln n; ALiBi
 * must not. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ref_probe.h"

/* All parameters are 0: every score is 0 except for the encoding's bias. */
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

/* The slopes of four heads are 1/4, 1/16, 1/64, 1/256. The first head stays focused; the last one still
 * disperses at these lengths. */
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

/* ALiBi's limits, computed independently with Python, and the entropy of scores without a prior. */
static void test_references(void **state)
{
    static const double limits[4][2] = {{1.7034991708355878, 4.082988165073597},
                                        {2.3889, 8.0417},
                                        {3.7727514667635194, 32.01041598856134},
                                        {6.5452, 512.0007}};
    static const double drawn[4][2] = {{6.9315, 1024}, {6.8065, 797.5}, {6.4315, 376.7}};
    struct pw_model *m = blank("none");
    struct pw_finding f;
    (void)state;
    ref_probe(&f, "dispersion", "samples=1", &m, NULL, 1);
    const struct pw_block *alibi = ref_block(&f, "ALiBi"), *scores = ref_block(&f, "independent");
    const struct pw_block *heads = ref_block(&f, "each head");
    for (int i = 0; i < 4; i++) {
        assert_true(fabs(pw_finding_cell(&f, alibi, i, 0) - limits[i][0]) < 1e-3);
        assert_true(fabs(pw_finding_cell(&f, alibi, i, 2) / limits[i][1] - 1) < 1e-3);
    }
    for (int i = 0; i < 3; i++) {
        assert_true(fabs(pw_finding_cell(&f, scores, i, 0) - drawn[i][0]) < 0.02);
        assert_true(fabs(pw_finding_cell(&f, scores, i, 1) - drawn[i][0]) < 1e-4);
        assert_true(fabs(pw_finding_cell(&f, scores, i, 2) / drawn[i][1] - 1) < 0.1);
    }
    /* A uniform head: n_eff is n, the largest weight is 1/n, the entropy is ln n. */
    assert_true(pw_finding_cell(&f, heads, 0, 1) > pw_finding_cell(&f, heads, 0, 0) + 10);
    assert_true(fabs(pw_finding_cell(&f, heads, 0, 5) - 1) < 1e-6);
    assert_true(fabs(pw_finding_cell(&f, heads, 0, 1) * pw_finding_cell(&f, heads, 0, 3) - 1) < 0.05);
    assert_int_equal(pw_finding_verdict(&f), PW_CLAIM_REPRODUCED);
    pw_finding_fini(&f);
    pw_model_destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_uniform), cmocka_unit_test(test_alibi),
                                       cmocka_unit_test(test_references)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
