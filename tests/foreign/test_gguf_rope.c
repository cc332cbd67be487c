/* test_gguf_rope.c - GGUF files with longrope, which are made here from a case of transformers.safetensors:
 * they have the logits of transformers and the encoding of the folder. Faults of them are refused. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "foreign/foreign.h"
#include "ref_gguf.h"

enum { T = 24, N_ROWS = 2 };
static const int rows[N_ROWS] = {11, 23};

static const char name[] = "llama_longrope";
static struct ref_family families;

/* Metadata and tensors beside the model. type, gain: NULL, 0: none. */
struct variant {
    const char *type;
    float gain;
    int n_long, n_short; /* 0: no tensor */
    bool freqs;          /* has the tensor rope_freqs */
};

/* Writes the case as a GGUF file, and returns its path. */
static const char *write_variant(const struct variant *v)
{
    static const float longer[] = {1.5f, 4, 8}, shorter[] = {1, 1.25f};
    const char *path;
    struct ref_gguf g = {0};
    ref_gguf_llama(&g, &families, name);
    ref_gguf_u32(&g, "llama.rope.scaling.original_context_length", 16);
    if (v->type != NULL)
        ref_gguf_text(&g, "llama.rope.scaling.type", v->type);
    if (v->gain > 0)
        ref_gguf_f32(&g, "llama.rope.scaling.attn_factor", v->gain);
    if (v->n_long > 0)
        ref_gguf_tensor(&g, "rope_factors_long.weight", 0, v->n_long, longer);
    if (v->n_short > 0)
        ref_gguf_tensor(&g, "rope_factors_short.weight", 0, v->n_short, shorter);
    if (v->freqs)
        ref_gguf_tensor(&g, "rope_freqs.weight", 0, 2, longer);
    path = ref_family_path(&families, "made.gguf");
    ref_gguf_write(&g, path);
    return path;
}

static void print_encoding(const char *path, int context, struct pw_str *out)
{
    struct pw_foreign *f;
    struct pw_err err;
    if (pw_foreign_open(&f, path, false, &err) != PW_OK)
        fail_msg("%s", err.msg);
    pw_foreign_pe(f, context, out);
    pw_foreign_close(f);
}

static void check_logits(const char *path)
{
    const int64_t *given = ref_family_numbers(&families, name, "tokens", T);
    int context = 64, tokens[T];
    struct pw_backend *be;
    struct pw_model *m = ref_foreign_load(path, false, &context, &be);
    size_t V = (size_t)pw_model_config(m)->vocab;
    const float *right = ref_family_numbers(&families, name, "logits", N_ROWS * V);
    float *logits = malloc(T * V * sizeof *logits), largest = 0;
    struct pw_err err;
    assert_non_null(logits);
    for (int i = 0; i < T; i++)
        tokens[i] = (int)given[i];
    assert_int_equal(pw_model_inspect(m, tokens, T, &(struct pw_inspection){.logits = logits}, &err), PW_OK);
    for (size_t i = 0; i < N_ROWS * V; i++)
        largest = fmaxf(largest, fabsf(right[i]));
    for (size_t i = 0; i < N_ROWS * V; i++) {
        float got = logits[(size_t)rows[i / V] * V + i % V];
        if (!(fabsf(got - right[i]) <= 1e-4f * largest))
            fail_msg("logit %zu is %.9g, not %.9g", i, (double)got, (double)right[i]);
    }
    free(logits);
    pw_model_destroy(m);
    pw_backend_cpu()->close(be);
}

static void longrope_is_that_of_transformers(void **state)
{
    /* llama.cpp's converter writes no type */
    static const struct variant variants[] = {{NULL, 1.22474487f, 2, 2, false},
                                              {"longrope", 1.22474487f, 2, 2, false},
                                              {"none", 1.22474487f, 2, 2, false}};
    (void)state;
    for (int i = 0; i < 3; i++)
        check_logits(write_variant(&variants[i]));
}

static void both_lists_are_those_of_the_folder(void **state)
{
    struct pw_str file = {0}, folder = {0};
    const char *path = write_variant(&(struct variant){NULL, 1.22474487f, 2, 2, false});
    (void)state;
    print_encoding(path, 12, &file);
    assert_non_null(strstr(file.s, "/ list(1,1.25)[p]"));
    print_encoding(families.folder, 12, &folder);
    size_t n = strcspn(file.s, ";");
    assert_int_equal(strncmp(file.s, folder.s, n), 0);
    pw_str_clear(&file);
    print_encoding(path, 17, &file);
    assert_non_null(strstr(file.s, "/ list(1.5,4)[p]"));
    pw_str_fini(&file);
    pw_str_fini(&folder);
}

static void no_attn_factor_means_one(void **state)
{
    struct pw_str file = {0};
    (void)state;
    print_encoding(write_variant(&(struct variant){NULL, 0, 2, 2, false}), 64, &file);
    assert_null(strstr(file.s, "gain"));
    pw_str_fini(&file);
}

static void faults_are_refused_by_one_line(void **state)
{
    static const struct {
        struct variant v;
        const char *words;
    } faults[] = {
        {{NULL, 0, 2, 0, false}, "short_factor"},
        {{NULL, 0, 0, 2, false}, "long_factor"},
        {{"longrope", 0, 0, 0, false}, "long_factor"},
        {{NULL, 1.5f, 0, 0, false}, "attn_factor=1.5: must be 1 without yarn or longrope"},
        {{NULL, 0, 3, 2, false}, "must have a number for each rotated pair"},
        {{"yarn", 0, 2, 2, false}, "'yarn' beside the tensor rope_factors_long can't be read"},
        {{"linear", 0, 0, 0, true}, "'linear' beside the tensor rope_freqs can't be read"},
        {{NULL, 0, 2, 2, true}, "beside the tensor rope_freqs and rope_factors_long can't be read"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct pw_foreign *f;
        struct pw_err err = {.msg = ""};
        assert_int_equal(pw_foreign_open(&f, write_variant(&faults[i].v), false, &err), PW_EUSER);
        if (strstr(err.msg, faults[i].words) == NULL || strchr(err.msg, '\n') != NULL)
            fail_msg("'%s' does not say '%s'", err.msg, faults[i].words);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(longrope_is_that_of_transformers),
        cmocka_unit_test(both_lists_are_those_of_the_folder),
        cmocka_unit_test(no_attn_factor_means_one),
        cmocka_unit_test(faults_are_refused_by_one_line),
    };

    ref_families_open(&families);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    ref_families_close(&families);
    return failed;
}
