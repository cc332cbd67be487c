/* ref_heads.c - reference for bits: heads of q, k and v that are normed and repeated. */
#include "tests/ops/ref_math.h"
#include "tests/ops/ref_plain.h"

/* The sum over the copies of entry i of a head of kv, or of the one query head, at d. */
static float total(const float *d, int copies, int D, int i)
{
    float t = d[i];
    for (int k = 1; k < copies; k++)
        t = t + d[k * D + i];
    return t;
}

void PW_OP(heads_fwd)(struct pw_ctx *c, float *qkv, float *stat, const float *x, const struct pw_heads *h,
                      int R)
{
    int H = h->heads, K = h->kv_heads, D = h->head_width;
    (void)c;
    for (int r = 0; r < R; r++)
        for (int to = 0; to < 3 * H; to++) {
            int part = to / H, head = part == 0 ? to : to % H / (H / K);
            int from = part == 0 ? head : H + (part - 1) * K + head;
            const float *v = x + (r * (H + 2 * K) + from) * D;
            const float *gain = part == 0 ? h->q_gain : part == 1 ? h->k_gain : NULL;
            float lane[16] = {0}, rstd = 1.0f;
            for (int i = 0; i < D; i++)
                lane[i % 16] = fmaf(v[i], v[i], lane[i % 16]);
            if (gain != NULL) {
                rstd = 1.0f / sqrtf(plain_tree(lane) / (float)D + h->eps);
                stat[r * (H + K) + from] = rstd;
            }
            for (int i = 0; i < D; i++)
                qkv[(r * 3 * H + to) * D + i] = gain != NULL ? v[i] * rstd * gain[i] : v[i];
        }
}

void PW_OP(heads_bwd)(struct pw_ctx *c, float *dx, float *d_q_gain, float *d_k_gain, const float *dqkv,
                      const float *x, const float *stat, const struct pw_heads *h, int R)
{
    int H = h->heads, K = h->kv_heads, D = h->head_width;
    (void)c;
    for (int r = 0; r < R; r++)
        for (int j = 0; j < H + 2 * K; j++) {
            int part = j < H ? 0 : j < H + K ? 1 : 2, copies = part == 0 ? 1 : H / K;
            int to = part == 0 ? j : part * H + (j - H - (part - 1) * K) * copies;
            const float *d = dqkv + (r * 3 * H + to) * D, *v = x + (r * (H + 2 * K) + j) * D;
            const float *gain = part == 0 ? h->q_gain : part == 1 ? h->k_gain : NULL;
            float *d_gain = part == 0 ? d_q_gain : d_k_gain, *out = dx + (r * (H + 2 * K) + j) * D;
            float lane[16] = {0}, rstd = gain != NULL ? stat[r * (H + K) + j] : 1.0f;
            for (int i = 0; gain != NULL && i < D; i++) {
                float t = total(d, copies, D, i), xhat = v[i] * rstd, u = t * gain[i];
                if (d_gain != NULL)
                    d_gain[i] = fmaf(t, xhat, d_gain[i]);
                lane[i % 16] = fmaf(u, xhat, lane[i % 16]);
            }
            float mean = plain_tree(lane) / (float)D;
            for (int i = 0; i < D; i++) {
                float t = total(d, copies, D, i);
                out[i] = gain != NULL ? rstd * (t * gain[i] - v[i] * rstd * mean) : t;
            }
        }
}
