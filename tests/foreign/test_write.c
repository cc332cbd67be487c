/* test_write.c - writes models as folders and reads them back: the same bits of all parameters for every case
 * of transformers.safetensors and every GGUF file, other encodings that the family's config can say, and
 * those that it can't. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/folder.h"
#include "foreign/foreign.h"
#include "ref_foreign.h"

static char out[64]; /* the written folder */

static void clear_folder(void)
{
    struct pw_folder list;
    char path[400];
    if (pw_folder_list(&list, out, "", NULL) != PW_OK)
        return;
    for (int i = 0; i < list.n; i++) {
        snprintf(path, sizeof path, "%s/%s", out, list.names[i]);
        unlink(path);
    }
    pw_folder_free(&list);
}

static enum pw_code write_as(const char *path, struct pw_model *m, struct pw_err *err)
{
    struct pw_foreign *f;
    clear_folder();
    if (pw_foreign_open(&f, path, false, err) != PW_OK)
        fail_msg("%s", err->msg);
    enum pw_code code = pw_foreign_write(f, m, out, err);
    pw_foreign_close(f);
    return code;
}

/* Asserts that two models have the same tensors with the same bits, and the same encoding. */
static void check_same(const char *name, struct pw_model *a, struct pw_model *b)
{
    int n, n_b;
    const struct pw_param *p = pw_model_params(a, &n), *q = pw_model_params(b, &n_b);
    size_t size = pw_model_size(a);
    float *x = malloc(size * sizeof *x), *y = malloc(size * sizeof *y);
    struct pw_str pe[2] = {{0}, {0}};
    assert_true(x != NULL && y != NULL);
    if (n != n_b || pw_model_size(b) != size)
        fail_msg("%s: %d tensors, written %d", name, n, n_b);
    pw_model_get(a, x, NULL, NULL);
    pw_model_get(b, y, NULL, NULL);
    for (int i = 0; i < n; i++)
        if (strcmp(p[i].name, q[i].name) != 0 ||
            memcmp(x + p[i].offset, y + p[i].offset, pw_param_count(&p[i]) * sizeof *x) != 0)
            fail_msg("%s: %s differs", name, p[i].name);
    pw_pe_print(pw_model_pe(a), &pe[0]);
    pw_pe_print(pw_model_pe(b), &pe[1]);
    char *from = strstr(pe[0].s, " as="), *to = strstr(pe[1].s, " as="); /* names of formulas may differ */
    if (from != NULL && to != NULL)
        *from = *to = '\0';
    assert_string_equal(pe[0].s, pe[1].s);
    pw_str_fini(&pe[0]);
    pw_str_fini(&pe[1]);
    free(x);
    free(y);
}

static void check_again(const char *name, struct pw_model *m, int context)
{
    struct pw_backend *be;
    struct pw_model *again = ref_foreign_load(out, false, &context, &be);
    check_same(name, m, again);
    pw_model_destroy(again);
    pw_backend_cpu()->close(be);
}

static void check_path(const char *path, const char *name, int context)
{
    struct pw_backend *be;
    struct pw_err err;
    int wanted = context;
    struct pw_model *m = ref_foreign_load(path, false, &wanted, &be);
    if (write_as(path, m, &err) != PW_OK)
        fail_msg("%s: %s", name, err.msg);
    check_again(name, m, context);
    pw_model_destroy(m);
    pw_backend_cpu()->close(be);
}

/* Asserts that each written tensor has the name and the shape of one that transformers saved, and that none
 * is missing. */
static void check_names(const struct ref_family *x, const cJSON *of, const char *name)
{
    char path[128], full[160];
    const char *weights = cJSON_GetStringValue(cJSON_GetObjectItem(of, "weights"));
    size_t length = strlen(weights);
    struct pw_st st;
    struct pw_err err;
    int n = 0;
    snprintf(path, sizeof path, "%s/model.safetensors", out);
    assert_int_equal(pw_st_open(&st, path, &err), PW_OK);
    for (int i = 0; i < st.n; i++) {
        const struct pw_st_tensor *t = &st.tensors[i];
        snprintf(full, sizeof full, "%s:%s", weights, t->name);
        const struct pw_st_tensor *theirs = pw_st_find(&x->st, full);
        if (theirs == NULL || theirs->n_dims != t->n_dims ||
            memcmp(theirs->dims, t->dims, (size_t)t->n_dims * sizeof *t->dims) != 0)
            fail_msg("%s: '%s' is missing in the case, or has another shape", name, t->name);
    }
    for (int i = 0; i < x->st.n; i++)
        n += strncmp(x->st.tensors[i].name, weights, length) == 0 && x->st.tensors[i].name[length] == ':';
    assert_int_equal(st.n, n);
    pw_st_close(&st);
}

static void check_case(struct ref_family *x, const char *name)
{
    cJSON *of = ref_family_case(x, name);
    ref_family_write(x, of);
    check_path(x->folder, name, 64);
    check_names(x, of, name);
    check_path(x->folder, name, 32); /* a shorter table of learned positions */
    cJSON_Delete(of);
}

static void test_families(void **state)
{
    struct ref_family x;
    (void)state;
    ref_families_open(&x);
    ref_families_each(&x, check_case);
    ref_families_close(&x);
}

static void test_gguf(void **state)
{
    static const char *const names[] = {"gpt2", "llama", "qwen3"};
    char path[256];
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, PEWTER_SOURCE_DIR "/tests/golden/gguf/%s.gguf", names[i]);
        check_path(path, names[i], 64);
    }
}

/* Other encodings of a model, and what writing says about them; NULL: it writes them. */
static const struct {
    const char *name, *pe, *error;
} encodings[] = {
    {"llama", "rotary base=77 dims=4 pairing=half", NULL},
    {"llama", "rope_pi base=10000 factor=3", NULL},
    {"llama", "rope_yarn base=500 factor=4 trained=16 fast=16 slow=2", NULL},
    {"llama", "rope_llama3 base=500 factor=8 trained=16 low=1 high=4", NULL},
    {"llama", "rope_dynamic base=10000 factor=2 trained=32", NULL},
    {"llama", "proportional_rope base=10000 fraction=0.5", NULL},
    {"llama_yarn", "rotary base=10000 dims=4 pairing=half", NULL},
    {"llama_llama3", "rope_pi base=10000 factor=3", NULL},
    {"gpt_neox", "rotary base=77 dims=4 pairing=half", NULL},
    {"gpt_neox_old", "rotary base=77 dims=4 pairing=half", NULL},
    {"llama", "alibi",
     "a config of llama can't express the encoding 'alibi'; the one that it came with is "
     "'rotary base=10000 dims=4 pairing=half'"},
    {"llama", "none", "can't express the encoding 'none'"},
    {"llama", "rotary base=10000 dims=2 pairing=half", "can't express"},
    {"llama", "rotary base=10000 dims=4 pairing=interleaved", "can't express"},
    {"llama", "rope_yarn base=500 factor=4 trained=16 stretch=2", "can't express"},
    {"gpt2", "sinusoidal", "a config of gpt2 can't express"},
    {"bloom", "t5", "a config of bloom can't express"},
    {"gptj", "rotary base=77 dims=4 pairing=interleaved", "a config of gptj can't express"},
    {"mistral", "rotary base=10000 dims=4 pairing=half", "a config of mistral can't express"},
};

static void test_encodings(void **state)
{
    struct ref_family x;
    (void)state;
    ref_families_open(&x);
    for (size_t i = 0; i < sizeof encodings / sizeof *encodings; i++) {
        cJSON *of = ref_family_case(&x, encodings[i].name);
        struct pw_backend *be;
        struct pw_model *m, *swapped = NULL;
        struct pw_pe_use_opts pe;
        struct pw_err err;
        int context = 64;
        ref_family_write(&x, of);
        m = ref_foreign_load(x.folder, false, &context, &be);
        if (pw_pe_parse(&pe, encodings[i].pe, pw_model_config(m), &err) != PW_OK ||
            pw_model_swap(&swapped, m, &pe, 1, false, &err) != PW_OK)
            fail_msg("%s: %s", encodings[i].pe, err.msg);
        enum pw_code code = write_as(x.folder, swapped, &err);
        if (encodings[i].error == NULL && code != PW_OK)
            fail_msg("%s: %s", encodings[i].pe, err.msg);
        if (encodings[i].error == NULL)
            check_again(encodings[i].pe, swapped, 64);
        else if (code != PW_EUSER || strstr(err.msg, encodings[i].error) == NULL)
            fail_msg("%s: %s: %d %s", encodings[i].name, encodings[i].pe, code, err.msg);
        pw_model_destroy(swapped);
        pw_model_destroy(m);
        pw_backend_cpu()->close(be);
        cJSON_Delete(of);
    }
    ref_families_close(&x);
}

/* Writes a case with `first` put in front of its config's other keys, and opens it. */
static struct pw_model *load_with(const struct ref_family *x, const char *name, const char *first,
                                  int context, struct pw_backend **be)
{
    cJSON *of = ref_family_case(x, name);
    struct pw_str text = {0};
    char *config = cJSON_Print(cJSON_GetObjectItem(of, "config"));
    ref_family_write(x, of);
    pw_str_add(&text, "{%s%s", first, config + 1);
    ref_family_text(x, "config.json", text.s);
    pw_str_fini(&text);
    cJSON_free(config);
    cJSON_Delete(of);
    return ref_foreign_load(x->folder, false, &context, be);
}

static void check_says(const char *config, const char *words, bool expected)
{
    if ((strstr(config, words) != NULL) != expected)
        fail_msg("'%s' is %s in: %s", words, expected ? "not" : "still", config);
}

/* Numbers keep their texts, and only what has to change does. */
static void test_config(void **state)
{
    struct ref_family x;
    struct pw_backend *be;
    struct pw_err err;
    char path[128], *config;
    size_t n;
    (void)state;
    ref_families_open(&x);
    struct pw_model *m = load_with(&x, "llama",
                                   "\"text\":\"1.0 \\\" 2.0\",\"whole\":3,\"parts\":[1.0,2,3e0,-4.50],"
                                   "\"dtype\":\"bfloat16\",\"quantization_config\":{\"bits\":4},",
                                   128, &be);
    assert_int_equal(write_as(x.folder, m, &err), PW_OK);
    check_again("llama", m, 128);
    snprintf(path, sizeof path, "%s/config.json", out);
    assert_int_equal(pw_file_read(path, 1 << 16, &config, &n, &err), PW_OK);
    check_says(config, "\"whole\":\t3,", true);
    check_says(config, "[1.0, 2, 3e0, -4.50]", true);
    check_says(config, "\"dtype\":\t\"float32\"", true);
    check_says(config, "quantization_config", false);
    check_says(config, "\"max_position_embeddings\":\t128", true); /* it was opened with this context */
    check_says(config, "architectures\":\t[\"LlamaForCausalLM\"]", true);
    free(config);
    pw_model_destroy(m);
    pw_backend_cpu()->close(be);
    ref_families_close(&x);
}

/* Sets one number of a tensor. */
static void set_number(struct pw_model *m, const char *name, float value)
{
    int n;
    const struct pw_param *p = pw_model_params(m, &n);
    float *all = malloc(pw_model_size(m) * sizeof *all);
    assert_non_null(all);
    pw_model_get(m, all, NULL, NULL);
    for (int i = 0; i < n; i++)
        if (strcmp(p[i].name, name) == 0)
            all[p[i].offset] = value;
    pw_model_put(m, all, NULL, NULL);
    free(all);
}

/* Biases that the config switches on: written if they are not zero, refused if the family has none. */
static void test_biases(void **state)
{
    struct ref_family x;
    struct pw_backend *be;
    struct pw_err err;
    (void)state;
    ref_families_open(&x);
    struct pw_model *m = load_with(&x, "llama_biased", "", 64, &be);
    set_number(m, "layers.1.mlp.down.bias", 2);
    assert_int_equal(write_as(x.folder, m, &err), PW_OK);
    check_again("llama_biased", m, 64);
    pw_model_destroy(m);
    pw_backend_cpu()->close(be);
    m = load_with(&x, "qwen3", "\"attention_bias\":true,", 64, &be);
    set_number(m, "layers.0.mlp.up.bias", 2);
    assert_int_equal(write_as(x.folder, m, &err), PW_EUSER);
    assert_string_equal(err.msg, "qwen3 has no biases of the MLP, and layers.0.mlp.up.bias is not zero");
    pw_model_destroy(m);
    pw_backend_cpu()->close(be);
    ref_families_close(&x);
}

/* A matrix with an adapter is written as W + B A; the rest keeps its bits. */
static void check_merged(const char *name, struct pw_model *m, struct pw_model *written)
{
    int n, n_written;
    const struct pw_param *p = pw_model_params(m, &n), *q = pw_model_params(written, &n_written);
    size_t merged = 0;
    for (int i = 0, k = 0; k < n_written; i++) {
        size_t size = pw_param_count(&p[i]);
        if (p[i].adapter)
            continue;
        float *x = malloc(3 * size * sizeof *x);
        assert_non_null(x);
        pw_model_read(m, x, p[i].offset, size);
        pw_model_read_acting(m, x + size, p[i].offset, size);
        pw_model_read(written, x + 2 * size, q[k].offset, size);
        assert_string_equal(p[i].name, q[k].name);
        if (memcmp(x + size, x + 2 * size, size * sizeof *x) != 0)
            fail_msg("%s: %s differs", name, p[i].name);
        merged += memcmp(x, x + size, size * sizeof *x) != 0;
        free(x);
        k++;
    }
    assert_true(merged >= 12); /* six or seven of each layer */
}

static void fill_adapters(struct pw_model *m)
{
    int n;
    const struct pw_param *p = pw_model_params(m, &n);
    float *all = malloc(pw_model_size(m) * sizeof *all);
    assert_non_null(all);
    pw_model_get(m, all, NULL, NULL);
    for (int k = 0; k < n; k++)
        for (size_t i = 0; i < pw_param_count(&p[k]) && p[k].adapter; i++)
            all[p[k].offset + i] = 0.1f * (float)(1 + i % 7);
    pw_model_put(m, all, NULL, NULL);
    free(all);
}

static void test_adapter(void **state)
{
    static const char *const names[] = {"llama", "gpt2", "gpt_neox"}; /* q, k and v apart, fused, by head */
    struct ref_family x;
    struct pw_err err;
    (void)state;
    ref_families_open(&x);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct pw_backend *be, *other;
        int context = 64;
        struct pw_model *adapted, *m = load_with(&x, names[i], "", 64, &be);
        assert_int_equal(pw_model_adapt(&adapted, m, 2, &err), PW_OK);
        pw_model_destroy(m);
        fill_adapters(adapted);
        if (write_as(x.folder, adapted, &err) != PW_OK)
            fail_msg("%s: %s", names[i], err.msg);
        struct pw_model *written = ref_foreign_load(out, false, &context, &other);
        check_merged(names[i], adapted, written);
        pw_model_destroy(written);
        pw_model_destroy(adapted);
        pw_backend_cpu()->close(other);
        pw_backend_cpu()->close(be);
    }
    ref_families_close(&x);
}

static int setup(void **state)
{
    (void)state;
    snprintf(out, sizeof out, "/tmp/pewter-write-XXXXXX");
    return mkdtemp(out) != NULL ? 0 : 1;
}

static int teardown(void **state)
{
    (void)state;
    clear_folder();
    return rmdir(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_families),  cmocka_unit_test(test_gguf),
                                       cmocka_unit_test(test_encodings), cmocka_unit_test(test_config),
                                       cmocka_unit_test(test_biases),    cmocka_unit_test(test_adapter)};

    return cmocka_run_group_tests(tests, setup, teardown);
}
