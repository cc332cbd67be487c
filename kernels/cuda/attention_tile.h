/* attention_tile.h - how the attention kernels of mode fast divide their work among blocks and warps.
 *
 * A block processes one head of one sequence. Each of its warps owns 16 rows: queries, or in the dk/dv part
 * of the backward pass keys. The block loops over the columns (keys, or queries there), 32 at a time. A tile
 * is the 16 x 32 scores of a warp's rows and these columns.
 *
 * One of two classes computes a tile: pw_fp32<M> (attention_fp32.h) on CUDA cores, or pw_bf16<M>
 * (attention_bf16.h) on tensor cores. Both take head widths up to 32M. They define how a tile's entries are
 * spread over lanes; the kernels are templates over the class and do not depend on it. A class has:
 *
 *   WIDE                M
 *   ROWS, COLUMNS       rows and columns of the tile that a lane holds; ROWS * COLUMNS = 16. In a word of
 *                       flags, entry (r, c) is bit r*COLUMNS + c.
 *   row(r), column(c)   their indices in the tile: 0..15, 0..31
 *   leads()             true in exactly one of the lanes that share a row
 *   sums                a lane's part of weights x values [16,D]: zero(), scale(r, k)
 *   store(..)           stores row r of the sums; in pw_bf16 also a bf16 copy, if there is room for one
 *   row_words, column_words   32-bit words of shared memory of an operand by rows, by columns
 *   EXTRA               further words for each warp
 *   load_rows, load_columns   fill such an operand from a pw_source or a pw_turned_source; all threads of
 *                       the block take part. use: the operand is for product, for add, or for both
 *   product(s, x, row0, y)    s = x y^T, for the 16 rows of x from row0 on
 *   add(sums, s, y, n, use)   sums += s y, over the first n columns
 *   largest(v), total(v)      maximum or sum of v over the lanes that share a row
 *   kept, kept_keys     flags of the entries that dropout keeps, if rows are queries, or keys */
#ifndef PW_CUDA_ATTENTION_TILE_H
#define PW_CUDA_ATTENTION_TILE_H
#include "kernels/cuda/attention.h"

enum {
    PW_TILE_ROWS = 16, /* rows of a warp */
    PW_TILE_COLUMNS = 32,
    PW_TILE_WARPS = 4, /* most warps of a block */
};

/* The use of a column operand: in product (q.k), in add (p v), or in both. */
enum pw_use { PW_USE_PRODUCT = 1, PW_USE_ADD = 2, PW_USE_BOTH = 3 };

/* The part of a tensor that a block reads: T rows of D floats, of one head of one sequence. */
struct pw_source {
    const float *p;
    size_t w; /* floats between rows */
    int T, D;
    bool fours;
};

/* Returns floats d .. d+3 of row r; zeros beyond the last row and column. */
__device__ __forceinline__ float4 pw_dev_source(const struct pw_source &x, int r, int d)
{
    if (r >= x.T)
        return make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    return pw_dev_load_4(x.p + (size_t)r * x.w + (size_t)d, x.D - d, x.fours);
}

/* The place of this warp: sequence seq of T rows from row `base` on, head h. The block owns rows first ..
 * first+rows-1 of the sequence, this warp 16 of them from warp_first on. */
struct pw_tile_place {
    int seq, h, base, T;
    int first, rows; /* rows of the block */
    int warp, warp_first;
};

/* Such a part of q or k that is transformed (struct pw_turn) as it is read. */
struct pw_turned_source {
    struct pw_source of;
    const int *pos;      /* [T] */
    struct pw_turn turn; /* gain NULL for keys */
};

/* Rotates entries d .. d+3 of a row if pairs are (i, i+pairs), so that the partner of an entry is in another
 * group of four. v holds the entries before; angles: index of the row's first angle. */
__device__ __forceinline__ float4 pw_dev_turn_half(const struct pw_turned_source &x, const float *row, int d,
                                                   float4 v, size_t angles)
{
    int pairs = x.turn.pairs;
    bool second = d >= pairs;
    if (pairs % 4 == 0) { /* all four in the same half */
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

/* Returns entries d .. d+3 of row r, transformed; zeros beyond the last row. */
__device__ __forceinline__ float4 pw_dev_source(const struct pw_turned_source &x, int r, int d)
{
    float4 v = pw_dev_source(x.of, r, d);
    int pairs = x.turn.pairs;
    if (r >= x.of.T)
        return v;
    float gain = pw_dev_gain(x.turn, 0, x.pos[r], true);
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

/* What a score needs besides q.k and a bias. Each variant is a kernel of its own, because the code and the
 * arguments of a variant cost registers. Relative keys and a transformation never occur together. */
enum pw_with { PW_WITH_NOTHING, PW_WITH_KEYS, PW_WITH_TURN };

static inline enum pw_with pw_with_of(const struct pw_turned_attend &a)
{
    return a.keys != NULL ? PW_WITH_KEYS : a.turns ? PW_WITH_TURN : PW_WITH_NOTHING;
}

/* The argument type of a kernel of a variant. */
template <enum pw_with> struct pw_attend_with {
    typedef struct pw_attend type;
};
template <> struct pw_attend_with<PW_WITH_TURN> {
    typedef struct pw_turned_attend type;
};

/* Returns q (query) or k of the sequence at p, to be transformed as it is read. */
static __device__ __forceinline__ struct pw_turned_source pw_dev_turned(const struct pw_source &from,
                                                                        const struct pw_turned_attend &a,
                                                                        const struct pw_tile_place &p,
                                                                        bool query)
{
    struct pw_turned_source x = {from, a.pos + p.base, a.turn};
    size_t keys_at = (size_t)x.turn.keys_at * (size_t)x.turn.pairs;
    if (!query && keys_at > 0) {
        x.turn.cosine += keys_at;
        x.turn.sine += keys_at;
    }
    if (!query)
        x.turn.gain = NULL;
    else if (x.turn.gain != NULL)
        x.turn.gain += (size_t)p.h * (size_t)x.turn.gain_head;
    return x;
}

/* Call load_rows or load_columns for q (query) or k of the sequence at p, with the
 * transformation if the variant has one. */
template <enum pw_with WITH, class E, class A>
static __device__ __forceinline__ void
pw_dev_load_rows(const E &tile, uint32_t *to, const struct pw_source &from, const A &a,
                 const struct pw_tile_place &p, bool query, int first, int rows)
{
    if constexpr (WITH == PW_WITH_TURN)
        tile.load_rows(to, pw_dev_turned(from, a, p, query), first, rows);
    else
        tile.load_rows(to, from, first, rows);
}
template <enum pw_with WITH, class E, class A>
static __device__ __forceinline__ void
pw_dev_load_columns(const E &tile, uint32_t *to, enum pw_use use, const struct pw_source &from, const A &a,
                    const struct pw_tile_place &p, bool query, int first)
{
    if constexpr (WITH == PW_WITH_TURN)
        tile.load_columns(to, use, pw_dev_turned(from, a, p, query), first);
    else
        tile.load_columns(to, use, from, first);
}

/* Sets *p. seq0: the first sequence of the launch; tiles: blocks per sequence (pw_tile_block). Returns false
 * if the block lies beyond the end of its sequence. */
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

/* Adds q.a to the q.k of a tile, from a.dots. BY_KEY: rows are keys and columns queries. first: the first
 * column. */
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

/* Launch parameters: threads and bytes of shared memory of a block, and blocks for the longest sequence. */
struct pw_tile_block {
    unsigned threads, tiles; /* tiles: blocks for the rows of the longest sequence */
    size_t bytes;
};

/* Chooses the number of warps: no more than the longest sequence needs, and than fit into shared memory.
 * row_operands: number of operands by rows; words: 32-bit words of all operands by columns. */
template <class E>
inline struct pw_tile_block pw_tile_block_of(const struct pw_attend &a, int row_operands, size_t words)
{
    const size_t limit = 64 << 10; /* bytes that every supported device has */
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

/* Allows a kernel more than 48 KiB of dynamic shared memory, which CUDA requires to be requested. The limit
 * is always raised to 64 KiB at once and never lowered, because a captured graph may hold a launch with a
 * larger size. */
template <class K> inline cudaError_t pw_tile_allow(K *kernel, size_t bytes)
{
    const size_t usual = 48 << 10, every = 64 << 10;
    if (bytes <= usual)
        return cudaSuccess;
    return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                (int)(bytes > every ? bytes : every));
}

#endif
