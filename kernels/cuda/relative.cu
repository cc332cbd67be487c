/* relative.cu - relative keys in mode fast.
 *
 * A query has few of them, so they are multiplied before and after the fused kernels, which read a score's
 * q.a like a bias (Shaw et al. 2018, section 3.3). Their gradient comes from maps of dS that are summed by
 * query and row. All of it is float32, in precision bf16 too: it is a small part of the work. One thread owns
 * one output, so no two threads add to the same number. */
#include "kernels/cuda/attention_ref.h"
#include "kernels/cuda/mma.h"

enum { CHAINS = 128 }; /* parts into which rows are split for the gradient of the keys */

size_t pw_relative_floats(const struct pw_attend &a)
{
    return a.rows * (size_t)a.heads * (size_t)a.key_rows;
}

/* ---- scores */

static __global__ void multiply(float *dots, struct pw_attend a, size_t n)
{
    size_t at = pw_dev_thread(), rows = (size_t)a.key_rows, D = (size_t)a.D, heads = (size_t)a.heads;
    if (at >= n)
        return;
    size_t r = at % rows, h = at / rows % heads, row = at / rows / heads;
    const float *q = a.qkv + row * 3 * heads * D + h * D;
    dots[at] = pw_dev_dot(q, a.keys + r * D, a.D, a.fours && a.keys_fours);
}

cudaError_t pw_relative_dots(cudaStream_t s, float *dots, const struct pw_attend &a)
{
    size_t n = pw_relative_floats(a);
    return PW_LAUNCH(multiply, dim3(pw_blocks(n, PW_THREADS)), dim3(PW_THREADS), 0, s, dots, a, n);
}

/* ---- backward */

/* A warp's threads have neighbouring rows of few queries, so they read the same dS. */
static __global__ void sum_by_row(float *sums, const float *ds, struct pw_attend a, int first, size_t n)
{
    size_t at = pw_dev_thread(), rows = (size_t)a.key_rows, heads = (size_t)a.heads;
    size_t longest = (size_t)a.longest;
    if (at >= n)
        return;
    size_t h = at / rows % heads, i = at / rows / heads % longest;
    int s = first + (int)(at / rows / heads / longest), r = (int)(at % rows);
    size_t base = (size_t)a.start[s], T = (size_t)a.start[s + 1] - base, keys = a.causal ? i + 1 : T;
    if (i >= T)
        return;
    ds += ((base - (size_t)a.start[first]) * heads + h * T + i) * longest;
    float sum = 0.0f;
    for (size_t j = 0; j < keys; j++)
        if (pw_dev_key_row(a, pw_dev_distance(a, base + i, base + j)) == r)
            sum += ds[j];
    sums[((base + i) * heads + h) * rows + (size_t)r] = sum;
}

cudaError_t pw_relative_sums(cudaStream_t s, float *sums, const float *ds, const struct pw_attend &a,
                             int first, int last)
{
    size_t n = (size_t)(last - first) * (size_t)a.longest * (size_t)a.heads * (size_t)a.key_rows;
    return PW_LAUNCH(sum_by_row, dim3(pw_blocks(n, PW_THREADS)), dim3(PW_THREADS), 0, s, sums, ds, a, first,
                     n);
}

static __global__ void add_dq(float *dqkv, uint16_t *copy, const float *sums, struct pw_attend a, size_t n)
{
    size_t at = pw_dev_thread(), rows = (size_t)a.key_rows, D = (size_t)a.D, C = (size_t)a.heads * D;
    if (at >= n)
        return;
    size_t row = at / C, column = at % C;
    sums += (row * (size_t)a.heads + column / D) * rows;
    float sum = 0.0f;
    for (size_t r = 0; r < rows; r++)
        sum = fmaf(sums[r], a.keys[r * D + column % D], sum);
    at = row * 3 * C + column;
    dqkv[at] += sum * a.scale;
    if (copy != NULL)
        copy[at] = pw_dev_bf16(dqkv[at]);
}

cudaError_t pw_relative_dq(cudaStream_t s, float *dqkv, uint16_t *copy, const float *sums,
                           const struct pw_attend &a)
{
    size_t n = a.rows * (size_t)a.heads * (size_t)a.D;
    return PW_LAUNCH(add_dq, dim3(pw_blocks(n, PW_THREADS)), dim3(PW_THREADS), 0, s, dqkv, copy, sums, a, n);
}

/* partial [CHAINS,key_rows,D]: each chain has every CHAINS-th row of the batch. */
static __global__ void chain_dkeys(float *partial, const float *sums, struct pw_attend a, size_t n)
{
    size_t at = pw_dev_thread(), rows = (size_t)a.key_rows, D = (size_t)a.D, heads = (size_t)a.heads;
    if (at >= n)
        return;
    size_t r = at / D, d = at % D;
    float sum = 0.0f;
    for (size_t row = blockIdx.y; row < a.rows; row += gridDim.y)
        for (size_t h = 0; h < heads; h++)
            sum = fmaf(sums[(row * heads + h) * rows + r], a.qkv[row * 3 * heads * D + h * D + d], sum);
    partial[blockIdx.y * n + at] = sum * a.scale;
}

size_t pw_relative_partial(const struct pw_attend &a)
{
    return CHAINS * (size_t)a.key_rows * (size_t)a.D;
}

cudaError_t pw_relative_dkeys(cudaStream_t s, float *d_keys, const float *sums, const struct pw_attend &a,
                              float *partial)
{
    size_t n = (size_t)a.key_rows * (size_t)a.D;
    cudaError_t e = PW_LAUNCH(chain_dkeys, dim3(pw_blocks(n, PW_THREADS), CHAINS), dim3(PW_THREADS), 0, s,
                              partial, sums, a, n);
    return e == cudaSuccess ? pw_chains_add(s, d_keys, partial, n, CHAINS) : e;
}
