/* rotate.cu - rotary position embedding of q and k by itself (Su et al. 2021, eq. 34): for the kernels of
 * attention that don't turn what they load, and for who looks at q and k.
 *
 * A block has a row, a thread one pair of one head at a time; the heads of q come before those of k. */
#include "kernels/cuda/launch.h"
#include "kernels/cuda/rows.h"
#include "kernels/cuda/turn.h"

static __global__ void rotate_rows(float *y, const float *x, struct pw_turn t, const int *pos, bool back,
                                   int heads, int D)
{
    int width = 3 * heads * D, row = pos[blockIdx.x];
    x += (size_t)blockIdx.x * (size_t)width;
    y += (size_t)blockIdx.x * (size_t)width;
    for (int n = (int)threadIdx.x; n < 2 * heads * t.pairs; n += (int)blockDim.x) {
        int head = n / t.pairs * D;
        pw_dev_turn_pair(y + head, NULL, x + head, t, row, n % t.pairs, back);
    }
    for (int n = (int)threadIdx.x; y != x && n < width; n += (int)blockDim.x)
        if (n >= 2 * heads * D || n % D >= 2 * t.pairs)
            y[n] = x[n];
}

cudaError_t pw_cuda_rotate(cudaStream_t s, float *y, const float *x, const struct pw_turn *t, const int *pos,
                           bool back, int H, int D, int R)
{
    if (R == 0)
        return cudaSuccess;
    return PW_LAUNCH(rotate_rows, dim3((unsigned)R), dim3(PW_THREADS), 0, s, y, x, *t, pos, back, H, D);
}
