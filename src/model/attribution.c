/* attribution.c - see attribution.h. Double precision, so that the difference between a logit and the sum of
 * its parts is only the rounding of the forward pass. */
#include "model/attribution.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/model_int.h"

/* Sets *p to the parameters on the host. */
static enum pw_code weights(struct pw_model *m, const float **p, struct pw_err *err)
{
    *p = m->ops->host ? m->p : m->host;
    if (m->ops->host)
        return PW_OK;
    pw_model_get(m, m->host, NULL, NULL);
    return m->ops->sync(m->be, err);
}

/* Freezes the final norm's statistics at row x: the norm becomes gain * (x - mean of x). gain also contains
 * 1/sigma (or 1/rms) and logit_scale. */
static void freeze(const struct pw_model *m, const float *p, const float *x, double *gain, bool *center)
{
    const struct pw_config *cfg = &m->cfg;
    int C = cfg->width;
    double mean = 0, square = 0, scale = cfg->logit_scale;

    *center = cfg->norm == PW_NORM_LAYER;
    for (int i = 0; *center && i < C; i++)
        mean += (double)x[i] / C;
    for (int i = 0; i < C; i++)
        square += ((double)x[i] - mean) * ((double)x[i] - mean) / C;
    if (cfg->norm != PW_NORM_NONE)
        scale /= sqrt(square + pw_norm_eps(cfg));
    for (int i = 0; i < C; i++)
        gain[i] = scale * (m->lay.norm == PW_ABSENT ? 1 : (double)p[m->lay.norm + i]);
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
    return cfg->bias ? add_part(parts, n, PW_PART_BIAS, 0, 0) : n;
}

/* Computes x [C], what a part writes to row t of the stream. added [T,C]. */
static void write_part(const struct pw_model *m, const float *p, const float *added,
                       const struct pw_part *part, double *x, float *row, const struct pw_inspection *in,
                       int token, int T, int t)
{
    const struct pw_config *cfg = &m->cfg;
    int C = cfg->width, D = cfg->head_width, HD = cfg->heads * D, F = cfg->ffn;
    const struct pw_layer_at *at = &m->lay.layer[part->layer];
    size_t r = (size_t)part->layer * T + t;

    switch (part->kind) {
    case PW_PART_EMBED: memcpy(row, p + m->lay.embed + (size_t)token * C, (size_t)C * sizeof *row); break;
    case PW_PART_POSITION: memcpy(row, added + (size_t)t * C, (size_t)C * sizeof *row); break;
    case PW_PART_HEAD:
        project(x, p + at->o + (size_t)part->head * D, in->z + r * HD + (size_t)part->head * D, C, D, HD);
        return;
    case PW_PART_MLP: project(x, p + at->down, in->mlp + r * F, C, F, F); return;
    default: memset(row, 0, (size_t)C * sizeof *row); /* biases: added below */
    }
    for (int i = 0; i < C; i++)
        x[i] = (double)row[i];
    for (int l = 0; part->kind == PW_PART_BIAS && l < cfg->layers; l++) {
        add_bias(x, p, m->lay.layer[l].o_bias, 1, C);
        add_bias(x, p, m->lay.layer[l].down_bias, 1, C);
    }
}

enum pw_code pw_model_attribute(struct pw_model *m, const struct pw_inspection *in, const int *tokens, int T,
                                int t, const int *ids, int n, double *part, double *mean, struct pw_err *err)
{
    const struct pw_config *cfg = &m->cfg;
    int C = cfg->width, V = cfg->vocab, n_parts = pw_model_parts(m, NULL);
    const float *p, *head; /* [V,C] */
    bool center;
    float *added = NULL;
    enum pw_code code = m->pe.pe->uses & PW_PE_ADDED ? pw_model_added(m, tokens, T, &added, err) : PW_OK;

    if (code == PW_OK)
        code = weights(m, &p, err);
    if (code) {
        free(added);
        return code;
    }
    double *mem = pw_alloc(3 * (size_t)C, sizeof *mem), *gain = mem, *x = mem + C, *average = mem + 2 * C;
    float *row = pw_alloc((size_t)C, sizeof *row);
    struct pw_part *parts = pw_alloc((size_t)n_parts, sizeof *parts);
    head = p + m->lay.head;
    pw_model_parts(m, parts);
    freeze(m, p, in->resid + ((size_t)cfg->layers * T + t) * C, gain, &center);
    for (int v = 0; v < V; v++)
        for (int i = 0; i < C; i++)
            average[i] += (double)head[(size_t)v * C + i] / V;
    for (int k = 0; k < n_parts; k++) {
        write_part(m, p, added, &parts[k], x, row, in, tokens[t], T, t);
        through(x, gain, center, C);
        if (parts[k].kind == PW_PART_BIAS)
            add_bias(x, p, m->lay.norm_bias, (double)cfg->logit_scale, C);
        mean[k] = 0;
        for (int i = 0; i < C; i++)
            mean[k] += average[i] * x[i];
        for (int j = 0; j < n; j++) {
            double *sum = &part[(size_t)k * n + j];
            *sum = 0;
            for (int i = 0; i < C; i++)
                *sum += (double)head[(size_t)ids[j] * C + i] * x[i];
        }
    }
    free(mem);
    free(row);
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
        freeze(m, p, stream, gain, &center);
        for (int i = 0; i < C; i++)
            x[i] = (double)stream[i];
        through(x, gain, center, C);
        add_bias(x, p, m->lay.norm_bias, (double)cfg->logit_scale, C);
        for (int v = 0; v < V; v++) {
            const float *w = p + m->lay.head + (size_t)v * C;
            double *sum = &out[(size_t)l * V + v];
            *sum = 0;
            for (int i = 0; i < C; i++)
                *sum += (double)w[i] * x[i];
        }
    }
    free(mem);
    return PW_OK;
}
