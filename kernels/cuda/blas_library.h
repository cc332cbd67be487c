/* blas_library.h - cuBLASLt's functions, looked up at run time: the library has half a gigabyte, and a
 * program that trains on the cpu shall not need it. */
#ifndef PW_CUDA_BLAS_LIBRARY_H
#define PW_CUDA_BLAS_LIBRARY_H
#include "base/err.h"
#include <cublasLt.h>

/* PW_LT(function): all that are used. */
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

struct pw_lt {
    void *library;
    int version[3]; /* 13, 0, 2 */
#define PW_LT(name) __typeof__(cublasLt##name) *name;
    PW_LT_FUNCTIONS
#undef PW_LT
};

/* Fills *lt; on failure (PW_EUSER) it is zeroed, and the line says what is wanted. */
enum pw_code pw_lt_open(struct pw_lt *lt, struct pw_err *err);
void pw_lt_close(struct pw_lt *lt); /* of what is zeroed: a no-op */

#endif
