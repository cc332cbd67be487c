/* test_adjacent.c - tests the probe adjacent. The cosine of sinusoidal rows must be K(k); that of a random
 * table must be near 0. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "ref_probe.h"

static void test_sines(void **state)
{
    static const struct {
        int k;
        double cosine;
    } known[] = {{1, 0.9662}, {4, 0.7479}, {16, 0.6054}}; /* for width 64 */
    struct pw_model *m = ref_probe_model("layers=1 width=64", "sinusoidal", 1);
    struct pw_finding f;
    (void)state;
    ref_probe(&f, "adjacent", "length=64", &m, &m, 1);
    const struct pw_block *b = ref_block(&f, "by distance");
    assert_int_equal(b->rows, 32);
    for (int i = 0; i < 3; i++)
        for (int end = 0; end < 3; end++)
            assert_true(fabs(pw_finding_y_at(&f, b, known[i].k - 1, 0, end) - known[i].cosine) < 6e-5);
    assert_int_equal(pw_finding_verdict(&f), PW_CLAIM_REPRODUCED);
    pw_finding_fini(&f);
    pw_model_destroy(m);
}

static void test_learned(void **state)
{
    struct pw_model *m = ref_probe_model("layers=1", "learned", 1);
    struct pw_finding f;
    (void)state;
    ref_probe(&f, "adjacent", "length=64", &m, &m, 1);
    const struct pw_block *b = ref_block(&f, "by distance");
    assert_true(fabs(pw_finding_y_at(&f, b, 0, 0, 0)) < 0.1);
    assert_true(pw_finding_y_at(&f, b, 0, 0, 2) > 0.2); /* a single pair may have any cosine */
    assert_true(pw_finding_cell(&f, ref_block(&f, "cosine of neighbours"), 0, 0) ==
                pw_finding_y_at(&f, b, 0, 0, 0));
    assert_int_equal(f.n_claims, 0); /* no claim about a single model */
    pw_finding_fini(&f);
    pw_model_destroy(m);
}

static void test_refused(void **state)
{
    struct pw_model *m = ref_probe_model("layers=1", "rotary", 1);
    struct pw_finding f;
    struct pw_err err;
    (void)state;
    assert_int_equal(ref_probe_run(&f, "adjacent", "", &m, &m, 1, &err), PW_EUSER);
    assert_string_equal(err.msg, "probe adjacent: arm 1: encoding rotary adds no rows to the embeddings");
    pw_model_destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sines), cmocka_unit_test(test_learned),
                                       cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
