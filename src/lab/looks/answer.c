/* answer.c - the pinned prompt and its answer, decoded token by token in slices, so that a long answer of a
 * large model blocks nothing.
 *
 * Greedy decoding picks the most probable token (the lowest id on ties). Evaluation's teacher-forced argmax
 * makes the same choice, because a decoder gives the same bits. Exception: encodings that depend on the
 * length; it is that of the tokens so far here, and of the whole answer there. With a temperature, a token is
 * drawn with random numbers that depend on seed, prompt and position only. So if a prompt's answer changes
 * while the model learns, it changes because of the model.
 *
 * Until the answer is complete, the loop of lab.c neither trains nor runs a command that could change models
 * or the prompt. So all tokens come from the same weights. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/argmax.h"
#include "base/maths.h"
#include "base/rng.h"
#include "lab/arms/arms.h"
#include "lab/core/lab_int.h"
#include "lab/looks/looks.h"
#include "model/decode.h"

#define SLICE_S 0.04

static void tell_prompt(struct pw_lab *lab, const struct pw_replica *arm)
{
    struct pw_event *e = pw_lab_event(PW_EV_PROMPT, arm);
    struct pw_ev_prompt *p = &e->u.prompt;
    p->id = lab->pin.id;
    if (p->id != 0) {
        const struct pw_sample *x = &lab->pin.sample;
        pw_text_copy(p->text, sizeof p->text, lab->pin.text);
        p->n_prompt = x->n_prompt;
        p->n = x->n;
        p->has_answer = x->n > x->n_prompt;
        p->tokens = pw_alloc((size_t)x->n, sizeof *p->tokens);
        memcpy(p->tokens, x->tokens, (size_t)x->n * sizeof *p->tokens);
        p->labels = pw_lab_labels(lab, x->tokens, x->n);
        p->task = x->task;
        p->length = x->length;
        p->drawn = lab->pin.index >= 0;
        p->sample = lab->pin.index;
        if (memchr(lab->pin.edited, true, (size_t)x->n_prompt * sizeof(bool)) != NULL) {
            p->edited = pw_alloc((size_t)x->n_prompt, sizeof *p->edited);
            memcpy(p->edited, lab->pin.edited, (size_t)x->n_prompt * sizeof *p->edited);
        }
    }
    pw_lab_emit(lab, e);
}

static void end_decoding(struct pw_pin *pin)
{
    pw_decoder_destroy(pin->decoder);
    pin->decoder = NULL;
}

void pw_pin_fini(struct pw_pin *pin)
{
    end_decoding(pin);
    free(pin->sample.tokens);
    free(pin->tokens);
    free(pin->edited);
    free(pin->said);
}

void pw_lab_unpin(struct pw_lab *lab)
{
    bool was = lab->pin.id != 0;
    pw_pin_fini(&lab->pin);
    lab->pin = (struct pw_pin){.layer = lab->pin.layer, .head = lab->pin.head, .view = lab->pin.view};
    if (was)
        tell_prompt(lab, NULL);
}

/* Draw the token whose interval of the cumulative probabilities contains the random number. */
static int draw_token(const struct pw_lab *lab, const float *p, int V)
{
    struct pw_rng rng;
    uint64_t place = (uint64_t)lab->pin.id << 32 | (uint32_t)lab->pin.n;
    double left, sum = 0.0;
    int token = 0, last = 0;
    pw_rng_init(&rng, lab->seed, PW_STREAM_PROMPT, place);
    for (int i = 0; i < V; i++)
        sum += p[i];
    left = sum * pw_rng_unit(&rng);
    for (; token < V && left >= p[token]; token++) {
        left -= p[token];
        last = p[token] > 0.0f ? token : last;
    }
    return token < V ? token : last; /* rounding may leave a rest behind the last one */
}

static void fill_top(const struct pw_lab *lab, struct pw_ev_token *t, const float *p, int V)
{
    int top[PW_TOP];
    t->n_top = pw_lab_top(top, PW_TOP, p, V);
    t->entropy = pw_lab_entropy(p, V);
    for (int k = 0; k < t->n_top; k++) {
        pw_lab_label(lab, top[k], t->top_label[k]);
        t->top_prob[k] = p[top[k]];
    }
}

/* Open a decoder for the answer to x, of which `kept` tokens are given, and compute the length limit. */
static enum pw_code open_decoder(const struct pw_lab *lab, struct pw_decoder **out, int *limit,
                                 const struct pw_replica *arm, const struct pw_sample *x, int kept, int more,
                                 struct pw_err *err)
{
    int most = arm->cfg.context, end = pw_lab_answer_limit(lab, x);
    bool single = pw_taskset_single(&lab->tasks, x->task), endless = !pw_taskset_ends(&lab->tasks, x->task);
    *limit = (x->n > x->n_prompt || single || endless) && end < most ? end : most;
    if (single)
        return pw_decoder_create(out, arm->model, *limit, err);
    /* the continuation after an edit should be visible too */
    if (kept > x->n_prompt && kept + PW_BEYOND > *limit)
        *limit = kept + PW_BEYOND;
    *limit = *limit + more < most ? *limit + more : most;
    return pw_decoder_create(out, arm->model, *limit, err);
}

/* Make room for n tokens; existing ones are kept. */
static void make_room(struct pw_pin *pin, int n)
{
    if (n <= pin->cap)
        return;
    pin->tokens = pw_grow(pin->tokens, (size_t)n, sizeof *pin->tokens);
    pin->edited = pw_grow(pin->edited, (size_t)n, sizeof *pin->edited);
    pin->said = pw_grow(pin->said, (size_t)n, sizeof *pin->said);
    memset(pin->edited + pin->cap, 0, (size_t)(n - pin->cap) * sizeof *pin->edited);
    pin->cap = n;
}

/* Start to answer the pinned prompt. Takes ownership of the decoder. */
static void begin_quietly(struct pw_pin *pin, const struct pw_replica *arm, float temperature,
                          struct pw_decoder *decoder, int limit)
{
    const struct pw_sample *x = &pin->sample;
    make_room(pin, limit + 1);
    end_decoding(pin);
    pin->decoder = decoder;
    pin->arm = arm->id;
    pin->replica = arm->replica;
    pin->generation = pw_model_generation(arm->model);
    pin->temperature = temperature;
    pin->limit = limit;
    pin->n = x->n_prompt;
    pin->began = pw_now();
    memcpy(pin->tokens, x->tokens, (size_t)pin->n * sizeof *pin->tokens);
}

static void begin_answer(struct pw_lab *lab, const struct pw_replica *arm, struct pw_decoder *decoder,
                         int limit)
{
    tell_prompt(lab, arm);
    begin_quietly(&lab->pin, arm, lab->temperature, decoder, limit);
}

/* Choose the token for the distribution of the logits: the given token of this position, or the model's
 * choice. Returns true if it is the last. */
static bool choose_token(struct pw_lab *lab, const struct pw_replica *arm, struct pw_ev_token *t,
                         const float *logits)
{
    struct pw_pin *pin = &lab->pin;
    const struct pw_sample *x = &pin->sample;
    int V = arm->cfg.vocab;
    float *p = pw_alloc((size_t)V, sizeof *p);
    bool warm = pin->temperature > 0.0f, last;
    pw_lab_softmax(p, logits, V, warm ? pin->temperature : 1.0);
    t->prompt = pin->id;
    t->pos = pin->n;
    t->token = pin->n < pin->kept ? pin->tokens[pin->n] : warm ? draw_token(lab, p, V) : pw_argmax(logits, V);
    t->edited = pin->edited[pin->n];
    t->prob = p[t->token];
    t->logit = logits[t->token];
    pw_lab_label(lab, t->token, t->label);
    fill_top(lab, t, p, V);
    if (pin->n < x->n)
        pw_lab_label(lab, x->tokens[pin->n], t->target);
    t->right = pin->n < x->n && x->tokens[pin->n] == t->token;
    pin->tokens[pin->n++] = t->token;
    t->ended = pw_vocab_ends(&lab->tasks.vocab, t->token) || pw_taskset_single(&lab->tasks, x->task);
    t->last = last = t->ended || pin->n >= pin->limit || (pin->stop_at_wrong && !t->right);
    t->exact = last && x->n > x->n_prompt &&
               pw_taskset_right(&lab->tasks, x, pin->tokens + x->n_prompt, pin->n - x->n_prompt);
    pin->said[t->pos] = *t;
    free(p);
    return last;
}

/* Decode one more token into *t; decoding may end with it. */
static enum pw_code next_token(struct pw_lab *lab, const struct pw_replica *arm, struct pw_ev_token *t,
                               struct pw_err *err)
{
    struct pw_pin *pin = &lab->pin;
    float *logits = pw_alloc((size_t)arm->cfg.vocab, sizeof *logits);
    int fed = pw_decoder_length(pin->decoder);
    enum pw_code code = pw_decoder_feed(pin->decoder, pin->tokens + fed, pin->n - fed, logits, err);
    if (code != PW_OK || choose_token(lab, arm, t, logits))
        end_decoding(pin);
    free(logits);
    return code;
}

/* Decode and emit one more token; after the last one also what it was computed from. */
static enum pw_code go_on(struct pw_lab *lab, struct pw_err *err)
{
    struct pw_pin *pin = &lab->pin;
    const struct pw_replica *arm = pw_lab_answerer(lab);
    struct pw_ev_token token = {0};
    enum pw_code code = next_token(lab, arm, &token, err);
    bool last = code == PW_OK && token.last;
    if (code == PW_OK) {
        struct pw_event *e = pw_lab_event(PW_EV_TOKEN, arm);
        e->u.token = token;
        pw_lab_emit(lab, e);
    }
    if (last)
        code = pw_lab_emit_looks(lab, arm, err);
    lab->look_s = pw_now() - pin->began;
    return code;
}

/* The same outside a command: a failure is an event of its own. */
static void go_on_alone(struct pw_lab *lab)
{
    struct pw_err err;
    if (go_on(lab, &err) != PW_OK)
        pw_lab_trouble(lab, &err);
}

void pw_lab_answer_slice(struct pw_lab *lab)
{
    double end = pw_now() + SLICE_S;
    do
        go_on_alone(lab);
    while (pw_lab_answering(lab) && pw_now() < end && !atomic_load(&lab->yield));
}

void pw_lab_answer_all(struct pw_lab *lab)
{
    while (pw_lab_answering(lab))
        go_on_alone(lab);
}

enum pw_code pw_lab_answer_now(struct pw_lab *lab, struct pw_err *err)
{
    enum pw_code code = pw_lab_answer_again(lab, err);
    while (code == PW_OK && pw_lab_answering(lab))
        code = go_on(lab, err);
    return code;
}

void pw_lab_drop_answer(struct pw_lab *lab)
{
    if (!pw_lab_answering(lab))
        return;
    end_decoding(&lab->pin);
    lab->pin.generation = 0;
}

/* Answer the pinned prompt by arm without emitting anything. Takes the decoder. */
static enum pw_code decode_quietly(struct pw_lab *lab, const struct pw_replica *arm, float temperature,
                                   struct pw_decoder *decoder, int limit, struct pw_err *err)
{
    enum pw_code code = PW_OK;
    begin_quietly(&lab->pin, arm, temperature, decoder, limit);
    while (code == PW_OK && lab->pin.decoder != NULL) {
        struct pw_ev_token token = {0};
        code = next_token(lab, arm, &token, err);
    }
    return code;
}

void pw_lab_answer_quietly(struct pw_lab *lab)
{
    struct pw_pin *pin = &lab->pin;
    const struct pw_replica *arm = pw_lab_answerer(lab);
    struct pw_decoder *decoder;
    int limit, n = pin->n;
    if (arm == NULL || n == 0 || !pw_pin_fits(pin, arm) ||
        open_decoder(lab, &decoder, &limit, arm, &pin->sample, pin->kept, pin->more, NULL) != PW_OK)
        return;
    int *before = pw_copy(pin->tokens, (size_t)n, sizeof *before);
    enum pw_code code = decode_quietly(lab, arm, pin->temperature, decoder, limit, NULL);
    if (code != PW_OK || pin->n != n || memcmp(before, pin->tokens, (size_t)n * sizeof *before) != 0) {
        pin->generation = 0; /* these weights give another answer */
        pin->n = n;
        memcpy(pin->tokens, before, (size_t)n * sizeof *before);
    }
    free(before);
}

void pw_lab_take_back(struct pw_lab *lab, const struct pw_lent *own)
{
    pw_pin_fini(&lab->pin);
    lab->pin = own->pin;
    lab->replica = own->replica;
}

enum pw_code pw_lab_lend(struct pw_lab *lab, struct pw_lent *own, int replica, struct pw_err *err)
{
    struct pw_pin *pin = &lab->pin;
    struct pw_decoder *decoder;
    size_t cap = (size_t)pin->cap;
    int limit;
    *own = (struct pw_lent){*pin, lab->replica};
    lab->replica = replica;
    pin->decoder = NULL;
    pin->sample.tokens = pw_copy(pin->sample.tokens, (size_t)pin->sample.n, sizeof *pin->sample.tokens);
    pin->tokens = pw_copy(pin->tokens, cap, sizeof *pin->tokens);
    pin->edited = pw_copy(pin->edited, cap, sizeof *pin->edited);
    pin->said = pw_copy(pin->said, cap, sizeof *pin->said);
    const struct pw_replica *arm = pw_lab_inspected(lab);
    if (!pw_pin_fits(pin, arm)) /* show as many tokens as fit */
        return PW_OK;
    enum pw_code code = open_decoder(lab, &decoder, &limit, arm, &pin->sample, pin->kept, pin->more, err);
    if (code == PW_OK)
        code = decode_quietly(lab, arm, lab->temperature, decoder, limit, err);
    if (code != PW_OK)
        pw_lab_take_back(lab, own);
    return code;
}

enum pw_code pw_lab_answer_by(struct pw_lab *lab, const struct pw_replica *arm, struct pw_err *err)
{
    struct pw_pin *pin = &lab->pin;
    struct pw_decoder *decoder;
    int limit;
    if (pin->id == 0 || !pw_pin_fits(pin, arm))
        return PW_OK;
    enum pw_code code = open_decoder(lab, &decoder, &limit, arm, &pin->sample, pin->kept, pin->more, err);
    if (code == PW_OK)
        begin_answer(lab, arm, decoder, limit);
    return code;
}

enum pw_code pw_lab_answer_again(struct pw_lab *lab, struct pw_err *err)
{
    return pw_lab_answer_by(lab, pw_lab_inspected(lab), err);
}

enum pw_code pw_lab_pin(struct pw_lab *lab, const struct pw_sample *x, const char *text, int64_t index,
                        const bool *edited, struct pw_err *err)
{
    const struct pw_replica *arm = pw_lab_inspected(lab);
    struct pw_pin *pin = &lab->pin;
    struct pw_decoder *decoder;
    int limit;
    if (x->n_prompt >= arm->cfg.context)
        return pw_fail(err, PW_EUSER,
                       "the prompt has %d tokens; the model reads at most %d, including the answer",
                       x->n_prompt, arm->cfg.context);
    enum pw_code code = open_decoder(lab, &decoder, &limit, arm, x, x->n_prompt, 0, err);
    if (code != PW_OK)
        return code;
    struct pw_pin fresh = {.id = ++lab->last_prompt_id,
                           .sample = *x,
                           .index = index,
                           .kept = x->n_prompt,
                           .layer = pin->layer,
                           .head = pin->head,
                           .view = pin->view};
    fresh.sample.cap = x->n;
    fresh.sample.tokens = pw_alloc((size_t)x->n, sizeof *x->tokens);
    memcpy(fresh.sample.tokens, x->tokens, (size_t)x->n * sizeof *x->tokens);
    make_room(&fresh, limit + 1);
    if (edited != NULL)
        memcpy(fresh.edited, edited, (size_t)x->n_prompt * sizeof *edited);
    pw_text_copy(fresh.text, sizeof fresh.text, text); /* text may be the old pin's own */
    pw_pin_fini(pin);
    *pin = fresh;
    begin_answer(lab, arm, decoder, limit);
    return PW_OK;
}

void pw_lab_refresh(struct pw_lab *lab, bool table)
{
    struct pw_err err;
    if (!lab->cfg.live)
        return;
    if (pw_lab_answer_again(lab, &err) != PW_OK)
        pw_lab_trouble(lab, &err);
    if (table)
        pw_lab_emit_tables(lab);
}

void pw_lab_set_temperature(struct pw_lab *lab, float temperature)
{
    lab->temperature = temperature;
    pw_lab_refresh(lab, false);
}

/* Unpin the prompt if its arm or task was replaced. */
static void hear_change(struct pw_lab *lab, const struct pw_notice *n)
{
    bool of_arm = (n->what & (PW_CHANGE_ARMS | PW_CHANGE_SHAPE)) != 0 && lab->pin.arm == n->arm;
    if (of_arm || (n->what & PW_CHANGE_TASK) != 0)
        pw_lab_unpin(lab);
}

/* Heads have no effect on the tables, and those of another arm none on the answer. */
static void hear_changed(struct pw_lab *lab, const struct pw_notice *n)
{
    if (n->what != PW_CHANGE_HEADS)
        pw_lab_refresh(lab, true);
    else if (n->arm == lab->current)
        pw_lab_refresh(lab, false);
}

const struct pw_listener pw_answer_listener = {.changes = hear_change, .changed = hear_changed};
