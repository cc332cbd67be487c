/* terms.cu - terms of rows in the order of kernels/backend.h. A thread has one head of one sequence, because
 * each sum waits for the row before; what it reads does not, so loads overlap. */
#include "kernels/cuda/launch.h"
#include "kernels/cuda/maths.h"
#include "kernels/cuda/rows.h"
#include "kernels/score.h"

static __device__ float function_at(const struct pw_score *f, float g, int h, float *slope)
{
    struct pw_score_pair pair = {0, 0, h, NULL};
    return pw_score_value(f, pair, g, slope);
}

/* start NULL: one sequence of R rows. f NULL: ln sigmoid. */
static __global__ void terms_kernel(float *y, const float *g, const float *before, const struct pw_score *f,
                                    const int *start, int n, int H, int R)
{
    size_t item = pw_dev_thread(), heads = (size_t)H, h = item % heads, seq = item / heads;
    if (seq >= (size_t)n)
        return;
    size_t from = start != NULL ? (size_t)start[seq] : 0,
           to = start != NULL ? (size_t)start[seq + 1] : (size_t)R;
    float sum = 0.0f, slope;
#pragma unroll 4
    for (size_t r = from; r < to; r++) {
        float x = g[r * heads + h], v = f != NULL ? function_at(f, x, (int)h, &slope) : pw_dev_log_sigmoid(x);
        sum = r > from ? sum + v : before != NULL ? before[h] + v : v;
        y[r * heads + h] = sum;
    }
}

static __global__ void terms_back(float *dg, const float *dy, const float *g, const struct pw_score *f,
                                  const int *start, int n, int H)
{
    size_t item = pw_dev_thread(), heads = (size_t)H, h = item % heads, seq = item / heads;
    if (seq >= (size_t)n)
        return;
    size_t from = (size_t)start[seq], rows = (size_t)start[seq + 1] - from;
    float sum = 0.0f;
#pragma unroll 4
    for (size_t i = 0; i < rows; i++) {
        size_t at = (from + rows - 1 - i) * heads + h;
        float s, minus;
        sum += dy[at];
        if (f != NULL)
            function_at(f, g[at], (int)h, &minus);
        else
            pw_dev_sigmoid(g[at], &s, &minus);
        dg[at] = sum * minus;
    }
}

cudaError_t pw_cuda_terms_fwd(cudaStream_t s, float *y, const float *g, const float *before,
                              const struct pw_score *f, int H, const struct pw_seqs *seqs, int R)
{
    int n = seqs != NULL ? seqs->n : 1;
    if (n == 0 || R == 0)
        return cudaSuccess;
    return PW_LAUNCH(terms_kernel, dim3(pw_blocks((size_t)n * (size_t)H, PW_THREADS)), dim3(PW_THREADS), 0, s,
                     y, g, before, f, seqs != NULL ? seqs->start : NULL, n, H, R);
}

cudaError_t pw_cuda_terms_bwd(cudaStream_t s, float *dg, const float *dy, const float *g,
                              const struct pw_score *f, int H, const struct pw_seqs *seqs)
{
    if (seqs->n == 0)
        return cudaSuccess;
    return PW_LAUNCH(terms_back, dim3(pw_blocks((size_t)seqs->n * (size_t)H, PW_THREADS)), dim3(PW_THREADS),
                     0, s, dg, dy, g, f, seqs->start, seqs->n, H);
}
