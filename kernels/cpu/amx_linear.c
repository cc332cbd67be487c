/* amx_linear.c - linear layers in bf16 on the matrix unit: precision=bf16.
 *
 * Weights, activations and gradients are rounded to bf16 when they enter a product. Products are summed in
 * float32, and everything else stays float32, including the weights. As in linear.c, prepare() packs weights
 * once per step, here for both directions in bf16; activations are packed on use. The matrix unit defines the
 * order of additions: determinism class "machine". The result of a row does not depend on other rows. */
#include "kernels/cpu/amx.h"
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/linear.h"
#include "kernels/cpu/simd.h"

enum {
    SIDE = PW_AMX_SIDE,
    LEFT_FLOATS = 192 * 1024,  /* packed activations: 768 KiB of the second-level cache */
    RIGHT_FLOATS = 128 * 1024, /* packed weights, or x in linear_dw: 512 KiB of it */
};

static int least(int a, int b)
{
    return a < b ? a : b;
}

static int whole(int n, int of)
{
    return (n + of - 1) / of * of;
}

/* Size of either half of a pack: [out panels over in], then [in panels over out]. */
static size_t one_way(int out, int in)
{
    return (size_t)whole(out, SIDE) / SIDE * pw_amx_panel(in);
}

size_t pw_mat_pack_floats_amx(int out, int in, bool backward)
{
    (void)backward; /* both have the same size */
    return one_way(out, in);
}

static void pack_mat(void *arg, int item, int worker)
{
    const struct pw_mat *m = (const struct pw_mat *)arg + item;
    size_t in = (size_t)m->in;
    float *back = m->back;
    (void)worker;
    for (int o = 0; o < m->out; o += SIDE) {
        const float *w = m->w + (size_t)o * in;
        int n = least(m->out - o, SIDE);
        pw_amx_pack(m->pack + (size_t)(o / SIDE) * pw_amx_panel(m->in), w, in, n, m->in, PW_RIGHT_ROWS);
        for (int i = 0; back != NULL && i < m->in; i += SIDE) /* while these rows are in the cache */
            pw_amx_pack(back + (size_t)(i / SIDE) * pw_amx_panel(m->out) + (size_t)(o / SIDE) * PW_AMX_BLOCK,
                        w + i, in, least(m->in - i, SIDE), n, PW_RIGHT_COLUMNS);
    }
}

void pw_prepare_amx(struct pw_backend *be, const struct pw_mat *mats, int n)
{
    pw_pool_run(be->pool, n, pack_mat, (void *)mats);
}

/* Pack x [R,K] into left panels, in scratch. */
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

/* c [m,n] = from + the product of two panels, of at most one block. */
static void product_onto(float *c, const float *from, const float *left, const float *right, int K, int m,
                         int n, size_t ldc)
{
    if (m == SIDE && n == SIDE) {
        pw_amx_product(m, n, K, left, right, c, from, ldc);
    } else { /* through a whole block */
        float t[SIDE * SIDE] __attribute__((aligned(64))) = {0};
        if (from != NULL)
            copy(t, SIDE, from, ldc, m, n);
        pw_amx_product(m, n, K, left, right, t, from != NULL ? t : NULL, SIDE);
        copy(c, ldc, t, SIDE, m, n);
    }
}

/* Number of rows whose activations are packed at a time. */
static int block_rows(int K)
{
    int rows = (int)(LEFT_FLOATS / pw_amx_panel(K)) * SIDE;
    return rows > SIDE ? rows : SIDE;
}

/* Number of columns whose weights stay in the second-level cache while all packed rows are processed. */
static int block_columns(int K)
{
    int columns = (int)(RIGHT_FLOATS / pw_amx_panel(K)) * SIDE;
    return columns > SIDE ? columns : SIDE;
}

/* A block of up to 32 x 32 of a product, at row r and column j. */
struct block {
    const float *left, *right; /* its panels */
    int r, j, m, n;
};

/* Call fn for every block of the product [R,n] of x [R,K] and packed weights. Blocks follow each other along
 * rows, so that whole rows of the output are written. Blocks down a column would touch two cache lines of
 * each of many rows, and a larger model's activations don't fit into a near cache. */
static void each_block(struct pw_ctx *c, const float *x, const float *weights, int R, int n, int K,
                       void (*fn)(const struct block *b, const void *arg), const void *arg)
{
    size_t panel = pw_amx_panel(K);
    for (int r0 = 0, r1; r0 < R; r0 = r1) {
        r1 = least(R, r0 + block_rows(K));
        const float *rows = pack_rows(c, x + (size_t)r0 * (size_t)K, r1 - r0, K);
        for (int j0 = 0, j1; j0 < n; j0 = j1) {
            j1 = least(n, j0 + block_columns(K));
            for (int r = r0; r < r1; r += SIDE)
                for (int j = j0; j < j1; j += SIDE) {
                    const float *left = rows + (size_t)((r - r0) / SIDE) * panel;
                    const float *right = weights + (size_t)(j / SIDE) * panel;
                    fn(&(struct block){left, right, r, j, least(r1 - r, SIDE), least(n - j, SIDE)}, arg);
                }
        }
    }
}

struct forward {
    float *y, *pre;
    const float *bias, *residual;
    enum pw_act act;
    int in, out;
};

static void fwd_block(const struct block *b, const void *arg)
{
    const struct forward *f = arg;
    float t[SIDE * SIDE] __attribute__((aligned(64)));
    size_t out = (size_t)f->out, at = (size_t)b->r * out + (size_t)b->j;
    const float *add = f->residual != NULL ? f->residual + at : NULL;
    if (f->bias == NULL && f->pre == NULL && f->act == PW_ACT_NONE) {
        product_onto(f->y + at, add, b->left, b->right, f->in, b->m, b->n, out);
        return;
    }
    pw_amx_product(b->m, b->n, f->in, b->left, b->right, t, NULL, SIDE);
    PW_OP(finish_fwd)
    (f->y + at, f->pre != NULL ? f->pre + at : NULL, t, f->bias != NULL ? f->bias + b->j : NULL, add, f->act,
     b->m, f->out, b->n);
}

void pw_linear_fwd_amx(struct pw_ctx *c, float *y, float *pre, const float *x, const struct pw_mat *m,
                       const float *bias, const float *residual, enum pw_act act, int R)
{
    struct forward f = {y, pre, bias, residual, act, m->in, m->out};
    each_block(c, x, m->pack, R, m->out, m->in, fwd_block, &f);
}

struct backward {
    float *dx;
    const float *saved;
    enum pw_act act;
    float scale;
    int in, out;
};

static void dx_block(const struct block *b, const void *arg)
{
    const struct backward *d = arg;
    float t[SIDE * SIDE] __attribute__((aligned(64)));
    size_t in = (size_t)d->in, at = (size_t)b->r * in + (size_t)b->j;
    float *dx = d->dx + at;
    if (d->act == PW_ACT_NONE && d->scale == 1.0f) {
        product_onto(dx, NULL, b->left, b->right, d->out, b->m, b->n, in);
        return;
    }
    pw_amx_product(b->m, b->n, d->out, b->left, b->right, t, NULL, SIDE);
    PW_OP(finish_dx)(dx, t, d->saved != NULL ? d->saved + at : NULL, d->act, d->scale, b->m, d->in, b->n);
}

void pw_linear_dx_amx(struct pw_ctx *c, float *dx, const float *dy, const struct pw_mat *m, enum pw_act act,
                      const float *saved, float scale, int R)
{
    struct backward d = {dx, saved, act, scale, m->in, m->out};
    each_block(c, dy, m->back, R, m->in, m->out, dx_block, &d);
}

/* Prefetch the rows of the next block of dw, which is read and written and rarely in a near cache. */
static void prefetch(const float *to, size_t in)
{
    for (int r = 0; r < SIDE; r++, to += in) {
        __builtin_prefetch(to, 1);
        __builtin_prefetch(to + 16, 1);
    }
}

/* x is packed for as many columns as the second-level cache holds. Then dw is computed 32 rows at a time;
 * their part of dy is packed and stays in the first-level cache. */
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
