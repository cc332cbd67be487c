/* rotate.cu - rotary position embedding of q and k in place (Su et al. 2021, eq. 34).
 *
 * A block has a row, a thread one pair of one head at a time; the heads of q come before those of k. */
#include "kernels/cuda/launch.h"
#include "kernels/cuda/rows.h"

static __global__ void rotate_pairs(float *qkv, uint16_t *copy, const float *cosine, const float *sine,
                                    const int *pos, int pairs, bool halves, bool inverse, int heads, int D)
{
    size_t r = blockIdx.x, angles = (size_t)pos[r] * (size_t)pairs;
    for (int n = (int)threadIdx.x; n < 2 * heads * pairs; n += (int)blockDim.x) {
        int h = n / pairs, i = n % pairs;
        size_t at = (r * 3 * (size_t)heads + (size_t)h) * (size_t)D + (size_t)(halves ? i : 2 * i);
        size_t beside = at + (size_t)(halves ? pairs : 1);
        float x = qkv[at], y = qkv[beside];
        float co = cosine[angles + (size_t)i], si = sine[angles + (size_t)i];
        if (inverse)
            si = -si;
        float u = fmaf(x, co, -(y * si)), v = fmaf(x, si, y * co);
        qkv[at] = u;
        qkv[beside] = v;
        if (copy != NULL) {
            copy[at] = pw_dev_bf16(u);
            copy[beside] = pw_dev_bf16(v);
        }
    }
}

cudaError_t pw_cuda_rotate(cudaStream_t s, float *qkv, uint16_t *copy, const float *cosine, const float *sine,
                           const int *pos, int pairs, enum pw_pairing pairing, bool inverse, int H, int D,
                           int R)
{
    if (R == 0 || pairs == 0)
        return cudaSuccess;
    return PW_LAUNCH(rotate_pairs, dim3((unsigned)R), dim3(PW_THREADS), 0, s, qkv, copy, cosine, sine, pos,
                     pairs, pairing == PW_PAIRING_HALF, inverse, H, D);
}
