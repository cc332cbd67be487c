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
        double most = MEAN_FLOPS / ((double)pw_model_flops(&arm->cfg, arm->pe.pe, &s->b) / 3.0);
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

/* Fill in a's terms if the stream has a position part. In layer 0 that part is a table's rows. In deeper
 * layers it is means over contents. *part: position's share of the terms, else NaN. x: the stream before a's
 * layer [T,C], NULL: the terms are not wanted; score: of the inspected head [T,T]. */
static enum pw_code add_terms(struct pw_lab *lab, const struct pw_replica *arm, struct pw_ev_attention *a,
                              float *part, const float *x, const float *score, struct pw_err *err)
{
    int T = a->T, C = arm->cfg.width;
    size_t square = (size_t)T * T;
    enum pw_code code = PW_OK;
    *part = NAN;
    if (x == NULL)
        return PW_OK;
    if (arm->cfg.qkv_clip > 0) /* q and k are no sums of parts */
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
        a->terms = pw_alloc(4 * square, sizeof *a->terms);
        for (size_t i = 0; i < 4 * square; i++)
            a->terms[i] = pw_half(terms[i]);
        *part = pw_lab_position_part(terms, terms + square, 3, score, T);
    }
    free(p);
    free(terms);
    return code;
}

/* ---- gold pointers */

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

/* ---- everything */

int pw_lab_shown(const struct pw_lab *lab, const struct pw_replica *arm)
{
    const struct pw_pin *pin = &lab->pin;
    int n = pin->n < arm->cfg.context ? pin->n : arm->cfg.context;
    bool answered_from_the_prompt = !arm->cfg.causal && pw_taskset_single(&lab->tasks, pin->sample.task);
    return answered_from_the_prompt ? pin->sample.n_prompt : n;
}

/* Are the terms wanted? In layer 0 they are cheap. */
static bool wants_terms(const struct pw_ev_attention *a)
{
    return a->layer == 0 ? a->adds : pw_view_of_terms(a->view);
}

/* Return the latest attention if it is of the same pass as a; NULL: it is not. */
static const struct pw_ev_attention *same_pass(const struct pw_lab *lab, const struct pw_replica *arm,
                                               const struct pw_ev_attention *a)
{
    const struct pw_ev_attention *b = lab->heads != NULL ? &lab->heads->u.attention : NULL;
    bool same = b != NULL && lab->heads_generation == pw_model_generation(arm->model) &&
                b->prompt == a->prompt && b->T == a->T &&
                memcmp(lab->heads_tokens, lab->pin.tokens, (size_t)a->T * sizeof(int)) == 0;
    return same ? b : NULL;
}

/* Keep a copy of the attention, without what belongs to the inspected head. */
static void remember(struct pw_lab *lab, const struct pw_replica *arm, const struct pw_event *e)
{
    if (same_pass(lab, arm, &e->u.attention) != NULL)
        return;
    pw_lab_forget_heads(lab);
    lab->heads = pw_event_copy(e);
    struct pw_ev_attention *a = &lab->heads->u.attention;
    uint16_t **const of_head[] = {&a->map,  &a->score,     &a->content, &a->bias,
                                  &a->gate, &a->positions, &a->terms};
    for (size_t i = 0; i < sizeof of_head / sizeof *of_head; i++) {
        free(*of_head[i]);
        *of_head[i] = NULL;
    }
    free(a->gate_values); /* of the inspected layer */
    a->gate_values = NULL;
    lab->heads_tokens = pw_copy(lab->pin.tokens, (size_t)a->T, sizeof(int));
    lab->heads_generation = pw_model_generation(arm->model);
}

void pw_lab_forget_heads(struct pw_lab *lab)
{
    pw_event_free(lab->heads);
    free(lab->heads_tokens);
    lab->heads = NULL;
    lab->heads_tokens = NULL;
}

bool pw_lab_has_row(const struct pw_lab *lab, const struct pw_replica *arm, int pos)
{
    const struct pw_pe *pe = arm->pe.pe;
    struct pw_ev_attention a = {.layer = lab->pin.layer, .view = lab->pin.view};
    a.adds = pe->uses & PW_PE_ADDED;
    if (a.layer >= arm->cfg.layers)
        a.layer = arm->cfg.layers - 1;
    /* A device's mode fast can give other bits for another length. */
    bool same_bits = lab->ops->host && arm->cfg.causal && pe->ids == NULL && !pw_pe_uses_length(pe);
    return same_bits && pos <= pw_lab_shown(lab, arm) && !wants_terms(&a);
}

/* Fill in the maps, the scores and the terms of an event that names the head. */
static enum pw_code look_at_prompt(struct pw_lab *lab, const struct pw_replica *arm,
                                   struct pw_ev_attention *a, struct pw_inspection *row, struct pw_err *err)
{
    const struct pw_pin *pin = &lab->pin;
    struct pw_inspection in = row != NULL ? *row : (struct pw_inspection){0};
    size_t square = (size_t)a->T * a->T, stream = (size_t)a->T * arm->cfg.width;
    float *score = NULL, *x = NULL, part = NAN;
    if (wants_terms(a)) {
        score = malloc((square + (a->layers + 1) * stream) * sizeof *score);
        if (score == NULL)
            return pw_fail(err, PW_ENOMEM, "out of memory: the terms of %d tokens", a->T);
        in.resid = score + square;
        x = in.resid + a->layer * stream;
    }
    int *first = pw_alloc(2 * (size_t)a->T, sizeof *first), *later = first + a->T;
    pw_head_find_tokens(first, later, pin->tokens, a->T);
    add_gold(lab, a);
    _Static_assert(sizeof(struct pw_gold) == sizeof(int[2]), "pairs are pairs");
    struct pw_head_input input = {.T = a->T,
                                  .causal = !a->sees_all,
                                  .tokens = pin->tokens,
                                  .n_gold = a->n_gold,
                                  .gold = (const int(*)[2])(const void *)a->gold,
                                  .every = pw_lab_every(a->T),
                                  .first = first,
                                  .later = later};
    enum pw_code code =
        pw_lab_look_at_heads(lab, arm, pin->tokens, a, same_pass(lab, arm, a), &input, score, &in, err);
    if (code == PW_OK)
        code = add_terms(lab, arm, a, &part, x, score, err);
    if (code == PW_OK && !pw_lab_acts_on_scores(a))
        a->scores[((size_t)a->layer * a->heads + a->head) * a->n_scores + PW_HEAD_SCORES] = part;
    free(first);
    free(score);
    return code;
}

enum pw_code pw_lab_emit_attention(struct pw_lab *lab, const struct pw_replica *arm, bool asked,
                                   struct pw_inspection *row, struct pw_err *err)
{
    const struct pw_pin *pin = &lab->pin;
    int L = arm->cfg.layers, H = arm->cfg.heads;
    struct pw_event *e = pw_lab_event(PW_EV_ATTENTION, arm);
    struct pw_ev_attention *a = &e->u.attention;
    unsigned uses = arm->pe.pe->uses;
    a->layer = pin->layer < L ? pin->layer : L - 1;
    a->head = pin->head < H ? pin->head : H - 1;
    a->prompt = pin->id;
    a->T = pw_lab_shown(lab, arm);
    a->layers = L;
    a->heads = H;
    a->view = pin->view;
    a->n_prompt = pin->sample.n_prompt;
    a->asked = asked;
    a->sees_all = !arm->cfg.causal;
    a->adds = uses & PW_PE_ADDED;
    bool reflects = uses & PW_PE_WALK && arm->pe.pe->walk(arm->pe.o.bytes, &arm->cfg).kind == PW_WALK_REFLECT;
    a->rotates = uses & (PW_PE_ROTATION | PW_PE_WIDE) || reflects;
    a->biases = uses & (PW_PE_BIASES | PW_PE_KEYS | PW_PE_SLOPES | PW_PE_MIXES) ||
                arm->pe.pe->scan == PW_SCAN_CONTEXT || (uses & PW_PE_WALK && !reflects);
    a->rests = arm->pe.pe->scan == PW_SCAN_STICK;
    a->gates = uses & PW_PE_GATES;
    a->labels = pw_lab_labels(lab, pin->tokens, a->T);
    enum pw_code code = look_at_prompt(lab, arm, a, row, err);
    if (code == PW_OK) {
        remember(lab, arm, e);
        pw_lab_emit(lab, e);
    } else {
        pw_event_free(e);
    }
    return code;
}
