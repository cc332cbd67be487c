/* blas.h - matrix products by cuBLASLt, which is loaded at run time and only if there is a device.
 *
 * The algorithm of a product is chosen once, when its shape first occurs, and then kept in a plan. So equal
 * shapes give equal bits as long as library, device and workspace size are the same. Products are enqueued
 * and can be captured into a graph; nothing waits. The library may load code when a shape first occurs, so
 * make that call outside of a capture. */
#ifndef PW_CUDA_BLAS_H
#define PW_CUDA_BLAS_H
#include "base/err.h"
#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>

/* A library handle with its workspaces and plans: one per model, used by one thread at a time. Products
 * PW_PRODUCT_DW have a workspace of their own. They may run on another stream than the other products; each
 * of the two kinds must be in order. */
struct pw_blas;

/* The precision to which operands are rounded. Sums and results are float32. */
enum pw_products { PW_PRODUCTS_FP32, PW_PRODUCTS_TF32, PW_PRODUCTS_BF16 };
const char *pw_products_name(enum pw_products precision); /* "bf16" */

/* The products of a linear layer with R rows and weights W [out,in], with the operands left, right of
 * pw_blas_product. In bf16 operands are 16-bit words, otherwise floats. */
enum pw_product {
    PW_PRODUCT_Y,  /* y [R,out] = x W^T:    W, x [R,in] */
    PW_PRODUCT_DX, /* dx [R,in] = dy W:     W, dy [R,out] */
    PW_PRODUCT_DW  /* dw [out,in] = dy^T x: x, dy */
};

/* Open a handle on the current device; *b belongs to the caller. tf32 becomes fp32 below compute capability
 * 8.0. Fails with PW_EUSER if the library is missing or too old, and with PW_EDEVICE or PW_ENOMEM if library
 * or device fail. The message says what is needed. */
enum pw_code pw_blas_open(struct pw_blas **b, enum pw_products precision, struct pw_err *err);
void pw_blas_close(struct pw_blas *b); /* NULL is a no-op; all enqueued products must be done */
size_t pw_blas_workspace(void);        /* device bytes of the workspaces of one handle */
enum pw_products pw_blas_precision(const struct pw_blas *b);

/* Enqueue to = left x right + onto + bias; with relu, the positive part of that. onto: NULL, or a tensor of
 * the shape of to, also to itself. bias: NULL, or one float per column of to. rounded: to is bf16 like the
 * operands, and there is neither onto nor bias. R, in and out > 0.
 *
 * Fails with PW_EUSER, and enqueues nothing, if the library has no algorithm for this product; the caller
 * then uses a kernel of its own. Fails with PW_EDEVICE or PW_ENOMEM if the library fails. */
enum pw_code pw_blas_product(struct pw_blas *b, cudaStream_t s, enum pw_product what, void *to, bool rounded,
                             const void *left, const void *right, const float *onto, const float *bias,
                             bool relu, int R, int in, int out, struct pw_err *err);

/* Return the name of the library that would be opened: "cuBLASLt 13.0.2", or "no cuBLASLt". Valid until the
 * next call in this thread. */
const char *pw_blas_version(void);

/* Write shape and algorithm of plan i = 0, 1, ... as one line, for the session. Returns false past the last
 * plan. */
bool pw_blas_describe_plan(const struct pw_blas *b, int i, char *line, size_t size);

#endif
