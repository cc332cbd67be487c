/* scatter_sum.h - to[ids[r]] += from[r], rows ascending: the gradient of a table from which rows were
 * gathered.
 *
 * It uses no atomics and keeps the order of kernels/backend.h. Each row has a block. A block whose id also
 * occurs in an earlier row exits, usually after a few rows; the block of an id's first row adds all rows with
 * that id. Memory latency dominates the chain of additions, so sixteen rows are loaded ahead of it. */
#ifndef PW_CUDA_SCATTER_SUM_H
#define PW_CUDA_SCATTER_SUM_H
#include "kernels/cuda/rows.h"

enum {
    PW_SCATTER_TURN = 1024, /* rows that are searched for the id at a time */
    PW_SCATTER_AHEAD = 16,
};

/* The source. Entry (r, c) is at p[r * row_step + c * col_step]. Rows may come in periods that all have the
 * same ids: row r is then row r % period of period r / period, and periods are period_step floats apart. */
struct pw_scatter_from {
    const float *p;
    size_t row_step, col_step;
    int period; /* rows of a period; the number of all rows if there is one */
    size_t period_step;
    float scale; /* factor on each entry */
};

__device__ __forceinline__ int pw_dev_id(const struct pw_scatter_from &from, const int *ids, int r)
{
    return ids[r < from.period ? r : r % from.period];
}

__device__ __forceinline__ float pw_dev_entry(const struct pw_scatter_from &from, int r, int c)
{
    size_t at = (size_t)c * from.col_step;
    if (r >= from.period) {
        at += (size_t)(r / from.period) * from.period_step;
        r %= from.period;
    }
    return from.scale * from.p[at + (size_t)r * from.row_step];
}

/* Writes to list, ascending, which of the rows first .. first+n-1 have this id, and returns their number; n
 * <= PW_SCATTER_TURN. All threads of the block call it. They pass a barrier before list is written, so other
 * threads may still be reading the previous list. counts: shared scratch. */
__device__ __forceinline__ int pw_dev_list_rows(int *list, int *counts, const struct pw_scatter_from &from,
                                                const int *ids, int id, int first, int n)
{
    constexpr int turns = PW_SCATTER_TURN / PW_THREADS;
    int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32, found = 0;
    unsigned hits[turns];
#pragma unroll
    for (int t = 0; t < turns; t++) {
        int k = t * PW_THREADS + (int)threadIdx.x;
        hits[t] = __ballot_sync(PW_ALL_LANES, k < n && pw_dev_id(from, ids, first + k) == id);
        if (lane == 0)
            counts[t * PW_WARPS + warp] = __popc(hits[t]);
    }
    __syncthreads();
#pragma unroll
    for (int t = 0; t < turns; t++) {
        int at = found + __popc(hits[t] & ((1u << lane) - 1u));
        for (int w = 0; w < PW_WARPS; w++) {
            at += w < warp ? counts[t * PW_WARPS + w] : 0;
            found += counts[t * PW_WARPS + w];
        }
        if (hits[t] >> lane & 1)
            list[at] = first + t * PW_THREADS + (int)threadIdx.x;
    }
    __syncthreads(); /* list is complete, and counts may be overwritten */
    return found;
}

/* to [rows,C]. Rows with an id below 0 are skipped. Block (r, k) processes row r and the columns from k *
 * PW_THREADS on. */
static __global__ void pw_scatter_sum_kernel(float *to, struct pw_scatter_from from,
                                             const int *__restrict__ ids, int R, int C)
{
    PW_SHARED(int, list, [PW_SCATTER_TURN]);
    PW_SHARED(int, counts, [PW_SCATTER_TURN / PW_THREADS * PW_WARPS]);
    int r = (int)blockIdx.x, c = (int)(blockIdx.y * PW_THREADS + threadIdx.x);
    int id = pw_dev_id(from, ids, r);
    if (id < 0)
        return;
    for (int end = r; end > 0; end -= PW_THREADS) {
        int k = end - 1 - (int)threadIdx.x;
        if (__syncthreads_or(k >= 0 && pw_dev_id(from, ids, k) == id))
            return;
    }
    float *y = to + (size_t)id * (size_t)C + (size_t)c;
    float sum = c < C ? *y : 0.0f;
    for (int first = r; first < R; first += PW_SCATTER_TURN) {
        int left = R - first < PW_SCATTER_TURN ? R - first : PW_SCATTER_TURN;
        int n = pw_dev_list_rows(list, counts, from, ids, id, first, left);
        for (int k = 0; c < C && k < n; k += PW_SCATTER_AHEAD) {
            float v[PW_SCATTER_AHEAD];
#pragma unroll
            for (int i = 0; i < PW_SCATTER_AHEAD; i++)
                v[i] = k + i < n ? pw_dev_entry(from, list[k + i], c) : 0.0f;
#pragma unroll
            for (int i = 0; i < PW_SCATTER_AHEAD; i++)
                sum = k + i < n ? sum + v[i] : sum;
        }
    }
    if (c < C)
        *y = sum;
}

/* Enqueues the kernel for R rows of C columns. from, to and ids are in device memory. */
static inline cudaError_t pw_scatter_sum(cudaStream_t s, float *to, const struct pw_scatter_from &from,
                                         const int *ids, int R, int C)
{
    if (R == 0)
        return cudaSuccess;
    return PW_LAUNCH(pw_scatter_sum_kernel, dim3((unsigned)R, pw_blocks((size_t)C, PW_THREADS)),
                     dim3(PW_THREADS), 0, s, to, from, ids, R, C);
}

#endif
