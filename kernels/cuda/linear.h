/* linear.h - device epilogues of linear layers: bias, activation and residual after a product, in either
 * mode.
 *
 * The functions process n consecutive numbers at a time, n = 1 or 4. For n = 4, floats must be 16-byte
 * aligned and bf16 words 8-byte aligned. */
#ifndef PW_CUDA_LINEAR_H
#define PW_CUDA_LINEAR_H
#include "kernels/cuda/maths.h"
#include "kernels/cuda/mma.h"

/* Loads n numbers. */
template <int n> __device__ __forceinline__ void pw_dev_load(float (&to)[n], const float *from)
{
    if constexpr (n == 4) {
        float4 v = *(const float4 *)from;
        to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
    } else {
        to[0] = *from;
    }
}

/* The same from bf16. */
template <int n> __device__ __forceinline__ void pw_dev_load(float (&to)[n], const uint16_t *from)
{
    if constexpr (n == 4) {
        uint2 v = *(const uint2 *)from;
        to[0] = pw_dev_of_bf16((uint16_t)v.x), to[1] = pw_dev_of_bf16((uint16_t)(v.x >> 16));
        to[2] = pw_dev_of_bf16((uint16_t)v.y), to[3] = pw_dev_of_bf16((uint16_t)(v.y >> 16));
    } else {
        to[0] = pw_dev_of_bf16(*from);
    }
}

/* Stores n numbers; pw_dev_store_rounded as bf16. */
template <int n> __device__ __forceinline__ void pw_dev_store(float *to, const float (&from)[n])
{
    if constexpr (n == 4)
        *(float4 *)to = make_float4(from[0], from[1], from[2], from[3]);
    else
        *to = from[0];
}

template <int n> __device__ __forceinline__ void pw_dev_store_rounded(uint16_t *to, const float (&from)[n])
{
    if constexpr (n == 4)
        *(uint2 *)to = make_uint2(pw_dev_bf16_pair(from[0], from[1]), pw_dev_bf16_pair(from[2], from[3]));
    else
        *to = pw_dev_bf16(from[0]);
}

/* The end of linear_fwd: y [R,out] = act(product + bias) + residual; pre [R,out] receives product + bias.
 * rounded [R,out]: y as bf16. Each pointer may be NULL; residual may be y. put applies it to n entries v of
 * the product, at row r and column o. */
struct pw_fwd_end {
    float *y, *pre;
    uint16_t *rounded;
    const float *bias, *residual;
    enum pw_act act;
    size_t out;

    template <int n> __device__ __forceinline__ void put(float (&v)[n], size_t r, size_t o) const
    {
        size_t at = r * out + o;
        float b[n], x[n];
        if (residual != NULL)
            pw_dev_load(x, residual + at);
        if (bias != NULL) {
            pw_dev_load(b, bias + o);
            for (int k = 0; k < n; k++)
                v[k] = v[k] + b[k];
        }
        if (pre != NULL)
            pw_dev_store(pre + at, v);
        for (int k = 0; k < n; k++)
            v[k] = pw_dev_act(v[k], act);
        for (int k = 0; k < n && residual != NULL; k++)
            v[k] = v[k] + x[k];
        if (y != NULL)
            pw_dev_store(y + at, v);
        if (rounded != NULL)
            pw_dev_store_rounded(rounded + at, v);
    }
};

/* The end of linear_dx: dx [R,in] = scale * (act'(saved) * product); rounded [R,in]: dx as bf16. One of the
 * two may be NULL; saved is float or bf16. put is as in pw_fwd_end. */
template <class number> struct pw_dx_end {
    float *dx;
    uint16_t *rounded;
    const number *saved;
    enum pw_act act;
    float scale;
    size_t in;

    template <int n> __device__ __forceinline__ void put(float (&v)[n], size_t r, size_t i) const
    {
        size_t at = r * in + i;
        float x[n];
        if (act != PW_ACT_NONE)
            pw_dev_load(x, saved + at);
        for (int k = 0; k < n; k++)
            v[k] = (act != PW_ACT_NONE ? pw_dev_act_grad(v[k], x[k], act) : v[k]) * scale;
        if (dx != NULL)
            pw_dev_store(dx + at, v);
        if (rounded != NULL)
            pw_dev_store_rounded(rounded + at, v);
    }
};

#endif
