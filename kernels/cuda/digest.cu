/* digest.cu - digests of weights. They are sums of integers modulo 2^64, which do not depend on the order,
 * so blocks add their sums in any order. */
#include "base/mix.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/rows.h"

static const unsigned most_blocks = 1024;

static __device__ unsigned long long sum_of_warp(unsigned long long v)
{
    for (int by = 16; by > 0; by /= 2)
        v += __shfl_xor_sync(PW_ALL_LANES, v, by);
    return v;
}

static __global__ void digest_floats(unsigned long long *sums, const float *x, size_t n, uint64_t first)
{
    unsigned long long a = 0, b = 0;
    for (size_t i = pw_dev_thread(); i < n; i += (size_t)gridDim.x * PW_THREADS) {
        uint64_t bits = __float_as_uint(x[i]), at = 2 * (first + i);
        a += pw_mix64(bits ^ pw_mix64(at));
        b += pw_mix64(bits ^ pw_mix64(at + 1));
    }
    a = sum_of_warp(a);
    b = sum_of_warp(b);
    if (threadIdx.x % 32 == 0) {
        atomicAdd(&sums[0], a);
        atomicAdd(&sums[1], b);
    }
}

cudaError_t pw_cuda_digest(cudaStream_t s, uint64_t *sums, const float *x, size_t n, uint64_t first)
{
    unsigned blocks = pw_blocks(n, PW_THREADS);
    if (n == 0)
        return cudaSuccess;
    return PW_LAUNCH(digest_floats, dim3(blocks < most_blocks ? blocks : most_blocks), dim3(PW_THREADS), 0, s,
                     (unsigned long long *)sums, x, n, first);
}
