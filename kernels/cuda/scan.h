/* scan.h - device functions for a scan over the keys of a query (struct pw_scan), in the order of
 * kernels/backend.h, and the launchers for the table of contextual positions.
 *
 * One warp has a query, and lane j mod 32 has key j, as in attention_ref.h. The steps along a row depend on
 * each other because each rounds. So every lane runs the steps of 32 keys on values that it gets from the
 * other lanes, and keeps the result of its own key. Everything else is done by all lanes at once. */
#ifndef PW_CUDA_SCAN_H
#define PW_CUDA_SCAN_H
#include "kernels/cuda/attention.h"
#include "kernels/cuda/maths.h"

/* Adds the values v of the lanes to *sum, lane 0 first. Returns the sum after this lane's value. */
__device__ __forceinline__ float pw_dev_sum_up(float *sum, float v)
{
    float own = 0.0f;
    for (int m = 0; m < 32; m++) {
        *sum += __shfl_sync(PW_ALL_LANES, v, m);
        own = m == (int)(threadIdx.x % 32) ? *sum : own;
    }
    return own;
}

/* The same with lane 31 first. */
__device__ __forceinline__ float pw_dev_sum_down(float *sum, float v)
{
    float own = 0.0f;
    for (int m = 31; m >= 0; m--) {
        *sum += __shfl_sync(PW_ALL_LANES, v, m);
        own = m == (int)(threadIdx.x % 32) ? *sum : own;
    }
    return own;
}

/* ---- stick-breaking */

__device__ __forceinline__ float pw_dev_not_tiny(float x)
{
    return x < 0x1p-100f ? 0.0f : x;
}

/* Multiplies *left by the values v of the lanes, lane 31 first. Returns it from before this lane's value. */
__device__ __forceinline__ float pw_dev_left(float *left, float v)
{
    float own = 0.0f;
    for (int m = 31; m >= 0; m--) {
        own = m == (int)(threadIdx.x % 32) ? *left : own;
        *left = pw_dev_not_tiny(*left * __shfl_sync(PW_ALL_LANES, v, m));
    }
    return own;
}

/* Replaces the scores p [i+1] of query i by weights. taken [i+1] receives the shares; NULL: not wanted. */
__device__ __forceinline__ void pw_dev_stick(float *p, float *taken, int i)
{
    int lane = (int)(threadIdx.x % 32);
    float left = 1.0f;
    for (int first = i / 32 * 32; first >= 0; first -= 32) {
        int j = first + lane;
        float share = 0.0f, minus = 1.0f;
        if (j < i)
            pw_dev_sigmoid(p[j], &share, &minus);
        if (taken != NULL && j <= i)
            taken[j] = share;
        float before = pw_dev_left(&left, minus);
        if (j < i)
            p[j] = pw_dev_not_tiny(share * before);
    }
    if (lane == i % 32)
        p[i] = left;
}

/* Replaces dP of query i by dS. p, taken: from pw_dev_stick. */
__device__ __forceinline__ void pw_dev_stick_back(float *ds, const float *p, const float *taken, int i)
{
    int lane = (int)(threadIdx.x % 32);
    float sum = __shfl_sync(PW_ALL_LANES, lane == i % 32 ? p[i] * ds[i] : 0.0f, i % 32);
    for (int first = 0; first <= i; first += 32) {
        int j = first + lane;
        float t = j < i ? p[j] * ds[j] : 0.0f, upto = pw_dev_sum_up(&sum, t);
        if (j <= i)
            ds[j] = j < i ? t - taken[j] * upto : 0.0f;
    }
}

/* ---- contextual positions. products [n]: those of the query and the columns of the table. */

/* The difference of the products at a position and at the next column. */
__device__ __forceinline__ float pw_dev_rise(const float *products, int n, float place)
{
    int f = (int)place;
    return products[min(f + 1, n - 1)] - products[f];
}

/* Adds the part of contextual positions to the scores s [keys] of a query. gates and places [keys] receive
 * those of the keys; both NULL: not wanted. */
__device__ __forceinline__ void pw_dev_context(float *s, float *gates, float *places, const float *products,
                                               int n, int keys)
{
    int lane = (int)(threadIdx.x % 32);
    float sum = 0.0f, last = (float)(n - 1);
    for (int first = (keys - 1) / 32 * 32; first >= 0; first -= 32) {
        int j = first + lane;
        float gate = 0.0f, minus;
        if (j < keys)
            pw_dev_sigmoid(s[j], &gate, &minus);
        float place = pw_dev_sum_down(&sum, gate);
        place = place < last ? place : last; /* so NaN becomes an index */
        int f = (int)place;
        if (j < keys)
            s[j] += fmaf(place - (float)f, pw_dev_rise(products, n, place), products[f]);
        if (j < keys && gates != NULL) {
            gates[j] = gate;
            places[j] = place;
        }
    }
}

/* Sets u [n] to the gradients of the products from dS [keys] of the finished scores: lane k mod 32 sets that
 * of column k. */
__device__ __forceinline__ void pw_dev_context_columns(float *u, const float *ds, const float *places, int n,
                                                       int keys)
{
    int lane = (int)(threadIdx.x % 32);
    for (int k = lane; k - lane < n; k += 32) {
        float sum = 0.0f;
        for (int first = 0; first < keys; first += 32) {
            bool in = first + lane < keys;
            float place = in ? places[first + lane] : 0.0f, d = in ? ds[first + lane] : 0.0f;
            for (int m = 0; m < 32 && first + m < keys; m++) {
                float at = __shfl_sync(PW_ALL_LANES, place, m), by = __shfl_sync(PW_ALL_LANES, d, m);
                int f = (int)at;
                float w = at - (float)f;
                if (f == k)
                    sum += (1.0f - w) * by;
                if (f + 1 == k)
                    sum += w * by;
            }
        }
        if (k < n)
            u[k] = sum;
    }
}

/* Replaces dS [keys] of the finished scores by those of the scores before pw_dev_context. */
__device__ __forceinline__ void pw_dev_context_back(float *ds, const float *gates, const float *places,
                                                    const float *products, int n, int keys)
{
    int lane = (int)(threadIdx.x % 32);
    float sum = 0.0f;
    for (int first = 0; first < keys; first += 32) {
        int j = first + lane;
        float upto = pw_dev_sum_up(&sum, j < keys ? ds[j] * pw_dev_rise(products, n, places[j]) : 0.0f);
        if (j < keys)
            ds[j] = ds[j] + upto * (gates[j] * (1.0f - gates[j]));
    }
}

/* Floats of products, or of their gradients; 0 without contextual positions. */
size_t pw_context_floats(const struct pw_attend &a);
/* Sets products [rows,H,n] of `rows` rows of q, which are laid out as those of a.qk. */
cudaError_t pw_context_products(cudaStream_t s, float *products, const float *q, const struct pw_attend &a,
                                size_t rows);
/* Adds to d_table [D,n] from u [R,H,n], the gradients of the products. */
cudaError_t pw_context_table(cudaStream_t s, float *d_table, const float *u, const struct pw_attend &a);

#endif
