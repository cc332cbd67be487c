/* planes.cu - q and k turned in planes (struct pw_planes) in the order of kernels/backend.h. A thread has one
 * plane of one head of a row, for the products with its vectors and its turn, and then one entry of the head,
 * for the sum over planes. Gradients of vectors and factors are chains over rows, one thread an entry. */
#include "base/exp_pair.h"
#include "base/sin_pair.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/rows.h"

/* Plane j of head k of q and k (of 2H) in row r. */
struct item {
    size_t r, k, j;
};
static __device__ __forceinline__ struct item item_of(const struct pw_planes &p, size_t at)
{
    size_t N = (size_t)p.planes, row = 2 * (size_t)p.heads * N;
    return {at / row, at % row / N, at % N};
}

static __device__ __forceinline__ const float *first_vector(const struct pw_planes &p, size_t k, size_t j)
{
    size_t N = (size_t)p.planes;
    return p.unit + (k % (size_t)p.heads * 2 * N + j) * (size_t)p.head_width;
}

static __device__ __forceinline__ double angle_of(const struct pw_planes &p, const struct item &x, int id)
{
    size_t at = x.k % (size_t)p.heads * (size_t)p.planes + x.j;
    double frequency = pw_exp_pair((double)p.log_factor[at] - (double)x.j * p.fall, 0);
    return (p.from + (double)id * p.step) * frequency;
}

/* The products of x and both vectors of a plane. */
static __device__ __forceinline__ float2 products(const float *x, const float *u, size_t N, size_t D)
{
    const float *v = u + N * D;
    float2 sum = make_float2(0.0f, 0.0f);
    for (size_t d = 0; d < D; d++) {
        sum.x = fmaf(x[d], u[d], sum.x);
        sum.y = fmaf(x[d], v[d], sum.y);
    }
    return sum;
}

/* parts [6,n] receives e and f, and with dy dp, dq, the factor of the angle in its gradient, and the angle.
 */
static __global__ void turn_planes(float *parts, const float *dy, const float *qkv, struct pw_planes p,
                                   const int *pos, size_t n)
{
    size_t at = pw_dev_thread(), H = (size_t)p.heads, N = (size_t)p.planes, D = (size_t)p.head_width;
    if (at >= n)
        return;
    struct item x = item_of(p, at);
    const float *u = first_vector(p, x.k, x.j);
    double angle = angle_of(p, x, pos[x.r]);
    float C = (float)(pw_cos_inline(angle) - 1), S = (float)pw_sin_inline(angle);
    float2 of_x = products(qkv + (x.r * 3 * H + x.k) * D, u, N, D);
    parts[at] = fmaf(C, of_x.x, S * of_x.y);
    parts[n + at] = fmaf(C, of_x.y, 0.0f - S * of_x.x);
    if (dy == NULL)
        return;
    float2 of_dy = products(dy + (x.r * 2 * H + x.k) * D, u, N, D);
    float cosine = C + 1.0f, by_u = fmaf(cosine, of_x.y, 0.0f - S * of_x.x),
          by_v = fmaf(cosine, of_x.x, S * of_x.y);
    parts[2 * n + at] = fmaf(C, of_dy.x, 0.0f - S * of_dy.y);
    parts[3 * n + at] = fmaf(C, of_dy.y, S * of_dy.x);
    parts[4 * n + at] = fmaf(of_dy.x, by_u, 0.0f - of_dy.y * by_v);
    parts[5 * n + at] = (float)angle;
}

/* y = x + the sum over planes of a and u, b and v. Rows of x and y have this many heads. */
static __global__ void add_vectors(float *y, size_t y_heads, const float *x, size_t x_heads, const float *a,
                                   const float *b, struct pw_planes p, size_t n)
{
    size_t at = pw_dev_thread(), N = (size_t)p.planes, D = (size_t)p.head_width, H2 = 2 * (size_t)p.heads;
    if (at >= n)
        return;
    size_t d = at % D, k = at / D % H2, r = at / D / H2;
    const float *u = first_vector(p, k, 0) + d, *v = u + N * D;
    float sum = x[(r * x_heads + k) * D + d];
    for (size_t j = 0, from = (r * H2 + k) * N; j < N; j++)
        sum = fmaf(b[from + j], v[j * D], fmaf(a[from + j], u[j * D], sum));
    y[(r * y_heads + k) * D + d] = sum;
}

/* Entry `at` of d_unit [H,2N,D]. */
static __global__ void sum_units(float *d_unit, const float *parts, const float *dy, const float *qkv,
                                 struct pw_planes p, size_t n, size_t R)
{
    size_t at = pw_dev_thread(), H = (size_t)p.heads, N = (size_t)p.planes, D = (size_t)p.head_width;
    if (at >= H * 2 * N * D)
        return;
    size_t d = at % D, vector = at / D % (2 * N), h = at / D / (2 * N), second = vector / N, j = vector % N;
    const float *of_dy = parts + second * n, *of_x = parts + (2 + second) * n;
    float sum = d_unit[at];
    for (size_t i = 0; i < 2 * R; i++) { /* q, then k of each row */
        size_t r = i / 2, k = i % 2 * H + h, own = (r * 2 * H + k) * N + j;
        sum = fmaf(of_dy[own], dy[(r * 2 * H + k) * D + d], sum);
        sum = fmaf(of_x[own], qkv[(r * 3 * H + k) * D + d], sum);
    }
    d_unit[at] = sum;
}

/* Entry `at` of d_log_factor [H,N]. */
static __global__ void sum_factors(float *d_log_factor, const float *parts, size_t HN, size_t n, size_t R)
{
    size_t at = pw_dev_thread();
    if (at >= HN)
        return;
    float sum = d_log_factor[at];
    for (size_t i = 0; i < 2 * R; i++)
        sum = fmaf(parts[4 * n + i * HN + at], parts[5 * n + i * HN + at], sum);
    d_log_factor[at] = sum;
}

static size_t items_of(const struct pw_planes *p, int R)
{
    return (size_t)R * 2 * (size_t)p->heads * (size_t)p->planes;
}

static cudaError_t add(cudaStream_t s, float *y, size_t y_heads, const float *x, size_t x_heads,
                       const float *a, const float *b, const struct pw_planes *p, int R)
{
    size_t n = (size_t)R * 2 * (size_t)p->heads * (size_t)p->head_width;
    return PW_LAUNCH(add_vectors, dim3(pw_blocks(n, PW_THREADS)), dim3(PW_THREADS), 0, s, y, y_heads, x,
                     x_heads, a, b, *p, n);
}

size_t pw_cuda_planes_floats(const struct pw_planes *p, int R)
{
    return 2 * items_of(p, R);
}

cudaError_t pw_cuda_planes_fwd(cudaStream_t s, float *y, const float *qkv, const struct pw_planes *p,
                               const int *pos, int R, float *room)
{
    size_t n = items_of(p, R), H = (size_t)p->heads;
    if (n == 0)
        return cudaSuccess;
    cudaError_t e = PW_LAUNCH(turn_planes, dim3(pw_blocks(n, PW_THREADS)), dim3(PW_THREADS), 0, s, room, NULL,
                              qkv, *p, pos, n);
    return e != cudaSuccess ? e : add(s, y, 2 * H, qkv, 3 * H, room, room + n, p, R);
}

size_t pw_cuda_planes_bwd_floats(const struct pw_planes *p, int R)
{
    return 6 * items_of(p, R);
}

cudaError_t pw_cuda_planes_bwd(cudaStream_t s, float *dqkv, float *d_unit, float *d_log_factor,
                               const float *dy, const float *qkv, const struct pw_planes *p, const int *pos,
                               int R, float *room)
{
    size_t n = items_of(p, R), H = (size_t)p->heads, HN = H * (size_t)p->planes,
           units = 2 * HN * (size_t)p->head_width;
    if (n == 0)
        return cudaSuccess;
    cudaError_t e = PW_LAUNCH(turn_planes, dim3(pw_blocks(n, PW_THREADS)), dim3(PW_THREADS), 0, s, room, dy,
                              qkv, *p, pos, n);
    if (e == cudaSuccess)
        e = PW_LAUNCH(sum_units, dim3(pw_blocks(units, PW_THREADS)), dim3(PW_THREADS), 0, s, d_unit, room, dy,
                      qkv, *p, n, (size_t)R);
    if (e == cudaSuccess)
        e = PW_LAUNCH(sum_factors, dim3(pw_blocks(HN, PW_THREADS)), dim3(PW_THREADS), 0, s, d_log_factor,
                      room, HN, n, (size_t)R);
    return e != cudaSuccess ? e : add(s, dqkv, 3 * H, dy, 2 * H, room + 2 * n, room + 3 * n, p, R);
}
