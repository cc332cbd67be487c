/* linear.c - linear layers: the forward pass, and the gradients of input and weights.
 *
 * prepare() copies every weight matrix into zero-padded panels of 32 columns, once per step: W^T for the
 * forward pass and, where models train, W for the gradient of the input. The epilogue (bias, activation,
 * residual) is applied to a block of the product that is still in the first-level cache. */
#include "kernels/cpu/linear.h"
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/gemm.h"
#include "kernels/cpu/stored.h"
#include "kernels/cpu/vmath.h"
#include <string.h>

enum {
    ROWS = 56,             /* rows of a block: 56 x 32 floats are 7 KiB */
    SHARED = 2 << 20,      /* products from which on the workers share a layer: a hundred microseconds */
    PARTS = 3,             /* items of a worker, since workers don't run equally fast */
    DW_FLOATS = 64 * 1024, /* x in panels, in linear_dw: 256 KiB of the second-level cache */
    PART = 8 * PW_PANEL,   /* rows of one matrix that a worker packs at a time */
    DEPTH = 128,           /* rows of a panel that are widened at a time: 16 KiB of the first-level cache */
};

static size_t whole_panels(int n)
{
    return (size_t)(n + PW_PANEL - 1) / PW_PANEL * PW_PANEL;
}

size_t PW_OP(mat_pack_floats)(int out, int in, bool backward)
{
    return backward ? whole_panels(in) * (size_t)out : whole_panels(out) * (size_t)in;
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* Packs the rows of w that become panel o / 32: in float, or in 16 bits by way of a part in float. */
static void pack_panel(const struct pw_mat *m, int o)
{
    float wide[DEPTH * PW_PANEL] __attribute__((aligned(64)));
    size_t at = (size_t)o * (size_t)m->in;
    int rows = least(m->out - o, PW_PANEL);
    if (m->stored == PW_STORED_F32) {
        PW_OP(pack_transposed)(m->pack + at, PW_PANEL, m->w + at, (size_t)m->in, rows, m->in);
        return;
    }
    uint16_t *p = (uint16_t *)m->pack + at;
    for (int k = 0; k < m->in; k += DEPTH) {
        int depth = least(m->in - k, DEPTH);
        PW_OP(pack_transposed)(wide, PW_PANEL, m->w + at + k, (size_t)m->in, rows, depth);
        PW_OP(narrow)(p + (size_t)k * PW_PANEL, wide, m->stored, depth * PW_PANEL);
    }
}

/* Packs columns i .. i + 31 of w for linear_dx, likewise. */
static void pack_back_panel(const struct pw_mat *m, int i)
{
    float wide[DEPTH * PW_PANEL] __attribute__((aligned(64)));
    size_t at = (size_t)i * (size_t)m->out, in = (size_t)m->in;
    int columns = least(m->in - i, PW_PANEL);
    if (m->stored == PW_STORED_F32) {
        PW_OP(pack_rows)(m->back + at, PW_PANEL, m->w + i, in, m->out, columns);
        return;
    }
    uint16_t *p = (uint16_t *)m->back + at;
    for (int o = 0; o < m->out; o += DEPTH) {
        int depth = least(m->out - o, DEPTH);
        PW_OP(pack_rows)(wide, PW_PANEL, m->w + (size_t)o * in + i, in, depth, columns);
        PW_OP(narrow)(p + (size_t)o * PW_PANEL, wide, m->stored, depth * PW_PANEL);
    }
}

static void pack_mat(void *arg, int item, int worker)
{
    const struct pw_mat *m = (const struct pw_mat *)arg + item;
    (void)worker;
    for (int o = 0; o < m->out; o += PW_PANEL)
        pack_panel(m, o);
    for (int i = 0; m->back != NULL && i < m->in; i += PW_PANEL)
        pack_back_panel(m, i);
}

static void pack_part(void *arg, int item, int worker)
{
    const struct pw_mat *m = arg;
    (void)worker;
    for (int o = item * PART; o < least(m->out, (item + 1) * PART); o += PW_PANEL)
        pack_panel(m, o);
}

void PW_OP(prepare)(struct pw_backend *be, const struct pw_mat *mats, int n)
{
    if (n == 1 && mats->back == NULL) /* a model is read matrix by matrix */
        pw_pool_run(be->pool, (mats->out + PART - 1) / PART, pack_part, (void *)mats);
    else
        pw_pool_run(be->pool, n, pack_mat, (void *)mats);
}

/* Copies a matrix from pack [out/32,in,32] to back [in/32,out,32], in elements of 32 or 16 bits. */
static void turn_mat(void *arg, int item, int worker)
{
    const struct pw_mat *m = (const struct pw_mat *)arg + item;
    size_t in = (size_t)m->in, out = (size_t)m->out;
    bool narrow = m->stored != PW_STORED_F32;
    (void)worker;
    for (size_t o = 0; o < out; o += PW_PANEL)
        for (size_t i = 0; i < in; i++) {
            size_t from = o * in + i * PW_PANEL;
            size_t to = i / PW_PANEL * PW_PANEL * out + o * PW_PANEL + i % PW_PANEL;
            size_t rows = out - o < PW_PANEL ? out - o : PW_PANEL;
            for (size_t k = 0; k < rows && narrow; k++)
                ((uint16_t *)m->back)[to + k * PW_PANEL] = ((const uint16_t *)m->pack)[from + k];
            for (size_t k = 0; k < rows && !narrow; k++)
                m->back[to + k * PW_PANEL] = m->pack[from + k];
        }
}

void PW_OP(pack_back)(struct pw_backend *be, const struct pw_mat *mats, int n)
{
    pw_pool_run(be->pool, n, turn_mat, (void *)mats);
}

/* At some row strides the rows of a tile map to few sets of the first-level cache. Then copy the rows with a
 * slightly larger stride (137 instead of 98 GFLOP/s at 4 KiB). Returns the rows to use, and their stride in
 * *stride. */
static const float *spread(struct pw_ctx *c, const float *x, int n, int R, size_t *stride)
{
    *stride = (size_t)n;
    if (n % 512 != 0)
        return x;
    *stride += 16;
    float *copy = pw_ctx_scratch(c, (size_t)R * *stride);
    for (int r = 0; r < R; r++)
        memcpy(copy + (size_t)r * *stride, x + (size_t)r * (size_t)n, (size_t)n * sizeof *x);
    return copy;
}

/* n columns of y = act(t + bias) + residual, with t [R,32] the product and pointers into whole rows. n and
 * act are constants after inlining in the common cases. */
V_INLINE void finish_fwd_n(float *y, float *pre, const float *t, const float *bias, const float *residual,
                           enum pw_act act, int R, int out, int n)
{
    for (int r = 0; r < R; r++, t += PW_PANEL)
        for (int j = 0; j < n; j += 16) {
            size_t at = (size_t)r * (size_t)out + (size_t)j;
            v16 v = v_load(t + j);
            if (bias != NULL)
                v = v_add(v, v_load_n(bias + j, n - j));
            if (pre != NULL)
                v_store_n(pre + at, n - j, v);
            v = v_act(v, act);
            if (residual != NULL)
                v = v_add(v, v_load_n(residual + at, n - j));
            v_store_n(y + at, n - j, v);
        }
}

void PW_OP(finish_fwd)(float *y, float *pre, const float *t, const float *bias, const float *residual,
                       enum pw_act act, int R, int out, int n)
{
    if (n < PW_PANEL)
        finish_fwd_n(y, pre, t, bias, residual, act, R, out, n);
    else if (act == PW_ACT_NONE)
        finish_fwd_n(y, pre, t, bias, residual, PW_ACT_NONE, R, out, PW_PANEL);
    else if (act == PW_ACT_RELU)
        finish_fwd_n(y, pre, t, bias, residual, PW_ACT_RELU, R, out, PW_PANEL);
    else
        finish_fwd_n(y, pre, t, bias, residual, act, R, out, PW_PANEL);
}

/* c [rows,n] = a [rows,K] times panel j / 32 of a pack. 16 bits are widened part by part: the chain of each
 * output continues from part to part, so its bits are those of a pack in float. */
static void product(const float *pack, enum pw_stored stored, int K, int j, int rows, int n, const float *a,
                    size_t stride, float *c, size_t ldc)
{
    size_t at = (size_t)j * (size_t)K;
    float wide[DEPTH * PW_PANEL] __attribute__((aligned(64)));
    if (stored == PW_STORED_F32) {
        PW_OP(panel)(rows, n, K, a, stride, 1, pack + at, PW_PANEL, c, ldc, false);
        return;
    }
    const uint16_t *p = (const uint16_t *)pack + at;
    if (rows == 1) { /* decoding: each weight is used once */
        PW_OP(row_times)(c, a, p, stored, K, n);
        return;
    }
    for (int k = 0; k < K; k += DEPTH) {
        int depth = least(K - k, DEPTH);
        PW_OP(widen)(wide, p + (size_t)k * PW_PANEL, stored, depth * PW_PANEL);
        PW_OP(panel)(rows, n, depth, a + k, stride, 1, wide, PW_PANEL, c, ldc, k > 0);
    }
}

/* The arguments of a linear layer. */
struct fwd {
    float *y, *pre;
    const float *x;
    const struct pw_mat *m;
    const float *bias, *residual;
    enum pw_act act;
    int R;
    int cols; /* of an item, whole panels */
};

/* Computes columns item * cols and following. */
static void fwd_columns(struct pw_ctx *c, void *arg, int item)
{
    const struct fwd *f = arg;
    const struct pw_mat *m = f->m;
    const float *bias = f->bias, *residual = f->residual;
    float *y = f->y, *pre = f->pre;
    enum pw_act act = f->act;
    size_t in = (size_t)m->in, out = (size_t)m->out, stride;
    int first = item * f->cols, end = least(m->out, first + f->cols);
    bool bare = bias == NULL && pre == NULL && residual == NULL && act == PW_ACT_NONE;
    for (int r = 0; r < f->R; r += ROWS) {
        int rows = least(f->R - r, ROWS);
        const float *a = spread(c, f->x + (size_t)r * in, m->in, rows, &stride);
        for (int j = first; j < end; j += PW_PANEL) {
            float t[ROWS * PW_PANEL] __attribute__((aligned(64)));
            size_t at = (size_t)r * out + (size_t)j;
            int n = least(m->out - j, PW_PANEL);
            if (bare) {
                product(m->pack, m->stored, m->in, j, rows, n, a, stride, y + at, out);
                continue;
            }
            product(m->pack, m->stored, m->in, j, rows, PW_PANEL, a, stride, t, PW_PANEL);
            PW_OP(finish_fwd)
            (y + at, pre != NULL ? pre + at : NULL, t, bias != NULL ? bias + j : NULL,
             residual != NULL ? residual + at : NULL, act, rows, m->out, n);
        }
    }
}

void PW_OP(linear_fwd)(struct pw_ctx *c, float *y, float *pre, const float *x, const struct pw_mat *m,
                       const float *bias, const float *residual, enum pw_act act, int R)
{
    struct fwd f = {y, pre, x, m, bias, residual, act, R, m->out};
    int items = 1;
    if (c->alone != NULL && (double)m->in * m->out * (R + 3) >= SHARED) {
        int panels = (m->out + PW_PANEL - 1) / PW_PANEL, parts = c->alone->threads * PARTS;
        f.cols = (panels + parts - 1) / parts * PW_PANEL;
        items = (m->out + f.cols - 1) / f.cols;
    }
    pw_ctx_share(c, items, fwd_columns, &f);
}

V_INLINE void finish_dx_n(float *dx, const float *t, const float *saved, enum pw_act act, float scale, int R,
                          int in, int n)
{
    for (int r = 0; r < R; r++, t += PW_PANEL)
        for (int i = 0; i < n; i += 16) {
            size_t at = (size_t)r * (size_t)in + (size_t)i;
            v16 v = v_load(t + i);
            if (act != PW_ACT_NONE)
                v = v_act_grad(v, v_load_n(saved + at, n - i), act);
            v_store_n(dx + at, n - i, v_mul(v, v_set(scale)));
        }
}

void PW_OP(finish_dx)(float *dx, const float *t, const float *saved, enum pw_act act, float scale, int R,
                      int in, int n)
{
    if (n < PW_PANEL)
        finish_dx_n(dx, t, saved, act, scale, R, in, n);
    else if (act == PW_ACT_NONE)
        finish_dx_n(dx, t, saved, PW_ACT_NONE, scale, R, in, PW_PANEL);
    else if (act == PW_ACT_RELU)
        finish_dx_n(dx, t, saved, PW_ACT_RELU, scale, R, in, PW_PANEL);
    else
        finish_dx_n(dx, t, saved, act, scale, R, in, PW_PANEL);
}

void PW_OP(linear_dx)(struct pw_ctx *c, float *dx, const float *dy, const struct pw_mat *m, enum pw_act act,
                      const float *saved, float scale, int R)
{
    size_t in = (size_t)m->in, out = (size_t)m->out, stride;
    for (int r = 0; r < R; r += ROWS) {
        int rows = least(R - r, ROWS);
        const float *a = spread(c, dy + (size_t)r * out, m->out, rows, &stride);
        for (int i = 0; i < m->in; i += PW_PANEL) {
            float t[ROWS * PW_PANEL] __attribute__((aligned(64)));
            size_t at = (size_t)r * in + (size_t)i;
            int n = least(m->in - i, PW_PANEL);
            if (act == PW_ACT_NONE && scale == 1.0f) {
                product(m->back, m->stored, m->out, i, rows, n, a, stride, dx + at, in);
                continue;
            }
            product(m->back, m->stored, m->out, i, rows, PW_PANEL, a, stride, t, PW_PANEL);
            PW_OP(finish_dx)(dx + at, t, saved != NULL ? saved + at : NULL, act, scale, rows, m->in, n);
        }
    }
}

/* Up to 64 columns: four chains at a time hide the latency of an addition. */
static void sum_rows(float *sum, const float *dy, bool add, int R, int out, int left)
{
    v16 s[4];
    for (int k = 0; k < 4; k++)
        s[k] = add ? v_load_n(sum + (left > 16 * k ? 16 * k : 0), left - 16 * k) : v_zero();
    for (int r = 0; r < R; r++, dy += out) {
        V_UNROLL
        for (int k = 0; k < 4; k++)
            if (left > 16 * k)
                s[k] = v_add(s[k], v_load_n(dy + 16 * k, left - 16 * k));
    }
    for (int k = 0; k < 4 && left > 16 * k; k++)
        v_store_n(sum + 16 * k, left - 16 * k, s[k]);
}

void PW_OP(bias_grad)(float *d_bias, const float *dy, bool add, int R, int out)
{
    for (int o = 0; o < out; o += 64)
        sum_rows(d_bias + o, dy + o, add, R, out, out - o);
}

/* x is copied into panels, for as many columns as the second-level cache holds. Then dw is computed one tile
 * of rows at a time. The tile's part of dy is copied too. In dy it is one cache line of each row; the copy is
 * dense and stays in the first-level cache for all panels. */
void PW_OP(linear_dw)(struct pw_ctx *c, float *dw, float *d_bias, const float *dy, const float *x, bool add,
                      int out, int in, int R)
{
    size_t rows = (size_t)R;
    int most = (int)(DW_FLOATS / (rows + 1) / PW_PANEL + 1) * PW_PANEL;
    int columns = least((int)whole_panels(in), most);
    float *packed = pw_ctx_scratch(c, rows * ((size_t)columns + PW_PACKED)),
          *tile = packed + rows * (size_t)columns;
    for (int i0 = 0; i0 < in; i0 += columns) {
        int i1 = least(in, i0 + columns);
        for (int i = i0; i < i1; i += PW_PANEL)
            PW_OP(pack_rows)
        (packed + (size_t)(i - i0) * rows, PW_PANEL, x + i, (size_t)in, R, least(in - i, PW_PANEL));
        for (int o = 0, m; o < out; o += m) {
            m = PW_OP(tile_rows)(out - o);
            PW_OP(pack_rows)(tile, PW_PACKED, dy + o, (size_t)out, R, least(out - o, PW_PACKED));
            for (int i = i0; i < i1; i += PW_PANEL) {
                float *to = dw + (size_t)o * (size_t)in + i;
                for (int k = 0; i + PW_PANEL < i1 && k < m; k++) {
                    __builtin_prefetch(to + (size_t)k * (size_t)in + PW_PANEL, 1);
                    __builtin_prefetch(to + (size_t)k * (size_t)in + PW_PANEL + 16, 1);
                }
                PW_OP(panel)
                (m, least(in - i, PW_PANEL), R, tile, 1, PW_PACKED, packed + (size_t)(i - i0) * rows,
                 PW_PANEL, to, (size_t)in, add);
            }
        }
    }
    if (d_bias != NULL)
        PW_OP(bias_grad)(d_bias, dy, add, R, out);
}
