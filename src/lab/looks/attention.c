/* attention.c - inspecting the pinned prompt head by head: its attention maps, their components, and the kind
 * of each head. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "lab/arms/arms.h"
#include "lab/core/lab_int.h"
#include "lab/looks/looks.h"
#include "probe/heads.h"

#define MEAN_SAMPLES 64  /* validation samples in the mean of a position's part of the stream */
#define MEAN_LEAST   8   /* minimum, for a model on which MEAN_SAMPLES take too long */
#define MEAN_FLOPS   2e9 /* limit for all of them: a fraction of a second */

static uint16_t *halves(const float *x, size_t n)
{
    uint16_t *out = pw_alloc(n, sizeof *out);
    for (size_t i = 0; i < n; i++)
        out[i] = pw_half(x[i]);
    return out;
}

/* ---- the four terms of the inspected head */

/* Compute the part of the stream that position t contributes before a layer: the mean over validation samples
 * at t. If that part depends on the length, only samples of at least T tokens count, and only their first T
 * tokens run. Rows that no sample reaches are NaN. Returns the number of samples; -1 on error. */
static int mean_stream(struct pw_lab *lab, const struct pw_replica *arm, float *p, int T, int layer,
                       struct pw_err *err)
{
    int C = arm->cfg.width, samples = MEAN_SAMPLES, used = 0;
    size_t stream = (size_t)(arm->cfg.layers + 1) * arm->cfg.context * C;
    int *count = calloc((size_t)T, sizeof *count);
    double *sum = calloc((size_t)T * C, sizeof *sum);
    float *resid = malloc(stream * sizeof *resid);
    if (count == NULL || sum == NULL || resid == NULL) {
        pw_fail(err, PW_ENOMEM, "out of memory for the mean over contents");
        used = -1;
    }
    for (int k = 0; used >= 0 && k < samples; k++) {
        struct pw_samples *s = &lab->scratch;
        pw_samples_fill(s, &lab->tasks, lab->seed, PW_SPLIT_VALID, (uint64_t)k, 1, 0, 0);
        /* of the forward pass only */
        double most = MEAN_FLOPS / ((double)pw_model_flops(&arm->cfg, &s->b) / 3.0);
        if (k == 0 && most < samples)
            samples = most > MEAN_LEAST ? (int)most : MEAN_LEAST;
        int rows = s->b.n_rows;
        if (pw_pe_uses_length(arm->pe.pe)) {
            if (rows < T)
                continue;
            rows = T;
        }
        if (pw_model_inspect(arm->model, s->b.tokens, rows, &(struct pw_inspection){.resid = resid}, err) !=
            PW_OK) {
            used = -1;
            break;
        }
        used++;
        const float *x = resid + (size_t)layer * rows * C;
        for (int t = 0; t < T && t < rows; t++) {
            count[t]++;
            for (int i = 0; i < C; i++)
                sum[(size_t)t * C + i] += x[(size_t)t * C + i];
        }
    }
    for (size_t i = 0; used > 0 && i < (size_t)T * C; i++)
        p[i] = count[i / C] > 0 ? (float)(sum[i] / count[i / C]) : NAN;
    free(resid);
    free(sum);
    free(count);
    return used;
}

/* Compute position's share of what distinguishes keys, from the content map and n position maps [T,T]; score
 * is -inf at hidden keys. NaN: nothing distinguishes them. */
static float position_part(const float *content, const float *position, int n, const float *score, int T)
{
    double c = pw_head_variation(content, score, T), p = 0.0;
    for (int i = 0; i < n; i++)
        p += pw_head_variation(position + (size_t)i * T * T, score, T);
    return c + p > 0.0 ? (float)(p / (c + p)) : NAN;
}

/* Fill in a's terms if the stream has a position part. In layer 0 that part is a table's rows. In deeper
 * layers it is means over contents, computed only if the terms are shown. *part: position's share of the
 * terms, else NaN. x: the stream before a's layer [T,C];
 * score: of the inspected head [T,T]. */
static enum pw_code add_terms(struct pw_lab *lab, const struct pw_replica *arm, struct pw_ev_attention *a,
                              float *part, const float *x, const float *score, struct pw_err *err)
{
    int T = a->T, C = arm->cfg.width;
    size_t square = (size_t)T * T;
    enum pw_code code = PW_OK;
    *part = NAN;
    if (a->layer == 0 ? !a->adds : a->view < PW_VIEW_CC)
        return PW_OK;
    if (a->layer == 0 && arm->cfg.embed_norm) /* its position part is not the table's rows */
        return PW_OK;
    float *p = malloc((size_t)T * C * sizeof *p), *terms = malloc(4 * square * sizeof *terms);
    if (p == NULL || terms == NULL) {
        code = pw_fail(err, PW_ENOMEM, "out of memory for the terms of %d tokens", T);
    } else if (a->layer > 0) {
        a->samples = mean_stream(lab, arm, p, T, a->layer, err);
        code = a->samples >= 0 ? PW_OK : PW_ENOMEM;
    } else {
        float *added = NULL;
        code = pw_model_added(arm->model, lab->pin.tokens, T, &added, err);
        if (code == PW_OK)
            memcpy(p, added, (size_t)T * C * sizeof *p);
        free(added);
    }
    bool known = a->layer == 0 || a->samples > 0; /* a long sequence may have no samples */
    if (code == PW_OK && known)
        code = pw_model_terms(arm->model, terms, x, p, T, a->layer, a->head, err);
    if (code == PW_OK && known) {
        a->terms = halves(terms, 4 * square);
        *part = position_part(terms, terms + square, 3, score, T);
    }
    free(p);
    free(terms);
    return code;
}

/* ---- gold pointers and head scores */

/* The query that predicts token k of the answer is the row before it. */
static void add_gold(const struct pw_lab *lab, struct pw_ev_attention *a)
{
    const struct pw_sample *x = &lab->pin.sample;
    int *at = pw_alloc((size_t)x->n_prompt, sizeof *at);
    for (int k = 0; x->n_prompt + k < x->n && x->n_prompt - 1 + k < a->T; k++) {
        int n = pw_taskset_pointers(&lab->tasks, x, k, at);
        a->gold = pw_grow(a->gold, (size_t)(a->n_gold + n + 1), sizeof *a->gold);
        for (int i = 0; i < n; i++)
            if (at[i] < a->T)
                a->gold[a->n_gold++] = (struct pw_gold){x->n_prompt - 1 + k, at[i]};
    }
    free(at);
}

static void name_score(struct pw_score_kind *kind, const char *name, const char *unit, double chance)
{
    pw_text_copy(kind->name, sizeof kind->name, name);
    pw_text_copy(kind->unit, sizeof kind->unit, unit);
    kind->chance = (float)chance;
}

void pw_lab_score_heads(struct pw_ev_attention *a, const float *probs, const struct pw_head_input *in,
                        int more)
{
    double v[PW_HEAD_SCORES];
    a->n_scores = PW_HEAD_SCORES + more;
    a->scores = pw_alloc((size_t)a->layers * a->heads * a->n_scores, sizeof *a->scores);
    pw_head_measure(v, NULL, in);
    for (int s = 0; s < PW_HEAD_SCORES; s++)
        name_score(&a->kinds[s], pw_head_scores[s].name, pw_head_scores[s].unit, v[s]);
    for (int h = 0; h < a->layers * a->heads; h++) {
        pw_head_measure(v, probs + (size_t)h * a->T * a->T, in);
        for (int s = 0; s < PW_HEAD_SCORES; s++)
            a->scores[h * a->n_scores + s] = (float)v[s];
    }
}

/* Compute the probe's scores, and last position's share of what distinguishes keys. The share comes from the
 * encoding's effect on the scores or, only for the inspected head, from its terms. */
static void add_scores(const struct pw_lab *lab, struct pw_ev_attention *a, const struct pw_inspection *in,
                       float part)
{
    enum { N = PW_HEAD_SCORES + 1 };
    _Static_assert((int)N <= PW_MAX_SCORES, "an event holds every score");
    _Static_assert(sizeof(struct pw_gold) == sizeof(int[2]), "pairs are pairs");
    struct pw_head_input input = {.T = a->T,
                                  .causal = !a->sees_all,
                                  .tokens = lab->pin.tokens,
                                  .n_gold = a->n_gold,
                                  .gold = (const int(*)[2])(const void *)a->gold};
    pw_lab_score_heads(a, in->probs, &input, N - PW_HEAD_SCORES);
    name_score(&a->kinds[PW_HEAD_SCORES], "position's part", "", NAN);
    for (int h = 0; h < a->layers * a->heads; h++) {
        size_t at = (size_t)h * a->T * a->T;
        float *to = &a->scores[h * N + PW_HEAD_SCORES];
        if (a->biases || a->rotates)
            *to = position_part(in->content + at, in->bias + at, 1, in->score + at, a->T);
        else
            *to = h == a->layer * a->heads + a->head ? part : NAN;
    }
}

/* ---- everything */

int pw_lab_shown(const struct pw_lab *lab, const struct pw_replica *arm)
{
    const struct pw_pin *pin = &lab->pin;
    int n = pin->n < arm->cfg.context ? pin->n : arm->cfg.context;
    bool answered_from_the_prompt = !arm->cfg.causal && pw_taskset_single(&lab->tasks, pin->sample.task);
    return answered_from_the_prompt ? pin->sample.n_prompt : n;
}

enum pw_code pw_lab_emit_attention(struct pw_lab *lab, const struct pw_replica *arm, bool asked,
                                   struct pw_err *err)
{
    struct pw_pin *pin = &lab->pin;
    int T = pw_lab_shown(lab, arm), L = arm->cfg.layers, H = arm->cfg.heads;
    size_t head = (size_t)T * T, all = (size_t)L * H * head, stream = (size_t)T * arm->cfg.width;
    float *maps = pw_lab_maps(&arm->cfg, T, (size_t)(L + 1) * stream, err);
    if (maps == NULL)
        return PW_ENOMEM;
    struct pw_inspection in = {.probs = maps,
                               .score = maps + all,
                               .content = maps + 2 * all,
                               .bias = maps + 3 * all,
                               .resid = maps + 4 * all};
    enum pw_code code = pw_model_inspect(arm->model, pin->tokens, T, &in, err);
    struct pw_event *e = pw_lab_event(PW_EV_ATTENTION, arm);
    struct pw_ev_attention *a = &e->u.attention;
    unsigned uses = arm->pe.pe->uses;
    float part = NAN;
    a->layer = pin->layer < L ? pin->layer : L - 1;
    a->head = pin->head < H ? pin->head : H - 1;
    size_t at = ((size_t)a->layer * H + a->head) * head;
    a->prompt = pin->id;
    a->T = T;
    a->layers = L;
    a->heads = H;
    a->view = pin->view;
    a->n_prompt = pin->sample.n_prompt;
    a->asked = asked;
    a->sees_all = !arm->cfg.causal;
    a->adds = uses & PW_PE_ADDED;
    a->rotates = uses & PW_PE_ROTATION;
    a->biases = uses & (PW_PE_BIASES | PW_PE_KEYS);
    if (code == PW_OK)
        code = add_terms(lab, arm, a, &part, in.resid + (size_t)a->layer * stream, in.score + at, err);
    if (code == PW_OK) {
        a->labels = pw_lab_labels(lab, pin->tokens, T);
        a->probs = halves(in.probs, all);
        a->score = halves(in.score + at, head);
        a->content = halves(in.content + at, head);
        a->bias = halves(in.bias + at, head);
        add_gold(lab, a);
        add_scores(lab, a, &in, part);
        pw_lab_emit(lab, e);
    } else {
        pw_event_free(e);
    }
    free(maps);
    return code;
}
