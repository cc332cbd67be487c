/* norm.c - RMS norm (Zhang and Sennrich 2019), layer norm (Ba et al. 2016), or only a factor.
 *
 * Backward pass, with t = scale*dy, u = t*gain, xhat = (x - mean)*rstd and means over the row:
 *   d_gain = fmaf(t, xhat, d_gain), d_bias += t, dx += rstd * ((u - mean(u)) - xhat * mean(u*xhat))
 *
 * RMS has no mean(u). Sums of a row go by lanes; a mean is the sum divided by C. */
#include "kernels/cpu/ops.h"
#include "kernels/cpu/vmath.h"

#include <math.h>

void PW_OP(norm_fwd)(struct pw_ctx *c, float *y, float *stat, const float *x, const float *gain,
                     const float *bias, enum pw_norm kind, float eps, float scale, int R, int C)
{
    (void)c;
    for (int r = 0; r < R; r++, x += C, y += C, stat += 2) {
        float mean = 0.0f, rstd = 1.0f;
        if (kind == PW_NORM_LAYER) {
            v16 s = v_zero();
            for (int i = 0; i < C; i += 16)
                s = v_add(s, v_load_n(x + i, C - i));
            mean = v_tree(s) / (float)C;
        }
        if (kind != PW_NORM_NONE) {
            v16 s = v_zero();
            int i = 0;
            for (; i + 16 <= C; i += 16) {
                v16 d = v_sub(v_load(x + i), v_set(mean));
                s = v_fma(d, d, s);
            }
            if (i < C) {
                v16 d = v_sub(v_load_n(x + i, C - i), v_set(mean));
                d = v_select(m_first(C - i), d, v_zero());
                s = v_fma(d, d, s);
            }
            rstd = 1.0f / sqrtf(v_tree(s) / (float)C + eps);
        }
        stat[0] = mean;
        stat[1] = rstd;
        for (int i = 0; i < C; i += 16) {
            v16 v = v_load_n(x + i, C - i);
            if (kind != PW_NORM_NONE) {
                v = v_mul(v_sub(v, v_set(mean)), v_set(rstd));
                if (gain != NULL)
                    v = v_mul(v, v_load_n(gain + i, C - i));
                if (bias != NULL)
                    v = v_add(v, v_load_n(bias + i, C - i));
            }
            v_store_n(y + i, C - i, v_mul(v_set(scale), v));
        }
    }
}

/* Terms of the gradient before the norm's own backward pass; lanes from `left` on are 0. */
V_INLINE void row_terms(v16 *t, v16 *xhat, v16 *u, const float *dy, const float *x, const float *gain,
                        float mean, float rstd, float scale, int left)
{
    *t = v_mul(v_set(scale), v_load_n(dy, left));
    *xhat = v_mul(v_sub(v_load_n(x, left), v_set(mean)), v_set(rstd));
    *u = gain != NULL ? v_mul(*t, v_load_n(gain, left)) : *t;
}

void PW_OP(norm_bwd)(struct pw_ctx *c, float *dx, float *d_gain, float *d_bias, const float *dy,
                     const float *x, const float *stat, const float *gain, enum pw_norm kind, float scale,
                     int R, int C)
{
    (void)c;
    for (int r = 0; r < R; r++, x += C, dy += C, dx += C, stat += 2) {
        float mean = stat[0], rstd = stat[1];
        v16 t, xhat, u, s1 = v_zero(), s2 = v_zero();
        if (kind == PW_NORM_NONE) {
            for (int i = 0; i < C; i += 16) {
                t = v_mul(v_set(scale), v_load_n(dy + i, C - i));
                v_store_n(dx + i, C - i, v_add(v_load_n(dx + i, C - i), t));
            }
            continue;
        }
        for (int i = 0; i < C; i += 16) {
            int left = C - i;
            row_terms(&t, &xhat, &u, dy + i, x + i, gain != NULL ? gain + i : NULL, mean, rstd, scale, left);
            if (d_gain != NULL)
                v_store_n(d_gain + i, left, v_fma(t, xhat, v_load_n(d_gain + i, left)));
            if (d_bias != NULL)
                v_store_n(d_bias + i, left, v_add(v_load_n(d_bias + i, left), t));
            s1 = v_add(s1, u);
            s2 = v_fma(u, xhat, s2);
        }
        v16 m1 = v_set(v_tree(s1) / (float)C), m2 = v_set(v_tree(s2) / (float)C);
        for (int i = 0; i < C; i += 16) {
            int left = C - i;
            row_terms(&t, &xhat, &u, dy + i, x + i, gain != NULL ? gain + i : NULL, mean, rstd, scale, left);
            if (kind == PW_NORM_LAYER)
                u = v_sub(u, m1);
            u = v_mul(v_set(rstd), v_sub(u, v_mul(xhat, m2)));
            v_store_n(dx + i, left, v_add(v_load_n(dx + i, left), u));
        }
    }
}
