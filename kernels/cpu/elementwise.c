/* elementwise.c - y += x, y = 0, the cap of logits (Gemma 2): cap * tanh(y / cap), and the limit of q, k and
 * v (MPT). */
#include "kernels/cpu/ops.h"
#include "kernels/cpu/vmath.h"

#include <math.h>
#include <string.h>

void PW_OP(add)(struct pw_ctx *c, float *y, const float *x, size_t n)
{
    (void)c;
    size_t i = 0;
    for (; i + 16 <= n; i += 16)
        v_store(y + i, v_add(v_load(y + i), v_load(x + i)));
    v_store_n(y + i, (int)(n - i), v_add(v_load_n(y + i, (int)(n - i)), v_load_n(x + i, (int)(n - i))));
}

/* tanh(z) is the difference of the sigmoids of 2z and -2z. */
void PW_OP(cap_fwd)(struct pw_ctx *c, float *y, float cap, size_t n)
{
    (void)c;
    for (size_t i = 0; i < n; i += 16) {
        int left = n - i < 16 ? (int)(n - i) : 16;
        v16 z = v_div(v_load_n(y + i, left), v_set(cap)), a, b;
        v_sigmoid(v_add(z, z), &a, &b);
        v_store_n(y + i, left, v_mul(v_set(cap), v_sub(a, b)));
    }
}

void PW_OP(cap_bwd)(struct pw_ctx *c, float *d, const float *y, float cap, size_t n)
{
    (void)c;
    for (size_t i = 0; i < n; i += 16) {
        int left = n - i < 16 ? (int)(n - i) : 16;
        v16 t = v_div(v_load_n(y + i, left), v_set(cap));
        v16 slope = v_fma(v_sub(v_zero(), t), t, v_set(1.0f));
        v_store_n(d + i, left, v_mul(v_load_n(d + i, left), slope));
    }
}

void PW_OP(clip_fwd)(struct pw_ctx *c, float *y, float most, size_t n)
{
    (void)c;
    for (size_t i = 0; i < n; i++)
        y[i] = y[i] > most ? most : y[i] < -most ? -most : y[i];
}

void PW_OP(clip_bwd)(struct pw_ctx *c, float *d, const float *y, float most, size_t n)
{
    (void)c;
    for (size_t i = 0; i < n; i++)
        d[i] = fabsf(y[i]) < most ? d[i] : 0.0f;
}

void PW_OP(zero)(struct pw_ctx *c, float *y, size_t n)
{
    (void)c;
    if (n > 0)
        memset(y, 0, n * sizeof *y);
}
