/* rotate.cu - the transformation of q and k by position (struct pw_turn) as a kernel of its own: for
 * attention kernels that do not apply it when they load, and for inspections of q and k.
 *
 * A block handles one row; a thread handles one pair of one head at a time, or an entry that is not rotated.
 * The heads of q come before those of k. */
#include "kernels/cuda/launch.h"
#include "kernels/cuda/rows.h"
#include "kernels/cuda/turn.h"

static __global__ void rotate_rows(float *y, const float *x, struct pw_turn t, const int *pos, bool back,
                                   int heads, int D)
{
    int width = 3 * heads * D, row = pos[blockIdx.x];
    x += (size_t)blockIdx.x * (size_t)width;
    y += (size_t)blockIdx.x * (size_t)width;
    int parts = pw_dev_turn_parts(t, D);
    for (int n = (int)threadIdx.x; n < 2 * heads * parts; n += (int)blockDim.x) {
        int h = n / parts;
        pw_dev_turn_part(y + h * D, NULL, x + h * D, t, row + (h < heads ? 0 : t.keys_at), n % parts,
                         pw_dev_gain(t, h, row, h < heads), back);
    }
    for (int n = 2 * heads * D + (int)threadIdx.x; y != x && n < width; n += (int)blockDim.x)
        y[n] = x[n];
}

cudaError_t pw_cuda_rotate(cudaStream_t s, float *y, const float *x, const struct pw_turn *t, const int *pos,
                           bool back, int H, int D, int R)
{
    if (R == 0)
        return cudaSuccess;
    return PW_LAUNCH(rotate_rows, dim3((unsigned)R), dim3(PW_THREADS), 0, s, y, x, *t, pos, back, H, D);
}
