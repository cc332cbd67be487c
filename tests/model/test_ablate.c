/* test_ablate.c - tests replaced heads and patched passes. They must give the same bits in every kind of
 * pass. A replaced output must pass no gradient, and nothing else may change. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "model/decode.h"
#include "model/model_int.h"
#include "ref_toy.h"

enum { V = 7, CONTEXT = 40, L = 2, H = 3, D = 4, C = H * D, T = 21 };

#define SMALL "layers=2 width=12 heads=3 ffn=10 context=40"

static struct pw_err err;

static void must(enum pw_code code)
{
    if (code)
        fail_msg("%s", err.msg);
}

/* Rows of random numbers for every position. */
static const float *table(void)
{
    static float t[CONTEXT * D];
    struct pw_rng rng;

    pw_rng_init(&rng, 3, PW_STREAM_TEST, 0);
    for (int i = 0; i < CONTEXT * D; i++)
        t[i] = (float)pw_rng_normal(&rng);
    return t;
}

static struct pw_model *shaken(struct toy *t, const char *options, const char *pe)
{
    struct pw_model *m = toy_model(t, options, pe, V, 1);

    toy_shake(m, 5);
    return m;
}

static const int *some_tokens(void)
{
    static int tokens[CONTEXT];

    for (int i = 0; i < CONTEXT; i++)
        tokens[i] = (i * i + 3) % V;
    return tokens;
}

static void logits_of(struct pw_model *m, const int *tokens, float out[T * V])
{
    must(pw_model_inspect(m, tokens, T, &(struct pw_inspection){.logits = out}, &err));
}

static size_t gradient(struct pw_model *m, float **grad)
{
    struct pw_batch *b = toy_batch(2, 12, 3, 30, V);
    double loss;

    *grad = malloc(pw_model_size(m) * sizeof **grad);
    assert_non_null(*grad);
    must(pw_model_gradient(m, b, *grad, &loss, &err));
    toy_batch_free(b);
    return pw_model_size(m);
}

/* Calls each(arg, entry) for every weight of head h in layer l: columns of W_o if o is set, and rows of Wq,
 * Wk and Wv. */
static void each_entry(const struct pw_model *m, int l, int h, bool o, void (*each)(void *, size_t),
                       void *arg)
{
    const struct pw_layer_at *at = &m->lay.layer[l];

    for (int r = 0; o && r < C; r++)
        for (int d = 0; d < D; d++)
            each(arg, at->o + (size_t)r * H * D + h * D + d);
    for (int part = 0; !o && part < 3; part++)
        for (int d = 0; d < D; d++)
            for (int c = 0; c < C; c++)
                each(arg, at->qkv + (((size_t)part * H + h) * D + d) * C + c);
}

static void is_zero(void *arg, size_t i)
{
    assert_true(((const float *)arg)[i] == 0);
}

static void set_zero(void *arg, size_t i)
{
    ((float *)arg)[i] = 0;
}

struct count {
    const float *grad;
    int n;
};

static void count(void *arg, size_t i)
{
    struct count *c = arg;
    c->n += c->grad[i] != 0;
}

/* ---- W_o reads the replaced output */

static void test_z_is_the_table_s(void **state)
{
    static float before[L * T * C], z[L * T * C];
    struct pw_model *m = shaken(*state, SMALL, "rotary");
    const int *tokens = some_tokens();

    must(pw_model_inspect(m, tokens, T, &(struct pw_inspection){.z = before}, &err));
    must(pw_model_replace_head(m, 0, 1, 2, table(), &err));
    must(pw_model_replace_head(m, 1, 2, 1, NULL, &err));
    assert_int_equal(pw_model_replaced(m, 0, 1), 2);
    assert_int_equal(pw_model_replaced(m, 1, 1), 0);
    must(pw_model_inspect(m, tokens, T, &(struct pw_inspection){.z = z}, &err));
    for (int t = 0; t < T; t++) {
        assert_memory_equal(z + t * C + D, table() + t * D, D * sizeof *z);
        assert_memory_equal(z + t * C, before + t * C, D * sizeof *z);                 /* head 0.0 */
        assert_memory_equal(z + t * C + 2 * D, before + t * C + 2 * D, D * sizeof *z); /* head 0.2 */
        for (int d = 0; d < D; d++)
            assert_true(z[(T + t) * C + 2 * D + d] == 0);
    }
    assert_memory_not_equal(z + T * C, before + T * C, T * C * sizeof *z); /* the next layer differs */
    must(pw_model_inspect(m, tokens, T, &(struct pw_inspection){.z = z, .whole = true}, &err));
    assert_memory_equal(z, before, sizeof z);
    pw_model_destroy(m);
}

/* A head replaced by zeros equals a head with zero columns of W_o: the bits of the forward pass are the same.
 * So are all gradients, except those of these columns, which have no input. q, k and v get no gradient. */
static void check_zero_columns(struct toy *toy, const char *options)
{
    static float a[T * V], b[T * V];
    struct pw_model *m = shaken(toy, options, "t5");
    size_t n = pw_model_size(m);
    float *p = malloc(n * sizeof *p), *off, *zeroed;

    assert_non_null(p);
    pw_model_get(m, p, NULL, NULL);
    must(pw_model_replace_head(m, 1, 1, 1, NULL, &err));
    logits_of(m, some_tokens(), a);
    gradient(m, &off);
    each_entry(m, 1, 1, true, is_zero, off);
    each_entry(m, 1, 1, false, is_zero, off);
    pw_model_restore_head(m, 1, 1);
    each_entry(m, 1, 1, true, set_zero, p);
    pw_model_put(m, p, NULL, NULL);
    logits_of(m, some_tokens(), b);
    assert_memory_equal(a, b, sizeof a);
    gradient(m, &zeroed);
    struct count c = {zeroed, 0};
    each_entry(m, 1, 1, true, count, &c);
    assert_int_equal(c.n, C * D);
    each_entry(m, 1, 1, true, set_zero, zeroed);
    for (size_t i = 0; i < n; i++)
        assert_true(off[i] == zeroed[i]);
    free(p);
    free(off);
    free(zeroed);
    pw_model_destroy(m);
}

static void test_zeros_are_zero_columns(void **state)
{
    check_zero_columns(*state, SMALL " bias=on dropout=0.2");
    check_zero_columns(*state,
                       SMALL " bias=on dropout=0.2 norm=layernorm norm_at=after tied=on embed_width=7");
}

/* A table doesn't depend on the input: q, k and v get no gradient, W_o gets one. A table with equal rows
 * gives the output of a head whose values are that constant. */
static void test_a_table_is_a_constant(void **state)
{
    static float same[CONTEXT * D], a[T * V], b[T * V];
    struct pw_model *m = shaken(*state, SMALL " bias=on", "alibi");
    size_t n = pw_model_size(m), qkv = m->lay.layer[0].qkv, bias = m->lay.layer[0].qkv_bias;
    float *p = malloc(n * sizeof *p), *grad;
    struct count c;

    assert_non_null(p);
    for (int i = 0; i < CONTEXT * D; i++)
        same[i] = table()[i % D];
    must(pw_model_replace_head(m, 0, 2, 2, same, &err));
    logits_of(m, some_tokens(), a);
    gradient(m, &grad);
    each_entry(m, 0, 2, false, is_zero, grad);
    c = (struct count){grad, 0};
    each_entry(m, 0, 2, true, count, &c);
    assert_int_equal(c.n, C * D);
    pw_model_restore_head(m, 0, 2);
    pw_model_get(m, p, NULL, NULL);
    for (int d = 0; d < D; d++) {
        size_t row = (size_t)(2 * H + 2) * D + d; /* of v */
        for (int i = 0; i < C; i++)
            p[qkv + row * C + i] = 0;
        p[bias + row] = same[d];
    }
    pw_model_put(m, p, NULL, NULL);
    logits_of(m, some_tokens(), b);
    for (int i = 0; i < T * V; i++)
        assert_true(a[i] - b[i] < 1e-4f && b[i] - a[i] < 1e-4f);
    free(p);
    free(grad);
    pw_model_destroy(m);
}

/* ---- all kinds of pass agree */

static void check_passes(struct pw_model *m)
{
    static float all[T * V];
    const int *tokens = some_tokens();
    struct pw_decoder *d;
    int rows[T], pos[T], best[T];
    float loss[T];

    logits_of(m, tokens, all);
    must(pw_decoder_create(&d, m, T, &err));
    for (int t = 0; t < T; t++) {
        float one[V];
        must(pw_decoder_feed(d, tokens + t, 1, one, &err));
        if (t == T - 1 || !pw_pe_uses_length(pw_model_pe(m)->pe)) /* earlier prefixes have another length */
            assert_memory_equal(one, all + t * V, sizeof one);
        rows[t] = pos[t] = t;
    }
    pw_decoder_destroy(d);
    struct pw_batch b = {.n_seqs = 1,
                         .n_rows = T,
                         .n_scored = T,
                         .start = (const int[]){0, T},
                         .tokens = tokens,
                         .pos = pos,
                         .rows = rows,
                         .targets = tokens};
    must(pw_model_eval(m, &b, best, loss, &err));
    for (int t = 0; t < T; t++)
        for (int v = 0; v < V; v++)
            assert_true(all[t * V + best[t]] >= all[t * V + v]);
}

static void test_every_encoding(void **state)
{
    static float before[T * V], off[T * V], after[T * V];

    for (int e = 0; pw_pes[e] != NULL; e++) {
        struct pw_model *m = shaken(*state, SMALL, pw_pes[e]->name);
        logits_of(m, some_tokens(), before);
        must(pw_model_replace_head(m, 0, 0, 3, table(), &err));
        must(pw_model_replace_head(m, 1, 1, 1, NULL, &err));
        check_passes(m);
        logits_of(m, some_tokens(), off);
        assert_memory_not_equal(before, off, sizeof off);
        pw_model_restore_head(m, 0, 0);
        pw_model_restore_head(m, 1, 1);
        logits_of(m, some_tokens(), after);
        assert_memory_equal(before, after, sizeof after);
        pw_model_destroy(m);
    }
}

/* A cache that was filled before the replacement is invalid, because it belongs to another network. */
static void test_in_the_middle_of_an_answer(void **state)
{
    static float all[T * V];
    struct pw_model *m = shaken(*state, SMALL, "rotary");
    struct pw_decoder *d;
    float one[V];

    must(pw_decoder_create(&d, m, T, &err));
    must(pw_decoder_feed(d, some_tokens(), T - 1, one, &err));
    must(pw_model_replace_head(m, 0, 1, 1, NULL, &err));
    must(pw_decoder_feed(d, some_tokens() + T - 1, 1, one, &err));
    logits_of(m, some_tokens(), all);
    assert_memory_equal(one, all + (T - 1) * V, sizeof one);
    pw_decoder_destroy(d);
    pw_model_destroy(m);
}

/* ---- threads, copies, other encodings */

static void test_threads(void **state)
{
    float *grad[3];
    size_t n = 0;

    (void)state;
    for (int i = 0; i < 3; i++) {
        struct toy t = toy_open(2 * i + 1);
        struct pw_model *m = shaken(&t, SMALL " dropout=0.3", "t5");
        m->chunk_rows = 7 * i;
        must(pw_model_replace_head(m, 0, 2, 2, table(), &err));
        n = gradient(m, &grad[i]);
        pw_model_destroy(m);
        toy_close(&t);
    }
    for (int i = 1; i < 3; i++)
        assert_memory_equal(grad[i], grad[0], n * sizeof **grad);
    for (int i = 0; i < 3; i++)
        free(grad[i]);
}

static void test_copies_and_encodings(void **state)
{
    static float a[T * V], b[T * V];
    struct toy *t = *state, other = toy_open(2);
    struct pw_model *m = shaken(t, SMALL, "none"), *copy;
    struct pw_pe_use_opts rotary = toy_pe("rotary", pw_model_config(m)), none = *pw_model_pe(m);

    must(pw_model_replace_head(m, 1, 0, 2, table(), &err));
    must(pw_model_replace_head(m, 0, 1, 1, NULL, &err));
    logits_of(m, some_tokens(), a);
    must(pw_model_clone(&copy, m, other.ops, other.be, &err));
    logits_of(copy, some_tokens(), b);
    assert_memory_equal(a, b, sizeof a);
    assert_int_equal(pw_model_replaced(copy, 1, 0), 2);
    pw_model_destroy(copy);
    toy_swap(&m, &rotary, 1, false);
    assert_int_equal(pw_model_replaced(m, 1, 0), 2);
    assert_int_equal(pw_model_replaced(m, 0, 1), 1);
    toy_swap(&m, &none, 1, false);
    logits_of(m, some_tokens(), b);
    assert_memory_equal(a, b, sizeof a);
    pw_model_destroy(m);
    toy_close(&other);
}

/* A step that has yielded must continue with the network that it started with, or not at all. */
static void test_a_step_under_way(void **state)
{
    struct pw_batch *b = toy_batch(2, 12, 3, 30, V);
    struct pw_optim o = toy_optim("warmup=0");
    struct pw_step_result r;
    atomic_bool yield = true;
    uint64_t digest[2][2];

    for (int i = 0; i < 2; i++) {
        struct pw_model *m = shaken(*state, SMALL, "t5");
        if (i == 0)
            assert_int_equal(pw_model_step(m, &o, b, &yield, &r, &err), PW_EYIELD);
        must(pw_model_replace_head(m, 0, 0, 1, NULL, &err));
        must(pw_model_step(m, &o, b, NULL, &r, &err));
        pw_model_digest(m, digest[i]);
        pw_model_destroy(m);
    }
    assert_memory_equal(digest[0], digest[1], sizeof *digest);
    toy_batch_free(b);
}

/* ---- patches */

struct run {
    float resid[(L + 1) * T * C], z[L * T * C], logits[T * V];
};

static void patched(struct pw_model *m, struct run *out, const int *tokens, const struct pw_patch *p, int n)
{
    struct pw_inspection in = {
        .resid = out->resid, .z = out->z, .logits = out->logits, .patches = p, .n_patches = n};

    must(pw_model_inspect(m, tokens, T, &in, &err));
}

/* A prompt that differs from some_tokens at every position. */
static const int *other_tokens(void)
{
    static int tokens[CONTEXT];

    for (int i = 0; i < CONTEXT; i++)
        tokens[i] = (some_tokens()[i] + 1 + i % 3) % V;
    return tokens;
}

static void test_patched_streams(void **state)
{
    static struct run clean, corrupt, now;

    for (int e = 0; pw_pes[e] != NULL; e++) {
        struct pw_model *m = shaken(*state, SMALL, pw_pes[e]->name);
        patched(m, &clean, some_tokens(), NULL, 0);
        patched(m, &corrupt, other_tokens(), NULL, 0);
        assert_memory_not_equal(clean.logits, corrupt.logits, sizeof clean.logits);
        for (int l = 0; l <= L; l++) {
            struct pw_patch p = {l, -1, 0, T, clean.resid + l * T * C};
            patched(m, &now, other_tokens(), &p, 1); /* every position: the clean run from this layer on */
            assert_memory_equal(now.logits, clean.logits, sizeof now.logits);
            p.to = 0;
            patched(m, &now, other_tokens(), &p, 1); /* no position */
            assert_memory_equal(now.logits, corrupt.logits, sizeof now.logits);
            p.from = 9;
            p.to = T;
            patched(m, &now, other_tokens(), &p, 1); /* earlier positions don't see the patch */
            assert_memory_equal(now.logits, corrupt.logits, 9 * V * sizeof *now.logits);
            assert_memory_equal(now.resid + (l * T + 9) * C, clean.resid + (l * T + 9) * C,
                                (T - 9) * C * sizeof *now.resid);
            p.from = 4;
            p.to = 5;
            patched(m, &now, other_tokens(), &p, 1);
            bool same = memcmp(now.logits + 5 * V, corrupt.logits + 5 * V, (T - 5) * V * sizeof(float)) == 0;
            assert_int_equal(same, l == L); /* below the last block, others read it */
            if (l == L)
                assert_memory_equal(now.logits + 4 * V, clean.logits + 4 * V, V * sizeof(float));
        }
        pw_model_destroy(m);
    }
}

static void test_patched_heads(void **state)
{
    static struct run clean, corrupt, now;
    static float source[H][T * D];
    struct pw_patch p[H];
    struct pw_model *m = shaken(*state, SMALL, "t5");

    must(pw_model_replace_head(m, 1, 0, 1, NULL, &err)); /* a patch overrides the replacement */
    patched(m, &clean, some_tokens(), NULL, 0);
    patched(m, &corrupt, other_tokens(), NULL, 0);
    for (int h = 0; h < H; h++) {
        for (int t = 0; t < T; t++)
            memcpy(source[h] + t * D, clean.z + (T + t) * C + h * D, D * sizeof(float));
        p[h] = (struct pw_patch){1, h, h == 2 ? 3 : 0, h == 2 ? 8 : T, source[h]};
    }
    memcpy(source[0], table(), sizeof source[0]);
    patched(m, &now, other_tokens(), p, H);
    assert_memory_equal(now.z, corrupt.z, T * C * sizeof *now.z); /* layer 0 */
    for (int t = 0; t < T; t++)
        for (int h = 0; h < H; h++) {
            bool in = t >= p[h].from && t < p[h].to;
            const float *want = in ? source[h] + t * D : corrupt.z + (T + t) * C + h * D;
            assert_memory_equal(now.z + (T + t) * C + h * D, want, D * sizeof *now.z);
        }
    patched(m, &now, other_tokens(), NULL, 0); /* the patch must leave no trace */
    assert_memory_equal(now.logits, corrupt.logits, sizeof now.logits);
    pw_model_destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_z_is_the_table_s),
        cmocka_unit_test(test_zeros_are_zero_columns),
        cmocka_unit_test(test_a_table_is_a_constant),
        cmocka_unit_test(test_every_encoding),
        cmocka_unit_test(test_in_the_middle_of_an_answer),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_copies_and_encodings),
        cmocka_unit_test(test_a_step_under_way),
        cmocka_unit_test(test_patched_streams),
        cmocka_unit_test(test_patched_heads),
    };

    return cmocka_run_group_tests(tests, toy_setup, toy_teardown);
}
