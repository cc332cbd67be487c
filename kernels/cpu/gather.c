/* gather.c - gather rows from a tensor and scatter them back; bias tables gathered from parameters. */
#include "kernels/cpu/ops.h"

#include <string.h>

void PW_OP(gather_bias_fwd)(struct pw_ctx *c, float *out, const float *param, const int *index, int H, int n)
{
    (void)c;
    for (int h = 0; h < H; h++)
        for (int j = 0; j < n; j++)
            out[(size_t)h * (size_t)n + (size_t)j] =
                index[j] < 0 ? 0.0f : param[(size_t)index[j] * (size_t)H + (size_t)h];
}

void PW_OP(gather_bias_bwd)(struct pw_ctx *c, float *d_param, const float *d_out, const int *index, int L,
                            int H, int n)
{
    (void)c;
    for (int lh = 0; lh < L * H; lh++, d_out += n)
        for (int j = 0; j < n; j++)
            if (index[j] >= 0)
                d_param[(size_t)index[j] * (size_t)H + (size_t)(lh % H)] += d_out[j];
}

void PW_OP(gather_rows)(struct pw_ctx *c, float *y, const float *x, const int *rows, int N, int C)
{
    (void)c;
    for (size_t n = 0; n < (size_t)N; n++)
        if (rows[n] >= 0)
            memcpy(y + n * (size_t)C, x + (size_t)rows[n] * (size_t)C, (size_t)C * sizeof *y);
        else
            memset(y + n * (size_t)C, 0, (size_t)C * sizeof *y);
}

void PW_OP(scatter_rows)(struct pw_ctx *c, float *dx, const float *dy, const int *rows, int N, int R, int C)
{
    (void)c;
    if (R > 0)
        memset(dx, 0, (size_t)R * (size_t)C * sizeof *dx);
    for (size_t n = 0; n < (size_t)N && rows[n] >= 0; n++)
        memcpy(dx + (size_t)rows[n] * (size_t)C, dy + n * (size_t)C, (size_t)C * sizeof *dx);
}
