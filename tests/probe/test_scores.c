/* test_scores.c - tests the probe scores on encodings with known parts. ALiBi's part must be purely relative,
 * that of an added table mostly absolute. Without either, scores must be content. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ref_probe.h"

enum { RELATIVE, ABSOLUTE, CONTENT, UNTRAINED_RELATIVE, UNTRAINED_ABSOLUTE, SHUFFLED };

static void test_alibi(void **state)
{
    struct pw_model *m = ref_probe_model("layers=1", "alibi", 1),
                    *none = ref_probe_model("layers=1", "none", 1);
    struct pw_finding f;
    (void)state;
    ref_probe(&f, "scores", "samples=64 length=24", &m, &none, 1);
    const struct pw_block *b = ref_block(&f, "shares"), *part = ref_block(&f, "layer 0: f_rel");
    assert_true(pw_finding_cell(&f, b, 0, RELATIVE) > 0.5); /* slope 1/4 */
    for (int h = 0; h < 4; h++) {
        assert_true(fabs(pw_finding_cell(&f, b, h, ABSOLUTE)) < 0.03);
        assert_true(fabs(pw_finding_cell(&f, b, h, SHUFFLED)) < 0.02);
        assert_true(fabs(pw_finding_cell(&f, b, h, UNTRAINED_RELATIVE)) < 0.03);
        if (h > 0)
            assert_true(pw_finding_cell(&f, b, h, RELATIVE) < pw_finding_cell(&f, b, h - 1, RELATIVE));
    }
    /* f_rel itself, up to the content that remains in a mean over this many sequences. */
    assert_int_equal(part->rows, 22);
    for (int r = 0; r < 20; r++) {
        assert_true(pw_finding_x_at(&f, part, r) == r + 1);
        assert_true(fabs(pw_finding_y_at(&f, part, r, 0, 0) + r / 4.0) < 0.35);
    }
    pw_finding_fini(&f);
    pw_model_destroy(m);
    pw_model_destroy(none);
}

/* With all content removed, ALiBi must be exactly relative, also without the mask. */
static void test_exact(void **state)
{
    const char *const configs[] = {"layers=1", "layers=1 causal=off"};
    (void)state;
    for (int k = 0; k < 2; k++) {
        struct pw_model *m = ref_probe_model(configs[k], "alibi", 1);
        float *zero = calloc(pw_model_size(m), sizeof *zero);
        struct pw_finding f;
        pw_model_put(m, zero, NULL, NULL);
        ref_probe(&f, "scores", "samples=4 length=16", &m, &m, 1);
        const struct pw_block *b = ref_block(&f, "shares"), *part = ref_block(&f, "layer 0: f_rel");
        for (int h = 0; h < 4; h++) {
            double slope = pow(4, -(h + 1)); /* 2^(-8 h / H) for four heads */
            assert_true(fabs(pw_finding_cell(&f, b, h, RELATIVE) - 1) < 1e-6);
            assert_true(fabs(pw_finding_cell(&f, b, h, CONTENT)) < 1e-6);
            for (int i = 0; i < part->rows; i++) {
                double r = pw_finding_x_at(&f, part, i), y = pw_finding_y_at(&f, part, i, h, 0);
                assert_true(r == 0 ? isnan(y) : fabs(y + slope * (fabs(r) - 1)) < 1e-5);
            }
        }
        free(zero);
        pw_finding_fini(&f);
        pw_model_destroy(m);
    }
}

static void test_others(void **state)
{
    struct pw_model *learned = ref_probe_model("layers=1", "learned", 1);
    struct pw_model *none = ref_probe_model("layers=1", "none", 1);
    struct pw_finding f;
    (void)state;
    ref_probe(&f, "scores", "samples=64 length=24", &learned, &none, 1);
    const struct pw_block *b = ref_block(&f, "shares");
    double relative = 0, absolute = 0;
    for (int h = 0; h < 4; h++) {
        relative += pw_finding_cell(&f, b, h, RELATIVE) / 4;
        absolute += pw_finding_cell(&f, b, h, ABSOLUTE) / 4;
    }
    assert_true(absolute > 0.2 && relative < absolute / 2);
    assert_non_null(strstr(f.remarks[0].text, "control: position's share with shuffled keys"));
    assert_non_null(strstr(f.remarks[0].text, "as expected"));
    pw_finding_fini(&f);
    ref_probe(&f, "scores", "samples=64 length=24", &none, &none, 1);
    b = ref_block(&f, "shares");
    for (int h = 0; h < 4; h++)
        assert_true(fabs(pw_finding_cell(&f, b, h, CONTENT) - 1) < 0.01);
    assert_int_equal(f.n_claims, 0); /* no claim about a single model */
    pw_finding_fini(&f);
    pw_model_destroy(learned);
    pw_model_destroy(none);
}

static void test_refused(void **state)
{
    struct pw_model *m = ref_probe_model("layers=1", "none", 1);
    struct pw_finding f;
    struct pw_err err;
    (void)state;
    assert_int_equal(ref_probe_run(&f, "scores", "samples=5", &m, &m, 1, &err), PW_EUSER);
    assert_string_equal(err.msg, "probe scores: samples=5: allowed are even numbers");
    pw_model_destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_alibi), cmocka_unit_test(test_exact),
                                       cmocka_unit_test(test_others), cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
