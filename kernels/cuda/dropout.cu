/* dropout.cu - applies dropout masks to a tensor; masks come from a counter, and four entries share one
 * value. */
#include "kernels/cuda/launch.h"
#include "kernels/cuda/philox.h"
#include "kernels/cuda/rows.h"

/* One warp per row; y or rounded may be x; they and residual may be NULL. */
static __global__ void dropout_rows(float *y, uint16_t *rounded, struct pw_cuda_numbers x,
                                    struct pw_mask mask, const float *residual, int R, int C, bool fours)
{
    size_t r = pw_dev_warp(), row = r * (size_t)C;
    if (r >= (size_t)R)
        return;
    for (int i = 4 * (int)(threadIdx.x % 32); i < C; i += 128) {
        uint32_t word[4];
        size_t at = row + (size_t)i;
        float4 v = x.bf16 != NULL ? pw_dev_load_rounded_4(x.bf16 + at, C - i, fours)
                                  : pw_dev_load_4(x.f32 + at, C - i, fours);
        float4 a = residual != NULL ? pw_dev_load_4(residual + at, C - i, fours) : make_float4(0, 0, 0, 0);
        pw_dev_mask_words(word, mask, (uint32_t)i / 4, (uint32_t)r, 0);
        v.x = pw_dev_mask_apply(mask, word[0], v.x);
        v.y = pw_dev_mask_apply(mask, word[1], v.y);
        v.z = pw_dev_mask_apply(mask, word[2], v.z);
        v.w = pw_dev_mask_apply(mask, word[3], v.w);
        if (residual != NULL)
            v = make_float4(v.x + a.x, v.y + a.y, v.z + a.z, v.w + a.w);
        if (y != NULL)
            pw_dev_store_4(y + at, C - i, fours, v);
        if (rounded != NULL)
            pw_dev_store_rounded_4(rounded + at, C - i, fours, v);
    }
}

cudaError_t pw_cuda_dropout(cudaStream_t s, float *y, uint16_t *rounded, struct pw_cuda_numbers x,
                            const struct pw_dropout *d, const float *residual, int R, int C)
{
    bool fours = C % 4 == 0 && pw_fours(y, x.f32, x.bf16, rounded) && pw_fours(residual);
    if (R == 0)
        return cudaSuccess;
    return PW_LAUNCH(dropout_rows, dim3(pw_blocks((size_t)R, PW_WARPS)), dim3(PW_THREADS), 0, s, y, rounded,
                     x, pw_mask_of(d), residual, R, C, fours);
}
