/* ref_adamw.c - AdamW, plainly and on one thread. */
#include "tests/ops/ref_plain.h"

#include <math.h>

void PW_OP(adamw)(struct pw_backend *be, float *p, float *m, float *v, const float *g, const double *sumsq,
                  const struct pw_adamw_seg *segs, int n_segs, const struct pw_adamw *h)
{
    (void)be;
    double norm = sqrt(*sumsq);
    float k = h->clip > 0.0f && norm > (double)h->clip ? (float)((double)h->clip / norm) : 1.0f;
    for (int s = 0; s < n_segs; s++) {
        const struct pw_adamw_seg *t = &segs[s];
        float keep1 = 1.0f - h->beta1, keep2 = 1.0f - h->beta2, decay = t->lr * t->decay;
        for (size_t i = t->offset; i < t->offset + t->n; i++) {
            float d = k * g[i];
            m[i] = fmaf(h->beta1, m[i], keep1 * d);
            v[i] = fmaf(h->beta2, v[i], keep2 * (d * d));
            float step = (m[i] * t->c1) / (sqrtf(v[i] * t->c2) + h->eps);
            p[i] = fmaf(-t->lr, step, fmaf(-decay, p[i], p[i]));
        }
    }
}
