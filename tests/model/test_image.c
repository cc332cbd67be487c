/* test_image.c - tests the image of a model in memory. It contains the bytes of the checkpoint file and more,
 * and restores the model to the bit. Impossible counts and heads must be refused, and then the model stays
 * unchanged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "model/checkpoint.h"
#include "model/model_int.h"
#include "model/safetensors.h"
#include "ref_toy.h"

enum { V = 7, CTX = 16, L = 2, H = 3, D = 4 };
#define OPTIONS "layers=2 width=12 heads=3 ffn=10 context=16 dropout=0.2"

struct image {
    void *bytes;
    size_t n;
};

static void train(struct pw_model *m, int first, int n)
{
    struct pw_optim o = toy_optim("lr=0.01 warmup=5 steps=40");

    for (int i = first; i < first + n; i++)
        toy_step(m, &o, (uint64_t)i, 6, 2, 9, V);
}

static struct image image_of(struct pw_model *m, uint64_t seed)
{
    struct pw_checkpoint_info info = {.optim = toy_optim(""), .seed = seed, .step = 99};
    struct pw_err err = {0};
    struct image im;

    if (pw_checkpoint_image(m, &info, &im.bytes, &im.n, &err))
        fail_msg("%s", err.msg);
    return im;
}

static enum pw_code load(const struct image *im, struct pw_model *m, struct pw_err *err)
{
    struct pw_checkpoint *c;
    enum pw_code code = pw_checkpoint_open_bytes(&c, im->bytes, im->n, "it", err);

    if (code == PW_OK)
        code = pw_checkpoint_load(c, m, err);
    pw_checkpoint_close(c);
    return code;
}

static void assert_image(struct pw_model *m, uint64_t seed, const struct image *want)
{
    struct image im = image_of(m, seed);

    assert_int_equal(im.n, want->n);
    assert_memory_equal(im.bytes, want->bytes, im.n);
    free(im.bytes);
}

/* A model with a history: the encoding was swapped, heads were replaced by zeros and by tables. */
static struct pw_model *veteran(struct toy *toy, const char *pe)
{
    struct pw_model *m = toy_model(toy, OPTIONS, "alibi", V, 5);
    struct pw_pe_use_opts use = toy_pe(pe, pw_model_config(m));
    float table[CTX * D];
    struct pw_err err;

    for (int i = 0; i < CTX * D; i++)
        table[i] = (float)(i % 7) - 3;
    train(m, 0, 5);
    toy_swap(&m, &use, 9, true);
    assert_int_equal(pw_model_replace_head(m, 0, 1, 2, table, &err), PW_OK);
    assert_int_equal(pw_model_replace_head(m, 1, 0, 1, NULL, &err), PW_OK);
    table[0] = -0.0f;
    assert_int_equal(pw_model_replace_head(m, 1, 2, 255, table, &err), PW_OK);
    train(m, 5, 13);
    return m;
}

/* Compares the gradient means of every learned value of the encoding. Equal images alone don't prove that the
 * image contains them all. */
static void assert_gradients(const struct pw_model *a, const struct pw_model *b)
{
    float x[4096] = {0}, y[4096] = {0};
    assert_true(pw_model_size(a) <= 4096);
    assert_int_equal(pw_model_pe_gradient(a, x), pw_model_pe_gradient(b, y));
    assert_memory_equal(x, y, sizeof x);
}

/* A model restored from the image must continue with the same bits, including dropout, and give the same
 * image. */
static void test_there_and_back(void **state)
{
    for (int e = 0; pw_pes[e] != NULL; e++) {
        struct pw_model *m = veteran(*state, pw_pes[e]->name),
                        *other = toy_model(*state, OPTIONS, pw_pes[e]->name, V, 1);
        struct image before = image_of(m, 5), after;
        struct pw_err err = {0};
        if (load(&before, other, &err))
            fail_msg("%s: %s", pw_pes[e]->name, err.msg);
        assert_image(other, 5, &before);
        assert_gradients(other, m);
        for (int i = 0; i < L * H; i++)
            assert_int_equal(pw_model_replaced(other, i / H, i % H), pw_model_replaced(m, i / H, i % H));
        train(m, 18, 12);
        train(other, 18, 12);
        after = image_of(m, 5);
        assert_image(other, 5, &after);
        free(before.bytes);
        free(after.bytes);
        pw_model_destroy(m);
        pw_model_destroy(other);
    }
}

/* A model whose heads were all restored has the image of one whose heads were never replaced; so has one from
 * an image of an earlier version, which kept a list without heads. */
static void test_restored_heads(void **state)
{
    struct pw_model *m = toy_model(*state, OPTIONS, "none", V, 1),
                    *other = toy_model(*state, OPTIONS, "none", V, 2);
    struct image before = image_of(m, 1), earlier;
    struct pw_err err = {0};

    assert_int_equal(pw_model_replace_head(m, 0, 1, 1, NULL, &err), PW_OK);
    assert_int_equal(pw_model_replace_head(m, 1, 2, 1, NULL, &err), PW_OK);
    pw_model_restore_head(m, 0, 1);
    assert_int_equal(pw_model_replaced(m, 1, 2), 1);
    pw_model_restore_head(m, 1, 2);
    assert_image(m, 1, &before);
    m->replaced = calloc(L * H, sizeof *m->replaced);
    assert_non_null(m->replaced);
    earlier = image_of(m, 1);
    assert_true(earlier.n > before.n);
    assert_int_equal(load(&earlier, other, &err), PW_OK);
    assert_image(other, 1, &before);
    free(before.bytes);
    free(earlier.bytes);
    pw_model_destroy(m);
    pw_model_destroy(other);
}

/* NaNs must keep their bits. */
static void test_no_numbers(void **state)
{
    struct pw_model *m = toy_model(*state, OPTIONS, "none", V, 1),
                    *other = toy_model(*state, OPTIONS, "none", V, 2);
    size_t n = pw_model_size(m);
    uint32_t *bits = calloc(n, sizeof *bits);
    struct pw_err err = {0};
    struct image im;

    assert_non_null(bits);
    for (size_t i = 0; i < n; i++)
        bits[i] = 0x7f800000u | (uint32_t)(i * 2654435761u);
    assert_int_equal(pw_model_reserve(m, NULL, NULL, &err), PW_OK);
    pw_model_put(m, (float *)bits, (float *)bits, (float *)bits);
    im = image_of(m, 1);
    assert_int_equal(load(&im, other, &err), PW_OK);
    pw_model_get(other, NULL, (float *)bits, NULL);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(bits[i], 0x7f800000u | (uint32_t)(i * 2654435761u));
    assert_image(other, 1, &im);
    free(bits);
    free(im.bytes);
    pw_model_destroy(m);
    pw_model_destroy(other);
}

/* The image must contain every byte of a resumable file. A file with the image's bytes must load in the same
 * way. */
static void test_same_as_a_file(void **state)
{
    char path[] = "/tmp/pewter-image-XXXXXX";
    struct pw_model *m = veteran(*state, "t5");
    struct pw_checkpoint_info info = {.optim = toy_optim(""), .seed = 5, .step = 99};
    struct image im = image_of(m, 5);
    struct pw_checkpoint *c;
    struct pw_st file, bytes;
    struct pw_err err = {0};
    int fd = mkstemp(path);

    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(pw_checkpoint_save(m, path, &info, true, &err), PW_OK);
    assert_int_equal(pw_st_open(&file, path, &err), PW_OK);
    assert_int_equal(pw_st_open_bytes(&bytes, im.bytes, im.n, "it", &err), PW_OK);
    assert_int_equal(bytes.n, file.n + 6); /* met.steps, .seqs, .grad, heads.as, .at, .tables */
    for (int i = 0; i < file.n; i++) {
        const struct pw_st_tensor *t = pw_st_find(&bytes, file.tensors[i].name);
        assert_non_null(t);
        assert_int_equal(t->bytes, file.tensors[i].bytes);
        assert_memory_equal(t->data, file.tensors[i].data, t->bytes);
    }
    assert_string_equal(pw_st_meta(&file, "pewter.optim"), pw_st_meta(&bytes, "pewter.optim"));
    pw_st_close(&file);
    pw_st_close(&bytes);

    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(im.bytes, 1, im.n, f), im.n);
    fclose(f);
    assert_int_equal(pw_checkpoint_open(&c, path, &err), PW_OK);
    assert_int_equal(pw_checkpoint_load(c, m, &err), PW_OK);
    assert_image(m, 5, &im);
    pw_checkpoint_close(c);
    unlink(path);
    free(im.bytes);
    pw_model_destroy(m);
}

/* A file with weights alone: no statistics seen in training, and no replaced head. */
static void test_weights_begin_anew(void **state)
{
    char path[] = "/tmp/pewter-image-XXXXXX";
    struct pw_model *m = veteran(*state, "t5"), *fresh = toy_model(*state, OPTIONS, "t5", V, 3);
    struct pw_checkpoint_info info = {.optim = toy_optim("")};
    struct pw_checkpoint *c;
    int64_t pairs[CTX], rows[CTX];
    struct pw_err err = {0};
    int fd = mkstemp(path);

    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(pw_checkpoint_save(fresh, path, &info, false, &err), PW_OK);
    assert_int_equal(pw_checkpoint_open(&c, path, &err), PW_OK);
    assert_int_equal(pw_checkpoint_load(c, m, &err), PW_OK);
    assert_int_equal(pw_model_seen(m, pairs, rows), 0);
    assert_int_equal(pairs[0], 0);
    for (int i = 0; i < L * H; i++)
        assert_int_equal(pw_model_replaced(m, i / H, i % H), 0);
    pw_checkpoint_close(c);
    unlink(path);
    pw_model_destroy(m);
    pw_model_destroy(fresh);
}

/* Sets entry `at` of a tensor of eight-byte integers. */
static void set_entry(struct image *im, const char *tensor, int at, int64_t value)
{
    struct pw_st st;
    struct pw_err err;

    assert_int_equal(pw_st_open_bytes(&st, im->bytes, im->n, "it", &err), PW_OK);
    const struct pw_st_tensor *t = pw_st_find(&st, tensor);
    assert_non_null(t);
    memcpy((char *)im->bytes + ((const char *)t->data - (char *)im->bytes) + at * 8, &value, sizeof value);
    pw_st_close(&st);
}

static void test_lies(void **state)
{
    static const struct {
        /* The tensor whose entry `at` is set to a value, or which is renamed to a name of the same length. */
        const char *tensor;
        const char *name;
        int at;
        int64_t value;
        const char *message;
    } lies[] = {
        {"met.seqs", NULL, 3, -1, "met.steps and met.seqs are inconsistent"},
        {"met.seqs", NULL, CTX, INT64_MAX / 2, "met.steps and met.seqs are inconsistent"},
        {"met.steps", NULL, 0, -5, "met.steps and met.seqs are inconsistent"},
        {"met.steps", NULL, 1, 1000, "met.steps and met.seqs are inconsistent"},
        {"met.steps", NULL, 0, INT64_MAX, "met.steps and met.seqs are inconsistent"},
        {"adam.t", NULL, 2, -1, "adam.t has the step count -1; allowed are 0..1000000000000"},
        {"adam.t", NULL, 2, INT64_MAX, "adam.t has the step count"},
        {"heads.as", NULL, 0, 256, "heads.as and heads.at name a head that does not exist"},
        {"heads.as", NULL, 0, -1, "heads.as and heads.at name a head that does not exist"},
        {"heads.at", NULL, 1, 2, "heads.as and heads.at name a head that does not exist"},
        {"heads.at", NULL, 1, -2, "heads.as and heads.at name a head that does not exist"},
        {"heads.at", "heads.ax", 0, 0, "has a tensor 'heads.ax' that this model does not have"},
        {"heads.tables", "heads.tablex", 0, 0, "has a tensor 'heads.tablex'"},
        {"met.grad", "met.graX", 0, 0, "has a tensor 'met.graX'"},
        {"met.steps", "met.stepX", 0, 0, "has a tensor 'met.stepX'"},
    };
    struct pw_model *m = veteran(*state, "t5"), *other = toy_model(*state, OPTIONS, "t5", V, 3);
    struct image good = image_of(m, 5), before = image_of(other, 3);

    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        struct image bad = {malloc(good.n), good.n};
        struct pw_err err = {0};
        char quoted[40];
        assert_non_null(bad.bytes);
        memcpy(bad.bytes, good.bytes, good.n);
        snprintf(quoted, sizeof quoted, "\"%s\"", lies[i].tensor);
        if (lies[i].name != NULL)
            memcpy((char *)memmem(bad.bytes, bad.n, quoted, strlen(quoted)) + 1, lies[i].name,
                   strlen(lies[i].name));
        else
            set_entry(&bad, lies[i].tensor, lies[i].at, lies[i].value);
        assert_int_equal(load(&bad, other, &err), PW_EUSER);
        if (strstr(err.msg, lies[i].message) == NULL)
            fail_msg("%zu: says '%s', not '%s'", i, err.msg, lies[i].message);
        assert_image(other, 3, &before);
        free(bad.bytes);
    }
    free(good.bytes);
    free(before.bytes);
    pw_model_destroy(m);
    pw_model_destroy(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_there_and_back),     cmocka_unit_test(test_restored_heads),
        cmocka_unit_test(test_no_numbers),         cmocka_unit_test(test_same_as_a_file),
        cmocka_unit_test(test_weights_begin_anew), cmocka_unit_test(test_lies),
    };

    return cmocka_run_group_tests(tests, toy_setup, toy_teardown);
}
