/* attention_ref.h - device functions for attention in the order of additions that kernels/backend.h defines.
 *
 * One warp computes one query of one head, or one key. Lane j mod 32 computes the score and the probability
 * of key j. Lanes therefore exchange values only in sums, and where every lane needs every probability. */
#ifndef PW_CUDA_ATTENTION_REF_H
#define PW_CUDA_ATTENTION_REF_H
#include "kernels/cuda/attention.h"
#include "kernels/cuda/maths.h"
#include "kernels/cuda/scan.h"
#include "kernels/score.h"

enum { PW_COLUMNS = PW_CUDA_WIDEST / 32 }; /* columns of a head per lane */

/* Returns a.b as a chain over D. fours: both can be read as aligned float4. */
__device__ __forceinline__ float pw_dev_dot(const float *a, const float *b, int D, bool fours)
{
    float v = 0.0f;
    for (int d = 0; d < D; d += 4) {
        float4 x = pw_dev_load_4(a + d, D - d, fours), y = pw_dev_load_4(b + d, D - d, fours);
        v = fmaf(x.x, y.x, v);
        v = d + 1 < D ? fmaf(x.y, y.y, v) : v;
        v = d + 2 < D ? fmaf(x.z, y.z, v) : v;
        v = d + 3 < D ? fmaf(x.w, y.w, v) : v;
    }
    return v;
}

/* Returns q.k, a chain over D; with relative keys, q.k + q.a, two chains. The caller multiplies it by scale.
 */
__device__ __forceinline__ float pw_dev_match(const struct pw_attend &a, const float *q, const float *k,
                                              int distance)
{
    float v = pw_dev_dot(q, k, a.E, a.qk_fours);
    if (a.keys != NULL)
        v = v + pw_dev_dot(q, a.keys + (size_t)pw_dev_key_row(a, distance) * (size_t)a.D, a.D,
                           a.qk_fours && a.keys_fours);
    return v;
}

/* Adds the difference of the terms of two rows, if there are terms, to a score. */
__device__ __forceinline__ float pw_dev_add_terms(const struct pw_attend &a, int h, size_t query, size_t key,
                                                  float v)
{
    size_t H = (size_t)a.heads;
    return a.terms != NULL ? v + (a.terms[query * H + (size_t)h] - a.terms[key * H + (size_t)h]) : v;
}

/* The gain of a query's weights of a mix; 1, which changes no bit, without gains. */
__device__ __forceinline__ float pw_dev_mix_gain(const struct pw_attend &a, int h, size_t query)
{
    return a.gain != NULL ? a.gain[(size_t)h * (size_t)a.gain_head + (size_t)a.pos[query]] : 1.0f;
}

/* Adds the bias that a query mixes, if there is a mix, to a score. row: of the query among the weights. */
__device__ __forceinline__ float pw_dev_add_mix(const struct pw_attend &a, int h, size_t row, size_t query,
                                                size_t key, float v)
{
    if (a.mix.weights == NULL)
        return v;
    int distance = pw_dev_distance(a, query, key), M = a.mix.mixes;
    const float *weights = a.mix.weights + (row * (size_t)a.heads + (size_t)h) * (size_t)M;
    float gain = pw_dev_mix_gain(a, h, query), sum = 0.0f;
    for (int m = 0; m < M && distance >= 0 && distance < a.mix.reach; m++)
        sum = fmaf(weights[m] * gain, a.mix.bank[m * a.mix.reach + distance], sum);
    return v + sum;
}

/* Adds the difference of the position ids of a key and a query times both slopes, if there are slopes. */
__device__ __forceinline__ float pw_dev_add_slopes(const struct pw_attend &a, int h, size_t query, size_t key,
                                                   float v)
{
    size_t H = (size_t)a.heads;
    if (a.slopes == NULL)
        return v;
    float both = a.slopes[query * 2 * H + (size_t)h] + a.slopes[key * 2 * H + H + (size_t)h];
    return v + (float)pw_dev_distance(a, key, query) * both;
}

/* A pair of position ids, as a function of scores reads it. */
__device__ __forceinline__ struct pw_score_pair pw_dev_pair(const struct pw_attend &a, int h, int query,
                                                            int key)
{
    return {query, key, h, a.learned != NULL ? a.learned + (size_t)h * (size_t)a.n_learned : NULL};
}

/* The function of scores, if there is one, of head h at a finished score; *slope receives its derivative. */
__device__ __forceinline__ float pw_dev_finish(const struct pw_attend &a, int h, int query, int key, float v,
                                               float *slope)
{
    *slope = 1.0f;
    return a.score != NULL ? pw_score_value(a.score, pw_dev_pair(a, h, query, key), v, slope) : v;
}

/* Ends a sum by lanes. Each lane holds its running sum; lanes 0..15 hold the sixteen sums of the contract,
 * and the values of the upper half are ignored. Returns the total in every lane. */
__device__ __forceinline__ float pw_dev_total(float sum)
{
    return __shfl_sync(PW_ALL_LANES, pw_dev_tree(sum), 0);
}

/* Replaces the scores p [keys] of one query by probabilities. One warp; lane j mod 32 owns key j. */
__device__ __forceinline__ void pw_dev_softmax(float *p, int keys)
{
    int lane = (int)(threadIdx.x % 32);
    float most = -INFINITY, sum = 0.0f;
    for (int j = lane; j < keys; j += 32)
        most = p[j] > most ? p[j] : most;
    for (int by = 16; by > 0; by /= 2) {
        float other = __shfl_xor_sync(PW_ALL_LANES, most, by);
        most = other > most ? other : most;
    }
    for (int first = 0; first < keys; first += 32) {
        int j = first + lane;
        float e = 0.0f; /* the term of a masked key */
        if (j < keys)
            p[j] = e = pw_dev_exp(p[j] - most);
        sum += e;
        sum += __shfl_xor_sync(PW_ALL_LANES, e, 16);
    }
    sum = pw_dev_total(sum);
    for (int j = lane; j < keys; j += 32)
        p[j] /= sum;
}

/* Continues chains: for every column d, sum += weight(m) * x[m][d] for m = from .. to-1, ascending. One warp;
 * lane l owns columns l, l+32, ... of `sum`. Rows of x [.,D] are ld floats apart, and columns `step` floats.
 * Lane l evaluates every 32nd weight, from m = from + l on, and shares it through shared [32]. */
template <class weight_of>
__device__ __forceinline__ void pw_dev_chain(float sum[PW_COLUMNS], weight_of weight, const float *x,
                                             size_t ld, int from, int to, int D, float *shared,
                                             size_t step = 1)
{
    int lane = (int)(threadIdx.x % 32);
    for (int first = from; first < to; first += 32) {
        __syncwarp(); /* until every lane has read the previous weights */
        if (first + lane < to)
            shared[lane] = weight(first + lane);
        __syncwarp();
        for (int m = first; m < to && m < first + 32; m++)
#pragma unroll
            for (int c = 0; c < PW_COLUMNS; c++)
                if (lane + 32 * c < D)
                    sum[c] =
                        fmaf(shared[m - first], x[(size_t)m * ld + (size_t)(lane + 32 * c) * step], sum[c]);
    }
}

/* Stores y [D] = sum * scale; sum as in pw_dev_chain. */
__device__ __forceinline__ void pw_dev_store_sum(float *y, const float sum[PW_COLUMNS], int D, float scale)
{
    int lane = (int)(threadIdx.x % 32);
#pragma unroll
    for (int c = 0; c < PW_COLUMNS; c++)
        if (lane + 32 * c < D)
            y[lane + 32 * c] = sum[c] * scale;
}

/* Sets y [D] = scale * (chain of weight(m) * x[m], from 0). */
template <class weight_of>
__device__ __forceinline__ void pw_dev_weighted(float *y, weight_of weight, const float *x, size_t ld,
                                                int from, int to, int D, float scale, float *shared)
{
    float sum[PW_COLUMNS] = {};
    pw_dev_chain(sum, weight, x, ld, from, to, D, shared);
    pw_dev_store_sum(y, sum, D, scale);
}

/* The head h and the query (or key) of this warp, which is row i of sequence seq and row r of the batch. The
 * sequence has T rows, from row `base` on. pw_dev_place returns false if there is no item for this warp. */
struct pw_place {
    int h, i, base, T, seq;
    size_t r; /* base + i */
};
__device__ __forceinline__ bool pw_dev_place(const struct pw_attend &a, struct pw_place *p)
{
    size_t item = pw_dev_warp();
    p->r = item / (size_t)a.heads;
    if (p->r >= a.rows)
        return false;
    p->h = (int)(item % (size_t)a.heads);
    p->seq = pw_dev_sequence(a, p->r);
    p->base = a.start[p->seq];
    p->T = a.start[p->seq + 1] - p->base;
    p->i = (int)p->r - p->base;
    return true;
}

/* The start of row i of this place's sequence and head in ds: see pw_bias_sums. */
__device__ __forceinline__ size_t pw_dev_ds_row(const struct pw_attend &a, const struct pw_place &p, int i)
{
    return ((size_t)p.base * (size_t)a.heads + (size_t)p.h * (size_t)p.T + (size_t)i) * (size_t)a.longest;
}

/* The floats from a probability in `save` to the same place of the next map: the derivatives of a function of
 * scores, the shares of a scan, or the gates and then the places of contextual positions. */
__device__ __forceinline__ size_t pw_dev_next_map(const struct pw_attend &a, const size_t *at)
{
    return at[a.n] * (size_t)a.heads;
}

/* The products of this place's query with the columns of contextual positions. */
__device__ __forceinline__ const float *pw_dev_products(const struct pw_attend &a, const struct pw_place &p)
{
    return a.products + (p.r * (size_t)a.heads + (size_t)p.h) * (size_t)a.scan.n;
}

/* Sets at [n+1]: at[s] * H is the offset of the maps of sequence s in maps [H,T,T] of all sequences, one
 * sequence after the other. at[s] is the sum of the squared lengths of the sequences before s. With
 * contextual positions the products follow at, and a->products becomes their place. */
cudaError_t pw_attention_maps(cudaStream_t s, size_t *at, struct pw_attend *a);

/* ---- select.cu: selection. Sets sums [R,longest], pw_select_floats, to those of the votes of the rows
 * before, and the votes in `save`, which may be NULL. */
size_t pw_select_floats(const struct pw_attend &a); /* 0 without selection */
cudaError_t pw_select_sums(cudaStream_t s, float *sums, float *save, const struct pw_attend &a,
                           const size_t *at);
/* Adds to ds of head 0 the gradient that its votes in `save` have. */
cudaError_t pw_select_back(cudaStream_t s, float *ds, const float *save, const struct pw_attend &a,
                           const size_t *at);
/* Writes the rows of `lost` (struct pw_scan) of R rows after T. k: the keys of head 0 in the cache, key_row
 * floats apart. */
cudaError_t pw_select_keep(cudaStream_t s, float *lost, const float *k, size_t key_row,
                           const struct pw_attend &a, int T, int R);

#endif
