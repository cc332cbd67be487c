/* ref_double_terms.c - reference for values: terms of rows in double precision, from their definition. */
#include "tests/ops/ref_double.h"

#include <math.h>

void ref_double_terms_fwd(struct pw_ctx *c, float *y, const float *g, const float *before, enum pw_terms kind,
                          int H, const struct pw_seqs *s, int R)
{
    const int whole[] = {0, R}, *start = s != NULL ? s->start : whole;
    (void)c;
    (void)kind;
    for (int n = 0; n < (s != NULL ? s->n : 1); n++)
        for (int h = 0; h < H; h++) {
            double sum = before != NULL ? (double)before[h] : 0;
            for (int r = start[n]; r < start[n + 1]; r++) {
                double x = (double)g[r * H + h];
                sum -= x > 0 ? log1p(exp(-x)) : log1p(exp(x)) - x;
                y[r * H + h] = (float)sum;
            }
        }
}

void ref_double_terms_bwd(struct pw_ctx *c, float *dg, const float *dy, const float *g, enum pw_terms kind,
                          int H, const struct pw_seqs *s)
{
    (void)c;
    (void)kind;
    for (int n = 0; n < s->n; n++)
        for (int h = 0; h < H; h++) {
            double sum = 0;
            for (int r = s->start[n + 1] - 1; r >= s->start[n]; r--) {
                sum += (double)dy[r * H + h];
                dg[r * H + h] = (float)(sum / (1 + exp((double)g[r * H + h])));
            }
        }
}
