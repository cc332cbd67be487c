/* ref_rotate.c - the rotation of q and k, plainly. */
#include "tests/ops/ref_plain.h"

#include <math.h>

void PW_OP(rotate)(struct pw_ctx *c, float *qkv, const float *cosine, const float *sine, const int *pos,
                   int pairs, enum pw_pairing pairing, bool inverse, int H, int D, int R)
{
    (void)c;
    int da = pairing == PW_PAIRING_INTERLEAVED ? 2 : 1, db = pairing == PW_PAIRING_INTERLEAVED ? 1 : pairs;
    for (int r = 0; r < R; r++, qkv += 3 * H * D)
        for (int h = 0; h < 2 * H; h++) /* the heads of q, then those of k */
            for (int i = 0; i < pairs; i++) {
                float co = cosine[(size_t)pos[r] * (size_t)pairs + (size_t)i];
                float si = sine[(size_t)pos[r] * (size_t)pairs + (size_t)i];
                float *a = qkv + h * D + i * da, *b = a + db, x = *a, y = *b;
                if (inverse)
                    si = -si;
                *a = fmaf(x, co, -(y * si));
                *b = fmaf(x, si, y * co);
            }
}
