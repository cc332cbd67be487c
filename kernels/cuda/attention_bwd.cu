/* attention_bwd.cu - the backward pass of attention in mode fast. Probabilities are recomputed from the
 * logarithm that the forward pass stored (Dao et al. 2022).
 *
 * Half of the blocks own queries and loop over the keys that each sees, for dq and dS. The other half own
 * keys and loop over the queries that see each, for dk and dv. So every sum has one owner and one order, and
 * the halves are independent. The price: the two products that give dS are computed twice, and so are the
 * sums over a query's row. */
#include "kernels/cuda/attention_bf16.h"
#include "kernels/cuda/attention_bwd.h"
#include "kernels/cuda/attention_fp32.h"

enum { QUERIES = PW_TILE_ROWS * PW_TILE_WARPS }; /* rows that a block holds at a time, at most */

/* In shared memory, for consecutive queries: the logarithm of the sum of exponentials, and the sum over
 * the row of P*dP. */
struct queries {
    float *lse, *delta;
};

/* Computes these for queries first .. first + n-1 from z. Eight threads share a query's columns, four
 * columns at a time. */
static __device__ __forceinline__ void sum_queries(const struct queries &to, int first, int n,
                                                   const struct pw_backward &b, const struct pw_attend &a,
                                                   const struct pw_tile_place &p)
{
    const int lanes = 8;
    size_t heads = (size_t)a.heads, D = (size_t)a.D;
    for (int k = (int)threadIdx.x / lanes; k < n; k += (int)blockDim.x / lanes) {
        size_t at = (size_t)(p.base + min(first + k, p.T - 1)) * heads + (size_t)p.h;
        float sum = 0.0f;
        for (int d = 4 * ((int)threadIdx.x % lanes); d < a.D; d += 4 * lanes) {
            float4 x = pw_dev_load_4(b.dz + at * D + d, a.D - d, a.fours);
            float4 y = pw_dev_load_4(b.z + at * D + d, a.D - d, a.fours);
            sum = fmaf(x.w, y.w, fmaf(x.z, y.z, fmaf(x.y, y.y, fmaf(x.x, y.x, sum))));
        }
        for (int by = lanes / 2; by > 0; by /= 2)
            sum += __shfl_xor_sync(PW_ALL_LANES, sum, by);
        if (threadIdx.x % lanes == 0) {
            to.lse[k] = b.save[at];
            to.delta[k] = sum;
        }
    }
}

/* s: q.k, replaced by the probabilities; d: dz.v, replaced by dS. of: the queries of this warp's rows or,
 * with BY_KEY, of the columns. */
template <bool BY_KEY, class E>
static __device__ __forceinline__ void
differentiate(const E &tile, float s[E::ROWS][E::COLUMNS], float d[E::ROWS][E::COLUMNS],
              const struct queries &of, const struct pw_attend &a, const struct pw_tile_place &p, int first)
{
    const float *bias = pw_dev_bias(a, p.h, 0);
    const int *pos = bias != NULL ? a.pos + p.base : NULL;
    unsigned kept = 0;
    if (a.mask.key != NULL)
        kept = BY_KEY ? tile.kept_keys(a, p, first) : tile.kept(a, p, first);
#pragma unroll
    for (int r = 0; r < E::ROWS; r++)
#pragma unroll
        for (int c = 0; c < E::COLUMNS; c++) {
            int x = p.warp_first + tile.row(r), y = first + tile.column(c);
            int i = BY_KEY ? y : x, j = BY_KEY ? x : y, query = BY_KEY ? tile.column(c) : tile.row(r);
            bool seen = i < p.T && j < p.T && (j <= i || !a.causal);
            float prob = 0.0f, g = d[r][c];
            if (seen) {
                float score = s[r][c] * a.scale;
                if (bias != NULL)
                    score += bias[a.by_query * pos[i] + a.by_key * pos[j]];
                prob = __expf(score - of.lse[query]);
            }
            s[r][c] = prob;
            if (a.mask.key != NULL) {
                bool keep = kept >> (E::COLUMNS * r + c) & 1;
                s[r][c] = keep ? prob * a.mask.keep : 0.0f;
                g = keep ? g * a.mask.keep : 0.0f;
            }
            d[r][c] = seen ? prob * (g - of.delta[query]) : 0.0f;
        }
}

/* Writes d of a tile of keys to the map of its head: see pw_bias_sums. */
template <class E>
static __device__ __forceinline__ void keep_ds(const E &tile, float *ds, const float d[E::ROWS][E::COLUMNS],
                                               const struct pw_attend &a, const struct pw_tile_place &p,
                                               int before, int first)
{
    ds += ((size_t)before * (size_t)a.heads + (size_t)p.h * (size_t)p.T) * (size_t)a.longest;
#pragma unroll
    for (int r = 0; r < E::ROWS; r++)
#pragma unroll
        for (int c = 0; c < E::COLUMNS; c++) {
            int i = p.warp_first + tile.row(r), j = first + tile.column(c);
            if (i < p.T && j < p.T)
                ds[(size_t)i * (size_t)a.longest + (size_t)j] = d[r][c];
        }
}

/* Turns the gradient of this warp's rows of q (query) or k, w apart and stored by its lanes, into the
 * gradient of the input before the rotation. */
static __device__ __forceinline__ void turn_back(float *d, uint16_t *copy, size_t w, bool query,
                                                 const struct pw_turned_attend &a,
                                                 const struct pw_tile_place &p)
{
    int parts = pw_dev_turn_parts(a.turn, a.D), n = parts * min(PW_TILE_ROWS, p.T - p.warp_first);
    __syncwarp();
    for (int e = (int)(threadIdx.x % 32); e < n; e += 32) {
        int i = p.warp_first + e / parts, pos = a.pos[p.base + i];
        size_t at = (size_t)i * w;
        pw_dev_turn_part(d + at, copy != NULL ? copy + at : NULL, d + at, a.turn,
                         pos + (query ? 0 : a.turn.keys_at), e % parts, pw_dev_gain(a.turn, p.h, pos, query),
                         true);
    }
}

/* Processes the block at p by queries, or with BY_KEY by keys. x: the rows that stay, q and dz or k and v;
 * y: the rows of the loop, the other two. */
template <bool BY_KEY, enum pw_with WITH, class E>
static __device__ __forceinline__ void go_over(const struct pw_backward &b,
                                               const typename pw_attend_with<WITH>::type &a,
                                               const struct pw_tile_place &p, int before, uint32_t *room)
{
    constexpr enum pw_use use1 = PW_USE_BOTH, use2 = BY_KEY ? PW_USE_BOTH : PW_USE_PRODUCT;
    size_t D = (size_t)a.D, C = (size_t)a.heads * D, w = 3 * C, at = (size_t)p.base * w + (size_t)p.h * D;
    struct queries all = {(float *)room, (float *)room + QUERIES};
    uint32_t *x1 = room + 2 * QUERIES, *x2 = x1 + E::row_words(p.rows, a.D);
    uint32_t *y1 = x2 + E::row_words(p.rows, a.D), *y2 = y1 + E::column_words(use1, a.D);
    E tile(a.D, y2 + E::column_words(PW_USE_BOTH, a.D) + p.warp * E::EXTRA);
    struct pw_source q = {a.qkv + at, w, p.T, a.D, a.fours}, k = q, v = q, g = q;
    k.p += C;
    v.p += 2 * C;
    g.p = b.dz + (size_t)p.base * C + (size_t)p.h * D;
    g.w = C;
    typename E::sums sums, sums_v; /* dq, or dk and dv */
    sums.zero();
    sums_v.zero();
    pw_dev_load_rows<WITH>(tile, x1, BY_KEY ? k : q, a, p, !BY_KEY, p.first, p.rows);
    tile.load_rows(x2, BY_KEY ? v : g, p.first, p.rows);
    if (!BY_KEY)
        sum_queries(all, p.first, p.rows, b, a, p);
    struct queries of = all;
    if (!BY_KEY) {
        of.lse += PW_TILE_ROWS * p.warp;
        of.delta += PW_TILE_ROWS * p.warp;
    }
    /* with a causal mask: keys up to the block's last query, or queries from its first key on */
    int from = a.causal && BY_KEY ? p.first : 0, to = a.causal && !BY_KEY ? min(p.T, p.first + p.rows) : p.T;
    for (int c0 = from; c0 < to; c0 += PW_TILE_COLUMNS) {
        __syncthreads(); /* the previous columns are no longer needed */
        pw_dev_load_columns<WITH>(tile, y1, use1, BY_KEY ? q : k, a, p, BY_KEY, c0);
        tile.load_columns(y2, use2, BY_KEY ? g : v, c0);
        if (BY_KEY)
            sum_queries(all, c0, PW_TILE_COLUMNS, b, a, p);
        __syncthreads();
        if (a.causal && (BY_KEY ? c0 + PW_TILE_COLUMNS <= p.warp_first : c0 >= p.warp_first + PW_TILE_ROWS))
            continue;
        float s[E::ROWS][E::COLUMNS], d[E::ROWS][E::COLUMNS];
        int n = min(PW_TILE_COLUMNS, p.T - c0);
        tile.product(s, x1, PW_TILE_ROWS * p.warp, y1);
        tile.product(d, x2, PW_TILE_ROWS * p.warp, y2);
        if (WITH == PW_WITH_KEYS)
            pw_dev_add_dots<BY_KEY>(tile, s, a, p, c0);
        differentiate<BY_KEY>(tile, s, d, of, a, p, c0);
        if (!BY_KEY && b.ds != NULL)
            keep_ds(tile, b.ds, d, a, p, before, c0);
        if (BY_KEY)
            tile.add(sums_v, s, y2, n, use2);
        tile.add(sums, d, y1, n, use1);
    }
#pragma unroll
    for (int r = 0; r < E::ROWS; r++) {
        int i = p.warp_first + tile.row(r);
        if (i >= p.T)
            continue;
        size_t row = at + (size_t)i * w, first = row + (BY_KEY ? C : 0), second = row + 2 * C;
        sums.scale(r, a.scale);
        tile.store(b.dqkv + first, b.copy != NULL ? b.copy + first : NULL, sums, r, a.fours);
        if (BY_KEY)
            tile.store(b.dqkv + second, b.copy != NULL ? b.copy + second : NULL, sums_v, r, a.fours);
    }
    if constexpr (WITH == PW_WITH_TURN) {
        at += BY_KEY ? C : 0;
        if (!a.turn.learned) /* otherwise turn_bwd follows */
            turn_back(b.dqkv + at, b.copy != NULL ? b.copy + at : NULL, w, !BY_KEY, a, p);
    }
}

/* If D is at most 64, three blocks fit into the shared memory and the registers of a multiprocessor. */
template <enum pw_with WITH, class E>
static __global__ void __launch_bounds__(32 * PW_TILE_WARPS, E::WIDE <= 2 ? 3 : 1)
    bwd_tiles(struct pw_backward b, typename pw_attend_with<WITH>::type a, int seq0, unsigned tiles)
{
    PW_DYN_SHARED(uint32_t, room);
    struct pw_tile_place p;
    if (!pw_dev_tile_place(a, &p, seq0, tiles))
        return;
    if (blockIdx.z == 0)
        go_over<false, WITH, E>(b, a, p, p.base - a.start[seq0], room);
    else
        go_over<true, WITH, E>(b, a, p, 0, room);
}

template <enum pw_with WITH, class E>
static cudaError_t bwd_of(cudaStream_t s, const struct pw_backward &b, const struct pw_turned_attend &a,
                          int first, int last)
{
    struct pw_tile_block block =
        pw_tile_block_of<E>(a, 2, 2 * QUERIES + 2 * E::column_words(PW_USE_BOTH, a.D));
    cudaError_t e = pw_tile_allow(bwd_tiles<WITH, E>, block.bytes);
    if (e != cudaSuccess)
        return e;
    return PW_LAUNCH((bwd_tiles<WITH, E>), dim3((unsigned)(last - first) * block.tiles, (unsigned)a.heads, 2),
                     dim3(block.threads), block.bytes, s, b, a, first, block.tiles);
}

template <enum pw_with WITH, template <int> class E>
static cudaError_t bwd_wide(cudaStream_t s, const struct pw_backward &b, const struct pw_turned_attend &a,
                            int first, int last)
{
    switch ((a.D + 31) / 32) {
    case 1: return bwd_of<WITH, E<1>>(s, b, a, first, last);
    case 2: return bwd_of<WITH, E<2>>(s, b, a, first, last);
    case 3: return bwd_of<WITH, E<3>>(s, b, a, first, last);
    default: return bwd_of<WITH, E<4>>(s, b, a, first, last);
    }
}

template <template <int> class E>
static cudaError_t bwd_any(cudaStream_t s, const struct pw_backward &b, const struct pw_turned_attend &a,
                           int first, int last)
{
    switch (pw_with_of(a)) {
    case PW_WITH_KEYS: return bwd_wide<PW_WITH_KEYS, E>(s, b, a, first, last);
    case PW_WITH_TURN: return bwd_wide<PW_WITH_TURN, E>(s, b, a, first, last);
    default: return bwd_wide<PW_WITH_NOTHING, E>(s, b, a, first, last);
    }
}

cudaError_t pw_attention_bwd(cudaStream_t s, const struct pw_backward &b, const struct pw_turned_attend &a,
                             int first, int last, bool bf16)
{
    return bf16 ? bwd_any<pw_bf16>(s, b, a, first, last) : bwd_any<pw_fp32>(s, b, a, first, last);
}
