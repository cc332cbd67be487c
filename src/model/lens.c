/* lens.c - the logit lens, see attribution.h. Workers take parts of the vocabulary. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/attribution.h"
#include "model/direct.h"

enum { TOKENS = 512, ABREAST = 8 }; /* tokens of an item; sums that a processor computes at once */

struct lens {
    struct pw_model *m;
    const float *p;
    const double *x; /* [L+1,stride] inputs of the head, each [E] */
    size_t stride;
    double *out; /* [L+1,V] */
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
    const struct pw_config *cfg = &lens->m->cfg;
    int V = cfg->vocab, from = item * TOKENS, end = from + TOKENS < V ? from + TOKENS : V;
    struct pw_direct w = {.m = lens->m, .p = lens->p};

    (void)c;
    (void)worker;
    for (int v = from; v < end; v += ABREAST) { /* outside, so that each row of the head is fetched once */
        int n = end - v < ABREAST ? end - v : ABREAST;
        const float *rows = pw_direct_head_row(&w, v);
        for (int l = 0; l <= cfg->layers; l++) {
            const double *x = lens->x + (size_t)l * lens->stride;
            double *out = lens->out + (size_t)l * V + v;
            if (n == ABREAST)
                logits_abreast(&w, rows, x, v, out);
            for (int k = 0; k < n; k++)
                out[k] = pw_direct_capped(lens->m, n == ABREAST ? out[k] : pw_direct_logit(&w, x, v + k));
        }
    }
    pw_direct_close(&w);
}

enum pw_code pw_model_lens(struct pw_model *m, const struct pw_inspection *in, int T, int t, double *out,
                           struct pw_err *err)
{
    size_t C = (size_t)m->cfg.width, E = (size_t)pw_config_embed_width(&m->cfg), L = (size_t)m->cfg.layers;
    size_t stride = E > C ? E : C;
    struct pw_direct w;
    enum pw_code code = pw_direct_open(&w, m, err);

    if (code)
        return code;
    struct pw_frozen last = {.gain = pw_alloc(C + (L + 1) * stride, sizeof *last.gain)};
    double *rows = last.gain + C;
    for (size_t l = 0; l <= L; l++) {
        const float *stream = in->resid + (in->one_row ? l : l * (size_t)T + (size_t)t) * C;
        pw_direct_freeze_last(&w, &last, stream);
        pw_direct_head_input(&w, &last, rows + l * stride, stream);
    }
    struct lens lens = {m, w.p, rows, stride, out};
    m->ops->for_chunks(m->be, (m->cfg.vocab + TOKENS - 1) / TOKENS, lens_part, &lens);
    free(last.gain);
    pw_direct_close(&w);
    return PW_OK;
}
