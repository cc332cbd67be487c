/* ref_double_terms.c - reference for values: terms of rows in double precision, from their definition. */
#include "tests/ops/ref_double.h"

#include "kernels/score.h"

#include <math.h>

static double value_of(const struct pw_score *f, float x, int h, double *slope)
{
    float by, y = pw_score_value(f, (struct pw_score_pair){.h = h}, x, &by);
    if (slope != NULL)
        *slope = (double)by;
    return (double)y;
}

void ref_double_terms_fwd(struct pw_ctx *c, float *y, const float *g, const float *before,
                          const struct pw_score *f, int H, const struct pw_seqs *s, int R)
{
    const int whole[] = {0, R}, *start = s != NULL ? s->start : whole;
    (void)c;
    for (int n = 0; n < (s != NULL ? s->n : 1); n++)
        for (int h = 0; h < H; h++) {
            double sum = before != NULL ? (double)before[h] : 0;
            for (int r = start[n]; r < start[n + 1]; r++) {
                double x = (double)g[r * H + h];
                if (f != NULL)
                    sum += value_of(f, (float)x, h, NULL);
                else
                    sum -= x > 0 ? log1p(exp(-x)) : log1p(exp(x)) - x;
                y[r * H + h] = (float)sum;
            }
        }
}

void ref_double_terms_bwd(struct pw_ctx *c, float *dg, const float *dy, const float *g,
                          const struct pw_score *f, int H, const struct pw_seqs *s)
{
    (void)c;
    for (int n = 0; n < s->n; n++)
        for (int h = 0; h < H; h++) {
            double sum = 0;
            for (int r = s->start[n + 1] - 1; r >= s->start[n]; r--) {
                sum += (double)dy[r * H + h];
                double x = (double)g[r * H + h], slope = 1 / (1 + exp(x));
                if (f != NULL)
                    value_of(f, (float)x, h, &slope);
                dg[r * H + h] = (float)(sum * slope);
            }
        }
}
