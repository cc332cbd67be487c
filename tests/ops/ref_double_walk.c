/* ref_double_walk.c - reference for values: the product of q and k by a walk, and its rows, in double
 * precision. */
#include "tests/ops/ref_double.h"

#include <math.h>
#include <stdlib.h>

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

/* y = x after the step of a row, or before it: both steps are symmetric matrices. */
static void step(double *y, const double *x, const struct pw_attn *a, int row, int h)
{
    int D = a->head_width;
    const float *w = a->walk->vectors + (row * a->heads + h) * D;
    double along = 0;
    for (int d = 0; d < D && a->walk->factors != NULL; d++)
        along += (double)w[d] * x[d] * (double)a->walk->factors[row * a->heads + h];
    for (int d = 0; d < D; d++)
        y[d] = a->walk->factors != NULL ? x[d] - along * (double)w[d] : x[d] * (double)w[d];
}

double ref_double_walk(const float *q, const float *k, const struct pw_attn *a, int base, int i, int j, int h)
{
    int D = a->head_width;
    double *u = ref_room((size_t)D), sum = 0;
    for (int d = 0; d < D; d++)
        u[d] = (double)q[d];
    for (int t = i; t > j; t--)
        step(u, u, a, base + t, h);
    for (int d = 0; d < D; d++)
        sum += u[d] * (double)k[d];
    free(u);
    return sum;
}

/* Adds the gradients of the row's vector and factor: x before its step, g the gradient after it. */
static void back_of_row(double *dv, double *df, const double *x, const double *g, const struct pw_attn *a,
                        int row, int h)
{
    int D = a->head_width;
    const float *w = a->walk->vectors + (row * a->heads + h) * D;
    double wx = 0, wg = 0;
    for (int d = 0; d < D; d++) {
        wx += (double)w[d] * x[d];
        wg += (double)w[d] * g[d];
    }
    for (int d = 0; d < D; d++)
        dv[d] += a->walk->factors != NULL
                     ? -(double)a->walk->factors[row * a->heads + h] * (wg * x[d] + wx * g[d])
                     : x[d] * g[d];
    *df -= wx * wg;
}

void ref_double_walk_bwd(double *dq, double *dk, const double *ds, const float *q, const float *k, int w,
                         const struct pw_attn *a, int base, int T, int h)
{
    int D = a->head_width;
    double *u = ref_room((size_t)((T + 1) * D)), *g = ref_room((size_t)D);
    double *dv = ref_room((size_t)(T * D)), *df = ref_room((size_t)T);
    for (int i = 0; i < T; i++) {
        for (int d = 0; d < D; d++) {
            u[(i + 1) * D + d] = (double)q[i * w + d]; /* u + (j + 1) * D: at key j */
            g[d] = 0;
        }
        for (int j = i; j >= 0; j--)
            step(u + j * D, u + (j + 1) * D, a, base + j, h);
        for (int j = 0; j <= i; j++) {
            back_of_row(dv + j * D, df + j, u + (j + 1) * D, g, a, base + j, h);
            step(g, g, a, base + j, h);
            for (int d = 0; d < D; d++) {
                g[d] += ds[i * T + j] * (double)k[j * w + d];
                dk[j * D + d] += ds[i * T + j] * u[(j + 1) * D + d];
            }
        }
        for (int d = 0; d < D; d++)
            dq[i * D + d] = g[d];
    }
    for (int i = 0; i < T * D; i++)
        a->walk->d_vectors[((base + i / D) * a->heads + h) * D + i % D] = (float)(dv[i] * (double)a->scale);
    for (int j = 0; j < T && a->walk->factors != NULL; j++)
        a->walk->d_factors[(base + j) * a->heads + h] = (float)(df[j] * (double)a->scale);
    free(u);
    free(g);
    free(dv);
    free(df);
}

/* ---- rows */

static double convolve(const float *y, const struct pw_walk_rows *w, int r, int first, int c)
{
    int HD = w->heads * w->head_width, n = w->taps;
    double z = 0;
    for (int k = 0; k < n && r - k >= -first; k++)
        z += (double)w->conv[c * n + n - 1 - k] * (double)y[(r - k) * HD + c];
    return n > 0 ? z : (double)y[r * HD + c];
}

/* x [D] of a head; returns 1 / its length. */
static double row_of(double *x, const float *y, const struct pw_walk_rows *w, int r, int first, int h)
{
    double square = 0;
    for (int d = 0; d < w->head_width; d++) {
        double z = convolve(y, w, r, first, h * w->head_width + d);
        x[d] = w->taps > 0 ? z * sigmoid(z) : z;
        square += x[d] * x[d];
    }
    return 1 / sqrt(square + (double)PW_WALK_EPS);
}

void ref_double_walk_fwd(struct pw_ctx *c, float *vectors, float *factors, const float *y, const float *g,
                         int before, const struct pw_walk_rows *w, const struct pw_seqs *s, int R)
{
    const int whole[] = {0, R}, *start = s != NULL ? s->start : whole;
    int D = w->head_width, HD = w->heads * D;
    double *x = ref_room((size_t)D);
    (void)c;
    for (int i = 0; w->kind == PW_WALK_SCALE && i < R * HD; i++)
        vectors[i] = (float)sigmoid((double)y[i]);
    for (int i = 0; w->kind == PW_WALK_REFLECT && i < R * w->heads; i++)
        factors[i] = (float)(2 * sigmoid((double)g[i]));
    for (int n = 0; w->kind == PW_WALK_REFLECT && n < (s != NULL ? s->n : 1); n++)
        for (int i = start[n] * HD; i < start[n + 1] * HD; i += D) {
            double by = row_of(x, y + start[n] * HD, w, i / HD - start[n], before, i % HD / D);
            for (int d = 0; d < D; d++)
                vectors[i + d] = (float)(x[d] * by);
        }
    free(x);
}

/* The gradient of a head's z, from dv of its vector. */
static void back_of_head(double *dz, const float *dv, const float *y, const struct pw_walk_rows *w, int r,
                         int h)
{
    int D = w->head_width;
    double *x = ref_room((size_t)D), by = row_of(x, y, w, r, 0, h), along = 0;
    for (int d = 0; d < D; d++)
        along += (double)dv[d] * x[d] * by;
    for (int d = 0; d < D; d++) {
        double z = convolve(y, w, r, 0, h * D + d), s = sigmoid(z);
        dz[d] = ((double)dv[d] - along * x[d] * by) * by * (w->taps > 0 ? s * (1 + z * (1 - s)) : 1);
    }
    free(x);
}

void ref_double_walk_bwd_rows(struct pw_ctx *c, float *dy, float *dg, float *d_conv, const float *d_vectors,
                              const float *d_factors, const float *y, const float *g,
                              const struct pw_walk_rows *w, const struct pw_seqs *s)
{
    int D = w->head_width, HD = w->heads * D, R = s->start[s->n], n = w->taps;
    double *dz = ref_room((size_t)(R * HD + D)), *sums = ref_room((size_t)(HD * n + 1));
    (void)c;
    for (int i = 0; w->kind == PW_WALK_SCALE && i < R * HD; i++)
        dy[i] = (float)((double)d_vectors[i] * sigmoid((double)y[i]) * sigmoid(-(double)y[i]));
    for (int i = 0; w->kind == PW_WALK_REFLECT && i < R * w->heads; i++)
        dg[i] = (float)((double)d_factors[i] * 2 * sigmoid((double)g[i]) * sigmoid(-(double)g[i]));
    for (int q = 0; w->kind == PW_WALK_REFLECT && q < s->n; q++) {
        int at = s->start[q] * HD, T = s->start[q + 1] - s->start[q];
        for (int i = 0; i < T * HD; i += D)
            back_of_head(dz + at + i, d_vectors + at + i, y + at, w, i / HD, i % HD / D);
        for (int i = 0; i < T * HD; i++) {
            int r = i / HD, col = i % HD;
            double sum = n > 0 ? 0 : dz[at + i];
            for (int k = 0; k < n; k++) {
                if (r + k < T)
                    sum += (double)w->conv[col * n + n - 1 - k] * dz[at + i + k * HD];
                if (r - k >= 0)
                    sums[col * n + n - 1 - k] += dz[at + i] * (double)y[at + i - k * HD];
            }
            dy[at + i] = (float)sum;
        }
    }
    for (int i = 0; w->kind == PW_WALK_REFLECT && i < HD * n; i++)
        d_conv[i] = (float)((double)d_conv[i] + sums[i]);
    free(dz);
    free(sums);
}
