/* attribution.c - see attribution.h. Double precision, so that the difference between a logit and the sum of
 * its parts is only the rounding of the forward pass. */
#include "model/attribution.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/model_int.h"

/* Sets *p to the parameters on the host, matrices with their adapters. */
static enum pw_code weights(struct pw_model *m, const float **p, struct pw_err *err)
{
    bool there = m->ops->host && m->cfg.adapter == 0;

    *p = there ? m->p : m->host;
    if (there)
        return PW_OK;
    pw_model_get_acting(m, m->host);
    return m->ops->sync(m->be, err);
}

/* Freezes the statistics of a norm with gains at `at` for row x: it becomes gain * (x - mean of x). gain also
 * contains 1/sigma (or 1/rms) and scale. */
static void freeze(const struct pw_model *m, const float *p, size_t at, const double *x, double scale,
                   double *gain, bool *center)
{
    const struct pw_config *cfg = &m->cfg;
    int C = cfg->width;
    double mean = 0, square = 0;

    *center = cfg->norm == PW_NORM_LAYER;
    for (int i = 0; *center && i < C; i++)
        mean += x[i] / C;
    for (int i = 0; i < C; i++)
        square += (x[i] - mean) * (x[i] - mean) / C;
    if (cfg->norm != PW_NORM_NONE)
        scale /= sqrt(square + pw_norm_eps(cfg));
    for (int i = 0; i < C; i++)
        gain[i] = scale * (at == PW_ABSENT ? 1 : (double)p[at + i]);
}

/* Freezes the norm before the head, with logit_scale, at row x of the stream. */
static void freeze_last(const struct pw_model *m, const float *p, const float *x, double *gain, bool *center)
{
    int C = m->cfg.width;
    double *row = pw_alloc((size_t)C, sizeof *row);

    for (int i = 0; i < C; i++)
        row[i] = (double)x[i];
    freeze(m, p, m->lay.norm, row, (double)m->cfg.logit_scale, gain, center);
    free(row);
}

static void through(double *x, const double *gain, bool center, int C)
{
    double mean = 0;

    for (int i = 0; center && i < C; i++)
        mean += x[i] / C;
    for (int i = 0; i < C; i++)
        x[i] = gain[i] * (x[i] - mean);
}

/* y [C] = w x; w [C,stride], of which the first n columns count. */
static void project(double *y, const float *w, const float *x, int C, int n, int stride)
{
    for (int c = 0; c < C; c++) {
        y[c] = 0;
        for (int i = 0; i < n; i++)
            y[c] += (double)w[(size_t)c * stride + i] * (double)x[i];
    }
}

static void add_bias(double *y, const float *p, size_t at, double factor, int C)
{
    for (int i = 0; at != PW_ABSENT && i < C; i++)
        y[i] += factor * (double)p[at + i];
}

/* Writes part n of the list, which can be NULL; returns n + 1. */
static int add_part(struct pw_part *parts, int n, enum pw_part_kind kind, int layer, int head)
{
    if (parts != NULL)
        parts[n] = (struct pw_part){kind, layer, head};
    return n + 1;
}

int pw_model_parts(const struct pw_model *m, struct pw_part *parts)
{
    const struct pw_config *cfg = &m->cfg;
    int n = add_part(parts, 0, PW_PART_EMBED, 0, 0);

    if (m->pe.pe->uses & PW_PE_ADDED)
        n = add_part(parts, n, PW_PART_POSITION, 0, 0);
    for (int l = 0; l < cfg->layers; l++) {
        for (int h = 0; h < cfg->heads; h++)
            n = add_part(parts, n, PW_PART_HEAD, l, h);
        n = add_part(parts, n, PW_PART_MLP, l, 0);
    }
    bool biased = pw_config_bias_o(cfg) || pw_config_bias_mlp(cfg) || cfg->head_bias;
    return biased ? add_part(parts, n, PW_PART_BIAS, 0, 0) : n;
}

/* Passes what a branch adds, x [C], through the norm of its output, frozen at the branch's whole output: w x
 * + bias, w [C,n], of row `in` [n]. with_bias: x also gets the norm's bias. */
static void through_post(const struct pw_model *m, const float *p, double *x, size_t w, size_t bias,
                         const float *in, int n, size_t post, size_t post_bias, bool with_bias)
{
    int C = m->cfg.width;
    bool center;

    if (!m->cfg.post_norm)
        return;
    double *whole = pw_alloc(2 * (size_t)C, sizeof *whole), *gain = whole + C;
    project(whole, p + w, in, C, n, n);
    add_bias(whole, p, bias, 1, C);
    freeze(m, p, post, whole, 1, gain, &center);
    through(x, gain, center, C);
    if (with_bias)
        add_bias(x, p, post_bias, 1, C);
    free(whole);
}

/* Passes the part x [C] of the embedding through its norm, frozen at the whole row: E[token] + added [C]. */
static void through_embed(const struct pw_model *m, const float *p, double *x, const float *added, int token)
{
    int C = m->cfg.width;
    bool center;

    if (!m->cfg.embed_norm)
        return;
    double *whole = pw_alloc(2 * (size_t)C, sizeof *whole), *gain = whole + C;
    for (int i = 0; i < C; i++)
        whole[i] = (double)m->cfg.embed_scale * (double)p[m->lay.embed + (size_t)token * C + i] +
                   (added != NULL ? (double)added[i] : 0);
    freeze(m, p, m->lay.embed_norm, whole, 1, gain, &center);
    through(x, gain, center, C);
    free(whole);
}

/* Adds to x [C] what the biases of all layers write to row t of the stream. */
static void add_biases(const struct pw_model *m, const float *p, double *x, const struct pw_inspection *in,
                       int T, int t)
{
    const struct pw_config *cfg = &m->cfg;
    int C = cfg->width, HD = cfg->heads * cfg->head_width, F = cfg->ffn;
    double *part = pw_alloc((size_t)C, sizeof *part);

    add_bias(x, p, m->lay.embed_norm_bias, 1, C);
    for (int l = 0; l < cfg->layers; l++) {
        const struct pw_layer_at *at = &m->lay.layer[l];
        size_t r = (size_t)l * T + t;
        for (int mlp = 0; mlp < 2; mlp++) {
            memset(part, 0, (size_t)C * sizeof *part);
            add_bias(part, p, mlp ? at->down_bias : at->o_bias, 1, C);
            if (mlp)
                through_post(m, p, part, at->down, at->down_bias, in->mlp + r * F, F, at->post2,
                             at->post2_bias, true);
            else
                through_post(m, p, part, at->o, at->o_bias, in->z + r * HD, HD, at->post1, at->post1_bias,
                             true);
            for (int i = 0; i < C; i++)
                x[i] += part[i];
        }
    }
    free(part);
}

/* Computes x [C], what a part writes to row t of the stream. added [T,C], or NULL. */
static void write_part(const struct pw_model *m, const float *p, const float *added,
                       const struct pw_part *part, double *x, const struct pw_inspection *in, int token,
                       int T, int t)
{
    const struct pw_config *cfg = &m->cfg;
    int C = cfg->width, D = cfg->head_width, HD = cfg->heads * D, F = cfg->ffn;
    const struct pw_layer_at *at = &m->lay.layer[part->layer];
    size_t r = (size_t)part->layer * T + t;

    const float *here = added != NULL ? added + (size_t)t * C : NULL;

    memset(x, 0, (size_t)C * sizeof *x);
    switch (part->kind) {
    case PW_PART_EMBED:
        add_bias(x, p, m->lay.embed + (size_t)token * C, (double)cfg->embed_scale, C);
        through_embed(m, p, x, here, token);
        break;
    case PW_PART_POSITION:
        for (int i = 0; i < C; i++)
            x[i] = (double)here[i];
        through_embed(m, p, x, here, token);
        break;
    case PW_PART_HEAD:
        project(x, p + at->o + (size_t)part->head * D, in->z + r * HD + (size_t)part->head * D, C, D, HD);
        through_post(m, p, x, at->o, at->o_bias, in->z + r * HD, HD, at->post1, at->post1_bias, false);
        break;
    case PW_PART_MLP:
        project(x, p + at->down, in->mlp + r * F, C, F, F);
        through_post(m, p, x, at->down, at->down_bias, in->mlp + r * F, F, at->post2, at->post2_bias, false);
        break;
    default: add_biases(m, p, x, in, T, t);
    }
}

/* The logit of token v before the cap, from the normed row x [C]. */
static double logit(const struct pw_model *m, const float *p, const double *x, int v)
{
    int C = m->cfg.width;
    double sum = m->cfg.head_bias ? (double)p[m->lay.head_bias + v] : 0;

    for (int i = 0; i < C; i++)
        sum += (double)p[m->lay.head + (size_t)v * C + i] * x[i];
    return sum;
}

/* The cap of a logit; and as a factor, frozen at this logit. */
static double capped(const struct pw_model *m, double x)
{
    double cap = m->cfg.logit_cap;

    return cap > 0 ? cap * tanh(x / cap) : x;
}

static double cap_factor(const struct pw_model *m, double x)
{
    return x != 0 ? capped(m, x) / x : 1;
}

enum pw_code pw_model_attribute(struct pw_model *m, const struct pw_inspection *in, const int *tokens, int T,
                                int t, const int *ids, int n, double *part, double *mean, struct pw_err *err)
{
    const struct pw_config *cfg = &m->cfg;
    int C = cfg->width, V = cfg->vocab, n_parts = pw_model_parts(m, NULL);
    const float *p, *head; /* [V,C] */
    bool center;
    double average_bias = 0; /* of the head, as average [C] is of its weights: means over the vocabulary */
    float *added = NULL;
    enum pw_code code = m->pe.pe->uses & PW_PE_ADDED ? pw_model_added(m, tokens, T, &added, err) : PW_OK;

    if (code == PW_OK)
        code = weights(m, &p, err);
    if (code) {
        free(added);
        return code;
    }
    double *mem = pw_alloc(3 * (size_t)C + (size_t)V, sizeof *mem), *gain = mem, *x = mem + C,
           *average = mem + 2 * C, *factor = mem + 3 * C; /* of the cap [V] */
    struct pw_part *parts = pw_alloc((size_t)n_parts, sizeof *parts);
    head = p + m->lay.head;
    pw_model_parts(m, parts);
    const float *last = in->resid + ((size_t)cfg->layers * T + t) * C;
    freeze_last(m, p, last, gain, &center);
    for (int i = 0; i < C; i++)
        x[i] = (double)last[i];
    through(x, gain, center, C);
    add_bias(x, p, m->lay.norm_bias, (double)cfg->logit_scale, C);
    for (int v = 0; v < V; v++) {
        factor[v] = cfg->logit_cap > 0 ? cap_factor(m, logit(m, p, x, v)) : 1;
        average_bias += cfg->head_bias ? factor[v] * (double)p[m->lay.head_bias + v] / V : 0;
        for (int i = 0; i < C; i++)
            average[i] += factor[v] * (double)head[(size_t)v * C + i] / V;
    }
    for (int k = 0; k < n_parts; k++) {
        write_part(m, p, added, &parts[k], x, in, tokens[t], T, t);
        through(x, gain, center, C);
        if (parts[k].kind == PW_PART_BIAS)
            add_bias(x, p, m->lay.norm_bias, (double)cfg->logit_scale, C);
        bool biases = parts[k].kind == PW_PART_BIAS && cfg->head_bias;
        mean[k] = biases ? average_bias : 0;
        for (int i = 0; i < C; i++)
            mean[k] += average[i] * x[i];
        for (int j = 0; j < n; j++) {
            double *sum = &part[(size_t)k * n + j];
            *sum = biases ? (double)p[m->lay.head_bias + ids[j]] : 0;
            for (int i = 0; i < C; i++)
                *sum += (double)head[(size_t)ids[j] * C + i] * x[i];
            *sum *= factor[ids[j]];
        }
    }
    free(mem);
    free(parts);
    free(added);
    return PW_OK;
}

enum pw_code pw_model_lens(struct pw_model *m, const struct pw_inspection *in, int T, int t, double *out,
                           struct pw_err *err)
{
    const struct pw_config *cfg = &m->cfg;
    int C = cfg->width, V = cfg->vocab;
    const float *p;
    bool center;
    enum pw_code code = weights(m, &p, err);

    if (code)
        return code;
    double *mem = pw_alloc(2 * (size_t)C, sizeof *mem), *gain = mem, *x = mem + C;
    for (int l = 0; l <= cfg->layers; l++) {
        const float *stream = in->resid + ((size_t)l * T + t) * C;
        freeze_last(m, p, stream, gain, &center);
        for (int i = 0; i < C; i++)
            x[i] = (double)stream[i];
        through(x, gain, center, C);
        add_bias(x, p, m->lay.norm_bias, (double)cfg->logit_scale, C);
        for (int v = 0; v < V; v++)
            out[(size_t)l * V + v] = capped(m, logit(m, p, x, v));
    }
    free(mem);
    return PW_OK;
}
