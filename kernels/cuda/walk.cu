/* walk.cu - the product of q and k by a walk (struct pw_walk) in the order of kernels/backend.h, and its
 * gradients.
 *
 * Four threads share a query. Thread c has the entries d of its vector with d mod 4 = c, which are the four
 * chains of a product, so a product is a chain in each thread and two shuffles. The queries of a warp visit
 * the keys together, because they read the same rows. A query enters at its own key. Before that its vector
 * holds zeros, which leave every sum as it is.
 *
 * The backward pass has a block for each head of a sequence, with the sixteen lanes of kernels/backend.h. As
 * on the cpu, it takes sixteen queries at a time, walks down again and keeps every vector, then follows the
 * gradient up. All that a thread keeps there is read by itself, until the lanes are added at the end. */
#include "kernels/cuda/attention.h"

enum {
    ENTRIES = PW_CUDA_WIDEST / 4, /* of a vector, in one thread */
    QUERIES = 8,                  /* of a warp */
    LANES = 16,
    ACROSS = 4 * LANES, /* threads of a block of the backward pass */
    ROOM = 1 << 26,     /* floats of scratch for heads at a time, unless one head needs more */
};

/* Calls fn(e, d) for each entry of this thread: entry e of its own is entry d of D. */
template <class entry_fn> static __device__ __forceinline__ void each_entry(int D, entry_fn fn)
{
    int c = (int)(threadIdx.x % 4);
#pragma unroll
    for (int e = 0; e < ENTRIES; e++)
        if (c + 4 * e < D)
            fn(e, c + 4 * e);
}

/* The rows that one head of a sequence reads, from the first key on. */
struct pw_walk_head {
    const float *k, *vectors, *factors;
    size_t key_row, row, heads; /* floats from a key to the next, and from a vector to the next; H */
    int D;
    bool reflects;
};

static __device__ __forceinline__ struct pw_walk_head head_of(const struct pw_attend &a, const float *k,
                                                              size_t key_row, size_t base, int h)
{
    size_t H = (size_t)a.heads, D = (size_t)a.D;
    return {k,
            a.walk.vectors + (base * H + (size_t)h) * D,
            a.walk.factors != NULL ? a.walk.factors + base * H + (size_t)h : NULL,
            key_row,
            H * D,
            H,
            a.D,
            a.walk.kind == PW_WALK_REFLECT};
}

/* The product of u and x [D], in all four threads of the query. */
static __device__ __forceinline__ float product(const float u[ENTRIES], const float *x, int D)
{
    float v = 0.0f;
    each_entry(D, [&](int e, int d) { v = fmaf(u[e], x[d], v); });
    v += __shfl_xor_sync(PW_ALL_LANES, v, 2);
    return v + __shfl_xor_sync(PW_ALL_LANES, v, 1);
}

/* Lets key j's row change u. */
static __device__ __forceinline__ void take_step(const struct pw_walk_head &x, float u[ENTRIES], int j)
{
    const float *w = x.vectors + (size_t)j * x.row;
    if (x.reflects) {
        float by = -x.factors[(size_t)j * x.heads] * product(u, w, x.D);
        each_entry(x.D, [&](int e, int d) { u[e] = fmaf(by, w[d], u[e]); });
    } else {
        each_entry(x.D, [&](int e, int d) { u[e] = u[e] * w[d]; });
    }
    if (j % 16 == 0) /* so that long products have no subnormal numbers */
        each_entry(x.D, [&](int e, int) { u[e] = fabsf(u[e]) < 0x1p-64f ? 0.0f : u[e]; });
}

static __device__ __forceinline__ void load_query(float u[ENTRIES], const float *q, int D)
{
    each_entry(D, [&](int e, int d) { u[e] = q[d]; });
}

/* ---- products */

/* Writes the products of this thread's query i with keys 0 .. i to out. last: the last query of the warp. i
 * -1: there is no query. */
static __device__ __forceinline__ void walk_down(const struct pw_walk_head &x, float *out, const float *q,
                                                 int i, int last)
{
    float u[ENTRIES] = {};
    for (int j = last; j >= 0; j--) {
        if (j == i)
            load_query(u, q, x.D);
        float s = product(u, x.k + (size_t)j * x.key_row, x.D);
        if (j <= i && threadIdx.x % 4 == 0)
            out[j] = s;
        take_step(x, u, j);
    }
}

static __global__ void walk_maps(float *out, struct pw_attend a, const size_t *at, size_t parts)
{
    size_t item = pw_dev_warp(), H = (size_t)a.heads, h = item % H, seq = item / H / parts;
    int first = (int)(item / H % parts) * QUERIES;
    if (seq >= (size_t)a.n)
        return;
    size_t base = (size_t)a.start[seq];
    int T = a.start[seq + 1] - (int)base;
    if (first >= T)
        return;
    int i = first + (int)(threadIdx.x % 32) / 4;
    const float *q = a.qk + (base + (size_t)i) * a.qk_row + h * (size_t)a.E;
    const float *k = a.qk + base * a.qk_row + (H + h) * (size_t)a.E;
    out += at[seq] * H + (h * (size_t)T + (size_t)i) * (size_t)T;
    walk_down(head_of(a, k, a.qk_row, base, (int)h), out, q, i < T ? i : -1, min(first + QUERIES, T) - 1);
}

cudaError_t pw_walk_maps(cudaStream_t s, float *out, const size_t *at, const struct pw_attend &a)
{
    size_t parts = pw_blocks((size_t)a.longest, QUERIES), warps = (size_t)a.n * parts * (size_t)a.heads;
    return PW_LAUNCH(walk_maps, dim3(pw_blocks(warps, PW_WARPS)), dim3(PW_THREADS), 0, s, out, a, at, parts);
}

/* k: the keys in the cache, with rows key_row floats apart. q: the first of R rows, at i0 of the sequence. */
static __global__ void walk_cached(float *out, const float *k, size_t key_row, const float *q,
                                   struct pw_attend a, int i0, int R, size_t total)
{
    size_t item = pw_dev_warp(), H = (size_t)a.heads, h = item % H;
    int first = (int)(item / H) * QUERIES, r = first + (int)(threadIdx.x % 32) / 4;
    if (first >= R)
        return;
    walk_down(head_of(a, k + h * (size_t)a.E, key_row, 0, (int)h), out + ((size_t)r * H + h) * total,
              q + (size_t)r * a.qk_row + h * (size_t)a.E, r < R ? i0 + r : -1,
              i0 + min(first + QUERIES, R) - 1);
}

cudaError_t pw_walk_cached(cudaStream_t s, float *out, const float *k, size_t key_row, const float *q,
                           const struct pw_attend &a, int i0, int R, int total)
{
    size_t warps = (size_t)pw_blocks((size_t)R, QUERIES) * (size_t)a.heads;
    return PW_LAUNCH(walk_cached, dim3(pw_blocks(warps, PW_WARPS)), dim3(PW_THREADS), 0, s, out, k, key_row,
                     q, a, i0, R, (size_t)total);
}

/* ---- gradients */

/* Scratch of one head of a sequence. Entry e of thread t at key j is number (j * fours + e) * ACROSS + t. */
struct pw_walk_sums {
    float *u;              /* [T,fours,ACROSS] vectors at each key, of sixteen queries */
    float *keys, *vectors; /* the same: sums of dk, and of the rows' vectors */
    float *factors;        /* [T,LANES] */
    int fours;
};

static size_t floats_of_head(const struct pw_attend &a)
{
    return (size_t)a.longest * (3 * ACROSS * (size_t)pw_blocks((size_t)a.D, 4) + LANES);
}

/* Heads of sequences at a time. */
static size_t heads_at_once(const struct pw_attend &a)
{
    size_t all = (size_t)a.n * (size_t)a.heads, most = ROOM / (floats_of_head(a) > 0 ? floats_of_head(a) : 1);
    return most < 1 ? 1 : most < all ? most : all;
}

size_t pw_walk_floats(const struct pw_attend &a)
{
    return a.walk.vectors != NULL ? heads_at_once(a) * floats_of_head(a) : 0;
}

static __device__ __forceinline__ struct pw_walk_sums sums_of(float *room, const struct pw_attend &a)
{
    size_t fours = (size_t)(a.D + 3) / 4, part = (size_t)a.longest * fours * ACROSS;
    room += blockIdx.x * (3 * part + (size_t)a.longest * LANES);
    return {room, room + part, room + 2 * part, room + 3 * part, (int)fours};
}

static __device__ __forceinline__ size_t place_of(const struct pw_walk_sums &b, int j, int e)
{
    return ((size_t)j * (size_t)b.fours + (size_t)e) * ACROSS + threadIdx.x;
}

/* Walks down again with this thread's query i, and keeps u at each key. */
static __device__ __forceinline__ void keep_steps(const struct pw_walk_head &x, const struct pw_walk_sums &b,
                                                  const float *q, int i, int last)
{
    float u[ENTRIES] = {};
    for (int j = last; j >= 0; j--) {
        if (j == i)
            load_query(u, q, x.D);
        each_entry(x.D, [&](int e, int) { b.u[place_of(b, j, e)] = u[e]; });
        take_step(x, u, j);
    }
}

/* Follows the gradient of query i up to its own key, where it is stored as dq. first: the first query of the
 * block, before whose key there are sums. */
static __device__ __forceinline__ void follow(const struct pw_walk_head &x, const struct pw_walk_sums &b,
                                              float *dq, const float *ds, float scale, int i, int first,
                                              int last)
{
    float u[ENTRIES], g[ENTRIES] = {};
    for (int j = 0; j <= last; j++) {
        const float *w = x.vectors + (size_t)j * x.row, *k = x.k + (size_t)j * x.key_row;
        float d = j <= i ? ds[j] : 0.0f, t = 0.0f, c = 0.0f, by = 0.0f;
        each_entry(x.D, [&](int e, int) { u[e] = b.u[place_of(b, j, e)]; });
        if (x.reflects) {
            float *sum = b.factors + j * LANES + threadIdx.x / 4;
            t = product(u, w, x.D);
            c = product(g, w, x.D);
            by = -x.factors[(size_t)j * x.heads] * c;
            if (threadIdx.x % 4 == 0)
                *sum = fmaf(t, c, j < first ? *sum : 0.0f);
        }
        each_entry(x.D, [&](int e, int n) {
            size_t at = place_of(b, j, e);
            float key = j < first ? b.keys[at] : 0.0f, vector = j < first ? b.vectors[at] : 0.0f;
            b.keys[at] = fmaf(d, u[e], key);
            b.vectors[at] = x.reflects ? fmaf(t, g[e], fmaf(c, u[e], vector)) : fmaf(g[e], u[e], vector);
            g[e] = fmaf(d, k[n], x.reflects ? fmaf(by, w[n], g[e]) : g[e] * w[n]);
            if (j == i)
                dq[n] = g[e] * scale;
        });
    }
}

/* Adds the sixteen lanes of a sum, whose first lane is at v, `step` floats apart. */
static __device__ __forceinline__ float add_lanes(const float *v, int step)
{
    float sum[LANES];
#pragma unroll
    for (int l = 0; l < LANES; l++)
        sum[l] = v[l * step];
#pragma unroll
    for (int by = LANES / 2; by > 0; by /= 2)
#pragma unroll
        for (int l = 0; l < LANES / 2; l++)
            if (l < by)
                sum[l] += sum[l + by];
    return sum[0];
}

/* Stores the gradients of keys, vectors and factors of T rows. dk has rows dk_row floats apart. */
static __device__ __forceinline__ void store_sums(const struct pw_walk_head &x, const struct pw_walk_sums &b,
                                                  float *dk, size_t dk_row, float *d_vectors,
                                                  float *d_factors, float scale, int T)
{
    for (int n = (int)threadIdx.x; n < T * x.D; n += ACROSS) {
        int j = n / x.D, d = n % x.D;
        size_t at = ((size_t)j * (size_t)b.fours + (size_t)(d / 4)) * ACROSS + (size_t)(d % 4);
        float by = x.reflects ? -x.factors[(size_t)j * x.heads] : 1.0f;
        dk[(size_t)j * dk_row + (size_t)d] = add_lanes(b.keys + at, 4) * scale;
        d_vectors[(size_t)j * x.row + (size_t)d] = add_lanes(b.vectors + at, 4) * scale * by;
    }
    for (int j = (int)threadIdx.x; j < T && x.reflects; j += ACROSS)
        d_factors[(size_t)j * x.heads] = -(add_lanes(b.factors + j * LANES, 1) * scale);
}

/* Block b has head `first` + b of all heads of sequences. */
static __global__ void walk_back(float *dqk, const float *ds, float *room, struct pw_attend a, size_t first)
{
    size_t item = first + blockIdx.x, H = (size_t)a.heads, h = item % H, seq = item / H;
    size_t base = (size_t)a.start[seq], w = a.qk_row, E = (size_t)a.E, row = base * H + h;
    int T = a.start[seq + 1] - (int)base;
    struct pw_walk_head x = head_of(a, a.qk + base * w + (H + h) * E, w, base, (int)h);
    struct pw_walk_sums b = sums_of(room, a);
    ds += (base * H + h * (size_t)T) * (size_t)a.longest;
    for (int from = 0; from < T; from += LANES) {
        int i = from + (int)threadIdx.x / 4, last = min(from + LANES, T) - 1;
        size_t at = (base + (size_t)i) * w + h * E;
        i = i < T ? i : -1;
        keep_steps(x, b, a.qk + at, i, last);
        follow(x, b, dqk + at, ds + (i > 0 ? (size_t)i : 0) * (size_t)a.longest, a.scale, i, from, last);
    }
    __syncthreads();
    store_sums(x, b, dqk + base * w + (H + h) * E, w, a.walk.d_vectors + row * (size_t)a.D,
               x.reflects ? a.walk.d_factors + row : NULL, a.scale, T);
}

cudaError_t pw_walk_bwd(cudaStream_t s, float *dqk, const float *ds, float *room, const struct pw_attend &a)
{
    size_t all = (size_t)a.n * (size_t)a.heads, most = heads_at_once(a);
    cudaError_t e = cudaSuccess;
    for (size_t i = 0; i < all && e == cudaSuccess; i += most)
        e = PW_LAUNCH(walk_back, dim3((unsigned)(all - i < most ? all - i : most)), dim3(ACROSS), 0, s, dqk,
                      ds, room, a, i);
    return e;
}
