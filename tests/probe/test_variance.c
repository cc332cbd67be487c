/* test_variance.c - tests the probe variance. Uniform attention over iid values must have the mean square
 * 1/n, and an arm's numbers must be those of its forward passes. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ref_probe.h"

static void test_document(void **state)
{
    struct pw_model *m = ref_probe_model("layers=1", "rotary", 1);
    struct pw_finding f;
    (void)state;
    ref_probe(&f, "variance", "samples=2", &m, &m, 1);
    assert_int_equal(f.n_claims, 2); /* no claim about a single model */
    assert_int_equal(pw_finding_verdict(&f), PW_CLAIM_REPRODUCED);
    const struct pw_block *b = ref_block(&f, "uniform attention");
    for (int n = 1; n <= 64; n *= 2) { /* sigma^2 / n */
        double y = pw_finding_y_at(&f, b, n - 1, 0, 0);
        assert_true(pw_finding_x_at(&f, b, n - 1) == n);
        assert_true(fabs(y * n - 1) < 0.04);
        assert_true(pw_finding_y_at(&f, b, n - 1, 1, 0) > y * 0.96); /* repeated tokens: larger */
    }
    pw_finding_fini(&f);
    pw_model_destroy(m);
}

/* If the layer's output is zeroed, the stream must equal its input. The twin is another model. */
static void test_stream(void **state)
{
    struct pw_model *m = ref_probe_model("layers=1", "none", 1),
                    *twin = ref_probe_model("layers=1", "none", 2);
    const struct pw_param *p;
    float *all = malloc(pw_model_size(m) * sizeof *all);
    struct pw_finding f;
    int n;
    (void)state;
    p = pw_model_params(m, &n);
    pw_model_get(m, all, NULL, NULL);
    for (int i = 0; i < n; i++)
        if (strstr(p[i].name, "attn.o.weight") != NULL)
            memset(all + p[i].offset, 0, (size_t)p[i].rows * p[i].cols * sizeof *all);
        else if (strstr(p[i].name, "embed") != NULL)
            for (int k = 0; k < p[i].rows * p[i].cols; k++)
                all[p[i].offset + k] = k % 2 ? 3 : -3;
    pw_model_put(m, all, NULL, NULL);
    ref_probe(&f, "variance", "samples=2 length=20", &m, &twin, 1);
    const struct pw_block *b = ref_block(&f, "layer 0: mean square");
    assert_int_equal(b->rows, 20);
    for (int t = 0; t < 20; t++) {
        assert_true(fabs(pw_finding_y_at(&f, b, t, 1, 0) - 9) < 1e-5);
        assert_true(pw_finding_y_at(&f, b, t, 0, 0) != pw_finding_y_at(&f, b, t, 2, 0));
    }
    assert_int_equal(f.n_claims, 2); /* no claim about a single model */
    free(all);
    pw_finding_fini(&f);
    pw_model_destroy(m);
    pw_model_destroy(twin);
}

static void test_refused(void **state)
{
    struct pw_model *m = ref_probe_model("layers=1", "none", 1);
    struct pw_finding f;
    struct pw_err err;
    (void)state;
    assert_int_equal(ref_probe_run(&f, "variance", "length=3", &m, &m, 1, &err), PW_EUSER);
    assert_string_equal(err.msg, "probe variance: length 3: at least 4 tokens are needed");
    pw_model_destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_document), cmocka_unit_test(test_stream),
                                       cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
