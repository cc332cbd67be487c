/* attention_ref.h - attention in the order of kernels/backend.h: what its kernels share.
 *
 * A warp has one query of one head (or one key). Key j belongs to lane j mod 32 from its score to its
 * probability, so that the lanes meet only in sums and where all of them need all of the weights. */
#ifndef PW_CUDA_ATTENTION_REF_H
#define PW_CUDA_ATTENTION_REF_H
#include "kernels/cuda/attention.h"
#include "kernels/cuda/maths.h"
#include "kernels/score.h"

enum { PW_COLUMNS = PW_CUDA_WIDEST / 32 }; /* of a head, in one lane */

/* A chain over D. */
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

/* What is scaled to a score: a chain over D, and with relative keys the sum of two. */
__device__ __forceinline__ float pw_dev_match(const struct pw_attend &a, const float *q, const float *k,
                                              int distance)
{
    float v = pw_dev_dot(q, k, a.D, a.fours);
    if (a.keys != NULL)
        v = v + pw_dev_dot(q, a.keys + (size_t)pw_dev_key_row(a, distance) * (size_t)a.D, a.D,
                           a.fours && a.keys_fours);
    return v;
}

/* The function of scores, if there is one, of head h at a finished score; *slope receives its derivative. */
__device__ __forceinline__ float pw_dev_finish(const struct pw_attend &a, int h, int query, int key, float v,
                                               float *slope)
{
    struct pw_score_pair pair = {query, key, h};
    *slope = 1.0f;
    return a.score != NULL ? pw_score_value(a.score, pair, v, slope) : v;
}

/* Lane l has term l of 32 that follow each other; lanes 0..15 are the contract's, and add those of the lane
 * 16 on after their own. What the upper half holds is of no use. */
__device__ __forceinline__ float pw_dev_total(float sum)
{
    return __shfl_sync(PW_ALL_LANES, pw_dev_tree(sum), 0);
}

/* Scores of one query [keys] become probabilities; by one warp, key j by lane j mod 32. */
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
        float e = 0.0f; /* what a hidden key adds */
        if (j < keys)
            p[j] = e = pw_dev_exp(p[j] - most);
        sum += e;
        sum += __shfl_xor_sync(PW_ALL_LANES, e, 16);
    }
    sum = pw_dev_total(sum);
    for (int j = lane; j < keys; j += 32)
        p[j] /= sum;
}

/* sum, of which lane l has columns l, l+32, .., goes on with weight(m) * x[m] as a chain over m = from ..
 * to-1; x's rows [D] are ld apart. By one warp: lane l gets the weights of m mod 32 = (from + l) mod 32 and
 * passes them on in shared [32]. */
template <class weight_of>
__device__ __forceinline__ void pw_dev_chain(float sum[PW_COLUMNS], weight_of weight, const float *x,
                                             size_t ld, int from, int to, int D, float *shared)
{
    int lane = (int)(threadIdx.x % 32);
    for (int first = from; first < to; first += 32) {
        __syncwarp(); /* the weights before are used up */
        if (first + lane < to)
            shared[lane] = weight(first + lane);
        __syncwarp();
        for (int m = first; m < to && m < first + 32; m++)
#pragma unroll
            for (int c = 0; c < PW_COLUMNS; c++)
                if (lane + 32 * c < D)
                    sum[c] = fmaf(shared[m - first], x[(size_t)m * ld + (size_t)(lane + 32 * c)], sum[c]);
    }
}

/* y [D] = such a sum times scale. */
__device__ __forceinline__ void pw_dev_store_sum(float *y, const float sum[PW_COLUMNS], int D, float scale)
{
    int lane = (int)(threadIdx.x % 32);
#pragma unroll
    for (int c = 0; c < PW_COLUMNS; c++)
        if (lane + 32 * c < D)
            y[lane + 32 * c] = sum[c] * scale;
}

/* Both, from nothing. */
template <class weight_of>
__device__ __forceinline__ void pw_dev_weighted(float *y, weight_of weight, const float *x, size_t ld,
                                                int from, int to, int D, float scale, float *shared)
{
    float sum[PW_COLUMNS] = {};
    pw_dev_chain(sum, weight, x, ld, from, to, D, shared);
    pw_dev_store_sum(y, sum, D, scale);
}

/* Row and head of this warp. false: beyond the last. */
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

/* The derivatives of the function of scores in `save`: behind the probabilities, in their layout. */
__device__ __forceinline__ float *pw_dev_slopes(const struct pw_attend &a, float *save, const size_t *at)
{
    return save + at[a.n] * (size_t)a.heads;
}

/* Where the maps of a sequence's heads begin, in maps [H,T,T] one after the other: H times the sum of the
 * squares of the lengths before it. */
cudaError_t pw_attention_maps(cudaStream_t s, size_t *at, const struct pw_seqs *seqs);

#endif
