/* test_checkpoint.c - tests checkpoint files. A loaded model must have the saved bits and train on with the
 * same bits. A damaged, inconsistent or foreign file must give one clear message and leave the model
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
#include "model/expr/numbers.h"
#include "ref_toy.h"

#define OPTIONS "layers=2 width=12 heads=3 ffn=10 context=16 logit_scale=0.1 bias=on"

static char dir[] = "/tmp/pewter-checkpoint-XXXXXX";
static char file[64];

static void train(struct pw_model *m, int first, int n)
{
    struct pw_optim o = toy_optim("lr=0.01 warmup=5 steps=40");

    for (int i = first; i < first + n; i++)
        toy_step(m, &o, (uint64_t)i, 6, 2, 9, 7);
}

static void assert_digest(struct pw_model *m, const uint64_t expected[2])
{
    uint64_t d[2];

    pw_model_digest(m, d);
    assert_true(d[0] == expected[0] && d[1] == expected[1]);
}

static struct pw_checkpoint_info an_info(void)
{
    static char words[7][3] = {"a", "\"", "\xc3\xa9", "d", "e", "f", "g"}, task[] = "sort lengths=2..8 \"x\"";
    static char *vocab[7];

    for (int v = 0; v < 7; v++)
        vocab[v] = words[v];
    return (struct pw_checkpoint_info){.vocab = vocab,
                                       .n_vocab = 7,
                                       .task = task,
                                       .optim = toy_optim("lr=0.0123 schedule=linear"),
                                       .seed = UINT64_MAX,
                                       .step = 12};
}

static void write_raw(const void *data, size_t n);

static void save(struct pw_model *m, bool resumable)
{
    struct pw_checkpoint_info info = an_info();
    struct pw_err err = {0};

    if (pw_checkpoint_save(m, file, &info, resumable, &err))
        fail_msg("%s", err.msg);
}

static struct pw_checkpoint *opened(void)
{
    struct pw_checkpoint *c;
    struct pw_err err = {0};

    if (pw_checkpoint_open(&c, file, &err))
        fail_msg("%s", err.msg);
    return c;
}

static void test_info(void **state)
{
    struct toy *toy = *state;
    struct pw_model *m = toy_model(toy, OPTIONS, "t5 buckets=5 distance=6", 7, 1);
    struct pw_checkpoint_info saved = an_info();
    struct pw_checkpoint *c;
    const struct pw_checkpoint_info *i;

    save(m, false);
    c = opened();
    i = pw_checkpoint_info(c);
    assert_int_equal(i->n_vocab, 7);
    for (int v = 0; v < 7; v++)
        assert_string_equal(i->vocab[v], saved.vocab[v]);
    assert_string_equal(i->task, saved.task);
    assert_true(i->seed == UINT64_MAX);
    assert_int_equal(i->step, 12);
    assert_memory_equal(&i->optim, &saved.optim, sizeof i->optim);
    assert_true(i->has_config);
    assert_int_equal(i->config.layers, 2);
    assert_int_equal(i->config.head_width, 4);
    assert_int_equal(i->config.vocab, 7);
    assert_true(i->config.bias && i->config.causal && !i->config.tied);
    assert_true(i->config.logit_scale == 0.1f);
    assert_memory_equal(&i->pe, pw_model_pe(m), sizeof i->pe);
    pw_checkpoint_close(c);
    pw_model_destroy(m);
}

/* A file stores the number of rotated entries per head, where the option says "all" (0), and it reads back to
 * the same encoding. Files of earlier versions store 0. A session stores the text as typed. */
static void test_options_that_run(void **state)
{
    struct pw_model *m = toy_model(*state, OPTIONS, "rotary", 7, 1);
    struct pw_checkpoint_info info = an_info();
    struct pw_err err = {0};
    struct pw_checkpoint *c;
    struct pw_str text = {0};
    char data[32768], *dims;
    void *image;
    size_t n, size;

    save(m, false);
    c = opened();
    pw_pe_print(&pw_checkpoint_info(c)->pe, &text);
    assert_string_equal(text.s, "rotary base=10000 dims=0 pairing=half"); /* 0 follows the head width */
    pw_checkpoint_close(c);

    FILE *f = fopen(file, "rb");
    assert_non_null(f);
    n = fread(data, 1, sizeof data - 1, f);
    fclose(f);
    dims = memmem(data, n, "\\\"dims\\\":4", 10);
    assert_non_null(dims);
    dims[9] = '0';
    write_raw(data, n);
    c = opened();
    pw_str_clear(&text);
    pw_pe_print(&pw_checkpoint_info(c)->pe, &text);
    assert_string_equal(text.s, "rotary base=10000 dims=0 pairing=half");
    pw_checkpoint_close(c);

    assert_int_equal(pw_checkpoint_image(m, &info, &image, &size, &err), PW_OK);
    assert_non_null(memmem(image, size, "\\\"dims\\\":0", 10));
    free(image);
    pw_model_destroy(m);

    m = toy_model(*state, OPTIONS, "rotary dims=2", 7, 1);
    save(m, false);
    c = opened();
    pw_str_clear(&text);
    pw_pe_print(&pw_checkpoint_info(c)->pe, &text);
    assert_string_equal(text.s, "rotary base=10000 dims=2 pairing=half");
    pw_checkpoint_close(c);
    pw_str_fini(&text);
    pw_model_destroy(m);
}

/* One model is trained, saved and trained on; another loads the file and is trained as far. The bits must be
 * the same, also if the encoding was swapped half way, so that tensors have different step counts. */
static void test_resume(void **state)
{
    struct toy *toy = *state;

    for (int e = 0; pw_pes[e] != NULL; e++) {
        struct pw_model *m = toy_model(toy, OPTIONS, "alibi", 7, 1), *again;
        struct pw_pe_use_opts pe = toy_pe(pw_pes[e]->name, pw_model_config(m));
        struct pw_checkpoint *c;
        struct pw_err err = {0};
        uint64_t before[2], after[2];

        train(m, 0, 7);
        toy_swap(&m, &pe, 5, true);
        train(m, 7, 5);
        pw_model_digest(m, before);
        save(m, true);
        train(m, 12, 10);
        pw_model_digest(m, after);

        again = toy_model(toy, OPTIONS, pw_pes[e]->name, 7, 99);
        c = opened();
        if (pw_checkpoint_load(c, again, &err))
            fail_msg("%s", err.msg);
        pw_checkpoint_close(c);
        assert_digest(again, before);
        assert_int_equal(pw_model_step_count(again), 12);
        train(again, 12, 10);
        assert_digest(again, after);
        pw_model_destroy(again);
        pw_model_destroy(m);
    }
}

/* Weights alone: the moments start at zero. */
static void test_weights_only(void **state)
{
    struct toy *toy = *state;
    struct pw_model *m = toy_model(toy, OPTIONS, "none", 7, 1),
                    *other = toy_model(toy, OPTIONS, "none", 7, 2);
    size_t n = pw_model_size(m);
    float *first = malloc(n * sizeof *first), *second = malloc(n * sizeof *second);
    struct pw_checkpoint *c;
    struct pw_err err = {0};
    uint64_t d[2];
    int n_params;

    assert_true(first != NULL && second != NULL);
    train(m, 0, 3);
    pw_model_digest(m, d);
    save(m, false);
    train(other, 0, 3);
    c = opened();
    assert_int_equal(pw_checkpoint_load(c, other, &err), PW_OK);
    pw_checkpoint_close(c);
    assert_digest(other, d);
    pw_model_get(other, NULL, first, second);
    for (size_t i = 0; i < n; i++)
        assert_true(first[i] == 0 && second[i] == 0);
    assert_int_equal(pw_model_params(other, &n_params)[0].t, 0);
    free(first);
    free(second);
    pw_model_destroy(m);
    pw_model_destroy(other);
}

/* ---- inconsistent files. A file is given by its header and the number of zero bytes after it. */

static void write_raw(const void *data, size_t n)
{
    FILE *f = fopen(file, "wb");

    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

static void write_file(uint64_t length, const char *header, size_t zeros)
{
    size_t n = strlen(header);
    char *data = calloc(1, 8 + n + zeros);

    assert_non_null(data);
    memcpy(data, &length, 8);
    memcpy(data + 8, header, n);
    write_raw(data, 8 + n + zeros);
    free(data);
}

static const struct {
    const char *header;
    size_t zeros;
    const char *message; /* a part of the message */
} lies[] = {
    {"[]", 0, "its header is not a JSON object"},
    {"{\"a\":", 0, "its header is not a JSON object"},
    {"{}x", 0, "its header is not a JSON object"},
    {"{\"a\":7}", 0, "tensor 'a' must have exactly dtype, shape and data_offsets"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2]}}", 8,
     "tensor 'a' must have exactly dtype, shape and data_offsets"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8],\"x\":1}}", 8,
     "tensor 'a' must have exactly dtype, shape and data_offsets"},
    {"{\"a\":{\"DTYPE\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", 8,
     "tensor 'a' must have exactly dtype, shape and data_offsets"},
    {"{\"a\":{\"dtype\":\"F31\",\"shape\":[2],\"data_offsets\":[0,8]}}", 8, "unknown dtype 'F31'"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[-2],\"data_offsets\":[0,8]}}", 8, "impossible shape"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2.5],\"data_offsets\":[0,10]}}", 10, "impossible shape"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[4294967296,4294967296,4294967296],\"data_offsets\":[0,0]}}", 0,
     "impossible shape"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1,1,1,1,1,1,1,1,1],\"data_offsets\":[0,4]}}", 4,
     "more than 8 dimensions"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,12]}}", 12, "needs 8 bytes"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[8,0]}}", 8, "needs 8 bytes"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[4,12]}}", 12, "starts at byte 4"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", 4, "truncated"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", 9, "1 bytes follow"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]},"
     "\"b\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[4,12]}}",
     12, "starts at byte 4"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]},"
     "\"b\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[12,16]}}",
     16, "starts at byte 12"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]},"
     "\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[8,12]}}",
     12, "'a' twice"},
    {"{\"__metadata__\":{\"k\":1}}", 0, "strings to strings"},
    {"{\"__metadata__\":[\"k\"]}", 0, "strings to strings"},
    {"{\"__metadata__\":{\"k\":\"1\",\"k\":\"2\"}}", 0, "'k' twice"},
    {"{\"__metadata__\":{\"pewter.seed\":\"-1\"}}", 0, "pewter.seed must be"},
    {"{\"__metadata__\":{\"pewter.seed\":\"18446744073709551616\"}}", 0, "pewter.seed must be"},
    {"{\"__metadata__\":{\"pewter.step\":\"1e3\"}}", 0, "pewter.step must be"},
    {"{\"__metadata__\":{\"pewter.vocab\":\"[1]\"}}", 0, "array of strings"},
    {"{\"__metadata__\":{\"pewter.task\":\"sort\"}}", 0, "not JSON"},
    {"{\"__metadata__\":{\"pewter.config\":\"{\\\"vocab\\\":7}\"}}", 0, "must name an encoding"},
    {"{\"__metadata__\":{\"pewter.config\":\"{\\\"vocab\\\":7,\\\"pe\\\":{\\\"name\\\":\\\"t6\\\"}}\"}}", 0,
     "no encoding 't6'"},
    {"{\"__metadata__\":{\"pewter.config\":\"{\\\"vocab\\\":7,\\\"layers\\\":0}\"}}", 0, "layers=0"},
    {"{\"__metadata__\":{\"pewter.config\":\"{\\\"vocab\\\":7,\\\"layers\\\":[1]}\"}}", 0,
     "'layers' has a value that is not allowed"},
    {"{\"__metadata__\":{\"pewter.config\":\"{\\\"vocab\\\":7,\\\"dropout\\\":0.95}\"}}", 0,
     "dropout=0.94999999999999996: allowed are 0..0.9"},
    {"{\"__metadata__\":{\"pewter.config\":\"{\\\"layers\\\":1}\"}}", 0, "vocab must be"},
    {"{\"data_0123456789abcdef\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", 8,
     "has other numbers than its name says"},
    {"{\"data_0123456789abcdef\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4]}}", 4,
     "must be F32 of 1..4 dimensions"},
    {"{\"__metadata__\":{\"pewter.optim\":\"{\\\"lr\\\":-1}\"}}", 0, "lr=-1"},
};

/* Both the full reader and the reader of headers must refuse the file. */
static void assert_refused(const char *message)
{
    enum pw_code (*const opens[])(struct pw_checkpoint **, const char *,
                                  struct pw_err *) = {pw_checkpoint_open, pw_checkpoint_open_header};

    for (int i = 0; i < 2; i++) {
        struct pw_checkpoint *c;
        struct pw_err err = {0};
        if (opens[i](&c, file, &err) == PW_OK)
            fail_msg("opened, but should say '%s'", message);
        assert_null(c);
        if (strstr(err.msg, message) == NULL)
            fail_msg("says '%s', not '%s'", err.msg, message);
    }
}

static void test_lies(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        write_file(strlen(lies[i].header), lies[i].header, lies[i].zeros);
        assert_refused(lies[i].message);
    }
    write_raw("PK\3\4", 4);
    assert_refused("it has 4 bytes");
    write_raw("\x89PNG\r\n\x1a\n and so on", 18);
    assert_refused("not a safetensors file");
    write_file(1 << 21, "{}", 3 << 20);
    assert_refused("over 1 MiB");
    write_file(1000, "{}", 10);
    assert_refused("the file is truncated inside its header");
    unlink(file);
    assert_refused(file);
}

/* Every shorter prefix of a valid file must be refused. */
static void test_truncated(void **state)
{
    struct pw_model *m = toy_model(*state, "layers=1 width=4 heads=2 context=4", "none", 3, 1);
    struct pw_checkpoint_info info = {.optim = toy_optim("")};
    struct pw_err err = {0};
    struct pw_checkpoint *c;
    char data[8192];
    size_t n;
    FILE *f;

    assert_int_equal(pw_checkpoint_save(m, file, &info, false, &err), PW_OK);
    f = fopen(file, "rb");
    assert_non_null(f);
    n = fread(data, 1, sizeof data, f);
    fclose(f);
    assert_true(n > 1000 && n < sizeof data);
    for (size_t cut = 0; cut < n; cut += cut < 16 || cut > n - 16 ? 1 : 97) {
        write_raw(data, cut);
        assert_refused(file);
    }
    write_raw(data, n);
    c = opened();
    pw_checkpoint_close(c);
    pw_model_destroy(m);
}

/* A valid file of another model: the message must name the tensor, and the model stays unchanged. */
static void test_other_models(void **state)
{
    static const struct {
        const char *options, *pe;
        int vocab;
        const char *message;
    } others[] = {
        {OPTIONS, "none", 8, "'embed.weight' has the shape [8,12]; this model needs [7,12]"},
        {OPTIONS " layers=1", "none", 7, "'layers.1.norm1.weight' is missing"},
        {OPTIONS " ffn=11", "none", 7,
         "'layers.0.mlp.up.weight' has the shape [11,12]; this model needs [10,12]"},
        {OPTIONS " tied=on", "none", 7, "'head.weight' is missing"},
        {OPTIONS " layers=3", "none", 7, "a tensor 'layers.2."},
        {OPTIONS, "t5", 7, "a tensor 'pe.bias' that this model does not have"},
    };
    struct toy *toy = *state;
    struct pw_model *m = toy_model(toy, OPTIONS, "none", 7, 1);
    struct pw_checkpoint_info info = {.optim = toy_optim("")};
    uint64_t d[2];

    train(m, 0, 2);
    pw_model_digest(m, d);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct pw_model *other = toy_model(toy, others[i].options, others[i].pe, others[i].vocab, 1);
        struct pw_err err = {0};
        struct pw_checkpoint *c;
        assert_int_equal(pw_checkpoint_save(other, file, &info, i % 2, &err), PW_OK);
        c = opened();
        assert_int_equal(pw_checkpoint_load(c, m, &err), PW_EUSER);
        if (strstr(err.msg, others[i].message) == NULL)
            fail_msg("says '%s', not '%s'", err.msg, others[i].message);
        assert_digest(m, d);
        assert_int_equal(pw_model_step_count(m), 2);
        pw_checkpoint_close(c);
        pw_model_destroy(other);
    }
    pw_model_destroy(m);
}

static void test_wrong_dtype(void **state)
{
    struct pw_model *m = toy_model(*state, "layers=1 width=2 heads=1 context=4", "none", 3, 1);
    struct pw_err err = {0};
    struct pw_checkpoint *c;

    write_file(70, "{\"embed.weight\":{\"dtype\":\"F16\",\"shape\":[3,2],\"data_offsets\":[0,12]}}  ", 12);
    c = opened();
    assert_int_equal(pw_checkpoint_load(c, m, &err), PW_EUSER);
    assert_non_null(strstr(err.msg, "'embed.weight' must be F32"));
    pw_checkpoint_close(c);
    pw_model_destroy(m);
}

/* A formula's numbers are in the file, under the name that their content gives. */
static void test_numbers(void **state)
{
    static const float v[] = {0, -1, -2.5f, 3, 4, -5};
    const struct pw_numbers *data;
    struct pw_checkpoint_info info = {.optim = toy_optim("")};
    struct pw_err err = {0};
    struct pw_checkpoint *c;
    void *bytes;
    size_t n;
    char pe[64];

    assert_int_equal(pw_numbers_keep(&data, v, (int[]){2, 3}, 2, &err), PW_OK);
    assert_string_equal(data->name, "data_09ec5afbe831a02b"); /* the same on all machines */
    assert_ptr_equal(pw_numbers_find(data->name, 21), data);
    snprintf(pe, sizeof pe, "expr 'bias = %s[h, d]' as=own", data->name);
    struct pw_model *m = toy_model(*state, "layers=1 width=4 heads=2 context=4", pe, 3, 1);
    assert_int_equal(pw_checkpoint_image(m, &info, &bytes, &n, &err), PW_OK);
    assert_int_equal(pw_checkpoint_open_bytes(&c, bytes, n, "image", &err), PW_OK);
    assert_int_equal(pw_checkpoint_load(c, m, &err), PW_OK);
    pw_checkpoint_close(c);
    unsigned char *at = memmem(bytes, n, v, sizeof v);
    assert_non_null(at);
    at[5] ^= 1;
    assert_int_equal(pw_checkpoint_open_bytes(&c, bytes, n, "image", &err), PW_EUSER);
    assert_non_null(strstr(err.msg, "has other numbers than its name says"));
    at[5] ^= 1;
    struct pw_model *other = toy_model(*state, "layers=1 width=4 heads=2 context=4", "alibi", 3, 1);
    assert_int_equal(pw_checkpoint_open_bytes(&c, bytes, n, "image", &err), PW_OK);
    assert_int_equal(pw_checkpoint_load(c, other, &err), PW_EUSER); /* its encoding reads no numbers */
    assert_non_null(strstr(err.msg, "has a tensor 'data_"));
    pw_checkpoint_close(c);
    free(bytes);
    pw_model_destroy(m);
    pw_model_destroy(other);
    assert_int_equal(pw_numbers_keep(&data, v, (int[]){2, 0}, 2, &err), PW_EUSER);
    assert_int_equal(pw_numbers_keep(&data, v, (int[]){1 << 20, 1 << 20}, 2, &err), PW_EUSER);
}

static int setup(void **state)
{
    static struct toy toy;

    toy = toy_open(1);
    *state = &toy;
    if (mkdtemp(dir) == NULL)
        return -1;
    snprintf(file, sizeof file, "%s/x.safetensors", dir);
    return 0;
}

static int teardown(void **state)
{
    toy_close(*state);
    unlink(file);
    return rmdir(dir); /* fails if a temporary file was left */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_info),
        cmocka_unit_test(test_resume),
        cmocka_unit_test(test_weights_only),
        cmocka_unit_test(test_lies),
        cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_other_models),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_wrong_dtype),
        cmocka_unit_test(test_options_that_run),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
