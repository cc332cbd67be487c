/* ref_embed.c - the embedding, plainly. */
#include "tests/ops/ref_plain.h"

void PW_OP(embed_fwd)(struct pw_ctx *c, float *x, const float *table, const int *ids, const float *added,
                      const int *pos, int R, int C)
{
    (void)c;
    for (size_t r = 0; r < (size_t)R; r++)
        for (size_t i = 0; i < (size_t)C; i++) {
            float t = table[(size_t)ids[r] * (size_t)C + i];
            x[r * (size_t)C + i] = added ? t + added[(size_t)pos[r] * (size_t)C + i] : t;
        }
}

void PW_OP(embed_bwd)(struct pw_ctx *c, float *d_table, float *d_added, const float *dx, const int *ids,
                      const int *pos, int R, int C)
{
    (void)c;
    for (size_t r = 0; r < (size_t)R; r++)
        for (size_t i = 0; i < (size_t)C; i++) {
            float d = dx[r * (size_t)C + i];
            d_table[(size_t)ids[r] * (size_t)C + i] += d;
            if (d_added)
                d_added[(size_t)pos[r] * (size_t)C + i] += d;
        }
}
