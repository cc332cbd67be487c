/* terms.c - splits a score into content and position, if the position is in the stream.
 *
 * The stream before a layer is x = e + p. A norm divides by a scale that depends on all of x. With this scale
 * frozen, s = 1/rms(x) or 1/sigma(x), the norm is linear,
 *
 *     norm(x) = g s (e - mean e) + b  +  g s (p - mean p)        (no means in RMSNorm)
 *
 * and so are q and k. A score is then cc + cp + pc + pp, as in Ke et al. 2021, Eq. 6, and He et al. 2021.
 * Norms of heads (qk_norm) are frozen in the same way. Biases of the norm and of q and k carry no position,
 * so they belong to the content. The arithmetic is in double precision on the host: one head is small, and
 * four terms that cancel keep their digits. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "model/model_int.h"

/* A head's part of the q or k projection: weights [D,C], and bias [D] or NULL. */
struct projection {
    float *weight, *bias;
    float *gain; /* [D] of the head's norm, or NULL */
};

/* The parameters that map the stream of a layer to a head's q and k. */
struct head {
    float *gain, *shift; /* [C]; NULL if the norm has none */
    struct projection q, k;
};

static float *fetch(struct pw_model *m, size_t at, size_t offset, size_t n, bool *failed)
{
    if (at == PW_ABSENT)
        return NULL;
    float *out = malloc(n * sizeof *out);
    if (out != NULL)
        pw_model_read_acting(m, out, at + offset, n);
    *failed = *failed || out == NULL;
    return out;
}

static void free_head(struct head *h)
{
    free(h->gain);
    free(h->shift);
    free(h->q.weight);
    free(h->q.bias);
    free(h->k.weight);
    free(h->k.bias);
    free(h->q.gain);
    free(h->k.gain);
}

static enum pw_code fetch_head(struct pw_model *m, struct head *h, int layer, int head, struct pw_err *err)
{
    const struct pw_layer_at *at = &m->lay.layer[layer];
    size_t C = (size_t)m->cfg.width, D = (size_t)m->cfg.head_width, q = (size_t)head * D,
           k = (size_t)(m->cfg.heads + head / (m->cfg.heads / pw_config_kv_heads(&m->cfg))) * D;
    bool failed = false;

    h->gain = fetch(m, at->norm1, 0, C, &failed);
    h->shift = fetch(m, at->norm1_bias, 0, C, &failed);
    h->q.weight = fetch(m, at->qkv, q * C, D * C, &failed);
    h->k.weight = fetch(m, at->qkv, k * C, D * C, &failed);
    h->q.bias = fetch(m, at->qkv_bias, q, D, &failed);
    h->k.bias = fetch(m, at->qkv_bias, k, D, &failed);
    h->q.gain = fetch(m, at->q_norm, 0, D, &failed);
    h->k.gain = fetch(m, at->k_norm, 0, D, &failed);
    return failed ? pw_fail(err, PW_ENOMEM, "out of memory for the terms of a head")
                  : m->ops->sync(m->be, err);
}

static double mean(const float *x, int C)
{
    double sum = 0;

    for (int i = 0; i < C; i++)
        sum += x[i];
    return sum / C;
}

/* Splits one row: writes the shares of content e = x - p and position p [C] in
 * norm(x), with the scale of x. */
static void norm_parts(const struct pw_config *cfg, const struct head *h, const float *x, const float *p,
                       double *content, double *position)
{
    int C = cfg->width;
    int kind = pw_config_norm_attn(cfg);
    bool none = kind == PW_NORM_NONE, centred = kind == PW_NORM_LAYER;
    double mean_x = centred ? mean(x, C) : 0, mean_p = centred ? mean(p, C) : 0, sum = 0, s = 1;

    for (int i = 0; i < C; i++)
        sum += (x[i] - mean_x) * (x[i] - mean_x);
    if (!none)
        s = 1 / sqrt(sum / C + pw_norm_eps(cfg));
    for (int i = 0; i < C; i++) {
        double g = h->gain != NULL ? (double)h->gain[i] * s : s;
        position[i] = g * (p[i] - mean_p);
        content[i] = g * (x[i] - mean_x) - position[i] + (h->shift != NULL ? (double)h->shift[i] : 0);
    }
}

static void project(double *out, const struct projection *w, const double *x, int D, int C, bool with_bias)
{
    for (int d = 0; d < D; d++) {
        double sum = with_bias && w->bias != NULL ? (double)w->bias[d] : 0;
        for (int i = 0; i < C; i++)
            sum += (double)w->weight[(size_t)d * C + i] * x[i];
        out[d] = sum;
    }
}

/* Norms the head whose content and position parts are a and b [D]; its scale is that of their sum. */
static void norm_head(const struct pw_config *cfg, const struct projection *w, double *a, double *b, int D)
{
    double square = 0;

    for (int d = 0; d < D; d++)
        square += (a[d] + b[d]) * (a[d] + b[d]) / D;
    for (int d = 0; d < D && w->gain != NULL; d++) {
        double factor = (double)w->gain[d] / sqrt(square + (double)pw_norm_eps(cfg));
        a[d] *= factor;
        b[d] *= factor;
    }
}

static double dot(const double *a, const double *b, int D)
{
    double sum = 0;

    for (int d = 0; d < D; d++)
        sum += a[d] * b[d];
    return sum;
}

enum pw_code pw_model_terms(struct pw_model *m, float *terms, const float *x, const float *p, int T,
                            int layer, int head, struct pw_err *err)
{
    const struct pw_config *cfg = &m->cfg;
    int C = cfg->width, D = cfg->head_width;
    size_t square = (size_t)T * T, row = (size_t)D;
    struct head h = {0};
    /* q and k of content and of position, [2,T,D] each, then one row of each */
    double *q = malloc((4 * (size_t)T * D + 2 * (size_t)C) * sizeof *q),
           *k = q != NULL ? q + 2 * T * row : NULL, *e = q != NULL ? k + 2 * T * row : NULL;
    float scale = pw_model_attn(m, layer).scale;

    assert(layer < cfg->layers && head < cfg->heads);
    enum pw_code code = fetch_head(m, &h, layer, head, err);
    if (code == PW_OK && q == NULL)
        code = pw_fail(err, PW_ENOMEM, "out of memory for the terms of %d tokens", T);
    for (int t = 0; code == PW_OK && t < T; t++) {
        norm_parts(cfg, &h, x + (size_t)t * C, p + (size_t)t * C, e, e + C);
        for (int part = 0; part < 2; part++) {
            project(q + (part * T + t) * row, &h.q, e + part * C, D, C, part == 0);
            project(k + (part * T + t) * row, &h.k, e + part * C, D, C, part == 0);
        }
        norm_head(cfg, &h.q, q + t * row, q + (T + t) * row, D);
        norm_head(cfg, &h.k, k + t * row, k + (T + t) * row, D);
    }
    for (size_t i = 0; code == PW_OK && i < 4 * square; i++) {
        int term = (int)(i / square), t = (int)(i % square / T), j = (int)(i % T);
        bool seen = !cfg->causal || j <= t;
        terms[i] =
            seen ? (float)(scale * dot(q + (term / 2 * T + t) * row, k + (term % 2 * T + j) * row, D)) : 0;
    }
    free_head(&h);
    free(q);
    return code;
}
