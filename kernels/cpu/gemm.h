/* gemm.h - the product that linear layers and attention are made of, and the layouts it wants. */
#ifndef PW_CPU_GEMM_H
#define PW_CPU_GEMM_H
#include "kernels/cpu/ops.h"
#include <stdbool.h>

enum {
    PW_PANEL = 32, /* columns of a panel: two registers of 16 */
    PW_PACKED =
        16, /* floats from one k to the next where a is packed by tiles: at least the rows of a tile */
};

/* c[i*ldc + j] = chain over k of a[i*ras + k*cas] * b[k*bs + j], for i < m and j < n <= 32. The chain starts
 * at +0, or with add at c. b is read 16 wide (n <= 16) or 32 wide whatever n is, so it must be padded; c is
 * written only where j < n. Any m >= 0, K >= 0. Fastest where bs is PW_PANEL and cas is 1, or cas is
 * PW_PACKED and ras 1. */
void PW_OP(panel)(int m, int n, int K, const float *a, size_t ras, size_t cas, const float *b, size_t bs,
                  float *c, size_t ldc, bool add);

/* Rows of the first tile when panel() cuts up m > 0 rows. */
int PW_OP(tile_rows)(int m);

/* dst [R,ld] = src [R,n] with rows stride apart, padded with zeros to ld; ld is a multiple of 16. */
void PW_OP(pack_rows)(float *dst, size_t ld, const float *src, size_t stride, int R, int n);

/* dst [n,ld] = the transpose of src [R,n] with rows stride apart, padded with zeros to ld >= R, a multiple of
 * 16. */
void PW_OP(pack_transposed)(float *dst, size_t ld, const float *src, size_t stride, int R, int n);

#endif
