/* amx_linear.c - linear layers in bf16 on the matrix unit: precision=bf16.
 *
 * Weights, activations and their gradients are rounded to bf16 where they enter a product; products are
 * summed in float32, and everything around them, the weights themselves included, stays float32. As in
 * linear.c, weights are packed once a step by prepare(), here both ways in bf16; activations are packed as
 * they come. The order of additions is the matrix unit's: determinism class "machine". A row's result still
 * doesn't depend on the other rows. */
#include "kernels/cpu/amx.h"
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/linear.h"
#include "kernels/cpu/simd.h"

enum {
    SIDE = PW_AMX_SIDE,
    LEFT_FLOATS = 192 * 1024,  /* of activations, packed: 768 KiB of the second-level cache */
    RIGHT_FLOATS = 128 * 1024, /* of x, packed, in linear_dw */
};

static int least(int a, int b)
{
    return a < b ? a : b;
}

static int whole(int n, int of)
{
    return (n + of - 1) / of * of;
}

/* [out panels over in], then [in panels over out]: equally large. */
static size_t one_way(int out, int in)
{
    return (size_t)whole(out, SIDE) / SIDE * pw_amx_panel(in);
}

size_t pw_mat_pack_floats_amx(int out, int in)
{
    return 2 * one_way(out, in);
}

static void pack_mat(void *arg, int item, int worker)
{
    const struct pw_mat *m = (const struct pw_mat *)arg + item;
    size_t in = (size_t)m->in;
    float *back = m->pack + one_way(m->out, m->in);
    (void)worker;
    for (int o = 0; o < m->out; o += SIDE) {
        const float *w = m->w + (size_t)o * in;
        int n = least(m->out - o, SIDE);
        pw_amx_pack(m->pack + (size_t)(o / SIDE) * pw_amx_panel(m->in), w, in, n, m->in, PW_RIGHT_ROWS);
        for (int i = 0; i < m->in; i += SIDE) /* while these rows are in the cache */
            pw_amx_pack(back + (size_t)(i / SIDE) * pw_amx_panel(m->out) + (size_t)(o / SIDE) * PW_AMX_BLOCK,
                        w + i, in, least(m->in - i, SIDE), n, PW_RIGHT_COLUMNS);
    }
}

void pw_prepare_amx(struct pw_backend *be, const struct pw_mat *mats, int n)
{
    pw_pool_run(be->pool, n, pack_mat, (void *)mats);
}

/* Left panels of x [R,K], in scratch. */
static const float *pack_rows(struct pw_ctx *c, const float *x, int R, int K)
{
    size_t panel = pw_amx_panel(K);
    float *packed = pw_ctx_scratch(c, (size_t)whole(R, SIDE) / SIDE * panel);
    for (int r = 0; r < R; r += SIDE)
        pw_amx_pack(packed + (size_t)(r / SIDE) * panel, x + (size_t)r * (size_t)K, (size_t)K,
                    least(R - r, SIDE), K, PW_LEFT_ROWS);
    return packed;
}

static void copy(float *dst, size_t to, const float *src, size_t from, int m, int n)
{
    for (int r = 0; r < m; r++, dst += to, src += from)
        for (int i = 0; i < n; i += 16)
            v_store_n(dst + i, n - i, v_load_n(src + i, n - i));
}

/* c [m,n] = from + the product, of up to a block. */
static void product_onto(float *c, const float *from, const float *left, const float *right, int K, int m,
                         int n, size_t ldc)
{
    if (m == SIDE && n == SIDE) {
        pw_amx_product(m, n, K, left, right, c, from, ldc);
    } else { /* by way of a block that is whole */
        float t[SIDE * SIDE] __attribute__((aligned(64))) = {0};
        if (from != NULL)
            copy(t, SIDE, from, ldc, m, n);
        pw_amx_product(m, n, K, left, right, t, from != NULL ? t : NULL, SIDE);
        copy(c, ldc, t, SIDE, m, n);
    }
}

/* Rows whose activations are packed at a time. */
static int block_rows(int K)
{
    int rows = (int)(LEFT_FLOATS / pw_amx_panel(K)) * SIDE;
    return rows > SIDE ? rows : SIDE;
}

void pw_linear_fwd_amx(struct pw_ctx *c, float *y, float *pre, const float *x, const struct pw_mat *m,
                       const float *bias, const float *residual, enum pw_act act, int R)
{
    size_t in = (size_t)m->in, out = (size_t)m->out, panel = pw_amx_panel(m->in);
    bool bare = bias == NULL && pre == NULL && act == PW_ACT_NONE;
    for (int r0 = 0, r1; r0 < R; r0 = r1) {
        r1 = least(R, r0 + block_rows(m->in));
        const float *a = pack_rows(c, x + (size_t)r0 * in, r1 - r0, m->in);
        for (int j = 0; j < m->out; j += SIDE) {
            const float *left = a, *right = m->pack + (size_t)(j / SIDE) * panel;
            for (int r = r0; r < r1; r += SIDE, left += panel) {
                float t[SIDE * SIDE] __attribute__((aligned(64)));
                size_t at = (size_t)r * out + (size_t)j;
                const float *add = residual != NULL ? residual + at : NULL;
                int rows = least(r1 - r, SIDE), n = least(m->out - j, SIDE);
                if (bare) {
                    product_onto(y + at, add, left, right, m->in, rows, n, out);
                    continue;
                }
                pw_amx_product(rows, n, m->in, left, right, t, NULL, SIDE);
                PW_OP(finish_fwd)
                (y + at, pre != NULL ? pre + at : NULL, t, bias != NULL ? bias + j : NULL, add, act, rows,
                 m->out, n);
            }
        }
    }
}

void pw_linear_dx_amx(struct pw_ctx *c, float *dx, const float *dy, const struct pw_mat *m, enum pw_act act,
                      const float *saved, bool add, int R)
{
    size_t in = (size_t)m->in, out = (size_t)m->out, panel = pw_amx_panel(m->out);
    for (int r0 = 0, r1; r0 < R; r0 = r1) {
        r1 = least(R, r0 + block_rows(m->out));
        const float *a = pack_rows(c, dy + (size_t)r0 * out, r1 - r0, m->out);
        for (int i = 0; i < m->in; i += SIDE) {
            const float *left = a, *right = m->pack + one_way(m->out, m->in) + (size_t)(i / SIDE) * panel;
            for (int r = r0; r < r1; r += SIDE, left += panel) {
                float t[SIDE * SIDE] __attribute__((aligned(64)));
                size_t at = (size_t)r * in + (size_t)i;
                int rows = least(r1 - r, SIDE), n = least(m->in - i, SIDE);
                if (act == PW_ACT_NONE) {
                    product_onto(dx + at, add ? dx + at : NULL, left, right, m->out, rows, n, in);
                    continue;
                }
                pw_amx_product(rows, n, m->out, left, right, t, NULL, SIDE);
                PW_OP(finish_dx)(dx + at, t, saved + at, act, add, rows, m->in, n);
            }
        }
    }
}

/* The rows of the next block of dw, which is read and written and seldom in a near cache. */
static void prefetch(const float *to, size_t in)
{
    for (int r = 0; r < SIDE; r++, to += in) {
        __builtin_prefetch(to, 1);
        __builtin_prefetch(to + 16, 1);
    }
}

/* x is packed in so many columns that they stay in the second-level cache; then 32 rows of dw at a time,
 * whose part of dy is packed and stays in the first level. */
void pw_linear_dw_amx(struct pw_ctx *c, float *dw, float *d_bias, const float *dy, const float *x, bool add,
                      int out, int in, int R)
{
    size_t panel = pw_amx_panel(R);
    int most = (int)(RIGHT_FLOATS / (panel + 1) + 1) * SIDE, columns = least(whole(in, SIDE), most);
    float *packed = pw_ctx_scratch(c, panel * (size_t)(columns / SIDE + 1)),
          *left = packed + panel * (size_t)(columns / SIDE);
    for (int i0 = 0, i1; i0 < in; i0 = i1) {
        float *right = packed;
        i1 = least(in, i0 + columns);
        for (int i = i0; i < i1; i += SIDE, right += panel)
            pw_amx_pack(right, x + i, (size_t)in, least(in - i, SIDE), R, PW_RIGHT_COLUMNS);
        for (int o = 0; o < out; o += SIDE) {
            int m = least(out - o, SIDE);
            pw_amx_pack(left, dy + o, (size_t)out, m, R, PW_LEFT_COLUMNS);
            right = packed;
            for (int i = i0; i < i1; i += SIDE, right += panel) {
                float *to = dw + (size_t)o * (size_t)in + i;
                if (m == SIDE && i + 2 * SIDE <= i1)
                    prefetch(to + SIDE, (size_t)in);
                product_onto(to, add ? to : NULL, left, right, R, m, least(in - i, SIDE), (size_t)in);
            }
        }
    }
    if (d_bias != NULL)
        PW_OP(bias_grad)(d_bias, dy, add, R, out);
}
