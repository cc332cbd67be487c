/* test_reads.c - encodings that read the tokens (PW_PE_CONTENT in src/model/pe.h) on the device: in mode ref
 * they have the cpu's bits, in a step, in an inspection and in decoding. A table without the operations of an
 * encoding refuses it. */
#include "model/decode.h"
#include "tests/model/ref_toy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { VOCAB = 13, T = 48, LAYERS = 2, HEADS = 3, MAPS = LAYERS * HEADS * T * T, WIDEST = 70 };

#define OPTIONS "layers=2 width=24 heads=3 ffn=40 context=48"

/* More than 32 keys, fewer positions than keys, gains, and a head width that four doesn't divide. */
static const struct {
    const char *options, *pe;
} cases[] = {
    {OPTIONS " dropout=0.2", "fox open=2"},
    {OPTIONS, "grape gate=key omega=0.5"},
    {OPTIONS " dropout=0.2", "stickbreaking"},
    {OPTIONS " head_width=5 scale=off", "stickbreaking"},
    {OPTIONS " dropout=0.2", "cope npos=7"},
    {OPTIONS " head_width=5", "cope npos=40"},
    {OPTIONS " dropout=0.2 tied=on", "inkling reach=40 mixes=5"},
    {OPTIONS " norm_at=ff", "inkling alpha=0.7 floor=2 reach=9"},
    {OPTIONS " dropout=0.2", "pope"},
    {OPTIONS " dropout=0.2", "grape_turn"},
    {OPTIONS " head_width=70 kv_heads=1", "pope"},
    {OPTIONS " dropout=0.2 tied=on", "path"},
    {OPTIONS " head_width=5 scale=off", "path rank=3 conv=0"},
    {OPTIONS " dropout=0.2 norm_at=ff", "wall"},
    {OPTIONS " head_width=70 kv_heads=1", "wall"},
    {OPTIONS " dropout=0.2 tied=on", "selective"},
    {"layers=2 width=24 heads=1 head_width=5 ffn=40 context=48 norm_at=ff", "selective"},
    {OPTIONS " head_width=70 kv_heads=1", "grape_turn planes=9 base=100"},
};
enum { CASES = sizeof cases / sizeof *cases };

static struct toy open_device(const char *mode, const char *precision)
{
    struct toy t;
    struct pw_err err;
    int unit;
    t.ops = pw_backend_find("cuda:0", mode, precision, &unit, &err);
    if (t.ops == NULL || t.ops->open(&t.be, unit, &err) != PW_OK)
        fail_msg("%s", err.msg);
    return t;
}

/* The numbers of one backend. */
struct numbers {
    float *grad;
    double loss;
    float content[MAPS], score[MAPS], probs[MAPS], logits[T * VOCAB], decoded[T * VOCAB];
    float walk[LAYERS * T * HEADS * WIDEST];
};

static void must(enum pw_code code, const struct pw_err *err)
{
    if (code != PW_OK)
        fail_msg("%s", err->msg);
}

/* Logits of the tokens one by one, but for a prompt and a later group. */
static void decode(struct pw_model *m, const int *tokens, float *logits)
{
    struct pw_decoder *d;
    struct pw_err err = {0};
    must(pw_decoder_create(&d, m, T, &err), &err);
    for (int t = 0, n; t < T; t += n) {
        n = t == 0 ? 7 : t == 20 ? 19 : 1;
        must(pw_decoder_feed(d, tokens + t, n, logits + (t + n - 1) * VOCAB, &err), &err);
    }
    pw_decoder_destroy(d);
}

static void collect(struct numbers *x, struct toy *toy, const char *options, const char *pe)
{
    struct pw_batch *b = toy_batch(5, 6, 1, T, VOCAB), *one = toy_batch(6, 1, T, T, VOCAB);
    struct pw_model *m = toy_model(toy, options, pe, VOCAB, 3);
    struct pw_err err = {0};
    memset(x, 0, sizeof *x);
    toy_shake(m, 11);
    x->grad = malloc(pw_model_size(m) * sizeof *x->grad);
    assert_non_null(x->grad);
    must(pw_model_gradient(m, b, x->grad, &x->loss, &err), &err);
    struct pw_inspection look = {
        .content = x->content, .score = x->score, .probs = x->probs, .logits = x->logits, .walk = x->walk};
    must(pw_model_inspect(m, one->tokens, T, &look, &err), &err);
    decode(m, one->tokens, x->decoded);
    pw_model_destroy(m);
    toy_batch_free(b);
    toy_batch_free(one);
}

static void expect_equal(int k, const char *what, const void *a, const void *b, size_t bytes)
{
    if (memcmp(a, b, bytes) != 0)
        fail_msg("%s, %s: the %s has other bits than the cpu's", cases[k].options, cases[k].pe, what);
}

static void test_bits(void **state)
{
    static struct numbers device, cpu;
    struct toy toys[] = {open_device("ref", NULL), toy_open(2)};
    (void)state;
    for (int k = 0; k < CASES; k++) {
        struct pw_model *m = toy_model(&toys[1], cases[k].options, cases[k].pe, VOCAB, 3);
        size_t size = pw_model_size(m);
        pw_model_destroy(m);
        collect(&device, &toys[0], cases[k].options, cases[k].pe);
        collect(&cpu, &toys[1], cases[k].options, cases[k].pe);
        expect_equal(k, "loss", &device.loss, &cpu.loss, sizeof cpu.loss);
        expect_equal(k, "gradient", device.grad, cpu.grad, size * sizeof *cpu.grad);
        expect_equal(k, "content", device.content, cpu.content, sizeof cpu.content);
        expect_equal(k, "score", device.score, cpu.score, sizeof cpu.score);
        expect_equal(k, "attention", device.probs, cpu.probs, sizeof cpu.probs);
        expect_equal(k, "walk", device.walk, cpu.walk, sizeof cpu.walk);
        expect_equal(k, "logits", device.logits, cpu.logits, sizeof cpu.logits);
        expect_equal(k, "decoding", device.decoded, cpu.decoded, sizeof cpu.decoded);
        free(device.grad);
        free(cpu.grad);
    }
    toy_close(&toys[0]);
    toy_close(&toys[1]);
}

/* A prompt whose rows and heads take more than one launch. */
static void test_long_prompt(void **state)
{
    static const char *const pes[] = {"inkling",       "cope npos=9", "pope", "grape_turn",
                                      "stickbreaking", "path",        "wall", "selective"};
    static float whole[T * VOCAB];
    struct toy toy = open_device("ref", NULL);
    struct pw_batch *one = toy_batch(6, 1, T, T, VOCAB);
    (void)state;
    for (size_t k = 0; k < sizeof pes / sizeof *pes; k++) {
        struct pw_model *m = toy_model(&toy, "layers=1 width=64 heads=32 ffn=8 context=48", pes[k], VOCAB, 3);
        struct pw_decoder *d;
        struct pw_err err = {0};
        float last[VOCAB];
        toy_shake(m, 11);
        must(pw_model_inspect(m, one->tokens, T, &(struct pw_inspection){.logits = whole}, &err), &err);
        must(pw_decoder_create(&d, m, T, &err), &err);
        must(pw_decoder_feed(d, one->tokens, T, last, &err), &err);
        if (memcmp(last, whole + (T - 1) * VOCAB, sizeof last) != 0)
            fail_msg("%s: decoding has other bits", pes[k]);
        pw_decoder_destroy(d);
        pw_model_destroy(m);
    }
    toy_batch_free(one);
    toy_close(&toy);
}

/* Attention has the same kernels in decoding and in a pass, so only other layers differ in mode fast. */
static void test_fast_decodes(void **state)
{
    static struct numbers x;
    struct toy toy = open_device("fast", "fp32");
    (void)state;
    for (int k = 0; k < CASES; k++) {
        collect(&x, &toy, cases[k].options, cases[k].pe);
        for (int t = 0; t < T; t++)
            for (int v = 0; v < VOCAB && (t >= 38 || (t >= 6 && t < 20)); v++) {
                float a = x.decoded[t * VOCAB + v], b = x.logits[t * VOCAB + v];
                if (!(a - b < 1e-4f && b - a < 1e-4f))
                    fail_msg("%s: logit %d of token %d is %g in decoding, and %g in a pass", cases[k].pe, v,
                             t, (double)a, (double)b);
            }
        free(x.grad);
    }
    toy_close(&toy);
}

/* A model is refused before it has memory on the device. */
static void expect_refused(const struct toy *t, const struct pw_backend_ops *less, unsigned use, int want)
{
    struct pw_config cfg = toy_config(OPTIONS, VOCAB);
    int n = 0;
    for (int k = 0; pw_pes[k] != NULL; k++) {
        struct pw_pe_use_opts pe = toy_pe(pw_pes[k]->name, &cfg);
        struct pw_model *m = NULL;
        struct pw_err err = {0};
        char expected[128];
        if ((pw_pes[k]->uses & use) == 0)
            continue;
        snprintf(expected, sizeof expected, "%s: backend cuda can't compute it; use 'backend cpu'",
                 pw_pes[k]->name);
        assert_int_equal(pw_model_create(&m, less, t->be, &cfg, &pe, 1, &err), PW_EUSER);
        assert_string_equal(err.msg, expected);
        assert_null(m);
        n++;
    }
    assert_int_equal(n, want);
}

static void test_refused(void **state)
{
    struct toy t = open_device("ref", NULL);
    struct pw_backend_ops less = *t.ops;
    (void)state;
    less.slopes_fwd = NULL;
    expect_refused(&t, &less, PW_PE_SLOPES, 1); /* grape */
    less = *t.ops;
    less.mixes = false;
    expect_refused(&t, &less, PW_PE_MIXES, 1); /* inkling */
    less = *t.ops;
    less.scans = false;
    expect_refused(&t, &less, PW_PE_SCAN, 2); /* stickbreaking, cope */
    less = *t.ops;
    less.selects = false;
    expect_refused(&t, &less, PW_PE_VOTES, 1); /* selective */
    less = *t.ops;
    less.polar_fwd = NULL;
    expect_refused(&t, &less, PW_PE_POLAR, 1); /* pope */
    less = *t.ops;
    less.walk_fwd = NULL;
    expect_refused(&t, &less, PW_PE_WALK, 2); /* path, wall */
    less.planes_fwd = NULL;
    expect_refused(&t, &less, PW_PE_PLANES, 1); /* grape_turn */
    toy_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_refused), cmocka_unit_test(test_bits),
                                       cmocka_unit_test(test_long_prompt),
                                       cmocka_unit_test(test_fast_decodes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
