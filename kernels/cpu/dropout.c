/* dropout.c - counter-based dropout masks, and their application to a tensor.
 *
 * Philox as in base/rng.c, for sixteen counters at once. Several short rows share one call. */
#include "kernels/cpu/dropout.h"
#include "kernels/cpu/simd.h"

enum { TURN = 16 };

#if defined(__AVX512F__)
#include <immintrin.h>
typedef __m512i words; /* 64-bit lanes, of which the lower halves are used */
enum { WORDS = 8 };
V_INLINE words w_load(const uint32_t *p)
{
    return _mm512_cvtepu32_epi64(_mm256_loadu_si256((const void *)p));
}
V_INLINE void w_store(uint32_t *p, words a)
{
    _mm256_storeu_si256((void *)p, _mm512_cvtepi64_epi32(a));
}
V_INLINE words w_set(uint32_t x)
{
    return _mm512_set1_epi64(x);
}
V_INLINE words w_mul(words a, words b)
{
    return _mm512_mul_epu32(a, b);
}
V_INLINE words w_high(words a)
{
    return _mm512_srli_epi64(a, 32);
}
V_INLINE words w_xor(words a, words b)
{
    return _mm512_xor_si512(a, b);
}
#elif defined(__AVX2__)
#include <immintrin.h>
typedef __m256i words;
enum { WORDS = 4 };
V_INLINE words w_load(const uint32_t *p)
{
    return _mm256_cvtepu32_epi64(_mm_loadu_si128((const void *)p));
}
V_INLINE void w_store(uint32_t *p, words a)
{
    __m256i low = _mm256_permutevar8x32_epi32(a, _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6));
    _mm_storeu_si128((void *)p, _mm256_castsi256_si128(low));
}
V_INLINE words w_set(uint32_t x)
{
    return _mm256_set1_epi64x(x);
}
V_INLINE words w_mul(words a, words b)
{
    return _mm256_mul_epu32(a, b);
}
V_INLINE words w_high(words a)
{
    return _mm256_srli_epi64(a, 32);
}
V_INLINE words w_xor(words a, words b)
{
    return _mm256_xor_si256(a, b);
}
#else
typedef uint64_t words;
enum { WORDS = 1 };
V_INLINE words w_load(const uint32_t *p)
{
    return *p;
}
V_INLINE void w_store(uint32_t *p, words a)
{
    *p = (uint32_t)a;
}
V_INLINE words w_set(uint32_t x)
{
    return x;
}
V_INLINE words w_mul(words a, words b)
{
    return (uint64_t)(uint32_t)a * (uint32_t)b;
}
V_INLINE words w_high(words a)
{
    return a >> 32;
}
V_INLINE words w_xor(words a, words b)
{
    return a ^ b;
}
#endif

/* Write word i of counter {col[b], row[b], site, h} to out[i][b]. The upper halves of the lanes are undefined
 * meanwhile. */
static void philox(uint32_t out[4][TURN], const struct pw_dropout *d, const uint32_t col[TURN],
                   const uint32_t row[TURN], uint32_t h)
{
    enum { N = TURN / WORDS };
    words c0[N], c1[N], c2[N], c3[N], m0 = w_set(0xd2511f53u), m1 = w_set(0xcd9e8d57u);
    uint32_t k0 = d->key[0], k1 = d->key[1];
    V_UNROLL
    for (int b = 0; b < N; b++) {
        c0[b] = w_load(col + b * WORDS);
        c1[b] = w_load(row + b * WORDS);
        c2[b] = w_set(d->site);
        c3[b] = w_set(h);
    }
    for (int round = 0; round < 10; round++, k0 += 0x9e3779b9u, k1 += 0xbb67ae85u) {
        V_UNROLL
        for (int b = 0; b < N; b++) {
            words p0 = w_mul(m0, c0[b]), p1 = w_mul(m1, c2[b]);
            c0[b] = w_xor(w_xor(w_high(p1), c1[b]), w_set(k0));
            c2[b] = w_xor(w_xor(w_high(p0), c3[b]), w_set(k1));
            c1[b] = p1;
            c3[b] = p0;
        }
    }
    V_UNROLL
    for (int b = 0; b < N; b++) {
        w_store(out[0] + b * WORDS, c0[b]);
        w_store(out[1] + b * WORDS, c1[b]);
        w_store(out[2] + b * WORDS, c2[b]);
        w_store(out[3] + b * WORDS, c3[b]);
    }
}

void PW_OP(drop_rows)(float *y, const float *x, const struct pw_dropout *d, int h, int row, int R, int n,
                      size_t ld)
{
    uint32_t limit = (uint32_t)((double)d->rate * 0x1p32), blocks = (uint32_t)(n + 3) / 4, col = 0, r = 0;
    float keep = pw_dropout_kept(d);
    while (r < (uint32_t)R) {
        uint32_t cols[TURN], rows[TURN], random[4][TURN];
        for (int b = 0; b < TURN; b++) {
            cols[b] = col;
            rows[b] = (uint32_t)(d->row + row) + r;
            r += ++col == blocks;
            col = col == blocks ? 0 : col;
        }
        philox(random, d, cols, rows, (uint32_t)h);
        for (int b = 0; b < TURN && rows[b] < (uint32_t)(d->row + row + R); b++) {
            size_t at = (size_t)(rows[b] - (uint32_t)(d->row + row)) * ld + 4 * (size_t)cols[b];
            int m = n - 4 * (int)cols[b] < 4 ? n - 4 * (int)cols[b] : 4;
            for (int i = 0; i < m; i++)
                y[at + (size_t)i] = random[i][b] < limit ? 0.0f : x[at + (size_t)i] * keep;
        }
    }
}

/* Rows processed at a time, so that they are still in the cache when the residual is added. */
enum { STRIP = 8 };

void PW_OP(dropout)(struct pw_ctx *c, float *y, const float *x, const struct pw_dropout *d,
                    const float *residual, int R, int C)
{
    int strip = residual != NULL ? STRIP : R;
    (void)c;
    for (int r = 0; r < R; r += strip) {
        int rows = R - r < strip ? R - r : strip;
        size_t at = (size_t)r * (size_t)C, n = (size_t)rows * (size_t)C;
        PW_OP(drop_rows)(y + at, x + at, d, 0, r, rows, C, (size_t)C);
        for (size_t i = at; residual != NULL && i < at + n; i++)
            y[i] += residual[i];
    }
}
