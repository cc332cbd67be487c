/* heads.cu - heads of q, k and v as attention reads them, in the order of kernels/cpu/heads.c. Half a warp
 * has one head of a row; its threads are the sixteen lanes. Gradients of gains are chains over all rows and
 * heads in both modes, one thread a column: such a chain is short work beside the products of the layer. */
#include "kernels/cuda/launch.h"
#include "kernels/cuda/rows.h"

/* pw_heads_part and pw_heads_place, on the device. */
static __device__ __forceinline__ int part_of(const struct pw_heads &h, int j)
{
    return j < h.heads ? 0 : j < h.heads + h.kv_heads ? 1 : 2;
}

static __device__ __forceinline__ size_t place_of(const struct pw_heads &h, int part, int j)
{
    if (part == 0)
        return (size_t)j;
    return (size_t)(part * h.heads + (j - h.heads) % h.kv_heads * (h.heads / h.kv_heads));
}

/* The entry of stat of head j, of q or k. */
static __device__ __forceinline__ size_t stat_of(const struct pw_heads &h, size_t r, int j)
{
    return r * (size_t)(h.heads + h.kv_heads) + (size_t)j;
}

/* The gradient of entry i of a head at d [copies,D]: the sum over its copies. */
static __device__ __forceinline__ float sum_copies(const float *d, int copies, int D, int i)
{
    float t = d[i];
    for (int k = 1; k < copies; k++)
        t += d[(size_t)k * (size_t)D + (size_t)i];
    return t;
}

static __global__ void heads_kernel(float *qkv, float *stat, const float *x, struct pw_heads h, int R)
{
    size_t at = pw_dev_half(), n = (size_t)(h.heads + 2 * h.kv_heads), D = (size_t)h.head_width;
    size_t r = at / n;
    int j = (int)(at % n), lane = (int)threadIdx.x % 16, part = part_of(h, j);
    int width = r < (size_t)R ? h.head_width : 0, copies = part == 0 ? 1 : h.heads / h.kv_heads;
    const float *from = x + at * D, *gain = part == 0 ? h.q_gain : part == 1 ? h.k_gain : NULL;
    float *to = qkv + (r * 3 * (size_t)h.heads + place_of(h, part, j)) * D, s = 0.0f;
    for (int i = lane; gain != NULL && i < width; i += 16)
        s = fmaf(from[i], from[i], s);
    float rstd = 1.0f / sqrtf(pw_dev_tree(s) / (float)h.head_width + h.eps);
    if (gain != NULL && width > 0 && lane == 0)
        stat[stat_of(h, r, j)] = rstd;
    for (int i = lane; i < width; i += 16) {
        float v = gain != NULL ? (from[i] * rstd) * gain[i] : from[i];
        for (int k = 0; k < copies; k++)
            to[(size_t)k * D + (size_t)i] = v;
    }
}

static __global__ void heads_back(float *dx, const float *dqkv, const float *x, const float *stat,
                                  struct pw_heads h, int R)
{
    size_t at = pw_dev_half(), n = (size_t)(h.heads + 2 * h.kv_heads), D = (size_t)h.head_width;
    size_t r = at / n;
    int j = (int)(at % n), lane = (int)threadIdx.x % 16, part = part_of(h, j);
    int width = r < (size_t)R ? h.head_width : 0, copies = part == 0 ? 1 : h.heads / h.kv_heads;
    const float *from = x + at * D, *gain = part == 0 ? h.q_gain : part == 1 ? h.k_gain : NULL;
    const float *d = dqkv + (r * 3 * (size_t)h.heads + place_of(h, part, j)) * D;
    float rstd = gain != NULL && width > 0 ? stat[stat_of(h, r, j)] : 1.0f, s = 0.0f;
    for (int i = lane; gain != NULL && i < width; i += 16) {
        float t = sum_copies(d, copies, h.head_width, i), xhat = from[i] * rstd;
        s = fmaf(t * gain[i], xhat, s);
    }
    float mean = pw_dev_tree(s) / (float)h.head_width;
    for (int i = lane; i < width; i += 16) {
        float t = sum_copies(d, copies, h.head_width, i);
        if (gain != NULL)
            t = rstd * (t * gain[i] - (from[i] * rstd) * mean);
        dx[at * D + (size_t)i] = t;
    }
}

/* blockIdx.y: q or k. */
static __global__ void gain_chains(float *d_q_gain, float *d_k_gain, const float *dqkv, const float *x,
                                   const float *stat, struct pw_heads h, int R)
{
    int i = (int)pw_dev_thread(), part = (int)blockIdx.y;
    size_t n = (size_t)(h.heads + 2 * h.kv_heads), D = (size_t)h.head_width;
    int first = part == 0 ? 0 : h.heads, end = part == 0 ? h.heads : h.heads + h.kv_heads;
    int copies = part == 0 ? 1 : h.heads / h.kv_heads;
    if (i >= h.head_width)
        return;
    float *to = (part == 0 ? d_q_gain : d_k_gain) + i, sum = *to;
    for (size_t r = 0; r < (size_t)R; r++)
        for (int j = first; j < end; j++) {
            const float *d = dqkv + (r * 3 * (size_t)h.heads + place_of(h, part, j)) * D;
            float xhat = x[(r * n + (size_t)j) * D + (size_t)i] * stat[stat_of(h, r, j)];
            sum = fmaf(sum_copies(d, copies, h.head_width, i), xhat, sum);
        }
    *to = sum;
}

/* Blocks for half a warp per head of a row. */
static dim3 blocks_of(const struct pw_heads *h, int R)
{
    return dim3(pw_blocks((size_t)R * (size_t)(h->heads + 2 * h->kv_heads), PW_HALVES));
}

cudaError_t pw_cuda_heads_fwd(cudaStream_t s, float *qkv, float *stat, const float *x,
                              const struct pw_heads *h, int R)
{
    if (R == 0)
        return cudaSuccess;
    return PW_LAUNCH(heads_kernel, blocks_of(h, R), dim3(PW_THREADS), 0, s, qkv, stat, x, *h, R);
}

cudaError_t pw_cuda_heads_bwd(cudaStream_t s, float *dx, float *d_q_gain, float *d_k_gain, const float *dqkv,
                              const float *x, const float *stat, const struct pw_heads *h, int R)
{
    if (R == 0)
        return cudaSuccess;
    cudaError_t e = PW_LAUNCH(heads_back, blocks_of(h, R), dim3(PW_THREADS), 0, s, dx, dqkv, x, stat, *h, R);
    if (e != cudaSuccess || h->q_gain == NULL || d_q_gain == NULL)
        return e;
    return PW_LAUNCH(gain_chains, dim3(pw_blocks((size_t)h->head_width, PW_THREADS), 2), dim3(PW_THREADS), 0,
                     s, d_q_gain, d_k_gain, dqkv, x, stat, *h, R);
}
