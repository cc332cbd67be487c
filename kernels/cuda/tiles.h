/* tiles.h - device functions for sums of squares over all parameters: by lanes within a tile of PW_TILE
 * entries, then over tiles.
 *
 * Within a tile both modes keep the order of kernels/backend.h. The partial sums of tiles are added when the
 * device has nothing else to do. Mode ref adds them in ascending order: one thread adds while the others load
 * for it. Mode fast distributes them over the threads of a block, because a model of 85 million parameters
 * has 20,800 tiles. */
#ifndef PW_CUDA_TILES_H
#define PW_CUDA_TILES_H
#include "kernels/backend.h"
#include "kernels/cuda/rows.h"

enum {
    PW_ADDERS = 32, /* threads of a block in mode ref: enough that loads stay ahead of the additions */
    PW_AHEAD = 16,  /* tiles that a thread loads at once in mode fast */
};

/* Returns the sum of squares of n entries by lanes. Group k of sixteen entries begins at tile + k * step.
 * Half a warp calls it, and every lane receives the sum; a half with n = 0 only takes part in the shuffles.
 */
__device__ __forceinline__ float pw_dev_squares(const float *tile, int step, int n)
{
    int lane = (int)threadIdx.x % 16, groups = (n - lane + 15) / 16;
    float s = 0.0f;
#pragma unroll 16
    for (int k = 0; k < groups; k++)
        s = fmaf(tile[k * step + lane], tile[k * step + lane], s);
    return pw_dev_tree(s);
}

/* Returns from[w] + from[width + w] + ..., in this order, over n doubles, in thread w < width; width is 1 or
 * 2. turn [PW_ADDERS]: shared memory. While some values are added the next are being loaded. */
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
        __syncthreads(); /* turn may be overwritten */
    }
    return sum;
}

/* Returns from[0] + from[step] + ... over n doubles in thread 0 of PW_THREADS. Thread t adds entries t, t +
 * PW_THREADS, ...; then a tree adds the threads of each warp, and the warps are added in ascending order.
 * warps [PW_WARPS]: shared memory. */
__device__ __forceinline__ double pw_dev_shared_out(double *warps, const double *from, size_t n, size_t step)
{
    double sum = 0.0;
    for (size_t first = threadIdx.x; first < n; first += (size_t)PW_AHEAD * PW_THREADS) {
        double next[PW_AHEAD];
#pragma unroll
        for (int k = 0; k < PW_AHEAD; k++) {
            size_t i = first + (size_t)k * PW_THREADS;
            next[k] = i < n ? from[i * step] : 0.0; /* no branch, so all loads are in flight at once */
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
