/* slopes.cu - slopes of rows in the order of kernels/backend.h. Half a warp has one head of q or k of a row;
 * its threads are the sixteen lanes. The gradients of directions and factors are chains over all rows, one
 * thread an entry. */
#include "kernels/cuda/launch.h"
#include "kernels/cuda/maths.h"
#include "kernels/cuda/rows.h"

/* The directions that head k of q and k, of 2H, is multiplied by; NULL: none. */
static __device__ __forceinline__ const float *direction_of(const struct pw_slopes &s, int k)
{
    const float *u = k < s.heads ? s.query : s.key;
    return u != NULL ? u + (size_t)(k % s.heads) * (size_t)s.head_width : NULL;
}

/* 1 / |u| in every lane of a half warp, and the product t of x and u / |u|. width: 0 for a half without a
 * row. */
static __device__ __forceinline__ float product(float *t, const float *x, const float *u, int width)
{
    int lane = (int)threadIdx.x % 16;
    float square = 0.0f, sum = 0.0f;
    for (int i = lane; i < width; i += 16)
        square = fmaf(u[i], u[i], square);
    float length = sqrtf(pw_dev_tree(square));
    float inverse = 1.0f / (length > PW_SLOPES_EPS ? length : PW_SLOPES_EPS);
    for (int i = lane; i < width; i += 16)
        sum = fmaf(x[i], u[i] * inverse, sum);
    *t = pw_dev_tree(sum);
    return inverse;
}

static __device__ __forceinline__ float factor_of(const struct pw_slopes &s, int h)
{
    return pw_dev_softplus(s.omega[h]) * s.slope[h];
}

static __global__ void slopes_kernel(float *y, const float *qkv, struct pw_slopes s, int R)
{
    size_t at = pw_dev_half(), H2 = 2 * (size_t)s.heads, r = at / H2, D = (size_t)s.head_width;
    int k = (int)(at % H2);
    bool some = r < (size_t)R;
    const float *u = direction_of(s, k), *x = qkv + (r * 3 * (size_t)s.heads + (size_t)k) * D;
    float t;
    product(&t, x, u, some && u != NULL ? s.head_width : 0);
    if (some && threadIdx.x % 16 == 0)
        y[at] = u != NULL
                    ? pw_dev_softplus(t * (1.0f / sqrtf((float)s.head_width))) * factor_of(s, k % s.heads)
                    : 0.0f;
}

/* The numbers that the chains over rows read: [R,2H] each, and inverse [2H]. */
struct parts {
    float *t, *g, *plus, *inverse;
};

static __global__ void slopes_back(float *dqkv, struct parts p, const float *dy, const float *qkv,
                                   struct pw_slopes s, int R)
{
    size_t at = pw_dev_half(), H2 = 2 * (size_t)s.heads, r = at / H2, D = (size_t)s.head_width;
    int k = (int)(at % H2), lane = (int)threadIdx.x % 16;
    const float *u = direction_of(s, k);
    int width = r < (size_t)R && u != NULL ? s.head_width : 0;
    size_t row = (r * 3 * (size_t)s.heads + (size_t)k) * D;
    float t, inverse = product(&t, qkv + row, u, width), scale = 1.0f / sqrtf((float)s.head_width);
    if (width == 0)
        return;
    float rise, minus;
    pw_dev_sigmoid(t * scale, &rise, &minus);
    float g = ((dy[at] * factor_of(s, k % s.heads)) * rise) * scale;
    for (int i = lane; i < width; i += 16)
        dqkv[row + (size_t)i] = fmaf(g, u[i] * inverse, dqkv[row + (size_t)i]);
    if (lane > 0)
        return;
    p.t[at] = t;
    p.g[at] = g;
    p.plus[at] = pw_dev_softplus(t * scale);
    if (r == 0)
        p.inverse[k] = inverse;
}

/* Entry `at` of the directions [2H,D], or behind them of omega [H]. */
static __global__ void slopes_chains(struct pw_slopes_grad d, struct parts p, const float *dy,
                                     const float *qkv, struct pw_slopes s, int R)
{
    size_t at = pw_dev_thread(), H = (size_t)s.heads, D = (size_t)s.head_width, HD = H * D;
    if (at >= 2 * HD + H)
        return;
    if (at >= 2 * HD) {
        size_t h = at - 2 * HD;
        float rise, minus, sum = d.omega[h];
        pw_dev_sigmoid(s.omega[h], &rise, &minus);
        for (size_t i = 0; i < 2 * (size_t)R; i++)
            if ((i % 2 == 0 ? s.query : s.key) != NULL)
                sum = fmaf(dy[i * H + h] * p.plus[i * H + h], rise * s.slope[h], sum);
        d.omega[h] = sum;
        return;
    }
    size_t k = at / D, i = at % D;
    const float *u = direction_of(s, (int)k);
    if (u == NULL)
        return;
    float *to = (k < H ? d.query : d.key) + at % HD, sum = *to, unit = u[i] * p.inverse[k];
    for (size_t r = 0; r < (size_t)R; r++) {
        size_t own = r * 2 * H + k;
        sum = fmaf(p.g[own] * p.inverse[k], qkv[(r * 3 * H + k) * D + i] - p.t[own] * unit, sum);
    }
    *to = sum;
}

cudaError_t pw_cuda_slopes_fwd(cudaStream_t s, float *y, const float *qkv, const struct pw_slopes *p, int R)
{
    if (R == 0)
        return cudaSuccess;
    return PW_LAUNCH(slopes_kernel, dim3(pw_blocks((size_t)R * 2 * (size_t)p->heads, PW_HALVES)),
                     dim3(PW_THREADS), 0, s, y, qkv, *p, R);
}

size_t pw_cuda_slopes_bwd_floats(const struct pw_slopes *p, int R)
{
    return (3 * (size_t)R + 1) * 2 * (size_t)p->heads;
}

cudaError_t pw_cuda_slopes_bwd(cudaStream_t s, float *dqkv, const struct pw_slopes_grad *d, const float *dy,
                               const float *qkv, const struct pw_slopes *p, int R, float *room)
{
    size_t n = (size_t)R * 2 * (size_t)p->heads, learned = (size_t)p->heads * (2 * (size_t)p->head_width + 1);
    struct parts parts = {room, room + n, room + 2 * n, room + 3 * n};
    if (R == 0)
        return cudaSuccess;
    cudaError_t e = PW_LAUNCH(slopes_back, dim3(pw_blocks(n, PW_HALVES)), dim3(PW_THREADS), 0, s, dqkv, parts,
                              dy, qkv, *p, R);
    if (e != cudaSuccess)
        return e;
    return PW_LAUNCH(slopes_chains, dim3(pw_blocks(learned, PW_THREADS)), dim3(PW_THREADS), 0, s, *d, parts,
                     dy, qkv, *p, R);
}
