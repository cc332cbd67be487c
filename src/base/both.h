/* both.h - PW_BOTH: marks an inline function whose one definition compiles for the host and for CUDA
 * kernels. */
#ifndef PW_BOTH_H
#define PW_BOTH_H

#ifdef __CUDACC__
#define PW_BOTH static __host__ __device__ __forceinline__
#else /* always_inline: also into functions that are compiled once for each instruction set */
#define PW_BOTH static inline __attribute__((always_inline))
#endif

#endif
