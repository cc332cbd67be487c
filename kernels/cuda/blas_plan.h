/* blas_plan.h - one shape of product: what cuBLASLt is told about it, and the algorithm that it chose. */
#ifndef PW_CUDA_BLAS_PLAN_H
#define PW_CUDA_BLAS_PLAN_H
#include "kernels/cuda/blas.h"
#include "kernels/cuda/blas_library.h"

/* What a plan depends on; of int alone, so that its bytes can be compared. */
struct pw_lt_plan_key {
    int what, precision; /* enum pw_product, enum pw_products */
    int R, in, out;
    int onto, bias, relu, rounded; /* true or false */
    int aligned[5];                /* bytes, at most 16: left, right, onto (else to), to, bias */
};

struct pw_lt_plan {
    struct pw_lt_plan_key key;
    struct pw_lt_plan *next; /* with a hash like this one's */
    cublasLtMatmulDesc_t desc;
    cublasLtMatrixLayout_t left, right, to; /* onto has that of to */
    cublasLtMatmulAlgo_t algo;
    bool none; /* the library has none */
};

bool pw_lt_has_none(cublasStatus_t status); /* the library's words for that */

/* bias is looked at for its alignment alone. */
enum pw_code pw_lt_plan_create(struct pw_lt_plan **p, const struct pw_lt *lt, cublasLtHandle_t handle,
                               const struct pw_lt_plan_key *key, const float *bias, size_t workspace,
                               struct pw_err *err);
void pw_lt_plan_destroy(struct pw_lt_plan *p, const struct pw_lt *lt); /* NULL is a no-op */

/* Fails with a line on a product: what it was doing, and the library's own word for why it can't. */
enum pw_code pw_lt_plan_fail(const struct pw_lt *lt, const struct pw_lt_plan_key *key, cublasStatus_t status,
                             const char *doing, struct pw_err *err);

/* "y [4096,768] = x W^T over 768, bf16: algorithm 66, tile 20, stages 35, split 1, ..." */
void pw_lt_plan_describe(const struct pw_lt_plan *p, const struct pw_lt *lt, char *line, size_t size);

#endif
