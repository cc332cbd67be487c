/* ref_double_families.c - reference for values: gated MLPs, heads that are normed and shared, capped logits.
 */
#include "tests/ops/ref_double.h"

#include <math.h>
#include <stdlib.h>

void ref_double_gate_fwd(struct pw_ctx *c, float *y, const float *pre, enum pw_act act, int F, int R)
{
    (void)c;
    for (int r = 0; r < R; r++)
        for (int f = 0; f < F; f++)
            y[r * F + f] =
                (float)(ref_double_act((double)pre[2 * r * F + f], act) * (double)pre[2 * r * F + F + f]);
}

void ref_double_gate_bwd(struct pw_ctx *c, float *d_pre, const float *dy, const float *pre, enum pw_act act,
                         int F, int R)
{
    (void)c;
    for (int r = 0; r < R; r++)
        for (int f = 0; f < F; f++) {
            int gate = 2 * r * F + f, up = gate + F;
            double d = (double)dy[r * F + f], slope = 1;
            if (act != PW_ACT_NONE)
                slope = ref_double_slope((double)pre[gate], act);
            d_pre[gate] = (float)(d * (double)pre[up] * slope);
            d_pre[up] = (float)(d * ref_double_act((double)pre[gate], act));
        }
}

void ref_double_heads_fwd(struct pw_ctx *c, float *qkv, float *stat, const float *x, const struct pw_heads *h,
                          int R)
{
    int H = h->heads, K = h->kv_heads, D = h->head_width, n = H + 2 * K;
    (void)c;
    for (int r = 0; r < R; r++)
        for (int j = 0; j < 3 * H; j++) {
            int from = j < H ? j : j < 2 * H ? H + (j - H) * K / H : H + K + (j - 2 * H) * K / H;
            const float *v = x + (r * n + from) * D, *gain = j < H ? h->q_gain : j < 2 * H ? h->k_gain : NULL;
            double square = 0, rstd = 1;
            for (int i = 0; i < D; i++)
                square += (double)v[i] * (double)v[i] / D;
            if (gain != NULL) {
                rstd = 1 / sqrt(square + (double)h->eps);
                stat[r * (H + K) + from] = (float)rstd;
            }
            for (int i = 0; i < D; i++)
                qkv[(r * 3 * H + j) * D + i] =
                    (float)((double)v[i] * rstd * (gain != NULL ? (double)gain[i] : 1));
        }
}

/* With the Jacobian of the norm written out. */
void ref_double_heads_bwd(struct pw_ctx *c, float *dx, float *d_q_gain, float *d_k_gain, const float *dqkv,
                          const float *x, const float *stat, const struct pw_heads *h, int R)
{
    int H = h->heads, K = h->kv_heads, D = h->head_width, n = H + 2 * K;
    double *d = ref_room((size_t)D), *sums[2] = {ref_room((size_t)D), ref_room((size_t)D)};
    (void)c;
    for (int at = 0; at < R * n; at++) {
        int r = at / n, j = at % n, part = j < H ? 0 : j < H + K ? 1 : 2;
        const float *v = x + at * D, *gain = part == 0 ? h->q_gain : part == 1 ? h->k_gain : NULL;
        double rstd = gain != NULL ? (double)stat[r * (H + K) + j] : 1;
        for (int i = 0; i < D; i++) {
            d[i] = 0;
            for (int to = part * H; to < part * H + H; to++)
                if ((part == 0 ? to : (to - part * H) * K / H) == (part == 0 ? j : (j - H) % K))
                    d[i] += (double)dqkv[(r * 3 * H + to) * D + i];
            if (gain != NULL)
                sums[part][i] += d[i] * (double)v[i] * rstd;
        }
        for (int i = 0; i < D; i++) {
            double sum = gain == NULL ? d[i] : 0;
            for (int k = 0; gain != NULL && k < D; k++) {
                double jac = rstd * ((i == k) - (double)v[i] * rstd * (double)v[k] * rstd / D);
                sum += d[k] * (double)gain[k] * jac;
            }
            dx[at * D + i] = (float)sum;
        }
    }
    for (int i = 0; i < D && h->q_gain != NULL && d_q_gain != NULL; i++) {
        d_q_gain[i] = (float)((double)d_q_gain[i] + sums[0][i]);
        d_k_gain[i] = (float)((double)d_k_gain[i] + sums[1][i]);
    }
    free(d);
    free(sums[0]);
    free(sums[1]);
}

void ref_double_cap_fwd(struct pw_ctx *c, float *y, float cap, size_t n)
{
    (void)c;
    for (size_t i = 0; i < n; i++)
        y[i] = (float)((double)cap * tanh((double)y[i] / (double)cap));
}

void ref_double_cap_bwd(struct pw_ctx *c, float *d, const float *y, float cap, size_t n)
{
    (void)c;
    for (size_t i = 0; i < n; i++) {
        double t = (double)y[i] / (double)cap;
        d[i] = (float)((double)d[i] * (1 - t * t));
    }
}

void ref_double_clip_fwd(struct pw_ctx *c, float *y, float most, size_t n)
{
    (void)c;
    for (size_t i = 0; i < n; i++)
        y[i] = (float)fmax(-(double)most, fmin((double)most, (double)y[i]));
}

void ref_double_clip_bwd(struct pw_ctx *c, float *d, const float *y, float most, size_t n)
{
    (void)c;
    for (size_t i = 0; i < n; i++)
        d[i] = fabs((double)y[i]) < (double)most ? d[i] : 0;
}
