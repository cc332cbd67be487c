/* test_kept.c - tests that files of bf16 and fp16 are kept in 16 bits: every family has the bits of its file
 * in float32 with the same values, in logits, digests and training, and takes no more memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/half.h"
#include "base/quant.h"
#include "foreign/foreign.h"
#include "ref_foreign.h"

enum { T = 20, CONTEXT = 64 };

/* Rounds the tensors of model.safetensors in the folder to a type of 16 bits, and writes them so, or as
 * float32. */
static void rewrite(const struct ref_family *x, enum pw_st_type to, bool narrow)
{
    const char *path = ref_family_path(x, "model.safetensors");
    struct pw_st st;
    struct pw_err err;
    if (pw_st_open(&st, path, &err) != PW_OK)
        fail_msg("%s", err.msg);
    struct pw_st_tensor *list = calloc((size_t)st.n, sizeof *list);
    assert_non_null(list);
    for (int i = 0; i < st.n; i++) {
        list[i] = st.tensors[i];
        enum pw_number_type was = list[i].type == PW_ST_F32   ? PW_NUMBER_F32
                                  : list[i].type == PW_ST_F16 ? PW_NUMBER_F16
                                                              : PW_NUMBER_BF16;
        size_t n = list[i].bytes / (size_t)pw_numbers[was].bytes;
        uint16_t *halves = calloc(n, sizeof *halves);
        float *floats = calloc(n, sizeof *floats);
        assert_true(halves != NULL && floats != NULL);
        pw_number_read(was, list[i].data, (int64_t)n, floats);
        for (size_t k = 0; k < n; k++) {
            uint32_t bits;
            memcpy(&bits, floats + k, sizeof bits);
            halves[k] = to == PW_ST_BF16 ? (uint16_t)(bits >> 16) : pw_half(floats[k]);
            bits = (uint32_t)halves[k] << 16;
            memcpy(floats + k, &bits, sizeof bits);
            if (to == PW_ST_F16)
                floats[k] = pw_from_half(halves[k]);
        }
        list[i].type = narrow ? to : PW_ST_F32;
        list[i].bytes = n * (narrow ? sizeof *halves : sizeof *floats);
        list[i].data = narrow ? (void *)halves : (void *)floats;
        free(narrow ? (void *)floats : (void *)halves);
    }
    cJSON *meta = cJSON_CreateObject();
    if (pw_st_write(path, list, st.n, meta, &err) != PW_OK)
        fail_msg("%s", err.msg);
    cJSON_Delete(meta);
    for (int i = 0; i < st.n; i++)
        free((void *)(uintptr_t)list[i].data);
    free(list);
    pw_st_close(&st);
}

/* The compared values of a model, before and after a step. */
struct result {
    float *logits[2];
    uint64_t digest[2][2];
    size_t bytes, V;
    int said; /* weight_bytes */
};

static void look(struct pw_model *m, struct result *r, int k)
{
    int tokens[T];
    struct pw_err err;
    r->V = (size_t)pw_model_config(m)->vocab;
    r->logits[k] = malloc(T * r->V * sizeof(float));
    assert_non_null(r->logits[k]);
    for (int i = 0; i < T; i++)
        tokens[i] = (7 * i * i + 3) % (int)r->V;
    assert_int_equal(pw_model_inspect(m, tokens, T, &(struct pw_inspection){.logits = r->logits[k]}, &err),
                     PW_OK);
    pw_model_digest(m, r->digest[k]);
}

static void train(struct pw_model *m, int V)
{
    struct pw_optim o = {0};
    int tokens[T], pos[T], rows[T], targets[T], start[2] = {0, T};
    struct pw_batch b = {.n_seqs = 1,
                         .n_rows = T,
                         .n_scored = T,
                         .start = start,
                         .tokens = tokens,
                         .pos = pos,
                         .rows = rows,
                         .targets = targets};
    struct pw_step_result result;
    struct pw_err err;
    pw_opt_defaults(pw_optim_opts, &o);
    for (int i = 0; i < T; i++) {
        tokens[i] = (5 * i + 1) % V;
        targets[i] = (5 * i + 6) % V;
        pos[i] = rows[i] = i;
    }
    if (pw_model_step(m, &o, &b, NULL, &result, &err) != PW_OK)
        fail_msg("%s", err.msg);
}

static struct result run(const struct ref_family *x)
{
    struct result r = {0};
    struct pw_backend *be;
    struct pw_foreign *f;
    struct pw_err err;
    int context = CONTEXT;
    if (pw_foreign_open(&f, x->folder, false, &err) != PW_OK)
        fail_msg("%s", err.msg);
    r.said = pw_foreign_info(f)->weight_bytes;
    pw_foreign_close(f);
    struct pw_model *m = ref_foreign_load(x->folder, true, &context, &be);
    r.bytes = pw_model_one_copy_bytes(m);
    look(m, &r, 0);
    train(m, (int)r.V);
    assert_int_equal(pw_model_one_copy_bytes(m), 0);
    look(m, &r, 1);
    pw_model_destroy(m);
    pw_backend_cpu()->close(be);
    return r;
}

static void check_kept(struct ref_family *x, const char *name)
{
    cJSON *of = ref_family_case(x, name);
    for (int form = 0; form < 2; form++) {
        enum pw_st_type type = form == 0 ? PW_ST_BF16 : PW_ST_F16;
        ref_family_write(x, of);
        rewrite(x, type, false);
        struct result wide = run(x);
        ref_family_write(x, of);
        rewrite(x, type, true);
        struct result narrow = run(x);
        size_t bytes = T * wide.V * sizeof(float);
        for (int k = 0; k < 2; k++) {
            if (memcmp(wide.logits[k], narrow.logits[k], bytes) != 0 ||
                memcmp(wide.digest[k], narrow.digest[k], sizeof wide.digest[k]) != 0)
                fail_msg("%s in %s: others than in F32, after %d steps", name, pw_st_type_names[type], k);
            free(wide.logits[k]);
            free(narrow.logits[k]);
        }
        if (narrow.said == 2 && narrow.bytes > wide.bytes)
            fail_msg("%s: %zu bytes in 16 bits, %zu of a file in F32", name, narrow.bytes, wide.bytes);
        assert_int_equal(wide.said, 4);
    }
    cJSON_Delete(of);
}

static void test_kept(void **state)
{
    struct ref_family x;
    (void)state;
    ref_families_open(&x);
    ref_families_each(&x, check_kept);
    ref_families_close(&x);
}

/* The file says what its matrices will take. */
static void test_said(void **state)
{
    struct ref_family x;
    (void)state;
    ref_families_open(&x);
    cJSON *of = ref_family_case(&x, "llama");
    ref_family_write(&x, of);
    rewrite(&x, PW_ST_BF16, false);
    struct result wide = run(&x);
    rewrite(&x, PW_ST_BF16, true);
    struct result narrow = run(&x);
    assert_int_equal(wide.said, 4);
    assert_int_equal(narrow.said, 2);
    assert_int_equal(narrow.bytes, wide.bytes); /* the values decide */
    for (int k = 0; k < 2; k++) {
        free(wide.logits[k]);
        free(narrow.logits[k]);
    }
    cJSON_Delete(of);
    ref_families_close(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kept), cmocka_unit_test(test_said)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
