/* gemm.c - the matrix product: a register tile, and the loop over rows around it.
 *
 * Every output is one fmaf chain over k in ascending order, so tiles, vectors and threads can't change bits.
 * Speed comes from many independent chains. TILE rows of 32 (or 16) columns stay in registers; a row of b is
 * loaded once for all of them, and elements of a are broadcast. A tile of 14 x 32 fills the 32 registers of
 * AVX-512, 6 x 16 the 16 of AVX2. Rows are spread evenly over tiles, because a small tile has too few chains
 * to hide the latency of fma. So 20 rows become 10 + 10, not 14 + 6.
 *
 * A long panel is multiplied in parts of DEPTH values of k, which stay in the first-level cache while all
 * rows pass by. The sums wait in c, as float32, so the chains go on with the same bits. */
#include "kernels/cpu/gemm.h"
#include "kernels/cpu/simd.h"

#if defined(__AVX512F__)
enum { TILE = 14, WIDE = 1 }; /* WIDE: two registers per row */
#elif defined(__AVX2__)
enum { TILE = 6, WIDE = 0 };
#else
enum { TILE = 4, WIDE = 0 };
#endif

enum { DEPTH = 256 };

/* M rows of one register; M is a constant after inlining. */
V_INLINE void tile1(int M, int n, int K, const float *a, size_t ras, size_t cas, const float *b, size_t bs,
                    float *c, size_t ldc, bool add)
{
    v16 s[TILE];
    V_UNROLL
    for (int i = 0; i < M; i++)
        s[i] = add ? v_load_n(c + (size_t)i * ldc, n) : v_zero();
    for (int k = 0; k < K; k++, a += cas, b += bs) {
        v16 b0 = v_load(b);
        V_UNROLL
        for (int i = 0; i < M; i++)
            s[i] = v_fma(v_set(a[(size_t)i * ras]), b0, s[i]);
    }
    V_UNROLL
    for (int i = 0; i < M; i++)
        v_store_n(c + (size_t)i * ldc, n, s[i]);
}

/* M rows of two registers. */
V_INLINE void tile2(int M, int n, int K, const float *a, size_t ras, size_t cas, const float *b, size_t bs,
                    float *c, size_t ldc, bool add)
{
    v16 s[TILE], t[TILE];
    V_UNROLL
    for (int i = 0; i < M; i++) {
        s[i] = add ? v_load(c + (size_t)i * ldc) : v_zero();
        t[i] = add ? v_load_n(c + (size_t)i * ldc + 16, n - 16) : v_zero();
    }
    for (int k = 0; k < K; k++, a += cas, b += bs) {
        v16 b0 = v_load(b), b1 = v_load(b + 16);
        V_UNROLL
        for (int i = 0; i < M; i++) {
            v16 ai = v_set(a[(size_t)i * ras]);
            s[i] = v_fma(ai, b0, s[i]);
            t[i] = v_fma(ai, b1, t[i]);
        }
    }
    V_UNROLL
    for (int i = 0; i < M; i++) {
        v_store(c + (size_t)i * ldc, s[i]);
        v_store_n(c + (size_t)i * ldc + 16, n - 16, t[i]);
    }
}

#define TILES(M)                                                                                             \
    case M:                                                                                                  \
        if ((WIDE || (M) == 1) && n > 16)                                                                    \
            tile2(M, n, K, a, ras, cas, b, bs, c, ldc, add);                                                 \
        else                                                                                                 \
            tile1(M, n, K, a, ras, cas, b, bs, c, ldc, add);                                                 \
        break

V_INLINE void tile(int m, int n, int K, const float *a, size_t ras, size_t cas, const float *b, size_t bs,
                   float *c, size_t ldc, bool add)
{
    switch (m) {
        TILES(1);
        TILES(2);
        TILES(3);
        TILES(4);
#if defined(__AVX2__)
        TILES(5);
        TILES(6);
#endif
#if defined(__AVX512F__)
        TILES(7);
        TILES(8);
        TILES(9);
        TILES(10);
        TILES(11);
        TILES(12);
        TILES(13);
        TILES(14);
#endif
    }
}

/* With constant strides the loop over k needs so few address registers that none is spilled: 147 instead of
 * 130 GFLOP/s, of a peak of 153. */
static void tile_of_rows(int m, int n, int K, const float *a, size_t ras, const float *b, float *c,
                         size_t ldc, bool add)
{
    tile(m, n, K, a, ras, 1, b, PW_PANEL, c, ldc, add);
}

static void tile_packed(int m, int n, int K, const float *a, const float *b, float *c, size_t ldc, bool add)
{
    tile(m, n, K, a, 1, PW_PACKED, b, PW_PANEL, c, ldc, add);
}

static void tile_any(int m, int n, int K, const float *a, size_t ras, size_t cas, const float *b, size_t bs,
                     float *c, size_t ldc, bool add)
{
    tile(m, n, K, a, ras, cas, b, bs, c, ldc, add);
}

int PW_OP(tile_rows)(int m)
{
    int tiles = (m + TILE - 1) / TILE;
    return (m + tiles - 1) / tiles;
}

void PW_OP(panel)(int m, int n, int K, const float *a, size_t ras, size_t cas, const float *b, size_t bs,
                  float *c, size_t ldc, bool add)
{
    if (K > DEPTH && m > TILE && bs == PW_PANEL) {
        int parts = (K + DEPTH - 1) / DEPTH, most = (K + parts - 1) / parts;
        for (int left = K; left > 0; left -= most, a += (size_t)most * cas, b += (size_t)most * bs) {
            PW_OP(panel)(m, n, left < most ? left : most, a, ras, cas, b, bs, c, ldc, add);
            add = true;
        }
        return;
    }
    if (!WIDE && n > 16 && m > 1) { /* one row reads the panel once, in the order of memory */
        PW_OP(panel)(m, 16, K, a, ras, cas, b, bs, c, ldc, add);
        PW_OP(panel)(m, n - 16, K, a, ras, cas, b + 16, bs, c + 16, ldc, add);
        return;
    }
    for (int rows; m > 0; m -= rows) {
        rows = PW_OP(tile_rows)(m);
        if (bs == PW_PANEL && cas == 1)
            tile_of_rows(rows, n, K, a, ras, b, c, ldc, add);
        else if (bs == PW_PANEL && cas == PW_PACKED && ras == 1)
            tile_packed(rows, n, K, a, b, c, ldc, add);
        else
            tile_any(rows, n, K, a, ras, cas, b, bs, c, ldc, add);
        a += (size_t)rows * ras;
        c += (size_t)rows * ldc;
    }
}

void PW_OP(pack_rows)(float *dst, size_t ld, const float *src, size_t stride, int R, int n)
{
    for (int r = 0; r < R; r++, dst += ld, src += stride)
        for (int i = 0; i < (int)ld; i += 16)
            v_store(dst + i, v_load_n(src + i, n - i));
}

void PW_OP(pack_transposed)(float *dst, size_t ld, const float *src, size_t stride, int R, int n)
{
    for (int r = 0; r < (int)ld; r += 16)
        for (int i = 0; i < n; i += 16) {
            v16 t[16];
            for (int l = 0; l < 16; l++)
                t[l] = r + l < R ? v_load_n(src + (size_t)(r + l) * stride + i, n - i) : v_zero();
            v_transpose(t);
            for (int l = 0; l < 16 && i + l < n; l++)
                v_store(dst + (size_t)(i + l) * ld + r, t[l]);
        }
}
