/* test_gradient.c - compares gradients of whole models in mode fast with the cpu's: every encoding, and every
 * part of a network that may accompany it. Only this test covers the copies that one operation leaves for the
 * next. */
#include "tests/model/ref_fixed.h"
#include "tests/model/ref_toy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { VOCAB = 13 };

#define SMALL "layers=2 width=24 heads=3 ffn=40 context=16"

/* Settings beside each encoding's defaults. */
static const struct {
    const char *options, *pe;
} others[] = {
    {SMALL " tied=on bias=on norm=layernorm act=gelu", "t5 buckets=6 distance=8"},
    {SMALL " dropout=0.2 tied=on", "t5"},
    {SMALL " dropout=0.2", "shaw distance=3"},
    {SMALL " dropout=0.2 tied=on norm_at=ff", "fox open=2"},
    {SMALL, "expr 'gate = -exp(g / 2) * (h + 1); bias = -0.1 * d'"},
    {SMALL " dropout=0.2 tied=on",
     "expr 'mixes = 3; P = learn(normal(0.5), 5) per mix, layer; mix = d < 9 ? P(d / 2) * (m + 1) : 0'"},
    {SMALL " causal=off bias=on",
     "expr 'mixes = 2; mix = exp(-d / 2 ** m) / (l + 1); a = learn(1) per head; bias = -a * abs(d)'"},
    {SMALL " dropout=0.2 tied=on", "expr 'cap = learn(3) per head, layer; w = learn(0.1); score = cap * "
                                   "tanh(s / cap) * (1 + w * i) - j * w'"},
    {SMALL " causal=off",
     "expr 'T = learn(normal(0.3), 3); mixes = 2; mix = 0.1 * d * m; score = s * exp(T[h])'"},
    {SMALL, "expr 'scan = stick; angle = i * 100 ** (-2 * p / D); scale = 1 + 0.1 * h'"},
    {SMALL " dropout=0.2 tied=on", "expr 'scan = context(4); a = learn(1) per head; scale = a * log(n + 2)'"},
    {SMALL " dropout=0.2", "grape gate=key omega=0.5"},
    {SMALL " dropout=0.2 tied=on", "stickbreaking"},
    {SMALL " dropout=0.2 norm_at=ff", "cope npos=4"},
    {SMALL " dropout=0.2 tied=on", "inkling alpha=0.5 floor=2 reach=5"},
    {SMALL " causal=off bias=on", "inkling mixes=3"},
    {SMALL " dropout=0.2", "pope"},
    {SMALL " dropout=0.2 tied=on", "path rank=3"},
    {SMALL " dropout=0.2 norm_at=ff", "wall gate_bias=1"},
    {SMALL " dropout=0.2 norm_at=ff", "selective"},
    {SMALL " dropout=0.2", "grape_turn"},
    {SMALL " dropout=0.2", "rotary dims=4 logn=3"},
    {SMALL, "t5 logn=2"},
    {SMALL " causal=off bias=on", "shaw distance=2"},
    {SMALL " causal=off dropout=0.3 act=gelu_tanh", "rotary"},
    {"layers=1 width=48 heads=1 ffn=32 context=16 norm=none scale=off", "rotary dims=6"},
    {"layers=3 width=17 heads=5 head_width=3 ffn=19 context=16", "shaw distance=20"},
    {"layers=2 width=32 heads=4 context=16 tied=on logit_scale=0.25 dropout=0.1", "learned"},
};

/* Options of published families: all operations that only they have. */
static const struct {
    const char *options, *pe;
} families[] = {
    {"layers=2 width=24 heads=6 kv_heads=2 ffn=20 context=16 gated=on act=silu bias=qkv norm_eps=1e-5",
     "rotary"},
    {"layers=2 width=24 heads=4 kv_heads=2 ffn=20 context=16 gated=on act=gelu_tanh qk_norm=head "
     "post_norm=on "
     "embed_scale=4.9 logit_cap=5 qkv_clip=1 tied=on dropout=0.1",
     "rotary"},
    {SMALL " norm=layernorm bias=mlp head_bias=on act=gelu parallel=shared dropout=0.1", "rotary dims=4"},
    {SMALL " norm=layernorm bias=on parallel=on embed_norm=on", "alibi"},
    {SMALL " adapter=3 act=gelu bias=on dropout=0.1", "learned"},
    {"layers=2 width=24 heads=6 kv_heads=2 ffn=20 context=16 gated=on act=silu adapter=8", "rotary"},
    {SMALL " norm=layernorm bias=on head_bias=on embed_norm=on post_norm=on dropout=0.1", "learned"},
    {SMALL " norm=layernorm norm_at=after bias=on tied=on embed_width=7 dropout=0.1", "learned"},
    {SMALL " norm_at=after embed_width=40 embed_scale=2", "sinusoidal"},
};
enum { FAMILIES = sizeof families / sizeof *families };

/* Positions by chance, which descend and repeat: a key that comes first can have the later position. */
#define CHANCE "expr 'position = abs(floor(uniform(5, 9)) - i); "
static const char *const by_chance[] = {
    CHANCE "bias = -slopes()[h] * abs(d) + 0.1 * d'",
    CHANCE "bias = sin(d * position(j)); mask = d > -3; angle = position(i) * 0.3'",
    CHANCE "T = learn(normal(0.5), 20) per head; bias = T[d + 9]'",
    CHANCE "T = learn(normal(0.5), 20) per layer; bias = T(position(i) + 0.5 * position(j)) * d; scale = 1 + "
           "position(i) / 9'",
    CHANCE "score = 3 * tanh(s / 3) - 0.1 * position(j) * d; embed = sin(position(i) * (c + 1))'",
};
enum { CHANCES = sizeof by_chance / sizeof *by_chance };

/* Operands of products are rounded: 2^-9 each in bf16 and 2^-12 in tf32, in several layers. The error is
 * larger where large parts cancel, as after a softmax, or where a unit of so small a network changes sign. */
static const struct {
    const char *name;
    double limit;
} precisions[] = {{"fp32", 1e-4}, {"tf32", 0.1}, {"bf16", 0.25}};

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

/* The caller frees it. */
static float *gradient(struct pw_model *m, const struct pw_batch *b, double *loss)
{
    struct pw_err err;
    float *grad = malloc(pw_model_size(m) * sizeof *grad);
    assert_non_null(grad);
    if (pw_model_gradient(m, b, grad, loss, &err) != PW_OK)
        fail_msg("%s", err.msg);
    return grad;
}

static void compare(struct toy *toys, const char *options, const char *pe)
{
    struct pw_batch *b = toy_batch(5, 9, 1, 12, VOCAB);
    const uint64_t chance[9] = {3, 1, 4, 1, 5, 9, 2, 6, 5};
    b->chance = chance;
    enum { N = sizeof precisions / sizeof *precisions };
    float *grad[N + 1];
    double loss[N + 1];
    struct pw_model *cpu = toy_model(&toys[N], options, pe, VOCAB, 3);
    toy_shake(cpu, 11);
    grad[N] = gradient(cpu, b, &loss[N]);
    for (int i = 0; i < N; i++) {
        const char *name;
        struct pw_model *m = toy_model(&toys[i], options, pe, VOCAB, 3);
        toy_shake(m, 11);
        grad[i] = gradient(m, b, &loss[i]);
        double off = toy_gradient_off(m, grad[i], grad[N], &name);
        print_message("%s, %s: %s, off by %.2g at %s\n", options, pe, precisions[i].name, off, name);
        if (!(off <= precisions[i].limit))
            fail_msg("%s, %s: in %s the gradient of %s is off by %.2g of its length", options, pe,
                     precisions[i].name, name, off);
        if (!(loss[i] - loss[N] <= precisions[i].limit && loss[N] - loss[i] <= precisions[i].limit))
            fail_msg("%s, %s: in %s the loss is %g, the cpu's %g", options, pe, precisions[i].name, loss[i],
                     loss[N]);
        pw_model_destroy(m);
    }
    pw_model_destroy(cpu);
    for (int i = 0; i <= N; i++)
        free(grad[i]);
    toy_batch_free(b);
}

static void test_gradients(void **state)
{
    struct toy toys[] = {open_device("fast", "fp32"), open_device("fast", "tf32"),
                         open_device("fast", "bf16"), toy_open(1)};
    (void)state;
    for (int i = 0; pw_pes[i] != NULL; i++)
        compare(toys, SMALL, pw_pes[i]->name);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        compare(toys, others[i].options, others[i].pe);
    for (int i = 0; i < FAMILIES; i++)
        compare(toys, families[i].options, families[i].pe);
    for (int i = 0; i < CHANCES; i++)
        compare(toys, SMALL " dropout=0.2", by_chance[i]);
    for (const struct ref_fixed_case *x = ref_fixed_cases; x->pe != NULL; x++) {
        compare(toys, SMALL " dropout=0.2", x->pe);
        if (x->both)
            compare(toys, SMALL " causal=off", x->pe);
    }
    for (size_t i = 0; i < sizeof toys / sizeof *toys; i++)
        toy_close(&toys[i]);
}

/* Mode ref has the cpu's bits: gradients, and scores and probabilities of an inspection. */
static void test_formulas(void **state)
{
    enum { T = 16, N = 2 * 3 * T * T };
    struct toy toys[] = {open_device("ref", NULL), toy_open(1)};
    const char *pes[64];
    int n = 0;
    (void)state;
    for (const struct ref_fixed_case *x = ref_fixed_cases; x->pe != NULL; x++)
        pes[n++] = x->pe;
    for (int k = 0; k < CHANCES; k++)
        pes[n++] = by_chance[k];
    assert_true(n <= 64);
    for (int k = 0; k < n; k++) {
        const uint64_t chance[9] = {3, 1, 4, 1, 5, 9, 2, 6, 5};
        struct pw_batch *b = toy_batch(5, 9, 1, 12, VOCAB), *one = toy_batch(6, 1, T, T, VOCAB);
        static float score[2][N], probs[2][N];
        float *grad[2];
        double loss[2];
        size_t size = 0;
        b->chance = chance;
        for (int i = 0; i < 2; i++) {
            struct pw_model *m = toy_model(&toys[i], SMALL " dropout=0.2", pes[k], VOCAB, 3);
            struct pw_err err = {0};
            toy_shake(m, 11);
            grad[i] = gradient(m, b, &loss[i]);
            size = pw_model_size(m) * sizeof(float);
            assert_int_equal(pw_model_inspect(m, one->tokens, T,
                                              &(struct pw_inspection){.score = score[i], .probs = probs[i]},
                                              &err),
                             PW_OK);
            pw_model_destroy(m);
        }
        if (memcmp(grad[0], grad[1], size) != 0 || loss[0] != loss[1])
            fail_msg("%s: the gradient has other bits than the cpu's", pes[k]);
        assert_memory_equal(score[0], score[1], sizeof score[0]);
        assert_memory_equal(probs[0], probs[1], sizeof probs[0]);
        free(grad[0]);
        free(grad[1]);
        toy_batch_free(b);
        toy_batch_free(one);
    }
    toy_close(&toys[0]);
    toy_close(&toys[1]);
}

/* Gradients of the families have the cpu's bits in mode ref. */
static void test_families(void **state)
{
    struct toy toys[] = {open_device("ref", NULL), toy_open(1)};
    (void)state;
    for (int k = 0; k < FAMILIES; k++) {
        struct pw_batch *b = toy_batch(5, 9, 1, 12, VOCAB);
        float *grad[2];
        double loss[2];
        size_t size = 0;
        for (int i = 0; i < 2; i++) {
            struct pw_model *m = toy_model(&toys[i], families[k].options, families[k].pe, VOCAB, 3);
            toy_shake(m, 11);
            grad[i] = gradient(m, b, &loss[i]);
            size = pw_model_size(m) * sizeof(float);
            pw_model_destroy(m);
        }
        if (memcmp(grad[0], grad[1], size) != 0 || loss[0] != loss[1])
            fail_msg("%s: the gradient has other bits than the cpu's", families[k].options);
        free(grad[0]);
        free(grad[1]);
        toy_batch_free(b);
    }
    toy_close(&toys[0]);
    toy_close(&toys[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_gradients), cmocka_unit_test(test_formulas),
                                       cmocka_unit_test(test_families)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
