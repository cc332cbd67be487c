/* fire.cu - FIRE's bias and its backward pass to the parameters; kernels/backend.h has the formulas. Both
 * modes use the same kernels, in the order of the contract: the network is small, and bf16 would make its
 * distances coarse.
 *
 * Forward, one thread computes one entry. Backward, the layers' gradients are summed first. Then half a warp,
 * whose threads are the sixteen lanes of the contract, handles one query and one unit, weight or head of the
 * network, and writes the query's contribution to the parameters. Last, one thread per parameter adds the
 * contributions of all queries. Logarithms are computed once, by distance and by query. */
#include "kernels/cuda/launch.h"
#include "kernels/cuda/maths.h"
#include "kernels/cuda/rows.h"

/* For P positions and H heads; backward also psi [P] by distance in ids and n [P] by query. */
struct net {
    struct pw_fire f;
    const float *param;
    float *psi, *n;
    int K, H, P;
};

/* C, L, and the place of a query's position: distances are divided by the larger of it and L. */
__device__ __forceinline__ float scale_of(const struct net &x)
{
    return fabsf(x.param[0]);
}
__device__ __forceinline__ float threshold(const struct net &x)
{
    return fabsf(x.param[1] * x.f.threshold);
}
__device__ __forceinline__ float position(const struct net &x, int i)
{
    return x.f.from + (float)i * x.f.step;
}
__device__ __forceinline__ bool below(const struct net &x, int i)
{
    return !(position(x, i) > threshold(x));
}
__device__ __forceinline__ float measure(const struct net &x, int i)
{
    return below(x, i) ? threshold(x) : position(x, i);
}

__device__ __forceinline__ float psi(const struct net &x, float distance)
{
    return (float)pw_log_inline(1.0 + (double)scale_of(x) * (double)distance);
}
__device__ __forceinline__ float slope(const struct net &x, float distance)
{
    return distance / fmaf(scale_of(x), distance, 1.0f);
}

/* psi of a distance in ids, and the divisor of query i's distances. */
__device__ __forceinline__ float near(const struct net &x, int ids)
{
    return psi(x, (float)ids * x.f.step);
}
__device__ __forceinline__ float under(const struct net &x, int i)
{
    return psi(x, measure(x, i)) + PW_FIRE_EPS;
}

__device__ __forceinline__ float hidden(const struct net &x, int k, float u)
{
    float pre = fmaf(x.param[2 + k], u, x.param[2 + x.K + k]);
    return 0.0f > pre ? 0.0f : pre;
}

__device__ __forceinline__ float out_weight(const struct net &x, int h, int k)
{
    return x.param[2 + (2 + h) * x.K + k];
}

/* Computes entries of the head blockIdx.y. */
static __global__ void make_bias(float *bias, struct net x)
{
    size_t entry = pw_dev_thread(), P = (size_t)x.P;
    if (entry >= P * P)
        return;
    int i = (int)(entry / P), j = (int)(entry % P), h = (int)blockIdx.y;
    float sum = 0.0f;
    if (j <= i || !x.f.causal) {
        float u = near(x, abs(i - j)) / under(x, i);
        sum = x.param[2 + (2 + x.H) * x.K + h];
        for (int k = 0; k < x.K; k++)
            sum = fmaf(out_weight(x, h, k), hidden(x, k, u), sum);
    }
    bias[(size_t)h * P * P + entry] = sum;
}

/* Adds d_bias [L,n] into the first n, and computes the logarithms. */
static __global__ void add_layers(float *d_bias, size_t n, int L, struct net x)
{
    size_t i = pw_dev_thread();
    if (i < (size_t)x.P) {
        x.psi[i] = near(x, (int)i);
        x.n[i] = under(x, (int)i);
    }
    if (i >= n)
        return;
    float sum = d_bias[i];
    for (int l = 1; l < L; l++)
        sum += d_bias[(size_t)l * n + i];
    d_bias[i] = sum;
}

/* The items of a query, in this order: the units, the weights from them, the heads, and c with L. */
struct item {
    bool unit, weight, head;
    int k, h;
};

__device__ __forceinline__ struct item item_of(const struct net &x, int at)
{
    int weights = x.H * x.K, w = at - x.K, h = w - weights;
    struct item t = {w < 0, w >= 0 && h < 0, h >= 0 && h < x.H, 0, 0};
    t.k = t.unit ? at : t.weight ? w % x.K : 0;
    t.h = t.weight ? w / x.K : t.head ? h : 0;
    return t;
}

/* One pair of a query: its g [H] are P*P apart. */
struct pair {
    const float *g;
    float u;
};

__device__ __forceinline__ float gradient(const struct net &x, const struct pair &p, int h)
{
    return p.g[(size_t)h * (size_t)x.P * (size_t)x.P];
}

/* a[k] */
__device__ __forceinline__ float unit_gradient(const struct net &x, const struct pair &p, int k)
{
    float a = 0.0f;
    for (int h = 0; h < x.H; h++)
        a = fmaf(gradient(x, p, h), out_weight(x, h, k), a);
    return 0.0f < hidden(x, k, p.u) ? a : 0.0f;
}

/* Adds a pair at this distance to the two sums of an item: w1 and b1 of a unit; E and U of c and L. */
__device__ __forceinline__ void add_pair(float sum[2], const struct net &x, const struct item &t,
                                         const struct pair &p, float distance)
{
    if (t.unit) {
        float a = unit_gradient(x, p, t.k);
        sum[0] = fmaf(a, p.u, sum[0]);
        sum[1] += a;
    } else if (t.weight) {
        sum[0] = fmaf(gradient(x, p, t.h), hidden(x, t.k, p.u), sum[0]);
    } else if (t.head) {
        sum[0] += gradient(x, p, t.h);
    } else {
        float e = 0.0f;
        for (int k = 0; k < x.K; k++)
            e = fmaf(unit_gradient(x, p, k), x.param[2 + k], e);
        sum[0] = fmaf(e, slope(x, distance), sum[0]);
        sum[1] = fmaf(e, p.u, sum[1]);
    }
}

/* Writes the results of query i to its row of parameters. */
__device__ __forceinline__ void leave(float *row, const float sum[2], const struct net &x,
                                      const struct item &t, int i)
{
    if (t.unit) {
        row[2 + t.k] = sum[0];
        row[2 + x.K + t.k] = sum[1];
    } else if (t.weight) {
        row[2 + (2 + t.h) * x.K + t.k] = sum[0];
    } else if (t.head) {
        row[2 + (2 + x.H) * x.K + t.h] = sum[0];
    } else {
        float C = scale_of(x), y = measure(x, i), factor = copysignf(1.0f, x.param[1]) * x.f.threshold;
        row[0] = (sum[0] - sum[1] * slope(x, y)) / x.n[i] * copysignf(1.0f, x.param[0]);
        row[1] = below(x, i) ? sum[1] * (C / fmaf(C, y, 1.0f)) / x.n[i] * -factor : 0.0f;
    }
}

/* rows [P,params]; d_bias [H,P,P]. */
static __global__ void add_queries(float *rows, const float *d_bias, struct net x, int items, size_t params)
{
    size_t half = pw_dev_half(), i = half / (size_t)items;
    bool there = i < (size_t)x.P;
    struct item t = item_of(x, (int)(half % (size_t)items));
    int query = (int)i, keys = !there ? 0 : x.f.causal ? query + 1 : x.P;
    float sum[2] = {0.0f, 0.0f};
    for (int j = (int)(threadIdx.x % 16); j < keys; j += 16) {
        int ids = abs(query - j);
        struct pair p = {d_bias + i * (size_t)x.P + (size_t)j, x.psi[ids] / x.n[query]};
        add_pair(sum, x, t, p, (float)ids * x.f.step);
    }
    sum[0] = pw_dev_tree(sum[0]);
    sum[1] = pw_dev_tree(sum[1]);
    if (there && threadIdx.x % 16 == 0)
        leave(rows + i * params, sum, x, t, query);
}

static __global__ void add_rows(float *d_param, const float *rows, size_t params, struct net x)
{
    size_t p = pw_dev_thread();
    if (p >= params)
        return;
    float sum = d_param[p];
    for (int i = 0; i < x.P; i++)
        if (p != 1 || below(x, i))
            sum += rows[(size_t)i * params + p];
    d_param[p] = sum;
}

cudaError_t pw_cuda_fire_fwd(cudaStream_t s, float *bias, const float *param, const struct pw_fire *f, int H,
                             int P)
{
    struct net x = {*f, param, NULL, NULL, f->hidden, H, P};
    return PW_LAUNCH(make_bias, dim3(pw_blocks((size_t)P * (size_t)P, PW_THREADS), (unsigned)H),
                     dim3(PW_THREADS), 0, s, bias, x);
}

size_t pw_cuda_fire_bwd_floats(const struct pw_fire *f, int H, int P)
{
    return (size_t)P * (2 + pw_fire_floats(f->hidden, H));
}

cudaError_t pw_cuda_fire_bwd(cudaStream_t s, float *d_param, float *d_bias, const float *param,
                             const struct pw_fire *f, int L, int H, int P, float *room)
{
    struct net x = {*f, param, room, room + P, f->hidden, H, P};
    float *rows = room + 2 * (size_t)P;
    int items = x.K + H * x.K + H + 1;
    size_t n = (size_t)H * (size_t)P * (size_t)P, params = pw_fire_floats(x.K, H);
    cudaError_t e =
        PW_LAUNCH(add_layers, dim3(pw_blocks(n, PW_THREADS)), dim3(PW_THREADS), 0, s, d_bias, n, L, x);
    if (e == cudaSuccess)
        e = PW_LAUNCH(add_queries, dim3(pw_blocks((size_t)P * (size_t)items, PW_HALVES)), dim3(PW_THREADS), 0,
                      s, rows, d_bias, x, items, params);
    if (e == cudaSuccess)
        e = PW_LAUNCH(add_rows, dim3(pw_blocks(params, PW_THREADS)), dim3(PW_THREADS), 0, s, d_param, rows,
                      params, x);
    return e;
}
