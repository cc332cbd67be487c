/* sample.cu - small kernels, one for each thing that the emulator must do. */
#include "kernels/cuda/device.h"
#include "tests/emulator/sample.h"

#define ALL 0xffffffffu

__device__ static float warp_sum(float v)
{
    for (int bits = 16; bits > 0; bits /= 2)
        v += __shfl_xor_sync(ALL, v, bits);
    return v;
}

__global__ void sum(float *out, const float *in, int n)
{
    PW_SHARED(float, parts, [4]);
    unsigned t = threadIdx.x;
    float v = 0.0f;
    for (int i = (int)t; i < n; i += 128)
        v += in[i];
    v = warp_sum(v);
    if (t % 32 == 0)
        parts[t / 32] = v;
    __syncthreads();
    if (t == 0)
        out[blockIdx.x] = parts[0] + parts[1] + parts[2] + parts[3];
}

cudaError_t sample_sum(cudaStream_t s, float *out, const float *in, int n, int blocks)
{
    return PW_LAUNCH(sum, dim3((unsigned)blocks), dim3(128), 0, s, out, in, n);
}

__global__ void axpy(float *y, const float *x, float a, int n)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < (size_t)n)
        y[i] = fmaf(a, x[i], y[i]);
}

cudaError_t sample_axpy(cudaStream_t s, float *y, const float *x, float a, int n)
{
    return PW_LAUNCH(axpy, dim3(((unsigned)n + 63) / 64), dim3(64), 0, s, y, x, a, n);
}

__global__ void flip(float *y, const float *x, int n)
{
    PW_DYN_SHARED(float, tile);
    size_t first = (size_t)blockIdx.x * 64;
    int rows = min(64, n - (int)first), t = (int)threadIdx.x;
    if (t < rows)
        tile[t] = x[first + threadIdx.x];
    __syncthreads();
    if (t < rows)
        y[first + threadIdx.x] = tile[rows - 1 - t];
}

cudaError_t sample_flip(cudaStream_t s, float *y, const float *x, int n)
{
    return PW_LAUNCH(flip, dim3(((unsigned)n + 63) / 64), dim3(64), 64 * sizeof(float), s, y, x, n);
}

__global__ void warp(int *out)
{
    int lane = (int)threadIdx.x, *mine = out + 8 * lane;
    mine[0] = __shfl_sync(ALL, lane, 5);
    mine[1] = __shfl_xor_sync(ALL, lane, 3);
    mine[2] = __shfl_down_sync(ALL, lane, 4);
    mine[3] = __shfl_up_sync(ALL, lane, 4, 16);
    mine[4] = (int)__ballot_sync(ALL, lane % 3 == 0);
    mine[5] = __any_sync(ALL, lane == 31);
    mine[6] = __all_sync(ALL, lane < 31);
    mine[7] = __syncthreads_count(lane < 10);
}

cudaError_t sample_warp(cudaStream_t s, int *out)
{
    return PW_LAUNCH(warp, dim3(1), dim3(32), 0, s, out);
}

__global__ void places(int *out)
{
    size_t block = blockIdx.x + gridDim.x * (blockIdx.y + (size_t)gridDim.y * blockIdx.z);
    size_t thread = threadIdx.x + blockDim.x * (threadIdx.y + (size_t)blockDim.y * threadIdx.z);
    size_t i = block * blockDim.x * blockDim.y * blockDim.z + thread;
    out[i] = (int)i;
}

cudaError_t sample_places(cudaStream_t s, int *out, struct dim3 grid, struct dim3 block)
{
    return PW_LAUNCH(places, grid, block, 0, s, out);
}

__global__ void bf16(uint16_t *to, float *back, const float *from, int n)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (size_t)n)
        return;
    __nv_bfloat16 x = __float2bfloat16_rn(from[i]);
    to[i] = __bfloat16_as_ushort(x);
    back[i] = __bfloat162float(x);
}

cudaError_t sample_bf16(cudaStream_t s, uint16_t *to, float *back, const float *from, int n)
{
    return PW_LAUNCH(bf16, dim3(((unsigned)n + 255) / 256), dim3(256), 0, s, to, back, from, n);
}

__global__ void dynamic(int *out, size_t n)
{
    PW_DYN_SHARED(int, buffer);
    buffer[n - 1] = 7;
    *out = buffer[n - 1];
}

cudaError_t sample_dynamic(cudaStream_t s, int *out, size_t bytes)
{
    return PW_LAUNCH(dynamic, dim3(1), dim3(1), bytes, s, out, bytes / sizeof(int));
}

cudaError_t sample_allow_dynamic(int bytes)
{
    return cudaFuncSetAttribute(dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
}
