/* ref_planes.c - see ref_planes.h. The score depends on the distance alone, so that is what is computed. */
#include "ref_planes.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double *zeros(size_t n)
{
    double *x = calloc(n, sizeof *x);

    assert(x != NULL);
    return x;
}

/* out = a b, of D x D matrices; out is neither. */
static void multiply(double *out, const double *a, const double *b, int D)
{
    memset(out, 0, (size_t)(D * D) * sizeof *out);
    for (int i = 0; i < D; i++)
        for (int k = 0; k < D; k++)
            for (int j = 0; j < D; j++)
                out[i * D + j] += a[i * D + k] * b[k * D + j];
}

/* out = exp(by * L): the series of a part of it, squared as often as it was halved. */
static void exponential(double *out, const double *L, double by, int D)
{
    enum { HALVED = 10, TERMS = 14 };
    size_t n = (size_t)(D * D);
    double *x = zeros(3 * n), *term = x + n, *next = term + n;

    for (size_t i = 0; i < n; i++)
        x[i] = L[i] * by / (1 << HALVED);
    memset(out, 0, n * sizeof *out);
    for (int i = 0; i < D; i++)
        out[i * D + i] = term[i * D + i] = 1;
    for (int k = 1; k <= TERMS; k++) {
        multiply(next, term, x, D);
        for (size_t i = 0; i < n; i++)
            out[i] += term[i] = next[i] / k;
    }
    for (int k = 0; k < HALVED; k++) {
        multiply(next, out, out, D);
        memcpy(out, next, n * sizeof *out);
    }
    free(x);
}

/* Takes from v its parts along the unit vectors e [n,D], and divides it by its length. */
static void orthonormalise(double *v, const double *e, int n, int D)
{
    double square = 0;

    for (int k = 0; k < n; k++) {
        double along = 0;
        for (int d = 0; d < D; d++)
            along += e[k * D + d] * v[d];
        for (int d = 0; d < D; d++)
            v[d] -= along * e[k * D + d];
    }
    for (int d = 0; d < D; d++)
        square += v[d] * v[d];
    for (int d = 0; d < D; d++)
        v[d] /= sqrt(square);
}

/* L [D,D] = the sum over planes of w (u v^T - v u^T). log_factor [N], a and b [N,D] are those of the head. */
static void generator(double *L, const double *log_factor, const double *a, const double *b, int N, int D,
                      double base)
{
    double *e = zeros((size_t)(2 * N * D));

    for (int k = 0; k < 2 * N; k++) {
        memcpy(e + k * D, (k % 2 == 0 ? a : b) + k / 2 * D, (size_t)D * sizeof *e);
        orthonormalise(e + k * D, e, k, D);
    }
    memset(L, 0, (size_t)(D * D) * sizeof *L);
    for (int c = 0; c < N; c++) {
        const double *u = e + 2 * c * D, *v = u + D;
        double w = pow(base, -(double)c / N) * exp(log_factor[c]);
        for (int i = 0; i < D; i++)
            for (int j = 0; j < D; j++)
                L[i * D + j] += w * (u[i] * v[j] - v[i] * u[j]);
    }
    free(e);
}

struct ref_planes ref_planes_make(const struct ref_model *r, int l, int ids, double base, double step)
{
    const double *a = ref_tensor(r, "pe.a"), *b = ref_tensor(r, "pe.b"),
                 *log_factor = ref_tensor(r, "pe.log_factor");
    int H = r->cfg->heads, D = r->cfg->head_width, N = 0, distances = 2 * ids - 1;
    struct ref_planes x = {NULL, ids, D};

    if (log_factor == NULL)
        return x;
    for (int i = 0; i < r->n_params; i++)
        if (strcmp(r->params[i].name, "pe.log_factor") == 0)
            N = r->params[i].cols;
    x.turn = zeros((size_t)(H * distances * D * D));
    double *L = zeros((size_t)(D * D));
    for (int h = 0; h < H; h++) {
        int at = (l * H + h) * N;
        generator(L, log_factor + at, a + at * D, b + at * D, N, D, base);
        for (int n = 0; n < distances; n++)
            exponential(x.turn + (h * distances + n) * D * D, L, step * (n - (ids - 1)), D);
    }
    free(L);
    return x;
}

void ref_planes_fini(struct ref_planes *x)
{
    free(x->turn);
}

double ref_planes_product(const struct ref_planes *x, const double *q, const double *k, int h, int i, int j)
{
    int D = x->D;
    const double *G = x->turn + (h * (2 * x->ids - 1) + j - i + x->ids - 1) * D * D;
    double sum = 0;

    for (int c = 0; c < D; c++)
        for (int d = 0; d < D; d++)
            sum += q[c] * G[c * D + d] * k[d];
    return sum;
}
