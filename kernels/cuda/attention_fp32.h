/* attention_fp32.h - the class of attention tiles on CUDA cores (interface: attention_tile.h).
 *
 * With g = lane / 8 and l = lane % 8, a lane holds rows 4g .. 4g+3 and columns l, l+8, l+16, l+24. Operands
 * are float32. Rows in shared memory are an odd number of float4 apart, so eight lanes that read float4 from
 * eight rows use different banks. In add, a lane needs all columns of its rows. Lanes therefore pass the tile
 * through shared memory, transposed, so that four rows are one float4. */
#ifndef PW_CUDA_ATTENTION_FP32_H
#define PW_CUDA_ATTENTION_FP32_H
#include "kernels/cuda/attention_tile.h"

template <int M> struct pw_fp32 {
    static constexpr int WIDE = M, ROWS = 4, COLUMNS = 4, PITCH = PW_TILE_ROWS + 4,
                         EXTRA = PW_TILE_COLUMNS * PITCH;
    int g, l, ld, D;
    float *passed; /* [32 columns][PITCH rows] the tile that add passes between lanes */

    static __host__ __device__ constexpr int ld_of(int width)
    {
        return (width + 7) / 8 * 8 + 4;
    }
    static __host__ __device__ constexpr size_t row_words(int rows, int width)
    {
        return (size_t)(rows * ld_of(width));
    }
    static __host__ __device__ constexpr size_t column_words(enum pw_use, int width)
    {
        return (size_t)(PW_TILE_COLUMNS * ld_of(width));
    }

    __device__ __forceinline__ pw_fp32(int width, uint32_t *extra)
    {
        int lane = (int)(threadIdx.x % 32);
        g = lane / 8;
        l = lane % 8;
        D = width;
        ld = ld_of(width);
        passed = (float *)extra;
    }
    __device__ __forceinline__ int row(int r) const
    {
        return 4 * g + r;
    }
    __device__ __forceinline__ int column(int c) const
    {
        return l + 8 * c;
    }
    __device__ __forceinline__ bool leads() const /* one of the lanes that share a row */
    {
        return l == 0;
    }

    struct sums { /* of each row: groups of four entries, from 4l, 4l+32, ... on */
        float4 v[ROWS][M];
        __device__ __forceinline__ void zero()
        {
#pragma unroll
            for (int r = 0; r < ROWS; r++)
#pragma unroll
                for (int m = 0; m < M; m++)
                    v[r][m] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        }
        __device__ __forceinline__ void scale(int r, float k)
        {
#pragma unroll
            for (int m = 0; m < M; m++)
                v[r][m] = make_float4(v[r][m].x * k, v[r][m].y * k, v[r][m].z * k, v[r][m].w * k);
        }
    };
    /* Copies in bf16 exist only if products are in bf16, so the argument is ignored. */
    __device__ __forceinline__ void store(float *to, uint16_t *, const sums &x, int r, bool fours) const
    {
#pragma unroll
        for (int m = 0; m < M; m++)
            pw_dev_store_4(to + 4 * l + 32 * m, D - (4 * l + 32 * m), fours, x.v[r][m]);
    }

    template <class S>
    __device__ __forceinline__ void load_rows(uint32_t *to, const S &from, int first, int rows) const
    {
        int quads = (D + 3) / 4, threads = (int)blockDim.x;
        for (int e = (int)threadIdx.x; e < rows * quads; e += threads) {
            int r = e / quads, d = e % quads * 4;
            *(float4 *)((float *)to + r * ld + d) = pw_dev_source(from, first + r, d);
        }
    }
    template <class S>
    __device__ __forceinline__ void load_columns(uint32_t *to, enum pw_use, const S &from, int first) const
    {
        load_rows(to, from, first, PW_TILE_COLUMNS);
    }

    __device__ __forceinline__ void product(float s[ROWS][COLUMNS], const uint32_t *rows, int row0,
                                            const uint32_t *columns) const
    {
        const float *x = (const float *)rows + (row0 + 4 * g) * ld, *y = (const float *)columns + l * ld;
#pragma unroll
        for (int r = 0; r < ROWS; r++)
#pragma unroll
            for (int c = 0; c < COLUMNS; c++)
                s[r][c] = 0.0f;
        for (int d = 0; d < D; d += 4) {
            float4 a[ROWS], b[COLUMNS];
#pragma unroll
            for (int i = 0; i < 4; i++) {
                a[i] = *(const float4 *)(x + i * ld + d);
                b[i] = *(const float4 *)(y + 8 * i * ld + d);
            }
#pragma unroll
            for (int r = 0; r < ROWS; r++)
#pragma unroll
                for (int c = 0; c < COLUMNS; c++) {
                    float v = fmaf(a[r].x, b[c].x, s[r][c]);
                    v = fmaf(a[r].y, b[c].y, v);
                    v = fmaf(a[r].z, b[c].z, v);
                    s[r][c] = fmaf(a[r].w, b[c].w, v);
                }
        }
    }

    __device__ __forceinline__ void add(sums &x, const float s[ROWS][COLUMNS], const uint32_t *columns, int n,
                                        enum pw_use) const
    {
        const float *y = (const float *)columns;
        __syncwarp(); /* until every lane has read the previous tile */
#pragma unroll
        for (int c = 0; c < COLUMNS; c++)
            *(float4 *)(passed + column(c) * PITCH + 4 * g) = make_float4(s[0][c], s[1][c], s[2][c], s[3][c]);
        __syncwarp();
        for (int j = 0; j < n; j++) {
            float4 w4 = *(const float4 *)(passed + j * PITCH + 4 * g);
            float w[ROWS] = {w4.x, w4.y, w4.z, w4.w};
#pragma unroll
            for (int m = 0; m < M; m++) {
                int d = 4 * l + 32 * m;
                if (d >= D)
                    continue;
                float4 v = *(const float4 *)(y + j * ld + d);
#pragma unroll
                for (int r = 0; r < ROWS; r++) {
                    x.v[r][m].x = fmaf(w[r], v.x, x.v[r][m].x);
                    x.v[r][m].y = fmaf(w[r], v.y, x.v[r][m].y);
                    x.v[r][m].z = fmaf(w[r], v.z, x.v[r][m].z);
                    x.v[r][m].w = fmaf(w[r], v.w, x.v[r][m].w);
                }
            }
        }
    }

    static __device__ __forceinline__ float largest(float v)
    {
        for (int by = 4; by > 0; by /= 2)
            v = fmaxf(v, __shfl_xor_sync(PW_ALL_LANES, v, by));
        return v;
    }
    static __device__ __forceinline__ float total(float v)
    {
        for (int by = 4; by > 0; by /= 2)
            v += __shfl_xor_sync(PW_ALL_LANES, v, by);
        return v;
    }

    /* Four consecutive keys, which share one Philox block, lie in four lanes. Each lane draws the block for
     * one of their four rows, and they exchange the flags. */
    __device__ __forceinline__ unsigned kept(const struct pw_attend &a, const struct pw_tile_place &p,
                                             int first) const
    {
        unsigned drawn = 0, flags = 0;
        int lane = (int)(threadIdx.x % 32), word = lane % 4;
#pragma unroll
        for (int c = 0; c < COLUMNS; c++)
            drawn |= pw_dev_mask_kept(a.mask, (uint32_t)(first + column(c)) / 4,
                                      (uint32_t)(p.base + p.warp_first + row(word)), (uint32_t)p.h)
                     << (4 * c);
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            unsigned of_row = __shfl_sync(PW_ALL_LANES, drawn, lane - word + r);
#pragma unroll
            for (int c = 0; c < COLUMNS; c++)
                flags |= (of_row >> (4 * c + word) & 1) << (COLUMNS * r + c);
        }
        return flags;
    }
    /* A lane holds four consecutive keys, which are one Philox block. */
    __device__ __forceinline__ unsigned kept_keys(const struct pw_attend &a, const struct pw_tile_place &p,
                                                  int first) const
    {
        unsigned flags = 0;
#pragma unroll
        for (int c = 0; c < COLUMNS; c++) {
            unsigned of_block = pw_dev_mask_kept(a.mask, (uint32_t)(p.warp_first + row(0)) / 4,
                                                 (uint32_t)(p.base + first + column(c)), (uint32_t)p.h);
#pragma unroll
            for (int r = 0; r < ROWS; r++)
                flags |= (of_block >> r & 1) << (COLUMNS * r + c);
        }
        return flags;
    }
};

#endif
