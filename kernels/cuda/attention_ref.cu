/* attention_ref.cu - scores and the forward pass of attention in the order of kernels/backend.h. */
#include "kernels/cuda/attention_ref.h"

/* Computes at [n+1] with one warp, 32 lengths at a time. */
static __global__ void place_maps(size_t *at, const int *start, int n)
{
    int lane = (int)threadIdx.x;
    size_t before = 0;
    for (int first = 0; first < n; first += 32) {
        int s = first + lane;
        size_t T = s < n ? (size_t)(start[s + 1] - start[s]) : 0, sum = T * T;
        for (int by = 1; by < 32; by *= 2) {
            size_t other = __shfl_up_sync(PW_ALL_LANES, sum, (unsigned)by);
            sum += lane >= by ? other : 0;
        }
        if (s < n)
            at[s + 1] = before + sum;
        before += __shfl_sync(PW_ALL_LANES, sum, 31);
    }
    if (lane == 0)
        at[0] = 0;
}

cudaError_t pw_attention_maps(cudaStream_t s, size_t *at, struct pw_attend *a)
{
    cudaError_t e = PW_LAUNCH(place_maps, dim3(1), dim3(32), 0, s, at, a->start, a->n);
    if (e != cudaSuccess || a->scan.kind != PW_SCAN_CONTEXT)
        return e;
    float *products = (float *)(at + a->n + 1);
    a->products = products;
    return pw_context_products(s, products, a->qk, *a, a->rows);
}

size_t pw_cuda_attention_at(const struct pw_attn *a, const struct pw_seqs *seqs)
{
    struct pw_attend all = pw_attend_of(NULL, a, NULL, seqs);
    return ((size_t)seqs->n + 1) * sizeof(size_t) +
           (pw_context_floats(all) + pw_select_floats(all)) * sizeof(float);
}

/* The start of this place's row in maps [H,T,T]. */
static __device__ __forceinline__ size_t row_of(const struct pw_attend &a, const struct pw_place &p,
                                                const size_t *at)
{
    return at[p.seq] * (size_t)a.heads + ((size_t)p.h * (size_t)p.T + (size_t)p.i) * (size_t)p.T;
}

/* Writes the scores of this place's query for its keys to out, which holds the products of a walk. second
 * receives the derivatives of the function of scores and, if it learns, the scores that it reads; or the
 * gates and places of contextual positions. They are `next` floats apart; NULL: not wanted. */
static __device__ __forceinline__ void score_row(float *out, float *second, size_t next,
                                                 const struct pw_attend &a, const struct pw_place &p,
                                                 int keys)
{
    size_t w = a.qk_row, E = (size_t)a.E;
    const float *q = a.qk + p.r * w + (size_t)p.h * E;
    const float *k = a.qk + (size_t)p.base * w + (size_t)(a.heads + p.h) * E;
    int query = pw_dev_id(a, p.r);
    const float *bias = pw_dev_bias(a, p.h, query);
    for (int j = (int)(threadIdx.x % 32); j < keys; j += 32) {
        int key = pw_dev_id(a, (size_t)(p.base + j));
        float match = a.walk.vectors != NULL ? out[j] : pw_dev_match(a, q, k + (size_t)j * w, query - key);
        float by, v = pw_dev_score(a, match, bias, key);
        v = pw_dev_add_terms(a, p.h, p.r, (size_t)(p.base + j), v);
        v = pw_dev_add_mix(a, p.h, p.r, p.r, (size_t)(p.base + j), v);
        v = pw_dev_add_slopes(a, p.h, p.r, (size_t)(p.base + j), v);
        if (second != NULL && a.learned != NULL)
            second[next + (size_t)j] = v;
        v = pw_dev_finish(a, p.h, query, key, v, &by);
        out[j] = a.lost != NULL && j < p.i ? v - a.lost[p.r * (size_t)a.longest + (size_t)j] : v;
        if (second != NULL && a.score != NULL)
            second[j] = by;
    }
    if (a.scan.kind == PW_SCAN_CONTEXT)
        pw_dev_context(out, second, second != NULL ? second + next : NULL, pw_dev_products(a, p), a.scan.n,
                       keys);
}

static __device__ __forceinline__ void fill_row(float *out, float v, int from, int to)
{
    for (int j = from + (int)(threadIdx.x % 32); j < to; j += 32)
        out[j] = v;
}

static __global__ void score_rows(float *out, struct pw_attend a, const size_t *at)
{
    struct pw_place p;
    if (!pw_dev_place(a, &p))
        return;
    int keys = a.causal ? p.i + 1 : p.T;
    out += row_of(a, p, at);
    score_row(out, NULL, 0, a, p, keys);
    fill_row(out, -INFINITY, keys, p.T);
}

static __global__ void attend_rows(float *z, float *save, float *probs, struct pw_attend a, const size_t *at)
{
    PW_SHARED(float, weights, [PW_WARPS][32]);
    struct pw_place p;
    if (!pw_dev_place(a, &p))
        return;
    int keys = a.causal ? p.i + 1 : p.T;
    size_t C = (size_t)a.heads * (size_t)a.D, column = (size_t)p.h * (size_t)a.D, row = row_of(a, p, at);
    size_t next = pw_dev_next_map(a, at);
    bool two = a.score != NULL || a.scan.kind == PW_SCAN_STICK || a.scan.kind == PW_SCAN_CONTEXT;
    float *prob = save + row, *second = two ? prob + next : NULL;
    score_row(prob, second, next, a, p, keys);
    if (a.scan.kind == PW_SCAN_STICK)
        pw_dev_stick(prob, second, p.i);
    else
        pw_dev_softmax(prob, keys);
    if (probs != NULL) {
        for (int j = (int)(threadIdx.x % 32); j < keys; j += 32)
            probs[row + (size_t)j] = prob[j];
        fill_row(probs + row, 0.0f, keys, p.T);
    }
    auto weight = [&](int j) {
        return pw_dev_mask_entry(a.mask, (uint32_t)p.r, (uint32_t)j, (uint32_t)p.h, prob[j]);
    };
    pw_dev_weighted(z + p.r * C + column, weight, a.qkv + (size_t)p.base * 3 * C + 2 * C + column, 3 * C, 0,
                    keys, a.D, 1.0f, weights[threadIdx.x / 32]);
}

/* Fills `at` and what follows it, the maps out with the products of a walk, and save (NULL: not wanted) with
 * votes. */
static cudaError_t begin_maps(cudaStream_t s, size_t *at, float *out, float *save, struct pw_attend *a)
{
    cudaError_t e = pw_attention_maps(s, at, a);
    if (e == cudaSuccess && a->walk.vectors != NULL)
        e = pw_walk_maps(s, out, at, *a);
    if (e != cudaSuccess || a->scan.kind != PW_SCAN_SELECT)
        return e;
    float *sums = (float *)(at + a->n + 1);
    a->lost = sums;
    return pw_select_sums(s, sums, save, *a, at);
}

cudaError_t pw_cuda_scores(cudaStream_t s, float *out, const float *qkv, const struct pw_attn *a,
                           const int *pos, const struct pw_seqs *seqs, size_t *at)
{
    struct pw_attend all = pw_attend_of(qkv, a, pos, seqs);
    if (all.rows == 0)
        return cudaSuccess;
    cudaError_t e = begin_maps(s, at, out, NULL, &all);
    if (e != cudaSuccess)
        return e;
    return PW_LAUNCH(score_rows, dim3(pw_blocks(all.rows * (size_t)a->heads, PW_WARPS)), dim3(PW_THREADS), 0,
                     s, out, all, at);
}

cudaError_t pw_cuda_attention_fwd_ref(cudaStream_t s, float *z, float *save, float *probs, const float *qkv,
                                      const struct pw_attn *a, const int *pos, const struct pw_seqs *seqs,
                                      size_t *at)
{
    struct pw_attend all = pw_attend_of(qkv, a, pos, seqs);
    if (all.rows == 0)
        return cudaSuccess;
    cudaError_t e = begin_maps(s, at, save, save, &all);
    if (e != cudaSuccess)
        return e;
    return PW_LAUNCH(attend_rows, dim3(pw_blocks(all.rows * (size_t)a->heads, PW_WARPS)), dim3(PW_THREADS), 0,
                     s, z, save, probs, all, at);
}
