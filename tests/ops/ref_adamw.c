/* ref_adamw.c - reference for bits: AdamW, on one thread. */
#include "tests/ops/ref_math.h"
#include "tests/ops/ref_plain.h"

#include <math.h>
#include <string.h>

void PW_OP(adamw)(struct pw_backend *be, float *p, float *m, float *v, const float *g, const double *sumsq,
                  const struct pw_adamw_seg *segs, int n_segs, size_t n_tiles, const struct pw_adamw *h,
                  double *moved)
{
    (void)be;
    (void)n_tiles;
    if (!isfinite(*sumsq)) {
        memset(moved, 0, 2 * (size_t)n_segs * sizeof *moved);
        return;
    }
    double norm = sqrt(*sumsq);
    float k = h->clip > 0.0f && norm > (double)h->clip ? (float)((double)h->clip / norm) : 1.0f;
    for (int s = 0; s < n_segs; s++) {
        const struct pw_adamw_seg *t = &segs[s];
        float keep1 = 1.0f - h->beta1, keep2 = 1.0f - h->beta2, decay = t->lr * t->decay;
        float lane[2][16] = {{0}};
        moved[2 * s] = moved[2 * s + 1] = 0.0;
        for (size_t at = 0; at < t->n; at++) {
            size_t i = t->place + at;
            float *param = p + t->offset + at, d = k * g[i], old = *param;
            m[i] = fmaf(h->beta1, m[i], keep1 * d);
            v[i] = fmaf(h->beta2, v[i], keep2 * (d * d));
            float step = (m[i] * t->c1) / (sqrtf(v[i] * t->c2) + h->eps);
            *param = fmaf(-t->lr, step, fmaf(-decay, old, old));
            float by = *param - old;
            lane[0][at % 16] = fmaf(by, by, lane[0][at % 16]);
            lane[1][at % 16] = fmaf(old, old, lane[1][at % 16]);
            if (at % 4096 == 4095 || at + 1 == t->n) {
                for (int w = 0; w < 2; w++)
                    moved[2 * s + w] += (double)plain_tree(lane[w]);
                memset(lane, 0, sizeof lane);
            }
        }
    }
}
