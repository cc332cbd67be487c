/* loss.cu - cross entropy with its gradient, and softmax.
 *
 * The operations of kernels/cpu/loss.c in their order; half a warp handles one row. Exponentials are computed
 * twice, for the sum and for the result, rather than stored: rows may be long. */
#include "kernels/cuda/launch.h"
#include "kernels/cuda/maths.h"
#include "kernels/cuda/rows.h"

/* Returns in all lanes the lowest index of the largest of x [n]; n if there is none (NaN does not count). */
static __device__ __forceinline__ int largest(const float *__restrict__ x, int n)
{
    float max = -INFINITY;
    int at = n;
    for (int i = (int)threadIdx.x % 16; i < n; i += 16) {
        float v = x[i];
        if (v > max || (v == max && at == n)) {
            max = v;
            at = i;
        }
    }
    for (int by = 8; by > 0; by /= 2) {
        float v = __shfl_xor_sync(PW_ALL_LANES, max, by);
        int i = __shfl_xor_sync(PW_ALL_LANES, at, by);
        if (v > max || (v == max && i < at)) {
            max = v;
            at = i;
        }
    }
    return at;
}

static __global__ void cross_entropy_rows(float *__restrict__ loss, int *__restrict__ best,
                                          float *__restrict__ d_logits, uint16_t *__restrict__ rounded,
                                          const float *__restrict__ logits, const int *__restrict__ targets,
                                          const float *__restrict__ scale, int N, int V)
{
    size_t r = pw_dev_half();
    int lane = (int)threadIdx.x % 16, n = r < (size_t)N ? V : 0;
    const float *x = logits + r * (size_t)V;
    int at = largest(x, n);
    at = at < n ? at : 0;
    float max = n > 0 ? x[at] : 0.0f, sum = 0.0f;
#pragma unroll 8
    for (int i = lane; i < n; i += 16)
        sum += pw_dev_exp(x[i] - max);
    sum = pw_dev_tree(sum);
    int target = n > 0 ? targets[r] : -1;
    if (n > 0 && lane == 0) {
        best[r] = at;
        loss[r] = target < 0 ? 0.0f : (max - x[target]) + pw_dev_log(sum);
    }
    if (d_logits == NULL)
        return;
    float *d = d_logits + r * (size_t)V, k = scale != NULL ? *scale : 1.0f;
#pragma unroll 4
    for (int i = lane; i < n; i += 16) {
        float p = pw_dev_exp(x[i] - max) / sum;
        float by = target < 0 ? 0.0f : k * (i == target ? p - 1.0f : p);
        d[i] = by;
        if (rounded != NULL)
            rounded[r * (size_t)V + (size_t)i] = pw_dev_bf16(by);
    }
}

cudaError_t pw_cuda_cross_entropy(cudaStream_t s, float *loss, int *best, float *d_logits, uint16_t *rounded,
                                  const float *logits, const int *targets, const float *scale, int N, int V)
{
    if (N == 0)
        return cudaSuccess;
    return PW_LAUNCH(cross_entropy_rows, dim3(pw_blocks((size_t)N, PW_HALVES)), dim3(PW_THREADS), 0, s, loss,
                     best, d_logits, rounded, logits, targets, scale, N, V);
}

static __global__ void softmax_rows(float *p, const float *logits, float temperature, int N, int V)
{
    size_t r = pw_dev_half();
    int lane = (int)threadIdx.x % 16, n = r < (size_t)N ? V : 0;
    const float *x = logits + r * (size_t)V;
    float max = -INFINITY, sum = 0.0f;
    p += r * (size_t)V;
#pragma unroll 8
    for (int i = lane; i < n; i += 16) {
        float v = x[i] / temperature;
        max = v > max ? v : max;
    }
    for (int by = 8; by > 0; by /= 2) {
        float v = __shfl_xor_sync(PW_ALL_LANES, max, by);
        max = v > max ? v : max;
    }
#pragma unroll 8
    for (int i = lane; i < n; i += 16)
        sum += pw_dev_exp(x[i] / temperature - max);
    sum = pw_dev_tree(sum);
    for (int i = lane; i < n; i += 16)
        p[i] = pw_dev_exp(x[i] / temperature - max) / sum;
}

cudaError_t pw_cuda_softmax(cudaStream_t s, float *p, const float *logits, float temperature, int N, int V)
{
    if (N == 0)
        return cudaSuccess;
    return PW_LAUNCH(softmax_rows, dim3(pw_blocks((size_t)N, PW_HALVES)), dim3(PW_THREADS), 0, s, p, logits,
                     temperature, N, V);
}
