/* blas_library.h - cuBLASLt's functions, resolved at run time. The library takes half a gigabyte, and a
 * program that trains on the cpu must not depend on it. */
#ifndef PW_CUDA_BLAS_LIBRARY_H
#define PW_CUDA_BLAS_LIBRARY_H
#include "base/err.h"
#include <cublasLt.h>

/* Expands PW_LT(function) for every function of the library that pewter calls. */
#define PW_LT_FUNCTIONS                                                                                      \
    PW_LT(GetVersion)                                                                                        \
    PW_LT(GetStatusName)                                                                                     \
    PW_LT(Create)                                                                                            \
    PW_LT(Destroy)                                                                                           \
    PW_LT(MatrixLayoutCreate)                                                                                \
    PW_LT(MatrixLayoutDestroy)                                                                               \
    PW_LT(MatmulDescCreate)                                                                                  \
    PW_LT(MatmulDescDestroy)                                                                                 \
    PW_LT(MatmulDescSetAttribute)                                                                            \
    PW_LT(MatmulPreferenceCreate)                                                                            \
    PW_LT(MatmulPreferenceDestroy)                                                                           \
    PW_LT(MatmulPreferenceSetAttribute)                                                                      \
    PW_LT(MatmulAlgoGetHeuristic)                                                                            \
    PW_LT(MatmulAlgoConfigGetAttribute)                                                                      \
    PW_LT(Matmul)

/* The loaded library, its version and its functions. */
struct pw_lt {
    void *library;
    int version[3]; /* 13, 0, 2 */
#define PW_LT(name) __typeof__(cublasLt##name) *name;
    PW_LT_FUNCTIONS
#undef PW_LT
};

/* Load the newest supported version into *lt. Fails with PW_EUSER if there is none; *lt is zeroed then, and
 * the message says which versions are supported. After pw_lt_close the library stays loaded. */
enum pw_code pw_lt_open(struct pw_lt *lt, struct pw_err *err);
void pw_lt_close(struct pw_lt *lt); /* a zeroed struct is a no-op */

#endif
