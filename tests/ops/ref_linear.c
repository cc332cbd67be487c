/* ref_linear.c - reference for bits: linear layers. Every product is one chain and reads the weights
 * themselves. */
#include "tests/ops/ref_math.h"
#include "tests/ops/ref_plain.h"

size_t PW_OP(mat_pack_floats)(int out, int in, bool backward)
{
    size_t o = (size_t)(out + 31) / 32 * 32, i = (size_t)(in + 31) / 32 * 32;
    return backward ? i * (size_t)out : o * (size_t)in;
}

void PW_OP(prepare)(struct pw_backend *be, const struct pw_mat *mats, int n)
{
    (void)be;
    (void)mats;
    (void)n;
}

void PW_OP(linear_fwd)(struct pw_ctx *c, float *y, float *pre, const float *x, const struct pw_mat *m,
                       const float *bias, const float *residual, enum pw_act act, int R)
{
    (void)c;
    for (size_t r = 0; r < (size_t)R; r++)
        for (size_t o = 0; o < (size_t)m->out; o++) {
            const float *w = m->w + o * (size_t)m->in, *a = x + r * (size_t)m->in;
            size_t at = r * (size_t)m->out + o;
            float v = 0.0f;
            for (int k = 0; k < m->in; k++)
                v = fmaf(a[k], w[k], v);
            if (bias != NULL)
                v = v + bias[o];
            if (pre != NULL)
                pre[at] = v;
            v = plain_act(v, (int)act);
            y[at] = residual != NULL ? v + residual[at] : v;
        }
}

void PW_OP(linear_dx)(struct pw_ctx *c, float *dx, const float *dy, const struct pw_mat *m, enum pw_act act,
                      const float *saved, float scale, int R)
{
    (void)c;
    for (size_t r = 0; r < (size_t)R; r++)
        for (size_t i = 0; i < (size_t)m->in; i++) {
            size_t at = r * (size_t)m->in + i;
            float v = 0.0f;
            for (size_t o = 0; o < (size_t)m->out; o++)
                v = fmaf(dy[r * (size_t)m->out + o], m->w[o * (size_t)m->in + i], v);
            if (act == PW_ACT_RELU)
                v = saved[at] > 0.0f ? v : 0.0f;
            else if (act == PW_ACT_GELU)
                v = v * plain_gelu_grad(saved[at]);
            else if (act == PW_ACT_GELU_TANH)
                v = v * plain_gelu_tanh_grad(saved[at]);
            else if (act == PW_ACT_SILU)
                v = v * plain_silu_grad(saved[at]);
            dx[at] = v * scale;
        }
}

void PW_OP(linear_dw)(struct pw_ctx *c, float *dw, float *d_bias, const float *dy, const float *x, bool add,
                      int out, int in, int R)
{
    (void)c;
    for (size_t i = 0; !add && i < (size_t)out * (size_t)in; i++)
        dw[i] = 0.0f;
    for (int o = 0; !add && d_bias != NULL && o < out; o++)
        d_bias[o] = 0.0f;
    for (int r = 0; r < R; r++, dy += out, x += in)
        for (int o = 0; o < out; o++) {
            if (d_bias != NULL)
                d_bias[o] += dy[o];
            float *row = dw + (size_t)o * (size_t)in;
            for (int i = 0; i < in; i++)
                row[i] = fmaf(dy[o], x[i], row[i]);
        }
}
