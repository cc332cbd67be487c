/* attribution.c - see attribution.h. Double precision, so that the difference between a logit and the sum of
 * its parts is only the rounding of the forward pass. */
#include "model/attribution.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/model_int.h"

/* Matrices that are read one after the other. Those that are not among the parameters, because a model has
 * them in packs alone (packed.c) or with adapters (adapter.c), are copied when they are needed. A copy stays
 * until the next one of its kind. */
enum { LENT_O, LENT_DOWN, LENT_EMBED, LENT_HEAD, LENT_KINDS };

struct weights {
    struct pw_model *m;
    const float *p; /* the parameters on the host; of a packed model only the vectors, without adapters */
    struct {
        float *copy;
        size_t at, n;
    } lent[LENT_KINDS];
};

static enum pw_code weights_open(struct weights *w, struct pw_model *m, struct pw_err *err)
{
    *w = (struct weights){.m = m, .p = m->ops->host ? m->p : m->host};
    if (m->ops->host)
        return PW_OK;
    pw_model_get(m, m->host, NULL, NULL);
    return m->ops->sync(m->be, err);
}

static void weights_close(struct weights *w)
{
    for (int i = 0; i < LENT_KINDS; i++)
        free(w->lent[i].copy);
}

/* Returns n parameters from offset on, valid until the next call for this kind. */
static const float *lend(struct weights *w, int kind, size_t offset, size_t n)
{
    bool adapted = w->m->cfg.adapter > 0 && (kind == LENT_O || kind == LENT_DOWN);

    if (!w->m->packed && !adapted)
        return w->p + offset;
    if (w->lent[kind].copy != NULL && w->lent[kind].at == offset && w->lent[kind].n == n)
        return w->lent[kind].copy;
    free(w->lent[kind].copy);
    w->lent[kind].copy = pw_alloc(n, sizeof(float));
    w->lent[kind].at = offset;
    w->lent[kind].n = n;
    if (adapted)
        pw_model_read_acting(w->m, w->lent[kind].copy, offset, n);
    else
        pw_packed_read(w->m, w->lent[kind].copy, offset, n);
    return w->lent[kind].copy;
}

static const float *embed_row(struct weights *w, int token)
{
    size_t C = (size_t)w->m->cfg.width;

    return lend(w, LENT_EMBED, w->m->lay.embed + (size_t)token * C, C);
}

/* Returns row v of the head; it is copied with its neighbours, which follow as a rule. */
static const float *head_row(struct weights *w, int v)
{
    enum { ROWS = 32 };
    size_t C = (size_t)w->m->cfg.width;
    int first = v / ROWS * ROWS, left = w->m->cfg.vocab - first;

    return lend(w, LENT_HEAD, w->m->lay.head + (size_t)first * C, (size_t)(left < ROWS ? left : ROWS) * C) +
           (size_t)(v - first) * C;
}

/* Returns the index of row t of layer l within tensors of T rows a layer. */
static size_t row_of(const struct pw_inspection *in, int l, int T, int t)
{
    return in->one_row ? (size_t)l : (size_t)l * T + t;
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

/* Return the matrices that write to the stream: of attention [C,HD], of the MLP [C,F]. */
static const float *o_of(struct weights *w, int l)
{
    const struct pw_config *cfg = &w->m->cfg;

    return lend(w, LENT_O, w->m->lay.layer[l].o,
                (size_t)cfg->width * (size_t)cfg->heads * (size_t)cfg->head_width);
}

static const float *down_of(struct weights *w, int l)
{
    const struct pw_config *cfg = &w->m->cfg;

    return lend(w, LENT_DOWN, w->m->lay.layer[l].down, (size_t)cfg->width * (size_t)cfg->ffn);
}

/* Passes what a branch adds, x [C], through the norm of its output, frozen at the branch's whole output: w x
 * + bias, w [C,n], of row `in` [n]. with_bias: x also gets the norm's bias. */
static void through_post(const struct pw_model *m, const float *p, double *x, const float *w, size_t bias,
                         const float *in, int n, size_t post, size_t post_bias, bool with_bias)
{
    int C = m->cfg.width;
    bool center;

    double *whole = pw_alloc(2 * (size_t)C, sizeof *whole), *gain = whole + C;
    project(whole, w, in, C, n, n);
    add_bias(whole, p, bias, 1, C);
    freeze(m, p, post, whole, 1, gain, &center);
    through(x, gain, center, C);
    if (with_bias)
        add_bias(x, p, post_bias, 1, C);
    free(whole);
}

/* Passes the part x [C] of the embedding through its norm, frozen at the whole row: E[token] + added [C]. */
static void through_embed(struct weights *w, double *x, const float *added, int token)
{
    const struct pw_model *m = w->m;
    const float *row = embed_row(w, token);
    int C = m->cfg.width;
    bool center;

    if (!m->cfg.embed_norm)
        return;
    double *whole = pw_alloc(2 * (size_t)C, sizeof *whole), *gain = whole + C;
    for (int i = 0; i < C; i++)
        whole[i] = (double)m->cfg.embed_scale * (double)row[i] + (added != NULL ? (double)added[i] : 0);
    freeze(m, w->p, m->lay.embed_norm, whole, 1, gain, &center);
    through(x, gain, center, C);
    free(whole);
}

/* Adds to x [C] what the biases of all layers write to row t of the stream. */
static void add_biases(struct weights *w, double *x, const struct pw_inspection *in, int T, int t)
{
    const struct pw_model *m = w->m;
    const float *p = w->p;
    const struct pw_config *cfg = &m->cfg;
    int C = cfg->width, HD = cfg->heads * cfg->head_width, F = cfg->ffn;
    double *part = pw_alloc((size_t)C, sizeof *part);

    add_bias(x, p, m->lay.embed_norm_bias, 1, C);
    for (int l = 0; l < cfg->layers; l++) {
        const struct pw_layer_at *at = &m->lay.layer[l];
        size_t r = row_of(in, l, T, t);
        for (int mlp = 0; mlp < 2; mlp++) {
            memset(part, 0, (size_t)C * sizeof *part);
            add_bias(part, p, mlp ? at->down_bias : at->o_bias, 1, C);
            if (cfg->post_norm && mlp)
                through_post(m, p, part, down_of(w, l), at->down_bias, in->mlp + r * F, F, at->post2,
                             at->post2_bias, true);
            else if (cfg->post_norm)
                through_post(m, p, part, o_of(w, l), at->o_bias, in->z + r * HD, HD, at->post1,
                             at->post1_bias, true);
            for (int i = 0; i < C; i++)
                x[i] += part[i];
        }
    }
    free(part);
}

/* Computes x [C], what a part writes to row t of the stream. added [T,C], or NULL. */
static void write_part(struct weights *w, const float *added, const struct pw_part *part, double *x,
                       const struct pw_inspection *in, int token, int T, int t)
{
    const struct pw_model *m = w->m;
    const float *p = w->p, *matrix;
    const struct pw_config *cfg = &m->cfg;
    int C = cfg->width, D = cfg->head_width, HD = cfg->heads * D, F = cfg->ffn;
    const struct pw_layer_at *at = &m->lay.layer[part->layer];
    size_t r = row_of(in, part->layer, T, t);

    const float *here = added != NULL ? added + (size_t)t * C : NULL;

    memset(x, 0, (size_t)C * sizeof *x);
    switch (part->kind) {
    case PW_PART_EMBED:
        add_bias(x, embed_row(w, token), 0, (double)cfg->embed_scale, C);
        through_embed(w, x, here, token);
        break;
    case PW_PART_POSITION:
        for (int i = 0; i < C; i++)
            x[i] = (double)here[i];
        through_embed(w, x, here, token);
        break;
    case PW_PART_HEAD:
        matrix = o_of(w, part->layer);
        project(x, matrix + (size_t)part->head * D, in->z + r * HD + (size_t)part->head * D, C, D, HD);
        if (cfg->post_norm)
            through_post(m, p, x, matrix, at->o_bias, in->z + r * HD, HD, at->post1, at->post1_bias, false);
        break;
    case PW_PART_MLP:
        matrix = down_of(w, part->layer);
        project(x, matrix, in->mlp + r * F, C, F, F);
        if (cfg->post_norm)
            through_post(m, p, x, matrix, at->down_bias, in->mlp + r * F, F, at->post2, at->post2_bias,
                         false);
        break;
    default: add_biases(w, x, in, T, t);
    }
}

/* The logit of token v before the cap, from the normed row x [C]. */
static double logit(struct weights *w, const double *x, int v)
{
    const struct pw_model *m = w->m;
    const float *row = head_row(w, v);
    double sum = m->cfg.head_bias ? (double)w->p[m->lay.head_bias + v] : 0;

    for (int i = 0; i < m->cfg.width; i++)
        sum += (double)row[i] * x[i];
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
    struct weights w = {0};
    bool center;
    double average_bias = 0; /* of the head, as average [C] is of its weights: means over the vocabulary */
    float *added = NULL;
    enum pw_code code = m->pe.pe->uses & PW_PE_ADDED ? pw_model_added(m, tokens, T, &added, err) : PW_OK;

    if (code == PW_OK)
        code = weights_open(&w, m, err);
    if (code) {
        free(added);
        return code;
    }
    const float *p = w.p;
    float *rows = pw_alloc((size_t)n * C + 1, sizeof *rows); /* of the head, for ids */
    double *mem = pw_alloc(3 * (size_t)C + (size_t)V, sizeof *mem), *gain = mem, *x = mem + C,
           *average = mem + 2 * C, *factor = mem + 3 * C; /* of the cap [V] */
    struct pw_part *parts = pw_alloc((size_t)n_parts, sizeof *parts);
    for (int j = 0; j < n; j++)
        memcpy(rows + (size_t)j * C, head_row(&w, ids[j]), (size_t)C * sizeof *rows);
    pw_model_parts(m, parts);
    const float *last = in->resid + row_of(in, cfg->layers, T, t) * C;
    freeze_last(m, p, last, gain, &center);
    for (int i = 0; i < C; i++)
        x[i] = (double)last[i];
    through(x, gain, center, C);
    add_bias(x, p, m->lay.norm_bias, (double)cfg->logit_scale, C);
    for (int v = 0; v < V; v++) {
        factor[v] = cfg->logit_cap > 0 ? cap_factor(m, logit(&w, x, v)) : 1;
        const float *row = head_row(&w, v);
        average_bias += cfg->head_bias ? factor[v] * (double)p[m->lay.head_bias + v] / V : 0;
        for (int i = 0; i < C; i++)
            average[i] += factor[v] * (double)row[i] / V;
    }
    for (int k = 0; k < n_parts; k++) {
        write_part(&w, added, &parts[k], x, in, tokens[t], T, t);
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
                *sum += (double)rows[(size_t)j * C + i] * x[i];
            *sum *= factor[ids[j]];
        }
    }
    free(mem);
    free(parts);
    free(added);
    free(rows);
    weights_close(&w);
    return m->ops->sync(m->be, err); /* of matrices that were copied from a device */
}

enum { LENS_TOKENS = 512, ABREAST = 8 }; /* tokens of an item; sums that a processor computes at once */

/* The logit lens of a row. Workers take parts of the vocabulary. */
struct lens {
    struct pw_model *m;
    const float *p;
    const double *x; /* [L+1,C] normed rows */
    double *out;     /* [L+1,V] */
};

/* The logits of tokens v .. v+7 without the cap, each the same sum as `logit`. rows [8,C]: those of the head.
 */
static void logits_abreast(const struct weights *w, const float *rows, const double *x, int v, double *out)
{
    const struct pw_model *m = w->m;
    size_t C = (size_t)m->cfg.width;
    double sum[ABREAST];

    for (int k = 0; k < ABREAST; k++)
        sum[k] = m->cfg.head_bias ? (double)w->p[m->lay.head_bias + (size_t)(v + k)] : 0;
    for (size_t i = 0; i < C; i++)
        for (size_t k = 0; k < ABREAST; k++)
            sum[k] += (double)rows[k * C + i] * x[i];
    memcpy(out, sum, sizeof sum);
}

static void lens_part(struct pw_ctx *c, int item, int worker, void *arg)
{
    const struct lens *lens = arg;
    const struct pw_config *cfg = &lens->m->cfg;
    int V = cfg->vocab, from = item * LENS_TOKENS, end = from + LENS_TOKENS < V ? from + LENS_TOKENS : V;
    struct weights w = {.m = lens->m, .p = lens->p};

    (void)c;
    (void)worker;
    for (int v = from; v < end; v += ABREAST) { /* outside, so that each row of the head is fetched once */
        int n = end - v < ABREAST ? end - v : ABREAST;
        const float *rows = head_row(&w, v);
        for (int l = 0; l <= cfg->layers; l++) {
            const double *x = lens->x + (size_t)l * cfg->width;
            double *out = lens->out + (size_t)l * V + v;
            if (n == ABREAST)
                logits_abreast(&w, rows, x, v, out);
            for (int k = 0; k < n; k++)
                out[k] = capped(lens->m, n == ABREAST ? out[k] : logit(&w, x, v + k));
        }
    }
    weights_close(&w);
}

enum pw_code pw_model_lens(struct pw_model *m, const struct pw_inspection *in, int T, int t, double *out,
                           struct pw_err *err)
{
    const struct pw_config *cfg = &m->cfg;
    int C = cfg->width, L = cfg->layers;
    struct weights w;
    bool center;
    enum pw_code code = weights_open(&w, m, err);

    if (code)
        return code;
    double *gain = pw_alloc((size_t)(L + 2) * (size_t)C, sizeof *gain), *rows = gain + C;
    for (int l = 0; l <= L; l++) {
        const float *stream = in->resid + row_of(in, l, T, t) * C;
        double *x = rows + (size_t)l * C;
        freeze_last(m, w.p, stream, gain, &center);
        for (int i = 0; i < C; i++)
            x[i] = (double)stream[i];
        through(x, gain, center, C);
        add_bias(x, w.p, m->lay.norm_bias, (double)cfg->logit_scale, C);
    }
    struct lens lens = {m, w.p, rows, out};
    m->ops->for_chunks(m->be, (cfg->vocab + LENS_TOKENS - 1) / LENS_TOKENS, lens_part, &lens);
    free(gain);
    weights_close(&w);
    return PW_OK;
}
