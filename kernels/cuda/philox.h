/* philox.h - dropout masks on the device: the function of struct pw_dropout (kernels/backend.h), with the
 * same bits. */
#ifndef PW_CUDA_PHILOX_H
#define PW_CUDA_PHILOX_H
#include "kernels/backend.h"
#include "kernels/cuda/device.h"

/* The parameters of a dropout mask, passed to a kernel by value. key NULL: nothing is dropped. */
struct pw_mask {
    /* [2] in device memory, because it changes from step to step under one captured graph */
    const uint32_t *key;
    uint32_t site, row;
    uint32_t limit; /* an entry is dropped if its word is below this */
    float keep;     /* factor of the entries that are kept */
};

/* Builds the parameters on the host. d NULL: no dropout. */
static inline struct pw_mask pw_mask_of(const struct pw_dropout *d)
{
    struct pw_mask m = {};
    if (d != NULL) {
        m.key = d->key;
        m.site = d->site;
        m.row = (uint32_t)d->row;
        m.limit = (uint32_t)((double)d->rate * 0x1p32);
        m.keep = pw_dropout_kept(d);
    }
    return m;
}

/* Writes the random words of entries 4*block .. 4*block+3 of a row of head h: Philox4x32-10 (Salmon et al.
 * 2011), as in base/rng.c. row counts within the operation. */
__device__ __forceinline__ void pw_dev_mask_words(uint32_t out[4], const struct pw_mask &m, uint32_t block,
                                                  uint32_t row, uint32_t h)
{
    uint32_t c0 = block, c1 = m.row + row, c2 = m.site, c3 = h, k0 = m.key[0], k1 = m.key[1];
    for (int round = 0; round < 10; round++, k0 += 0x9e3779b9u, k1 += 0xbb67ae85u) {
        uint64_t p0 = (uint64_t)0xd2511f53u * c0, p1 = (uint64_t)0xcd9e8d57u * c2;
        c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
        c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c1 = (uint32_t)p1;
        c3 = (uint32_t)p0;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

/* Returns which of these four entries are kept: bit i for entry 4*block + i. */
__device__ __forceinline__ unsigned pw_dev_mask_kept(const struct pw_mask &m, uint32_t block, uint32_t row,
                                                     uint32_t h)
{
    uint32_t word[4];
    pw_dev_mask_words(word, m, block, row, h);
    return (unsigned)(word[0] >= m.limit) | (unsigned)(word[1] >= m.limit) << 1 |
           (unsigned)(word[2] >= m.limit) << 2 | (unsigned)(word[3] >= m.limit) << 3;
}

/* Applies the mask to x, by the word of its entry. */
__device__ __forceinline__ float pw_dev_mask_apply(const struct pw_mask &m, uint32_t word, float x)
{
    return word < m.limit ? 0.0f : x * m.keep;
}

/* Applies the mask to entry (row, col) of head h; without a mask returns x. */
__device__ __forceinline__ float pw_dev_mask_entry(const struct pw_mask &m, uint32_t row, uint32_t col,
                                                   uint32_t h, float x)
{
    if (m.key == NULL)
        return x;
    return pw_dev_mask_kept(m, col / 4, row, h) >> col % 4 & 1 ? x * m.keep : 0.0f;
}

#endif
