/* embed.cu - token embedding with an optional table added by position. */
#include "kernels/cuda/launch.h"
#include "kernels/cuda/scatter_sum.h"

static __global__ void embed_rows(float *x, const float *table, const int *ids, const float *added,
                                  const int *pos, int R, int C, bool fours)
{
    size_t r = pw_dev_warp();
    if (r >= (size_t)R)
        return;
    const float *t = table + (size_t)ids[r] * (size_t)C;
    const float *a = added != NULL ? added + (size_t)pos[r] * (size_t)C : NULL;
    x += r * (size_t)C;
    for (int i = 4 * (int)(threadIdx.x % 32); i < C; i += 128) {
        float4 v = pw_dev_load_4(t + i, C - i, fours);
        if (a != NULL) {
            float4 b = pw_dev_load_4(a + i, C - i, fours);
            v = make_float4(v.x + b.x, v.y + b.y, v.z + b.z, v.w + b.w);
        }
        pw_dev_store_4(x + i, C - i, fours, v);
    }
}

cudaError_t pw_cuda_embed_fwd(cudaStream_t s, float *x, const float *table, const int *ids,
                              const float *added, const int *pos, int R, int C)
{
    if (R == 0)
        return cudaSuccess;
    return PW_LAUNCH(embed_rows, dim3(pw_blocks((size_t)R, PW_WARPS)), dim3(PW_THREADS), 0, s, x, table, ids,
                     added, pos, R, C, C % 4 == 0 && pw_fours(x, table, added));
}

cudaError_t pw_cuda_embed_bwd(cudaStream_t s, float *d_table, float *d_added, const float *dx, const int *ids,
                              const int *pos, int R, int C)
{
    cudaError_t e = pw_scatter_sum(s, d_table, dx, ids, R, C, (size_t)C, 1);
    if (e != cudaSuccess || d_added == NULL)
        return e;
    return pw_scatter_sum(s, d_added, dx, pos, R, C, (size_t)C, 1);
}
