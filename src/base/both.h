/* both.h - marks of functions.
 *
 * PW_BOTH: an inline function whose one definition compiles for the host and for CUDA kernels.
 * PW_WITH_FMA: a host function that uses the processor's fma instruction if it exists, instead of a call:
 * three times as fast, the same bits.
 * PW_WIDE: a host function whose loops use wider vectors if the processor has them; the same bits. */
#ifndef PW_BOTH_H
#define PW_BOTH_H
#include <stdint.h> /* defines __GLIBC__ */

#ifdef __CUDACC__
#define PW_BOTH static __host__ __device__ __forceinline__
#else /* always_inline: also into functions that are compiled once for each instruction set */
#define PW_BOTH static inline __attribute__((always_inline))
#endif

/* Sanitizers do not work with functions that are selected when the program is loaded. */
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) &&    \
    !defined(__SANITIZE_THREAD__)
#define PW_WITH_FMA __attribute__((target_clones("default", "fma")))
#define PW_WIDE     __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define PW_WITH_FMA
#define PW_WIDE
#endif

#endif
