/* pw_emu_mma.h - the emulated matrix product of a warp on tensor cores (kernels/cuda/mma.h). The layout of
 * the fragments follows the figures of the PTX manual for mma.m16n8k16. Sums ascend in k in float; the order
 * of the hardware is not documented. */
#ifndef PW_EMU_MMA_H
#define PW_EMU_MMA_H
#include <pw_emu_device.h>

struct pw_emu_mma {
    float *d[4];
    const uint32_t *a, *b;
};

PW_EMU_UNSEEN inline float pw_emu_bf16(uint32_t word, int high)
{
    return __uint_as_float((high ? word >> 16 : word & 0xffff) << 16);
}

PW_EMU_UNSEEN inline void pw_emu_mma_all(void *const *lanes, unsigned)
{
    float a[16][16], b[16][8];
    for (int lane = 0; lane < 32; lane++) {
        const pw_emu_mma *x = static_cast<pw_emu_mma *>(lanes[lane]);
        int g = lane / 4, t = lane % 4;
        for (int high = 0; high < 2; high++) {
            for (int i = 0; i < 4; i++)
                a[g + 8 * (i & 1)][2 * t + high + 8 * (i >> 1)] = pw_emu_bf16(x->a[i], high);
            for (int i = 0; i < 2; i++)
                b[2 * t + high + 8 * i][g] = pw_emu_bf16(x->b[i], high);
        }
    }
    for (int lane = 0; lane < 32; lane++) {
        const pw_emu_mma *x = static_cast<pw_emu_mma *>(lanes[lane]);
        for (int i = 0; i < 4; i++) {
            int row = lane / 4 + 8 * (i >> 1), column = 2 * (lane % 4) + (i & 1);
            float sum = *x->d[i];
            for (int k = 0; k < 16; k++)
                sum += a[row][k] * b[k][column]; /* the product is exact */
            *x->d[i] = sum;
        }
    }
}

inline void pw_dev_mma(float &d0, float &d1, float &d2, float &d3, const uint32_t a[4], const uint32_t b[2],
                       PW_EMU_HERE)
{
    pw_emu_mma x = {{&d0, &d1, &d2, &d3}, a, b};
    pw_emu_warp(PW_EMU_ALL, pw_emu_mma_all, &x, false, "mma.sync", {file, line});
}

#endif
