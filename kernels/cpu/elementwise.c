/* elementwise.c - y += x and y = 0. */
#include "kernels/cpu/ops.h"
#include "kernels/cpu/simd.h"

#include <string.h>

void PW_OP(add)(struct pw_ctx *c, float *y, const float *x, size_t n)
{
    (void)c;
    size_t i = 0;
    for (; i + 16 <= n; i += 16)
        v_store(y + i, v_add(v_load(y + i), v_load(x + i)));
    v_store_n(y + i, (int)(n - i), v_add(v_load_n(y + i, (int)(n - i)), v_load_n(x + i, (int)(n - i))));
}

void PW_OP(zero)(struct pw_ctx *c, float *y, size_t n)
{
    (void)c;
    if (n > 0)
        memset(y, 0, n * sizeof *y);
}
