/* linear_parts.cu - the work beside a product of cuBLASLt in mode fast.
 *
 * All of it is limited by memory bandwidth, so a thread handles four numbers at a time where rows and
 * pointers allow it. The gradient of a bias is summed in two stages, whose parts depend on the shape only. */
#include "kernels/cuda/launch.h"
#include "kernels/cuda/linear.h"
#include "kernels/cuda/mma.h"

enum {
    THREADS = 256,
    STRIP = 32,              /* columns of a block of column_parts: one warp per row */
    LINES = THREADS / STRIP, /* rows that it reads at a time */
    PARTS = 128,             /* maximum number of parts of the rows */
    TOGETHER = 64,           /* copies in one launch: 1.5 of the 4 KiB allowed for its arguments */
    SPREAD = 1024,           /* maximum number of blocks for the largest copy */
};

/* Rows [R,columns] of floats or bf16, n columns per thread. A block has 2^lanes threads along a row, and
 * covers as many rows as fit. */
template <int n, class end_of, class number>
static __global__ void __launch_bounds__(THREADS)
    ends(end_of end, const number *product, size_t R, size_t columns, int lanes)
{
    size_t r = (size_t)blockIdx.x * (THREADS >> lanes) + (threadIdx.x >> lanes);
    size_t i = (((size_t)blockIdx.y << lanes) + (threadIdx.x & ((1u << lanes) - 1))) * n;
    if (r < R && i < columns) {
        float v[n];
        pw_dev_load(v, product + r * columns + i);
        end.put(v, r, i);
    }
}

static bool aligned(const void *p)
{
    return (uintptr_t)p % sizeof(float4) == 0;
}

template <class end_of, class number>
static cudaError_t launch_ends(cudaStream_t s, const end_of &end, const number *product, int R, int columns,
                               bool wide)
{
    int across = wide ? columns / 4 : columns, lanes = 0; /* threads per row */
    if (R == 0)
        return cudaSuccess;
    while (1 << lanes < across && 1 << lanes < THREADS)
        lanes++;
    dim3 grid((unsigned)(R - 1) / (THREADS >> lanes) + 1, ((unsigned)(across - 1) >> lanes) + 1);
    if (wide)
        return PW_LAUNCH((ends<4, end_of, number>), grid, THREADS, 0, s, end, product, (size_t)R,
                         (size_t)columns, lanes);
    return PW_LAUNCH((ends<1, end_of, number>), grid, THREADS, 0, s, end, product, (size_t)R, (size_t)columns,
                     lanes);
}

cudaError_t pw_cuda_linear_end(cudaStream_t s, float *y, uint16_t *rounded, float *pre, const float *product,
                               const float *bias, const float *residual, enum pw_act act, int R, int out)
{
    pw_fwd_end end = {y, pre, rounded, bias, residual, act, (size_t)out};
    bool wide = out % 4 == 0 && aligned(y) && aligned(rounded) && aligned(pre) && aligned(product) &&
                aligned(bias) && aligned(residual);
    return launch_ends(s, end, product, R, out, wide);
}

template <class number, class saved_number>
static cudaError_t dx_end(cudaStream_t s, float *dx, uint16_t *rounded, const number *product,
                          enum pw_act act, const saved_number *saved, float scale, int R, int in)
{
    pw_dx_end<saved_number> end = {dx, rounded, saved, act, scale, (size_t)in};
    bool wide = in % 4 == 0 && aligned(dx) && aligned(rounded) && aligned(product) && aligned(saved);
    return launch_ends(s, end, product, R, in, wide);
}

cudaError_t pw_cuda_linear_dx_end(cudaStream_t s, float *dx, uint16_t *rounded,
                                  struct pw_cuda_numbers product, enum pw_act act,
                                  struct pw_cuda_numbers saved, float scale, int R, int in)
{
    const uint16_t *narrow = product.bf16;
    if (saved.bf16 != NULL)
        return narrow != NULL ? dx_end(s, dx, rounded, narrow, act, saved.bf16, scale, R, in)
                              : dx_end(s, dx, rounded, product.f32, act, saved.bf16, scale, R, in);
    return narrow != NULL ? dx_end(s, dx, rounded, narrow, act, saved.f32, scale, R, in)
                          : dx_end(s, dx, rounded, product.f32, act, saved.f32, scale, R, in);
}

/* ---- column sums: first of parts of the rows, then of the parts */

static size_t part_rows(int R)
{
    size_t least = 64, even = ((size_t)R + PARTS - 1) / PARTS;
    return even > least ? even : least;
}

static size_t parts(int R)
{
    return ((size_t)R + part_rows(R) - 1) / part_rows(R);
}

size_t pw_cuda_column_partial(int R, int out)
{
    return parts(R) * (size_t)out;
}

static __device__ __forceinline__ float number_of(float x)
{
    return x;
}
static __device__ __forceinline__ float number_of(uint16_t x)
{
    return pw_dev_of_bf16(x);
}

/* partial[p][o] = sum of dy[r][o] over the rows of part p: LINES sums of every LINES-th row, then their
 * sum. */
template <class number>
static __global__ void __launch_bounds__(THREADS)
    column_parts(float *partial, const number *dy, size_t R, size_t out, size_t rows)
{
    PW_SHARED(float, sums, [LINES][STRIP]);
    unsigned column = threadIdx.x % STRIP, line = threadIdx.x / STRIP;
    size_t o = (size_t)blockIdx.y * STRIP + column, r0 = blockIdx.x * rows;
    size_t r1 = r0 + rows < R ? r0 + rows : R;
    float sum = 0.0f;
    if (o < out) {
#pragma unroll 8
        for (size_t r = r0 + line; r < r1; r += LINES)
            sum += number_of(dy[r * out + o]);
    }
    sums[line][column] = sum;
    __syncthreads();
    if (line == 0 && o < out) {
        for (int k = 1; k < LINES; k++)
            sum += sums[k][column];
        partial[blockIdx.x * out + o] = sum;
    }
}

static __global__ void column_end(float *d_bias, const float *partial, bool add, size_t n_parts, size_t out)
{
    size_t o = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (o < out) {
        float sum = 0.0f;
#pragma unroll 8
        for (size_t p = 0; p < n_parts; p++)
            sum += partial[p * out + o];
        d_bias[o] = add ? d_bias[o] + sum : sum;
    }
}

template <class number>
static cudaError_t launch_parts(cudaStream_t s, float *partial, const number *dy, int R, int out)
{
    dim3 grid((unsigned)parts(R), (unsigned)(out - 1) / STRIP + 1);
    return PW_LAUNCH(column_parts<number>, grid, THREADS, 0, s, partial, dy, (size_t)R, (size_t)out,
                     part_rows(R));
}

cudaError_t pw_cuda_column_sums(cudaStream_t s, float *d_bias, struct pw_cuda_numbers dy, bool add, int R,
                                int out, float *partial)
{
    cudaError_t e = cudaSuccess;
    if (R > 0)
        e = dy.bf16 != NULL ? launch_parts(s, partial, dy.bf16, R, out)
                            : launch_parts(s, partial, dy.f32, R, out);
    if (e != cudaSuccess)
        return e;
    return PW_LAUNCH(column_end, (unsigned)(out - 1) / STRIP + 1, STRIP, 0, s, d_bias, partial, add, parts(R),
                     (size_t)out);
}

/* ---- bf16 */

/* The copies to make, passed by value: kernels cannot read the host's memory. */
template <int most> struct copies {
    pw_cuda_copy at[most];
};

/* Makes copy blockIdx.y; a thread handles eight numbers at a time, which become 16 bytes. */
template <int most> static __global__ void __launch_bounds__(THREADS) round_all(copies<most> all)
{
    pw_cuda_copy c = all.at[blockIdx.y];
    bool wide = ((uintptr_t)c.to | (uintptr_t)c.from) % sizeof(float4) == 0;
    size_t step = (size_t)gridDim.x * THREADS * 8;
    for (size_t i = ((size_t)blockIdx.x * THREADS + threadIdx.x) * 8; i < c.n; i += step) {
        if (wide && i + 8 <= c.n) {
            const float4 *from = (const float4 *)(c.from + i);
            float4 a = from[0], b = from[1];
            *(uint4 *)(c.to + i) = make_uint4(pw_dev_bf16_pair(a.x, a.y), pw_dev_bf16_pair(a.z, a.w),
                                              pw_dev_bf16_pair(b.x, b.y), pw_dev_bf16_pair(b.z, b.w));
        } else {
            for (size_t k = i; k < c.n && k < i + 8; k++)
                c.to[k] = pw_dev_bf16(c.from[k]);
        }
    }
}

template <int most> static cudaError_t launch_round(cudaStream_t s, const pw_cuda_copy *from, int n)
{
    copies<most> all = {};
    size_t largest = 0;
    for (int i = 0; i < n; i++) {
        all.at[i] = from[i];
        largest = from[i].n > largest ? from[i].n : largest;
    }
    if (largest == 0)
        return cudaSuccess;
    size_t blocks = (largest - 1) / (8 * THREADS) + 1;
    if (most > 1 && blocks > SPREAD)
        blocks = SPREAD;
    return PW_LAUNCH(round_all<most>, dim3((unsigned)blocks, (unsigned)n), THREADS, 0, s, all);
}

cudaError_t pw_cuda_to_bf16(cudaStream_t s, uint16_t *to, const float *from, size_t n)
{
    pw_cuda_copy one = {to, from, n};
    return launch_round<1>(s, &one, 1);
}

cudaError_t pw_cuda_to_bf16_all(cudaStream_t s, const struct pw_cuda_copy *copies, int n)
{
    cudaError_t e = cudaSuccess;
    if (n <= 2)
        return launch_round<2>(s, copies, n);
    for (int i = 0; i < n && e == cudaSuccess; i += TOGETHER)
        e = launch_round<TOGETHER>(s, copies + i, n - i < TOGETHER ? n - i : TOGETHER);
    return e;
}

static __global__ void __launch_bounds__(THREADS) widen(float *to, const uint16_t *from, size_t n)
{
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < n)
        to[i] = pw_dev_of_bf16(from[i]);
}

cudaError_t pw_cuda_of_bf16(cudaStream_t s, float *to, const uint16_t *from, size_t n)
{
    if (n == 0)
        return cudaSuccess;
    return PW_LAUNCH(widen, dim3((unsigned)((n - 1) / THREADS + 1)), THREADS, 0, s, to, from, n);
}
