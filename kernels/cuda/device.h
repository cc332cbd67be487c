/* device.h - what a .cu file includes: CUDA's device language, and the few forms of it that a compiler for
 * the host needs told apart.
 *
 * nvcc sees thin macros over CUDA. A host's C++ compiler finds cuda_runtime.h in tests/emulator/include,
 * where the same names are fibers and checked memory (tests/emulator/emulator.h). So the source has no #ifdef
 * of its own, and what is tested without a GPU is the source that runs on one.
 *
 *   PW_SHARED(float, tile, [32][33]);      a static shared array
 *   PW_DYN_SHARED(float, buffer);          the dynamic shared memory of the launch, as float *
 *   PW_LAUNCH(kernel, grid, block, shared bytes, stream, arguments...)     gives the launch's cudaError_t
 *
 * Rules, most of them checked by the emulator: blocks are multiples of 32 threads; a warp leaves a kernel
 * whole, and never before a barrier; lanes that speak through memory have __syncwarp() between them, a
 * shuffle is no fence; masks are full; indices are size_t; there are no atomics on floats. */
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
    using type = T; /* not deduced: arguments are converted to what the kernel takes */
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
