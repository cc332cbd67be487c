/* ref_wide.c - see ref_wide.h. Zeros behind the values change no sum. */
#include "tests/ops/ref_wide.h"

#include <stdlib.h>
#include <string.h>

bool ref_is_wide(const struct pw_attn *a)
{
    return a->made != NULL && a->made->wide != NULL;
}

static struct pw_attn plain_of(const struct pw_attn *a)
{
    struct pw_attn plain = *a;
    plain.head_width = a->made->width;
    plain.made = NULL;
    return plain;
}

static float *zeros(size_t n)
{
    float *p = calloc(n + 1, sizeof *p);
    if (p == NULL)
        abort();
    return p;
}

/* Copies rows of H heads between arrays of different head widths, and of `from` and `to` floats a row. */
static void copy_heads(float *y, int to, int D, const float *x, int from, int E, int H, int R)
{
    for (int r = 0; r < R; r++)
        for (int h = 0; h < H; h++)
            memcpy(y + r * to + h * D, x + r * from + h * E, (size_t)(D < E ? D : E) * sizeof *y);
}

/* Rows of q, k and v of heads of width E. */
static float *widen(const float *qkv, const struct pw_attn *a, int R)
{
    int H = a->heads, D = a->head_width, E = a->made->width;
    float *wide = zeros((size_t)(R * 3 * H * E));
    copy_heads(wide, 3 * H * E, E, a->made->wide, 2 * H * E, E, 2 * H, R);
    copy_heads(wide + 2 * H * E, 3 * H * E, E, qkv + 2 * H * D, 3 * H * D, D, H, R);
    return wide;
}

void ref_wide_scores(const struct pw_backend_ops *ops, float *out, const float *qkv, const struct pw_attn *a,
                     const int *pos, const struct pw_seqs *s)
{
    struct pw_attn plain = plain_of(a);
    float *wide = widen(qkv, a, s->start[s->n]);
    ops->scores(NULL, out, wide, &plain, pos, s);
    free(wide);
}

void ref_wide_fwd(const struct pw_backend_ops *ops, float *z, float *save, const struct pw_maps *maps,
                  const float *qkv, const struct pw_attn *a, const int *pos, const struct pw_seqs *s)
{
    struct pw_attn plain = plain_of(a);
    int H = a->heads, D = a->head_width, E = a->made->width, R = s->start[s->n];
    float *wide = widen(qkv, a, R), *y = zeros((size_t)(R * H * E));
    ops->attention_fwd(NULL, y, save, maps, wide, &plain, pos, s);
    copy_heads(z, H * D, D, y, H * E, E, H, R);
    free(wide);
    free(y);
}

void ref_wide_cached(const struct pw_backend_ops *ops, float *z, float *cache, const float *qkv,
                     const struct pw_attn *a, const int *pos, int cap, int T, int R)
{
    struct pw_attn plain = plain_of(a);
    int H = a->heads, D = a->head_width, E = a->made->width;
    float *wide = widen(qkv, a, R), *y = zeros((size_t)(R * H * E));
    ops->attention_cached(NULL, y, cache, wide, &plain, pos, cap, T, R);
    copy_heads(z, H * D, D, y, H * E, E, H, R);
    free(wide);
    free(y);
}

void ref_wide_bwd(const struct pw_backend_ops *ops, float *dqkv, float *d_bias, float *d_terms,
                  const float *dz, const float *qkv, const float *save, const struct pw_attn *a,
                  const int *pos, const struct pw_seqs *s)
{
    struct pw_attn plain = plain_of(a);
    int H = a->heads, D = a->head_width, E = a->made->width, R = s->start[s->n];
    float *wide = widen(qkv, a, R), *d = zeros((size_t)(R * 3 * H * E)), *g = zeros((size_t)(R * H * E));
    copy_heads(g, H * E, E, dz, H * D, D, H, R);
    ops->attention_bwd(NULL, d, d_bias, NULL, d_terms, g, NULL, wide, save, &plain, pos, s);
    copy_heads(a->made->d_wide, 2 * H * E, E, d, 3 * H * E, E, 2 * H, R);
    copy_heads(dqkv + 2 * H * D, 3 * H * D, D, d + 2 * H * E, 3 * H * E, E, H, R);
    free(wide);
    free(d);
    free(g);
}
