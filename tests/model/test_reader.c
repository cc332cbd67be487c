/* test_reader.c - tests that an inspection by rows has the bits of whole maps and tensors, for any encoding
 * and number of threads, and that it holds no map. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernels/operands.h"
#include "model/attribution.h"
#include "model/decode.h"
#include "ref_toy.h"

#define OPTIONS "layers=2 width=12 heads=3 ffn=10 context=80"

enum { V = 7, L = 2, H = 3, C = 12, D = 4, F = 10, T = 70, MAP = T * T, MAPS = L * H * MAP };

/* The maps that a reader has put together from rows. */
struct reading {
    float *score, *probs, *content; /* [L,H,T,T] */
    int layer, next[H], begun, ended, last;
    bool causal;
};

static bool begin_layer(void *arg, int layer)
{
    struct reading *r = arg;

    assert_int_equal(layer, r->begun++);
    r->layer = layer;
    memset(r->next, 0, sizeof r->next);
    return true;
}

static void read_rows(void *arg, const struct pw_map_rows *rows)
{
    struct reading *r = arg;

    if (rows->query != r->next[rows->head] || rows->n < 1 || rows->n > 16)
        abort(); /* on a worker, where cmocka can't end the test */
    r->next[rows->head] += rows->n;
    for (int i = 0; i < rows->n; i++) {
        int q = rows->query + i, own = r->causal ? q + 1 : T;
        size_t at = (((size_t)r->layer * H + (size_t)rows->head) * T + (size_t)q) * T;
        const float *content = rows->content != NULL ? rows->content : rows->scores;
        if (rows->keys < own || rows->keys > T)
            abort();
        memcpy(r->score + at, rows->scores + (size_t)i * rows->stride, (size_t)own * sizeof(float));
        memcpy(r->probs + at, rows->probs + (size_t)i * rows->stride, (size_t)own * sizeof(float));
        memcpy(r->content + at, content + (size_t)i * rows->stride, (size_t)own * sizeof(float));
    }
}

static bool wants_content(void *arg, int head, int query, int n)
{
    (void)arg;
    (void)head;
    (void)query;
    (void)n;
    return true;
}

static bool end_layer(void *arg, int layer)
{
    struct reading *r = arg;

    for (int h = 0; h < H; h++)
        assert_int_equal(r->next[h], T);
    r->ended++;
    return layer < r->last;
}

static void inspect(struct pw_model *m, const int *tokens, const struct pw_inspection *out)
{
    struct pw_err err = {0};

    if (pw_model_inspect(m, tokens, T, out, &err))
        fail_msg("%s", err.msg);
}

static void check_maps(struct pw_model *m, const int *tokens, bool causal, const char *what)
{
    static float whole[3][MAPS], read[3][MAPS], logits[2][V];
    struct reading r = {.score = read[0], .probs = read[1], .content = read[2], .causal = causal, .last = L};
    struct pw_map_reader reader = {begin_layer, read_rows, wants_content, end_layer, &r};

    for (int i = 0; i < MAPS; i++) {
        int q = i / T % T, k = i % T;
        read[0][i] = read[2][i] = causal && k > q ? -INFINITY : 0;
        read[1][i] = 0;
    }
    inspect(m, tokens,
            &(struct pw_inspection){.score = whole[0],
                                    .probs = whole[1],
                                    .content = whole[2],
                                    .logits = logits[0],
                                    .last_logits = true});
    inspect(m, tokens, &(struct pw_inspection){.reader = &reader, .logits = logits[1], .last_logits = true});
    assert_true(r.begun == L && r.ended == L);
    for (int i = 0; i < 3; i++)
        if (memcmp(whole[i], read[i], sizeof read[i]) != 0)
            fail_msg("%s: array %d of the maps differs", what, i);
    assert_memory_equal(logits[0], logits[1], sizeof logits[0]);
    r.begun = r.ended = r.last = 0;
    inspect(m, tokens, &(struct pw_inspection){.reader = &reader});
    assert_int_equal(r.ended, 1); /* the reader wants no later layer */
}

static void check_row(struct pw_model *m, const int *tokens, int row, const char *what)
{
    static float resid[(L + 1) * T * C], z[L * T * H * D], mlp[L * T * F], logits[T * V];
    float resid1[(L + 1) * C], z1[L * H * D], mlp1[L * F], logits1[V];
    static double part[2][64 * 2], mean[2][64];
    static float lens[2][(L + 1) * V];
    struct pw_inspection whole = {.resid = resid, .z = z, .mlp = mlp, .logits = logits};
    struct pw_inspection one = {
        .resid = resid1, .z = z1, .mlp = mlp1, .logits = logits1, .one_row = true, .row = row};
    struct pw_err err = {0};
    bool same = true;

    inspect(m, tokens, &whole);
    inspect(m, tokens, &one);
    for (int l = 0; l <= L; l++)
        same = same && memcmp(resid1 + l * C, resid + (l * T + row) * C, C * sizeof(float)) == 0;
    for (int l = 0; l < L; l++)
        same = same && memcmp(z1 + l * H * D, z + (l * T + row) * H * D, H * D * sizeof(float)) == 0 &&
               memcmp(mlp1 + l * F, mlp + (l * T + row) * F, F * sizeof(float)) == 0;
    if (!same || memcmp(logits1, logits + row * V, sizeof logits1) != 0)
        fail_msg("%s: row %d differs", what, row);
    for (int i = 0; i < 2; i++) {
        const struct pw_inspection *in = i == 0 ? &whole : &one;
        assert_true(pw_model_parts(m, NULL) <= 64);
        assert_int_equal(
            pw_model_attribute(m, in, tokens, T, row, (const int[]){1, 3}, 2, part[i], mean[i], &err), PW_OK);
        assert_int_equal(pw_model_lens(m, in, T, row, 0, L + 1, lens[i], &err), PW_OK);
    }
    assert_memory_equal(part[0], part[1], sizeof part[0]);
    assert_memory_equal(mean[0], mean[1], sizeof mean[0]);
    assert_memory_equal(lens[0], lens[1], sizeof lens[0]);
}

/* With 70 tokens the workers share the heads. */
static void test_rows(void **state)
{
    (void)state;
    struct pw_batch *b = toy_batch(3, 1, T, T, V);
    for (int threads = 1; threads <= 3; threads++) {
        struct toy toy = toy_open(threads);
        for (int e = 0; pw_pes[e] != NULL; e++)
            for (int causal = pw_pes[e]->needs_mask; causal < 2; causal++) {
                struct pw_model *m =
                    toy_model(&toy, causal ? OPTIONS : OPTIONS " causal=off", pw_pes[e]->name, V, 1);
                check_maps(m, b->tokens, causal, pw_pes[e]->name);
                check_row(m, b->tokens, causal ? T - 1 : 20, pw_pes[e]->name);
                pw_model_destroy(m);
            }
        toy_close(&toy);
    }
    toy_batch_free(b);
}

/* Heads that share keys, a gate, and norms of everything. */
static void test_families(void **state)
{
    static const char *const families[] = {
        " kv_heads=1 gated=on act=silu qk_norm=head", " post_norm=on norm=layernorm bias=on act=gelu",
        " parallel=shared act=gelu embed_norm=on", " norm_at=after norm=layernorm bias=on"};
    struct pw_batch *b = toy_batch(4, 1, T, T, V);
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        char options[160];
        snprintf(options, sizeof options, "%s%s", OPTIONS, families[i]);
        struct pw_model *m = toy_model(*state, options, "rotary", V, 1);
        check_maps(m, b->tokens, true, families[i]);
        check_row(m, b->tokens, 33, families[i]);
        pw_model_destroy(m);
    }
    toy_batch_free(b);
}

/* ---- memory */

static const struct pw_backend_ops *cpu;
static size_t taken; /* bytes that the backend was asked for */

static void *count_alloc(struct pw_backend *be, size_t bytes)
{
    taken += bytes;
    return cpu->alloc(be, bytes);
}

/* Neither an inspection nor an evaluation holds maps of all heads. */
static void test_memory(void **state)
{
    enum { LONG = 512, BYTES = 8 * LONG * LONG * (int)sizeof(float) };
    static const char options[] = "layers=2 width=16 heads=8 ffn=16 context=512";
    struct pw_batch *b = toy_batch(5, 1, LONG, LONG, V);
    struct toy toy = *(struct toy *)*state;
    struct pw_backend_ops ops = *toy.ops;
    struct pw_err err = {0};
    float logits[V];
    int best[LONG];

    cpu = toy.ops;
    ops.alloc = count_alloc;
    toy.ops = &ops;
    struct pw_model *m = toy_model(&toy, options, "rotary", V, 1);
    taken = 0;
    assert_int_equal(pw_model_inspect(m, b->tokens, LONG,
                                      &(struct pw_inspection){.logits = logits, .last_logits = true}, &err),
                     PW_OK);
    assert_int_equal(pw_model_eval(m, b, best, NULL, &err), PW_OK);
    assert_in_range(taken, 1, BYTES / 4);
    pw_model_destroy(m);
    toy_batch_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_families),
        cmocka_unit_test(test_memory),
    };

    return cmocka_run_group_tests(tests, toy_setup, toy_teardown);
}
