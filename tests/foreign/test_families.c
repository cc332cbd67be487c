/* test_families.c - opens tiny models of every family, as transformers saved them, and compares logits,
 * attention and a greedy continuation with transformers (tests/golden/make_transformers.py). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "foreign/foreign.h"
#include "model/decode.h"
#include "ref_foreign.h"

enum { T = 24, MORE = 32, N_ROWS = 2, CONTEXT = 64 };
static const int rows[N_ROWS] = {11, 23};

static void check_near(const char *name, const char *what, const float *got, const float *right, size_t n,
                       double limit, double scale)
{
    for (size_t i = 0; i < n; i++)
        if (!(fabs((double)got[i] - (double)right[i]) <= limit * scale))
            fail_msg("%s: %s[%zu] is %.9g, not %.9g", name, what, i, (double)got[i], (double)right[i]);
}

static void check_continuation(const char *name, struct pw_model *m, const int *prompt, const int64_t *right)
{
    int V = pw_model_config(m)->vocab, tokens[T];
    float *logits = malloc((size_t)V * sizeof *logits);
    struct pw_decoder *d;
    struct pw_err err;
    memcpy(tokens, prompt, sizeof tokens);
    assert_non_null(logits);
    assert_int_equal(pw_decoder_create(&d, m, T + MORE, &err), PW_OK);
    for (int i = 0, n = T; i < MORE; i++, n = 1) {
        assert_int_equal(pw_decoder_feed(d, tokens, n, logits, &err), PW_OK);
        tokens[0] = 0;
        for (int v = 1; v < V; v++)
            tokens[0] = logits[v] > logits[tokens[0]] ? v : tokens[0];
        if (tokens[0] != right[i])
            fail_msg("%s: token %d of the continuation is %d, not %d", name, i, tokens[0], (int)right[i]);
    }
    pw_decoder_destroy(d);
    free(logits);
}

static void check_case(struct ref_family *x, const char *name)
{
    cJSON *of = ref_family_case(x, name);
    ref_family_write(x, of);
    struct pw_backend *be;
    int context = CONTEXT;
    struct pw_model *m = ref_foreign_load(x->folder, false, &context, &be);
    const struct pw_config *cfg = pw_model_config(m);
    size_t LH = (size_t)cfg->layers * cfg->heads, V = (size_t)cfg->vocab;
    float *logits = malloc(T * V * sizeof *logits), *probs = malloc(LH * T * T * sizeof *probs);
    const int64_t *given = ref_family_numbers(x, name, "tokens", T);
    const float *right = ref_family_numbers(x, name, "logits", N_ROWS * V), *maps;
    double largest = 0;
    int tokens[T];
    struct pw_err err;
    for (int i = 0; i < T; i++)
        tokens[i] = (int)given[i];
    for (size_t i = 0; i < N_ROWS * V; i++)
        largest = fmax(largest, fabs((double)right[i]));
    assert_true(logits != NULL && probs != NULL);
    struct pw_inspection out = {.logits = logits, .probs = probs};
    if (pw_model_inspect(m, tokens, T, &out, &err) != PW_OK)
        fail_msg("%s: %s", name, err.msg);
    maps = ref_family_numbers(x, name, "probs", LH * N_ROWS * T);
    for (int i = 0; i < N_ROWS; i++) {
        check_near(name, "logits", logits + (size_t)rows[i] * V, right + (size_t)i * V, V, 1e-4, largest);
        for (size_t h = 0; h < LH; h++)
            check_near(name, "probs", probs + (h * T + (size_t)rows[i]) * T,
                       maps + (h * N_ROWS + (size_t)i) * T, T, 1e-5, 1);
    }
    check_continuation(name, m, tokens, ref_family_numbers(x, name, "more", MORE));
    print_message("%s agrees\n", name);
    free(logits);
    free(probs);
    pw_model_destroy(m);
    pw_backend_cpu()->close(be);
    cJSON_Delete(of);
}

static void test_families(void **state)
{
    struct ref_family x;
    (void)state;
    ref_families_open(&x);
    const char *only = getenv("PEWTER_FAMILY"); /* one case, for debugging */
    if (only != NULL)
        check_case(&x, only);
    else
        ref_families_each(&x, check_case);
    ref_families_close(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_families)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
