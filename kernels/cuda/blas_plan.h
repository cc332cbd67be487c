/* blas_plan.h - the plan of one product: its description for cuBLASLt, and the algorithm that the library
 * chose.
 *
 * A plan belongs to the struct pw_blas that created it. One thread at a time. */
#ifndef PW_CUDA_BLAS_PLAN_H
#define PW_CUDA_BLAS_PLAN_H
#include "kernels/cuda/blas.h"
#include "kernels/cuda/blas_library.h"

/* Everything that the choice of a plan depends on. All members are int, so keys can be compared as bytes. */
struct pw_lt_plan_key {
    int what, precision; /* enum pw_product, enum pw_products */
    int R, in, out;
    int onto, bias, relu, rounded; /* true or false */
    /* Alignment in bytes, a power of two up to 16, of: left, right, onto (else to), to, bias. */
    int aligned[5];
};

/* A plan, in the list of its hash bucket. */
struct pw_lt_plan {
    struct pw_lt_plan_key key;
    struct pw_lt_plan *next; /* next in the bucket */
    cublasLtMatmulDesc_t desc;
    cublasLtMatrixLayout_t left, right, to; /* onto has the layout of to */
    cublasLtMatmulAlgo_t algo;
    bool none; /* the library has no algorithm for this product; algo is not set */
};

bool pw_lt_has_none(cublasStatus_t status); /* does this status mean that there is no algorithm? */

/* Create the plan of a key. bias: only its alignment matters. workspace: bytes that an algorithm may use. If
 * the library has no algorithm, succeeds with (*p)->none set. Fails with PW_ENOMEM, or with PW_EDEVICE if the
 * library fails. */
enum pw_code pw_lt_plan_create(struct pw_lt_plan **p, const struct pw_lt *lt, cublasLtHandle_t handle,
                               const struct pw_lt_plan_key *key, const float *bias, size_t workspace,
                               struct pw_err *err);
void pw_lt_plan_destroy(struct pw_lt_plan *p, const struct pw_lt *lt); /* NULL is a no-op */

/* Fill err for a failed product: the step (`doing`), the product, and the name of the status. Returns
 * PW_EDEVICE, or PW_ENOMEM if the library could not allocate. */
enum pw_code pw_lt_plan_fail(const struct pw_lt *lt, const struct pw_lt_plan_key *key, cublasStatus_t status,
                             const char *doing, struct pw_err *err);

/* Write a line such as "y [4096,768] = x W^T over 768, bf16: algorithm 66, tile 20, stages 35, split 1, ..."
 */
void pw_lt_plan_describe(const struct pw_lt_plan *p, const struct pw_lt *lt, char *line, size_t size);

#endif
