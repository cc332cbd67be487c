/* attention_tile.h - how the kernels of mode fast divide attention.
 *
 * A block has one head of one sequence and 16 rows of it a warp: queries, or keys in the backward pass. It
 * goes over the columns, which are the others, 32 at a time. What a lane has of the 16 x 32 products, and how
 * they come about, is up to one of two: pw_fp32<M> (attention_fp32.h) on CUDA cores and pw_bf16<M>
 * (attention_bf16.h) on tensor cores, for heads of up to 32M. The kernels are templates over these and say
 * nothing of lanes:
 *
 *   ROWS, COLUMNS       a lane's, 16 together; entry (r, c) is bit r*COLUMNS + c where they are flags
 *   row(r), column(c)   which of the 16 and 32 they are
 *   sums                a lane's part of weights x values [16,D]: zero(), scale(r, k); store() also leaves
 *                       a copy in bf16, where there is a place for one
 *   row_words, column_words   of shared memory for an operand; EXTRA words for each warp
 *   load_rows, load_columns   whole blocks fill them; use: by product (q.k), by add (p v), or by both
 *   product(s, x, y)    s = x y^T
 *   add(sums, s, y)     sums += s y
 *   over_row            folds a value over the lanes that have a row: largest, total
 *   kept, kept_keys     which entries dropout keeps, where rows are queries and where they are keys */
#ifndef PW_CUDA_ATTENTION_TILE_H
#define PW_CUDA_ATTENTION_TILE_H
#include "kernels/cuda/attention.h"

enum {
    PW_TILE_ROWS = 16, /* of a warp */
    PW_TILE_COLUMNS = 32,
    PW_TILE_WARPS = 4, /* of a block, at most */
};

/* What a column operand is for. */
enum pw_use { PW_USE_PRODUCT = 1, PW_USE_ADD = 2, PW_USE_BOTH = 3 };

/* A tensor's part that a block reads: rows of one head of one sequence. */
struct pw_source {
    const float *p;
    size_t w; /* from row to row */
    int T, D;
    bool fours;
};

/* Up to four floats of row r from d on; zeros beyond the last row and column. */
__device__ __forceinline__ float4 pw_dev_source(const struct pw_source &x, int r, int d)
{
    if (r >= x.T)
        return make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    return pw_dev_load_4(x.p + (size_t)r * x.w + (size_t)d, x.D - d, x.fours);
}

/* Where this warp stands. */
struct pw_tile_place {
    int seq, h, base, T;
    int first, rows; /* of the block */
    int warp, warp_first;
};

/* false: the block is beyond the end of its sequence. */
__device__ __forceinline__ bool pw_dev_tile_place(const struct pw_attend &a, struct pw_tile_place *p,
                                                  int seq0, unsigned tiles)
{
    p->warp = (int)(threadIdx.x / 32);
    p->rows = PW_TILE_ROWS * (int)(blockDim.x / 32);
    p->seq = seq0 + (int)(blockIdx.x / tiles);
    p->h = (int)blockIdx.y;
    p->base = a.start[p->seq];
    p->T = a.start[p->seq + 1] - p->base;
    p->first = (int)(blockIdx.x % tiles) * p->rows;
    p->warp_first = p->first + PW_TILE_ROWS * p->warp;
    return p->first < p->T;
}

/* s: q.k of a tile, becomes q.k + q.a. In kernels of their own: those without relative keys would miss the
 * registers that this takes. */
template <bool BY_KEY, class E>
static __device__ __forceinline__ void pw_dev_add_dots(const E &tile, float s[E::ROWS][E::COLUMNS],
                                                       const struct pw_attend &a,
                                                       const struct pw_tile_place &p, int first)
{
    size_t base = (size_t)p.base, heads = (size_t)a.heads, rows = (size_t)a.key_rows;
#pragma unroll
    for (int r = 0; r < E::ROWS; r++)
#pragma unroll
        for (int c = 0; c < E::COLUMNS; c++) {
            int x = p.warp_first + tile.row(r), y = first + tile.column(c);
            size_t i = (size_t)(BY_KEY ? y : x), j = (size_t)(BY_KEY ? x : y);
            if (x < p.T && y < p.T)
                s[r][c] += a.dots[((base + i) * heads + (size_t)p.h) * rows +
                                  (size_t)pw_dev_key_row(a, pw_dev_distance(a, base + i, base + j))];
        }
}

/* Threads and shared memory of blocks. */
struct pw_tile_block {
    unsigned threads, tiles; /* tiles: of rows, of the longest sequence */
    size_t bytes;
};

/* As many warps as sequences are long and shared memory is large: words are those of all column operands. */
template <class E>
inline struct pw_tile_block pw_tile_block_of(const struct pw_attend &a, int row_operands, size_t words)
{
    const size_t limit = 64 << 10; /* what every device has */
    struct pw_tile_block b = {};
    for (int warps = PW_TILE_WARPS; warps > 0; warps /= 2) {
        int rows = PW_TILE_ROWS * warps;
        b.threads = 32 * (unsigned)warps;
        b.tiles = pw_blocks((size_t)a.longest, (size_t)rows);
        b.bytes = 4 * (words + (size_t)row_operands * E::row_words(rows, a.D) + (size_t)warps * E::EXTRA);
        if (b.bytes <= limit && (warps == 1 || rows / 2 < a.longest))
            break;
    }
    return b;
}

/* More than 48 KB of shared memory has to be asked for. What was allowed is not taken back by a smaller
 * shape, which graphs of the larger one might not bear: that is why it is what every device has. */
template <class K> inline cudaError_t pw_tile_allow(K *kernel, size_t bytes)
{
    const size_t usual = 48 << 10, every = 64 << 10;
    if (bytes <= usual)
        return cudaSuccess;
    return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                (int)(bytes > every ? bytes : every));
}

#endif
