/* embed.c - token embedding with an optional table added by position. */
#include "kernels/cpu/ops.h"
#include "kernels/cpu/simd.h"

void PW_OP(embed_fwd)(struct pw_ctx *c, float *x, const float *table, const int *ids, const float *added,
                      const int *pos, int R, int C)
{
    (void)c;
    for (int r = 0; r < R; r++, x += C) {
        const float *t = table + (size_t)ids[r] * (size_t)C;
        const float *a = added != NULL ? added + (size_t)pos[r] * (size_t)C : NULL;
        for (int i = 0; i < C; i += 16) {
            v16 v = v_load_n(t + i, C - i);
            if (a != NULL)
                v = v_add(v, v_load_n(a + i, C - i));
            v_store_n(x + i, C - i, v);
        }
    }
}

static void add_row(float *y, const float *x, int C)
{
    for (int i = 0; i < C; i += 16)
        v_store_n(y + i, C - i, v_add(v_load_n(y + i, C - i), v_load_n(x + i, C - i)));
}

void PW_OP(embed_bwd)(struct pw_ctx *c, float *d_table, float *d_added, const float *dx, const int *ids,
                      const int *pos, int R, int C)
{
    (void)c;
    for (int r = 0; r < R; r++, dx += C) {
        add_row(d_table + (size_t)ids[r] * (size_t)C, dx, C);
        if (d_added != NULL)
            add_row(d_added + (size_t)pos[r] * (size_t)C, dx, C);
    }
}
