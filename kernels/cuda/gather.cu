/* gather.cu - rows picked from a tensor and put back; tables that are gathers from parameters. */
#include "kernels/cuda/launch.h"
#include "kernels/cuda/scatter_sum.h"

/* Head blockIdx.y. */
static __global__ void gather_bias(float *out, const float *param, const int *index, int H, int n)
{
    size_t j = pw_dev_thread(), h = blockIdx.y;
    if (j >= (size_t)n)
        return;
    int i = index[j];
    out[h * (size_t)n + j] = i < 0 ? 0.0f : param[(size_t)i * (size_t)H + h];
}

cudaError_t pw_cuda_gather_bias_fwd(cudaStream_t s, float *out, const float *param, const int *index, int H,
                                    int n)
{
    if (n == 0)
        return cudaSuccess;
    return PW_LAUNCH(gather_bias, dim3(pw_blocks((size_t)n, PW_THREADS), (unsigned)H), dim3(PW_THREADS), 0, s,
                     out, param, index, H, n);
}

cudaError_t pw_cuda_gather_bias_bwd(cudaStream_t s, float *d_param, const float *d_out, const int *index,
                                    int L, int H, int n)
{
    struct pw_scatter_from from = {d_out, 1, (size_t)n, n, (size_t)H * (size_t)n, 1.0f};
    return pw_scatter_sum(s, d_param, from, index, L * n, H);
}

static __global__ void gather_kernel(float *y, const float *x, const int *rows, int N, int C, bool fours)
{
    size_t n = pw_dev_warp();
    if (n >= (size_t)N)
        return;
    int r = rows[n];
    pw_dev_copy_row(y + n * (size_t)C, NULL, r >= 0 ? x + (size_t)r * (size_t)C : NULL, C, fours);
}

cudaError_t pw_cuda_gather_rows(cudaStream_t s, float *y, const float *x, const int *rows, int N, int C)
{
    if (N == 0)
        return cudaSuccess;
    return PW_LAUNCH(gather_kernel, dim3(pw_blocks((size_t)N, PW_WARPS)), dim3(PW_THREADS), 0, s, y, x, rows,
                     N, C, C % 4 == 0 && pw_fours(y, x));
}

/* Finds r in rows [N]: returns its index, or -1. Rows ascend; those that are -1 come last. The lanes of a
 * warp try 32 places at a time. */
static __device__ __forceinline__ int find(const int *rows, int N, int r)
{
    int low = 0, high = N; /* the first one that isn't less is between low and high */
    while (low < high) {
        int step = (high - low + 31) / 32, k = low + (int)(threadIdx.x % 32) * step;
        bool less = k < high && rows[k] >= 0 && rows[k] < r;
        int n = __popc(__ballot_sync(PW_ALL_LANES, less));
        high = low + n * step < high ? low + n * step : high;
        low = n > 0 ? low + (n - 1) * step + 1 : low;
    }
    return low < N && rows[low] == r ? low : -1;
}

static __global__ void scatter_kernel(float *dx, uint16_t *rounded, const float *dy, const int *rows, int N,
                                      int R, int C, bool fours)
{
    size_t r = pw_dev_warp();
    if (r >= (size_t)R)
        return;
    int n = find(rows, N, (int)r);
    pw_dev_copy_row(dx + r * (size_t)C, rounded != NULL ? rounded + r * (size_t)C : NULL,
                    n >= 0 ? dy + (size_t)n * (size_t)C : NULL, C, fours);
}

cudaError_t pw_cuda_scatter_rows(cudaStream_t s, float *dx, uint16_t *rounded, const float *dy,
                                 const int *rows, int N, int R, int C)
{
    if (R == 0)
        return cudaSuccess;
    return PW_LAUNCH(scatter_kernel, dim3(pw_blocks((size_t)R, PW_WARPS)), dim3(PW_THREADS), 0, s, dx,
                     rounded, dy, rows, N, R, C, C % 4 == 0 && pw_fours(dx, dy, rounded));
}
