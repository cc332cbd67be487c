/* attention_bwd.cu - the backward pass of attention in mode fast: probabilities are computed again from the
 * logarithm that the forward pass kept (Dao et al. 2022).
 *
 * One kernel, run twice. By queries: a block goes over the keys of its queries, for dq and dS. By keys: over
 * the queries that see its keys, for dk and dv. So every sum has one owner and one order; the price is that
 * the two products which give dS are done twice. */
#include "kernels/cuda/attention_bf16.h"
#include "kernels/cuda/attention_fp32.h"

enum {
    CHAINS = 32,     /* into which the sequences are split for the gradient of the bias */
    MAPS = 16 << 20, /* floats of dS at a time, if one sequence has no more */
};

struct backward {
    float *dqkv;
    uint16_t *copy; /* of dqkv, or NULL */
    const float *dz, *z, *save;
    float *delta, *ds; /* scratch; ds NULL: nobody wants dS by distance */
};

/* delta [R,H] of this lane's queries: the sums over a row of P*dP, by way of z. The lanes that have a row
 * share its columns by fours. */
template <class E>
static __device__ __forceinline__ void row_sums(const E &tile, float delta[E::ROWS], const struct backward &b,
                                                const struct pw_attend &a, const struct pw_tile_place &p)
{
    size_t C = (size_t)a.heads * (size_t)a.D;
    constexpr int lanes = 32 * E::ROWS / PW_TILE_ROWS;
#pragma unroll
    for (int r = 0; r < E::ROWS; r++) {
        int i = p.warp_first + tile.row(r);
        size_t row = (size_t)(p.base + min(i, p.T - 1)), at = row * C + (size_t)p.h * (size_t)a.D;
        float sum = 0.0f;
        for (int d = 4 * (int)(threadIdx.x % lanes); d < a.D; d += 4 * lanes) {
            float4 x = pw_dev_load_4(b.dz + at + d, a.D - d, a.fours);
            float4 y = pw_dev_load_4(b.z + at + d, a.D - d, a.fours);
            sum = fmaf(x.w, y.w, fmaf(x.z, y.z, fmaf(x.y, y.y, fmaf(x.x, y.x, sum))));
        }
        delta[r] = tile.total(sum);
        if (tile.leads() && i < p.T)
            b.delta[row * (size_t)a.heads + (size_t)p.h] = delta[r];
    }
}

/* s: q.k, becomes the probabilities that v was multiplied by; d: dz.v, becomes dS. lse and delta are those of
 * this lane's queries: rows or, by keys, columns. */
template <bool BY_KEY, class E>
static __device__ __forceinline__ void
differentiate(const E &tile, float s[E::ROWS][E::COLUMNS], float d[E::ROWS][E::COLUMNS], const float *lse,
              const float *delta, const struct pw_attend &a, const struct pw_tile_place &p, int first)
{
    const int *pos = a.bias != NULL ? a.pos + p.base : NULL;
    unsigned kept = 0;
    if (a.mask.key != NULL)
        kept = BY_KEY ? tile.kept_keys(a, p, first) : tile.kept(a, p, first);
#pragma unroll
    for (int r = 0; r < E::ROWS; r++)
#pragma unroll
        for (int c = 0; c < E::COLUMNS; c++) {
            int x = p.warp_first + tile.row(r), y = first + tile.column(c);
            int i = BY_KEY ? y : x, j = BY_KEY ? x : y, of = BY_KEY ? c : r;
            bool seen = i < p.T && j < p.T && (j <= i || !a.causal);
            float prob = 0.0f, g = d[r][c];
            if (seen)
                prob = __expf(pw_dev_score(a, s[r][c], p.h, pos != NULL ? pos[i] - pos[j] : 0) - lse[of]);
            s[r][c] = prob;
            if (a.mask.key != NULL) {
                bool keep = kept >> (E::COLUMNS * r + c) & 1;
                s[r][c] = keep ? prob * a.mask.keep : 0.0f;
                g = keep ? g * a.mask.keep : 0.0f;
            }
            d[r][c] = seen ? prob * (g - delta[of]) : 0.0f;
        }
}

/* d of a tile of keys into the map of its head: see pw_bias_sums. */
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

/* What is done with the operands of columns, k and v or, by keys, q and dz. */
template <bool BY_KEY> struct uses {
    static constexpr enum pw_use first = PW_USE_BOTH, second = BY_KEY ? PW_USE_BOTH : PW_USE_PRODUCT;
};

/* Three blocks of up to 64 of D have room in the shared memory of one processor, and so in its registers. */
template <bool BY_KEY, bool KEYS, class E>
static __global__ void __launch_bounds__(32 * PW_TILE_WARPS, E::WIDE <= 2 ? 3 : 1)
    bwd_tiles(struct backward b, struct pw_attend a, int seq0, unsigned tiles)
{
    PW_DYN_SHARED(uint32_t, room);
    struct pw_tile_place p;
    if (!pw_dev_tile_place(a, &p, seq0, tiles))
        return;
    constexpr enum pw_use use1 = uses<BY_KEY>::first, use2 = uses<BY_KEY>::second;
    size_t D = (size_t)a.D, C = (size_t)a.heads * D, w = 3 * C, at = (size_t)p.base * w + (size_t)p.h * D;
    uint32_t *x1 = room, *x2 = x1 + E::row_words(p.rows, a.D), *y1 = x2 + E::row_words(p.rows, a.D);
    uint32_t *y2 = y1 + E::column_words(use1, a.D);
    E tile(a.D, y2 + E::column_words(use2, a.D) + p.warp * E::EXTRA);
    struct pw_source q = {a.qkv + at, w, p.T, a.D, a.fours}, k = q, v = q, g = q;
    k.p += C;
    v.p += 2 * C;
    g.p = b.dz + (size_t)p.base * C + (size_t)p.h * D;
    g.w = C;
    typename E::sums sums, sums_v; /* dq, or dk and dv */
    float lse[BY_KEY ? E::COLUMNS : E::ROWS], delta[BY_KEY ? E::COLUMNS : E::ROWS];
    sums.zero();
    sums_v.zero();
    tile.load_rows(x1, BY_KEY ? k : q, p.first, p.rows);
    tile.load_rows(x2, BY_KEY ? v : g, p.first, p.rows);
    if (!BY_KEY) {
        row_sums(tile, delta, b, a, p);
#pragma unroll
        for (int r = 0; r < E::ROWS; r++) {
            int i = min(p.warp_first + tile.row(r), p.T - 1);
            lse[r] = b.save[(size_t)(p.base + i) * (size_t)a.heads + (size_t)p.h];
        }
    }
    /* with a causal mask: keys before the block's last query, queries from its first key on */
    int from = a.causal && BY_KEY ? p.first : 0, to = a.causal && !BY_KEY ? min(p.T, p.first + p.rows) : p.T;
    for (int c0 = from; c0 < to; c0 += PW_TILE_COLUMNS) {
        __syncthreads(); /* the columns before are used up */
        tile.load_columns(y1, use1, BY_KEY ? q : k, c0);
        tile.load_columns(y2, use2, BY_KEY ? g : v, c0);
        __syncthreads();
        if (a.causal && (BY_KEY ? c0 + PW_TILE_COLUMNS <= p.warp_first : c0 >= p.warp_first + PW_TILE_ROWS))
            continue;
        if (BY_KEY) {
#pragma unroll
            for (int c = 0; c < E::COLUMNS; c++) {
                int i = min(c0 + tile.column(c), p.T - 1);
                lse[c] = b.save[(size_t)(p.base + i) * (size_t)a.heads + (size_t)p.h];
                delta[c] = b.delta[(size_t)(p.base + i) * (size_t)a.heads + (size_t)p.h];
            }
        }
        float s[E::ROWS][E::COLUMNS], d[E::ROWS][E::COLUMNS];
        int n = min(PW_TILE_COLUMNS, p.T - c0);
        tile.product(s, x1, PW_TILE_ROWS * p.warp, y1);
        tile.product(d, x2, PW_TILE_ROWS * p.warp, y2);
        if (KEYS)
            pw_dev_add_dots<BY_KEY>(tile, s, a, p, c0);
        differentiate<BY_KEY>(tile, s, d, lse, delta, a, p, c0);
        if (!BY_KEY && b.ds != NULL)
            keep_ds(tile, b.ds, d, a, p, p.base - a.start[seq0], c0);
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
}

template <bool BY_KEY, bool KEYS, class E>
static cudaError_t bwd_of(cudaStream_t s, const struct backward &b, const struct pw_attend &a, int first,
                          int last)
{
    size_t words = E::column_words(uses<BY_KEY>::first, a.D) + E::column_words(uses<BY_KEY>::second, a.D);
    struct pw_tile_block block = pw_tile_block_of<E>(a, 2, words);
    cudaError_t e = pw_tile_allow(bwd_tiles<BY_KEY, KEYS, E>, block.bytes);
    if (e != cudaSuccess)
        return e;
    return PW_LAUNCH((bwd_tiles<BY_KEY, KEYS, E>),
                     dim3((unsigned)(last - first) * block.tiles, (unsigned)a.heads), dim3(block.threads),
                     block.bytes, s, b, a, first, block.tiles);
}

template <bool BY_KEY, bool KEYS, template <int> class E>
static cudaError_t bwd_wide(cudaStream_t s, const struct backward &b, const struct pw_attend &a, int first,
                            int last)
{
    switch ((a.D + 31) / 32) {
    case 1: return bwd_of<BY_KEY, KEYS, E<1>>(s, b, a, first, last);
    case 2: return bwd_of<BY_KEY, KEYS, E<2>>(s, b, a, first, last);
    case 3: return bwd_of<BY_KEY, KEYS, E<3>>(s, b, a, first, last);
    default: return bwd_of<BY_KEY, KEYS, E<4>>(s, b, a, first, last);
    }
}

template <bool BY_KEY, template <int> class E>
static cudaError_t bwd_any(cudaStream_t s, const struct backward &b, const struct pw_attend &a, int first,
                           int last)
{
    return a.dots != NULL ? bwd_wide<BY_KEY, true, E>(s, b, a, first, last)
                          : bwd_wide<BY_KEY, false, E>(s, b, a, first, last);
}

/* How the gradients of a bias and of relative keys are gone about: dS of `turn` sequences at a time, the
 * bias' in chains. */
struct plan {
    size_t delta, sums, maps, index, dots, by_row, keys; /* floats, one after the other in scratch */
    int turn, chains;
};

static struct plan plan_of(const struct pw_attend &a)
{
    struct plan p = {};
    size_t heads = (size_t)a.heads, longest = (size_t)a.longest;
    p.delta = a.rows * heads;
    if ((a.bias == NULL && a.keys == NULL) || a.rows == 0)
        return p;
    size_t turn = MAPS / (heads * longest * longest);
    p.turn = turn < 1 ? 1 : turn < (size_t)a.n ? (int)turn : a.n;
    p.maps = heads * longest * (p.turn == a.n ? a.rows : (size_t)p.turn * longest);
    if (a.bias != NULL) {
        p.chains = a.n < CHAINS ? a.n : CHAINS;
        p.sums = (size_t)p.chains * heads * (2 * (size_t)a.table - 1);
        p.index = pw_bias_index_ints(a);
    }
    p.dots = p.by_row = pw_relative_floats(a);
    p.keys = pw_relative_partial(a);
    return p;
}

size_t pw_cuda_attention_partial(const struct pw_attn *a, const struct pw_seqs *seqs)
{
    struct plan p = plan_of(pw_attend_of(NULL, a, NULL, seqs));
    return p.delta + p.sums + p.maps + p.index + p.dots + p.by_row + p.keys;
}

/* Where the parts of scratch lie. */
struct parts {
    float *delta, *sums, *maps, *dots, *by_row, *keys;
    int *index;
};

static struct parts parts_of(const struct plan &p, float *partial)
{
    struct parts at = {};
    at.delta = partial;
    at.sums = at.delta + p.delta;
    at.maps = at.sums + p.sums;
    at.index = (int *)(at.maps + p.maps);
    at.dots = at.maps + p.maps + p.index;
    at.by_row = at.dots + p.dots;
    at.keys = at.by_row + p.by_row;
    return at;
}

bool pw_cuda_attention_may_wait(const struct pw_attn *a, const struct pw_seqs *seqs)
{
    struct pw_attend all = pw_attend_of(NULL, a, NULL, seqs);
    return a->bias != NULL && plan_of(all).turn == all.n;
}

/* What the sums of a bias begin with. */
static cudaError_t bias_begin(cudaStream_t s, const struct pw_attend &a, const struct plan &plan,
                              const struct parts &at)
{
    cudaError_t e = cudaMemsetAsync(at.sums, 0, plan.sums * sizeof *at.sums, s);
    return e == cudaSuccess ? pw_bias_index(s, at.index, a) : e;
}

static cudaError_t bias_end(cudaStream_t s, float *d_bias, const struct pw_attend &a, const struct plan &plan,
                            const struct parts &at)
{
    return pw_chains_add(s, d_bias, at.sums, (size_t)a.heads * (2 * (size_t)a.table - 1), plan.chains);
}

cudaError_t pw_cuda_attention_bias_begin(cudaStream_t s, const struct pw_attn *attn, const int *pos,
                                         const struct pw_seqs *seqs, float *partial)
{
    struct pw_attend a = pw_attend_of(NULL, attn, pos, seqs);
    struct plan plan = plan_of(a);
    return a.rows > 0 ? bias_begin(s, a, plan, parts_of(plan, partial)) : cudaSuccess;
}

cudaError_t pw_cuda_attention_bias(cudaStream_t s, float *d_bias, const struct pw_attn *attn, const int *pos,
                                   const struct pw_seqs *seqs, float *partial)
{
    struct pw_attend a = pw_attend_of(NULL, attn, pos, seqs);
    struct plan plan = plan_of(a);
    struct parts at = parts_of(plan, partial);
    if (a.rows == 0)
        return cudaSuccess;
    cudaError_t e = pw_bias_sums(s, at.sums, at.maps, at.index, a, 0, a.n, plan.chains);
    return e == cudaSuccess ? bias_end(s, d_bias, a, plan, at) : e;
}

/* The pass by queries in turns, after each of which its dS are added up. d_bias may be NULL. */
template <template <int> class E>
static cudaError_t by_queries(cudaStream_t s, struct backward b, float *d_bias, const struct pw_attend &a,
                              const struct plan &plan, const struct parts &at)
{
    cudaError_t e = d_bias != NULL ? bias_begin(s, a, plan, at) : cudaSuccess;
    for (int first = 0; first < a.n && e == cudaSuccess; first += plan.turn) {
        int last = first + plan.turn < a.n ? first + plan.turn : a.n;
        e = bwd_any<false, E>(s, b, a, first, last);
        if (e == cudaSuccess && d_bias != NULL)
            e = pw_bias_sums(s, at.sums, b.ds, at.index, a, first, last, plan.chains);
        if (e == cudaSuccess && a.keys != NULL)
            e = pw_relative_sums(s, at.by_row, b.ds, a, first, last);
    }
    return e == cudaSuccess && d_bias != NULL ? bias_end(s, d_bias, a, plan, at) : e;
}

template <template <int> class E>
static cudaError_t bwd(cudaStream_t s, struct backward b, float *d_bias, float *d_keys, struct pw_attend a,
                       float *partial, bool later)
{
    if (a.rows == 0)
        return cudaSuccess;
    struct plan plan = plan_of(a);
    struct parts at = parts_of(plan, partial);
    cudaError_t e = cudaSuccess;
    b.delta = at.delta;
    a.fours = a.fours && pw_fours(b.dqkv, b.dz, b.z, b.copy);
    if (a.keys != NULL) {
        e = pw_relative_dots(s, at.dots, a);
        a.dots = at.dots;
    }
    b.ds = d_bias != NULL || a.keys != NULL ? at.maps : NULL;
    if (e == cudaSuccess && b.ds == NULL)
        e = bwd_any<false, E>(s, b, a, 0, a.n);
    else if (e == cudaSuccess)
        e = by_queries<E>(s, b, later ? NULL : d_bias, a, plan, at);
    if (e == cudaSuccess && a.keys != NULL)
        e = pw_relative_dq(s, b.dqkv, b.copy, at.by_row, a);
    if (e == cudaSuccess && d_keys != NULL)
        e = pw_relative_dkeys(s, d_keys, at.by_row, a, at.keys);
    return e == cudaSuccess ? bwd_any<true, E>(s, b, a, 0, a.n) : e;
}

cudaError_t pw_cuda_attention_bwd_fast(cudaStream_t s, float *dqkv, uint16_t *copy, float *d_bias,
                                       float *d_keys, const float *dz, const float *z, const float *qkv,
                                       const float *save, const struct pw_attn *a, const int *pos,
                                       const struct pw_seqs *seqs, float *partial, bool later, bool bf16)
{
    struct pw_attend all = pw_attend_of(qkv, a, pos, seqs);
    struct backward b = {dqkv, copy, dz, z, save, NULL, NULL};
    return bf16 ? bwd<pw_bf16>(s, b, d_bias, d_keys, all, partial, later)
                : bwd<pw_fp32>(s, b, d_bias, d_keys, all, partial, later);
}
