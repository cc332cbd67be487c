/* ref_gather.c - reference for bits: gathers and scatters. */
#include "tests/ops/ref_plain.h"

#include <string.h>

/* The loops visit the parameter entry by entry. All outputs that index an entry read it, or add to it in
 * their order. */
static int rows_of(const int *index, int n)
{
    int rows = 0;
    for (int j = 0; j < n; j++)
        rows = index[j] >= rows ? index[j] + 1 : rows;
    return rows;
}

void PW_OP(gather_bias_fwd)(struct pw_ctx *c, float *out, const float *param, const int *index, int H, int n)
{
    (void)c;
    memset(out, 0, (size_t)H * (size_t)n * sizeof *out);
    for (int row = 0; row < rows_of(index, n); row++)
        for (int h = 0; h < H; h++, param++)
            for (int j = 0; j < n; j++)
                if (index[j] == row)
                    out[(size_t)(h * n + j)] = *param;
}

void PW_OP(gather_bias_bwd)(struct pw_ctx *c, float *d_param, const float *d_out, const int *index, int L,
                            int H, int n)
{
    (void)c;
    for (int row = 0; row < rows_of(index, n); row++)
        for (int h = 0; h < H; h++, d_param++) {
            float sum = *d_param;
            for (int l = 0; l < L; l++)
                for (int j = 0; j < n; j++)
                    if (index[j] == row)
                        sum += d_out[(size_t)((l * H + h) * n + j)];
            *d_param = sum;
        }
}

void PW_OP(gather_rows)(struct pw_ctx *c, float *y, const float *x, const int *rows, int N, int C)
{
    (void)c;
    for (size_t n = 0; n < (size_t)N; n++)
        for (size_t i = 0; i < (size_t)C; i++)
            y[n * (size_t)C + i] = rows[n] < 0 ? 0.0f : x[(size_t)rows[n] * (size_t)C + i];
}

void PW_OP(scatter_rows)(struct pw_ctx *c, float *dx, const float *dy, const int *rows, int N, int R, int C)
{
    (void)c;
    memset(dx, 0, (size_t)R * (size_t)C * sizeof *dx);
    for (size_t n = 0; n < (size_t)N && rows[n] >= 0; n++)
        memcpy(dx + (size_t)rows[n] * (size_t)C, dy + n * (size_t)C, (size_t)C * sizeof *dx);
}
