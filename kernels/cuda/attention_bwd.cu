/* attention_bwd.cu - the backward pass of attention in mode fast: probabilities are computed again from the
 * logarithm that the forward pass kept (Dao et al. 2022).
 *
 * One kernel, run twice. By queries: a block goes over the keys of its queries, for dq and dS. By keys: over
 * the queries that see its keys, for dk and dv. So every sum has one owner and one order; the price is that
 * the two products which give dS are done twice. */
#include "kernels/cuda/attention_tile.h"

enum {
    CHAINS = 32,     /* into which the sequences are split for the gradient of the bias */
    MAPS = 64 << 20, /* floats of dS at a time, if one sequence has no more */
};

struct pw_backward {
    float *dqkv, *ds, *delta;
    const float *dz, *z, *save;
    bool fours;
};

/* delta [R,H] of this lane's queries: the sums over a row of P*dP, by way of z. */
static __device__ __forceinline__ void row_sums(float delta[PW_TILE_OWN], const struct pw_backward &b,
                                                const struct pw_attend &a, const struct pw_tile_place &p)
{
    size_t C = (size_t)a.heads * (size_t)a.D;
#pragma unroll
    for (int r = 0; r < PW_TILE_OWN; r++) {
        size_t row = (size_t)(p.base + min(p.row + r, p.T - 1)), at = row * C + (size_t)p.h * (size_t)a.D;
        float sum = 0.0f;
        for (int d = 4 * p.l; d < a.D; d += 32) {
            float4 x = pw_dev_load_4(b.dz + at + d, a.D - d, b.fours);
            float4 y = pw_dev_load_4(b.z + at + d, a.D - d, b.fours);
            sum = fmaf(x.w, y.w, fmaf(x.z, y.z, fmaf(x.y, y.y, fmaf(x.x, y.x, sum))));
        }
        delta[r] = pw_dev_tile_sum(sum);
        if (p.l == 0 && p.row + r < p.T)
            b.delta[row * (size_t)a.heads + (size_t)p.h] = delta[r];
    }
}

/* s: q.k, becomes the probabilities that v was multiplied by; d: dz.v, becomes dS. lse and delta are those of
 * this lane's queries: rows or, by keys, columns. */
template <bool BY_KEY>
static __device__ __forceinline__ void
differentiate(float s[PW_TILE_OWN][PW_TILE_OWN], float d[PW_TILE_OWN][PW_TILE_OWN],
              const float lse[PW_TILE_OWN], const float delta[PW_TILE_OWN], const struct pw_attend &a,
              const struct pw_tile_place &p, int column)
{
    const int *pos = a.bias != NULL ? a.pos + p.base : NULL;
    unsigned kept = BY_KEY ? pw_dev_tile_kept_keys(a, p, column) : pw_dev_tile_kept(a, p, column);
#pragma unroll
    for (int r = 0; r < PW_TILE_OWN; r++)
#pragma unroll
        for (int c = 0; c < PW_TILE_OWN; c++) {
            int x = p.row + r, y = column + p.l + 8 * c, i = BY_KEY ? y : x, j = BY_KEY ? x : y;
            bool seen = i < p.T && j < p.T && (j <= i || !a.causal);
            float prob = 0.0f, g = d[r][c];
            if (seen)
                prob = __expf(pw_dev_score(a, s[r][c], p.h, pos != NULL ? pos[i] - pos[j] : 0) -
                              lse[BY_KEY ? c : r]);
            s[r][c] = prob;
            if (a.mask.key != NULL) {
                bool keep = kept >> (4 * r + c) & 1;
                s[r][c] = keep ? prob * a.mask.keep : 0.0f;
                g = keep ? g * a.mask.keep : 0.0f;
            }
            d[r][c] = seen ? prob * (g - delta[BY_KEY ? c : r]) : 0.0f;
        }
}

/* d of this lane into the map of its head: see pw_bias_sums. */
static __device__ __forceinline__ void keep_ds(float *ds, const float d[PW_TILE_OWN][PW_TILE_OWN],
                                               const struct pw_attend &a, const struct pw_tile_place &p,
                                               int before, int column)
{
    ds += ((size_t)before * (size_t)a.heads + (size_t)p.h * (size_t)p.T) * (size_t)a.longest;
#pragma unroll
    for (int r = 0; r < PW_TILE_OWN; r++)
#pragma unroll
        for (int c = 0; c < PW_TILE_OWN; c++) {
            int i = p.row + r, j = column + p.l + 8 * c;
            if (i < p.T && j < p.T)
                ds[(size_t)i * (size_t)a.longest + (size_t)j] = d[r][c];
        }
}

template <bool BY_KEY, int M>
static __global__ void __launch_bounds__(32 * PW_TILE_WARPS, M <= 2 ? 3 : 1)
    bwd_tiles(struct pw_backward b, struct pw_attend a, int seq0, unsigned tiles)
{
    PW_DYN_SHARED(float, room);
    struct pw_tile_place p;
    if (!pw_dev_tile_place(a, &p, seq0, tiles))
        return;
    int ld = pw_tile_ld(a.D), warp_first = p.first + PW_TILE_ROWS * p.warp;
    size_t D = (size_t)a.D, C = (size_t)a.heads * D, w = 3 * C;
    size_t at = (size_t)p.base * w + (size_t)p.h * D, at_z = (size_t)p.base * C + (size_t)p.h * D;
    /* operands of rows and columns: q or k, and dz or v */
    float *x1 = room, *x2 = x1 + p.rows * ld, *y1 = x2 + p.rows * ld, *y2 = y1 + PW_TILE_COLUMNS * ld;
    float *passed = y2 + PW_TILE_COLUMNS * ld + p.warp * PW_TILE_PASSED;
    int own = (p.row - p.first) * ld;
    const float *q = a.qkv + at, *k = q + C, *v = k + C, *g = b.dz + at_z;
    float4 acc[PW_TILE_OWN][M] = {}, acc_v[PW_TILE_OWN][M] = {};
    float lse[PW_TILE_OWN], delta[PW_TILE_OWN];
    pw_dev_tile_load(x1, p.rows, BY_KEY ? k : q, w, p.first, p.T, a.D, b.fours);
    pw_dev_tile_load(x2, p.rows, BY_KEY ? v : g, BY_KEY ? w : C, p.first, p.T, a.D, b.fours);
    if (!BY_KEY) {
        row_sums(delta, b, a, p);
#pragma unroll
        for (int r = 0; r < PW_TILE_OWN; r++)
            lse[r] = b.save[(size_t)(p.base + min(p.row + r, p.T - 1)) * (size_t)a.heads + (size_t)p.h];
    }
    /* with a causal mask, columns that the block has to do with: keys before its last query, queries from its
     * first key on; and likewise the warp */
    int from = a.causal && BY_KEY ? p.first : 0;
    int to = a.causal && !BY_KEY ? min(p.T, p.first + p.rows) : p.T;
    for (int c0 = from; c0 < to; c0 += PW_TILE_COLUMNS) {
        __syncthreads(); /* the columns before are used up */
        pw_dev_tile_load(y1, PW_TILE_COLUMNS, BY_KEY ? q : k, w, c0, p.T, a.D, b.fours);
        pw_dev_tile_load(y2, PW_TILE_COLUMNS, BY_KEY ? g : v, BY_KEY ? C : w, c0, p.T, a.D, b.fours);
        __syncthreads();
        if (a.causal && (BY_KEY ? c0 + PW_TILE_COLUMNS <= warp_first : c0 >= warp_first + PW_TILE_ROWS))
            continue;
        if (BY_KEY) {
#pragma unroll
            for (int c = 0; c < PW_TILE_OWN; c++) {
                size_t i = (size_t)(p.base + min(c0 + p.l + 8 * c, p.T - 1)) * (size_t)a.heads + (size_t)p.h;
                lse[c] = b.save[i];
                delta[c] = b.delta[i];
            }
        }
        float s[PW_TILE_OWN][PW_TILE_OWN], d[PW_TILE_OWN][PW_TILE_OWN];
        int n = min(PW_TILE_COLUMNS, p.T - c0);
        pw_dev_tile_product(s, x1 + own, y1 + p.l * ld, a.D);
        pw_dev_tile_product(d, x2 + own, y2 + p.l * ld, a.D);
        differentiate<BY_KEY>(s, d, lse, delta, a, p, c0);
        if (!BY_KEY && b.ds != NULL)
            keep_ds(b.ds, d, a, p, p.base - a.start[seq0], c0);
        if (BY_KEY) {
            pw_dev_tile_pass(passed, s, p);
            __syncwarp();
            pw_dev_tile_add<M>(acc_v, passed, y2, n, a.D, p);
            __syncwarp(); /* the probabilities are used up */
        }
        pw_dev_tile_pass(passed, d, p);
        __syncwarp();
        pw_dev_tile_add<M>(acc, passed, y1, n, a.D, p);
    }
#pragma unroll
    for (int r = 0; r < PW_TILE_OWN; r++) {
        float *to_row = b.dqkv + at + (size_t)(p.row + r) * w;
        if (p.row + r >= p.T)
            continue;
        pw_dev_tile_store<M>(to_row + (BY_KEY ? C : 0), acc[r], a.scale, a.D, b.fours, p.l);
        if (BY_KEY)
            pw_dev_tile_store<M>(to_row + 2 * C, acc_v[r], 1.0f, a.D, b.fours, p.l);
    }
}

template <bool BY_KEY, int M>
static cudaError_t bwd_of(cudaStream_t s, const struct pw_backward &b, const struct pw_attend &a, int first,
                          int last)
{
    void (*kernel)(struct pw_backward, struct pw_attend, int, unsigned) = bwd_tiles<BY_KEY, M>;
    struct pw_tile_block block = pw_tile_block_of(a, 2, 2);
    cudaError_t e = pw_tile_allow(kernel, block.bytes);
    if (e != cudaSuccess)
        return e;
    return PW_LAUNCH(kernel, dim3((unsigned)(last - first) * block.tiles, (unsigned)a.heads),
                     dim3(block.threads), block.bytes, s, b, a, first, block.tiles);
}

template <bool BY_KEY>
static cudaError_t bwd(cudaStream_t s, const struct pw_backward &b, const struct pw_attend &a, int first,
                       int last)
{
    switch ((a.D + 31) / 32) {
    case 1: return bwd_of<BY_KEY, 1>(s, b, a, first, last);
    case 2: return bwd_of<BY_KEY, 2>(s, b, a, first, last);
    case 3: return bwd_of<BY_KEY, 3>(s, b, a, first, last);
    default: return bwd_of<BY_KEY, 4>(s, b, a, first, last);
    }
}

/* How the gradient of the bias is gone about: dS of `turn` sequences at a time, in chains. */
struct plan {
    size_t delta, sums, maps, index; /* floats, one after the other in scratch */
    int turn, chains;
};

static struct plan plan_of(const struct pw_attend &a)
{
    struct plan p = {};
    size_t heads = (size_t)a.heads, longest = (size_t)a.longest;
    p.delta = a.rows * heads;
    if (a.bias == NULL)
        return p;
    size_t turn = MAPS / (heads * longest * longest);
    p.turn = turn < 1 ? 1 : turn < (size_t)a.n ? (int)turn : a.n;
    p.chains = a.n < CHAINS ? a.n : CHAINS;
    p.sums = (size_t)p.chains * heads * (2 * (size_t)a.table - 1);
    p.maps = heads * longest * (p.turn == a.n ? a.rows : (size_t)p.turn * longest);
    p.index = pw_bias_index_ints(a);
    return p;
}

size_t pw_cuda_attention_partial(const struct pw_attn *a, const struct pw_seqs *seqs)
{
    struct plan p = plan_of(pw_attend_of(NULL, a, NULL, seqs));
    return p.delta + p.sums + p.maps + p.index;
}

cudaError_t pw_cuda_attention_bwd_fast(cudaStream_t s, float *dqkv, float *d_bias, const float *dz,
                                       const float *z, const float *qkv, const float *save,
                                       const struct pw_attn *a, const int *pos, const struct pw_seqs *seqs,
                                       float *partial)
{
    struct pw_attend all = pw_attend_of(qkv, a, pos, seqs);
    if (all.rows == 0)
        return cudaSuccess;
    struct plan plan = plan_of(all);
    struct pw_backward b = {dqkv, NULL, partial, dz, z, save, all.D % 4 == 0 && pw_fours(dqkv, dz, z, qkv)};
    float *sums = partial + plan.delta, *maps = sums + plan.sums;
    int *index = (int *)(maps + plan.maps);
    cudaError_t e = cudaSuccess;
    if (d_bias == NULL) {
        e = bwd<false>(s, b, all, 0, all.n);
        return e == cudaSuccess ? bwd<true>(s, b, all, 0, all.n) : e;
    }
    b.ds = maps;
    e = cudaMemsetAsync(sums, 0, plan.sums * sizeof *sums, s);
    if (e == cudaSuccess)
        e = pw_bias_index(s, index, all);
    for (int first = 0; first < all.n && e == cudaSuccess; first += plan.turn) {
        int last = first + plan.turn < all.n ? first + plan.turn : all.n;
        e = bwd<false>(s, b, all, first, last);
        if (e == cudaSuccess)
            e = pw_bias_sums(s, sums, maps, index, all, first, last, plan.chains);
    }
    if (e == cudaSuccess)
        e = pw_bias_add(s, d_bias, sums, all, plan.chains);
    return e == cudaSuccess ? bwd<true>(s, b, all, 0, all.n) : e;
}
