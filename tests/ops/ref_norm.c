/* ref_norm.c - reference for bits: the norms. Sums over a row use lanes; sums over rows are chains. */
#include "tests/ops/ref_math.h"
#include "tests/ops/ref_plain.h"

void PW_OP(norm_fwd)(struct pw_ctx *c, float *y, float *stat, const float *x, const float *gain,
                     const float *bias, enum pw_norm kind, float eps, float scale, int R, int C)
{
    (void)c;
    for (int r = 0; r < R; r++, x += C, y += C, stat += 2) {
        float mean = 0.0f, rstd = 1.0f;
        if (kind == PW_NORM_LAYER) {
            float lane[16] = {0};
            for (int i = 0; i < C; i++)
                lane[i % 16] += x[i];
            mean = plain_tree(lane) / (float)C;
        }
        if (kind != PW_NORM_NONE) {
            float lane[16] = {0};
            for (int i = 0; i < C; i++) {
                float d = kind == PW_NORM_LAYER ? x[i] - mean : x[i];
                lane[i % 16] = fmaf(d, d, lane[i % 16]);
            }
            rstd = 1.0f / sqrtf(plain_tree(lane) / (float)C + eps);
        }
        stat[0] = mean;
        stat[1] = rstd;
        for (int i = 0; i < C; i++) {
            float v = x[i];
            if (kind == PW_NORM_LAYER)
                v = v - mean;
            if (kind != PW_NORM_NONE) {
                v = v * rstd;
                if (gain != NULL)
                    v = v * gain[i];
                if (bias != NULL)
                    v = v + bias[i];
            }
            y[i] = scale * v;
        }
    }
}

void PW_OP(norm_bwd)(struct pw_ctx *c, float *dx, float *d_gain, float *d_bias, const float *dy,
                     const float *x, const float *stat, const float *gain, enum pw_norm kind, float scale,
                     int R, int C)
{
    (void)c;
    for (int r = 0; r < R; r++, x += C, dy += C, dx += C, stat += 2) {
        float mean = stat[0], rstd = stat[1], s1[16] = {0}, s2[16] = {0};
        if (kind == PW_NORM_NONE) {
            for (int i = 0; i < C; i++)
                dx[i] += scale * dy[i];
            continue;
        }
        for (int i = 0; i < C; i++) {
            float t = scale * dy[i];
            float xhat = (kind == PW_NORM_LAYER ? x[i] - mean : x[i]) * rstd;
            if (d_gain != NULL)
                d_gain[i] = fmaf(t, xhat, d_gain[i]);
            if (d_bias != NULL)
                d_bias[i] += t;
            float u = gain != NULL ? t * gain[i] : t;
            s1[i % 16] += u;
            s2[i % 16] = fmaf(u, xhat, s2[i % 16]);
        }
        float m1 = plain_tree(s1) / (float)C, m2 = plain_tree(s2) / (float)C;
        for (int i = 0; i < C; i++) {
            float t = scale * dy[i];
            float xhat = (kind == PW_NORM_LAYER ? x[i] - mean : x[i]) * rstd;
            float u = gain != NULL ? t * gain[i] : t;
            if (kind == PW_NORM_LAYER)
                u = u - m1;
            dx[i] += rstd * (u - xhat * m2);
        }
    }
}
