/* look.c - inspect one token of the pinned prompt's answer: the candidates with probability and logit, the
 * contribution of every part of the model to each of these logits, and the logit lens of each layer. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/maths.h"
#include "base/pages.h"
#include "lab/arms/arms.h"
#include "lab/core/lab_int.h"
#include "lab/looks/looks.h"
#include "model/attribution.h"

/* Return the number of tokens with a larger logit; among equal logits the lower id comes first. */
static int rank_of(const float *logits, int V, int token)
{
    int rank = 0;
    for (int v = 0; v < V; v++)
        rank += logits[v] > logits[token] || (logits[v] == logits[token] && v < token);
    return rank;
}

/* Choose the candidates to report: the best tokens, and also `said` and `target` (-1: none) if they are not
 * among the best. Returns the number of candidates. */
static int choose(int *ids, const float *logits, int V, int said, int target)
{
    int n = pw_lab_top(ids, PW_LOOK_TOP, logits, V), more[] = {said, target};
    for (int i = 0; i < 2; i++) {
        bool there = more[i] < 0;
        for (int k = 0; k < n; k++)
            there = there || ids[k] == more[i];
        if (!there)
            ids[n++] = more[i];
    }
    return n;
}

static void tell_tokens(const struct pw_lab *lab, struct pw_ev_inspection *k, const int *ids,
                        const float *logits, int said, int target)
{
    int V = k->vocab;
    double sum = 0.0;
    float *p = pw_alloc((size_t)V, sizeof *p);
    pw_lab_softmax(p, logits, V, (double)k->temperature);
    k->entropy = pw_lab_entropy(p, V);
    k->token = pw_alloc((size_t)k->n, sizeof *k->token);
    k->target = -1;
    for (int v = 0; v < V; v++)
        sum += (double)logits[v];
    k->mean_logit = (float)(sum / V);
    for (int i = 0; i < k->n; i++) {
        struct pw_inspection_token *t = &k->token[i];
        *t = (struct pw_inspection_token){ids[i], rank_of(logits, V, ids[i]), p[ids[i]], logits[ids[i]], {0}};
        pw_lab_label(lab, ids[i], t->label);
        k->said = ids[i] == said ? i : k->said;
        k->target = ids[i] == target ? i : k->target;
    }
    free(p);
}

static void name_part(struct pw_inspection_part *out, const struct pw_part *p)
{
    static const char *const names[] = {
        [PW_PART_EMBED] = "embedding", [PW_PART_POSITION] = "position", [PW_PART_BIAS] = "biases"};
    *out = (struct pw_inspection_part){.layer = -1, .head = -1};
    if (p->kind == PW_PART_HEAD || p->kind == PW_PART_MLP)
        out->layer = p->layer;
    if (p->kind == PW_PART_HEAD) {
        out->head = p->head;
        snprintf(out->name, sizeof out->name, "head %d.%d", p->layer, p->head);
    } else if (p->kind == PW_PART_MLP) {
        snprintf(out->name, sizeof out->name, "MLP %d", p->layer);
    } else {
        snprintf(out->name, sizeof out->name, "%s", names[p->kind]);
    }
}

static enum pw_code tell_parts(struct pw_ev_inspection *k, struct pw_model *m, const struct pw_inspection *in,
                               const int *tokens, int T, const int *ids, struct pw_err *err)
{
    int n = pw_model_parts(m, NULL);
    struct pw_part *parts = pw_alloc((size_t)n, sizeof *parts);
    pw_model_parts(m, parts);
    k->n_parts = n;
    k->parts = pw_alloc((size_t)n, sizeof *k->parts);
    k->part = pw_alloc((size_t)n * (size_t)k->n, sizeof *k->part);
    k->mean = pw_alloc((size_t)n, sizeof *k->mean);
    for (int i = 0; i < n; i++)
        name_part(&k->parts[i], &parts[i]);
    free(parts);
    enum pw_code code = pw_model_attribute(m, in, tokens, T, T - 1, ids, k->n, k->part, k->mean, err);
    for (int j = 0; j < k->n && code == PW_OK; j++) {
        double sum = 0.0;
        for (int i = 0; i < n; i++)
            sum += k->part[i * k->n + j];
        k->worst = fmax(k->worst, fabs(sum - (double)k->token[j].logit));
    }
    return code;
}

/* Returns the number of rows of the logit lens that are computed at once. Rows of a large vocabulary take
 * memory, but together they fetch each row of the head once, and all weights of a device. */
static int lens_rows(const struct pw_lab *lab, int L, int V)
{
    enum { BYTES = 2 << 20 };
    int n = BYTES / (int)sizeof(float) / V;
    return !lab->ops->host || n > L + 1 ? L + 1 : n < 1 ? 1 : n;
}

static enum pw_code tell_lens(const struct pw_lab *lab, struct pw_ev_inspection *k, struct pw_model *m,
                              const struct pw_inspection *in, int T, const int *ids, struct pw_err *err)
{
    int L = pw_model_config(m)->layers, V = k->vocab, most = lens_rows(lab, L, V);
    size_t bytes = (size_t)most * (size_t)V * sizeof(float);
    float *some = pw_block_take(bytes);
    if (some == NULL)
        return pw_fail(err, PW_ENOMEM, "out of memory: the logit lens needs %zu MiB", bytes >> 20);
    float *p = pw_alloc((size_t)V, sizeof *p);
    enum pw_code code = PW_OK;
    k->layers = L;
    k->lens = pw_alloc((size_t)L + 1, sizeof *k->lens);
    k->lens_prob = pw_alloc((size_t)(L + 1) * (size_t)k->n, sizeof *k->lens_prob);
    k->lens_rank = pw_alloc((size_t)(L + 1) * (size_t)k->n, sizeof *k->lens_rank);
    for (int l = 0; l <= L; l++) {
        int top = 0, row = l % most, n = L + 1 - l < most ? L + 1 - l : most;
        if (row == 0)
            code = pw_model_lens(m, in, T, T - 1, l, n, some, err);
        if (code != PW_OK)
            break;
        const float *logits = some + (size_t)row * V;
        for (int v = 0; v < V; v++)
            top = logits[v] > logits[top] ? v : top;
        pw_lab_softmax(p, logits, V, (double)k->temperature);
        pw_lab_label(lab, top, k->lens[l].label);
        k->lens[l].prob = p[top];
        k->lens[l].entropy = pw_lab_entropy(p, V);
        for (int j = 0; j < k->n; j++) {
            k->lens_prob[l * k->n + j] = p[ids[j]];
            k->lens_rank[l * k->n + j] = rank_of(logits, V, ids[j]);
        }
    }
    free(p);
    pw_block_free(some, bytes);
    return code;
}

/* Make room for the tensors of row pos - 1, which predicts pos. Returns what the caller frees; NULL fills
 * err.
 */
static float *open_row(struct pw_inspection *in, const struct pw_config *c, int pos, struct pw_err *err)
{
    size_t resid = (size_t)(c->layers + 1) * c->width, z = (size_t)c->layers * c->heads * c->head_width,
           mlp = (size_t)c->layers * c->ffn, floats = resid + z + mlp + (size_t)c->vocab;
    float *mem = calloc(floats, sizeof *mem);
    if (mem == NULL)
        pw_fail(err, PW_ENOMEM, "out of memory: inspecting a token needs %zu MiB",
                floats * sizeof *mem >> 20);
    else
        *in = (struct pw_inspection){.resid = mem,
                                     .z = mem + resid,
                                     .mlp = mem + resid + z,
                                     .logits = mem + resid + z + mlp,
                                     .one_row = true,
                                     .row = pos - 1};
    return mem;
}

/* Make the event from the tensors of row pos - 1. */
static enum pw_code make_inspection(struct pw_lab *lab, const struct pw_replica *arm, int pos,
                                    const struct pw_inspection *in, struct pw_event **out, struct pw_err *err)
{
    const struct pw_pin *pin = &lab->pin;
    int V = arm->cfg.vocab, ids[PW_LOOK_TOP + 2];
    struct pw_event *e = pw_lab_event(PW_EV_LOOK, arm);
    struct pw_ev_inspection *k = &e->u.look;
    int said = pin->tokens[pos], target = pos < pin->sample.n ? pin->sample.tokens[pos] : -1;
    k->prompt = pin->id;
    k->pos = pos;
    k->temperature = lab->temperature > 0.0f ? lab->temperature : 1.0f;
    k->vocab = V;
    k->n = choose(ids, in->logits, V, said, target);
    tell_tokens(lab, k, ids, in->logits, said, target);
    enum pw_code code = tell_parts(k, arm->model, in, pin->tokens, pos, ids, err);
    if (code == PW_OK)
        code = tell_lens(lab, k, arm->model, in, pos, ids, err);
    if (code == PW_OK)
        *out = e;
    else
        pw_event_free(e);
    return code;
}

enum pw_code pw_lab_inspect(struct pw_lab *lab, const struct pw_replica *arm, int pos, struct pw_event **out,
                            struct pw_err *err)
{
    struct pw_inspection in;
    float *mem = open_row(&in, &arm->cfg, pos, err);
    if (mem == NULL)
        return PW_ENOMEM;
    enum pw_code code = pw_model_inspect(arm->model, lab->pin.tokens, pos, &in, err);
    if (code == PW_OK)
        code = make_inspection(lab, arm, pos, &in, out, err);
    free(mem);
    return code;
}

enum pw_code pw_lab_emit_inspection(struct pw_lab *lab, const struct pw_replica *arm, struct pw_err *err)
{
    struct pw_event *e;
    enum pw_code code = pw_lab_inspect(lab, arm, pw_lab_cursor(&lab->pin), &e, err);
    if (code == PW_OK)
        pw_lab_emit(lab, e);
    return code;
}

enum pw_code pw_lab_emit_looks(struct pw_lab *lab, const struct pw_replica *arm, struct pw_err *err)
{
    struct pw_inspection in;
    struct pw_event *e = NULL;
    int pos = pw_lab_cursor(&lab->pin);
    if (!pw_lab_has_row(lab, arm, pos)) {
        enum pw_code code = pw_lab_emit_attention(lab, arm, false, NULL, err);
        return code == PW_OK ? pw_lab_emit_inspection(lab, arm, err) : code;
    }
    float *mem = open_row(&in, &arm->cfg, pos, err);
    enum pw_code code = mem != NULL ? pw_lab_emit_attention(lab, arm, false, &in, err) : PW_ENOMEM;
    if (code == PW_OK)
        code = make_inspection(lab, arm, pos, &in, &e, err);
    if (code == PW_OK)
        pw_lab_emit(lab, e);
    free(mem);
    return code;
}
