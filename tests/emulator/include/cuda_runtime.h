/* cuda_runtime.h - in place of NVIDIA's header: the runtime API, and for C++ the device language. */
#ifndef PW_EMU_CUDA_RUNTIME_H
#define PW_EMU_CUDA_RUNTIME_H
#include <cuda_runtime_api.h>
#ifdef __cplusplus
#include <pw_emu_device.h>

/* The C++ overload of CUDA, which takes a kernel of any type. */
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
