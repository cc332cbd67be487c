/* dropout.c - masks by counter, and what they do to a tensor.
 *
 * Philox as in base/rng.c, sixteen counters at once in plain integer loops, which compilers turn into
 * vectors. */
#include "kernels/cpu/dropout.h"

enum { BLOCKS = 16, COLS = 4 * BLOCKS }; /* counters, and numbers, of a turn */

/* out[4*b + i]: word i of the block with counter {first + b, row, site, h}. */
static void random64(uint32_t out[COLS], const struct pw_dropout *d, uint32_t first, uint32_t row, uint32_t h)
{
    uint32_t c0[BLOCKS], c1[BLOCKS], c2[BLOCKS], c3[BLOCKS], k0 = d->key[0], k1 = d->key[1];
    for (int b = 0; b < BLOCKS; b++) {
        c0[b] = first + (uint32_t)b;
        c1[b] = row;
        c2[b] = d->site;
        c3[b] = h;
    }
    for (int round = 0; round < 10; round++, k0 += 0x9e3779b9u, k1 += 0xbb67ae85u)
        for (int b = 0; b < BLOCKS; b++) {
            uint64_t p0 = (uint64_t)0xd2511f53u * c0[b], p1 = (uint64_t)0xcd9e8d57u * c2[b];
            c0[b] = (uint32_t)(p1 >> 32) ^ c1[b] ^ k0;
            c2[b] = (uint32_t)(p0 >> 32) ^ c3[b] ^ k1;
            c1[b] = (uint32_t)p1;
            c3[b] = (uint32_t)p0;
        }
    for (int b = 0; b < BLOCKS; b++) {
        out[4 * b] = c0[b];
        out[4 * b + 1] = c1[b];
        out[4 * b + 2] = c2[b];
        out[4 * b + 3] = c3[b];
    }
}

void PW_OP(drop_row)(float *y, const float *x, const struct pw_dropout *d, int h, int row, int n)
{
    uint32_t limit = (uint32_t)((double)d->rate * 0x1p32), random[COLS];
    float keep = 1.0f / (1.0f - d->rate);
    for (int i = 0; i < n; i += COLS) {
        int m = n - i < COLS ? n - i : COLS;
        random64(random, d, (uint32_t)i / 4, (uint32_t)(d->row + row), (uint32_t)h);
        for (int j = 0; j < m; j++)
            y[i + j] = random[j] < limit ? 0.0f : x[i + j] * keep;
    }
}

void PW_OP(dropout)(struct pw_ctx *c, float *y, const float *x, const struct pw_dropout *d, int R, int C)
{
    (void)c;
    for (int r = 0; r < R; r++, x += C, y += C)
        PW_OP(drop_row)(y, x, d, 0, r, C);
}
