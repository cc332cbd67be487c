/* test_permutation.c - tests the probe permutation. Su's claims must hold for models without an encoding.
 * Every encoding that acts without training must be found to take effect. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "ref_probe.h"

static void test_every_encoding(void **state)
{
    (void)state;
    for (int i = 0; pw_pes[i] != NULL; i++) {
        struct pw_model *m = ref_probe_model("layers=1", pw_pes[i]->name, 1);
        struct pw_finding f;
        ref_probe(&f, "permutation", "samples=2", &m, NULL, 1);
        if (pw_finding_verdict(&f) != PW_CLAIM_REPRODUCED)
            fail_msg("%s: %s", pw_pes[i]->name, pw_claim_verdicts[pw_finding_verdict(&f)]);
        bool acts = pw_pes[i]->uses != 0 && strcmp(pw_pes[i]->name, "cope") != 0; /* it starts with zeros */
        assert_int_equal(f.n_claims, acts ? 4 : 3);
        pw_finding_fini(&f);
        pw_model_destroy(m);
    }
}

/* The errors: zero up to rounding, or clearly not zero. */
static void test_numbers(void **state)
{
    struct pw_model *m = ref_probe_model("layers=1", "none", 1);
    struct pw_finding f;
    (void)state;
    ref_probe(&f, "permutation", "samples=4 length=20", &m, NULL, 1);
    const struct pw_block *b = ref_block(&f, "relative error");
    assert_int_equal(b->rows, 6);
    for (int l = 0; l < 3; l++) {
        assert_true(pw_finding_cell(&f, b, l, 1) < 1e-5);
        assert_true(pw_finding_cell(&f, b, 3 + l, 0) > 0.05);
    }
    assert_true(pw_finding_cell(&f, b, 3, 3) < 1e-5); /* one causal layer, last token */
    assert_true(pw_finding_cell(&f, b, 4, 2) > 1e-3);
    pw_finding_fini(&f);
    pw_model_destroy(m);
}

static void test_refused(void **state)
{
    struct pw_model *m = ref_probe_model("layers=1", "none", 1);
    struct pw_finding f;
    struct pw_err err;
    (void)state;
    assert_int_equal(ref_probe_run(&f, "permutation", "length=65", &m, NULL, 1, &err), PW_EUSER);
    assert_string_equal(err.msg, "probe permutation: length=65: arm 1 reads at most 64 tokens");
    pw_model_destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_encoding), cmocka_unit_test(test_numbers),
                                       cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
