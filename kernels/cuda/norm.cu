/* norm.cu - RMS norm (Zhang and Sennrich 2019), layer norm (Ba et al. 2016), or a plain factor.
 *
 * The operations are those of kernels/cpu/norm.c in their order; half a warp handles a row, its threads are
 * the sixteen lanes. Backward, a block has sixteen rows: first the means of each row, then the sums down the
 * rows column by column, while x and dy are still in the cache. In ref, d_gain and d_bias are chains over all
 * rows. In fast, every block writes the sums over its rows (partial [blocks,2,C]), which are added in a fixed
 * order. If there are few rows, separate blocks add them: they read x and dy again, and depend on nothing
 * else. With a second stream these blocks are a kernel on it, otherwise additional blocks of the same launch.
 */
#include "kernels/cuda/launch.h"
#include "kernels/cuda/mma.h"
#include "kernels/cuda/rows.h"

enum {
    NARROW = 4, /* columns of a block that adds all rows */
    ACROSS = PW_THREADS / NARROW,
    AHEAD = 8,       /* rows that a thread of such a block loads at once */
    FEW_ROWS = 4096, /* rows for such blocks, at most: 64 dependent additions */
    FEW = 1 << 19,   /* numbers, at most: they are read twice, 16 bytes of a row at a time */
};

/* y or rounded may be NULL. */
static __global__ void norm_rows(float *__restrict__ y, uint16_t *__restrict__ rounded,
                                 float *__restrict__ stat, const float *__restrict__ x,
                                 const float *__restrict__ gain, const float *__restrict__ bias,
                                 enum pw_norm kind, float eps, float scale, int R, int C)
{
    size_t r = pw_dev_half();
    int lane = (int)threadIdx.x % 16, n = r < (size_t)R ? C : 0;
    float mean = 0.0f, rstd = 1.0f;
    x += r * (size_t)C;
    if (kind == PW_NORM_LAYER) {
        float s = 0.0f;
#pragma unroll 8
        for (int i = lane; i < n; i += 16)
            s += x[i];
        mean = pw_dev_tree(s) / (float)C;
    }
    if (kind != PW_NORM_NONE) {
        float s = 0.0f;
#pragma unroll 8
        for (int i = lane; i < n; i += 16) {
            float d = x[i] - mean;
            s = fmaf(d, d, s);
        }
        rstd = 1.0f / sqrtf(pw_dev_tree(s) / (float)C + eps);
    }
    if (n > 0 && lane < 2)
        stat[2 * r + (size_t)lane] = lane == 0 ? mean : rstd;
#pragma unroll 4
    for (int i = lane; i < n; i += 16) {
        float v = x[i];
        if (kind != PW_NORM_NONE) {
            v = (v - mean) * rstd;
            if (gain != NULL)
                v = v * gain[i];
            if (bias != NULL)
                v = v + bias[i];
        }
        if (y != NULL)
            y[r * (size_t)C + (size_t)i] = scale * v;
        if (rounded != NULL)
            rounded[r * (size_t)C + (size_t)i] = pw_dev_bf16(scale * v);
    }
}

cudaError_t pw_cuda_norm_fwd(cudaStream_t s, float *y, uint16_t *rounded, float *stat, const float *x,
                             const float *gain, const float *bias, enum pw_norm kind, float eps, float scale,
                             int R, int C)
{
    if (R == 0)
        return cudaSuccess;
    return PW_LAUNCH(norm_rows, dim3(pw_blocks((size_t)R, PW_HALVES)), dim3(PW_THREADS), 0, s, y, rounded,
                     stat, x, gain, bias, kind, eps, scale, R, C);
}

/* Adds NARROW columns from number `first` on, over all rows, to d_gain and d_bias, of which one may be
 * NULL. Neighbouring threads have neighbouring columns, and each thread every ACROSS-th row; then the
 * threads of a warp are added as a tree, then the warps in ascending order. */
static __device__ __forceinline__ void add_columns(float (*sums)[2][NARROW], float *d_gain, float *d_bias,
                                                   const float *dy, const float *x, const float *stat,
                                                   float scale, size_t first, int R, int C)
{
    int column = (int)threadIdx.x % NARROW, warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    size_t i = first + (size_t)column, width = (size_t)C;
    int n = i < width ? R : 0;
    float by_gain = 0.0f, by_bias = 0.0f;
    for (int k = (int)threadIdx.x / NARROW; k < n; k += AHEAD * ACROSS) {
        float u[AHEAD], v[AHEAD], mean[AHEAD], rstd[AHEAD];
#pragma unroll
        for (int a = 0; a < AHEAD; a++) {
            size_t r = (size_t)k + (size_t)a * ACROSS;
            bool there = r < (size_t)n;
            u[a] = there ? dy[r * width + i] : 0.0f;
            v[a] = there ? x[r * width + i] : 0.0f;
            mean[a] = there ? stat[2 * r] : 0.0f;
            rstd[a] = there ? stat[2 * r + 1] : 0.0f;
        }
#pragma unroll
        for (int a = 0; a < AHEAD; a++) {
            float t = scale * u[a];
            by_gain = fmaf(t, (v[a] - mean[a]) * rstd[a], by_gain);
            by_bias += t;
        }
    }
    for (int by = NARROW; by < 32; by *= 2) {
        by_gain += __shfl_xor_sync(PW_ALL_LANES, by_gain, by);
        by_bias += __shfl_xor_sync(PW_ALL_LANES, by_bias, by);
    }
    if (lane < NARROW) {
        sums[warp][0][column] = by_gain;
        sums[warp][1][column] = by_bias;
    }
    __syncthreads();
    float *to = lane < NARROW ? d_gain : d_bias;
    if (warp == 0 && lane < 2 * NARROW && n > 0 && to != NULL) {
        float s = 0.0f;
        for (int w = 0; w < PW_WARPS; w++)
            s += sums[w][lane / NARROW][column];
        to[i] += s;
    }
}

/* partial may be NULL. Blocks after those of the rows, if any, add columns. */
static __global__ void norm_back(float *__restrict__ dx, uint16_t *__restrict__ rounded,
                                 float *__restrict__ partial, float *__restrict__ d_gain,
                                 float *__restrict__ d_bias, const float *__restrict__ dy,
                                 const float *__restrict__ x, const float *__restrict__ stat,
                                 const float *__restrict__ gain, enum pw_norm kind, float scale, int R, int C)
{
    PW_SHARED(float, row, [PW_HALVES][4]); /* mean, rstd, mean(u), mean(u*xhat) */
    PW_SHARED(float, sums, [PW_WARPS][2][NARROW]);
    size_t first = (size_t)blockIdx.x * PW_HALVES, width = (size_t)C;
    if (first >= (size_t)R) {
        size_t block = blockIdx.x - ((size_t)R + PW_HALVES - 1) / PW_HALVES;
        add_columns(sums, d_gain, d_bias, dy, x, stat, scale, block * NARROW, R, C);
        return;
    }
    int lane = (int)threadIdx.x % 16, half = (int)threadIdx.x / 16;
    int rows = (size_t)R - first < PW_HALVES ? (int)((size_t)R - first) : PW_HALVES;
    x += first * width;
    dy += first * width;
    dx += first * width;
    rounded = rounded != NULL ? rounded + first * width : NULL;
    stat += 2 * first;
    if (kind != PW_NORM_NONE) {
        const float *a = x + (size_t)half * width, *b = dy + (size_t)half * width;
        int n = half < rows ? C : 0;
        float mean = n > 0 ? stat[2 * half] : 0.0f, rstd = n > 0 ? stat[2 * half + 1] : 0.0f;
        float s1 = 0.0f, s2 = 0.0f;
#pragma unroll 8
        for (int i = lane; i < n; i += 16) {
            float t = scale * b[i], xhat = (a[i] - mean) * rstd, u = gain != NULL ? t * gain[i] : t;
            s1 += u;
            s2 = fmaf(u, xhat, s2);
        }
        s1 = pw_dev_tree(s1) / (float)C;
        s2 = pw_dev_tree(s2) / (float)C;
        if (lane == 0) {
            row[half][0] = mean;
            row[half][1] = rstd;
            row[half][2] = kind == PW_NORM_LAYER ? s1 : 0.0f;
            row[half][3] = s2;
        }
        __syncthreads();
    }
    for (int i = (int)threadIdx.x; i < C; i += PW_THREADS) {
        float g = gain != NULL ? gain[i] : 1.0f, by_gain = 0.0f, by_bias = 0.0f;
#pragma unroll 4
        for (int k = 0; k < rows; k++) {
            size_t at = (size_t)k * width + (size_t)i;
            float t = scale * dy[at];
            float by = t;
            if (kind != PW_NORM_NONE) {
                float xhat = (x[at] - row[k][0]) * row[k][1], u = t * g;
                if (kind == PW_NORM_LAYER)
                    u = u - row[k][2];
                by = row[k][1] * (u - xhat * row[k][3]);
                by_gain = fmaf(t, xhat, by_gain);
                by_bias += t;
            }
            float sum = dx[at] + by;
            dx[at] = sum;
            if (rounded != NULL)
                rounded[at] = pw_dev_bf16(sum);
        }
        if (partial != NULL) {
            float *to = partial + 2 * (size_t)blockIdx.x * width + (size_t)i;
            to[0] = by_gain;
            to[width] = by_bias;
        }
    }
}

/* One block adds NARROW columns. */
static __global__ void norm_columns(float *__restrict__ d_gain, float *__restrict__ d_bias,
                                    const float *__restrict__ dy, const float *__restrict__ x,
                                    const float *__restrict__ stat, float scale, int R, int C)
{
    PW_SHARED(float, sums, [PW_WARPS][2][NARROW]);
    add_columns(sums, d_gain, d_bias, dy, x, stat, scale, (size_t)blockIdx.x * NARROW, R, C);
}

/* With d_gain or d_bias the columns are added, too. */
static cudaError_t rows_back(cudaStream_t s, float *dx, uint16_t *rounded, float *partial, float *d_gain,
                             float *d_bias, const float *dy, const float *x, const float *stat,
                             const float *gain, enum pw_norm kind, float scale, int R, int C)
{
    unsigned columns = d_gain != NULL || d_bias != NULL ? pw_blocks((size_t)C, NARROW) : 0;
    return PW_LAUNCH(norm_back, dim3(pw_blocks((size_t)R, PW_HALVES) + columns), dim3(PW_THREADS), 0, s, dx,
                     rounded, partial, d_gain, d_bias, dy, x, stat, gain, kind, scale, R, C);
}

/* One thread per column, over all rows. */
static __global__ void column_chains(float *__restrict__ d_gain, float *__restrict__ d_bias,
                                     const float *__restrict__ dy, const float *__restrict__ x,
                                     const float *__restrict__ stat, float scale, int R, int C)
{
    size_t i = pw_dev_thread();
    if (i >= (size_t)C)
        return;
    float by_gain = d_gain != NULL ? d_gain[i] : 0.0f, by_bias = d_bias != NULL ? d_bias[i] : 0.0f;
#pragma unroll 8
    for (size_t r = 0; r < (size_t)R; r++) {
        float t = scale * dy[r * (size_t)C + i];
        float xhat = (x[r * (size_t)C + i] - stat[2 * r]) * stat[2 * r + 1];
        by_gain = fmaf(t, xhat, by_gain);
        by_bias += t;
    }
    if (d_gain != NULL)
        d_gain[i] = by_gain;
    if (d_bias != NULL)
        d_bias[i] = by_bias;
}

cudaError_t pw_cuda_norm_bwd_ref(cudaStream_t s, float *dx, float *d_gain, float *d_bias, const float *dy,
                                 const float *x, const float *stat, const float *gain, enum pw_norm kind,
                                 float scale, int R, int C)
{
    if (R == 0)
        return cudaSuccess;
    cudaError_t e = rows_back(s, dx, NULL, NULL, NULL, NULL, dy, x, stat, gain, kind, scale, R, C);
    if (e != cudaSuccess || kind == PW_NORM_NONE || (d_gain == NULL && d_bias == NULL))
        return e;
    return PW_LAUNCH(column_chains, dim3(pw_blocks((size_t)C, PW_THREADS)), dim3(PW_THREADS), 0, s, d_gain,
                     d_bias, dy, x, stat, scale, R, C);
}

/* Adds partial [n,2,C] to d_gain (blockIdx.y 0) and d_bias (1), of which one may be NULL. A block has 32
 * columns; warp w adds the rows w, w + 8, ..., then the warps are added in their order. */
static __global__ void column_ends(float *d_gain, float *d_bias, const float *__restrict__ partial, int n,
                                   int C)
{
    PW_SHARED(float, sums, [PW_WARPS][32]);
    float *to = blockIdx.y == 0 ? d_gain : d_bias;
    int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
    size_t i = 32 * (size_t)blockIdx.x + (size_t)lane;
    if (to == NULL)
        return;
    float s = 0.0f;
    partial += (size_t)blockIdx.y * (size_t)C + i;
#pragma unroll 8
    for (int k = warp; k < n && i < (size_t)C; k += PW_WARPS)
        s += partial[2 * (size_t)k * (size_t)C];
    sums[warp][lane] = s;
    __syncthreads();
    if (warp > 0 || i >= (size_t)C)
        return;
    for (int w = 1; w < PW_WARPS; w++)
        s += sums[w][lane];
    to[i] += s;
}

size_t pw_cuda_norm_partial(int R, int C)
{
    return 2 * (size_t)pw_blocks((size_t)R, PW_HALVES) * (size_t)C;
}

cudaError_t pw_cuda_norm_bwd_fast(cudaStream_t s, cudaStream_t beside, float *dx, uint16_t *rounded,
                                  float *d_gain, float *d_bias, const float *dy, const float *x,
                                  const float *stat, const float *gain, enum pw_norm kind, float scale, int R,
                                  int C, float *partial)
{
    bool columns = kind != PW_NORM_NONE && (d_gain != NULL || d_bias != NULL);
    bool few = R <= FEW_ROWS && (size_t)R * (size_t)C <= FEW;
    cudaError_t e = cudaSuccess;
    if (R == 0)
        return e;
    if (columns && few && beside == s)
        return rows_back(s, dx, rounded, NULL, d_gain, d_bias, dy, x, stat, gain, kind, scale, R, C);
    if (columns && few)
        e = PW_LAUNCH(norm_columns, dim3(pw_blocks((size_t)C, NARROW)), dim3(PW_THREADS), 0, beside, d_gain,
                      d_bias, dy, x, stat, scale, R, C);
    columns = columns && !few;
    if (e == cudaSuccess)
        e = rows_back(s, dx, rounded, columns ? partial : NULL, NULL, NULL, dy, x, stat, gain, kind, scale, R,
                      C);
    if (e != cudaSuccess || !columns)
        return e;
    return PW_LAUNCH(column_ends, dim3(pw_blocks((size_t)C, 32), 2), dim3(PW_THREADS), 0, s, d_gain, d_bias,
                     partial, (int)pw_blocks((size_t)R, PW_HALVES), C);
}
