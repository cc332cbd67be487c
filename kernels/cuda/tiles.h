/* tiles.h - sums of squares over all parameters: a tile of PW_TILE by lanes, then the tiles.
 *
 * Within a tile the order is the one of kernels/backend.h in both modes: the tiles' chains run beside other
 * blocks' loads. The tiles are added when the device has nothing else to do. ref adds them ascending, where
 * one thread does the additions only and the others fetch for it; fast shares them out to a block, since of
 * 85 M parameters there are 20,800. */
#ifndef PW_CUDA_TILES_H
#define PW_CUDA_TILES_H
#include "kernels/backend.h"
#include "kernels/cuda/rows.h"

enum {
    PW_ADDERS = 32, /* threads of a block that adds tiles ascending: enough to be ahead of it */
    PW_AHEAD = 16,  /* tiles that a thread fetches at once where a block shares them out */
};

/* The sum of squares of n entries by lanes; group k of sixteen begins at tile + k * step. Half a warp's, with
 * n 0 a half's that only takes part; every lane gets it. */
__device__ __forceinline__ float pw_dev_squares(const float *tile, int step, int n)
{
    int lane = (int)threadIdx.x % 16, groups = (n - lane + 15) / 16;
    float s = 0.0f;
#pragma unroll 16
    for (int k = 0; k < groups; k++)
        s = fmaf(tile[k * step + lane], tile[k * step + lane], s);
    return pw_dev_tree(s);
}

/* Thread w < width of the block gets from[w] + from[width + w] + ..., in this order, over n doubles; turn
 * [PW_ADDERS] is shared memory, width 1 or 2. While some are added the next are on their way. */
__device__ __forceinline__ double pw_dev_ascending(double *turn, const double *from, size_t n, size_t width)
{
    double sum = 0.0, next = threadIdx.x < n ? from[threadIdx.x] : 0.0;
    for (size_t first = 0; first < n; first += PW_ADDERS) {
        size_t left = n - first < PW_ADDERS ? n - first : (size_t)PW_ADDERS;
        size_t after = first + PW_ADDERS + threadIdx.x;
        turn[threadIdx.x] = next;
        __syncthreads();
        next = after < n ? from[after] : 0.0;
        if (threadIdx.x < width) {
#pragma unroll 16
            for (size_t i = threadIdx.x; i < left; i += width)
                sum += turn[i];
        }
        __syncthreads(); /* turn is filled anew */
    }
    return sum;
}

/* Thread 0 of PW_THREADS gets from[0] + from[step] + ... over n doubles: thread t adds every PW_THREADS-th
 * from number t on, then the threads of a warp are added as a tree, then the warps ascending. warps
 * [PW_WARPS] is shared memory. */
__device__ __forceinline__ double pw_dev_shared_out(double *warps, const double *from, size_t n, size_t step)
{
    double sum = 0.0;
    for (size_t first = threadIdx.x; first < n; first += (size_t)PW_AHEAD * PW_THREADS) {
        double next[PW_AHEAD];
#pragma unroll
        for (int k = 0; k < PW_AHEAD; k++) {
            size_t i = first + (size_t)k * PW_THREADS;
            next[k] = i < n ? from[i * step] : 0.0; /* no branch: all are on their way at once */
        }
#pragma unroll
        for (int k = 0; k < PW_AHEAD; k++)
            sum += next[k];
    }
    for (int by = 16; by > 0; by /= 2)
        sum += __shfl_xor_sync(PW_ALL_LANES, sum, by);
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = sum;
    __syncthreads();
    for (int w = 1; w < PW_WARPS && threadIdx.x == 0; w++)
        sum += warps[w];
    return sum;
}

#endif
