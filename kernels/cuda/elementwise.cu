/* elementwise.cu - y += x, and the cap of logits. */
#include "kernels/cuda/launch.h"
#include "kernels/cuda/maths.h"
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

/* tanh(z) is the difference of the sigmoids of 2z and -2z. */
static __global__ void cap_kernel(float *y, float cap, size_t n)
{
    size_t i = pw_dev_thread();
    if (i >= n)
        return;
    float z = y[i] / cap, a, b;
    pw_dev_sigmoid(z + z, &a, &b);
    y[i] = cap * (a - b);
}

static __global__ void cap_back(float *d, const float *y, float cap, size_t n)
{
    size_t i = pw_dev_thread();
    if (i >= n)
        return;
    float t = y[i] / cap;
    d[i] = d[i] * fmaf(0.0f - t, t, 1.0f);
}

static __global__ void clip_kernel(float *y, float most, size_t n)
{
    size_t i = pw_dev_thread();
    if (i < n)
        y[i] = y[i] > most ? most : y[i] < -most ? -most : y[i];
}

static __global__ void clip_back(float *d, const float *y, float most, size_t n)
{
    size_t i = pw_dev_thread();
    if (i < n)
        d[i] = fabsf(y[i]) < most ? d[i] : 0.0f;
}

cudaError_t pw_cuda_cap_fwd(cudaStream_t s, float *y, float cap, size_t n)
{
    if (n == 0)
        return cudaSuccess;
    return PW_LAUNCH(cap_kernel, dim3(pw_blocks(n, PW_THREADS)), dim3(PW_THREADS), 0, s, y, cap, n);
}

cudaError_t pw_cuda_cap_bwd(cudaStream_t s, float *d, const float *y, float cap, size_t n)
{
    if (n == 0)
        return cudaSuccess;
    return PW_LAUNCH(cap_back, dim3(pw_blocks(n, PW_THREADS)), dim3(PW_THREADS), 0, s, d, y, cap, n);
}

cudaError_t pw_cuda_clip_fwd(cudaStream_t s, float *y, float most, size_t n)
{
    if (n == 0)
        return cudaSuccess;
    return PW_LAUNCH(clip_kernel, dim3(pw_blocks(n, PW_THREADS)), dim3(PW_THREADS), 0, s, y, most, n);
}

cudaError_t pw_cuda_clip_bwd(cudaStream_t s, float *d, const float *y, float most, size_t n)
{
    if (n == 0)
        return cudaSuccess;
    return PW_LAUNCH(clip_back, dim3(pw_blocks(n, PW_THREADS)), dim3(PW_THREADS), 0, s, d, y, most, n);
}
