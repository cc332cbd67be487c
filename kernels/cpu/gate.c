/* gate.c - the hidden layer of a gated MLP (Shazeer 2020): act(gate) * up. */
#include "kernels/cpu/ops.h"
#include "kernels/cpu/vmath.h"

void PW_OP(gate_fwd)(struct pw_ctx *c, float *y, const float *pre, enum pw_act act, int F, int R)
{
    (void)c;
    for (int r = 0; r < R; r++, y += F, pre += 2 * (size_t)F)
        for (int i = 0; i < F; i += 16) {
            v16 a = v_act(v_load_n(pre + i, F - i), act);
            v_store_n(y + i, F - i, v_mul(a, v_load_n(pre + F + i, F - i)));
        }
}

void PW_OP(gate_bwd)(struct pw_ctx *c, float *d_pre, const float *dy, const float *pre, enum pw_act act,
                     int F, int R)
{
    (void)c;
    for (int r = 0; r < R; r++, dy += F, pre += 2 * (size_t)F, d_pre += 2 * (size_t)F)
        for (int i = 0; i < F; i += 16) {
            int left = F - i;
            v16 g = v_load_n(pre + i, left), up = v_load_n(pre + F + i, left), d = v_load_n(dy + i, left);
            v_store_n(d_pre + i, left, v_act_grad(v_mul(d, up), g, act));
            v_store_n(d_pre + F + i, left, v_mul(d, v_act(g, act)));
        }
}
