/* embed.cu - token embeddings plus rows of up to two tables. */
#include "kernels/cuda/launch.h"
#include "kernels/cuda/scatter_sum.h"

/* For the lanes of a warp: x = scale * t (+ one, or + (one + two)). */
static __device__ __forceinline__ void sum_row(float *x, float scale, const float *t, const float *one,
                                               const float *two, int n, bool fours)
{
    for (int i = 4 * (int)(threadIdx.x % 32); i < n; i += 128) {
        float4 v = pw_dev_load_4(t + i, n - i, fours);
        v = make_float4(scale * v.x, scale * v.y, scale * v.z, scale * v.w);
        if (one != NULL) {
            float4 a = pw_dev_load_4(one + i, n - i, fours);
            if (two != NULL) {
                float4 b = pw_dev_load_4(two + i, n - i, fours);
                a = make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
            }
            v = make_float4(v.x + a.x, v.y + a.y, v.z + a.z, v.w + a.w);
        }
        pw_dev_store_4(x + i, n - i, fours, v);
    }
}

static __global__ void embed_rows(float *x, const float *table, const int *ids, struct pw_added a, int R,
                                  int C, bool fours)
{
    size_t r = pw_dev_warp();
    if (r >= (size_t)R)
        return;
    int W = a.halves ? C / 2 : C;
    const float *t = table + (ids != NULL ? (size_t)ids[r] : r) * (size_t)C;
    const float *one = a.n > 0 ? a.table[0] + (size_t)a.row[0][r] * (size_t)W : NULL;
    const float *two = a.n > 1 ? a.table[1] + (size_t)a.row[1][r] * (size_t)W : NULL;
    x += r * (size_t)C;
    sum_row(x, a.scale, t, one, a.halves ? NULL : two, W, fours);
    if (a.halves)
        sum_row(x + W, a.scale, t + W, two, NULL, W, fours);
}

cudaError_t pw_cuda_embed_fwd(cudaStream_t s, float *x, const float *table, const int *ids,
                              const struct pw_added *a, int R, int C)
{
    int W = a->halves ? C / 2 : C;
    bool fours = W % 4 == 0 && pw_fours(x, table);
    for (int k = 0; k < a->n; k++)
        fours = fours && pw_fours(a->table[k]);
    if (R == 0)
        return cudaSuccess;
    return PW_LAUNCH(embed_rows, dim3(pw_blocks((size_t)R, PW_WARPS)), dim3(PW_THREADS), 0, s, x, table, ids,
                     *a, R, C, fours);
}

cudaError_t pw_cuda_embed_bwd(cudaStream_t s, float *d_table, float *const *d_added, const float *dx,
                              const int *ids, const struct pw_added *a, int R, int C)
{
    int W = a->halves ? C / 2 : C;
    struct pw_scatter_from from = {dx, (size_t)C, 1, R, 0, a->scale};
    cudaError_t e = d_table != NULL ? pw_scatter_sum(s, d_table, from, ids, R, C) : cudaSuccess;
    from.scale = 1.0f;
    for (int k = 0; e == cudaSuccess && d_added != NULL && k < a->n; k++) {
        from.p = a->halves ? dx + k * W : dx;
        e = pw_scatter_sum(s, d_added[k], from, a->row[k], R, W);
    }
    return e;
}
