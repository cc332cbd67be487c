/* attention_tile.h - tiles of attention in shared memory and in registers, for the kernels of mode fast.
 *
 * A block has one head of one sequence and 16 rows of it a warp: queries, or keys in the backward pass. It
 * goes over the columns, which are the others, 32 at a time. Of the 16 x 32 products a lane has rows 4g ..
 * 4g+3 and columns l, l+8, l+16, l+24 (g = lane / 8, l = lane % 8). Rows in shared memory are an odd number
 * of float4 apart, so that eight lanes that read float4 of eight rows meet in no bank. What is then summed
 * over columns goes from lane to lane through shared memory, transposed: four rows are one float4. */
#ifndef PW_CUDA_ATTENTION_TILE_H
#define PW_CUDA_ATTENTION_TILE_H
#include "kernels/cuda/attention.h"

enum {
    PW_TILE_ROWS = 16, /* of a warp */
    PW_TILE_COLUMNS = 32,
    PW_TILE_OWN = 4, /* rows, and columns, of a lane */
    PW_TILE_WARPS = 4,
    PW_TILE_PITCH = PW_TILE_ROWS + 4,
    PW_TILE_PASSED = PW_TILE_COLUMNS * PW_TILE_PITCH, /* floats that a warp passes from lane to lane */
};

/* From row to row in shared memory. */
__host__ __device__ static inline int pw_tile_ld(int D)
{
    return (D + 7) / 8 * 8 + 4;
}

/* Threads and shared memory of a block that keeps so many operands of its rows and of its columns. */
struct pw_tile_block {
    unsigned threads, tiles; /* tiles: of rows, of the longest sequence */
    size_t bytes;
};

static inline struct pw_tile_block pw_tile_block_of(const struct pw_attend &a, int of_rows, int of_columns)
{
    const size_t limit = 64 << 10; /* what every device has */
    struct pw_tile_block b = {};
    for (int warps = PW_TILE_WARPS; warps > 0; warps /= 2) {
        int rows = PW_TILE_ROWS * warps;
        size_t ld = (size_t)pw_tile_ld(a.D), tiles = (size_t)(of_rows * rows + of_columns * PW_TILE_COLUMNS);
        b.threads = 32 * (unsigned)warps;
        b.tiles = pw_blocks((size_t)a.longest, (size_t)rows);
        b.bytes = (tiles * ld + (size_t)(warps * PW_TILE_PASSED)) * sizeof(float);
        if (b.bytes <= limit && (warps == 1 || rows / 2 < a.longest))
            break;
    }
    return b;
}

/* More than 48 KB of shared memory has to be asked for. */
template <class K> inline cudaError_t pw_tile_allow(K *kernel, size_t bytes)
{
    if (bytes <= 48 << 10)
        return cudaSuccess;
    return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
}

/* Where this thread stands. false: its block is beyond the end of its sequence. */
struct pw_tile_place {
    int warp, g, l;
    int seq, h, base, T;
    int first; /* row of the block */
    int row;   /* and of this lane */
    int rows;  /* of the block */
};

__device__ __forceinline__ bool pw_dev_tile_place(const struct pw_attend &a, struct pw_tile_place *p,
                                                  int seq0, unsigned tiles)
{
    int lane = (int)(threadIdx.x % 32);
    p->warp = (int)(threadIdx.x / 32);
    p->g = lane / 8;
    p->l = lane % 8;
    p->rows = PW_TILE_ROWS * (int)(blockDim.x / 32);
    p->seq = seq0 + (int)(blockIdx.x / tiles);
    p->h = (int)blockIdx.y;
    p->base = a.start[p->seq];
    p->T = a.start[p->seq + 1] - p->base;
    p->first = (int)(blockIdx.x % tiles) * p->rows;
    p->row = p->first + PW_TILE_ROWS * p->warp + PW_TILE_OWN * p->g;
    return p->first < p->T;
}

/* The rows of a matrix from `first` on into a tile, w apart there and ld here; zeros beyond its T rows of D.
 */
__device__ __forceinline__ void pw_dev_tile_load(float *to, int rows, const float *from, size_t w, int first,
                                                 int T, int D, bool fours)
{
    int quads = (D + 3) / 4, ld = pw_tile_ld(D), threads = (int)blockDim.x;
    for (int e = (int)threadIdx.x; e < rows * quads; e += threads) {
        int r = e / quads, d = e % quads * 4;
        float4 v = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        if (first + r < T)
            v = pw_dev_load_4(from + (size_t)(first + r) * w + (size_t)d, D - d, fours);
        *(float4 *)(to + r * ld + d) = v;
    }
}

/* s [rows][columns] of this lane = x y^T; x: its first row, y: its first column. */
__device__ __forceinline__ void pw_dev_tile_product(float s[PW_TILE_OWN][PW_TILE_OWN], const float *x,
                                                    const float *y, int D)
{
    int ld = pw_tile_ld(D);
#pragma unroll
    for (int r = 0; r < PW_TILE_OWN; r++)
#pragma unroll
        for (int c = 0; c < PW_TILE_OWN; c++)
            s[r][c] = 0.0f;
    for (int d = 0; d < D; d += 4) {
        float4 a[PW_TILE_OWN], b[PW_TILE_OWN];
#pragma unroll
        for (int i = 0; i < PW_TILE_OWN; i++) {
            a[i] = *(const float4 *)(x + i * ld + d);
            b[i] = *(const float4 *)(y + 8 * i * ld + d);
        }
#pragma unroll
        for (int r = 0; r < PW_TILE_OWN; r++)
#pragma unroll
            for (int c = 0; c < PW_TILE_OWN; c++) {
                float v = fmaf(a[r].x, b[c].x, s[r][c]);
                v = fmaf(a[r].y, b[c].y, v);
                v = fmaf(a[r].z, b[c].z, v);
                s[r][c] = fmaf(a[r].w, b[c].w, v);
            }
    }
}

/* Puts this lane's weights where the others of its warp find them; __syncwarp() is the caller's. */
__device__ __forceinline__ void pw_dev_tile_pass(float *passed, const float s[PW_TILE_OWN][PW_TILE_OWN],
                                                 const struct pw_tile_place &p)
{
#pragma unroll
    for (int c = 0; c < PW_TILE_OWN; c++)
        *(float4 *)(passed + (p.l + 8 * c) * PW_TILE_PITCH + PW_TILE_OWN * p.g) =
            make_float4(s[0][c], s[1][c], s[2][c], s[3][c]);
}

/* acc += weights y over n columns: of its four rows a lane has entries 4l, 4l+32, .. of D, four each. */
template <int M>
__device__ __forceinline__ void pw_dev_tile_add(float4 acc[PW_TILE_OWN][M], const float *passed,
                                                const float *y, int n, int D, const struct pw_tile_place &p)
{
    int ld = pw_tile_ld(D);
    for (int j = 0; j < n; j++) {
        float4 w4 = *(const float4 *)(passed + j * PW_TILE_PITCH + PW_TILE_OWN * p.g);
        float w[PW_TILE_OWN] = {w4.x, w4.y, w4.z, w4.w};
#pragma unroll
        for (int m = 0; m < M; m++) {
            int d = 4 * p.l + 32 * m;
            if (d >= D)
                continue;
            float4 v = *(const float4 *)(y + j * ld + d);
#pragma unroll
            for (int r = 0; r < PW_TILE_OWN; r++) {
                acc[r][m].x = fmaf(w[r], v.x, acc[r][m].x);
                acc[r][m].y = fmaf(w[r], v.y, acc[r][m].y);
                acc[r][m].z = fmaf(w[r], v.z, acc[r][m].z);
                acc[r][m].w = fmaf(w[r], v.w, acc[r][m].w);
            }
        }
    }
}

/* Row r of acc, times k, into to [D]. */
template <int M>
__device__ __forceinline__ void pw_dev_tile_store(float *to, const float4 acc[M], float k, int D, bool fours,
                                                  int l)
{
#pragma unroll
    for (int m = 0; m < M; m++) {
        int d = 4 * l + 32 * m;
        float4 v = make_float4(acc[m].x * k, acc[m].y * k, acc[m].z * k, acc[m].w * k);
        pw_dev_store_4(to + d, D - d, fours, v);
    }
}

/* The largest, or the sum, of the eight lanes that have a row. */
__device__ __forceinline__ float pw_dev_tile_max(float v)
{
    for (int by = 4; by > 0; by /= 2)
        v = fmaxf(v, __shfl_xor_sync(PW_ALL_LANES, v, by));
    return v;
}
__device__ __forceinline__ float pw_dev_tile_sum(float v)
{
    for (int by = 4; by > 0; by /= 2)
        v += __shfl_xor_sync(PW_ALL_LANES, v, by);
    return v;
}

/* Which of this lane's probabilities dropout keeps: bit 4r+c. Rows are queries: the keys of a block of four
 * random words lie in four lanes, so each of these draws for one row and hands on what the others ask for. */
__device__ __forceinline__ unsigned pw_dev_tile_kept(const struct pw_attend &a, const struct pw_tile_place &p,
                                                     int column)
{
    unsigned drawn = 0, kept = 0;
    int lane = (int)(threadIdx.x % 32), word = lane % 4;
    if (a.mask.key == NULL)
        return 0xffff;
#pragma unroll
    for (int c = 0; c < PW_TILE_OWN; c++) {
        uint32_t random[4];
        pw_dev_mask_words(random, a.mask, (uint32_t)(column + 8 * c + p.l) / 4,
                          (uint32_t)(p.base + p.row + word), (uint32_t)p.h);
#pragma unroll
        for (int k = 0; k < 4; k++)
            drawn |= (unsigned)(random[k] >= a.mask.limit) << (4 * c + k);
    }
#pragma unroll
    for (int r = 0; r < PW_TILE_OWN; r++) {
        unsigned of_row = __shfl_sync(PW_ALL_LANES, drawn, lane - word + r);
#pragma unroll
        for (int c = 0; c < PW_TILE_OWN; c++)
            kept |= (of_row >> (4 * c + word) & 1) << (4 * r + c);
    }
    return kept;
}

/* The same where rows are keys: a lane's four are one block. */
__device__ __forceinline__ unsigned pw_dev_tile_kept_keys(const struct pw_attend &a,
                                                          const struct pw_tile_place &p, int column)
{
    unsigned kept = 0;
    if (a.mask.key == NULL)
        return 0xffff;
#pragma unroll
    for (int c = 0; c < PW_TILE_OWN; c++) {
        uint32_t random[4];
        pw_dev_mask_words(random, a.mask, (uint32_t)p.row / 4, (uint32_t)(p.base + column + 8 * c + p.l),
                          (uint32_t)p.h);
#pragma unroll
        for (int r = 0; r < PW_TILE_OWN; r++)
            kept |= (unsigned)(random[r] >= a.mask.limit) << (4 * r + c);
    }
    return kept;
}

#endif
