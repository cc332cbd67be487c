/* polar.cu - wide q and k (struct pw_polar) in the order of kernels/backend.h. A thread has one entry of q or
 * k of a row. Cosines and sines of the phases come first, in double precision, because there are few. The
 * gradient of the phases is a chain over rows, one thread an entry, of numbers that are computed before. */
#include "base/sin_pair.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/maths.h"
#include "kernels/cuda/rows.h"

#define LEAST -6.28318531f /* -2 pi */

/* turned [2,HD] receives the cosines and then the sines of the phases [HD]. */
static __global__ void turn_phases(float *turned, const float *phase, size_t HD)
{
    size_t at = pw_dev_thread();
    if (at >= HD)
        return;
    float p = phase[at] < LEAST ? LEAST : phase[at] > 0.0f ? 0.0f : phase[at];
    turned[at] = (float)pw_cos_inline((double)p);
    turned[HD + at] = (float)pw_sin_inline((double)p);
}

/* Entry `at` of q and k of all rows [R,2HD]: its row, its head of 2H, and its place in the head. */
struct entry {
    size_t r, k, i;
};
static __device__ __forceinline__ struct entry entry_of(const struct pw_polar &p, size_t at)
{
    size_t D = (size_t)p.head_width, row = 2 * (size_t)p.heads * D;
    return {at / row, at % row / D, at % D};
}

/* Its cosine and sine: those of the position, and for k of the phase. */
static __device__ __forceinline__ float2 angle_of(const struct pw_polar &p, const float *turned,
                                                  const int *pos, const struct entry &e)
{
    size_t D = (size_t)p.head_width, HD = (size_t)p.heads * D, at = (size_t)pos[e.r] * D + e.i;
    float C = p.cosine[at], S = p.sine[at];
    if (e.k < (size_t)p.heads)
        return make_float2(C, S);
    size_t own = e.k * D - HD + e.i;
    float c = turned[own], s = turned[HD + own];
    return make_float2(fmaf(C, c, 0.0f - S * s), fmaf(S, c, C * s));
}

static __global__ void polar_kernel(float *y, const float *turned, const float *qkv, struct pw_polar p,
                                    const int *pos, size_t n)
{
    size_t at = pw_dev_thread(), D = (size_t)p.head_width, H = (size_t)p.heads;
    if (at >= n)
        return;
    struct entry e = entry_of(p, at);
    float m = pw_dev_softplus(qkv[(e.r * 3 * H + e.k) * D + e.i]);
    if (p.cosine == NULL) {
        y[at] = m;
        return;
    }
    float2 t = angle_of(p, turned, pos, e);
    float *to = y + (e.r * 2 * H + e.k) * 2 * D + e.i;
    to[0] = m * t.x;
    to[D] = m * t.y;
}

/* parts [2,R,HD] receives the factors of the gradient of the phases: the lengths, and what multiplies them.
 */
static __global__ void polar_back(float *dqkv, float *parts, const float *turned, const float *dy,
                                  const float *qkv, struct pw_polar p, const int *pos, size_t n)
{
    size_t at = pw_dev_thread(), D = (size_t)p.head_width, H = (size_t)p.heads;
    if (at >= n)
        return;
    struct entry e = entry_of(p, at);
    float2 t = angle_of(p, turned, pos, e);
    const float *d = dy + (e.r * 2 * H + e.k) * 2 * D + e.i;
    size_t own = (e.r * 3 * H + e.k) * D + e.i;
    float rise, minus, x = qkv[own];
    pw_dev_sigmoid(x, &rise, &minus);
    dqkv[own] = fmaf(d[0], t.x, d[D] * t.y) * rise;
    if (e.k < H)
        return;
    size_t to = (e.r * H + e.k - H) * D + e.i;
    parts[to] = pw_dev_softplus(x);
    parts[n / 2 + to] = fmaf(d[D], t.x, 0.0f - d[0] * t.y);
}

static __global__ void sum_phases(float *d_phase, const float *parts, const float *phase, size_t HD, size_t R)
{
    size_t at = pw_dev_thread();
    if (at >= HD || phase[at] < LEAST || phase[at] > 0.0f)
        return;
    float sum = d_phase[at];
#pragma unroll 8
    for (size_t r = 0; r < R; r++)
        sum = fmaf(parts[r * HD + at], parts[(R + r) * HD + at], sum);
    d_phase[at] = sum;
}

size_t pw_cuda_polar_floats(const struct pw_polar *p)
{
    return 2 * (size_t)p->heads * (size_t)p->head_width;
}

static cudaError_t phases(cudaStream_t s, float *turned, const struct pw_polar *p)
{
    size_t HD = pw_cuda_polar_floats(p) / 2;
    return PW_LAUNCH(turn_phases, dim3(pw_blocks(HD, PW_THREADS)), dim3(PW_THREADS), 0, s, turned, p->phase,
                     HD);
}

cudaError_t pw_cuda_polar_fwd(cudaStream_t s, float *y, const float *qkv, const struct pw_polar *p,
                              const int *pos, int R, float *room)
{
    size_t n = (size_t)R * pw_cuda_polar_floats(p);
    if (n == 0)
        return cudaSuccess;
    cudaError_t e = p->cosine != NULL ? phases(s, room, p) : cudaSuccess;
    if (e != cudaSuccess)
        return e;
    return PW_LAUNCH(polar_kernel, dim3(pw_blocks(n, PW_THREADS)), dim3(PW_THREADS), 0, s, y, room, qkv, *p,
                     pos, n);
}

size_t pw_cuda_polar_bwd_floats(const struct pw_polar *p, int R)
{
    return (1 + (size_t)R) * pw_cuda_polar_floats(p);
}

cudaError_t pw_cuda_polar_bwd(cudaStream_t s, float *dqkv, float *d_phase, const float *dy, const float *qkv,
                              const struct pw_polar *p, const int *pos, int R, float *room)
{
    size_t n = (size_t)R * pw_cuda_polar_floats(p), HD = pw_cuda_polar_floats(p) / 2;
    float *parts = room + 2 * HD;
    if (n == 0)
        return cudaSuccess;
    cudaError_t e = phases(s, room, p);
    if (e == cudaSuccess)
        e = PW_LAUNCH(polar_back, dim3(pw_blocks(n, PW_THREADS)), dim3(PW_THREADS), 0, s, dqkv, parts, room,
                      dy, qkv, *p, pos, n);
    if (e == cudaSuccess)
        e = PW_LAUNCH(sum_phases, dim3(pw_blocks(HD, PW_THREADS)), dim3(PW_THREADS), 0, s, d_phase, parts,
                      p->phase, HD, (size_t)R);
    return e;
}
