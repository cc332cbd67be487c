/* heads.c - heads of q, k and v as attention reads them: q and k normed, k and v repeated for the query heads
 * that share them (Ainslie et al. 2023).
 *
 * Backward pass of a normed head, with t its gradient, u = t*gain and xhat = x*rstd:
 *   d_gain = fmaf(t, xhat, d_gain), dx = rstd * (u - xhat * mean(u*xhat)) */
#include "kernels/cpu/ops.h"
#include "kernels/cpu/simd.h"

#include <math.h>
#include <string.h>

/* y [D] = the normed head; returns 1 / rms. */
static float norm_head(float *y, const float *x, const float *gain, float eps, int D)
{
    v16 s = v_zero();
    for (int i = 0; i < D; i += 16) {
        v16 v = v_load_n(x + i, D - i);
        s = v_fma(v, v, s);
    }
    float rstd = 1.0f / sqrtf(v_tree(s) / (float)D + eps);
    for (int i = 0; i < D; i += 16) {
        v16 v = v_mul(v_load_n(x + i, D - i), v_set(rstd));
        v_store_n(y + i, D - i, v_mul(v, v_load_n(gain + i, D - i)));
    }
    return rstd;
}

void PW_OP(heads_fwd)(struct pw_ctx *c, float *qkv, float *stat, const float *x, const struct pw_heads *h,
                      int R)
{
    int H = h->heads, K = h->kv_heads, D = h->head_width, n = H + 2 * K, same = H / K;
    (void)c;
    for (int r = 0; r < R; r++, qkv += 3 * (size_t)(H * D))
        for (int j = 0; j < n; j++, x += D) {
            int part = pw_heads_part(h, j), copies = part == 0 ? 1 : same;
            float *to = qkv + (size_t)pw_heads_place(h, j) * (size_t)D;
            const float *gain = part == 0 ? h->q_gain : part == 1 ? h->k_gain : NULL;
            if (gain != NULL)
                *stat++ = norm_head(to, x, gain, h->eps, D);
            else
                memcpy(to, x, (size_t)D * sizeof *to);
            for (int k = 1; k < copies; k++)
                memcpy(to + k * D, to, (size_t)D * sizeof *to);
        }
}

/* Sixteen entries of the gradient of a head: the sum over its copies. */
V_INLINE v16 sum_copies(const float *d, int copies, int D, int left)
{
    v16 t = v_load_n(d, left);
    for (int k = 1; k < copies; k++)
        t = v_add(t, v_load_n(d + (size_t)k * (size_t)D, left));
    return t;
}

static void norm_head_back(float *dx, float *d_gain, const float *d, int copies, const float *x,
                           const float *gain, float rstd, int D)
{
    v16 s = v_zero();
    for (int i = 0; i < D; i += 16) {
        int left = D - i;
        v16 t = sum_copies(d + i, copies, D, left), xhat = v_mul(v_load_n(x + i, left), v_set(rstd));
        if (d_gain != NULL)
            v_store_n(d_gain + i, left, v_fma(t, xhat, v_load_n(d_gain + i, left)));
        s = v_fma(v_mul(t, v_load_n(gain + i, left)), xhat, s);
    }
    v16 mean = v_set(v_tree(s) / (float)D);
    for (int i = 0; i < D; i += 16) {
        int left = D - i;
        v16 t = sum_copies(d + i, copies, D, left), xhat = v_mul(v_load_n(x + i, left), v_set(rstd));
        v16 u = v_mul(t, v_load_n(gain + i, left));
        v_store_n(dx + i, left, v_mul(v_set(rstd), v_sub(u, v_mul(xhat, mean))));
    }
}

void PW_OP(heads_bwd)(struct pw_ctx *c, float *dx, float *d_q_gain, float *d_k_gain, const float *dqkv,
                      const float *x, const float *stat, const struct pw_heads *h, int R)
{
    int H = h->heads, K = h->kv_heads, D = h->head_width, n = H + 2 * K, same = H / K;
    (void)c;
    for (int r = 0; r < R; r++, dqkv += 3 * (size_t)(H * D))
        for (int j = 0; j < n; j++, x += D, dx += D) {
            int part = pw_heads_part(h, j), copies = part == 0 ? 1 : same;
            const float *d = dqkv + (size_t)pw_heads_place(h, j) * (size_t)D;
            const float *gain = part == 0 ? h->q_gain : part == 1 ? h->k_gain : NULL;
            if (gain != NULL)
                norm_head_back(dx, part == 0 ? d_q_gain : d_k_gain, d, copies, x, gain, *stat++, D);
            for (int i = 0; gain == NULL && i < D; i += 16)
                v_store_n(dx + i, D - i, sum_copies(d + i, copies, D, D - i));
        }
}
