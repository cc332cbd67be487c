/* ref_walk.c - see ref_walk.h. Each pair of query and key takes the whole walk. */
#include "ref_walk.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double *room(size_t n)
{
    double *x = calloc(n, sizeof *x);

    assert(x != NULL);
    return x;
}

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

/* y [out] = W x + b, with the matrix of layer l of a tensor of all layers; a bias may be absent. */
static void project(double *y, const double *w, const double *b, const double *x, int l, int out, int in)
{
    for (int o = 0; o < out; o++) {
        y[o] = b != NULL ? b[l * out + o] : 0;
        for (int i = 0; i < in; i++)
            y[o] += w[(l * out + o) * in + i] * x[i];
    }
}

static int number_of(const char *text, const char *key)
{
    const char *at = strstr(text, key);

    return at != NULL ? atoi(at + strlen(key)) : 0;
}

/* The convolution and silu of channel c of row t of x [T,HD]. */
static double convolve(const double *x, const double *taps, int n, int t, int c, int HD)
{
    double z = 0;

    if (n == 0)
        return x[t * HD + c];
    for (int k = 0; k < n && k <= t; k++)
        z += taps[c * n + n - 1 - k] * x[(t - k) * HD + c];
    return z * sigmoid(z);
}

static void reflections(struct ref_walk *w, const struct ref_model *r, int l, const double *n, int T)
{
    int C = r->cfg->width, H = w->H, D = w->D, HD = H * D;
    int rank = number_of(r->pe, "rank="), taps = number_of(r->pe, "conv=");
    const double *down = ref_tensor(r, "pe.w_proj.0.weight"), *up = ref_tensor(r, "pe.w_proj.1.weight");
    const double *conv = ref_tensor(r, "pe.w_conv1d.weight"), *beta = ref_tensor(r, "pe.bt_proj.weight");
    double *low = room(rank), *x = room((size_t)T * HD);

    w->factors = room((size_t)T * H);
    for (int t = 0; t < T; t++) {
        project(low, down, NULL, n + t * C, l, rank, C);
        project(x + t * HD, up, NULL, low, l, HD, rank);
        project(w->factors + t * H, beta, ref_tensor(r, "pe.bt_proj.bias"), n + t * C, l, H, C);
        for (int h = 0; h < H; h++) {
            double *v = w->vectors + t * HD + h * D, square = 0;
            for (int d = 0; d < D; d++) {
                v[d] = convolve(x, conv != NULL ? conv + l * HD * taps : NULL, taps, t, h * D + d, HD);
                square += v[d] * v[d];
            }
            for (int d = 0; d < D; d++)
                v[d] /= sqrt(square + 1e-6);
            w->factors[t * H + h] = 2 * sigmoid(w->factors[t * H + h]);
        }
    }
    free(low);
    free(x);
}

struct ref_walk ref_walk_make(const struct ref_model *r, int l, const double *n, int T)
{
    struct ref_walk w = {.H = r->cfg->heads, .D = r->cfg->head_width};
    const double *gates = ref_tensor(r, "pe.g_proj.weight"), *bias = ref_tensor(r, "pe.g_proj.bias");
    int C = r->cfg->width, HD = w.H * w.D;

    if (gates == NULL && ref_tensor(r, "pe.bt_proj.bias") == NULL)
        return w;
    w.vectors = room((size_t)T * HD);
    if (gates == NULL)
        reflections(&w, r, l, n, T);
    for (int t = 0; t < T && gates != NULL; t++) {
        project(w.vectors + t * HD, gates, bias, n + t * C, l, HD, C);
        for (int c = 0; c < HD; c++)
            w.vectors[t * HD + c] = sigmoid(w.vectors[t * HD + c]);
    }
    return w;
}

void ref_walk_fini(struct ref_walk *w)
{
    free(w->vectors);
    free(w->factors);
}

double ref_walk_product(const struct ref_walk *w, const double *q, const double *k, int h, int i, int j)
{
    int D = w->D;
    double *u = room((size_t)D), sum = 0;

    memcpy(u, q, (size_t)D * sizeof *u);
    for (int t = i; t > j; t--) {
        const double *v = w->vectors + (t * w->H + h) * D;
        double along = 0;
        for (int d = 0; d < D; d++)
            along += v[d] * u[d];
        for (int d = 0; d < D; d++)
            u[d] = w->factors != NULL ? u[d] - w->factors[t * w->H + h] * along * v[d] : u[d] * v[d];
    }
    for (int d = 0; d < D; d++)
        sum += u[d] * k[d];
    free(u);
    return sum;
}
