/* lt.h - cuBLASLt from inside: its descriptors, and the product. */
#ifndef PW_EMU_LT_H
#define PW_EMU_LT_H
#include "tests/emulator/emu_int.h"
#include <cublasLt.h>

struct pw_emu_matmul {
    cublasComputeType_t compute;
    cudaDataType_t scale;
    cublasLtPointerMode_t mode;
    cublasOperation_t trans_a, trans_b;
    cublasLtEpilogue_t epilogue;
    const void *bias; /* a number for every row of D */
    cudaDataType_t bias_type;
};

struct pw_emu_layout {
    cudaDataType type;
    cublasLtOrder_t order;
    uint64_t rows, cols;
    int64_t ld;
    int32_t batch;
    int64_t stride; /* from matrix to matrix, in elements */
};

struct pw_emu_preference {
    uint64_t workspace;
    uint32_t align[4]; /* what A, B, C, D are promised to be aligned to */
};

/* What the heuristic hands out as an algorithm: what it was promised. */
struct pw_emu_algo {
    uint32_t magic; /* it comes from there */
    uint32_t align[4];
    uint64_t workspace;
};
_Static_assert(sizeof(struct pw_emu_algo) <= sizeof(cublasLtMatmulAlgo_t), "it must fit");
enum { PW_EMU_ALGO = 0x616c676f };

/* One product, its descriptors copied: D = epilogue(alpha op(A) op(B) + beta C). */
struct pw_emu_product {
    struct pw_emu_matmul d;
    const void *alpha, *beta; /* on the device, in that mode */
    float host_alpha, host_beta;
    const void *A, *B, *C;
    void *D;
    struct pw_emu_layout a, b, c, out;
    void *workspace;
    size_t workspace_size;
};

size_t pw_emu_element(cudaDataType type); /* bytes; 0: a type that isn't known here */
/* Shapes and types that fit together and that are made here. */
cublasStatus_t pw_emu_product_fits(const struct pw_emu_matmul *d, const struct pw_emu_layout *a,
                                   const struct pw_emu_layout *b, const struct pw_emu_layout *c,
                                   const struct pw_emu_layout *out);
bool pw_emu_product_in_bounds(const struct pw_emu_product *p); /* or it reports what isn't */
void pw_emu_product_run(const struct pw_emu_product *p);

#endif
