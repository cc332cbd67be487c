/* blas.h - matrix products by cuBLASLt, which is opened at run time and only where there is a device.
 *
 * A product's algorithm is asked for once, when its shape first comes, and kept: the same shapes have the
 * same bits for as long as the library, the device and its workspace are the same. Everything is enqueued,
 * nothing waited for, and all of it can be captured; the library may load code when a shape first comes, so
 * that call should be outside of a capture. */
#ifndef PW_CUDA_BLAS_H
#define PW_CUDA_BLAS_H
#include "base/err.h"
#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>

/* The library's handle, workspaces and plans: one for each model, used by one thread at a time. Products of
 * PW_PRODUCT_DW, in order among themselves, may run beside the others, which are in order, too. */
struct pw_blas;

/* What operands are rounded to; sums and results are float32. */
enum pw_products { PW_PRODUCTS_FP32, PW_PRODUCTS_TF32, PW_PRODUCTS_BF16 };
const char *pw_products_name(enum pw_products precision); /* "bf16" */

/* The products of a linear layer of R rows, weights W [out,in], and their operands in the order that
 * pw_blas_product takes them. In bf16 operands are 16-bit words, else floats. */
enum pw_product {
    PW_PRODUCT_Y,  /* y [R,out] = x W^T:    W, x [R,in] */
    PW_PRODUCT_DX, /* dx [R,in] = dy W:     W, dy [R,out] */
    PW_PRODUCT_DW  /* dw [out,in] = dy^T x: x, dy */
};

/* On the current device. PW_EUSER where the library is missing or too old, PW_EDEVICE or PW_ENOMEM where it
 * or the device has failed; one line says what would do. */
enum pw_code pw_blas_open(struct pw_blas **b, enum pw_products precision, struct pw_err *err);
void pw_blas_close(struct pw_blas *b); /* NULL is a no-op; after what it has enqueued is done */
size_t pw_blas_workspace(void); /* bytes of the device's memory that an open one has; of the current device */
enum pw_products pw_blas_precision(const struct pw_blas *b);

/* PW_EUSER: the library has no algorithm for that, and nothing was done. Else
 * to = the product of left and right (+ bias, by column) (+ onto), or with relu the positive part of that.
 * onto: NULL, or of the shape of to, and may be to; bias: NULL, or as many floats as to has columns. rounded:
 * to is bf16 as the operands, and there is neither onto nor bias. R, in and out > 0. */
enum pw_code pw_blas_product(struct pw_blas *b, cudaStream_t s, enum pw_product what, void *to, bool rounded,
                             const void *left, const void *right, const float *onto, const float *bias,
                             bool relu, int R, int in, int out, struct pw_err *err);

/* "cuBLASLt 13.0.2", or "no cuBLASLt": of the library that would be opened. Valid until the thread's next
 * call.
 */
const char *pw_blas_version(void);

/* For the record: shape and algorithm of plan i = 0, 1, ... as one line; false beyond the last. */
bool pw_blas_describe_plan(const struct pw_blas *b, int i, char *line, size_t size);

#endif
