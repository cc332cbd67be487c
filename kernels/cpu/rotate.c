/* rotate.c - rotary position embedding of q and k in place (Su et al. 2021, eq. 34).
 *
 * Interleaved pairs (a,b) side by side: with the even and the odd lanes doubled, both outputs are one
 * fmaf(a, C, b*S) where C = cos sin cos sin .. and S = -sin cos -sin cos ... That is exactly the contract's
 * fmaf(a, cos, -(b*sin)), fmaf(a, sin, b*cos), because negation doesn't round. Narrow heads whose entries
 * all turn are taken several at a time: the heads of a row share its angles. */
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/ops.h"
#include "kernels/cpu/simd.h"

static void rotate_interleaved(float *x, int heads, int D, int n, const float *C, const float *S)
{
    for (int h = 0; h < heads; h++, x += D)
        for (int i = 0; i < n; i += 16) {
            v16 v = v_load_n(x + i, n - i);
            v16 bs = v_mul(v_dup_odd(v), v_load(S + i));
            v_store_n(x + i, n - i, v_fma(v_dup_even(v), v_load(C + i), bs));
        }
}

/* Heads of 8 in halves, two at a time: the same with lanes doubled by fours. */
static void rotate_eights(float *x, int n, const float *C, const float *S)
{
    for (int i = 0; i < n; i += 16) {
        v16 v = v_load_n(x + i, n - i);
        v_store_n(x + i, n - i, v_fma(v_dup_even4(v), v_load(C), v_mul(v_dup_odd4(v), v_load(S))));
    }
}

static void rotate_halves(float *x, int heads, int D, int n, const float *cosine, const float *sine,
                          float sign)
{
    for (int h = 0; h < heads; h++, x += D)
        for (int i = 0; i < n; i += 16) {
            v16 a = v_load_n(x + i, n - i), b = v_load_n(x + n + i, n - i);
            v16 co = v_load_n(cosine + i, n - i), si = v_load_n(sine + i, n - i);
            v_store_n(x + i, n - i, v_fma(a, co, v_mul(b, v_mul(v_set(-sign), si))));
            v_store_n(x + n + i, n - i, v_fma(a, v_mul(v_set(sign), si), v_mul(b, co)));
        }
}

void PW_OP(rotate)(struct pw_ctx *c, float *qkv, const float *cosine, const float *sine, const int *pos,
                   int pairs, enum pw_pairing pairing, bool inverse, int H, int D, int R)
{
    if (pairs == 0)
        return;
    float sign = inverse ? -1.0f : 1.0f;
    int heads = 2 * H, width = D, row = 3 * H * D; /* the heads of q, then those of k */
    if (2 * pairs == D && D < 16 && 16 % D == 0 && heads * D % 16 == 0) {
        heads = heads * D / 16;
        width = 16;
    }
    int n = width == D ? 2 * pairs : width;     /* entries of a head that turn */
    size_t padded = (size_t)(n + 15) / 16 * 16; /* 16 at least */
    float *C = pw_ctx_scratch(c, 2 * padded), *S = C + padded;
    memset(C, 0, 2 * padded * sizeof *C);
    for (int r = 0; r < R; r++, qkv += row) {
        const float *co = cosine + (size_t)pos[r] * (size_t)pairs,
                    *si = sine + (size_t)pos[r] * (size_t)pairs;
        if (pairing == PW_PAIRING_HALF && D == 8 && pairs == 4) {
            for (int i = 0; i < 16; i++) {
                C[i] = i & 4 ? sign * si[i & 3] : co[i & 3];
                S[i] = i & 4 ? co[i & 3] : -sign * si[i & 3];
            }
            rotate_eights(qkv, 2 * H * D, C, S);
            continue;
        }
        if (pairing == PW_PAIRING_HALF) {
            rotate_halves(qkv, 2 * H, D, pairs, co, si, sign);
            continue;
        }
        for (int i = 0, p = 0; i < n; i += 2, p = p + 1 < pairs ? p + 1 : 0) {
            C[i] = co[p];
            C[i + 1] = sign * si[p];
            S[i] = -C[i + 1];
            S[i + 1] = co[p];
        }
        rotate_interleaved(qkv, heads, width, n, C, S);
    }
}
