/* attention_bias.cu - the gradient of a bias by distance or by both positions, from maps of dS.
 *
 * One thread owns one entry of one head, so no two threads add to the same number. For a given query, the
 * keys at a distance are those with a certain position id. If ids have gaps or repeat, an index of the rows
 * by position finds these keys. In most batches ids ascend by one, and there is one such key. */
#include "kernels/cuda/attention.h"

/* For each sequence: its first key at a position, -1 for none [n,P]; the next key at the same position, -1
 * for none [R]; the largest distance between two of its positions [n]; whether its positions ascend by one
 * [n]. */
struct index {
    int *first, *next, *reach, *by_one;
};

__host__ __device__ static inline struct index index_of(const struct pw_attend &a, int *room)
{
    int *next = room + (size_t)a.n * (size_t)a.table, *reach = next + a.rows;
    return (struct index){room, next, reach, reach + a.n};
}

size_t pw_bias_index_ints(const struct pw_attend &a)
{
    return (size_t)a.n * (size_t)a.table + a.rows + 2 * (size_t)a.n;
}

/* One thread per position of a sequence. */
static __global__ void index_keys(int *room, struct pw_attend a)
{
    size_t at = pw_dev_thread(), P = (size_t)a.table;
    if (at >= (size_t)a.n * P)
        return;
    struct index x = index_of(a, room);
    int s = (int)(at / P), p = (int)(at % P), base = a.start[s], T = a.start[s + 1] - base;
    const int *pos = a.pos + base;
    int first = -1, last = -1, lowest = T > 0 ? pos[0] : 1, highest = T > 0 ? lowest : 0;
    bool by_one = true;
    for (int j = 0; j < T; j++) {
        int here = pos[j];
        lowest = min(lowest, here);
        highest = max(highest, here);
        by_one = by_one && here == pos[0] + j;
        if (here != p)
            continue;
        if (first < 0)
            first = j;
        else
            x.next[base + last] = j;
        last = j;
    }
    if (last >= 0)
        x.next[base + last] = -1;
    x.first[at] = first;
    if (p == 0) {
        x.reach[s] = highest - lowest;
        x.by_one[s] = by_one;
    }
}

cudaError_t pw_bias_index(cudaStream_t s, int *index, const struct pw_attend &a)
{
    size_t n = (size_t)a.n * (size_t)a.table;
    return PW_LAUNCH(index_keys, dim3(pw_blocks(n, PW_THREADS)), dim3(PW_THREADS), 0, s, index, a);
}

/* The start of head h's map of sequence s in the maps of sequences begin .. */
static __device__ __forceinline__ const float *map_of(const float *ds, const struct pw_attend &a, size_t h,
                                                      int begin, int s)
{
    size_t before = (size_t)(a.start[s] - a.start[begin]), T = (size_t)(a.start[s + 1] - a.start[s]);
    return ds + (before * (size_t)a.heads + h * T) * (size_t)a.longest;
}

/* Returns old + the dS of head h at this distance, over sequences begin, begin + step, .. before end. */
static __device__ float chain(float old, const float *ds, int *room, const struct pw_attend &a, size_t h,
                              int distance, int offset, int begin, int end, int step)
{
    struct index x = index_of(a, room);
    float sum = old;
    for (int s = begin + offset; s < end; s += step) {
        int base = a.start[s], T = a.start[s + 1] - base;
        if (abs(distance) > x.reach[s])
            continue;
        size_t longest = (size_t)a.longest;
        const float *map = map_of(ds, a, h, begin, s);
        if (x.by_one[s]) { /* a diagonal; the loads are independent */
            int to = a.causal && distance < 0 ? 0 : min(T, T + distance);
#pragma unroll 8
            for (int i = max(0, distance); i < to; i++)
                sum += map[(size_t)i * longest + (size_t)(i - distance)];
            continue;
        }
        const int *pos = a.pos + base, *first = x.first + (size_t)s * (size_t)a.table, *next = x.next + base;
        for (int i = 0; i < T; i++) {
            int at = pos[i] - distance;
            if (at < 0 || at >= a.table)
                continue;
            for (int j = first[at]; j >= 0 && (j <= i || !a.causal); j = next[j])
                sum += map[(size_t)i * longest + (size_t)j];
        }
    }
    return sum;
}

/* Returns old + the dS of head h for keys at position `key` and queries at position `query`, over the same
 * sequences. */
static __device__ float dense_chain(float old, const float *ds, int *room, const struct pw_attend &a,
                                    size_t h, int query, int key, int offset, int begin, int end, int step)
{
    struct index x = index_of(a, room);
    float sum = old;
    for (int s = begin + offset; s < end; s += step) {
        int base = a.start[s], T = a.start[s + 1] - base;
        const float *map = map_of(ds, a, h, begin, s);
        const int *first = x.first + (size_t)s * (size_t)a.table, *next = x.next + base;
        if (T == 0)
            continue;
        if (x.by_one[s]) { /* the loads are independent */
            int i = query - a.pos[base], j = key - a.pos[base];
            if (i >= 0 && i < T && j >= 0 && j < T && (j <= i || !a.causal))
                sum += map[(size_t)i * (size_t)a.longest + (size_t)j];
            continue;
        }
        for (int i = first[query]; i >= 0; i = next[i])
            for (int j = first[key]; j >= 0 && (j <= i || !a.causal); j = next[j])
                sum += map[(size_t)i * (size_t)a.longest + (size_t)j];
    }
    return sum;
}

/* Grid: blockIdx.y is the head, blockIdx.z the chain. */
static __global__ void add_dense(float *out, const float *ds, int *room, struct pw_attend a, int begin,
                                 int end, bool add)
{
    size_t entry = pw_dev_thread(), P = (size_t)a.table, h = blockIdx.y;
    out += ((size_t)blockIdx.z * (size_t)a.heads + h) * P * P;
    if (entry < P * P)
        out[entry] = dense_chain(add ? out[entry] : 0.0f, ds, room, a, h, (int)(entry / P), (int)(entry % P),
                                 (int)blockIdx.z, begin, end, (int)gridDim.z);
}

static __global__ void add_by_distance(float *out, const float *ds, int *room, struct pw_attend a, int begin,
                                       int end, bool add)
{
    size_t entry = pw_dev_thread(), entries = 2 * (size_t)a.table - 1, h = blockIdx.y;
    out += ((size_t)blockIdx.z * (size_t)a.heads + h) * entries;
    if (entry < entries)
        out[entry] = chain(add ? out[entry] : 0.0f, ds, room, a, h, (int)entry - (a.table - 1),
                           (int)blockIdx.z, begin, end, (int)gridDim.z);
}

size_t pw_bias_sums_floats(const struct pw_attend &a)
{
    return (size_t)a.heads * a.bias_head;
}

cudaError_t pw_bias_sums(cudaStream_t s, float *out, const float *ds, const int *index,
                         const struct pw_attend &a, int first, int last, int chains, bool add)
{
    dim3 blocks(pw_blocks(a.bias_head, PW_THREADS), (unsigned)a.heads, (unsigned)chains);
    if (a.dense)
        return PW_LAUNCH(add_dense, blocks, dim3(PW_THREADS), 0, s, out, ds, (int *)index, a, first, last,
                         add);
    return PW_LAUNCH(add_by_distance, blocks, dim3(PW_THREADS), 0, s, out, ds, (int *)index, a, first, last,
                     add);
}

static __global__ void add_chains(float *to, const float *sums, size_t n, int chains)
{
    size_t i = pw_dev_thread();
    if (i < n) {
        float sum = 0.0f;
        for (int c = 0; c < chains; c++)
            sum += sums[(size_t)c * n + i];
        to[i] += sum;
    }
}

cudaError_t pw_chains_add(cudaStream_t s, float *to, const float *sums, size_t n, int chains)
{
    return PW_LAUNCH(add_chains, dim3(pw_blocks(n, PW_THREADS)), dim3(PW_THREADS), 0, s, to, sums, n, chains);
}
