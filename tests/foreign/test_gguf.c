/* test_gguf.c - reads GGUF files: blocks of every type against the package gguf, whole models against
 * transformers (tests/golden/make_gguf.py, make_gguf_families.py), and hostile headers. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "foreign/foreign.h"
#include "foreign/weights.h"
#include "model/decode.h"
#include "ref_foreign.h"

#define FOLDER PEWTER_SOURCE_DIR "/tests/golden/gguf/"

enum { T = 12, MORE = 16, CONTEXT = 64 };

static struct pw_st expect, families; /* of make_gguf.py, and of make_gguf_families.py */

static const void *numbers(const char *name, const char *what)
{
    char full[64];
    snprintf(full, sizeof full, "%s/%s", name, what);
    const struct pw_st_tensor *t = pw_st_find(&expect, full);
    if (t == NULL)
        t = pw_st_find(&families, full);
    if (t == NULL)
        fail_msg("no tensor %s", full);
    return t->data;
}

static void test_blocks(void **state)
{
    struct pw_weights *w;
    struct pw_err err;
    int n;
    (void)state;
    if (pw_weights_open(&w, FOLDER "blocks.gguf", &err) != PW_OK)
        fail_msg("%s", err.msg);
    const struct pw_weights_tensor *list = pw_weights_list(w, &n);
    assert_int_equal(n, 6);
    for (int i = 0; i < n; i++) {
        const float *right = numbers("blocks", list[i].name);
        float row[256];
        assert_int_equal(list[i].dims[0], 2);
        for (int r = 0; r < 2; r++) {
            assert_int_equal(pw_weights_row(w, &list[i], r, row, &err), PW_OK);
            for (int k = 0; k < 256; k++)
                if (fabsf(row[k] - right[r * 256 + k]) > 1e-6f * fabsf(right[r * 256 + k]) + 1e-7f)
                    fail_msg("%s[%d,%d] is %.9g, not %.9g", list[i].name, r, k, (double)row[k],
                             (double)right[r * 256 + k]);
        }
    }
    pw_weights_close(w);
}

static void check_model(const char *name)
{
    char path[256];
    struct pw_backend *be;
    int context = CONTEXT;
    struct pw_decoder *d;
    struct pw_err err;
    snprintf(path, sizeof path, "%s%s.gguf", FOLDER, name);
    struct pw_model *m = ref_foreign_load(path, true, &context, &be);
    assert_int_equal(context, CONTEXT);
    int V = pw_model_config(m)->vocab, tokens[T];
    float *logits = malloc((size_t)(T + 1) * (size_t)V * sizeof *logits), largest = 0;
    const float *right = numbers(name, "logits");
    const int64_t *given = numbers(name, "tokens"), *more = numbers(name, "more");
    assert_non_null(logits);
    for (int i = 0; i < T; i++)
        tokens[i] = (int)given[i];
    assert_int_equal(pw_model_inspect(m, tokens, T, &(struct pw_inspection){.logits = logits}, &err), PW_OK);
    for (int i = 0; i < T * V; i++)
        largest = fmaxf(largest, fabsf(right[i]));
    for (int i = 0; i < T * V; i++)
        if (!(fabsf(logits[i] - right[i]) <= 1e-4f * largest))
            fail_msg("%s: logits[%d] is %.9g, not %.9g", name, i, (double)logits[i], (double)right[i]);
    assert_int_equal(pw_decoder_create(&d, m, T + MORE, &err), PW_OK);
    for (int i = 0, n = T; i < MORE; i++, n = 1) {
        assert_int_equal(pw_decoder_feed(d, tokens, n, logits, &err), PW_OK);
        tokens[0] = 0;
        for (int v = 1; v < V; v++)
            tokens[0] = logits[v] > logits[tokens[0]] ? v : tokens[0];
        assert_int_equal(tokens[0], more[i]);
    }
    pw_decoder_destroy(d);
    free(logits);
    pw_model_destroy(m);
    pw_backend_cpu()->close(be);
}

static void test_models(void **state)
{
    static const char *const names[] = {"llama", "gpt2", "qwen3", "smollm3", "gptneox",
                                        "bloom", "mpt",  "gemma", "gemma3"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        check_model(names[i]);
}

/* Opens a changed copy of a header, which must fail with these words in one line. */
static void check_refused(const char *bytes, size_t n, const char *words)
{
    struct pw_gguf g;
    struct pw_err err = {.msg = ""};
    if (pw_gguf_open(&g, bytes, n, "it", &err) == PW_OK)
        fail_msg("accepted; '%s' was expected", words);
    if (strstr(err.msg, words) == NULL || strchr(err.msg, '\n') != NULL)
        fail_msg("'%s' does not say '%s'", err.msg, words);
    assert_int_equal(g.n_tensors, 0);
}

static void test_hostile(void **state)
{
    char *bytes;
    size_t n;
    struct pw_err err;
    (void)state;
    assert_int_equal(pw_file_read(FOLDER "gpt2.gguf", 1 << 20, &bytes, &n, &err), PW_OK);
    for (size_t cut = 0; cut < n; cut += cut < 1500 ? 1 : 97) { /* every prefix is refused */
        struct pw_gguf g;
        assert_int_equal(pw_gguf_open(&g, bytes, cut, "it", &err), PW_EUSER);
        assert_null(strchr(err.msg, '\n'));
    }
    const struct {
        size_t at;
        uint64_t value;
        int size;
        const char *words;
    } changes[] = {
        {0, 0x46554748, 4, "not a GGUF file"},
        {4, 1, 4, "version 1; pewter reads versions 2 and 3"},
        {4, 0x03000000, 4, "big-endian"},
        {8, UINT64_MAX, 8, "more than 65536 tensors"},
        {16, UINT64_MAX, 8, "more than 65536 tensors"},
        {16, 65536, 8, ""},
        {24, UINT64_MAX, 8, "a name has"},
        {24, 1 << 20, 8, "a name has"},
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        char *copy = malloc(n);
        assert_non_null(copy);
        memcpy(copy, bytes, n);
        memcpy(copy + changes[i].at, &changes[i].value, (size_t)changes[i].size);
        check_refused(copy, n, changes[i].words);
        free(copy);
    }
    free(bytes);
}

/* Writes a header with one tensor. */
static size_t one_tensor(char *to, const char *name, uint32_t n_dims, uint64_t dim, uint32_t type,
                         uint64_t at)
{
    char *p = to;
    uint64_t count[2] = {1, 0}, n = strlen(name);
    uint32_t version = 3;
    memcpy(p, "GGUF", 4);
    memcpy(p + 4, &version, 4);
    memcpy(p + 8, count, 16);
    memcpy(p + 24, &n, 8);
    memcpy(p + 32, name, n);
    p += 32 + n;
    memcpy(p, &n_dims, 4);
    p += 4;
    for (uint32_t i = 0; i < n_dims && i < 6; i++, p += 8)
        memcpy(p, &dim, 8);
    memcpy(p, &type, 4);
    memcpy(p + 4, &at, 8);
    memset(p + 12, 0, 256);
    return (size_t)(p + 12 - to) + 256;
}

static void test_tensors(void **state)
{
    char bytes[1024];
    struct pw_gguf g;
    struct pw_err err;
    (void)state;
    size_t n = one_tensor(bytes, "a", 1, 32, 0, 0);
    assert_int_equal(pw_gguf_open(&g, bytes, n, "it", &err), PW_OK);
    assert_int_equal(g.tensors[0].dims[0], 32);
    pw_gguf_close(&g);
    check_refused(bytes, one_tensor(bytes, "a", 0, 1, 0, 0), "0 dimensions; allowed are 1..4");
    check_refused(bytes, one_tensor(bytes, "a", 5, 1, 0, 0), "5 dimensions; allowed are 1..4");
    check_refused(bytes, one_tensor(bytes, "a", 2, UINT64_MAX, 0, 0), "impossible shape");
    check_refused(bytes, one_tensor(bytes, "a", 4, 1 << 20, 0, 0), "impossible shape");
    check_refused(bytes, one_tensor(bytes, "a", 1, 0, 0, 0), "impossible shape");
    check_refused(bytes, one_tensor(bytes, "a", 1, 32, 10, 0), "has type 10; pewter reads F32");
    check_refused(bytes, one_tensor(bytes, "a", 1, 33, 8, 0), "Q8_0 needs a multiple of 32");
    check_refused(bytes, one_tensor(bytes, "a", 1, 32, 0, 7), "not at a multiple of 32");
    check_refused(bytes, one_tensor(bytes, "a", 1, 32, 0, UINT64_MAX - 31), "the file is truncated");
    check_refused(bytes, one_tensor(bytes, "a", 1, 4096, 0, 0), "the file is truncated");
    check_refused(bytes, one_tensor(bytes, "\xff", 1, 32, 0, 0), "not UTF-8");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_blocks), cmocka_unit_test(test_models),
                                       cmocka_unit_test(test_hostile), cmocka_unit_test(test_tensors)};
    struct pw_err err;

    if (pw_st_open(&expect, FOLDER "expect.safetensors", &err) != PW_OK ||
        pw_st_open(&families, FOLDER "families.safetensors", &err) != PW_OK) {
        print_error("%s\n", err.msg);
        return 1;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    pw_st_close(&expect);
    pw_st_close(&families);
    return failed;
}
