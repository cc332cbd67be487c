/* test_drop.c - `pe none` on a model from a file is DroPE (Gelberg et al. 2025): rotation with cos = 1 and
 * sin = 0, and all weights as they were. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/model.h"
#include "ref_foreign.h"

enum { T = 20 };

static void set_encoding(struct pw_model **m, const char *pe)
{
    struct pw_pe_use_opts use;
    struct pw_model *other = NULL;
    struct pw_err err;
    if (pw_pe_parse(&use, pe, pw_model_config(*m), &err) != PW_OK ||
        pw_model_swap(&other, *m, &use, 1, false, &err) != PW_OK)
        fail_msg("%s", err.msg);
    pw_model_destroy(*m);
    *m = other;
}

/* The logits of some tokens; the caller frees them. */
static float *logits_of(struct pw_model *m)
{
    size_t V = (size_t)pw_model_config(m)->vocab;
    float *logits = malloc(T * V * sizeof *logits);
    int tokens[T];
    struct pw_err err;
    assert_non_null(logits);
    for (int i = 0; i < T; i++)
        tokens[i] = (7 * i * i + 3) % (int)V;
    assert_int_equal(pw_model_inspect(m, tokens, T, &(struct pw_inspection){.logits = logits}, &err), PW_OK);
    return logits;
}

static void check_drop(struct ref_family *x, const char *name)
{
    cJSON *of = ref_family_case(x, name);
    struct pw_backend *be;
    int context = 64;
    uint64_t before[2], after[2];
    ref_family_write(x, of);
    struct pw_model *m = ref_foreign_load(x->folder, false, &context, &be);
    size_t bytes = T * (size_t)pw_model_config(m)->vocab * sizeof(float);
    float *first = logits_of(m);
    pw_model_digest(m, before);
    set_encoding(&m, "drope");
    assert_string_equal(pw_model_pe(m)->pe->name, "none");
    float *none = logits_of(m);
    pw_model_digest(m, after);
    assert_memory_equal(before, after, sizeof before);
    set_encoding(&m, "expr 'angle = 0 * i'");
    float *still = logits_of(m);
    if (memcmp(none, still, bytes) != 0)
        fail_msg("%s: without rotation the logits are others than with an angle of zero", name);
    assert_memory_not_equal(none, first, bytes);
    free(first);
    free(none);
    free(still);
    pw_model_destroy(m);
    pw_backend_cpu()->close(be);
    cJSON_Delete(of);
}

static void test_drop(void **state)
{
    struct ref_family x;
    (void)state;
    ref_families_open(&x);
    check_drop(&x, "llama");
    check_drop(&x, "llama_linear");
    check_drop(&x, "gpt_neox");
    check_drop(&x, "gpt_neox_yarn");
    check_drop(&x, "gptj");
    check_drop(&x, "qwen3");
    ref_families_close(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_drop)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
