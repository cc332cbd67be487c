/* walk_rows.c - the vectors and factors of a walk (walk_fwd in kernels/backend.h) from a layer's projections:
 * a short causal convolution, silu and unit length, or a gate for each entry. */
#include "kernels/cpu/attention_block.h"
#include "kernels/cpu/cpu.h"

#include <math.h>
#include <string.h>

/* The rows of one sequence: y is its first row. */
struct rows {
    const struct pw_walk_rows *w;
    const float *y;
    const float *taps; /* [taps,HD] the transposed weights */
    int HD;
};

/* Entries at .. at+15 of z of row r: the rows of the sequence from r - taps + 1 on, times their weights.
 * first: the first row that there is, at most 0. */
V_INLINE v16 convolve(const struct rows *x, int r, int first, int at, int left)
{
    v16 z = v_zero();
    for (int k = 0, row = r - x->w->taps + 1; k < x->w->taps; k++, row++)
        if (row >= first)
            z = v_fma(v_load_n(x->taps + k * x->HD + at, left), v_load_n(x->y + (long)row * x->HD + at, left),
                      z);
    return z;
}

/* Entries at .. at+15 of x of row r; *z receives those before the activation. */
V_INLINE v16 activate(const struct rows *x, v16 *z, int r, int first, int at, int left)
{
    if (x->w->taps == 0)
        return *z = v_load_n(x->y + (long)r * x->HD + at, left);
    *z = convolve(x, r, first, at, left);
    return v_act(*z, PW_ACT_SILU);
}

/* Copies the weights [HD,taps] to `to` [taps,HD]. */
static void transpose_taps(float *to, const struct pw_walk_rows *w, int HD)
{
    for (int k = 0; k < w->taps; k++)
        for (int i = 0; i < HD; i++)
            to[k * HD + i] = w->conv[i * w->taps + k];
}

static float inverse_length(v16 sum)
{
    return 1.0f / sqrtf(v_tree(sum) + PW_WALK_EPS);
}

/* The vectors of n rows. */
static void unit_vectors(float *vectors, const struct rows *x, int first, int n)
{
    int H = x->w->heads, D = x->w->head_width;
    for (int r = 0; r < n; r++)
        for (int h = 0; h < H; h++, vectors += D) {
            v16 sum = v_zero(), z;
            for (int d = 0; d < D; d += 16) {
                v16 v = activate(x, &z, r, first, h * D + d, D - d);
                v_store_n(vectors + d, D - d, v);
                sum = v_fma(v, v, sum);
            }
            v16 by = v_set(inverse_length(sum));
            for (int d = 0; d < D; d += 16)
                v_store_n(vectors + d, D - d, v_mul(v_load_n(vectors + d, D - d), by));
        }
}

void PW_OP(walk_fwd)(struct pw_ctx *c, float *vectors, float *factors, const float *y, const float *g,
                     int before, const struct pw_walk_rows *w, const struct pw_seqs *s, int R)
{
    int HD = w->heads * w->head_width, n = R * HD;
    v16 share, minus;
    if (w->kind == PW_WALK_SCALE) {
        for (int i = 0; i < n; i += 16) {
            v_sigmoid(v_load_n(y + i, n - i), &share, &minus);
            v_store_n(vectors + i, n - i, share);
        }
        return;
    }
    float *taps = pw_ctx_scratch(c, (size_t)w->taps * (size_t)HD);
    transpose_taps(taps, w, HD);
    struct rows x = {w, y, taps, HD};
    if (s == NULL)
        unit_vectors(vectors, &x, -before, R);
    for (int i = 0; s != NULL && i < s->n; i++) {
        size_t at = (size_t)s->start[i] * (size_t)HD;
        x.y = y + at;
        unit_vectors(vectors + at, &x, 0, s->start[i + 1] - s->start[i]);
    }
    n = R * w->heads;
    for (int i = 0; i < n; i += 16) {
        v_sigmoid(v_load_n(g + i, n - i), &share, &minus);
        v_store_n(factors + i, n - i, v_add(share, share));
    }
}

/* ---- gradients */

/* dz [n,HD] from the gradients dv of the vectors. */
static void grad_before_silu(float *dz, const struct rows *x, const float *dv, int n)
{
    int H = x->w->heads, D = x->w->head_width;
    for (int r = 0; r < n; r++)
        for (int h = 0; h < H; h++, dv += D, dz += D) {
            v16 sum = v_zero(), along = v_zero(), z;
            for (int d = 0; d < D; d += 16) { /* dz holds x for now */
                v16 v = activate(x, &z, r, 0, h * D + d, D - d);
                v_store_n(dz + d, D - d, v);
                sum = v_fma(v, v, sum);
            }
            v16 by = v_set(inverse_length(sum));
            for (int d = 0; d < D; d += 16)
                along = v_fma(v_load_n(dv + d, D - d), v_mul(v_load_n(dz + d, D - d), by), along);
            v16 minus = v_set(-v_tree(along));
            for (int d = 0; d < D; d += 16) {
                v16 v = v_mul(v_load_n(dz + d, D - d), by);
                v16 dx = v_mul(v_fma(minus, v, v_load_n(dv + d, D - d)), by);
                activate(x, &z, r, 0, h * D + d, D - d);
                v_store_n(dz + d, D - d, x->w->taps > 0 ? v_act_grad(dx, z, PW_ACT_SILU) : dx);
            }
        }
}

/* dy of n rows from dz, and the sums of the weights, sums [taps,HD]. */
static void convolve_back(float *dy, float *sums, const struct rows *x, const float *dz, int n)
{
    int taps = x->w->taps, HD = x->HD;
    for (int r = 0; r < n; r++)
        for (int i = 0; i < HD; i += 16) {
            v16 d = v_zero();
            for (int row = r; row < r + taps && row < n; row++)
                d = v_fma(v_load_n(x->taps + (taps - 1 - (row - r)) * HD + i, HD - i),
                          v_load_n(dz + (long)row * HD + i, HD - i), d);
            v_store_n(dy + (long)r * HD + i, HD - i, d);
            for (int k = 0, row = r - taps + 1; k < taps; k++, row++)
                if (row >= 0)
                    v_store_n(sums + k * HD + i, HD - i,
                              v_fma(v_load_n(dz + (long)r * HD + i, HD - i),
                                    v_load_n(x->y + (long)row * HD + i, HD - i),
                                    v_load_n(sums + k * HD + i, HD - i)));
        }
}

/* d = d * (factor of s(x) * s(-x)), with the factor 1 or 2. */
static void grad_sigmoid(float *to, const float *d, const float *x, bool twice, int n)
{
    for (int i = 0; i < n; i += 16) {
        v16 share, minus;
        v_sigmoid(v_load_n(x + i, n - i), &share, &minus);
        share = twice ? v_add(share, share) : share;
        v_store_n(to + i, n - i, v_mul(v_load_n(d + i, n - i), v_mul(share, minus)));
    }
}

void PW_OP(walk_bwd)(struct pw_ctx *c, float *dy, float *dg, float *d_conv, const float *d_vectors,
                     const float *d_factors, const float *y, const float *g, const struct pw_walk_rows *w,
                     const struct pw_seqs *s)
{
    int HD = w->heads * w->head_width, R = s->start[s->n];
    if (w->kind == PW_WALK_SCALE) {
        grad_sigmoid(dy, d_vectors, y, false, R * HD);
        return;
    }
    size_t all = (size_t)w->taps * (size_t)HD;
    float *taps = pw_ctx_scratch(c, 2 * all + (size_t)pw_attn_longest(s) * (size_t)HD), *sums = taps + all,
          *dz = sums + all;
    struct rows x = {w, y, taps, HD};
    transpose_taps(taps, w, HD);
    for (int k = 0; k < w->taps; k++)
        for (int i = 0; i < HD; i++)
            sums[k * HD + i] = d_conv[i * w->taps + k];
    for (int i = 0; i < s->n; i++) {
        size_t at = (size_t)s->start[i] * (size_t)HD;
        int n = s->start[i + 1] - s->start[i];
        x.y = y + at;
        grad_before_silu(w->taps > 0 ? dz : dy + at, &x, d_vectors + at, n);
        if (w->taps > 0)
            convolve_back(dy + at, sums, &x, dz, n);
    }
    for (int k = 0; k < w->taps; k++)
        for (int i = 0; i < HD; i++)
            d_conv[i * w->taps + k] = sums[k * HD + i];
    grad_sigmoid(dg, d_factors, g, true, R * w->heads);
}
