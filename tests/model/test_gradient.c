/* test_gradient.c - compares losses and gradients of whole models with a forward pass in double precision
 * (ref_model.c) and its central differences. The cases cover every encoding and every option. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/rng.h"
#include "model/model_int.h"
#include "ref_model.h"
#include "ref_toy.h"

#define SMALL "layers=2 width=12 heads=3 ffn=10 context=16"
/* Learned parameters outside of a bias; ref_model.c finds this formula by the names of its parameters. */
#define LEARNED(more)                                                                                        \
    "expr 'wave = learn(normal(0.5)) per channel; turn = learn(normal(1)) per pair; "                        \
    "grow = learn(normal(0.4)) per layer; sharp = learn(normal(1)) per head, layer; "                        \
    "embed = wave * sin(i / 3); angle = turn * i; gain = 1 + grow * p; scale = sharp * log(i + 2)" more "'"

/* Learned parameters of a score, found by name likewise. */
#define BENT(more)                                                                                           \
    "expr 'bend = learn(normal(0.3)) per head, layer; tilt = learn(0.1); top = 0.5 + exp(bend); "            \
    "score = top * tanh(s / top) * (1 + tilt * d)" more "'"

#define MIXED(more)                                                                                          \
    "expr 'curve = learn(normal(1), 4) per mix, layer; mixes = 3; "                                          \
    "mix = d < 6 ? (m + 1) * sin(curve[d]) / (d + 1) : 0" more "'"

static const struct {
    const char *options, *pe;
    int vocab;
} cases[] = {
    {SMALL, "none", 7},
    {SMALL, "learned", 7},
    {SMALL, "sinusoidal", 7},
    {SMALL, "sinusoidal base=100 layout=split amplitude=0.5", 7},
    {SMALL, "t5", 7},
    {SMALL, "t5 buckets=5 distance=6", 7},
    {SMALL, "alibi", 7},
    {SMALL, "rotary", 7},
    {SMALL, "rotary pairing=interleaved base=100", 7},
    {SMALL, "rotary dims=2", 7},
    {SMALL, "rotary logn=3", 7},
    {SMALL, "none logn=2", 7},
    {SMALL " dropout=0.3 scale=off", "t5 logn=4", 7},
    {SMALL, "clipped distance=3", 7},
    {SMALL, "clipped", 7},
    {SMALL, "rspe", 7},
    {SMALL, "aspe", 7},
    {SMALL, "aspe base=100 layout=split amplitude=0.5", 7},
    {SMALL, "2dspe", 7},
    {SMALL, "dpe", 7},
    {SMALL, "dpe layout=split", 7},
    {SMALL, "ldpe", 7},
    {SMALL, "learned_reversed", 7},
    {SMALL, "shaw", 7},
    {SMALL, "shaw distance=2", 7},
    {SMALL, "fire", 7},
    {SMALL, "fire hidden=5 threshold=3", 7},
    {SMALL " causal=off", "fire hidden=9 threshold=2", 7},
    {SMALL " dropout=0.3 scale=off bias=on", "fire logn=3", 7},
    {SMALL, "fox", 7},
    {SMALL " dropout=0.3 scale=off bias=on", "fox open=3 logn=4", 7},
    {SMALL " norm_at=ff tied=on", "fox", 7},
    {SMALL " parallel=shared", "fox", 7},
    {"layers=2 width=12 heads=6 kv_heads=2 ffn=10 context=16 gated=on qk_norm=head post_norm=on parallel=on",
     "fox open=-1", 7},
    {SMALL " adapter=2", "fox", 7},
    {SMALL, "inkling", 7},
    {SMALL " dropout=0.3 scale=off bias=on", "inkling reach=3 mixes=2", 7},
    {SMALL " causal=off", "inkling reach=4 alpha=0.7 floor=3", 7},
    {SMALL " norm_at=ff tied=on", "inkling mixes=1 reach=1 logn=3", 7},
    {"layers=2 width=12 heads=6 kv_heads=2 ffn=10 context=16 gated=on qk_norm=head post_norm=on parallel=on",
     "inkling reach=5 mixes=7 alpha=0.2 floor=2", 7},
    {SMALL " adapter=2", "inkling", 7},
    {SMALL, "grape", 7},
    {SMALL " dropout=0.3 scale=off bias=on", "grape gate=key omega=0.3 logn=4", 7},
    {SMALL " parallel=shared", "grape gate=query stretch=0.5 gain=3", 7},
    {"layers=2 width=12 heads=6 kv_heads=2 ffn=10 context=16 gated=on qk_norm=head post_norm=on parallel=on",
     "grape", 7},
    {"layers=3 width=17 heads=5 head_width=3 ffn=19 context=16 adapter=2", "grape", 23},
    {SMALL, "stickbreaking", 7},
    {SMALL " dropout=0.3 scale=off bias=on", "stickbreaking logn=4", 7},
    {SMALL " norm_at=ff tied=on", "stickbreaking", 7},
    {SMALL " parallel=shared", "stickbreaking", 7},
    {"layers=2 width=12 heads=6 kv_heads=2 ffn=10 context=16 gated=on qk_norm=head post_norm=on parallel=on",
     "stickbreaking", 7},
    {"layers=3 width=17 heads=5 head_width=3 ffn=19 context=16", "stickbreaking", 23},
    {SMALL, "cope", 7},
    {SMALL " dropout=0.3 scale=off bias=on", "cope npos=3 logn=4", 7},
    {SMALL " norm_at=ff tied=on", "cope npos=5", 7},
    {"layers=2 width=12 heads=6 kv_heads=2 ffn=10 context=16 gated=on qk_norm=head post_norm=on parallel=on",
     "cope npos=4", 7},
    {"layers=3 width=17 heads=5 head_width=3 ffn=19 context=16", "cope npos=2", 23},
    {SMALL, "selective", 7},
    {SMALL " dropout=0.3 scale=off bias=on", "selective logn=4", 7},
    {SMALL " norm_at=ff tied=on", "selective", 7},
    {SMALL " parallel=shared", "selective", 7},
    {"layers=2 width=12 heads=6 kv_heads=2 ffn=10 context=16 gated=on qk_norm=head post_norm=on parallel=on",
     "selective", 7},
    {"layers=3 width=17 heads=5 head_width=3 ffn=19 context=16", "selective", 23},
    {"layers=1 width=8 heads=1 context=16 adapter=2", "selective", 7},
    {SMALL, "pope", 7},
    {SMALL " dropout=0.3 scale=off bias=on", "pope base=100 offset=3 stretch=0.5", 7},
    {SMALL " causal=off parallel=shared", "pope", 7},
    {"layers=2 width=12 heads=6 kv_heads=2 ffn=10 context=16 gated=on qk_norm=head post_norm=on parallel=on",
     "pope", 7},
    {"layers=3 width=17 heads=5 head_width=3 ffn=19 context=16 adapter=2", "pope", 23},
    {SMALL, "grape_turn", 7},
    {SMALL " dropout=0.3 scale=off bias=on", "grape_turn base=100 planes=1 offset=3 stretch=0.5", 7},
    {SMALL " causal=off parallel=shared", "grape_turn base=5", 7},
    {"layers=2 width=12 heads=6 kv_heads=2 ffn=10 context=16 gated=on qk_norm=head post_norm=on parallel=on",
     "grape_turn", 7},
    {"layers=3 width=17 heads=5 head_width=3 ffn=19 context=16 adapter=2", "grape_turn", 23},
    {"layers=1 width=20 heads=2 head_width=38 context=16 tied=on", "grape_turn planes=18 base=30", 9},
    {SMALL, "path", 7},
    {SMALL " dropout=0.3 scale=off bias=on", "path rank=5 conv=0 logn=4", 7},
    {SMALL " norm_at=ff tied=on", "path rank=3 conv=1", 7},
    {SMALL " parallel=shared", "path conv=8", 7},
    {"layers=2 width=12 heads=6 kv_heads=2 ffn=10 context=16 gated=on qk_norm=head post_norm=on parallel=on",
     "path rank=6", 7},
    {"layers=3 width=17 heads=5 head_width=3 ffn=19 context=16 adapter=2", "path", 23},
    {SMALL, "wall", 7},
    {SMALL " dropout=0.3 scale=off bias=on", "wall gate_bias=1 logn=4", 7},
    {SMALL " norm_at=ff tied=on", "wall gate_bias=-1", 7},
    {"layers=2 width=12 heads=6 kv_heads=2 ffn=10 context=16 gated=on qk_norm=head post_norm=on parallel=on",
     "wall gate_bias=0", 7},
    {"layers=3 width=17 heads=5 head_width=3 ffn=19 context=16 adapter=2", "wall", 23},
    {SMALL " tied=on", "none", 7},
    {SMALL " tied=on logit_scale=0.3", "learned", 7},
    {SMALL " bias=on", "t5", 7},
    {SMALL " bias=on norm=layernorm", "none", 7},
    {SMALL " norm=layernorm", "rotary", 7},
    {SMALL " norm=none", "none", 7},
    {SMALL " norm_at=ff", "alibi", 7},
    {SMALL " norm_at=ff norm=layernorm bias=on", "learned", 7},
    {SMALL " act=gelu", "none", 7},
    {SMALL " act=gelu_tanh bias=on", "t5", 7},
    {SMALL " scale=off", "rotary", 7},
    {SMALL " logit_scale=2.5", "none", 7},
    {SMALL " causal=off", "none", 7},
    {SMALL " causal=off", "t5 buckets=4 distance=7", 7},
    {SMALL " causal=off", "alibi", 7},
    {SMALL " causal=off", "rotary", 7},
    {SMALL " causal=off", "clipped distance=3", 7},
    {SMALL " causal=off", "ldpe", 7},
    {SMALL " causal=off", "shaw distance=3", 7},
    {SMALL " dropout=0.3", "none", 7},
    {SMALL " dropout=0.3 tied=on", "ldpe", 7},
    {SMALL " dropout=0.5 bias=on act=gelu", "t5", 7},
    {SMALL " dropout=0.1 tied=on norm=layernorm act=gelu_tanh bias=on", "learned", 7},
    {SMALL " dropout=0.9 causal=off", "rotary", 7},
    {SMALL " dropout=0.3 bias=on scale=off", "shaw distance=4", 7},
    {SMALL, "expr 'score = 2 * tanh(s / 2) + 0.1 * d * s'", 7},
    {SMALL " dropout=0.3 causal=off bias=on", "expr 'score = 2 * tanh(s / 2) + 0.1 * d * s'", 7},
    {SMALL, BENT(""), 7},
    {SMALL " dropout=0.3 causal=off bias=on tied=on", BENT(""), 7},
    {SMALL " kv_heads=1 qk_norm=head adapter=2",
     BENT("; sharp = learn(normal(1)) per head, layer; scale = sharp * log(i + 2)"), 7},
    {SMALL,
     LEARNED("; bend = learn(0) per head, layer; tilt = learn(normal(0.1)); top = 0.5 + exp(bend); "
             "score = top * tanh(s / top) * (1 + tilt * d)"),
     7},
    {SMALL " dropout=0.3",
     MIXED("; bend = learn(0) per head, layer; tilt = learn(0.1); top = 0.5 + exp(bend); "
           "score = top * tanh(s / top) * (1 + tilt * d)"),
     7},
    {"layers=3 width=17 heads=5 head_width=3 ffn=19 context=16", BENT(""), 23},
    {SMALL, LEARNED(""), 7},
    {SMALL, LEARNED("; gate = -exp(g / 2)"), 7},
    {SMALL " dropout=0.3", "expr 'scan = context(4)'", 7},
    {SMALL " bias=on",
     "expr 'scan = context(9); sharp = learn(normal(1)) per head, layer; scale = sharp * log(i + 2)'", 7},
    {SMALL, MIXED(""), 7},
    {SMALL " dropout=0.3 causal=off bias=on", MIXED(""), 7},
    {SMALL " kv_heads=1 qk_norm=head", MIXED("; score = 2 * tanh(s / 2) + 0.1 * d * s"), 7},
    {SMALL " dropout=0.3 causal=off bias=on tied=on", LEARNED(""), 7},
    {SMALL " act=silu", "none", 7},
    {SMALL " gated=on", "rotary", 7},
    {SMALL " gated=on act=gelu bias=on dropout=0.3", "none", 7},
    {SMALL " gated=on act=relu dropout=0.3", "none", 7},
    {SMALL " kv_heads=1", "rotary", 7},
    {"layers=2 width=12 heads=6 kv_heads=2 ffn=10 context=16 bias=on causal=off", "shaw distance=3", 7},
    {"layers=2 width=12 heads=2 kv_heads=1 ffn=10 context=16 dropout=0.3", LEARNED(""), 7},
    {SMALL " parallel=on", "alibi", 7},
    {SMALL " parallel=on norm=none", "none", 7},
    {SMALL " parallel=shared dropout=0.3", "learned", 7},
    {SMALL " qk_norm=head", "rotary", 7},
    {SMALL " qk_norm=head norm=layernorm bias=on", "none", 7},
    {SMALL " post_norm=on", "t5", 7},
    {SMALL " post_norm=on norm=layernorm bias=on dropout=0.3", "none", 7},
    {SMALL " norm_at=after", "none", 7},
    {SMALL " norm_at=after norm=layernorm bias=on tied=on", "learned", 7},
    {SMALL " norm_at=after norm=layernorm bias=on dropout=0.3 act=gelu", "t5", 7},
    {SMALL " norm_at=after dropout=0.3 adapter=3 logit_scale=0.5", "rotary", 7},
    {SMALL " norm_at=after embed_norm=on head_bias=on logit_cap=2", "ldpe", 7},
    {SMALL " norm_at=after qkv_clip=0.6 causal=off norm_eps=0.1", "shaw distance=3", 7},
    {"layers=2 width=12 heads=6 kv_heads=2 ffn=10 context=16 gated=on act=silu qk_norm=head norm_at=after",
     "rotary", 7},
    {SMALL " norm_at=after", "fox", 7},
    {SMALL " norm_at=after norm=layernorm bias=mlp", "inkling", 7},
    {SMALL " norm_at=after", "grape", 7},
    {SMALL " norm_at=after adapter=2", "path", 7},
    {SMALL " norm_at=after dropout=0.3", "wall", 7},
    {SMALL " embed_width=5", "learned", 7},
    {SMALL " embed_width=5 tied=on dropout=0.3", "none", 7},
    {SMALL " embed_width=33 tied=on embed_scale=2 norm_at=after norm=layernorm bias=on", "ldpe", 7},
    {SMALL " embed_width=1 embed_norm=on head_bias=on logit_cap=2 logit_scale=0.5", "sinusoidal", 7},
    {SMALL " embed_width=4 parallel=on adapter=2", LEARNED(""), 7},
    {SMALL " bias=qkv norm=layernorm", "rotary", 7},
    {SMALL " bias=mlp norm=layernorm", "none", 7},
    {SMALL " head_bias=on", "none", 7},
    {SMALL " head_bias=on tied=on", "none", 7},
    {SMALL " norm_eps=0.1", "none", 7},
    {SMALL " norm_eps=0.1 norm=layernorm qk_norm=head", "none", 7},
    {SMALL " embed_norm=on", "learned", 7},
    {SMALL " embed_norm=on norm=layernorm bias=on dropout=0.3", "ldpe", 7},
    {SMALL " embed_scale=3.5", "learned", 7},
    {SMALL " embed_scale=0.25 tied=on", "none", 7},
    {SMALL " score_scale=0.2", "rotary", 7},
    {SMALL " logit_cap=2", "none", 7},
    {SMALL " logit_cap=1.5 tied=on logit_scale=1.5", "none", 7},
    {SMALL " qkv_clip=0.4", "rotary", 7},
    {SMALL " qkv_clip=0.6 kv_heads=1 qk_norm=head bias=on norm=layernorm", "t5", 7},
    {SMALL " adapter=3", "rotary", 7},
    {SMALL " adapter=1 bias=on norm=layernorm tied=on dropout=0.3", "learned", 7},
    {SMALL " adapter=20 parallel=shared act=gelu", "t5", 7},
    {("layers=2 width=12 heads=6 kv_heads=2 ffn=10 context=16 adapter=2 gated=on act=silu qk_norm=head "
      "post_norm=on parallel=on"),
     "rotary", 7},
    /* families: LLaMA, Qwen2, Qwen3, NeoX, GPT-J, BLOOM, MPT, Gemma, Gemma 3, the first Transformer,
     * OPT-350m */
    {"layers=2 width=12 heads=6 kv_heads=2 ffn=10 context=16 gated=on act=silu norm_eps=1e-5", "rotary", 7},
    {"layers=2 width=12 heads=6 kv_heads=3 ffn=10 context=16 gated=on act=silu bias=qkv tied=on", "rotary",
     7},
    {"layers=2 width=12 heads=2 kv_heads=1 head_width=8 ffn=10 context=16 gated=on act=silu qk_norm=head",
     "rotary", 7},
    {SMALL " norm=layernorm bias=on act=gelu parallel=on", "rotary dims=2", 7},
    {SMALL " norm=layernorm bias=mlp head_bias=on act=gelu_tanh parallel=shared", "rotary dims=2", 7},
    {SMALL " norm=layernorm bias=on act=gelu_tanh embed_norm=on tied=on", "alibi", 7},
    {SMALL " norm=layernorm act=gelu score_scale=0.3 tied=on", "alibi", 7},
    {SMALL " norm=layernorm act=gelu qkv_clip=0.5 tied=on", "alibi", 7},
    {"layers=2 width=12 heads=4 kv_heads=1 head_width=6 ffn=10 context=16 gated=on act=gelu_tanh "
     "embed_scale=3.4641016 tied=on",
     "rotary", 7},
    {"layers=2 width=12 heads=4 kv_heads=2 head_width=6 ffn=10 context=16 gated=on act=gelu_tanh "
     "post_norm=on qk_norm=head "
     "embed_scale=3.4641016 score_scale=0.4 logit_cap=3 tied=on",
     "rotary", 7},
    {SMALL " norm=layernorm norm_at=after bias=on tied=on embed_scale=3.4641016 dropout=0.1", "sinusoidal",
     7},
    {SMALL " norm=layernorm norm_at=after bias=on tied=on embed_width=6", "learned", 7},
    {"layers=1 width=1 heads=1 ffn=1 context=16 norm=none", "none", 2},
    {"layers=2 width=17 heads=5 head_width=3 ffn=19 context=16 bias=on", "t5", 23},
    {"layers=3 width=20 heads=2 head_width=18 ffn=33 context=16 tied=on", "rotary dims=6", 34},
    {"layers=3 width=17 heads=5 head_width=3 ffn=19 context=16", "shaw distance=20", 23},
    {"layers=3 width=17 heads=5 head_width=3 ffn=19 context=16 tied=on", "fire hidden=1 threshold=9", 23},
};

static double directional(const struct ref_model *r, const struct pw_batch *b, const struct pw_param *p,
                          const double *direction, size_t n)
{
    const double h = 1e-7; /* a ReLU is rarely this close to its kink */
    double *at = r->values + p->offset, side[2];

    for (int s = 0; s < 2; s++) {
        for (size_t i = 0; i < n; i++)
            at[i] += (s == 0 ? 1 : -2) * h * direction[i];
        side[s] = ref_loss(r, b, NULL);
    }
    for (size_t i = 0; i < n; i++)
        at[i] += h * direction[i];
    return (side[0] - side[1]) / (2 * h);
}

static void check_tensor(const struct ref_model *r, const struct pw_batch *b, const struct pw_param *p,
                         const float *grad, double floor, struct pw_rng *rng)
{
    enum { SINGLES = 2 };
    size_t n = pw_param_count(p);
    double *direction = calloc(n, sizeof *direction), largest = 0, size = 0, sum = 0, found;

    assert_non_null(direction);
    for (size_t i = 0; i < n; i++)
        largest = fmax(largest, fabs(grad[i]));
    for (int k = 0; k < SINGLES; k++) {
        size_t i = pw_rng_below(rng, (uint32_t)n);
        direction[i] = 1;
        found = directional(r, b, p, direction, n);
        direction[i] = 0;
        if (fabs(found - grad[i]) > 1e-4 * fabs(found) + 1e-5 * largest + floor)
            fail_msg("%s: %s[%zu]: gradient %.9g, difference quotient %.9g", r->pe, p->name, i, grad[i],
                     found);
    }
    for (size_t i = 0; i < n; i++) {
        direction[i] = pw_rng_normal(rng);
        sum += direction[i] * grad[i];
        size += fabs(direction[i] * grad[i]);
    }
    found = directional(r, b, p, direction, n);
    if (fabs(found - sum) > 1e-5 * size + floor)
        fail_msg("%s: %s: along a direction %.9g, difference quotient %.9g", r->pe, p->name, sum, found);
    free(direction);
}

static void check_case(struct toy *toy, const char *options, const char *pe, int vocab,
                       const struct ref_fixed *fixed)
{
    struct pw_model *m = toy_model(toy, options, pe, vocab, 3);
    struct pw_batch *b = toy_batch(5, 5, 1, 11, vocab);
    size_t size = pw_model_size(m);
    float *p = malloc(size * sizeof *p), *grad = malloc(size * sizeof *grad);
    float *each = malloc(b->n_scored * sizeof *each);
    int *best = malloc(b->n_scored * sizeof *best);
    double *values = malloc(size * sizeof *values), *expected = malloc(b->n_scored * sizeof *expected);
    double loss, mean, largest = 0;
    struct pw_str text = {0};
    struct pw_rng rng;
    struct pw_err err = {0};
    struct ref_model r = {.cfg = pw_model_config(m), .values = values, .fixed = fixed};

    assert_true(p != NULL && grad != NULL && each != NULL && best != NULL && values != NULL &&
                expected != NULL);
    toy_shake(m, 11);
    pw_model_get(m, p, NULL, NULL);
    for (size_t i = 0; i < size; i++)
        values[i] = p[i];
    pw_pe_print(pw_model_pe(m), &text);
    r.pe = pw_str_text(&text);
    r.params = pw_model_params(m, &r.n_params);

    mean = ref_loss(&r, b, expected);
    assert_int_equal(pw_model_eval(m, b, best, each, &err), PW_OK);
    for (int i = 0; i < b->n_scored; i++)
        if (fabs(each[i] - expected[i]) > 1e-5 * (1 + expected[i]))
            fail_msg("%s, %s: loss %d is %.9g, not %.9g", options, pe, i, each[i], expected[i]);
    assert_int_equal(pw_model_gradient(m, b, grad, &loss, &err), PW_OK);
    r.training = true;
    pw_rng_init(&rng, 3, PW_STREAM_DROPOUT, 1); /* the model's seed and its next step */
    r.key[0] = pw_rng_u32(&rng);
    r.key[1] = pw_rng_u32(&rng);
    mean = ref_loss(&r, b, NULL);
    assert_true(fabs(loss - mean) < 1e-5 * (1 + mean));

    /* Some gradients are zero except for rounding: a bias of all keys shifts all scores of a query equally.
     * The tolerance therefore scales with the model's largest gradient. */
    for (size_t i = 0; i < size; i++)
        largest = fmax(largest, fabs(grad[i]));
    pw_rng_init(&rng, 1, PW_STREAM_TEST, 2);
    for (int i = 0; i < r.n_params; i++)
        check_tensor(&r, b, &r.params[i], grad + r.params[i].offset, 1e-6 * largest, &rng);

    pw_str_fini(&text);
    free(p);
    free(grad);
    free(each);
    free(best);
    free(values);
    free(expected);
    toy_batch_free(b);
    pw_model_destroy(m);
}

static void test_cases(void **state)
{
    struct toy toy = toy_open(2);

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_case(&toy, cases[i].options, cases[i].pe, cases[i].vocab, NULL);
    toy_close(&toy);
}

/* Formulas: tables by layer, by both positions, with hidden keys. */
static void test_formulas(void **state)
{
    struct toy toy = toy_open(2);

    (void)state;
    for (const struct ref_fixed_case *x = ref_fixed_cases; x->pe != NULL; x++) {
        check_case(&toy, SMALL, x->pe, 7, &x->fixed);
        check_case(&toy, SMALL " dropout=0.3 scale=off bias=on layers=3", x->pe, 7, &x->fixed);
        if (x->both)
            check_case(&toy, SMALL " causal=off", x->pe, 7, &x->fixed);
    }
    toy_close(&toy);
}

/* Every encoding must be among the cases. */
static void test_all_encodings(void **state)
{
    (void)state;
    for (int e = 0; pw_pes[e] != NULL; e++) {
        int found = 0;
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            struct pw_config cfg = toy_config(cases[i].options, cases[i].vocab);
            found |= toy_pe(cases[i].pe, &cfg).pe == pw_pes[e];
        }
        if (!found)
            fail_msg("no gradient check for %s", pw_pes[e]->name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases), cmocka_unit_test(test_formulas),
                                       cmocka_unit_test(test_all_encodings)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
