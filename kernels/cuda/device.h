/* device.h - the CUDA device language for .cu files, with macros for the three constructs that nvcc and the
 * emulator write differently.
 *
 * With nvcc the macros are thin wrappers over CUDA. A host C++ compiler finds cuda_runtime.h in
 * tests/emulator/include, where the same names run on an emulated device (tests/emulator/emulator.h). So .cu
 * files need no #ifdef, and tests without a GPU run the same source.
 *
 *   PW_SHARED(float, tile, [32][33]);      a static shared array
 *   PW_DYN_SHARED(float, buffer);          the dynamic shared memory of the launch, as float *
 *   PW_LAUNCH(kernel, grid, block, shared bytes, stream, arguments...)     launches; returns a cudaError_t
 *
 * Rules for kernels; the emulator checks most of them. Blocks are multiples of 32 threads. A warp leaves a
 * kernel as a whole, and never before a barrier. Lanes that exchange data through memory call __syncwarp() in
 * between; a shuffle is no fence. Masks of warp intrinsics are full. Indices are size_t. There are no atomics
 * on floats. */
#ifndef PW_CUDA_DEVICE_H
#define PW_CUDA_DEVICE_H
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#ifdef __CUDACC__

#define PW_SHARED(type, name, ...) __shared__ type name __VA_ARGS__
#define PW_DYN_SHARED(type, name)                                                                            \
    extern __shared__ __align__(16) unsigned char pw_dynamic_shared[];                                       \
    type *name = reinterpret_cast<type *>(pw_dynamic_shared)

template <class T> struct pw_same {
    using type = T; /* not deduced, so arguments are converted to the types that the kernel takes */
};

template <class... P>
inline cudaError_t pw_launch(void (*kernel)(P...), dim3 grid, dim3 block, size_t shared, cudaStream_t stream,
                             typename pw_same<P>::type... args)
{
    kernel<<<grid, block, shared, stream>>>(args...);
    return cudaGetLastError();
}

#define PW_LAUNCH(kernel, grid, block, shared, stream, ...)                                                  \
    pw_launch(kernel, grid, block, shared, stream, ##__VA_ARGS__)

#else
#include <pw_emu_launch.h>
#endif

#endif
