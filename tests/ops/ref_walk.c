/* ref_walk.c - reference for bits: the product of q and k by a walk, one query after the other, and the rows
 * of a walk. */
#include "tests/ops/ref_math.h"
#include "tests/ops/ref_plain.h"

#include <stdlib.h>

static float product(const float *x, const float *y, int D)
{
    float c[4] = {0};
    for (int d = 0; d < D; d++)
        c[d % 4] = fmaf(x[d], y[d], c[d % 4]);
    return (c[0] + c[2]) + (c[1] + c[3]);
}

static const float *vector_of(const struct pw_attn *a, int row, int h)
{
    return a->walk->vectors + (row * a->heads + h) * a->head_width;
}

static float factor_of(const struct pw_attn *a, int row, int h)
{
    return a->walk->factors[row * a->heads + h];
}

/* Let key j of the sequence from row base on change u. Returns the product of u and w, 0 if there is none. */
static float step(float *u, const struct pw_attn *a, int base, int j, int h)
{
    const float *w = vector_of(a, base + j, h);
    float t = 0.0f;
    if (a->walk->kind == PW_WALK_REFLECT) {
        t = product(u, w, a->head_width);
        float by = -factor_of(a, base + j, h) * t;
        for (int d = 0; d < a->head_width; d++)
            u[d] = fmaf(by, w[d], u[d]);
    } else {
        for (int d = 0; d < a->head_width; d++)
            u[d] *= w[d];
    }
    for (int d = 0; j % 16 == 0 && d < a->head_width; d++)
        u[d] = fabsf(u[d]) < 0x1p-64f ? 0.0f : u[d];
    return t;
}

void ref_walk(float *s, const float *q, const float *k, size_t w, const struct pw_attn *a, int base, int i,
              int h)
{
    float *u = malloc((size_t)a->head_width * sizeof *u);
    memcpy(u, q, (size_t)a->head_width * sizeof *u);
    for (int j = i; j >= 0; j--) {
        s[j] = product(u, k + (size_t)j * w, a->head_width);
        step(u, a, base, j, h);
    }
    free(u);
}

/* The sums of one head of a sequence: lanes of every entry, and of every factor. */
struct sums {
    float (*keys)[16], (*vectors)[16], (*factors)[16];
};

static void back_of_query(float *dq, const struct sums *sum, const float *ds, const float *q, const float *k,
                          size_t w, const struct pw_attn *a, int base, int i, int h)
{
    int D = a->head_width, lane = i % 16;
    size_t row = (size_t)D;
    float *u = malloc(((size_t)i + 2) * row * sizeof *u), *t = malloc(((size_t)i + 1) * sizeof *t);
    float *g = calloc(row, sizeof *g);
    memcpy(u + (size_t)(i + 1) * row, q, row * sizeof *u); /* u + (j + 1) * row: at key j */
    for (int j = i; j >= 0; j--) {
        memcpy(u + (size_t)j * row, u + (size_t)(j + 1) * row, row * sizeof *u);
        t[j] = step(u + (size_t)j * row, a, base, j, h);
    }
    for (int j = 0; j <= i; j++) {
        const float *x = u + (size_t)(j + 1) * row, *v = vector_of(a, base + j, h);
        bool reflects = a->walk->kind == PW_WALK_REFLECT;
        float c = reflects ? product(g, v, D) : 0.0f, by = reflects ? -factor_of(a, base + j, h) * c : 0.0f;
        sum->factors[j][lane] = fmaf(t[j], c, sum->factors[j][lane]);
        for (int d = 0; d < D; d++) {
            float *to = &sum->vectors[j * D + d][lane], *key = &sum->keys[j * D + d][lane];
            *key = fmaf(ds[j], x[d], *key);
            *to = reflects ? fmaf(t[j], g[d], fmaf(c, x[d], *to)) : fmaf(g[d], x[d], *to);
            g[d] = reflects ? fmaf(by, v[d], g[d]) : g[d] * v[d];
            g[d] = fmaf(ds[j], k[(size_t)j * w + (size_t)d], g[d]);
        }
    }
    memcpy(dq, g, row * sizeof *g);
    free(u);
    free(t);
    free(g);
}

void ref_walk_bwd(float *dq, float *dk, const float *ds, const float *q, const float *k, size_t w,
                  const struct pw_attn *a, int base, int T, int h)
{
    int D = a->head_width;
    size_t all = (size_t)(T * D);
    struct sums sum = {calloc(all, sizeof *sum.keys), calloc(all, sizeof *sum.keys),
                       calloc((size_t)T, sizeof *sum.keys)};
    for (int i = 0; i < T; i++)
        back_of_query(dq + (size_t)i * w, &sum, ds + i * T, q + (size_t)i * w, k, w, a, base, i, h);
    for (int j = 0; j < T; j++) {
        int at = (base + j) * a->heads + h;
        bool reflects = a->walk->kind == PW_WALK_REFLECT;
        for (int d = 0; d < D; d++) {
            dk[(size_t)j * w + (size_t)d] = plain_tree(sum.keys[j * D + d]);
            float v = plain_tree(sum.vectors[j * D + d]) * a->scale;
            a->walk->d_vectors[at * D + d] = reflects ? v * -a->walk->factors[at] : v;
        }
        if (reflects)
            a->walk->d_factors[at] = -(plain_tree(sum.factors[j]) * a->scale);
    }
    free(sum.keys);
    free(sum.vectors);
    free(sum.factors);
}

/* ---- rows */

/* Entry c of row r, whose sequence has `first` rows before y, before the activation. */
static float convolve(const float *y, const struct pw_walk_rows *w, int r, int first, int c)
{
    int HD = w->heads * w->head_width;
    float z = 0.0f;
    if (w->taps == 0)
        return y[r * HD + c];
    for (int k = 0; k < w->taps; k++)
        if (r - w->taps + 1 + k >= -first)
            z = fmaf(w->conv[c * w->taps + k], y[(r - w->taps + 1 + k) * HD + c], z);
    return z;
}

/* x [D] of a head, and 1 / its length. */
static float row_of(float *x, const float *y, const struct pw_walk_rows *w, int r, int first, int h)
{
    float lane[16] = {0};
    for (int d = 0; d < w->head_width; d++) {
        float z = convolve(y, w, r, first, h * w->head_width + d);
        x[d] = w->taps > 0 ? plain_silu(z) : z;
        lane[d % 16] = fmaf(x[d], x[d], lane[d % 16]);
    }
    return 1.0f / sqrtf(plain_tree(lane) + 1e-6f);
}

void PW_OP(walk_fwd)(struct pw_ctx *c, float *vectors, float *factors, const float *y, const float *g,
                     int before, const struct pw_walk_rows *w, const struct pw_seqs *s, int R)
{
    const int whole[] = {0, R}, *start = s != NULL ? s->start : whole;
    int D = w->head_width, HD = w->heads * D;
    float minus;
    (void)c;
    for (int i = 0; w->kind == PW_WALK_SCALE && i < R * HD; i++)
        plain_sigmoid(y[i], &vectors[i], &minus);
    if (w->kind == PW_WALK_SCALE)
        return;
    for (int n = 0; n < (s != NULL ? s->n : 1); n++)
        for (int r = start[n]; r < start[n + 1]; r++)
            for (int h = 0; h < w->heads; h++) {
                float *x = vectors + r * HD + h * D, inverse;
                inverse = row_of(x, y + start[n] * HD, w, r - start[n], before, h);
                for (int d = 0; d < D; d++)
                    x[d] *= inverse;
                plain_sigmoid(g[r * w->heads + h], &factors[r * w->heads + h], &minus);
                factors[r * w->heads + h] *= 2.0f;
            }
}

/* dz [T,HD] of one sequence. */
static void before_silu(float *dz, const float *dv, const float *y, const struct pw_walk_rows *w, int T)
{
    int D = w->head_width;
    float *x = malloc((size_t)D * sizeof *x);
    for (int i = 0; i < T * w->heads; i++, dv += D, dz += D) {
        int r = i / w->heads, h = i % w->heads;
        float inverse = row_of(x, y, w, r, 0, h), lane[16] = {0};
        for (int d = 0; d < D; d++)
            lane[d % 16] = fmaf(dv[d], x[d] * inverse, lane[d % 16]);
        float along = plain_tree(lane);
        for (int d = 0; d < D; d++) {
            dz[d] = fmaf(-along, x[d] * inverse, dv[d]) * inverse;
            if (w->taps > 0)
                dz[d] *= plain_silu_grad(convolve(y, w, r, 0, h * D + d));
        }
    }
    free(x);
}

void PW_OP(walk_bwd)(struct pw_ctx *c, float *dy, float *dg, float *d_conv, const float *d_vectors,
                     const float *d_factors, const float *y, const float *g, const struct pw_walk_rows *w,
                     const struct pw_seqs *s)
{
    int HD = w->heads * w->head_width, R = s->start[s->n];
    float share, minus;
    (void)c;
    for (int i = 0; w->kind == PW_WALK_SCALE && i < R * HD; i++) {
        plain_sigmoid(y[i], &share, &minus);
        dy[i] = d_vectors[i] * (share * minus);
    }
    for (int i = 0; w->kind == PW_WALK_REFLECT && i < R * w->heads; i++) {
        plain_sigmoid(g[i], &share, &minus);
        dg[i] = d_factors[i] * ((share + share) * minus);
    }
    for (int n = 0; w->kind == PW_WALK_REFLECT && n < s->n; n++) {
        int at = s->start[n] * HD, T = s->start[n + 1] - s->start[n], taps = w->taps;
        float *dz = malloc((size_t)(T * HD) * sizeof *dz);
        before_silu(dz, d_vectors + at, y + at, w, T);
        for (int i = 0; i < T * HD; i++) {
            int r = i / HD, col = i % HD;
            dy[at + i] = taps > 0 ? 0.0f : dz[i];
            for (int row = r; row < r + taps && row < T; row++)
                dy[at + i] = fmaf(w->conv[col * taps + taps - 1 - (row - r)], dz[row * HD + col], dy[at + i]);
            for (int k = 0; k < taps; k++)
                if (r - taps + 1 + k >= 0)
                    d_conv[col * taps + k] =
                        fmaf(dz[i], y[at + (r - taps + 1 + k) * HD + col], d_conv[col * taps + k]);
        }
        free(dz);
    }
}
