/* ref_terms.c - reference for bits: terms of rows, one number after the other. */
#include "tests/ops/ref_math.h"
#include "tests/ops/ref_plain.h"

static float log_sigmoid(float x)
{
    float e = plain_exp(0.0f - fabsf(x)), t = e / (2.0f + e), u = t * t, p = 1.0f / 15;
    for (int k = 13; k > 0; k -= 2)
        p = fmaf(p, u, 1.0f / (float)k);
    return (x < 0.0f ? x : 0.0f) - (t + t) * p;
}

void PW_OP(terms_fwd)(struct pw_ctx *c, float *y, const float *g, const float *before, enum pw_terms kind,
                      int H, const struct pw_seqs *s, int R)
{
    const int whole[] = {0, R}, *start = s != NULL ? s->start : whole;
    (void)c;
    (void)kind;
    for (int n = 0; n < (s != NULL ? s->n : 1); n++)
        for (int i = start[n] * H; i < start[n + 1] * H; i++) {
            y[i] = log_sigmoid(g[i]);
            if (i >= (start[n] + 1) * H)
                y[i] = y[i - H] + y[i];
            else if (before != NULL)
                y[i] = before[i] + y[i];
        }
}

void PW_OP(terms_bwd)(struct pw_ctx *c, float *dg, const float *dy, const float *g, enum pw_terms kind, int H,
                      const struct pw_seqs *s)
{
    (void)c;
    (void)kind;
    for (int n = 0; n < s->n; n++)
        for (int h = 0; h < H; h++) {
            float sum = 0.0f;
            for (int r = s->start[n + 1] - 1; r >= s->start[n]; r--) {
                float f, minus;
                sum = sum + dy[r * H + h];
                plain_sigmoid(g[r * H + h], &f, &minus);
                dg[r * H + h] = sum * minus;
            }
        }
}
