/* rows.h - how kernels assign rows and long arrays to threads, and loads and stores of up to four numbers.
 *
 * A kernel without sums gives each row to a warp. A kernel with sums gives each row to half a warp: its
 * threads are the sixteen lanes of kernels/backend.h, so a sum by lanes is a loop and four shuffles. A half
 * without a row loops over nothing but takes part in the shuffles. */
#ifndef PW_CUDA_ROWS_H
#define PW_CUDA_ROWS_H
#include "kernels/cuda/device.h"
#include "kernels/cuda/mma.h"

enum {
    PW_THREADS = 256, /* threads of a block; so are the next: warps, half warps */
    PW_WARPS = PW_THREADS / 32,
    PW_HALVES = PW_THREADS / 16,
};
#define PW_ALL_LANES 0xffffffffu

/* Returns the number of blocks for n items with `each` items per block. */
static inline unsigned pw_blocks(size_t n, size_t each)
{
    return (unsigned)((n + each - 1) / each);
}

/* Are these addresses multiples of 16 bytes, so that the arrays can be read as float4? NULL counts as
 * aligned. The width of a matrix must be a multiple of four as well. */
static inline bool pw_fours(const void *a, const void *b = NULL, const void *c = NULL, const void *d = NULL)
{
    return (((uintptr_t)a | (uintptr_t)b | (uintptr_t)c | (uintptr_t)d) & 15) == 0;
}

/* The index of this thread, warp or half warp in the grid, for blocks of PW_THREADS. */
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

/* Returns which of n sequences owns row r. Their starts ascend, and an empty sequence owns no row. */
__device__ __forceinline__ int pw_dev_owner(const int *start, int n, size_t r)
{
    int low = 0, high = n - 1;
    while (low < high) {
        int middle = (low + high + 1) / 2;
        if ((size_t)start[middle] <= r)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* Ends a sum by lanes (kernels/backend.h), in both halves of a warp at once. v: the lane's sum. Every lane
 * receives the total of its half. */
__device__ __forceinline__ float pw_dev_tree(float v)
{
    for (int by = 8; by > 0; by /= 2)
        v += __shfl_xor_sync(PW_ALL_LANES, v, by);
    return v;
}

/* Load or store up to four floats: none for n <= 0, all for n >= 4. The others load as 0 and are not written.
 * fours: p is aligned for float4. */
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

/* The same for bf16 in memory; stores round to nearest even. */
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

/* Copies a row of C floats, by one warp; also as bf16 into rounded, unless that is NULL. from NULL: writes
 * zeros. */
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
