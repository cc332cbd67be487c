/* gemm.h - the matrix product that linear layers and attention use, and functions that pack its operands.
 *
 * All memory is the caller's; the functions cannot fail. Sums are chains (kernels/backend.h). */
#ifndef PW_CPU_GEMM_H
#define PW_CPU_GEMM_H
#include "kernels/cpu/ops.h"
#include <stdbool.h>

enum {
    PW_PANEL = 32, /* columns of a panel: two registers of 16 */
    /* Floats between consecutive k if a is packed by tiles; at least the number of rows of a tile. */
    PW_PACKED = 16,
};

/* c[i*ldc + j] = chain over k of a[i*ras + k*cas] * b[k*bs + j], for 0 <= i < m and 0 <= j < n <= 32. The
 * chain starts at +0, or at c if add.
 *
 * b is always read 16 wide (n <= 16) or 32 wide, so it must be padded; c is written only for j < n. Any m >=
 * 0 and K >= 0. It is fastest if bs is PW_PANEL and cas is 1, or if cas is PW_PACKED and ras is 1. */
void PW_OP(panel)(int m, int n, int K, const float *a, size_t ras, size_t cas, const float *b, size_t bs,
                  float *c, size_t ldc, bool add);

/* The same for any n: c over panels of 32 columns. */
static inline void pw_product(int m, int n, int K, const float *a, size_t ras, size_t cas, const float *b,
                              size_t bs, float *c, size_t ldc, bool add)
{
    for (int j = 0; j < n; j += PW_PANEL)
        PW_OP(panel)(m, n - j < PW_PANEL ? n - j : PW_PANEL, K, a, ras, cas, b + j, bs, c + j, ldc, add);
}

/* Return the number of rows of the first tile when panel() processes m > 0 rows. */
int PW_OP(tile_rows)(int m);

/* dst [R,ld] = src [R,n], whose rows are stride apart, padded with zeros to ld, a multiple of 16. */
void PW_OP(pack_rows)(float *dst, size_t ld, const float *src, size_t stride, int R, int n);

/* dst [n,ld] = the transpose of src [R,n], whose rows are stride apart, padded with zeros to ld >= R, a
 * multiple of 16. */
void PW_OP(pack_transposed)(float *dst, size_t ld, const float *src, size_t stride, int R, int n);

#endif
