/* test_reference.c - tests values. Every operation of this machine's default table is compared with
 * ref_double, on shapes with tails, one row, one head and full width. Sentinels follow every output. The
 * references of the backward operations are written-out derivatives; attention is also compared with finite
 * differences. */
#include "tests/ops/ref.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { SEEDS = 16 };

static void compare(const struct ref_case *rc, const struct pw_backend_ops *ops, struct pw_backend *be)
{
    for (; rc->name != NULL; rc++) {
        double worst = 0.0;
        for (uint64_t seed = 100; seed < 100 + SEEDS; seed++)
            worst = fmax(worst, ref_expect_values("this machine", rc, ops, be, &ref_double, seed, 1.0));
        print_message("%-10s worst error %.1e of 1 + |value|, allowed %.0e\n", rc->name, worst,
                      rc->tolerance);
    }
}

static void test_against_double(void **state)
{
    struct pw_err err;
    struct pw_backend *be;
    const struct pw_backend_ops *ops = pw_backend_cpu();
    (void)state;
    assert_int_equal(ops->open(&be, 2, &err), PW_OK);
    compare(ref_cases, ops, be);
    compare(ref_scan_cases, ops, be);
    ops->close(be);
}

/* One sequence with all inputs of attention; relative keys and rotation exclude each other. */
enum { H = 2, D = 6, T = 19, P = 24, C = H * D, REACH = 7, PAIRS = 2 };

struct attend {
    const struct pw_backend_ops *ops;
    struct pw_attn a;
    float *qkv, *z, *save, *dqkv, *d_bias, *d_keys;
    const float *dz;
    const int *pos;
};

static void forward(struct pw_ctx *c, int chunk, int worker, void *arg)
{
    struct attend *k = arg;
    int start[] = {0, T};
    struct pw_seqs one = {1, start, T, T};
    (void)chunk;
    (void)worker;
    k->ops->attention_fwd(c, k->z, k->save, NULL, k->qkv, &k->a, k->pos, &one);
}

static void backward(struct pw_ctx *c, int chunk, int worker, void *arg)
{
    struct attend *k = arg;
    int start[] = {0, T};
    struct pw_seqs one = {1, start, T, T};
    (void)chunk;
    (void)worker;
    k->ops->attention_bwd(c, k->dqkv, k->d_bias, k->d_keys, NULL, k->dz, k->z, k->qkv, k->save, &k->a, k->pos,
                          &one);
}

/* Returns the sum of dz * z; backward must return its gradient. */
static double loss(struct attend *k, struct pw_backend *be)
{
    double sum = 0.0;
    k->ops->for_chunks(be, 1, forward, k);
    for (int i = 0; i < T * C; i++)
        sum += (double)k->z[i] * (double)k->dz[i];
    return sum;
}

static void test_attention_by_differences(void **state)
{
    struct pw_err err;
    struct pw_backend *be;
    const struct pw_backend_ops *ops = pw_backend_cpu();
    uint64_t s = 3;
    int start[] = {0, T}, pos[T];
    const size_t nq = T * 3 * C, nk = (2 * REACH + 1) * D;
    (void)state;
    assert_int_equal(ops->open(&be, 1, &err), PW_OK);
    for (int kind = 0; kind < 8; kind++) {
        bool causal = kind % 2, turned = kind / 2 % 2, dense = kind / 4;
        const size_t nb = H * pw_bias_entries(dense, P);
        float *qkv = ref_random(&s, nq, 1.0f), *bias = ref_random(&s, nb, 1.0f);
        float *z = ref_random(&s, T * C, 1.0f), *dz = ref_random(&s, T * C, 1.0f);
        float *save = ref_random(&s, ops->attn_save_floats(&(struct pw_attn){.heads = H}, start, 1), 1.0f);
        float *dqkv = ref_random(&s, nq, 1.0f), *db = ref_random(&s, nb, 0.0f);
        float *keys = ref_random(&s, nk, 1.0f), *dk = ref_random(&s, nk, 0.0f), angles[2 * P * PAIRS],
              gain[H * P];
        struct pw_turn turn = {angles,
                               angles + P * PAIRS,
                               0,
                               PAIRS,
                               causal ? PW_PAIRING_HALF : PW_PAIRING_INTERLEAVED,
                               causal ? gain : NULL,
                               dense ? P : 0,
                               false};
        for (int i = 0; i < P * PAIRS; i++) {
            angles[i] = cosf((float)i);
            angles[P * PAIRS + i] = sinf((float)i);
        }
        for (int i = 0; i < T; i++)
            pos[i] = i;
        for (int i = 0; i < H * P; i++)
            gain[i] = 1 + 0.1f * (float)i;
        struct pw_attn a = {.heads = H,
                            .head_width = D,
                            .scale = 0.4f,
                            .causal = causal,
                            .bias = bias,
                            .table = P,
                            .dense = dense,
                            .keys = turned ? NULL : keys,
                            .reach = REACH};
        a.turn = turned ? &turn : NULL;
        struct attend k = {ops, a, qkv, z, save, dqkv, db, turned ? NULL : dk, dz, pos};
        const struct {
            float *x, *d;
            size_t n;
        } parts[] = {{qkv, dqkv, nq}, {bias, db, nb}, {keys, dk, (size_t)(pw_key_rows(&k.a) * D)}};
        loss(&k, be);
        ops->for_chunks(be, 1, backward, &k);
        for (int part = 0; part < (turned ? 2 : 3); part++)
            for (size_t i = 0; i < parts[part].n; i += 7) {
                float *x = parts[part].x + i, old = *x, h = 0x1p-6f;
                *x = old + h;
                double up = loss(&k, be), width = (double)*x;
                *x = old - h;
                double down = loss(&k, be);
                width -= (double)*x;
                *x = old;
                /* error h^2, and rounding / h */
                assert_true(fabs((up - down) / width - (double)parts[part].d[i]) < 2e-3);
            }
        free(keys);
        free(dk);
        free(qkv);
        free(bias);
        free(z);
        free(dz);
        free(save);
        free(dqkv);
        free(db);
    }
    ops->close(be);
}

/* FIRE: the loss is the sum of weights * bias, so d_bias = weights. */
struct net {
    const struct pw_backend_ops *ops;
    struct pw_fire f;
    float *param, *bias, *d_param, *d_bias;
};

static void make_bias(struct pw_ctx *c, int chunk, int worker, void *arg)
{
    struct net *k = arg;
    (void)chunk;
    (void)worker;
    k->ops->fire_fwd(c, k->bias, k->param, &k->f, H, P);
}

static void learn_bias(struct pw_ctx *c, int chunk, int worker, void *arg)
{
    struct net *k = arg;
    (void)chunk;
    (void)worker;
    k->ops->fire_bwd(c, k->d_param, k->d_bias, k->param, &k->f, 1, H, P);
}

static double weighted(struct net *k, struct pw_backend *be, const float *weights)
{
    double sum = 0;
    k->ops->for_chunks(be, 1, make_bias, k);
    for (int i = 0; i < H * P * P; i++)
        sum += (double)k->bias[i] * (double)weights[i];
    return sum;
}

/* All signs of c and of the threshold's factor. Each hidden unit is on for all pairs or off for all pairs:
 * finite differences fail across a kink. */
static void test_fire_by_differences(void **state)
{
    enum { K = 5 };
    struct pw_err err;
    struct pw_backend *be;
    const struct pw_backend_ops *ops = pw_backend_cpu();
    size_t n = pw_fire_floats(K, H);
    uint64_t s = 29;
    (void)state;
    assert_int_equal(ops->open(&be, 1, &err), PW_OK);
    for (int kind = 0; kind < 8; kind++) {
        struct pw_fire f = {K, 9.5f, kind % 2 ? 0 : 3, kind % 2 ? 1 : 0.7f, kind < 4};
        float *weights = ref_random(&s, H * P * P, 0.3f);
        struct net k = {ops,
                        f,
                        ref_random(&s, n, 0.5f),
                        ref_random(&s, H * P * P, 1.0f),
                        ref_random(&s, n, 0.0f),
                        ref_random(&s, H * P * P, 0.0f)};
        memcpy(k.d_bias, weights, H * P * P * sizeof(float));
        k.param[0] = kind / 2 % 2 ? -0.3f : 0.2f;
        k.param[1] = kind / 2 % 2 ? 1.3f : -0.9f;
        for (int u = 0; u < K; u++) {
            k.param[2 + u] = copysignf(k.param[2 + u], u % 3 ? 1 : -1);
            k.param[2 + K + u] = copysignf(k.param[2 + K + u], u % 3 ? 1 : -1);
        }
        ops->for_chunks(be, 1, learn_bias, &k);
        for (size_t i = 0; i < n; i++) {
            float *x = k.param + i, old = *x, h = 0x1p-9f;
            *x = old + h;
            double up = weighted(&k, be, weights), width = (double)*x;
            *x = old - h;
            double down = weighted(&k, be, weights);
            width -= (double)*x;
            *x = old;
            double got = (up - down) / width;
            assert_true(fabs(got - (double)k.d_param[i]) < 2e-3 * (1 + fabs(got)));
        }
        free(weights);
        free(k.param);
        free(k.bias);
        free(k.d_param);
        free(k.d_bias);
    }
    ops->close(be);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_double),
        cmocka_unit_test(test_attention_by_differences),
        cmocka_unit_test(test_fire_by_differences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
