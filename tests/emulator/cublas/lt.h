/* lt.h - internals of the emulated cuBLASLt: its descriptors (lt.c), and the product (product.c). The caller
 * holds the emulator's lock. */
#ifndef PW_EMU_LT_H
#define PW_EMU_LT_H
#include "tests/emulator/emu_int.h"
#include <cublasLt.h>

/* The description of an operation; cublasLtMatmulDesc_t points to it. */
struct pw_emu_matmul {
    cublasComputeType_t compute;
    cudaDataType_t scale;
    cublasLtPointerMode_t mode;
    cublasOperation_t trans_a, trans_b;
    cublasLtEpilogue_t epilogue;
    const void *bias; /* one value per row of D */
    cudaDataType_t bias_type;
};

/* The layout of a matrix; cublasLtMatrixLayout_t points to it. */
struct pw_emu_layout {
    cudaDataType type;
    cublasLtOrder_t order;
    uint64_t rows, cols;
    int64_t ld;
    int32_t batch;
    int64_t stride; /* elements between the matrices of a batch */
};

/* Limits for the choice of an algorithm. */
struct pw_emu_preference {
    uint64_t workspace;
    uint32_t align[4]; /* alignment in bytes that the caller promises for A, B, C and D */
};

/* The content of an algorithm: the limits with which the heuristic chose it. A product checks that its
 * pointers and workspace keep these promises. */
struct pw_emu_algo {
    uint32_t magic; /* PW_EMU_ALGO: the heuristic made this algorithm */
    uint32_t align[4];
    uint64_t workspace;
};
_Static_assert(sizeof(struct pw_emu_algo) <= sizeof(cublasLtMatmulAlgo_t), "it must fit");
enum { PW_EMU_ALGO = 0x616c676f };

/* One product, its descriptors copied: D = epilogue(alpha op(A) op(B) + beta C). */
struct pw_emu_product {
    struct pw_emu_matmul d;
    const void *alpha, *beta; /* device pointers, in pointer mode DEVICE */
    float host_alpha, host_beta;
    const void *A, *B, *C;
    void *D;
    struct pw_emu_layout a, b, c, out;
    void *workspace;
    size_t workspace_size;
};

size_t pw_emu_element(cudaDataType type); /* bytes of an element; 0: unsupported type */
/* Do shapes and types fit together? Returns INVALID_VALUE if not, and NOT_SUPPORTED for a combination that
 * the emulator or the device does not implement. */
cublasStatus_t pw_emu_product_fits(const struct pw_emu_matmul *d, const struct pw_emu_layout *a,
                                   const struct pw_emu_layout *b, const struct pw_emu_layout *c,
                                   const struct pw_emu_layout *out);
/* Checks the operands. Returns false, and reports an operand that is out of bounds or overlaps D. */
bool pw_emu_product_in_bounds(const struct pw_emu_product *p);
/* Computes the product, whose operands must be in bounds. */
void pw_emu_product_run(const struct pw_emu_product *p);

#endif
