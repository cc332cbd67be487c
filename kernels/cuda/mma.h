/* mma.h - matrix product of one warp on tensor cores, from compute capability 8.0 on; and conversions to and
 * from bf16. */
#ifndef PW_CUDA_MMA_H
#define PW_CUDA_MMA_H
#include "kernels/cuda/device.h"

/* d [16,8] += a [16,16] b [16,8], with a and b in bf16 and sums in float32 (PTX: mma.m16n8k16). Every lane of
 * the warp calls it with its fragments. With g = lane / 4 and t = lane % 4 a lane holds:
 *
 *   d  entries (g,2t) (g,2t+1) (g+8,2t) (g+8,2t+1)
 *   a  words of two neighbours in a row, from (g,2t), (g+8,2t), (g,2t+8), (g+8,2t+8) on
 *   b  words of two neighbours in a column, from (2t,g), (2t+8,g) on */
#ifdef __CUDACC__
__device__ __forceinline__ void pw_dev_mma(float &d0, float &d1, float &d2, float &d3, const uint32_t a[4],
                                           const uint32_t b[2])
{
#if __CUDA_ARCH__ >= 800
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
                 "{%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
                 : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3)
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
    (void)d0, (void)d1, (void)d2, (void)d3, (void)a, (void)b;
    __trap(); /* never launched: bf16 is refused on such a device */
#endif
}
#else
#include <pw_emu_mma.h>
#endif

/* Rounds to bf16, to nearest even; and converts back. */
__device__ __forceinline__ uint16_t pw_dev_bf16(float x)
{
    return __bfloat16_as_ushort(__float2bfloat16_rn(x));
}

__device__ __forceinline__ float pw_dev_of_bf16(uint16_t x)
{
    return __uint_as_float((uint32_t)x << 16);
}

/* Rounds two floats to bf16; `low` goes into the lower half of the word. */
__device__ __forceinline__ uint32_t pw_dev_bf16_pair(float low, float high)
{
    return (uint32_t)pw_dev_bf16(low) | (uint32_t)pw_dev_bf16(high) << 16;
}

#endif
