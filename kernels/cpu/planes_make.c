/* planes_make.c - the unit vectors of planes by Gram-Schmidt, and the gradients of the learned vectors
 * (kernels/backend.h).
 *
 * A vector is a column, so that the products of one vector with all later ones are chains side by side.
 * Double precision keeps the vectors orthogonal to a rounding error of their entries, unless the learned ones
 * are nearly dependent. */
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/ops.h"
#include "kernels/cpu/simd.h"

#include <math.h>
#include <string.h>

/* The vectors of one head, M = 2N columns of D entries, and what each step of the process has. */
struct head {
    int D, M;
    double *w, *e, *g;  /* [D,M] vectors with earlier directions removed; unit vectors; gradients */
    double *t;          /* [M,M] entry (k,i): the product of unit vector k and vector i > k */
    double *length;     /* [M] */
    double *own, *sums; /* [D] [M] */
};

static size_t head_doubles(int N, int D)
{
    size_t M = 2 * (size_t)N;
    return 3 * (size_t)D * M + M * M + 2 * M + (size_t)D;
}

static struct head head_in(float *room, int N, int D)
{
    size_t M = 2 * (size_t)N, DM = (size_t)D * M;
    double *at = (double *)(void *)room;
    return (struct head){D,
                         2 * N,
                         at,
                         at + DM,
                         at + 2 * DM,
                         at + 3 * DM,
                         at + 3 * DM + M * M,
                         at + 3 * DM + M * M + M,
                         at + 3 * DM + M * M + M + (size_t)D};
}

static double inverse(double length)
{
    return 1 / (length > PW_PLANES_EPS ? length : PW_PLANES_EPS);
}

/* y [n] += by * x, element by element; restrict lets the compiler use vectors. */
static inline void add_multiple(double *restrict y, const double *restrict x, double by, int n)
{
    for (int i = 0; i < n; i++)
        y[i] = fma(x[i], by, y[i]);
}

/* Step k: its unit vector, and the later vectors without its direction. */
static void remove_direction(struct head *x, int k)
{
    int D = x->D, M = x->M;
    double square = 0, *t = x->t + (size_t)k * (size_t)M;
    for (int d = 0; d < D; d++)
        square = fma(x->w[d * M + k], x->w[d * M + k], square);
    x->length[k] = sqrt(square);
    for (int d = 0; d < D; d++)
        x->e[d * M + k] = x->w[d * M + k] * inverse(x->length[k]);
    memset(t, 0, (size_t)M * sizeof *t);
    for (int d = 0; d < D; d++)
        add_multiple(t + k + 1, x->w + d * M + k + 1, x->e[d * M + k], M - k - 1);
    for (int d = 0; d < D; d++)
        add_multiple(x->w + d * M + k + 1, t + k + 1, -x->e[d * M + k], M - k - 1);
}

static void make_head(struct head *x, const float *a, const float *b)
{
    int D = x->D, M = x->M;
    for (int k = 0; k < M; k++)
        for (int d = 0; d < D; d++)
            x->w[d * M + k] = (double)(k % 2 == 0 ? a : b)[k / 2 * D + d];
    for (int k = 0; k < M; k++)
        remove_direction(x, k);
}

void PW_OP(planes_make)(struct pw_ctx *c, float *unit, const float *a, const float *b, int H, int N, int D)
{
    struct head x = head_in(pw_ctx_scratch(c, 2 * head_doubles(N, D)), N, D);
    for (int h = 0; h < H; h++, a += N * D, b += N * D, unit += 2 * N * D) {
        make_head(&x, a, b);
        for (int v = 0; v < 2 * N; v++) /* vector v of the output is vector k of the process */
            for (int d = 0, k = v < N ? 2 * v : 2 * (v - N) + 1; d < D; d++)
                unit[v * D + d] = (float)x.e[d * x.M + k];
    }
}

/* The gradient of unit vector k at entries d .. d+n-1: chains over later vectors, side by side. */
V_INLINE void sum_later(const struct head *x, int k, int d, int n)
{
    enum { MOST = 8 };
    int M = x->M;
    const double *t = x->t + (size_t)k * (size_t)M, *r = x->sums;
    double sum[MOST], e[MOST];
    for (int q = 0; q < n; q++) {
        sum[q] = x->g[(d + q) * M + k];
        e[q] = x->e[(d + q) * M + k];
    }
    for (int i = k + 1; i < M; i++)
        for (int q = 0; q < n; q++) {
            double w = fma(t[i], e[q], x->w[(d + q) * M + i]);
            sum[q] = fma(-r[i], w, fma(-t[i], x->g[(d + q) * M + i], sum[q]));
        }
    memcpy(x->own + d, sum, (size_t)n * sizeof *sum);
}

/* Step k in reverse. */
static void restore_direction(struct head *x, int k)
{
    int D = x->D, M = x->M;
    double *r = x->sums, along = 0, *t = x->t + (size_t)k * (size_t)M;
    memset(r, 0, (size_t)M * sizeof *r);
    for (int d = 0; d < D; d++)
        add_multiple(r + k + 1, x->g + d * M + k + 1, x->e[d * M + k], M - k - 1);
    for (int d = 0; d < D; d += 8)
        if (D - d >= 8)
            sum_later(x, k, d, 8);
        else
            sum_later(x, k, d, D - d);
    for (int d = 0; d < D; d++) {
        double e = x->e[d * M + k];
        along = fma(e, x->own[d], along);
        add_multiple(x->w + d * M + k + 1, t + k + 1, e, M - k - 1);
        add_multiple(x->g + d * M + k + 1, r + k + 1, -e, M - k - 1);
    }
    for (int d = 0; d < D; d++) {
        double sum = x->own[d];
        if (x->length[k] > PW_PLANES_EPS)
            sum = fma(-along, x->e[d * M + k], sum);
        x->g[d * M + k] = sum * inverse(x->length[k]);
    }
}

void PW_OP(planes_make_bwd)(struct pw_ctx *c, float *d_a, float *d_b, const float *d_unit, const float *a,
                            const float *b, int H, int N, int D)
{
    struct head x = head_in(pw_ctx_scratch(c, 2 * head_doubles(N, D)), N, D);
    int M = x.M;
    for (int h = 0; h < H; h++, a += N * D, b += N * D, d_a += N * D, d_b += N * D, d_unit += M * D) {
        make_head(&x, a, b);
        for (int k = 0; k < M; k++)
            for (int d = 0; d < D; d++)
                x.g[d * M + k] = (double)d_unit[(k / 2 + k % 2 * N) * D + d];
        for (int k = M - 1; k >= 0; k--)
            restore_direction(&x, k);
        for (int k = 0; k < M; k++)
            for (int d = 0; d < D; d++)
                (k % 2 == 0 ? d_a : d_b)[k / 2 * D + d] += (float)x.g[d * M + k];
    }
}
