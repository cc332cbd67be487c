/* attention_bf16.h - the class of attention tiles on tensor cores (interface: attention_tile.h).
 *
 * Operands in shared memory are bf16, two per 32-bit word, padded to 32M columns. An operand has up to two
 * forms. The natural form holds rows as they are, for product. The transposed form (`across`) holds in one
 * word the same column of two neighbouring rows, for add. The words between rows are an odd multiple of four,
 * so the 8 x 4 words of a fragment lie in different banks.
 *
 * The accumulator fragments of product have the layout of the operand fragments of add, so no value moves
 * between lanes (Dao et al. 2022). Sums, softmax and everything else are float32. */
#ifndef PW_CUDA_ATTENTION_BF16_H
#define PW_CUDA_ATTENTION_BF16_H
#include "kernels/cuda/attention_tile.h"
#include "kernels/cuda/mma.h"

template <int M> struct pw_bf16 {
    static constexpr int WIDE = M, ROWS = 2, COLUMNS = 8, EXTRA = 0;
    static constexpr int LD = 16 * M + 4;                  /* words per row of the natural form */
    static constexpr int ACROSS = PW_TILE_COLUMNS / 2 + 4; /* words per row of the transposed form */
    static constexpr int NATURAL = PW_TILE_COLUMNS * LD;   /* words of the natural form */
    int g, t, D;

    static __host__ __device__ constexpr size_t row_words(int rows, int)
    {
        return (size_t)(rows * LD);
    }
    /* Only product needs the natural form, and only add the transposed one. */
    static __host__ __device__ constexpr size_t column_words(enum pw_use use, int)
    {
        return (use & PW_USE_PRODUCT ? NATURAL : 0) + (use & PW_USE_ADD ? 32 * M * ACROSS : 0);
    }

    __device__ __forceinline__ pw_bf16(int width, uint32_t *)
    {
        int lane = (int)(threadIdx.x % 32);
        g = lane / 4;
        t = lane % 4;
        D = width;
    }
    __device__ __forceinline__ int row(int r) const
    {
        return g + 8 * r;
    }
    __device__ __forceinline__ int column(int c) const
    {
        return 8 * (c / 2) + 2 * t + c % 2;
    }
    __device__ __forceinline__ bool leads() const
    {
        return t == 0;
    }

    struct sums { /* entries 8n+2t and 8n+2t+1 of row r are v[n][2r] and v[n][2r+1] */
        float v[4 * M][4];
        __device__ __forceinline__ void zero()
        {
#pragma unroll
            for (int n = 0; n < 4 * M; n++)
#pragma unroll
                for (int i = 0; i < 4; i++)
                    v[n][i] = 0.0f;
        }
        __device__ __forceinline__ void scale(int r, float k)
        {
#pragma unroll
            for (int n = 0; n < 4 * M; n++) {
                v[n][2 * r] *= k;
                v[n][2 * r + 1] *= k;
            }
        }
    };
    __device__ __forceinline__ void store(float *to, uint16_t *copy, const sums &x, int r, bool fours) const
    {
#pragma unroll
        for (int n = 0; n < 4 * M; n++) {
            int d = 8 * n + 2 * t;
            float a = x.v[n][2 * r], b = x.v[n][2 * r + 1];
            if (fours && d + 1 < D) {
                *(float2 *)(to + d) = make_float2(a, b);
                if (copy != NULL)
                    *(uint32_t *)(copy + d) = pw_dev_bf16_pair(a, b);
                continue;
            }
            if (d < D)
                to[d] = a;
            if (d + 1 < D)
                to[d + 1] = b;
            if (d < D && copy != NULL)
                copy[d] = pw_dev_bf16(a);
            if (d + 1 < D && copy != NULL)
                copy[d + 1] = pw_dev_bf16(b);
        }
    }

    /* Fills the forms that are not NULL from rows first .. first+rows-1. A thread converts four columns of
     * two rows at a time. */
    template <class S>
    static __device__ __forceinline__ void load(uint32_t *natural, uint32_t *across, const S &from, int first,
                                                int rows)
    {
        int pairs = rows / 2, threads = (int)blockDim.x;
        for (int e = (int)threadIdx.x; e < pairs * 8 * M; e += threads) {
            int pair = e % pairs, quad = e / pairs, r = 2 * pair, d = 4 * quad;
            float4 a = pw_dev_source(from, first + r, d), b = pw_dev_source(from, first + r + 1, d);
            if (natural != NULL) {
                uint32_t *to = natural + r * LD + 2 * quad;
                to[0] = pw_dev_bf16_pair(a.x, a.y);
                to[1] = pw_dev_bf16_pair(a.z, a.w);
                to[LD] = pw_dev_bf16_pair(b.x, b.y);
                to[LD + 1] = pw_dev_bf16_pair(b.z, b.w);
            }
            if (across != NULL) {
                uint32_t *to = across + d * ACROSS + pair;
                to[0] = pw_dev_bf16_pair(a.x, b.x);
                to[ACROSS] = pw_dev_bf16_pair(a.y, b.y);
                to[2 * ACROSS] = pw_dev_bf16_pair(a.z, b.z);
                to[3 * ACROSS] = pw_dev_bf16_pair(a.w, b.w);
            }
        }
    }
    template <class S>
    __device__ __forceinline__ void load_rows(uint32_t *to, const S &from, int first, int rows) const
    {
        load(to, NULL, from, first, rows);
    }
    template <class S>
    __device__ __forceinline__ void load_columns(uint32_t *to, enum pw_use use, const S &from,
                                                 int first) const
    {
        uint32_t *across = to + (use & PW_USE_PRODUCT ? NATURAL : 0);
        load(use & PW_USE_PRODUCT ? to : NULL, use & PW_USE_ADD ? across : NULL, from, first,
             PW_TILE_COLUMNS);
    }

    __device__ __forceinline__ void product(float s[ROWS][COLUMNS], const uint32_t *rows, int row0,
                                            const uint32_t *columns) const
    {
        const uint32_t *x = rows + (row0 + g) * LD + t, *y = columns + g * LD + t;
#pragma unroll
        for (int r = 0; r < ROWS; r++)
#pragma unroll
            for (int c = 0; c < COLUMNS; c++)
                s[r][c] = 0.0f;
#pragma unroll
        for (int k = 0; k < 16 * M; k += 8) {
            uint32_t a[4] = {x[k], x[8 * LD + k], x[k + 4], x[8 * LD + k + 4]};
#pragma unroll
            for (int n = 0; n < 4; n++) {
                uint32_t b[2] = {y[8 * n * LD + k], y[8 * n * LD + k + 4]};
                pw_dev_mma(s[0][2 * n], s[0][2 * n + 1], s[1][2 * n], s[1][2 * n + 1], a, b);
            }
        }
    }

    __device__ __forceinline__ void add(sums &x, const float s[ROWS][COLUMNS], const uint32_t *columns, int n,
                                        enum pw_use use) const
    {
        const uint32_t *y = columns + (use & PW_USE_PRODUCT ? NATURAL : 0) + g * ACROSS + t;
#pragma unroll
        for (int k = 0; k < 2; k++) {
            if (16 * k >= n)
                continue;
            uint32_t a[4];
#pragma unroll
            for (int i = 0; i < 4; i++) {
                int c = 4 * k + 2 * (i / 2);
                a[i] = pw_dev_bf16_pair(s[i % 2][c], s[i % 2][c + 1]);
            }
#pragma unroll
            for (int d = 0; d < 4 * M; d++) {
                uint32_t b[2] = {y[8 * d * ACROSS + 8 * k], y[8 * d * ACROSS + 8 * k + 4]};
                pw_dev_mma(x.v[d][0], x.v[d][1], x.v[d][2], x.v[d][3], a, b);
            }
        }
    }

    static __device__ __forceinline__ float largest(float v)
    {
        for (int by = 2; by > 0; by /= 2)
            v = fmaxf(v, __shfl_xor_sync(PW_ALL_LANES, v, by));
        return v;
    }
    static __device__ __forceinline__ float total(float v)
    {
        for (int by = 2; by > 0; by /= 2)
            v += __shfl_xor_sync(PW_ALL_LANES, v, by);
        return v;
    }

    /* Four consecutive keys, which share one Philox block, lie in two lanes. Each of the two draws the block
     * for one of their two rows, and they exchange the flags. */
    __device__ __forceinline__ unsigned kept(const struct pw_attend &a, const struct pw_tile_place &p,
                                             int first) const
    {
        unsigned flags = 0, drawn = 0;
        int lane = (int)(threadIdx.x % 32), odd = lane % 2;
#pragma unroll
        for (int n = 0; n < 4; n++)
            drawn |= pw_dev_mask_kept(a.mask, (uint32_t)(first + column(2 * n)) / 4,
                                      (uint32_t)(p.base + p.warp_first + row(odd)), (uint32_t)p.h)
                     << (4 * n);
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            unsigned of_row = __shfl_sync(PW_ALL_LANES, drawn, lane - odd + r);
#pragma unroll
            for (int c = 0; c < COLUMNS; c++)
                flags |= (of_row >> (4 * (c / 2) + 2 * odd + c % 2) & 1) << (COLUMNS * r + c);
        }
        return flags;
    }
    /* Four consecutive keys lie in four lanes that have the same queries, and share 16 pairs of a query and a
     * Philox block. Each lane draws four of these blocks, and they exchange the flags. */
    __device__ __forceinline__ unsigned kept_keys(const struct pw_attend &a, const struct pw_tile_place &p,
                                                  int first) const
    {
        unsigned flags = 0, drawn = 0;
        int lane = (int)(threadIdx.x % 32), word = g % 4;
#pragma unroll
        for (int i = 0; i < 4; i++) {
            int r = word / 2, c = 4 * (word % 2) + i;
            drawn |= pw_dev_mask_kept(a.mask, (uint32_t)(p.warp_first + row(r)) / 4,
                                      (uint32_t)(p.base + first + column(c)), (uint32_t)p.h)
                     << (4 * i);
        }
#pragma unroll
        for (int from = 0; from < 4; from++) {
            unsigned of_lane = __shfl_sync(PW_ALL_LANES, drawn, lane + 4 * (from - word));
#pragma unroll
            for (int i = 0; i < 4; i++)
                flags |= (of_lane >> (4 * i + word) & 1) << (4 * from + i);
        }
        return flags;
    }
};

#endif
