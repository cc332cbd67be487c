/* cuda_runtime.h - the runtime's calls, and for C++ the device language, in place of NVIDIA's. */
#ifndef PW_EMU_CUDA_RUNTIME_H
#define PW_EMU_CUDA_RUNTIME_H
#include <cuda_runtime_api.h>
#ifdef __cplusplus
#include <pw_emu_device.h>

/* CUDA's form for kernels: the template takes any function. */
template <class F> inline cudaError_t cudaFuncSetAttribute(F *fn, cudaFuncAttribute attr, int value)
{
    return cudaFuncSetAttribute(reinterpret_cast<const void *>(fn), attr, value);
}
template <class T> inline cudaError_t cudaMalloc(T **p, size_t n)
{
    return cudaMalloc(reinterpret_cast<void **>(p), n);
}
#endif
#endif
