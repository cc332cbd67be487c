/* attribution.c - see attribution.h. Double precision, so that the difference between a logit and the sum of
 * its parts is only the rounding of the forward pass. */
#include "model/attribution.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/direct.h"

/* One row of a sequence, with the inspection that has its tensors. */
struct place {
    struct pw_direct *w;
    const struct pw_inspection *in;
    const float *added; /* [C] what the encoding adds to the embedding, or NULL */
    int token, T, t;
    /* norm_at=after: [2L] the norms of the sums in order, with the statistics of this row; NULL: none */
    struct pw_frozen *sums;
};

/* Returns the index of the row in layer l of tensors of T rows a layer. */
static size_t row_of(const struct place *at, int l)
{
    return at->in->one_row ? (size_t)l : (size_t)l * (size_t)at->T + (size_t)at->t;
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

/* ---- what a branch writes */

/* A branch, attention or MLP: offsets of the matrix [C,n] that writes to the stream, of its bias, and of the
 * norm after it; and its input [n] in this row. The MLP's matrix, the largest of a layer, is read once for a
 * row, in parts of 2 MiB. That of the attention is read as a whole, because each head needs all rows. */
struct branch {
    const float *in;
    int n, rows; /* rows: of the matrix, to read at once */
    size_t matrix, bias, post, post_bias;
};

enum { MOST_AT_ONCE = 1 << 19 }; /* parameters of the MLP's matrix */

static struct branch branch_of(const struct place *at, int l, bool mlp)
{
    const struct pw_config *cfg = &at->w->m->cfg;
    const struct pw_layer_at *y = &at->w->m->lay.layer[l];
    int n = mlp ? cfg->ffn : cfg->heads * cfg->head_width, rows = mlp ? MOST_AT_ONCE / n : cfg->width;

    return (struct branch){.in = (mlp ? at->in->mlp : at->in->z) + row_of(at, l) * (size_t)n,
                           .n = n,
                           .rows = rows < 1            ? 1
                                   : rows < cfg->width ? rows
                                                       : cfg->width,
                           .matrix = mlp ? y->down : y->o,
                           .bias = mlp ? y->down_bias : y->o_bias,
                           .post = mlp ? y->post2 : y->post1,
                           .post_bias = mlp ? y->post2_bias : y->post1_bias};
}

/* y [C] = what n of the branch's inputs write, from number `first` on. */
static void project_part(const struct place *at, double *y, const struct branch *b, int first, int n)
{
    int C = at->w->m->cfg.width;
    size_t stride = (size_t)b->n;

    for (int top = 0, rows; top < C; top += rows) {
        rows = C - top < b->rows ? C - top : b->rows;
        const float *part =
            pw_direct_read(at->w, PW_DIRECT_BRANCH, b->matrix + (size_t)top * stride, (size_t)rows * stride);
        for (int r = 0; r < rows; r++) {
            double sum = 0;
            for (int i = first; i < first + n; i++)
                sum += (double)part[(size_t)r * stride + (size_t)i] * (double)b->in[i];
            y[top + r] = sum;
        }
    }
}

/* y [C] = the branch's whole output before a norm. */
static void project_whole(const struct place *at, double *y, const struct branch *b)
{
    project_part(at, y, b, 0, b->n);
    pw_direct_add(at->w, y, b->bias, 1);
}

/* Passes x [C], a part of `whole` [C], through the norm with gains at this offset, frozen at the whole. */
static void through_norm(const struct place *at, double *x, const double *whole, size_t gains)
{
    const struct pw_config *cfg = &at->w->m->cfg;
    struct pw_frozen norm = {.gain = pw_alloc((size_t)cfg->width, sizeof *norm.gain)};

    pw_freeze(at->w, &norm, cfg->norm, gains, whole, 1);
    pw_frozen_apply(&norm, x, cfg->width);
    free(norm.gain);
}

/* With post_norm, passes what is a part of the branch's output, x [C], through its norm, frozen at the whole
 * output. */
static void through_post(const struct place *at, double *x, const struct branch *b)
{
    const struct pw_config *cfg = &at->w->m->cfg;

    if (!cfg->post_norm)
        return;
    double *whole = pw_alloc((size_t)cfg->width, sizeof *whole);
    project_whole(at, whole, b);
    through_norm(at, x, whole, b->post);
    free(whole);
}

/* ---- norm_at=after: each part of the stream passes all norms behind it */

/* Returns the norms of the sums; the caller frees them, which is one block. */
static struct pw_frozen *freeze_sums(const struct place *at)
{
    const struct pw_config *cfg = &at->w->m->cfg;
    size_t C = (size_t)cfg->width, n = 2 * (size_t)cfg->layers;
    struct pw_frozen *sums = pw_alloc(n * sizeof *sums + n * C * sizeof(double), 1);
    double *sum = pw_alloc(2 * C, sizeof *sum), *y = sum + C;

    for (size_t k = 0; k < n; k++) {
        const float *x = at->in->resid + row_of(at, (int)(k / 2)) * C;
        struct branch b = branch_of(at, (int)(k / 2), k % 2 == 1);
        sums[k].gain = (double *)(sums + n) + k * C;
        for (size_t i = 0; k % 2 == 0 && i < C; i++)
            sum[i] = (double)x[i];
        project_whole(at, y, &b);
        for (size_t i = 0; i < C; i++)
            sum[i] += y[i];
        pw_freeze(at->w, &sums[k], cfg->norm, b.post, sum, 1);
        pw_frozen_apply(&sums[k], sum, cfg->width);
        pw_direct_add(at->w, sum, b.post_bias, 1);
    }
    free(sum);
    return sums;
}

/* Passes x [C], a part of sum `first`, through the norms from there on. */
static void through_sums(const struct place *at, double *x, int first)
{
    const struct pw_config *cfg = &at->w->m->cfg;

    for (int k = first; at->sums != NULL && k < 2 * cfg->layers; k++)
        pw_frozen_apply(&at->sums[k], x, cfg->width);
}

/* ---- the parts */

/* x [C] = the token's part of the embedding. */
static void write_token(const struct place *at, double *x)
{
    const struct pw_config *cfg = &at->w->m->cfg;
    const struct pw_param_layout *lay = &at->w->m->lay;
    size_t C = (size_t)cfg->width, E = (size_t)pw_config_embed_width(cfg);
    const float *row = pw_direct_read(at->w, PW_DIRECT_EMBED, lay->embed + (size_t)at->token * E, E);
    const float *in = E != C ? pw_direct_read(at->w, PW_DIRECT_EMBED_IN, lay->embed_in, C * E) : NULL;

    for (size_t i = 0; i < C; i++) {
        double sum = in == NULL ? (double)row[i] : 0;
        for (size_t e = 0; in != NULL && e < E; e++)
            sum += (double)in[i * E + e] * (double)row[e];
        x[i] = (double)cfg->embed_scale * sum;
    }
}

/* Passes the part x [C] of the embedding through its norm, frozen at the whole row. */
static void through_embed(const struct place *at, double *x)
{
    const struct pw_config *cfg = &at->w->m->cfg;
    size_t C = (size_t)cfg->width;

    if (!cfg->embed_norm)
        return;
    double *whole = pw_alloc(C, sizeof *whole);
    write_token(at, whole);
    for (size_t i = 0; at->added != NULL && i < C; i++)
        whole[i] += (double)at->added[i];
    through_norm(at, x, whole, at->w->m->lay.embed_norm);
    free(whole);
}

/* x [C] = what the biases of all layers write, those of norms included. */
static void write_biases(const struct place *at, double *x)
{
    const struct pw_config *cfg = &at->w->m->cfg;
    size_t C = (size_t)cfg->width;
    double *part = pw_alloc(C, sizeof *part);

    pw_direct_add(at->w, x, at->w->m->lay.embed_norm_bias, 1);
    for (int k = 0; k < 2 * cfg->layers; k++) {
        struct branch b = branch_of(at, k / 2, k % 2 == 1);
        memset(part, 0, C * sizeof *part);
        pw_direct_add(at->w, part, b.bias, 1);
        through_post(at, part, &b);
        for (size_t i = 0; i < C; i++)
            x[i] += part[i];
        if (at->sums != NULL)
            pw_frozen_apply(&at->sums[k], x, cfg->width);
        pw_direct_add(at->w, x, b.post_bias, 1);
    }
    free(part);
}

/* Computes x [C], what a part adds to the stream after the last block. */
static void write_part(const struct place *at, const struct pw_part *part, double *x)
{
    const struct pw_config *cfg = &at->w->m->cfg;
    int C = cfg->width, D = cfg->head_width;
    struct branch b = {0};

    memset(x, 0, (size_t)C * sizeof *x);
    switch (part->kind) {
    case PW_PART_EMBED:
        write_token(at, x);
        through_embed(at, x);
        through_sums(at, x, 0);
        break;
    case PW_PART_POSITION:
        for (int i = 0; i < C; i++)
            x[i] = (double)at->added[i];
        through_embed(at, x);
        through_sums(at, x, 0);
        break;
    case PW_PART_HEAD:
        b = branch_of(at, part->layer, false);
        project_part(at, x, &b, part->head * D, D);
        through_post(at, x, &b);
        through_sums(at, x, 2 * part->layer);
        break;
    case PW_PART_MLP:
        b = branch_of(at, part->layer, true);
        project_part(at, x, &b, 0, b.n);
        through_post(at, x, &b);
        through_sums(at, x, 2 * part->layer + 1);
        break;
    default: write_biases(at, x);
    }
}

/* The factor that the cap is at this logit. */
static double cap_factor(const struct pw_model *m, double x)
{
    return x != 0 ? pw_direct_capped(m, x) / x : 1;
}

enum pw_code pw_model_attribute(struct pw_model *m, const struct pw_inspection *in, const int *tokens, int T,
                                int t, const int *ids, int n, double *part, double *mean, struct pw_err *err)
{
    const struct pw_config *cfg = &m->cfg;
    int C = cfg->width, E = pw_config_embed_width(cfg), wider = E > C ? E : C, V = cfg->vocab,
        n_parts = pw_model_parts(m, NULL);
    struct pw_direct w = {0};
    double average_bias = 0; /* of the head, as average [E] is of its weights: means over the vocabulary */
    float *added = NULL;
    enum pw_code code = m->pe.pe->uses & PW_PE_ADDED ? pw_model_added(m, tokens, T, &added, err) : PW_OK;

    if (code == PW_OK)
        code = pw_direct_open(&w, m, err);
    if (code) {
        free(added);
        return code;
    }
    struct place at = {.w = &w,
                       .in = in,
                       .added = added != NULL ? added + (size_t)t * C : NULL,
                       .token = tokens[t],
                       .T = T,
                       .t = t};
    at.sums = cfg->norm_at == PW_NORM_AT_AFTER ? freeze_sums(&at) : NULL;
    float *rows = pw_alloc((size_t)n * E + 1, sizeof *rows); /* [n,E] of the head, for ids */
    double *mem = pw_alloc((size_t)C + (size_t)wider + (size_t)E + (size_t)V, sizeof *mem), *x = mem + C,
           *average = x + wider, *factor = average + E; /* of the cap [V] */
    struct pw_frozen head = {.gain = mem};
    struct pw_part *parts = pw_alloc((size_t)n_parts, sizeof *parts);
    for (int j = 0; j < n; j++)
        memcpy(rows + (size_t)j * E, pw_direct_head_row(&w, ids[j]), (size_t)E * sizeof *rows);
    pw_model_parts(m, parts);
    const float *last = in->resid + row_of(&at, cfg->layers) * C;
    pw_direct_freeze_last(&w, &head, last);
    pw_direct_head_input(&w, &head, x, last);
    for (int v = 0; v < V; v++) {
        factor[v] = cfg->logit_cap > 0 ? cap_factor(m, pw_direct_logit(&w, x, v)) : 1;
        const float *row = pw_direct_head_row(&w, v);
        average_bias += cfg->head_bias ? factor[v] * (double)w.p[m->lay.head_bias + v] / V : 0;
        for (int i = 0; i < E; i++)
            average[i] += factor[v] * (double)row[i] / V;
    }
    for (int k = 0; k < n_parts; k++) {
        write_part(&at, &parts[k], x);
        pw_frozen_apply(&head, x, C);
        if (parts[k].kind == PW_PART_BIAS)
            pw_direct_add(&w, x, m->lay.norm_bias, (double)cfg->logit_scale);
        pw_direct_reduce(&w, x);
        bool biases = parts[k].kind == PW_PART_BIAS && cfg->head_bias;
        mean[k] = biases ? average_bias : 0;
        for (int i = 0; i < E; i++)
            mean[k] += average[i] * x[i];
        for (int j = 0; j < n; j++) {
            double *sum = &part[(size_t)k * n + j];
            *sum = biases ? (double)w.p[m->lay.head_bias + ids[j]] : 0;
            for (int i = 0; i < E; i++)
                *sum += (double)rows[(size_t)j * E + i] * x[i];
            *sum *= factor[ids[j]];
        }
    }
    free(mem);
    free(parts);
    free(added);
    free(rows);
    free(at.sums);
    pw_direct_close(&w);
    return m->ops->sync(m->be, err); /* of matrices that were copied from a device */
}
