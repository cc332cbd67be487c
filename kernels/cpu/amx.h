/* amx.h - bf16 matrix products on the processor's matrix unit (Intel AMX), with blocks of 32 x 32 entries as
 * two tiles each.
 *
 * A tile is 16 rows of 64 bytes. The unit multiplies a left tile [16,32] by a right tile [32,16], both bf16,
 * and adds the product to a [16,16] tile of float32. Products are exact; additions are in float32. A right
 * tile stores its k in pairs: row p is (b[2p][0], b[2p+1][0]), (b[2p][1], b[2p+1][1]), ...
 *
 * A panel holds 32 rows of a left operand, or 32 columns of a right one, over all of k. Each 32 of k are one
 * block of two tiles: rows (columns) 0..15 and 16..31. A block is 2 KiB of contiguous memory for every shape;
 * padding is zero.
 *
 * The caller owns all memory. Any worker may call the functions on its own memory; they cannot fail. */
#ifndef PW_CPU_AMX_H
#define PW_CPU_AMX_H
#include "kernels/backend.h"

enum {
    PW_AMX_SIDE = 32,   /* rows, columns and k of a block */
    PW_AMX_BLOCK = 512, /* floats that the 2 x 16 x 32 bf16 of a block occupy */
    PW_AMX_TILE = 256,  /* floats that a tile occupies */
    PW_AMX_STRIDE = 64, /* bytes between rows of a packed tile */
};

/* The side of a product, and whether k runs along the rows or down the columns of the source. */
enum pw_amx_form {
    PW_LEFT_ROWS,     /* x in y = x W^T, dy in dx = dy W: src [n,K] */
    PW_RIGHT_ROWS,    /* W in y = x W^T: src [n,K] */
    PW_RIGHT_COLUMNS, /* W in dx = dy W, x in dW = dy^T x: src [K,n] */
    PW_LEFT_COLUMNS,  /* dy in dW = dy^T x: src [K,n] */
};

/* Number of floats of a panel over K. */
size_t pw_amx_panel(int K);

/* Pack n <= 32 rows or columns into one panel, rounded to nearest even. Rows of src are stride floats apart.
 * A left panel with n <= 16 rows has only the first tile of each block. */
void pw_amx_pack(float *panel, const float *src, size_t stride, int n, int K, enum pw_amx_form form);

/* c [m,n] = from + the product of two panels over K, with m, n <= 32. Rows of c and `from` are ldc floats
 * apart. Reads and writes cover m and n rounded up to 16 or 32, so c needs that room. from: NULL for zero, or
 * c. Every entry of c is computed by the same operations, whatever m and n are. */
void pw_amx_product(int m, int n, int K, const float *left, const float *right, float *c, const float *from,
                    size_t ldc);

/* Members of the table of precision bf16 (table.c); contracts in kernels/backend.h. */
void pw_for_chunks_amx(struct pw_backend *be, int n,
                       void (*fn)(struct pw_ctx *ctx, int chunk, int worker, void *arg), void *arg);
size_t pw_mat_pack_floats_amx(int out, int in, bool backward);
void pw_prepare_amx(struct pw_backend *be, const struct pw_mat *mats, int n);
void pw_linear_fwd_amx(struct pw_ctx *c, float *y, float *pre, const float *x, const struct pw_mat *m,
                       const float *bias, const float *residual, enum pw_act act, int R);
void pw_linear_dx_amx(struct pw_ctx *c, float *dx, const float *dy, const struct pw_mat *m, enum pw_act act,
                      const float *saved, float scale, int R);
void pw_linear_dw_amx(struct pw_ctx *c, float *dw, float *d_bias, const float *dy, const float *x, bool add,
                      int out, int in, int R);

#endif
