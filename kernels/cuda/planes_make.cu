/* planes_make.cu - unit vectors of planes by Gram-Schmidt, and the gradients of the learned vectors, in the
 * order of kernels/backend.h. A block has one head. In each step a thread has one later vector, and keeps it
 * for its product and its subtraction; sums over one vector are few and are chains of one thread. */
#include "kernels/cuda/launch.h"
#include "kernels/cuda/rows.h"

/* The vectors of one head, M = 2N columns of D entries: as in kernels/cpu/planes_make.c. */
struct head {
    size_t D, M;
    double *w, *e, *g, *t, *length, *sums, *own, *along;
};

static __host__ __device__ __forceinline__ size_t head_doubles(size_t N, size_t D)
{
    return 6 * N * D + 4 * N * N + 4 * N + D + 1;
}

static __device__ __forceinline__ struct head head_of(double *room, int N, int D)
{
    size_t M = 2 * (size_t)N, DM = (size_t)D * M;
    double *at = room + (size_t)blockIdx.x * head_doubles((size_t)N, (size_t)D), *t = at + 3 * DM,
           *own = t + M * M + 2 * M;
    return {(size_t)D, M, at, at + DM, at + 2 * DM, t, t + M * M, t + M * M + M, own, own + D};
}

static __device__ __forceinline__ double inverse(double length)
{
    return 1 / (length > PW_PLANES_EPS ? length : PW_PLANES_EPS);
}

/* Where entry d of vector k of this block's head is in [H,N,D], and in [H,2N,D]. */
static __device__ __forceinline__ size_t learned_at(const struct head &x, size_t k, size_t d)
{
    return ((size_t)blockIdx.x * (x.M / 2) + k / 2) * x.D + d;
}
static __device__ __forceinline__ size_t unit_at(const struct head &x, size_t k, size_t d)
{
    return ((size_t)blockIdx.x * x.M + k / 2 + k % 2 * (x.M / 2)) * x.D + d;
}

static __device__ __forceinline__ void remove_direction(const struct head &x, size_t k)
{
    size_t me = threadIdx.x, D = x.D, M = x.M;
    if (me == 0) {
        double square = 0;
        for (size_t d = 0; d < D; d++)
            square = fma(x.w[d * M + k], x.w[d * M + k], square);
        x.length[k] = sqrt(square);
    }
    __syncthreads();
    for (size_t d = me; d < D; d += PW_THREADS)
        x.e[d * M + k] = x.w[d * M + k] * inverse(x.length[k]);
    __syncthreads();
    for (size_t i = k + 1 + me; i < M; i += PW_THREADS) {
        double t = 0;
        for (size_t d = 0; d < D; d++)
            t = fma(x.e[d * M + k], x.w[d * M + i], t);
        for (size_t d = 0; d < D; d++)
            x.w[d * M + i] = fma(-t, x.e[d * M + k], x.w[d * M + i]);
        x.t[k * M + i] = t;
    } /* no barrier: thread 0 has written the vector of which it sums the squares next */
}

static __device__ __forceinline__ void make_head(const struct head &x, const float *a, const float *b)
{
    for (size_t i = threadIdx.x; i < x.M * x.D; i += PW_THREADS) {
        size_t d = i / x.M, k = i % x.M;
        x.w[i] = (double)(k % 2 == 0 ? a : b)[learned_at(x, k, d)];
    }
    __syncthreads();
    for (size_t k = 0; k < x.M; k++)
        remove_direction(x, k);
}

static __global__ void make_units(float *unit, double *room, const float *a, const float *b, int N, int D)
{
    struct head x = head_of(room, N, D);
    make_head(x, a, b);
    for (size_t i = threadIdx.x; i < x.M * x.D; i += PW_THREADS)
        unit[unit_at(x, i % x.M, i / x.M)] = (float)x.e[i];
}

static __device__ __forceinline__ void restore_direction(const struct head &x, size_t k)
{
    size_t me = threadIdx.x, D = x.D, M = x.M;
    for (size_t i = k + 1 + me; i < M; i += PW_THREADS) {
        double r = 0;
        for (size_t d = 0; d < D; d++)
            r = fma(x.e[d * M + k], x.g[d * M + i], r);
        x.sums[i] = r;
    }
    __syncthreads();
    for (size_t d = me; d < D; d += PW_THREADS) {
        double e = x.e[d * M + k], sum = x.g[d * M + k];
        for (size_t i = k + 1; i < M; i++) {
            double t = x.t[k * M + i], r = x.sums[i], f = x.g[d * M + i];
            double w = fma(t, e, x.w[d * M + i]);
            sum = fma(-r, w, fma(-t, f, sum));
            x.g[d * M + i] = fma(-r, e, f);
            x.w[d * M + i] = w;
        }
        x.own[d] = sum;
    }
    __syncthreads();
    if (me == 0) {
        double along = 0;
        for (size_t d = 0; d < D; d++)
            along = fma(x.e[d * M + k], x.own[d], along);
        *x.along = along;
    }
    __syncthreads();
    for (size_t d = me; d < D; d += PW_THREADS) {
        double sum = x.own[d];
        if (x.length[k] > PW_PLANES_EPS)
            sum = fma(-*x.along, x.e[d * M + k], sum);
        x.g[d * M + k] = sum * inverse(x.length[k]);
    }
    __syncthreads();
}

static __global__ void make_back(float *d_a, float *d_b, double *room, const float *d_unit, const float *a,
                                 const float *b, int N, int D)
{
    struct head x = head_of(room, N, D);
    make_head(x, a, b);
    for (size_t i = threadIdx.x; i < x.M * x.D; i += PW_THREADS)
        x.g[i] = (double)d_unit[unit_at(x, i % x.M, i / x.M)];
    for (size_t k = x.M; k-- > 0;) /* the last vector reads no g before its first barrier */
        restore_direction(x, k);
    for (size_t i = threadIdx.x; i < x.M * x.D; i += PW_THREADS) {
        size_t d = i / x.M, k = i % x.M;
        (k % 2 == 0 ? d_a : d_b)[learned_at(x, k, d)] += (float)x.g[i];
    }
}

size_t pw_cuda_planes_make_bytes(int H, int N, int D)
{
    return (size_t)H * head_doubles((size_t)N, (size_t)D) * sizeof(double);
}

cudaError_t pw_cuda_planes_make(cudaStream_t s, float *unit, const float *a, const float *b, int H, int N,
                                int D, double *room)
{
    return PW_LAUNCH(make_units, dim3((unsigned)H), dim3(PW_THREADS), 0, s, unit, room, a, b, N, D);
}

cudaError_t pw_cuda_planes_make_bwd(cudaStream_t s, float *d_a, float *d_b, const float *d_unit,
                                    const float *a, const float *b, int H, int N, int D, double *room)
{
    return PW_LAUNCH(make_back, dim3((unsigned)H), dim3(PW_THREADS), 0, s, d_a, d_b, room, d_unit, a, b, N,
                     D);
}
