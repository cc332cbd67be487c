/* turn.h - rotary position embedding in kernels: a pair of entries by its angle (struct pw_turn). */
#ifndef PW_CUDA_TURN_H
#define PW_CUDA_TURN_H
#include "kernels/backend.h"
#include "kernels/cuda/mma.h"

/* The pair (a,b). */
__device__ __forceinline__ float2 pw_dev_turn(float a, float b, float cosine, float sine)
{
    return make_float2(fmaf(a, cosine, -(b * sine)), fmaf(a, sine, b * cosine));
}

/* y = pair i of the head x, turned by row `row` of the tables, or turned back; y may be x. copy: of y in
 * bf16, or NULL. */
__device__ __forceinline__ void pw_dev_turn_pair(float *y, uint16_t *copy, const float *x,
                                                 const struct pw_turn &t, int row, int i, bool back)
{
    bool half = t.pairing == PW_PAIRING_HALF;
    int first = half ? i : 2 * i, second = half ? i + t.pairs : first + 1;
    size_t angle = (size_t)row * (size_t)t.pairs + (size_t)i;
    float2 v = pw_dev_turn(x[first], x[second], t.cosine[angle], back ? -t.sine[angle] : t.sine[angle]);
    y[first] = v.x;
    y[second] = v.y;
    if (copy != NULL) {
        copy[first] = pw_dev_bf16(v.x);
        copy[second] = pw_dev_bf16(v.y);
    }
}

#endif
