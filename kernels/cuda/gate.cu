/* gate.cu - the hidden layer of a gated MLP, in the order of kernels/cpu/gate.c. A thread has one column of a
 * row. */
#include "kernels/cuda/launch.h"
#include "kernels/cuda/maths.h"
#include "kernels/cuda/rows.h"

static __global__ void gate_kernel(float *y, const float *pre, enum pw_act act, int F, size_t n)
{
    size_t i = pw_dev_thread(), width = (size_t)F;
    if (i >= n)
        return;
    const float *row = pre + i / width * (2 * width) + i % width;
    y[i] = pw_dev_act(row[0], act) * row[width];
}

static __global__ void gate_back(float *d_pre, const float *dy, const float *pre, enum pw_act act, int F,
                                 size_t n)
{
    size_t i = pw_dev_thread(), width = (size_t)F;
    if (i >= n)
        return;
    size_t at = i / width * (2 * width) + i % width;
    float g = pre[at], up = pre[at + width], d = dy[i];
    d_pre[at] = pw_dev_act_grad(d * up, g, act);
    d_pre[at + width] = d * pw_dev_act(g, act);
}

cudaError_t pw_cuda_gate_fwd(cudaStream_t s, float *y, const float *pre, enum pw_act act, int F, int R)
{
    size_t n = (size_t)R * (size_t)F;
    if (n == 0)
        return cudaSuccess;
    return PW_LAUNCH(gate_kernel, dim3(pw_blocks(n, PW_THREADS)), dim3(PW_THREADS), 0, s, y, pre, act, F, n);
}

cudaError_t pw_cuda_gate_bwd(cudaStream_t s, float *d_pre, const float *dy, const float *pre, enum pw_act act,
                             int F, int R)
{
    size_t n = (size_t)R * (size_t)F;
    if (n == 0)
        return cudaSuccess;
    return PW_LAUNCH(gate_back, dim3(pw_blocks(n, PW_THREADS)), dim3(PW_THREADS), 0, s, d_pre, dy, pre, act,
                     F, n);
}
