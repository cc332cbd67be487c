/* amx.h - what feeds the processor's matrix unit (Intel AMX, bf16): blocks of 32 x 32 as two tiles.
 *
 * A tile is 16 rows of 64 bytes. The unit multiplies a left tile [16,32] by a right tile [32,16], both bf16,
 * into one [16,16] of float32: products exact, additions in float32. A right tile holds its k in pairs: row p
 * is (b[2p][0], b[2p+1][0]), (b[2p][1], b[2p+1][1]), ...
 *
 * A panel is 32 rows of a left or 32 columns of a right operand over all of k: for each 32 of k one block of
 * two tiles, rows (columns) 0..15 and 16..31, 2 KiB in one piece whatever the shape. Padding is zero. */
#ifndef PW_CPU_AMX_H
#define PW_CPU_AMX_H
#include "kernels/backend.h"

enum {
    PW_AMX_SIDE = 32,   /* rows, columns and k of a block */
    PW_AMX_BLOCK = 512, /* floats that the 2 x 16 x 32 bf16 of a block occupy */
    PW_AMX_TILE = 256,  /* and those of a tile */
    PW_AMX_STRIDE = 64, /* bytes from row to row of a packed tile */
};

/* Which side of a product, and whether its k runs along the rows of src or down its columns. */
enum pw_amx_form {
    PW_LEFT_ROWS,     /* x of y = x W^T, dy of dx = dy W: src [n,K] */
    PW_RIGHT_ROWS,    /* W of the former: src [n,K] */
    PW_RIGHT_COLUMNS, /* W of the latter, x of dW = dy^T x: src [K,n] */
    PW_LEFT_COLUMNS,  /* dy of dW: src [K,n] */
};

/* Floats of a panel over K. */
size_t pw_amx_panel(int K);

/* One panel of n <= 32 rows or columns, rounded to nearest even; rows of src are stride floats apart. A left
 * panel of n <= 16 rows has its first tiles only. */
void pw_amx_pack(float *panel, const float *src, size_t stride, int n, int K, enum pw_amx_form form);

/* c [m,n] = from + the product of two panels over K. m and n are up to 32, and rounded up to 16 or 32 where
 * from is read and c written: their rows are ldc floats apart. from: NULL for zero, or c. Every entry of c is
 * computed alike, whatever m and n are. */
void pw_amx_product(int m, int n, int K, const float *left, const float *right, float *c, const float *from,
                    size_t ldc);

/* Members of the table of bf16 (table.c). */
void pw_for_chunks_amx(struct pw_backend *be, int n,
                       void (*fn)(struct pw_ctx *ctx, int chunk, int worker, void *arg), void *arg);
size_t pw_mat_pack_floats_amx(int out, int in);
void pw_prepare_amx(struct pw_backend *be, const struct pw_mat *mats, int n);
void pw_linear_fwd_amx(struct pw_ctx *c, float *y, float *pre, const float *x, const struct pw_mat *m,
                       const float *bias, const float *residual, enum pw_act act, int R);
void pw_linear_dx_amx(struct pw_ctx *c, float *dx, const float *dy, const struct pw_mat *m, enum pw_act act,
                      const float *saved, float scale, int R);
void pw_linear_dw_amx(struct pw_ctx *c, float *dw, float *d_bias, const float *dy, const float *x, bool add,
                      int out, int in, int R);

#endif
