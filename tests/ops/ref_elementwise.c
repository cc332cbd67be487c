/* ref_elementwise.c - reference for bits: add, zero and dropout. */
#include "base/rng.h"
#include "tests/ops/ref_plain.h"

#include <string.h>

void PW_OP(add)(struct pw_ctx *c, float *y, const float *x, size_t n)
{
    (void)c;
    for (size_t i = 0; i < n; i++)
        y[i] += x[i];
}

void PW_OP(zero)(struct pw_ctx *c, float *y, size_t n)
{
    (void)c;
    memset(y, 0, n * sizeof *y);
}

float ref_mask(const struct pw_dropout *d, int h, int row, int col)
{
    uint32_t ctr[4] = {(uint32_t)col / 4, (uint32_t)(d->row + row), d->site, (uint32_t)h}, out[4];
    pw_philox(out, ctr, d->key);
    return out[col % 4] < (double)d->rate * 0x1p32 ? 0.0f : 1.0f / (1.0f - d->rate);
}

void PW_OP(dropout)(struct pw_ctx *c, float *y, const float *x, const struct pw_dropout *d,
                    const float *residual, int R, int C)
{
    (void)c;
    for (int i = 0; i < R * C; i++) {
        float keep = ref_mask(d, 0, i / C, i % C);
        float kept = keep > 0.0f ? x[i] * keep : 0.0f; /* never -0 */
        y[i] = residual != NULL ? kept + residual[i] : kept;
    }
}
