/* put_head.cu - replaces one head's output in every row. */
#include "kernels/cuda/launch.h"
#include "kernels/cuda/rows.h"

static __global__ void put_rows(float *z, const float *table, const int *pos, int h, int H, int D, int R,
                                bool fours)
{
    size_t r = pw_dev_warp();
    if (r >= (size_t)R)
        return;
    pw_dev_copy_row(z + (r * (size_t)H + (size_t)h) * (size_t)D, NULL,
                    table != NULL ? table + (size_t)pos[r] * (size_t)D : NULL, D, fours);
}

cudaError_t pw_cuda_put_head(cudaStream_t s, float *z, const float *table, const int *pos, int h, int H,
                             int D, int R)
{
    if (R == 0)
        return cudaSuccess;
    return PW_LAUNCH(put_rows, dim3(pw_blocks((size_t)R, PW_WARPS)), dim3(PW_THREADS), 0, s, z, table, pos, h,
                     H, D, R, D % 4 == 0 && pw_fours(z, table));
}
