/* attention_ref_bwd.cu - the backward pass of attention in the order of kernels/backend.h.
 *
 * The first kernel runs by queries for dS and dq, the second by keys for dk and dv. dS is stored in between,
 * for the gradient of the bias too. A walk makes dq and dk (walk.cu). With relative keys its sums by query
 * and row are stored as well, with contextual positions the gradients of each query's products, and with a
 * function of scores that learns each query's part of the gradients of its numbers. */
#include "kernels/cuda/attention_ref.h"

static __device__ __forceinline__ const float *probs_of(const struct pw_attend &a, const struct pw_place &p,
                                                        const float *save, const size_t *at)
{
    return save + at[p.seq] * (size_t)a.heads + (size_t)p.h * (size_t)p.T * (size_t)p.T;
}

/* Writes sums [key_rows] of the dS of this place's query: lane r mod 32 writes row r's. */
static __device__ __forceinline__ void sum_by_row(float *sums, const float *ds, const struct pw_attend &a,
                                                  const struct pw_place &p, int keys)
{
    int lane = (int)(threadIdx.x % 32);
    for (int r = 0; r < a.key_rows; r++) {
        float sum = 0.0f;
        for (int first = 0; first < keys; first += 32) {
            int j = first + lane;
            bool in = j < keys && pw_dev_key_row(a, pw_dev_distance(a, p.r, (size_t)(p.base + j))) == r;
            float term = in ? ds[j] : 0.0f;
            sum += term;
            sum += __shfl_xor_sync(PW_ALL_LANES, term, 16);
        }
        sum = pw_dev_total(sum);
        if (lane == r % 32)
            sums[r] = sum;
    }
}

/* Returns the gradient of the slope of this place's query, in every lane. ds: its dS. */
static __device__ __forceinline__ float slope_of_query(const float *ds, const struct pw_attend &a,
                                                       const struct pw_place &p, int keys)
{
    int lane = (int)(threadIdx.x % 32);
    float sum = 0.0f;
    for (int first = 0; first < keys; first += 32) {
        int j = first + lane;
        float d = j < keys ? ds[j] : 0.0f;
        float apart = j < keys ? (float)pw_dev_distance(a, (size_t)(p.base + j), p.r) : 0.0f;
        sum = fmaf(d, apart, sum);
        float other = __shfl_xor_sync(PW_ALL_LANES, d, 16), at16 = __shfl_xor_sync(PW_ALL_LANES, apart, 16);
        sum = fmaf(other, at16, sum);
    }
    return pw_dev_total(sum);
}

/* Returns the gradient of the slope of this place's key, in every lane: a chain over queries from .. T-1. ds:
 * of the first query and this key. */
static __device__ __forceinline__ float slope_of_key(const float *ds, const struct pw_attend &a,
                                                     const struct pw_place &p, int from)
{
    int lane = (int)(threadIdx.x % 32);
    float sum = 0.0f;
    for (int first = from; first < p.T; first += 32) {
        bool in = first + lane < p.T;
        size_t i = (size_t)(first + lane);
        float d = in ? ds[i * (size_t)a.longest] : 0.0f;
        float apart = in ? (float)pw_dev_distance(a, p.r, (size_t)p.base + i) : 0.0f;
        for (int m = 0; m < 32 && first + m < p.T; m++)
            sum = fmaf(__shfl_sync(PW_ALL_LANES, d, m), __shfl_sync(PW_ALL_LANES, apart, m), sum);
    }
    return sum;
}

static size_t learned_floats(const struct pw_attend &a)
{
    return a.learned != NULL ? a.rows * (size_t)a.heads * (size_t)a.n_learned : 0;
}

/* Writes the sums [n_learned] of ds and the derivatives of the function of scores with respect to its learned
 * numbers, over the keys of this place's query. ds: dS without the derivative of the function; scores: those
 * that it reads. */
static __device__ __forceinline__ void sum_learned(float *sums, const float *ds, const float *scores,
                                                   const struct pw_attend &a, const struct pw_place &p,
                                                   int keys)
{
    int lane = (int)(threadIdx.x % 32), query = pw_dev_id(a, p.r);
    for (int k = 0; k < a.n_learned; k++) {
        float sum = 0.0f;
        for (int first = 0; first < keys; first += 32) {
            int j = first + lane;
            float d = j < keys ? ds[j] : 0.0f, by = 0.0f;
            if (j < keys)
                pw_score_along(a.score, pw_dev_pair(a, p.h, query, pw_dev_id(a, (size_t)(p.base + j))),
                               scores[j], k, &by);
            sum = fmaf(d, by, sum);
            float d16 = __shfl_xor_sync(PW_ALL_LANES, d, 16), by16 = __shfl_xor_sync(PW_ALL_LANES, by, 16);
            if (j + 16 < keys)
                sum = fmaf(d16, by16, sum);
        }
        sum = pw_dev_total(sum);
        if (lane == 0)
            sums[k] = sum;
    }
}

/* Writes dS of this place's query to ds. prob: its probabilities. learned [n_learned]: see sum_learned. */
static __device__ __forceinline__ void ds_of_query(float *ds, float *learned, const float *prob,
                                                   const float *dz, const struct pw_attend &a,
                                                   const struct pw_place &p, size_t next, int keys)
{
    int lane = (int)(threadIdx.x % 32);
    size_t C = (size_t)a.heads * (size_t)a.D, column = (size_t)p.h * (size_t)a.D;
    const float *g = dz + p.r * C + column, *v = a.qkv + (size_t)p.base * 3 * C + 2 * C + column;
    float sum = 0.0f;
    for (int first = 0; first < keys; first += 32) {
        int j = first + lane;
        float d = 0.0f, prob_j = 0.0f;
        if (j < keys) {
            d = pw_dev_dot(g, v + (size_t)j * 3 * C, a.D, a.fours);
            ds[j] = d = pw_dev_mask_entry(a.mask, (uint32_t)p.r, (uint32_t)j, (uint32_t)p.h, d);
            prob_j = prob[j];
            sum = fmaf(prob_j, d, sum);
        }
        float other = __shfl_xor_sync(PW_ALL_LANES, prob_j, 16), d16 = __shfl_xor_sync(PW_ALL_LANES, d, 16);
        if (j + 16 < keys)
            sum = fmaf(other, d16, sum);
    }
    sum = pw_dev_total(sum);
    if (a.scan.kind == PW_SCAN_STICK) {
        pw_dev_stick_back(ds, prob, prob + next, p.i);
        return;
    }
    for (int j = lane; j < keys; j += 32)
        ds[j] = prob[j] * (ds[j] - sum);
    if (a.learned != NULL)
        sum_learned(learned, ds, prob + 2 * next, a, p, keys);
    for (int j = lane; a.score != NULL && j < keys; j += 32)
        ds[j] *= prob[next + (size_t)j];
}

/* Stores y [E] = scale * (the chain over keys of ds and their rows of x). */
static __device__ __forceinline__ void sum_keys(float *y, const float *ds, const float *x,
                                                const struct pw_attend &a, int keys, float *shared)
{
    for (int c = 0; c < a.E; c += PW_CUDA_WIDEST)
        pw_dev_weighted(
            y + c, [&](int j) { return ds[j]; }, x + c, a.qk_row, 0, keys, min(a.E - c, PW_CUDA_WIDEST),
            a.scale, shared);
}

/* Stores dq with relative keys at y, and the sums of ds by their rows: by_row [key_rows]. */
static __device__ __forceinline__ void sum_relative(float *y, float *by_row, const float *ds, const float *k,
                                                    const struct pw_attend &a, const struct pw_place &p,
                                                    int keys, float *shared)
{
    float dq[PW_COLUMNS] = {};
    pw_dev_chain(
        dq, [&](int j) { return ds[j]; }, k, a.qk_row, 0, keys, a.D, shared);
    sum_by_row(by_row, ds, a, p, keys);
    pw_dev_chain(
        dq, [&](int r) { return by_row[r]; }, a.keys, (size_t)a.D, 0, a.key_rows, a.D, shared);
    pw_dev_store_sum(y, dq, a.D, a.scale);
}

/* Stores dq with contextual positions at y, and the gradients of the query's products: u [n]. First turns ds
 * into dS of the scores without them. places: those of the keys; the gates lie `next` floats before. */
static __device__ __forceinline__ void sum_context(float *y, float *u, float *ds, const float *k,
                                                   const float *places, size_t next,
                                                   const struct pw_attend &a, const struct pw_place &p,
                                                   int keys, float *shared)
{
    float dq[PW_COLUMNS] = {};
    pw_dev_context_columns(u, ds, places, a.scan.n, keys);
    pw_dev_context_back(ds, places - next, places, pw_dev_products(a, p), a.scan.n, keys);
    pw_dev_chain(
        dq, [&](int j) { return ds[j]; }, k, a.qk_row, 0, keys, a.D, shared);
#pragma unroll
    for (int c = 0; c < PW_COLUMNS; c++)
        dq[c] *= a.scale;
    pw_dev_chain(
        dq, [&](int c) { return u[c]; }, a.scan.rows, 1, 0, a.scan.n, a.D, shared, (size_t)a.scan.n);
    pw_dev_store_sum(y, dq, a.D, 1.0f);
}

/* Writes dq of this place's query from its finished dS, and the sums of ds that the encoding needs. by_row:
 * [R,H,key_rows] with relative keys, and [R,H,n] with contextual positions. dqk: the gradients of q and k,
 * laid out as a.qk. places: those of the keys in contextual positions. */
static __device__ __forceinline__ void sum_query(float *dqk, float *d_slopes, float *ds, float *by_row,
                                                 const float *places, size_t next, const struct pw_attend &a,
                                                 const struct pw_place &p, int keys, float *shared)
{
    size_t w = a.qk_row, E = (size_t)a.E, item = p.r * (size_t)a.heads + (size_t)p.h;
    const float *k = a.qk + (size_t)p.base * w + (size_t)(a.heads + p.h) * E;
    float *dq = dqk + p.r * w + (size_t)p.h * E;
    if (a.keys != NULL)
        sum_relative(dq, by_row + item * (size_t)a.key_rows, ds, k, a, p, keys, shared);
    else if (a.scan.kind == PW_SCAN_CONTEXT)
        sum_context(dq, by_row + item * (size_t)a.scan.n, ds, k, places, next, a, p, keys, shared);
    else if (a.walk.vectors == NULL)
        sum_keys(dq, ds, k, a, keys, shared);
    if (d_slopes == NULL)
        return;
    float slope = slope_of_query(ds, a, p, keys);
    if (threadIdx.x % 32 == 0)
        d_slopes[p.r * 2 * (size_t)a.heads + (size_t)p.h] = slope;
}

/* learned [R,H,n_learned]: the parts of queries of the gradients of learned numbers. */
static __global__ void bwd_queries(float *dqk, float *d_slopes, float *ds, float *by_row, float *learned,
                                   const float *dz, const float *save, struct pw_attend a, const size_t *at)
{
    PW_SHARED(float, weights, [PW_WARPS][32]);
    struct pw_place p;
    if (!pw_dev_place(a, &p))
        return;
    int keys = a.causal ? p.i + 1 : p.T;
    size_t next = pw_dev_next_map(a, at);
    const float *prob = probs_of(a, p, save, at) + (size_t)p.i * (size_t)p.T;
    ds += pw_dev_ds_row(a, p, p.i);
    learned += (p.r * (size_t)a.heads + (size_t)p.h) * (size_t)a.n_learned;
    ds_of_query(ds, learned, prob, dz, a, p, next, keys);
    if (a.scan.kind != PW_SCAN_SELECT)
        sum_query(dqk, d_slopes, ds, by_row, prob + 2 * next, next, a, p, keys, weights[threadIdx.x / 32]);
}

/* The second part of bwd_queries with selection, whose votes change dS of head 0 in between. */
static __global__ void bwd_selected(float *dqk, float *d_slopes, float *ds, struct pw_attend a)
{
    PW_SHARED(float, weights, [PW_WARPS][32]);
    struct pw_place p;
    if (pw_dev_place(a, &p))
        sum_query(dqk, d_slopes, ds + pw_dev_ds_row(a, p, p.i), NULL, NULL, 0, a, p, p.i + 1,
                  weights[threadIdx.x / 32]);
}

/* d_keys [key_rows,D]: one thread per entry, with one chain. */
static __global__ void bwd_relative(float *d_keys, const float *by_row, struct pw_attend a)
{
    size_t at = pw_dev_thread(), rows = (size_t)a.key_rows, D = (size_t)a.D, heads = (size_t)a.heads;
    if (at >= rows * D)
        return;
    float sum = d_keys[at];
    for (int s = 0; s < a.n; s++)
        for (size_t h = 0; h < heads; h++)
            for (size_t i = (size_t)a.start[s]; i < (size_t)a.start[s + 1]; i++)
                sum = fmaf(by_row[(i * heads + h) * rows + at / D] * a.scale,
                           a.qkv[i * 3 * heads * D + h * D + at % D], sum);
    d_keys[at] = sum;
}

/* d_learned [H,n_learned]: one thread per entry, which adds the parts of all queries. */
static __global__ void bwd_learned(float *d_learned, const float *parts, struct pw_attend a)
{
    size_t at = pw_dev_thread(), n = (size_t)a.heads * (size_t)a.n_learned;
    if (at >= n)
        return;
    float sum = d_learned[at];
    for (size_t i = (size_t)a.start[0]; i < (size_t)a.start[a.n]; i++)
        sum += parts[i * n + at];
    d_learned[at] = sum;
}

/* Returns minus the sum of ds[i * stride], i = from .. to-1, added in this order from +0, in every lane. */
static __device__ __forceinline__ float minus_sum(const float *ds, size_t stride, int from, int to)
{
    int lane = (int)(threadIdx.x % 32);
    float sum = 0.0f;
    for (int first = from; first < to; first += 32) {
        float own = first + lane < to ? ds[(size_t)(first + lane) * stride] : 0.0f;
        for (int m = 0; m < 32 && first + m < to; m++)
            sum += __shfl_sync(PW_ALL_LANES, own, m);
    }
    return 0.0f - sum;
}

/* d_terms [R,H] and d_slopes [R,2H], or NULL. */
static __global__ void bwd_keys(float *dqkv, float *dqk, float *d_terms, float *d_slopes, const float *ds,
                                const float *dz, const float *save, struct pw_attend a, const size_t *at)
{
    PW_SHARED(float, weights, [PW_WARPS][32]);
    struct pw_place p;
    if (!pw_dev_place(a, &p))
        return;
    int j = p.i, from = a.causal ? j : 0; /* the first query that sees this key */
    size_t C = (size_t)a.heads * (size_t)a.D, column = (size_t)p.h * (size_t)a.D, w = a.qk_row,
           E = (size_t)a.E;
    const float *prob = probs_of(a, p, save, at), *q = a.qk + (size_t)p.base * w + (size_t)p.h * E;
    const float *g = dz + (size_t)p.base * C + column;
    float *dk = dqk + p.r * w + (size_t)(a.heads + p.h) * E, *dv = dqkv + p.r * 3 * C + 2 * C + column,
          *shared = weights[threadIdx.x / 32];
    auto weight = [&](int i) {
        return pw_dev_mask_entry(a.mask, (uint32_t)(p.base + i), (uint32_t)j, (uint32_t)p.h,
                                 prob[(size_t)i * (size_t)p.T + (size_t)j]);
    };
    ds += pw_dev_ds_row(a, p, 0) + (size_t)j;
    for (int c = 0; c < a.E && a.walk.vectors == NULL; c += PW_CUDA_WIDEST)
        pw_dev_weighted(
            dk + c, [&](int i) { return ds[(size_t)i * (size_t)a.longest]; }, q + c, w, from, p.T,
            min(a.E - c, PW_CUDA_WIDEST), a.scale, shared);
    pw_dev_weighted(dv, weight, g, C, from, p.T, a.D, 1.0f, shared);
    if (d_slopes != NULL) {
        float slope = slope_of_key(ds, a, p, from);
        if (threadIdx.x % 32 == 0)
            d_slopes[(p.r * 2 + 1) * (size_t)a.heads + (size_t)p.h] = slope;
    }
    if (d_terms == NULL)
        return;
    float sum = minus_sum(ds, (size_t)a.longest, from, p.T);
    if (threadIdx.x % 32 == 0)
        d_terms[p.r * (size_t)a.heads + (size_t)p.h] = sum;
}

size_t pw_cuda_attention_ds(const struct pw_attn *a, const struct pw_seqs *seqs)
{
    struct pw_attend all = pw_attend_of(NULL, a, NULL, seqs);
    size_t maps = all.rows * (size_t)all.heads * (size_t)all.longest;
    return maps + pw_relative_floats(all) + pw_context_floats(all) + pw_mix_floats(all) +
           pw_walk_floats(all) + learned_floats(all) + (a->bias != NULL ? pw_bias_index_ints(all) : 0);
}

cudaError_t pw_cuda_attention_bwd_ref(cudaStream_t s, float *dqkv, float *d_bias, float *d_keys,
                                      float *d_terms, const float *dz, const float *qkv, const float *save,
                                      const struct pw_attn *a, const int *pos, const struct pw_seqs *seqs,
                                      size_t *at, float *ds)
{
    struct pw_attend all = pw_attend_of(qkv, a, pos, seqs);
    if (all.rows == 0)
        return cudaSuccess;
    all.fours = all.fours && pw_fours(dz);
    dim3 blocks(pw_blocks(all.rows * (size_t)a->heads, PW_WARPS));
    float *by_row = ds + all.rows * (size_t)all.heads * (size_t)all.longest;
    float *mixed = by_row + pw_relative_floats(all) + pw_context_floats(all);
    float *walked = mixed + pw_mix_floats(all);
    float *learned = walked + pw_walk_floats(all);
    int *index = (int *)(learned + learned_floats(all));
    float *d_slopes = a->made != NULL ? a->made->d_slopes : NULL;
    float *dqk = all.qk != qkv ? a->made->d_wide : dqkv;
    cudaError_t e = pw_attention_maps(s, at, &all);
    if (e == cudaSuccess)
        e = PW_LAUNCH(bwd_queries, blocks, dim3(PW_THREADS), 0, s, dqk, d_slopes, ds, by_row, learned, dz,
                      save, all, at);
    if (e == cudaSuccess && a->d_learned != NULL)
        e = PW_LAUNCH(bwd_learned, dim3(pw_blocks((size_t)(a->heads * a->n_learned), PW_THREADS)),
                      dim3(PW_THREADS), 0, s, a->d_learned, learned, all);
    if (e == cudaSuccess && all.scan.kind == PW_SCAN_SELECT)
        e = pw_select_back(s, ds, save, all, at);
    if (e == cudaSuccess && all.scan.kind == PW_SCAN_SELECT)
        e = PW_LAUNCH(bwd_selected, blocks, dim3(PW_THREADS), 0, s, dqk, d_slopes, ds, all);
    if (e == cudaSuccess)
        e = PW_LAUNCH(bwd_keys, blocks, dim3(PW_THREADS), 0, s, dqkv, dqk, d_terms, d_slopes, ds, dz, save,
                      all, at);
    if (e == cudaSuccess && a->mix != NULL)
        e = pw_mix_bwd(s, mixed, ds, all);
    if (e == cudaSuccess && a->walk != NULL)
        e = pw_walk_bwd(s, dqk, ds, walked, all);
    if (e == cudaSuccess && all.scan.kind == PW_SCAN_CONTEXT && d_keys != NULL)
        return pw_context_table(s, d_keys, by_row, all);
    if (e == cudaSuccess && d_keys != NULL)
        e = PW_LAUNCH(bwd_relative, dim3(pw_blocks((size_t)all.key_rows * (size_t)a->head_width, PW_THREADS)),
                      dim3(PW_THREADS), 0, s, d_keys, by_row, all);
    if (e != cudaSuccess || d_bias == NULL)
        return e;
    e = pw_bias_index(s, index, all);
    return e == cudaSuccess ? pw_bias_sums(s, d_bias, ds, index, all, 0, all.n, 1, true) : e;
}
