/* scan.c - stick-breaking weights of a head (Tan et al. 2024; PW_SCAN_STICK in kernels/backend.h) and their
 * backward pass.
 *
 * A key takes a share of what the keys after it have left, so the steps along a row depend on each other.
 * The queries of a block don't. So a tile of 16 queries and 16 keys is transposed, the steps run over its
 * keys with one query in each lane, and the result is transposed back. */
#include "kernels/cpu/attention_block.h"

enum { LANES = 16 };

/* x, or 0 if it is below 2^-100: products of weights then have no subnormal numbers, which are slow. */
V_INLINE v16 not_tiny(v16 x)
{
    return v_select(v_less(x, v_set(0x1p-100f)), v_zero(), x);
}

/* Mask of the keys of query i among keys j .. j+15. Its own key is none of them. */
V_INLINE m16 keys_of(int i, int j)
{
    return pw_attn_seen_lanes(i - j);
}

/* Load 16 columns of m rows of x, Tp apart; rows that are missing are zeros. */
V_INLINE void load_tile(v16 t[LANES], const float *x, size_t Tp, int m)
{
    V_UNROLL
    for (int r = 0; r < LANES; r++)
        t[r] = r < m ? v_load(x + (size_t)r * Tp) : v_zero();
}

void PW_OP(stick_block)(const struct pw_head *hd, float *s, float *taken, int i, int m, int cols)
{
    size_t Tp = (size_t)hd->Tp;
    float rest[LANES];
    v16 left = v_set(1.0f);
    for (int j = cols - LANES; j >= 0; j -= LANES) {
        v16 share[LANES], t[LANES];
        load_tile(share, s + j, Tp, m);
        for (int r = 0; r < LANES; r++) {
            v16 minus;
            m16 seen = keys_of(i + r, j);
            v_sigmoid(share[r], &share[r], &minus);
            share[r] = v_select(seen, share[r], v_zero());
            t[r] = v_select(seen, minus, v_set(1.0f));
            if (taken != NULL && r < m)
                v_store(taken + (size_t)r * Tp + j, share[r]);
        }
        v_transpose(t);
        for (int k = LANES - 1; k >= 0; k--) {
            v16 minus = t[k];
            t[k] = left;
            left = not_tiny(v_mul(left, minus));
        }
        v_transpose(t);
        for (int r = 0; r < m; r++)
            v_store(s + (size_t)r * Tp + j, not_tiny(v_mul(share[r], t[r])));
    }
    v_store(rest, left);
    for (int r = 0; r < m; r++) {
        s[(size_t)r * Tp + i + r] = rest[r];
        for (int j = cols; j < hd->Tp; j += LANES)
            v_store(s + (size_t)r * Tp + j, v_zero());
    }
}

void PW_OP(stick_block_bwd)(const struct pw_head *hd, float *ds, const float *p, const float *taken, int i,
                            int m, int cols)
{
    size_t Tp = (size_t)hd->Tp;
    float own[LANES] = {0};
    for (int r = 0; r < m; r++) {
        size_t at = (size_t)r * Tp + (size_t)(i + r);
        own[r] = p[at] * ds[at];
    }
    v16 sum = v_load(own);
    for (int j = 0; j < cols; j += LANES) {
        v16 t[LANES], u[LANES];
        load_tile(t, ds + j, Tp, m);
        load_tile(u, p + j, Tp, m);
        for (int r = 0; r < LANES; r++) {
            u[r] = v_mul(u[r], t[r]);
            u[r] = v_select(keys_of(i + r, j), u[r], v_zero());
            t[r] = u[r];
        }
        v_transpose(t);
        for (int k = 0; k < LANES; k++)
            t[k] = sum = v_add(sum, t[k]);
        v_transpose(t);
        for (int r = 0; r < m; r++) {
            v16 v = v_sub(u[r], v_mul(v_load(taken + (size_t)r * Tp + j), t[r]));
            v_store(ds + (size_t)r * Tp + j, v_select(keys_of(i + r, j), v, v_zero()));
        }
    }
    for (int r = 0; r < m; r++)
        for (int j = cols; j < hd->Tp; j += LANES)
            v_store(ds + (size_t)r * Tp + j, v_zero());
}
