/* test_position.c - tests the probe position. An added encoding must be readable from the embedding, tokens
 * alone must not be, and neither may the shuffled control. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "ref_probe.h"

enum { R2_I, R2_SHARE, R2_INVERSE, R2_LN, ERROR_I, BEYOND_R2, BEYOND_ERROR };

static void test_embedding(void **state)
{
    const char *const pes[] = {"none", "learned"};
    (void)state;
    for (int k = 0; k < 2; k++) {
        struct pw_model *m = ref_probe_model("layers=2", pes[k], 1),
                        *twin = ref_probe_model("layers=2", pes[k], 2);
        struct pw_finding f;
        ref_probe(&f, "position", "length=16 samples=256", &m, &twin, 1);
        const struct pw_block *b = ref_block(&f, "R^2");
        double r2 = pw_finding_cell(&f, b, 0, R2_I), shuffled = pw_finding_cell(&f, b, 2, R2_I);
        assert_int_equal(b->rows, 9);
        assert_true(shuffled < 0.05);
        if (k == 0) /* random tokens without an encoding */
            assert_true(r2 < 0.05);
        else { /* rows of a table: readable up to the fitted length */
            assert_true(r2 > 0.8);
            assert_true(pw_finding_cell(&f, b, 0, R2_INVERSE) > 0.8);
            assert_true(pw_finding_cell(&f, b, 0, BEYOND_R2) < 0);
        }
        /* With varied lengths, i is more readable than i/T, because T is unknown. */
        if (k == 1)
            assert_true(pw_finding_cell(&f, b, 0, R2_SHARE) < r2);
        assert_non_null(strstr(f.remarks[0].text, "control: R^2 with shuffled positions is at most"));
        assert_non_null(strstr(f.remarks[0].text, "as expected"));
        assert_int_equal(f.n_claims, 0); /* no claim about a single model */
        assert_int_equal(ref_block(&f, "mean |error|")->rows, 31);
        pw_finding_fini(&f);
        pw_model_destroy(m);
        pw_model_destroy(twin);
    }
}

/* From the first layer on, position must be readable in a causal model without an encoding, if there is a
 * first word to count from. */
static void test_mask(void **state)
{
    struct pw_model *m = ref_probe_model("layers=2", "none", 1);
    struct pw_finding f;
    (void)state;
    ref_probe(&f, "position", "length=16 samples=256", &m, &m, 1);
    const struct pw_block *b = ref_block(&f, "R^2");
    assert_true(pw_finding_cell(&f, b, 3, R2_I) > 0.1);
    assert_true(pw_finding_cell(&f, b, 3, R2_I) == pw_finding_cell(&f, b, 4, R2_I)); /* its own twin */
    pw_finding_fini(&f);
    pw_model_destroy(m);
}

static void test_context(void **state)
{
    struct pw_model *m = ref_probe_model("layers=1", "none", 1);
    struct pw_finding f;
    struct pw_err err;
    (void)state;
    assert_int_equal(ref_probe_run(&f, "position", "length=65", &m, &m, 1, &err), PW_EUSER);
    assert_string_equal(err.msg, "probe position: length=65: arm 1 reads at most 64 tokens");
    ref_probe(&f, "position", "length=64 samples=4", &m, &m, 1); /* no longer ones */
    assert_non_null(strstr(f.remarks[f.n_remarks - 1].text, "no room for longer sequences"));
    pw_finding_fini(&f);
    pw_model_destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_embedding), cmocka_unit_test(test_mask),
                                       cmocka_unit_test(test_context)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
