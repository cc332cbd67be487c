/* test_kernel.c - compares scores by distance with sums in double precision over all pairs. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/kernel.h"
#include "ref_toy.h"

enum { L = 2, C = 16, H = 2, D = 8, N = 14, VOCAB = 7, MOST = 11, SAMPLES = 5 };

static struct pw_model *model(struct toy *t, const char *options, const char *pe)
{
    char all[128];

    snprintf(all, sizeof all, "layers=2 width=16 heads=2 context=24 %s", options);
    struct pw_model *m = toy_model(t, all, pe, VOCAB, 3);
    toy_shake(m, 5);
    return m;
}

struct measured {
    float kernel[H * N], score[H * N], parts[H * D];
};

static struct measured measure(struct pw_model *m, int layer, const struct pw_batch *b)
{
    struct measured out;
    struct pw_kernel k = {layer, N, out.kernel, out.score, out.parts};
    struct pw_err err = {0};

    if (pw_kernel_measure(&k, m, b, &err))
        fail_msg("%s", err.msg);
    return out;
}

static void close_to(double got, double want, const char *what, int h, int d)
{
    if (!(fabs(got - want) <= 2e-5 * (1 + fabs(want))))
        fail_msg("%s of head %d at distance %d: %.9g, not %.9g", what, h, d, got, want);
}

/* One forward pass, with all values that the sums below need. */
struct pass {
    float score[L * H * MOST * MOST], q[L * MOST * H * D], k[L * MOST * H * D], resid[(L + 1) * MOST * C];
    int T;
};

static void inspect(struct pass *p, struct pw_model *m, const struct pw_batch *b, int s)
{
    struct pw_inspection in = {.score = p->score, .q = p->q, .k = p->k, .resid = p->resid};
    struct pw_err err = {0};

    p->T = b->start[s + 1] - b->start[s];
    assert_int_equal(pw_model_inspect(m, b->tokens + b->start[s], p->T, &in, &err), PW_OK);
}

/* The mean score must equal that of inspection, for any encoding. */
static void mean_scores(void **state)
{
    (void)state;
    static const char *const encodings[] = {"none",       "t5",  "alibi",   "rotary dims=4",  "learned",
                                            "sinusoidal", "dpe", "clipped", "shaw distance=3"};
    struct toy t = toy_open(1);
    struct pw_batch *b = toy_batch(2, SAMPLES, 3, MOST, VOCAB);
    static struct pass p;

    for (int e = 0; e < 9; e++) {
        struct pw_model *m = model(&t, "scale=on", encodings[e]);
        for (int layer = 0; layer < L; layer++) {
            struct measured got = measure(m, layer, b);
            double sum[H * N] = {0}, n[N] = {0};
            for (int s = 0; s < SAMPLES; s++) {
                inspect(&p, m, b, s);
                for (int h = 0; h < H; h++)
                    for (int i = 0; i < p.T; i++)
                        for (int j = 0; j <= i; j++) {
                            sum[h * N + i - j] += p.score[((layer * H + h) * p.T + i) * p.T + j];
                            n[i - j] += h == 0;
                        }
            }
            for (int h = 0; h < H; h++)
                for (int d = 0; d < N; d++)
                    if (n[d] > 0)
                        close_to((double)got.score[h * N + d], sum[h * N + d] / n[d], encodings[e], h, d);
                    else
                        assert_true(isnan(got.score[h * N + d]));
            assert_true(n[MOST - 4] > 0 && n[MOST] == 0);
        }
        pw_model_destroy(m);
    }
    toy_batch_free(b);
    toy_close(&t);
}

static void a_bias_is_its_own_kernel(void **state)
{
    (void)state;
    struct toy t = toy_open(1);
    struct pw_batch *b = toy_batch(2, SAMPLES, 3, MOST, VOCAB);
    struct pw_model *m = model(&t, "", "alibi");
    struct measured got = measure(m, 1, b);

    for (int h = 0; h < H; h++)
        for (int d = 0; d < N; d++)
            assert_true(got.kernel[h * N + d] == (float)(-pw_alibi_slope(h, H) * d));
    pw_model_destroy(m);
    toy_batch_free(b);
    toy_close(&t);
}

/* For every pair of a query and a key, the rotation is undone and replaced by that of distance d; then the
 * products are summed directly. */
static void a_rotation_s_kernel(void **state)
{
    (void)state;
    static const char *const encodings[] = {"rotary pairing=half", "rotary dims=4 pairing=interleaved"};
    struct toy t = toy_open(1);
    struct pw_batch *b = toy_batch(2, SAMPLES, 3, MOST, VOCAB);
    static struct pass p;

    for (int e = 0; e < 2; e++) {
        struct pw_model *m = model(&t, "scale=on", encodings[e]);
        struct measured got = measure(m, 1, b);
        int dims = e == 0 ? D : 4, pairs = dims / 2;
        double sum[H * N] = {0}, n = 0, first[H] = {0};
        for (int s = 0; s < SAMPLES; s++) {
            inspect(&p, m, b, s);
            for (int i = 0; i < p.T; i++)
                for (int j = 0; j <= i; j++, n++)
                    for (int h = 0; h < H; h++) {
                        const float *q = p.q + ((p.T + i) * H + h) * D, *k = p.k + ((p.T + j) * H + h) * D;
                        for (int d = 0; d < N; d++) {
                            for (int f = 0; f < pairs; f++) {
                                int x = e == 0 ? f : 2 * f, y = e == 0 ? f + pairs : 2 * f + 1;
                                /* from the angle of i - j to that of d */
                                double a = (d - (i - j)) * pw_rotary_frequency(f, dims, 10000);
                                double same = (double)q[x] * (double)k[x] + (double)q[y] * (double)k[y];
                                double cross = (double)q[x] * (double)k[y] - (double)q[y] * (double)k[x];
                                sum[h * N + d] += same * cos(a) + cross * sin(a);
                                first[h] += d == 0 && f == 0 ? same * cos(a) + cross * sin(a) : 0;
                            }
                            for (int r = dims; r < D; r++)
                                sum[h * N + d] += (double)q[r] * (double)k[r];
                        }
                    }
        }
        for (int h = 0; h < H; h++) {
            close_to((double)got.parts[2 * h * pairs], first[h] / n, "part", h, 0);
            for (int d = 0; d < N; d++)
                close_to((double)got.kernel[h * N + d], sum[h * N + d] / n / sqrt(D), encodings[e], h, d);
        }
        pw_model_destroy(m);
    }
    toy_batch_free(b);
    toy_close(&t);
}

static const float *find(const struct pw_model *m, const float *all, const char *name)
{
    int n;
    const struct pw_param *p = pw_model_params(m, &n);

    for (int i = 0; i < n; i++)
        if (strcmp(p[i].name, name) == 0)
            return all + p[i].offset;
    return NULL;
}

/* Every query with the relative key of every distance, with and without the causal mask. */
static void relative_keys_kernel(void **state)
{
    enum { REACH = 4, LAYER = 1 };
    (void)state;
    struct toy t = toy_open(1);
    struct pw_batch *b = toy_batch(2, SAMPLES, 3, MOST, VOCAB);
    static struct pass p;

    for (int causal = 0; causal < 2; causal++) {
        struct pw_model *m = model(&t, causal ? "scale=on" : "causal=off", "shaw distance=4");
        struct measured got = measure(m, LAYER, b);
        float *all = malloc(pw_model_size(m) * sizeof *all);
        int rows = causal ? REACH + 1 : 2 * REACH + 1, n = 0;
        double sum[H * N] = {0}, scale = pw_model_config(m)->scale ? 1 / sqrt(D) : 1;
        assert_non_null(all);
        pw_model_get(m, all, NULL, NULL);
        const float *keys = find(m, all, "pe.keys") + LAYER * rows * D;
        for (int s = 0; s < SAMPLES; s++) {
            inspect(&p, m, b, s);
            for (int i = 0; i < p.T; i++, n++)
                for (int at = 0; at < H * N * D; at++) {
                    int h = at / D / N, d = at / D % N, row = (d < REACH ? d : REACH) + (causal ? 0 : REACH);
                    sum[at / D] += (double)p.q[((LAYER * p.T + i) * H + h) * D + at % D] *
                                   (double)keys[row * D + at % D];
                }
        }
        for (int h = 0; h < H; h++)
            for (int d = 0; d < N; d++)
                close_to((double)got.kernel[h * N + d], scale * sum[h * N + d] / n, "shaw", h, d);
        free(all);
        pw_model_destroy(m);
    }
    toy_batch_free(b);
    toy_close(&t);
}

/* Samples as long as the table: scale r_i r_j (Wq g p_i).(Wk g p_j), with the norm's factors from the
 * residual stream. All samples have the same tokens, so that mean factors equal the factors. */
static void added_rows_kernel(void **state)
{
    (void)state;
    static const char *const norms[] = {"norm=rmsnorm", "norm=layernorm", "norm=none",
                                        "norm=none kv_heads=1",          /* all heads share a key */
                                        "norm=layernorm norm_at=after"}; /* norm1 is no norm of the rows */
    struct toy t = toy_open(1);
    int tokens[2 * N], start[3] = {0, N, 2 * N};
    struct pw_batch b = {.n_seqs = 2, .n_rows = 2 * N, .start = start, .tokens = tokens};

    for (int i = 0; i < 2 * N; i++)
        tokens[i] = i % N * 5 % VOCAB;
    for (int e = 0; e < 5; e++) {
        struct pw_model *m = model(&t, norms[e], "learned");
        struct pw_err err = {0};
        float *all = malloc(pw_model_size(m) * sizeof *all), resid[(L + 1) * N * C];
        struct pw_inspection in = {.resid = resid};
        double x[N][C], sum[H * N] = {0};
        assert_non_null(all);
        pw_model_get(m, all, NULL, NULL);
        assert_int_equal(pw_model_inspect(m, tokens, N, &in, &err), PW_OK);
        const float *g = e < 2 ? find(m, all, "layers.0.norm1.weight") : NULL,
                    *table = find(m, all, "pe.table");
        const float *wq = find(m, all, "layers.0.attn.q.weight"),
                    *wk = find(m, all, "layers.0.attn.k.weight");
        for (int i = 0; i < N; i++) {
            double mean = 0, centre = 0, sq = 0;
            for (int c = 0; c < C; c++) {
                mean += e == 1 ? (double)resid[i * C + c] / C : 0;
                centre += e == 1 ? (double)table[i * C + c] / C : 0;
            }
            for (int c = 0; c < C; c++)
                sq += pow((double)resid[i * C + c] - mean, 2) / C;
            for (int c = 0; c < C; c++)
                x[i][c] = ((double)table[i * C + c] - centre) * (g != NULL ? (double)g[c] : 1) /
                          (e >= 2 ? 1 : sqrt(sq + (e == 1 ? 1e-5 : 1e-6)));
        }
        for (int h = 0; h < H; h++)
            for (int i = 0; i < N; i++)
                for (int j = 0; j <= i; j++)
                    for (int o = h * D; o < (h + 1) * D; o++) {
                        double q = 0, k = 0;
                        for (int c = 0; c < C; c++) {
                            q += (double)wq[o * C + c] * x[i][c];
                            k += (double)wk[(e == 3 ? o % D : o) * C + c] * x[j][c];
                        }
                        sum[h * N + i - j] += q * k;
                    }
        struct measured got = measure(m, 0, &b);
        double scale = pw_model_config(m)->scale ? 1 / sqrt(D) : 1;
        for (int h = 0; h < H; h++)
            for (int d = 0; d < N; d++)
                close_to((double)got.kernel[h * N + d], scale * sum[h * N + d] / (N - d), norms[e], h, d);
        free(all);
        pw_model_destroy(m);
    }
    toy_close(&t);
}

static void what_has_no_part_of_its_own_has_no_kernel(void **state)
{
    (void)state;
    struct pw_config cfg = toy_config("", 3);
    assert_false(pw_kernel_has(&cfg, pw_pe_find("none"), 0));
    assert_true(pw_kernel_has(&cfg, pw_pe_find("learned"), 0));
    assert_false(pw_kernel_has(&cfg, pw_pe_find("learned"), 1));
    assert_true(pw_kernel_has(&cfg, pw_pe_find("rotary"), 1));
    assert_true(pw_kernel_has(&cfg, pw_pe_find("t5"), 1));
    assert_true(pw_kernel_has(&cfg, pw_pe_find("shaw"), 1));
    cfg = toy_config("qk_norm=head", 3); /* a norm between the added rows and the scores */
    assert_false(pw_kernel_has(&cfg, pw_pe_find("learned"), 0));
    assert_true(pw_kernel_has(&cfg, pw_pe_find("rotary"), 0));
    cfg = toy_config("embed_norm=on", 3);
    assert_false(pw_kernel_has(&cfg, pw_pe_find("learned"), 0));
    cfg = toy_config("qkv_clip=2", 3); /* a limit between them */
    assert_false(pw_kernel_has(&cfg, pw_pe_find("learned"), 0));
}

/* Of an encoding that reads the tokens, the kernel is the mean of its part of the scores. */
static void tokens_have_a_mean_part(void **state)
{
    static const char *const pes[] = {"fox open=1", "inkling reach=4 alpha=0.5 floor=3"};
    static float bias[L * H * MOST * MOST];
    (void)state;
    struct toy t = toy_open(1);
    struct pw_batch *b = toy_batch(2, SAMPLES, 3, MOST, VOCAB);
    for (int e = 0; e < 2; e++)
        for (int layer = 0; layer < L; layer++) {
            struct pw_model *m = model(&t, "", pes[e]);
            struct measured got = measure(m, layer, b);
            double sum[H * N] = {0}, n[N] = {0};
            struct pw_err err = {0};
            for (int s = 0; s < SAMPLES; s++) {
                int T = b->start[s + 1] - b->start[s];
                struct pw_inspection in = {.bias = bias};
                assert_int_equal(pw_model_inspect(m, b->tokens + b->start[s], T, &in, &err), PW_OK);
                for (int i = 0; i < H * T * T; i++) {
                    int h = i / (T * T), d = i / T % T - i % T;
                    sum[h * N + (d > 0 ? d : 0)] += d >= 0 ? (double)bias[layer * H * T * T + i] : 0;
                    n[d > 0 ? d : 0] += d >= 0 && h == 0;
                }
            }
            for (int i = 0; i < H * N; i++)
                if (n[i % N] > 0)
                    close_to((double)got.kernel[i], sum[i] / n[i % N], pes[e], i / N, i % N);
                else
                    assert_true(isnan(got.kernel[i]) && isnan(got.score[i]));
            assert_true(fabsf(got.score[1] - got.kernel[1]) > 1e-4f); /* that of the content */
            pw_model_destroy(m);
        }
    toy_batch_free(b);
    toy_close(&t);
}

/* Measuring must not change a bit of the following training. */
static void measuring_changes_no_bit(void **state)
{
    (void)state;
    struct toy t = toy_open(2);
    struct pw_optim o = toy_optim("lr=0.01 warmup=0");
    struct pw_batch *b = toy_batch(2, SAMPLES, 3, MOST, VOCAB);
    uint64_t digest[2][2];

    for (int look = 0; look < 2; look++) {
        struct pw_model *m = model(&t, "", "rotary");
        struct pw_step_result r;
        struct pw_err err = {0};
        for (int i = 0; i < 4; i++) {
            assert_int_equal(pw_model_step(m, &o, b, NULL, &r, &err), PW_OK);
            if (look)
                measure(m, 1, b);
        }
        pw_model_digest(m, digest[look]);
        pw_model_destroy(m);
    }
    assert_memory_equal(digest[0], digest[1], sizeof digest[0]);
    toy_batch_free(b);
    toy_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mean_scores),
        cmocka_unit_test(a_bias_is_its_own_kernel),
        cmocka_unit_test(a_rotation_s_kernel),
        cmocka_unit_test(relative_keys_kernel),
        cmocka_unit_test(added_rows_kernel),
        cmocka_unit_test(what_has_no_part_of_its_own_has_no_kernel),
        cmocka_unit_test(tokens_have_a_mean_part),
        cmocka_unit_test(measuring_changes_no_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
