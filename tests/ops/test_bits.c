/* test_bits.c - tests the bits of determinism class "portable". Every instruction set of this machine must
 * give the bits of ref_plain, independent of threads, chunks and later positions. */
#include "tests/ops/ref.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const char *const isas[] = {"scalar", "avx2", "avx512"};
enum { N_ISAS = 3, SEEDS = 40 };

/* Opens the backend with an instruction set. Returns false if this machine lacks it. */
static bool open_isa(const char *isa, int threads, const struct pw_backend_ops **ops, struct pw_backend **be)
{
    struct pw_err err;
    setenv("PEWTER_ISA", isa, 1);
    *ops = pw_backend_cpu();
    enum pw_code code = (*ops)->open(be, threads, &err);
    unsetenv("PEWTER_ISA");
    if (code == PW_OK)
        assert_non_null(strstr((*ops)->device(*be), isa));
    else
        assert_int_equal(code, PW_EUSER); /* refused with an error, not a crash */
    return code == PW_OK;
}

/* Compares one table with the reference on cases. */
static void compare(const char *what, const struct ref_case *rc, const struct pw_backend_ops *ops,
                    struct pw_backend *be, int seeds)
{
    for (; rc->name != NULL; rc++)
        for (uint64_t seed = 1; seed <= (uint64_t)seeds; seed++)
            ref_expect_bits(what, rc, ops, be, seed);
}

static void test_instruction_sets(void **state)
{
    int ran = 0;
    (void)state;
    for (int i = 0; i < N_ISAS; i++) {
        const struct pw_backend_ops *ops;
        struct pw_backend *be;
        if (!open_isa(isas[i], 1, &ops, &be))
            continue;
        compare(isas[i], ref_cases, ops, be, SEEDS);
        compare(isas[i], ref_scan_cases, ops, be, SEEDS);
        ops->close(be);
        ran++;
    }
    assert_true(ran >= 1);
}

static void test_unknown_isa_is_refused(void **state)
{
    struct pw_err err;
    struct pw_backend *be;
    (void)state;
    setenv("PEWTER_ISA", "mmx", 1);
    const struct pw_backend_ops *ops = pw_backend_cpu();
    assert_int_equal(ops->open(&be, 1, &err), PW_EUSER);
    unsetenv("PEWTER_ISA");
    assert_non_null(strstr(err.msg, "PEWTER_ISA=mmx"));
    assert_non_null(strstr(err.msg, "scalar"));
}

/* The default table on several threads: reduce, adamw and prepare split their work; for_chunks distributes
 * its chunks. */
static void test_threads(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 8; threads = threads == 3 ? 8 : threads + 1) {
        struct pw_err err;
        struct pw_backend *be;
        const struct pw_backend_ops *ops = pw_backend_cpu();
        assert_int_equal(ops->open(&be, threads, &err), PW_OK);
        assert_int_equal(ops->workers(be), threads);
        compare("several threads", ref_cases, ops, be, 4);
        compare("several threads", ref_scan_cases, ops, be, 4);
        ops->close(be);
    }
}

struct chunked {
    const struct pw_backend_ops *ops;
    float *y;       /* [CHUNKS, N] */
    const float *x; /* [CHUNKS, N] */
    int ran[64];
};
enum { CHUNKS = 64, N = 300 };

static void softmax_chunk(struct pw_ctx *c, int chunk, int worker, void *arg)
{
    struct chunked *k = arg;
    (void)worker;
    k->ran[chunk]++;
    k->ops->softmax(c, k->y + chunk * N, k->x + chunk * N, 1.0f, N / 100, 100);
}

static void test_for_chunks_runs_each_once(void **state)
{
    (void)state;
    uint64_t s = 5;
    float *x = ref_random(&s, CHUNKS * N, 1.0f), *want = malloc(CHUNKS * N * sizeof(float));
    float *y = malloc(CHUNKS * N * sizeof(float));
    ref_plain.softmax(NULL, want, x, 1.0f, CHUNKS * N / 100, 100);
    for (int threads = 1; threads <= 8; threads = threads == 3 ? 8 : threads + 1) {
        struct pw_err err;
        struct pw_backend *be;
        const struct pw_backend_ops *ops = pw_backend_cpu();
        struct chunked k = {ops, y, x, {0}};
        assert_int_equal(ops->open(&be, threads, &err), PW_OK);
        memset(y, 0, CHUNKS * N * sizeof(float));
        ops->for_chunks(be, CHUNKS, softmax_chunk, &k);
        for (int i = 0; i < CHUNKS; i++)
            assert_int_equal(k.ran[i], 1);
        assert_memory_equal(y, want, CHUNKS * N * sizeof(float));
        ops->close(be);
    }
    free(x);
    free(want);
    free(y);
}

struct split {
    const struct pw_backend_ops *ops;
    float *whole, *parts, *whole_bias, *parts_bias;
    const float *dy, *x;
};
enum { OUT = 45, IN = 70, ROWS = 90 };

static void dw_both_ways(struct pw_ctx *c, int chunk, int worker, void *arg)
{
    struct split *k = arg;
    static const int cuts[] = {0, 1, 20, 33, 34, 81, ROWS};
    (void)chunk;
    (void)worker;
    k->ops->linear_dw(c, k->whole, k->whole_bias, k->dy, k->x, false, OUT, IN, ROWS);
    for (size_t i = 0; i + 1 < sizeof cuts / sizeof *cuts; i++)
        k->ops->linear_dw(c, k->parts, k->parts_bias, k->dy + cuts[i] * OUT, k->x + cuts[i] * IN, i > 0, OUT,
                          IN, cuts[i + 1] - cuts[i]);
}

static void test_dw_over_chunks_is_one_chain(void **state)
{
    (void)state;
    for (int i = 0; i < N_ISAS; i++) {
        const struct pw_backend_ops *ops;
        struct pw_backend *be;
        uint64_t s = 9;
        if (!open_isa(isas[i], 1, &ops, &be))
            continue;
        float *dy = ref_random(&s, OUT * ROWS, 1.0f), *x = ref_random(&s, IN * ROWS, 1.0f);
        struct split k = {ops, ref_random(&s, OUT * IN, 1.0f), NULL, ref_random(&s, OUT, 1.0f), NULL, dy, x};
        k.parts = malloc(OUT * IN * sizeof(float));
        k.parts_bias = malloc(OUT * sizeof(float));
        memcpy(k.parts, k.whole, OUT * IN * sizeof(float));
        memcpy(k.parts_bias, k.whole_bias, OUT * sizeof(float));
        ops->for_chunks(be, 1, dw_both_ways, &k);
        assert_memory_equal(k.whole, k.parts, OUT * IN * sizeof(float));
        assert_memory_equal(k.whole_bias, k.parts_bias, OUT * sizeof(float));
        free(dy);
        free(x);
        free(k.whole);
        free(k.parts);
        free(k.whole_bias);
        free(k.parts_bias);
        ops->close(be);
    }
}

struct prefix {
    const struct pw_backend_ops *ops;
    struct pw_attn a;
    const float *qkv;
    const int *pos;
    float *z, *save;
    int T;
};

static void attend(struct pw_ctx *c, int chunk, int worker, void *arg)
{
    struct prefix *k = arg;
    int start[] = {0, k->T};
    struct pw_seqs one = {1, start, k->T, k->T};
    (void)chunk;
    (void)worker;
    k->ops->attention_fwd(c, k->z, k->save, NULL, k->qkv, &k->a, k->pos, &one);
}

/* Position t must give the same bits for any number of later positions, with either kind of bias and with
 * relative keys. */
static void test_attention_of_a_prefix(void **state)
{
    enum { T = 50, H = 3, D = 10, C = H * D, P = 64 };
    (void)state;
    for (int i = 0; i < 2 * N_ISAS; i++) {
        const struct pw_backend_ops *ops;
        struct pw_backend *be;
        uint64_t s = 11;
        int pos[T];
        bool dense = i % 2;
        if (!open_isa(isas[i / 2], 1, &ops, &be))
            continue;
        for (int t = 0; t < T; t++)
            pos[t] = t;
        float *qkv = ref_random(&s, T * 3 * C, 1.0f);
        float *bias = ref_random(&s, H * pw_bias_entries(dense, P), 1.0f);
        float *keys = ref_random(&s, 10 * D, 1.0f);
        float *all = malloc(T * C * sizeof(float)), *z = malloc(T * C * sizeof(float));
        float *save = malloc(H * T * 64 * sizeof(float));
        struct prefix k = {ops,
                           {.heads = H,
                            .head_width = D,
                            .scale = 0.3f,
                            .causal = true,
                            .bias = bias,
                            .table = P,
                            .dense = dense,
                            .keys = keys,
                            .reach = 9},
                           qkv,
                           pos,
                           all,
                           save,
                           T};
        ops->for_chunks(be, 1, attend, &k);
        k.z = z;
        for (k.T = 1; k.T < T; k.T++) {
            ops->for_chunks(be, 1, attend, &k);
            assert_memory_equal(z, all, (size_t)k.T * C * sizeof(float));
        }
        free(qkv);
        free(bias);
        free(keys);
        free(all);
        free(z);
        free(save);
        ops->close(be);
    }
}

struct cached {
    struct prefix whole;
    float *cache;
};

static void attend_cached(struct pw_ctx *c, int chunk, int worker, void *arg)
{
    struct cached *k = arg;
    const struct prefix *w = &k->whole;
    int C = w->a.heads * w->a.head_width;
    (void)chunk;
    (void)worker;
    for (int t = 0, R; t < w->T; t += R) { /* 1, 2, 1, 20, 1, 1, ... */
        R = t == 1 ? 2 : t == 4 ? 20 : 1;
        w->ops->attention_cached(c, w->z + t * C, k->cache, w->qkv + t * 3 * C, &w->a, w->pos, 64, t, R);
    }
}

/* Cached keys and values must give the bits of the whole sequence: with either kind of bias or none, with
 * relative keys or rotation. */
static void test_attention_with_a_cache(void **state)
{
    enum { T = 50, H = 3, D = 10, C = H * D, P = 64, PAIRS = 4 };
    (void)state;
    for (int i = 0; i < 6 * N_ISAS; i++) {
        const struct pw_backend_ops *ops;
        struct pw_backend *be;
        uint64_t s = 13;
        int pos[T];
        if (!open_isa(isas[i / 6], 1, &ops, &be))
            continue;
        for (int t = 0; t < T; t++)
            pos[t] = t;
        bool keyed = i / 3 % 2, dense = i % 3 == 2;
        float *qkv = ref_random(&s, T * 3 * C, 1.0f);
        float *bias = ref_random(&s, H * pw_bias_entries(dense, P), 1.0f);
        float *keys = ref_random(&s, 10 * D, 1.0f), *angles = ref_random(&s, 2 * P * PAIRS, 1.0f);
        float *all = malloc(T * C * sizeof(float)), *z = malloc(T * C * sizeof(float));
        float *save = malloc(H * T * 64 * sizeof(float));
        float *cache = ref_random(&s, ops->attn_cache_floats(H, D, 64), 1.0f);
        struct pw_turn turn = {angles, angles + P * PAIRS, 0, PAIRS, PW_PAIRING_HALF, angles, 0, false};
        struct pw_attn a = {.heads = H,
                            .head_width = D,
                            .scale = 0.3f,
                            .causal = true,
                            .bias = i % 3 ? bias : NULL,
                            .table = P,
                            .dense = dense,
                            .reach = 9};
        a.keys = keyed ? keys : NULL;
        a.turn = keyed ? NULL : &turn;
        struct cached k = {{ops, a, qkv, pos, all, save, T}, cache};
        ops->for_chunks(be, 1, attend, &k.whole);
        k.whole.z = z;
        ops->for_chunks(be, 1, attend_cached, &k);
        assert_memory_equal(z, all, T * C * sizeof(float));
        free(qkv);
        free(bias);
        free(keys);
        free(angles);
        free(all);
        free(z);
        free(save);
        free(cache);
        ops->close(be);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_instruction_sets),
        cmocka_unit_test(test_unknown_isa_is_refused),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_for_chunks_runs_each_once),
        cmocka_unit_test(test_dw_over_chunks_is_one_chain),
        cmocka_unit_test(test_attention_of_a_prefix),
        cmocka_unit_test(test_attention_with_a_cache),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
