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
 *   load_rows, load_columns   whole blocks fill them, from pw_source or pw_turned_source; use: by product
 *                       (q.k), by add (p v), or by both
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

/* Part of q or k, which turn as they are read. */
struct pw_turned_source {
    struct pw_source of;
    const int *pos;      /* [T] */
    struct pw_turn turn; /* with a gain of queries alone */
};

/* Four entries from d on, of which each has its partner in other lanes' fours: v is what they were. */
__device__ __forceinline__ float4 pw_dev_turn_half(const struct pw_turned_source &x, const float *row, int d,
                                                   float4 v, size_t angles)
{
    int pairs = x.turn.pairs;
    bool second = d >= pairs;
    if (pairs % 4 == 0) { /* all on one side */
        size_t at = angles + (size_t)(second ? d - pairs : d);
        float4 w = pw_dev_load_4(row + (second ? d - pairs : d + pairs), 4, x.of.fours);
        float4 co = pw_dev_load_4(x.turn.cosine + at, 4, x.of.fours);
        float4 si = pw_dev_load_4(x.turn.sine + at, 4, x.of.fours);
        if (second)
            return make_float4(pw_dev_turn(w.x, v.x, co.x, si.x).y, pw_dev_turn(w.y, v.y, co.y, si.y).y,
                               pw_dev_turn(w.z, v.z, co.z, si.z).y, pw_dev_turn(w.w, v.w, co.w, si.w).y);
        return make_float4(pw_dev_turn(v.x, w.x, co.x, si.x).x, pw_dev_turn(v.y, w.y, co.y, si.y).x,
                           pw_dev_turn(v.z, w.z, co.z, si.z).x, pw_dev_turn(v.w, w.w, co.w, si.w).x);
    }
    float e[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
    for (int k = 0; k < 4; k++) {
        int i = d + k < pairs ? d + k : d + k - pairs;
        if (i >= pairs)
            break;
        float2 both = pw_dev_turn(row[i], row[i + pairs], x.turn.cosine[angles + (size_t)i],
                                  x.turn.sine[angles + (size_t)i]);
        e[k] = i == d + k ? both.x : both.y;
    }
    return make_float4(e[0], e[1], e[2], e[3]);
}

__device__ __forceinline__ float4 pw_dev_source(const struct pw_turned_source &x, int r, int d)
{
    float4 v = pw_dev_source(x.of, r, d);
    int pairs = x.turn.pairs;
    if (r >= x.of.T)
        return v;
    float gain = pw_dev_gain(x.turn, x.pos[r], true);
    size_t angles = (size_t)x.pos[r] * (size_t)pairs, at = angles + (size_t)(d / 2);
    if (d < 2 * pairs && x.turn.pairing == PW_PAIRING_HALF) {
        v = pw_dev_turn_half(x, x.of.p + (size_t)r * x.of.w, d, v, angles);
    } else if (d < 2 * pairs) {
        float2 xy = pw_dev_turn(v.x, v.y, x.turn.cosine[at], x.turn.sine[at]), zw = make_float2(v.z, v.w);
        if (d + 2 < 2 * pairs)
            zw = pw_dev_turn(v.z, v.w, x.turn.cosine[at + 1], x.turn.sine[at + 1]);
        v = make_float4(xy.x, xy.y, zw.x, zw.y);
    }
    return make_float4(v.x * gain, v.y * gain, v.z * gain, v.w * gain);
}

/* What comes before or with q.k, in kernels of their own: those without it would miss the registers that it
 * takes, even those that a longer list of arguments costs. There is never more than one of them. */
enum pw_with { PW_WITH_NOTHING, PW_WITH_KEYS, PW_WITH_TURN };

static inline enum pw_with pw_with_of(const struct pw_turned_attend &a)
{
    return a.keys != NULL ? PW_WITH_KEYS : a.turns ? PW_WITH_TURN : PW_WITH_NOTHING;
}

/* A kernel's argument. */
template <enum pw_with> struct pw_attend_with {
    typedef struct pw_attend type;
};
template <> struct pw_attend_with<PW_WITH_TURN> {
    typedef struct pw_turned_attend type;
};

static __device__ __forceinline__ struct pw_turned_source
pw_dev_turned(const struct pw_source &from, const struct pw_turned_attend &a, int base, bool query)
{
    struct pw_turned_source x = {from, a.pos + base, a.turn};
    if (!query)
        x.turn.gain = NULL;
    return x;
}

/* load_rows and load_columns of q (query) or k of the sequence that begins at row base. */
template <enum pw_with WITH, class E, class A>
static __device__ __forceinline__ void pw_dev_load_rows(const E &tile, uint32_t *to,
                                                        const struct pw_source &from, const A &a, int base,
                                                        bool query, int first, int rows)
{
    if constexpr (WITH == PW_WITH_TURN)
        tile.load_rows(to, pw_dev_turned(from, a, base, query), first, rows);
    else
        tile.load_rows(to, from, first, rows);
}
template <enum pw_with WITH, class E, class A>
static __device__ __forceinline__ void pw_dev_load_columns(const E &tile, uint32_t *to, enum pw_use use,
                                                           const struct pw_source &from, const A &a, int base,
                                                           bool query, int first)
{
    if constexpr (WITH == PW_WITH_TURN)
        tile.load_columns(to, use, pw_dev_turned(from, a, base, query), first);
    else
        tile.load_columns(to, use, from, first);
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

/* s: q.k of a tile, becomes q.k + q.a. */
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
