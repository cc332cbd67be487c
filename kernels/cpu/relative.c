/* relative.c - relative keys (Shaw et al. 2018): their contribution to a head's scores, and the gradients.
 *
 * The table has few rows. So q.a is computed as a product of queries and rows, from which every pair reads
 * its entry (section 3.3 of the paper). If position ids ascend by one, the keys of a query that are nearer
 * than `reach` use consecutive rows. So the table is stored with its last row first, and these keys are added
 * by whole vectors. All keys before them use the last row; without the mask all keys after them use row 0. */
#include "kernels/cpu/attention.h"
#include "kernels/cpu/gemm.h"
#include "kernels/cpu/simd.h"

size_t PW_OP(relative_floats)(const struct pw_attn *a, int T, bool backward)
{
    if (a->keys == NULL)
        return 0;
    size_t rows = (size_t)pw_key_rows(a), ld = (size_t)pw_to_16((int)rows);
    if (backward)
        return rows * (size_t)pw_to_16(a->head_width) + (size_t)T * ld + 16 * rows;
    return ((size_t)a->head_width + PW_BLOCK) * ld;
}

void PW_OP(relative_init)(struct pw_relative *x, const struct pw_attn *a, int T, bool backward, float *room)
{
    *x = (struct pw_relative){0};
    if (a->keys == NULL)
        return;
    int D = a->head_width, Dp = pw_to_16(D), rows = x->rows = pw_key_rows(a), ld = x->ld = pw_to_16(rows);
    if (backward) {
        x->table = room;
        x->sums = x->table + (size_t)rows * (size_t)Dp;
        x->lanes = x->sums + (size_t)T * (size_t)ld;
        PW_OP(pack_rows)(x->table, (size_t)Dp, a->keys, (size_t)D, rows, D);
        return;
    }
    x->across = room;
    x->dots = x->across + (size_t)D * (size_t)ld;
    for (int d = 0; d < D; d++)
        for (int y = 0; y < ld; y++)
            *room++ = y < rows ? a->keys[(size_t)(rows - 1 - y) * (size_t)D + (size_t)d] : 0.0f;
}

static int between(int n, int low, int high)
{
    return n < low ? low : n > high ? high : n;
}

/* ---- scores */

static void add_same(float *s, int from, int to, float x)
{
    for (int j = from; j < to; j += 16)
        v_store_n(s + j, to - j, v_add(v_load_n(s + j, to - j), v_set(x)));
}

/* s: scores of query i; dots: its products with the rows, last row first. */
static void add_dots(const struct pw_head *hd, float *s, const float *dots, int rows, int i)
{
    int keys = pw_keys_before(hd, i + 1), reach = hd->a->reach;
    if (!hd->in_order) {
        for (int j = 0; j < keys; j++)
            s[j] += dots[between(hd->pos[j] - hd->pos[i] + reach, 0, rows - 1)];
        return;
    }
    int begin = i - reach; /* index of the key that dots[0] belongs to; may be outside the sequence */
    int near = between(begin, 0, keys), far = between(begin + rows, 0, keys);
    add_same(s, 0, near, dots[0]);
    for (int j = near; j < far; j += 16)
        v_store_n(s + j, far - j, v_add(v_load_n(s + j, far - j), v_load_n(dots + (j - begin), far - j)));
    add_same(s, far, keys, dots[rows - 1]);
}

void PW_OP(relative_add)(const struct pw_relative *x, const struct pw_head *hd, float *s, const float *q,
                         int i, int m)
{
    size_t ld = (size_t)x->ld;
    pw_product(m, x->rows, hd->a->head_width, q, hd->w, 1, x->across, ld, x->dots, ld, false);
    for (int r = 0; r < m; r++)
        add_dots(hd, s + (size_t)r * (size_t)hd->Tp, x->dots + (size_t)r * ld, x->rows, i + r);
}

/* ---- gradients */

/* Sum ds[from..to-1] by lanes over key index. */
static float sum_between(const float *ds, int from, int to)
{
    v16 total = v_zero();
    for (int j = from / 16 * 16; j < to; j += 16) {
        v16 v = v_select(m_first(between(to - j, 0, 16)), v_load(ds + j), v_zero());
        total = v_add(total, v_select(m_first(between(from - j, 0, 16)), v_zero(), v));
    }
    return v_tree(total);
}

/* Compute sums [rows] of query i from its dS in ds. */
static void sum_in_order(const struct pw_head *hd, float *sums, const float *ds, int rows, int i)
{
    int keys = pw_keys_before(hd, i + 1), key0 = hd->a->causal ? i : i + hd->a->reach; /* key of row 0 */
    for (int r = 1; r < rows - 1; r++) /* + 0: like a sum of one term, which is never -0 */
        sums[r] = key0 - r >= 0 && key0 - r < keys ? ds[key0 - r] + 0.0f : 0.0f;
    sums[0] = sum_between(ds, between(key0, 0, keys), keys);
    sums[rows - 1] = sum_between(ds, 0, between(key0 - rows + 2, 0, keys));
}

static void sum_any(const struct pw_head *hd, float *sums, const float *ds, float *lanes, int rows, int i)
{
    memset(lanes, 0, 16 * (size_t)rows * sizeof *lanes);
    for (int j = 0; j < pw_keys_before(hd, i + 1); j++)
        lanes[16 * pw_key_row(hd->a, hd->pos[i] - hd->pos[j]) + j % 16] += ds[j];
    for (int r = 0; r < rows; r++)
        sums[r] = v_tree(v_load(lanes + 16 * r));
}

void PW_OP(relative_dq)(const struct pw_relative *x, const struct pw_head *hd, float *dq, const float *ds,
                        int i, int m)
{
    size_t ld = (size_t)x->ld, Dp = (size_t)pw_to_16(hd->D);
    float *sums = x->sums + (size_t)i * ld;
    for (int r = 0; r < m; r++, ds += hd->Tp)
        if (hd->in_order)
            sum_in_order(hd, sums + (size_t)r * ld, ds, x->rows, i + r);
        else
            sum_any(hd, sums + (size_t)r * ld, ds, x->lanes, x->rows, i + r);
    pw_product(m, hd->D, x->rows, sums, ld, 1, x->table, Dp, dq, hd->w, true);
}

void PW_OP(relative_dkeys)(const struct pw_relative *x, const struct pw_head *hd, float *d_keys,
                           const float *q)
{
    size_t ld = (size_t)x->ld, D = (size_t)hd->D;
    for (int i = 0; i < hd->T; i++)
        for (int r = 0; r < x->rows; r++)
            x->sums[(size_t)i * ld + (size_t)r] *= hd->a->scale;
    pw_product(x->rows, hd->D, hd->T, x->sums, 1, ld, q, (size_t)pw_to_16(hd->D), d_keys, D, true);
}
