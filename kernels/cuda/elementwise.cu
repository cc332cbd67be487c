/* elementwise.cu - y += x. */
#include "kernels/cuda/launch.h"
#include "kernels/cuda/rows.h"

static __global__ void add_kernel(float *y, const float *x, size_t n, bool fours)
{
    size_t i = 4 * pw_dev_thread();
    if (i >= n)
        return;
    int left = n - i < 4 ? (int)(n - i) : 4;
    float4 a = pw_dev_load_4(y + i, left, fours), b = pw_dev_load_4(x + i, left, fours);
    pw_dev_store_4(y + i, left, fours, make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w));
}

cudaError_t pw_cuda_add(cudaStream_t s, float *y, const float *x, size_t n)
{
    if (n == 0)
        return cudaSuccess;
    return PW_LAUNCH(add_kernel, dim3(pw_blocks(n, 4 * PW_THREADS)), dim3(PW_THREADS), 0, s, y, x, n,
                     pw_fours(y, x));
}
