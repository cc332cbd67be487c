/* both.h - PW_BOTH: a function of one text for the host and for CUDA's kernels. */
#ifndef PW_BOTH_H
#define PW_BOTH_H

#ifdef __CUDACC__
#define PW_BOTH static __host__ __device__ __forceinline__
#else /* also inside of functions that are compiled once for each processor */
#define PW_BOTH static inline __attribute__((always_inline))
#endif

#endif
