/* ref_terms.c - reference for bits: terms of rows, one number after the other. */
#include "kernels/score.h"
#include "tests/ops/ref_math.h"
#include "tests/ops/ref_plain.h"

static float log_sigmoid(float x)
{
    float e = plain_exp(0.0f - fabsf(x)), t = e / (2.0f + e), u = t * t, p = 1.0f / 15;
    for (int k = 13; k > 0; k -= 2)
        p = fmaf(p, u, 1.0f / (float)k);
    return (x < 0.0f ? x : 0.0f) - (t + t) * p;
}

void PW_OP(terms_fwd)(struct pw_ctx *c, float *y, const float *g, const float *before,
                      const struct pw_score *f, int H, const struct pw_seqs *s, int R)
{
    const int whole[] = {0, R}, *start = s != NULL ? s->start : whole;
    (void)c;
    for (int n = 0; n < (s != NULL ? s->n : 1); n++)
        for (int i = start[n] * H; i < start[n + 1] * H; i++) {
            float by;
            y[i] = f != NULL ? pw_score_value(f, (struct pw_score_pair){.h = i % H}, g[i], &by)
                             : log_sigmoid(g[i]);
            if (i >= (start[n] + 1) * H)
                y[i] = y[i - H] + y[i];
            else if (before != NULL)
                y[i] = before[i] + y[i];
        }
}

void PW_OP(terms_bwd)(struct pw_ctx *c, float *dg, const float *dy, const float *g, const struct pw_score *f,
                      int H, const struct pw_seqs *s)
{
    (void)c;
    for (int n = 0; n < s->n; n++)
        for (int h = 0; h < H; h++) {
            float sum = 0.0f;
            for (int r = s->start[n + 1] - 1; r >= s->start[n]; r--) {
                float sigmoid, slope;
                sum = sum + dy[r * H + h];
                if (f != NULL)
                    pw_score_value(f, (struct pw_score_pair){.h = h}, g[r * H + h], &slope);
                else
                    plain_sigmoid(g[r * H + h], &sigmoid, &slope);
                dg[r * H + h] = sum * slope;
            }
        }
}
