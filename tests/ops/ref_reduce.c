/* ref_reduce.c - reference for bits: the sum of the gradient slots, on one thread. */
#include "tests/ops/ref_math.h"
#include "tests/ops/ref_plain.h"

#include <math.h>
#include <string.h>

void PW_OP(reduce)(struct pw_backend *be, float *g, double *sumsq, int *spoilt, const float *slots,
                   int n_slots, size_t stride, size_t n, const float *loss, int n_loss)
{
    (void)be;
    double total = 0.0;
    for (size_t tile = 0; tile < n; tile += 4096) {
        float lane[16] = {0};
        for (size_t i = tile; i < n && i < tile + 4096; i++) {
            float v = slots[i];
            for (int s = 1; s < n_slots; s++)
                v += slots[(size_t)s * stride + i];
            g[i] = v;
            lane[i % 16] = fmaf(v, v, lane[i % 16]);
        }
        total += (double)plain_tree(lane);
    }
    bool bad = !isfinite(total);
    for (int i = 0; i < n_loss; i++)
        bad = bad || !isfinite(loss[i]);
    *spoilt = bad ? 1 : *spoilt;
    *sumsq = *spoilt != 0 ? NAN : total;
}

/* A copy of the function in src/base/mix.h: the reference must not share code with the tested operation. */
static uint64_t plain_mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

void PW_OP(digest)(struct pw_backend *be, uint64_t *sums, const float *x, size_t n, uint64_t first)
{
    (void)be;
    for (size_t i = 0; i < n; i++)
        for (uint64_t k = 0; k < 2; k++) {
            uint32_t bits;
            memcpy(&bits, x + i, sizeof bits);
            sums[k] += plain_mix(bits ^ plain_mix(2 * (first + i) + k));
        }
}
