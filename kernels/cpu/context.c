/* context.c - contextual positions of a head (Golovneva et al. 2024; PW_SCAN_CONTEXT in kernels/backend.h):
 * their part of the scores, and the gradients.
 *
 * The position of a key is a sum over the keys between it and the query, one step for each. Rows don't depend
 * on each other, so the steps of a block of 16 queries run side by side on transposed tiles, as in scan.c.
 * The products of a query with all columns of the table come first, and each key reads two of them. */
#include "kernels/cpu/attention_block.h"

#include <math.h>
#include <string.h>

enum { LANES = PW_BLOCK };

/* Columns of the padded table; column n is a copy of the last one, so that each column has a next one. */
static int columns(const struct pw_scan *s)
{
    return pw_to_16(s->n + 1);
}

size_t PW_OP(context_floats)(const struct pw_attn *a, int Tp, bool backward)
{
    if (a->scan.kind != PW_SCAN_CONTEXT)
        return 0;
    size_t ld = (size_t)columns(&a->scan), D = (size_t)a->head_width, rows = (size_t)Tp;
    size_t more = backward ? (size_t)a->scan.n * (size_t)pw_to_16(a->head_width) + rows * ld : 0;
    return D * ld + LANES * (ld + 2 * rows) + more;
}

void PW_OP(context_init)(struct pw_context *x, const struct pw_attn *a, int Tp, bool backward, float *room)
{
    *x = (struct pw_context){0};
    if (a->scan.kind != PW_SCAN_CONTEXT)
        return;
    int n = a->scan.n, ld = x->ld = columns(&a->scan), D = a->head_width;
    x->Tp = Tp;
    x->across = room;
    PW_OP(pack_rows)(x->across, (size_t)ld, a->scan.rows, (size_t)n, D, n);
    for (int d = 0; d < D; d++)
        x->across[(size_t)d * (size_t)ld + (size_t)n] = x->across[(size_t)d * (size_t)ld + (size_t)n - 1];
    room += (size_t)D * (size_t)ld;
    PW_OP(context_room)(x, room);
    if (!backward)
        return;
    x->rows = room + LANES * ((size_t)ld + 2 * (size_t)Tp);
    x->sums = x->rows + (size_t)n * (size_t)pw_to_16(D);
    for (int k = 0; k < n; k++)
        for (int d = 0; d < pw_to_16(D); d++)
            x->rows[(size_t)k * (size_t)pw_to_16(D) + (size_t)d] =
                d < D ? a->scan.rows[(size_t)d * (size_t)n + (size_t)k] : 0.0f;
}

void PW_OP(context_room)(struct pw_context *x, float *room)
{
    x->dots = room;
    x->places = room + LANES * (size_t)x->ld;
    x->gates = x->places + LANES * (size_t)x->Tp;
}

/* x->dots = queries from q on times the table; x->places = sums of gates over each key and all later ones. */
static void find_places(const struct pw_context *x, const struct pw_head *hd, const float *gates,
                        const float *q, int m, int cols)
{
    size_t Tp = (size_t)hd->Tp, ld = (size_t)x->ld;
    v16 sum = v_zero();
    pw_product(m, x->ld, hd->a->head_width, q, hd->w, 1, x->across, ld, x->dots, ld, false);
    for (int j = cols - LANES; j >= 0; j -= LANES) {
        v16 t[LANES];
        pw_attn_load_tile(t, gates + j, Tp, m);
        v_transpose(t);
        for (int k = LANES - 1; k >= 0; k--)
            t[k] = sum = v_add(sum, t[k]);
        v_transpose(t);
        for (int r = 0; r < m; r++)
            v_store(x->places + (size_t)r * Tp + j, t[r]);
    }
}

/* The position of a key, at most last; NaN becomes last, so that it is an index. */
static inline float place_of(float sum, float last)
{
    return sum < last ? sum : last;
}

/* Add the interpolated products to the scores s of the first `keys` keys. */
static void add_products(float *s, const float *places, const float *dots, float last, int keys)
{
    for (int j = 0; j < keys; j++) {
        float place = place_of(places[j], last);
        int f = (int)place;
        s[j] += fmaf(place - (float)f, dots[f + 1] - dots[f], dots[f]);
    }
}

void PW_OP(context_add)(const struct pw_context *x, const struct pw_head *hd, float *s, float *gates,
                        float *max, const float *q, int i, int m, int cols)
{
    size_t Tp = (size_t)hd->Tp;
    float last = (float)(hd->a->scan.n - 1);
    gates = gates != NULL ? gates : x->gates;
    for (int r = 0; r < m; r++)
        for (int j = 0; j < cols; j += LANES) {
            v16 share, minus;
            v_sigmoid(v_load(s + (size_t)r * Tp + j), &share, &minus);
            share = v_select(pw_attn_seen_lanes(i + r + 1 - j), share, v_zero());
            v_store(gates + (size_t)r * Tp + j, share);
        }
    find_places(x, hd, gates, q, m, cols);
    for (int r = 0; r < m; r++) {
        float *row = s + (size_t)r * Tp;
        v16 most = v_set(-INFINITY);
        add_products(row, x->places + (size_t)r * Tp, x->dots + (size_t)r * (size_t)x->ld, last, i + r + 1);
        for (int j = 0; j < cols; j += LANES)
            most = v_max(v_load(row + j), most);
        max[r] = v_largest(most);
    }
}

/* ---- gradients */

/* Sum ds of queries i .. i+m-1 by the two columns that each key reads. Queries side by side: additions to one
 * column wait for each other. */
static void sum_columns(const struct pw_context *x, const struct pw_head *hd, const float *ds, int i, int m)
{
    size_t Tp = (size_t)hd->Tp, ld = (size_t)x->ld;
    float last = (float)(hd->a->scan.n - 1), *sums = x->sums + (size_t)i * ld;
    memset(sums, 0, (size_t)m * ld * sizeof *sums);
    for (int j = 0; j < i + m; j++)
        for (int r = j > i ? j - i : 0; r < m; r++) {
            float place = place_of(x->places[(size_t)r * Tp + (size_t)j], last),
                  d = ds[(size_t)r * Tp + (size_t)j];
            int f = (int)place;
            float w = place - (float)f, *sum = sums + (size_t)r * ld + f;
            sum[0] += (1.0f - w) * d;
            sum[1] += w * d;
        }
}

/* Replace places by the gradients of positions, from ds. A position at the last column is constant. */
static void slope_places(float *places, const float *ds, const float *dots, float last, int cols)
{
    for (int j = 0; j < cols; j++) {
        float place = place_of(places[j], last);
        int f = (int)place;
        places[j] = ds[j] * (dots[f + 1] - dots[f]);
    }
}

void PW_OP(context_back)(const struct pw_context *x, const struct pw_head *hd, float *ds, const float *gates,
                         int i, int m, int cols)
{
    size_t Tp = (size_t)hd->Tp;
    v16 sum = v_zero();
    find_places(x, hd, gates, hd->q + (size_t)i * hd->w, m, cols);
    sum_columns(x, hd, ds, i, m);
    for (int r = 0; r < m; r++)
        slope_places(x->places + (size_t)r * Tp, ds + (size_t)r * Tp, x->dots + (size_t)r * (size_t)x->ld,
                     (float)(hd->a->scan.n - 1), cols);
    for (int j = 0; j < cols; j += LANES) {
        v16 t[LANES];
        pw_attn_load_tile(t, x->places + j, Tp, m);
        v_transpose(t);
        for (int k = 0; k < LANES; k++)
            t[k] = sum = v_add(sum, t[k]);
        v_transpose(t);
        for (int r = 0; r < m; r++) {
            v16 g = v_load(gates + (size_t)r * Tp + j), v = v_load(ds + (size_t)r * Tp + j);
            v = v_add(v, v_mul(t[r], v_mul(g, v_sub(v_set(1.0f), g))));
            v = v_select(pw_attn_seen_lanes(i + r + 1 - j), v, v_zero());
            v_store(ds + (size_t)r * Tp + j, v);
        }
    }
}

void PW_OP(context_rows)(const struct pw_context *x, const struct pw_head *hd, float *dq, float *d_rows,
                         const float *q)
{
    size_t ld = (size_t)x->ld, Dp = (size_t)pw_to_16(hd->D);
    int n = hd->a->scan.n;
    pw_product(hd->T, hd->D, n, x->sums, ld, 1, x->rows, Dp, dq, hd->w, true);
    if (d_rows != NULL)
        pw_product(hd->D, n, hd->T, q, 1, Dp, x->sums, ld, d_rows, (size_t)n, true);
}
