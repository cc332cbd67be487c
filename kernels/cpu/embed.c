/* embed.c - token embedding, with rows of up to two tables added to it. */
#include "kernels/cpu/ops.h"
#include "kernels/cpu/simd.h"

/* Return row r of added table k [.,W]; NULL if there is no such table. */
static const float *added_row(const struct pw_added *a, int k, int r, int W)
{
    return k < a->n ? a->table[k] + (size_t)a->row[k][r] * (size_t)W : NULL;
}

/* x = scale * t, or that + one, or that + (one + two) */
static void sum_row(float *x, float scale, const float *t, const float *one, const float *two, int n)
{
    for (int i = 0; i < n; i += 16) {
        v16 v = v_mul(v_set(scale), v_load_n(t + i, n - i));
        if (one != NULL) {
            v16 a = v_load_n(one + i, n - i);
            if (two != NULL)
                a = v_add(a, v_load_n(two + i, n - i));
            v = v_add(v, a);
        }
        v_store_n(x + i, n - i, v);
    }
}

void PW_OP(embed_fwd)(struct pw_ctx *c, float *x, const float *table, const int *ids,
                      const struct pw_added *a, int R, int C)
{
    int W = a->halves ? C / 2 : C;
    (void)c;
    for (int r = 0; r < R; r++, x += C) {
        const float *t = table + (ids != NULL ? (size_t)ids[r] : (size_t)r) * (size_t)C;
        const float *one = added_row(a, 0, r, W), *two = added_row(a, 1, r, W);
        sum_row(x, a->scale, t, one, a->halves ? NULL : two, W);
        if (a->halves)
            sum_row(x + W, a->scale, t + W, two, NULL, W);
    }
}

static void add_row(float *y, float scale, const float *x, int n)
{
    for (int i = 0; i < n; i += 16) {
        v16 v = v_mul(v_set(scale), v_load_n(x + i, n - i));
        v_store_n(y + i, n - i, v_add(v_load_n(y + i, n - i), v));
    }
}

void PW_OP(embed_bwd)(struct pw_ctx *c, float *d_table, float *const *d_added, const float *dx,
                      const int *ids, const struct pw_added *a, int R, int C)
{
    int W = a->halves ? C / 2 : C;
    (void)c;
    for (int r = 0; r < R; r++, dx += C) {
        if (d_table != NULL)
            add_row(d_table + (size_t)ids[r] * (size_t)C, a->scale, dx, C);
        for (int k = 0; d_added != NULL && k < a->n; k++)
            add_row(d_added[k] + (size_t)a->row[k][r] * (size_t)W, 1.0f, a->halves ? dx + k * W : dx, W);
    }
}
