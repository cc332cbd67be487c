/* ref_reduce.c - the sum of the gradient slots, plainly and on one thread. */
#include "tests/ops/ref_math.h"
#include "tests/ops/ref_plain.h"

void PW_OP(reduce)(struct pw_backend *be, float *g, double *sumsq, const float *slots, int n_slots,
                   size_t stride, size_t n)
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
    *sumsq = total;
}
