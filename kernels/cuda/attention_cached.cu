/* attention_cached.cu - attention for rows that continue a sequence with cached keys and values.
 *
 * A block handles one row of one head. Its warps share the keys of the scores and the columns of the output,
 * and the first warp computes the softmax. Scores are kept in scratch, so any length is possible; a prompt of
 * many rows is processed in parts that bound the scratch. Both modes use this kernel: a decoding step is
 * limited by memory bandwidth, whatever the order of additions. */
#include "kernels/cuda/attention_ref.h"

enum {
    THREADS = 128,
    TURN = 1024, /* rows times heads at a time */
};

/* Floats of a row of the cache: the keys of all heads, and then their values. */
__host__ __device__ __forceinline__ size_t row_of(const struct pw_attend &a)
{
    return (size_t)a.heads * (size_t)(a.E + a.D);
}

/* Writes `rows` rows of the cache. */
static __global__ void append_rows(float *cache, struct pw_attend a, size_t rows)
{
    size_t w = row_of(a), keys = (size_t)a.heads * (size_t)a.E, C = (size_t)a.heads * (size_t)a.D;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < rows * w;
         i += (size_t)gridDim.x * blockDim.x) {
        size_t r = i / w, column = i % w;
        cache[i] =
            column < keys ? a.qk[r * a.qk_row + keys + column] : a.qkv[r * 3 * C + 2 * C + column - keys];
    }
}

/* q: the first row, at position i0 of the sequence; prob: `total` floats for each row and head, which hold
 * the products of a walk. */
static __global__ void attend_cached(float *z, float *prob, const float *cache, const float *q,
                                     struct pw_attend a, int i0, int total)
{
    int h = (int)(blockIdx.x % (unsigned)a.heads), r = (int)(blockIdx.x / (unsigned)a.heads), i = i0 + r;
    int keys = a.causal ? i + 1 : total;
    size_t D = (size_t)a.D, E = (size_t)a.E, w = row_of(a), column = (size_t)h * D;
    const float *k = cache + (size_t)h * E, *v = cache + (size_t)a.heads * E + column;
    q += (size_t)r * a.qk_row + (size_t)h * E;
    prob += (size_t)blockIdx.x * (size_t)total;
    int query = pw_dev_id(a, (size_t)i);
    const float *bias = pw_dev_bias(a, h, query);
    for (int j = (int)threadIdx.x; j < keys; j += (int)blockDim.x) {
        int key = pw_dev_id(a, (size_t)j);
        float match = a.walk.vectors != NULL ? prob[j] : pw_dev_match(a, q, k + (size_t)j * w, query - key);
        float slope, score = pw_dev_score(a, match, bias, key);
        score = pw_dev_add_terms(a, h, (size_t)i, (size_t)j, score);
        score = pw_dev_add_mix(a, h, (size_t)r, (size_t)i, (size_t)j, score);
        score = pw_dev_add_slopes(a, h, (size_t)i, (size_t)j, score);
        score = pw_dev_finish(a, h, query, key, score, &slope);
        bool voted = a.scan.kind == PW_SCAN_SELECT && j < i;
        prob[j] = voted ? score - a.scan.lost[pw_lost_at(i - 1) + (size_t)j] : score;
    }
    __syncthreads();
    if (threadIdx.x < 32 && a.scan.kind == PW_SCAN_CONTEXT)
        pw_dev_context(prob, NULL, NULL, a.products + (size_t)blockIdx.x * (size_t)a.scan.n, a.scan.n, keys);
    if (threadIdx.x < 32 && a.scan.kind == PW_SCAN_STICK)
        pw_dev_stick(prob, NULL, i);
    else if (threadIdx.x < 32)
        pw_dev_softmax(prob, keys);
    __syncthreads();
    for (size_t d = threadIdx.x; d < D; d += blockDim.x) {
        float sum = 0.0f;
#pragma unroll 8
        for (int j = 0; j < keys; j++)
            sum = fmaf(prob[j], v[(size_t)j * w + d], sum);
        z[(size_t)r * (size_t)a.heads * D + column + d] = sum;
    }
}

/* Rows and heads that a launch handles at most. */
static size_t items_of(const struct pw_attn *a, int R)
{
    size_t items = (size_t)R * (size_t)a->heads, most = (size_t)(TURN > a->heads ? TURN : a->heads);
    return items < most ? items : most;
}

size_t pw_cuda_attention_cached_scratch(const struct pw_attn *a, int T, int R)
{
    size_t products = a->scan.kind == PW_SCAN_CONTEXT ? (size_t)a->scan.n : 0;
    return items_of(a, R) * ((size_t)(T + R) + products);
}

cudaError_t pw_cuda_attention_cached(cudaStream_t s, float *z, float *cache, const float *qkv,
                                     const struct pw_attn *a, const int *pos, int cap, int T, int R,
                                     float *scratch)
{
    struct pw_seqs none = {};
    struct pw_attend all = pw_attend_of(qkv, a, pos, &none);
    size_t w = row_of(all);
    unsigned blocks = pw_blocks((size_t)R * w, PW_THREADS);
    int turn = TURN > a->heads ? TURN / a->heads : 1;
    (void)cap;
    all.qk_fours = all.qk_fours && w % 4 == 0 && pw_fours(cache);
    if (R == 0)
        return cudaSuccess;
    cudaError_t e = PW_LAUNCH(append_rows, dim3(blocks < 1024 ? blocks : 1024), dim3(PW_THREADS), 0, s,
                              cache + (size_t)T * w, all, (size_t)R);
    if (e == cudaSuccess && a->scan.kind == PW_SCAN_SELECT)
        e = pw_select_keep(s, a->scan.lost, cache, w, all, T, R);
    float *products = scratch + items_of(a, R) * (size_t)(T + R);
    all.products = products;
    for (int r = 0; r < R && e == cudaSuccess; r += turn) {
        int rows = R - r < turn ? R - r : turn;
        const float *q = all.qk + (size_t)r * all.qk_row;
        if (a->scan.kind == PW_SCAN_CONTEXT)
            e = pw_context_products(s, products, q, all, (size_t)rows);
        if (a->walk != NULL)
            e = pw_walk_cached(s, scratch, cache, w, q, all, T + r, rows, T + R);
        if (e == cudaSuccess)
            e = PW_LAUNCH(attend_cached, dim3((unsigned)(rows * a->heads)), dim3(THREADS), 0, s,
                          z + (size_t)(r * a->heads * a->head_width), scratch, cache, q, all, T + r, T + R);
        if (a->mix != NULL)
            all.mix.weights += (size_t)rows * (size_t)(a->heads * a->mix->mixes);
    }
    return e;
}
