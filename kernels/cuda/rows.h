/* rows.h - how the kernels share rows and long arrays among threads.
 *
 * A warp has a row where there is nothing to add up; half a warp where there is, because its threads are then
 * the sixteen lanes of kernels/backend.h and a sum by lanes is a loop and four shuffles. Halves beyond the
 * last row loop over nothing and take part in the shuffles. */
#ifndef PW_CUDA_ROWS_H
#define PW_CUDA_ROWS_H
#include "kernels/cuda/device.h"
#include "kernels/cuda/mma.h"

enum {
    PW_THREADS = 256, /* of a block */
    PW_WARPS = PW_THREADS / 32,
    PW_HALVES = PW_THREADS / 16,
};
#define PW_ALL_LANES 0xffffffffu

/* Blocks for n items, so many in each. */
static inline unsigned pw_blocks(size_t n, size_t each)
{
    return (unsigned)((n + each - 1) / each);
}

/* Whether arrays that begin there can be read by fours; NULL can. Of matrices the width has to be one of
 * fours, too. */
static inline bool pw_fours(const void *a, const void *b = NULL, const void *c = NULL, const void *d = NULL)
{
    return (((uintptr_t)a | (uintptr_t)b | (uintptr_t)c | (uintptr_t)d) & 15) == 0;
}

/* The number of this thread, warp or half in the grid. */
__device__ __forceinline__ size_t pw_dev_thread(void)
{
    return (size_t)blockIdx.x * PW_THREADS + threadIdx.x;
}
__device__ __forceinline__ size_t pw_dev_warp(void)
{
    return (size_t)blockIdx.x * PW_WARPS + threadIdx.x / 32;
}
__device__ __forceinline__ size_t pw_dev_half(void)
{
    return (size_t)blockIdx.x * PW_HALVES + threadIdx.x / 16;
}

/* The end of a sum by lanes, in both halves of a warp at once; every lane gets the sum: of two numbers the
 * order can't matter. */
__device__ __forceinline__ float pw_dev_tree(float v)
{
    for (int by = 8; by > 0; by /= 2)
        v += __shfl_xor_sync(PW_ALL_LANES, v, by);
    return v;
}

/* Up to four floats: n <= 0 none, n >= 4 all; the others are 0 when loaded and left alone when stored. */
__device__ __forceinline__ float4 pw_dev_load_4(const float *p, int n, bool fours)
{
    if (fours && n >= 4)
        return *(const float4 *)p;
    return make_float4(n > 0 ? p[0] : 0.0f, n > 1 ? p[1] : 0.0f, n > 2 ? p[2] : 0.0f, n > 3 ? p[3] : 0.0f);
}
__device__ __forceinline__ void pw_dev_store_4(float *p, int n, bool fours, float4 v)
{
    if (fours && n >= 4) {
        *(float4 *)p = v;
        return;
    }
    if (n > 0)
        p[0] = v.x;
    if (n > 1)
        p[1] = v.y;
    if (n > 2)
        p[2] = v.z;
    if (n > 3)
        p[3] = v.w;
}

/* Up to four numbers as bf16. */
__device__ __forceinline__ void pw_dev_store_rounded_4(uint16_t *to, int n, bool fours, float4 v)
{
    uint32_t low = pw_dev_bf16_pair(v.x, v.y), high = pw_dev_bf16_pair(v.z, v.w);
    if (fours && n >= 4) {
        *(uint2 *)to = make_uint2(low, high);
        return;
    }
    for (int k = 0; k < n && k < 4; k++)
        to[k] = (uint16_t)((k < 2 ? low : high) >> 16 * (k % 2));
}

__device__ __forceinline__ float4 pw_dev_load_rounded_4(const uint16_t *p, int n, bool fours)
{
    float v[4];
    if (fours && n >= 4) {
        uint2 w = *(const uint2 *)p;
        return make_float4(pw_dev_of_bf16((uint16_t)w.x), pw_dev_of_bf16((uint16_t)(w.x >> 16)),
                           pw_dev_of_bf16((uint16_t)w.y), pw_dev_of_bf16((uint16_t)(w.y >> 16)));
    }
    for (int k = 0; k < 4; k++)
        v[k] = k < n ? pw_dev_of_bf16(p[k]) : 0.0f;
    return make_float4(v[0], v[1], v[2], v[3]);
}

/* A row of C floats from one place to another, by the threads of a warp, and as bf16 where rounded isn't
 * NULL; from NULL: zeros. */
__device__ __forceinline__ void pw_dev_copy_row(float *to, uint16_t *rounded, const float *from, int C,
                                                bool fours)
{
    for (int i = 4 * (int)(threadIdx.x % 32); i < C; i += 128) {
        float4 v = from != NULL ? pw_dev_load_4(from + i, C - i, fours) : make_float4(0, 0, 0, 0);
        pw_dev_store_4(to + i, C - i, fours, v);
        if (rounded != NULL)
            pw_dev_store_rounded_4(rounded + i, C - i, fours, v);
    }
}

#endif
