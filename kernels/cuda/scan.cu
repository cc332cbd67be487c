/* scan.cu - the table of contextual positions (Golovneva et al. 2024) in the order of kernels/backend.h: its
 * products with queries, and its gradient. One thread has one number, so neighbours read neighbouring columns
 * of the table, or neighbouring gradients. */
#include "kernels/cuda/scan.h"

size_t pw_context_floats(const struct pw_attend &a)
{
    return a.scan.kind == PW_SCAN_CONTEXT ? a.rows * (size_t)a.heads * (size_t)a.scan.n : 0;
}

static __global__ void multiply(float *products, const float *q, struct pw_attend a, size_t count)
{
    size_t at = pw_dev_thread(), n = (size_t)a.scan.n, heads = (size_t)a.heads;
    if (at >= count)
        return;
    size_t k = at % n, h = at / n % heads, row = at / n / heads;
    const float *x = q + row * a.qk_row + h * (size_t)a.D;
    float sum = 0.0f;
#pragma unroll 4
    for (size_t d = 0; d < (size_t)a.D; d++)
        sum = fmaf(x[d], a.scan.rows[d * n + k], sum);
    products[at] = sum;
}

cudaError_t pw_context_products(cudaStream_t s, float *products, const float *q, const struct pw_attend &a,
                                size_t rows)
{
    size_t count = rows * (size_t)a.heads * (size_t)a.scan.n;
    return PW_LAUNCH(multiply, dim3(pw_blocks(count, PW_THREADS)), dim3(PW_THREADS), 0, s, products, q, a,
                     count);
}

static __global__ void sum_table(float *d_table, const float *u, struct pw_attend a)
{
    size_t at = pw_dev_thread(), n = (size_t)a.scan.n, heads = (size_t)a.heads, D = (size_t)a.D;
    if (at >= D * n)
        return;
    size_t d = at / n, k = at % n;
    float sum = d_table[at];
    for (int s = 0; s < a.n; s++)
        for (size_t h = 0; h < heads; h++)
#pragma unroll 4
            for (size_t i = (size_t)a.start[s]; i < (size_t)a.start[s + 1]; i++)
                sum = fmaf(a.qk[i * a.qk_row + h * D + d], u[(i * heads + h) * n + k], sum);
    d_table[at] = sum;
}

cudaError_t pw_context_table(cudaStream_t s, float *d_table, const float *u, const struct pw_attend &a)
{
    size_t count = (size_t)a.D * (size_t)a.scan.n;
    return PW_LAUNCH(sum_table, dim3(pw_blocks(count, PW_THREADS)), dim3(PW_THREADS), 0, s, d_table, u, a);
}
