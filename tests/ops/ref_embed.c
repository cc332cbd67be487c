/* ref_embed.c - reference for bits: the embedding. */
#include "tests/ops/ref_plain.h"

/* The offset of column i of row r in added table k. */
static size_t added_at(const struct pw_added *a, int k, size_t r, size_t i, int C)
{
    size_t W = (size_t)(a->halves ? C / 2 : C);
    return (size_t)a->row[k][r] * W + (a->halves ? i % W : i);
}

void PW_OP(embed_fwd)(struct pw_ctx *c, float *x, const float *table, const int *ids,
                      const struct pw_added *a, int R, int C)
{
    (void)c;
    for (size_t r = 0; r < (size_t)R; r++)
        for (size_t i = 0; i < (size_t)C; i++) {
            float t = a->scale * table[(ids != NULL ? (size_t)ids[r] : r) * (size_t)C + i];
            int k = a->halves && 2 * i >= (size_t)C;
            if (a->n > 0) {
                float sum = a->table[k][added_at(a, k, r, i, C)];
                if (a->n > 1 && !a->halves)
                    sum = sum + a->table[1][added_at(a, 1, r, i, C)];
                t = t + sum;
            }
            x[r * (size_t)C + i] = t;
        }
}

void PW_OP(embed_bwd)(struct pw_ctx *c, float *d_table, float *const *d_added, const float *dx,
                      const int *ids, const struct pw_added *a, int R, int C)
{
    (void)c;
    for (size_t r = 0; r < (size_t)R; r++)
        for (size_t i = 0; i < (size_t)C; i++) {
            float d = dx[r * (size_t)C + i];
            if (d_table != NULL)
                d_table[(size_t)ids[r] * (size_t)C + i] += a->scale * d;
            for (int k = 0; d_added != NULL && k < a->n; k++)
                if (!a->halves || (2 * i >= (size_t)C) == (k == 1))
                    d_added[k][added_at(a, k, r, i, C)] += d;
        }
}
