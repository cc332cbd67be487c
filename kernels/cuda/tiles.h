/* tiles.h - sums of squares over all parameters: a tile of PW_TILE by lanes, then the tiles ascending.
 *
 * The order is the one of kernels/backend.h in both modes: the tiles' chains run beside other blocks' loads,
 * and of the serial sum over tiles one thread does the additions only, the others fetch for it. */
#ifndef PW_CUDA_TILES_H
#define PW_CUDA_TILES_H
#include "kernels/backend.h"
#include "kernels/cuda/rows.h"

enum { PW_ADDERS = 32 }; /* threads of a block that adds tiles: enough to be ahead of the additions */

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

#endif
