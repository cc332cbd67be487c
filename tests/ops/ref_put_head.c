/* ref_put_head.c - reference for bits: replacing the output of a head. */
#include "tests/ops/ref_plain.h"

void PW_OP(put_head)(struct pw_ctx *c, float *z, const float *table, const int *pos, int h, int H, int D,
                     int R)
{
    (void)c;
    for (int i = 0; i < R * H * D; i++) {
        int r = i / (H * D), d = i % D;
        if (i / D % H == h)
            z[i] = table != NULL ? table[pos[r] * D + d] : 0.0f;
    }
}
