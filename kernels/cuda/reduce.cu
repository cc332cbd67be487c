/* reduce.cu - adds the gradient slots in their order, computes the sum of squares for clipping, and checks
 * that it is a number. */
#include "kernels/cuda/launch.h"
#include "kernels/cuda/tiles.h"

/* One block per tile. If g is the only slot, it is the sum already. */
static __global__ void reduce_tiles(float *g, double *partial, const float *slots, int n_slots, size_t stride,
                                    size_t n, bool fours)
{
    PW_SHARED(float, tile, [PW_TILE]);
    size_t first = (size_t)blockIdx.x * PW_TILE;
    int left = n - first < PW_TILE ? (int)(n - first) : PW_TILE;
    for (int i = 4 * (int)threadIdx.x; i < left; i += 4 * PW_THREADS) {
        const float *slot = slots + first + (size_t)i;
        float4 v = pw_dev_load_4(slot, left - i, fours);
        for (int k = 1; k < n_slots; k++) {
            float4 a = pw_dev_load_4(slot + (size_t)k * stride, left - i, fours);
            v = make_float4(v.x + a.x, v.y + a.y, v.z + a.z, v.w + a.w);
        }
        if (g != slots)
            pw_dev_store_4(g + first + (size_t)i, left - i, fours, v);
        pw_dev_store_4(tile + i, 4, true, v);
    }
    __syncthreads();
    if (threadIdx.x >= 32)
        return;
    float sum = pw_dev_squares(tile, 16, threadIdx.x < 16 ? left : 0);
    if (threadIdx.x == 0)
        partial[blockIdx.x] = (double)sum;
}

/* Returns whether one of loss [n] is not finite, for the threads of a block. */
static __device__ __forceinline__ bool any_not_finite(const float *loss, int n)
{
    bool bad = false;
#pragma unroll 8
    for (int i = (int)threadIdx.x; i < n; i += (int)blockDim.x)
        bad |= !isfinite(loss[i]); /* no branch, so that the loads are independent */
    return __syncthreads_or(bad);
}

/* The partial result of one thread. */
static __device__ __forceinline__ void settle(double *sumsq, int *spoilt, double sum, bool bad)
{
    if (bad || !isfinite(sum))
        *spoilt = 1;
    *sumsq = *spoilt != 0 ? (double)NAN : sum;
}

static __global__ void add_tiles_ref(double *sumsq, int *spoilt, const double *partial, size_t n,
                                     const float *loss, int n_loss)
{
    PW_SHARED(double, turn, [PW_ADDERS]);
    bool bad = any_not_finite(loss, n_loss);
    double sum = pw_dev_ascending(turn, partial, n, 1);
    if (threadIdx.x == 0)
        settle(sumsq, spoilt, sum, bad);
}

static __global__ void __launch_bounds__(PW_THREADS, 1)
    add_tiles_fast(double *sumsq, int *spoilt, const double *partial, size_t n, const float *loss, int n_loss)
{
    PW_SHARED(double, warps, [PW_WARPS]);
    bool bad = any_not_finite(loss, n_loss);
    double sum = pw_dev_shared_out(warps, partial, n, 1);
    if (threadIdx.x == 0)
        settle(sumsq, spoilt, sum, bad);
}

cudaError_t pw_cuda_reduce(cudaStream_t s, float *g, double *sumsq, int *spoilt, double *partial,
                           const float *slots, int n_slots, size_t stride, size_t n, const float *loss,
                           int n_loss, bool ascending)
{
    size_t tiles = pw_blocks(n, PW_TILE);
    bool fours = pw_fours(g, slots) && (n_slots == 1 || stride % 4 == 0);
    if (n > 0) {
        cudaError_t e = PW_LAUNCH(reduce_tiles, dim3((unsigned)tiles), dim3(PW_THREADS), 0, s, g, partial,
                                  slots, n_slots, stride, n, fours);
        if (e != cudaSuccess)
            return e;
    }
    if (ascending)
        return PW_LAUNCH(add_tiles_ref, dim3(1), dim3(PW_ADDERS), 0, s, sumsq, spoilt, partial, tiles, loss,
                         n_loss);
    return PW_LAUNCH(add_tiles_fast, dim3(1), dim3(PW_THREADS), 0, s, sumsq, spoilt, partial, tiles, loss,
                     n_loss);
}
