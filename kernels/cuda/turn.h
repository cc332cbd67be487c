/* turn.h - device functions for the transformation of q and k by position (struct pw_turn): the rotation of
 * pairs, and the gain of queries. */
#ifndef PW_CUDA_TURN_H
#define PW_CUDA_TURN_H
#include "kernels/backend.h"
#include "kernels/cuda/mma.h"

/* Rotates the pair (a,b), as struct pw_turn defines it. */
__device__ __forceinline__ float2 pw_dev_turn(float a, float b, float cosine, float sine)
{
    return make_float2(fmaf(a, cosine, -(b * sine)), fmaf(a, sine, b * cosine));
}

/* Returns the gain of a query at this row of the tables; 1, which changes no bit, for keys and without gains.
 */
__device__ __forceinline__ float pw_dev_gain(const struct pw_turn &t, int h, int row, bool query)
{
    return query && t.gain != NULL ? t.gain[(size_t)h * (size_t)t.gain_head + (size_t)row] : 1.0f;
}

/* Returns the number of parts of a head of width D. A part is a pair, or an entry that is not rotated. */
__device__ __forceinline__ int pw_dev_turn_parts(const struct pw_turn &t, int D)
{
    return D - t.pairs;
}

/* Transforms part i of the head x into y, by row `row` of the tables and the gain; back: inverts both, for
 * gradients. y may be x. copy: receives y as bf16, or NULL. */
__device__ __forceinline__ void pw_dev_turn_part(float *y, uint16_t *copy, const float *x,
                                                 const struct pw_turn &t, int row, int i, float gain,
                                                 bool back)
{
    bool half = t.pairing == PW_PAIRING_HALF;
    int first = half ? i : 2 * i, second = half ? i + t.pairs : first + 1;
    if (i >= t.pairs) {
        first = i + t.pairs;
        y[first] = x[first] * gain;
        if (copy != NULL)
            copy[first] = pw_dev_bf16(y[first]);
        return;
    }
    size_t angle = (size_t)row * (size_t)t.pairs + (size_t)i;
    float before = back ? gain : 1.0f, after = back ? 1.0f : gain;
    float2 v = pw_dev_turn(x[first] * before, x[second] * before, t.cosine[angle],
                           back ? -t.sine[angle] : t.sine[angle]);
    y[first] = v.x * after;
    y[second] = v.y * after;
    if (copy != NULL) {
        copy[first] = pw_dev_bf16(y[first]);
        copy[second] = pw_dev_bf16(y[second]);
    }
}

#endif
