/* ref_gate.c - reference for bits: gated MLPs and the cap of logits. */
#include "tests/ops/ref_math.h"
#include "tests/ops/ref_plain.h"

static float slope(float x, enum pw_act act)
{
    switch (act) {
    case PW_ACT_RELU: return x > 0.0f ? 1.0f : 0.0f;
    case PW_ACT_GELU: return plain_gelu_grad(x);
    case PW_ACT_GELU_TANH: return plain_gelu_tanh_grad(x);
    case PW_ACT_SILU: return plain_silu_grad(x);
    case PW_ACT_NONE: break;
    }
    return 1.0f;
}

void PW_OP(gate_fwd)(struct pw_ctx *c, float *y, const float *pre, enum pw_act act, int F, int R)
{
    (void)c;
    for (int i = 0; i < R * F; i++) {
        const float *row = pre + i / F * 2 * F;
        y[i] = plain_act(row[i % F], (int)act) * row[F + i % F];
    }
}

void PW_OP(gate_bwd)(struct pw_ctx *c, float *d_pre, const float *dy, const float *pre, enum pw_act act,
                     int F, int R)
{
    (void)c;
    for (int i = 0; i < R * F; i++) {
        int at = i / F * 2 * F + i % F;
        float d = dy[i] * pre[at + F]; /* relu selects, so that there is no -0 */
        d_pre[at] = act == PW_ACT_RELU && !(pre[at] > 0.0f) ? 0.0f : d * slope(pre[at], act);
        d_pre[at + F] = dy[i] * plain_act(pre[at], (int)act);
    }
}

void PW_OP(cap_fwd)(struct pw_ctx *c, float *y, float cap, size_t n)
{
    (void)c;
    for (size_t i = 0; i < n; i++) {
        float z = y[i] / cap, s, minus;
        plain_sigmoid(z + z, &s, &minus);
        y[i] = cap * (s - minus);
    }
}

void PW_OP(clip_fwd)(struct pw_ctx *c, float *y, float most, size_t n)
{
    (void)c;
    for (size_t i = 0; i < n; i++) {
        if (y[i] > most)
            y[i] = most;
        if (y[i] < -most)
            y[i] = -most;
    }
}

void PW_OP(clip_bwd)(struct pw_ctx *c, float *d, const float *y, float most, size_t n)
{
    (void)c;
    for (size_t i = 0; i < n; i++)
        if (!(y[i] > -most && y[i] < most))
            d[i] = 0;
}

void PW_OP(cap_bwd)(struct pw_ctx *c, float *d, const float *y, float cap, size_t n)
{
    (void)c;
    for (size_t i = 0; i < n; i++) {
        float t = y[i] / cap;
        d[i] = d[i] * fmaf(-t, t, 1.0f);
    }
}
