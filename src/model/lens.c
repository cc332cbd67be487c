/* lens.c - the logit lens, see attribution.h. Workers take parts of the vocabulary. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/attribution.h"
#include "model/direct.h"

enum { TOKENS = 512, ABREAST = 8 }; /* tokens of an item; sums that a processor computes at once */

struct lens {
    struct pw_model *m;
    const float *p;
    int n;           /* rows */
    const double *x; /* [n,stride] inputs of the head, each [E] */
    size_t stride;
    float *out; /* [n,V] */
};

/* The logits of tokens v .. v+7 without the cap, each the same sum as pw_direct_logit. rows [8,E]: those of
 * the head. */
static void logits_abreast(const struct pw_direct *w, const float *rows, const double *x, int v, double *out)
{
    const struct pw_model *m = w->m;
    size_t E = (size_t)pw_config_embed_width(&m->cfg);
    double sum[ABREAST];

    for (int k = 0; k < ABREAST; k++)
        sum[k] = m->cfg.head_bias ? (double)w->p[m->lay.head_bias + (size_t)(v + k)] : 0;
    for (size_t i = 0; i < E; i++)
        for (size_t k = 0; k < ABREAST; k++)
            sum[k] += (double)rows[k * E + i] * x[i];
    memcpy(out, sum, sizeof sum);
}

static void lens_part(struct pw_ctx *c, int item, int worker, void *arg)
{
    const struct lens *lens = arg;
    int V = lens->m->cfg.vocab, from = item * TOKENS, end = from + TOKENS < V ? from + TOKENS : V;
    struct pw_direct w = {.m = lens->m, .p = lens->p};

    (void)c;
    (void)worker;
    for (int v = from; v < end; v += ABREAST) { /* outside, so that each row of the head is fetched once */
        int n = end - v < ABREAST ? end - v : ABREAST;
        const float *rows = pw_direct_head_row(&w, v);
        for (int l = 0; l < lens->n; l++) {
            const double *x = lens->x + (size_t)l * lens->stride;
            float *out = lens->out + (size_t)l * (size_t)V + v;
            double sum[ABREAST];
            if (n == ABREAST)
                logits_abreast(&w, rows, x, v, sum);
            for (int k = 0; k < n; k++) {
                double logit = n == ABREAST ? sum[k] : pw_direct_logit(&w, x, v + k);
                out[k] = (float)pw_direct_capped(lens->m, logit);
            }
        }
    }
    pw_direct_close(&w);
}

enum pw_code pw_model_lens(struct pw_model *m, const struct pw_inspection *in, int T, int t, int from, int n,
                           float *out, struct pw_err *err)
{
    size_t C = (size_t)m->cfg.width, E = (size_t)pw_config_embed_width(&m->cfg);
    size_t stride = E > C ? E : C;
    struct pw_direct w;
    enum pw_code code = pw_direct_open(&w, m, err);

    assert(from >= 0 && n >= 1 && from + n <= m->cfg.layers + 1);
    if (code)
        return code;
    struct pw_frozen last = {.gain = pw_alloc(C + (size_t)n * stride, sizeof *last.gain)};
    double *rows = last.gain + C;
    for (size_t i = 0; i < (size_t)n; i++) {
        size_t l = (size_t)from + i;
        const float *stream = in->resid + (in->one_row ? l : l * (size_t)T + (size_t)t) * C;
        pw_direct_freeze_last(&w, &last, stream);
        pw_direct_head_input(&w, &last, rows + i * stride, stream);
    }
    struct lens lens = {m, w.p, n, rows, stride, out};
    m->ops->for_chunks(m->be, (m->cfg.vocab + TOKENS - 1) / TOKENS, lens_part, &lens);
    free(last.gain);
    pw_direct_close(&w);
    return PW_OK;
}
