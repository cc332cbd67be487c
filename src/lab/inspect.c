/* inspect.c - the pinned prompt: decoded, and looked into head by head; and the encoding's own tables.
 *
 * Greedy decoding picks the most probable token (the lowest id on ties), the same choice as the
 * teacher-forced argmax of evaluation, because a decoder gives the same bits. With a temperature a token is
 * drawn by random numbers that depend on seed, prompt and place alone: a prompt that is decoded again while
 * the model learns changes because of the model. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/maths.h"
#include "base/rng.h"
#include "lab/lab_int.h"
#include "model/decode.h"

#define BEYOND                                                                                               \
    8 /* decoding goes so many tokens beyond the right answer before it gives up on an end mark              \
       */

static void label(const struct pw_lab *lab, int token, char out[PW_LABEL])
{
    const char *w = lab->tasks.vocab.words[token];
    pw_text_copy(out, PW_LABEL, w[0] == ' ' && w[1] != '\0' ? w + 1 : w);
}

static void *get(size_t n, size_t size)
{
    void *p = calloc(n > 0 ? n : 1, size);
    if (p == NULL)
        abort();
    return p;
}

static char (*labels(const struct pw_lab *lab, const int *tokens, int n))[PW_LABEL]
{
    char(*out)[PW_LABEL] = get((size_t)n, PW_LABEL);
    for (int i = 0; i < n; i++)
        label(lab, tokens[i], out[i]);
    return out;
}

static void tell_prompt(struct pw_lab *lab, const struct pw_arm *arm)
{
    struct pw_event *e = pw_lab_event(lab, PW_EV_PROMPT, arm);
    struct pw_ev_prompt *p = &e->u.prompt;
    p->id = lab->pin.id;
    if (p->id != 0) {
        const struct pw_sample *x = &lab->pin.sample;
        pw_text_copy(p->text, sizeof p->text, lab->pin.text);
        p->n_prompt = x->n_prompt;
        p->n = x->n;
        p->has_answer = x->n > x->n_prompt;
        p->tokens = get((size_t)x->n, sizeof *p->tokens);
        memcpy(p->tokens, x->tokens, (size_t)x->n * sizeof *p->tokens);
        p->labels = labels(lab, x->tokens, x->n);
    }
    pw_lab_emit(lab, e);
}

void pw_lab_unpin(struct pw_lab *lab)
{
    bool was = lab->pin.id != 0;
    free(lab->pin.sample.tokens);
    free(lab->pin.tokens);
    lab->pin = (struct pw_pin){.layer = lab->pin.layer, .head = lab->pin.head, .view = lab->pin.view};
    if (was)
        tell_prompt(lab, NULL);
}

/* Logits [V] as probabilities at a temperature. */
static void distribution(float *p, const float *logits, int V, double temperature)
{
    double most = logits[0], sum = 0.0;
    for (int i = 1; i < V; i++)
        most = logits[i] > most ? logits[i] : most;
    for (int i = 0; i < V; i++)
        sum += pw_exp((logits[i] - most) / temperature);
    for (int i = 0; i < V; i++)
        p[i] = (float)(pw_exp((logits[i] - most) / temperature) / sum);
}

/* The token whose stretch of the cumulated probabilities a random number hits. */
static int draw(const struct pw_lab *lab, const float *p, int V)
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
    return token < V ? token : last; /* rounding may have left a crumb behind the last */
}

static int best_of(const float *logits, int V)
{
    int best = 0;
    for (int i = 1; i < V; i++)
        if (logits[i] > logits[best])
            best = i;
    return best;
}

static void fill_top(const struct pw_lab *lab, struct pw_ev_token *t, const float *p, int V)
{
    int top[PW_TOP];
    t->n_top = 0;
    for (int i = 0; i < V; i++) {
        int k = t->n_top < PW_TOP ? t->n_top++ : PW_TOP;
        for (; k > 0 && p[i] > p[top[k - 1]]; k--)
            if (k < PW_TOP)
                top[k] = top[k - 1];
        if (k < PW_TOP)
            top[k] = i;
        if (p[i] > 0.0f)
            t->entropy -= (float)(p[i] * log2(p[i]));
    }
    for (int k = 0; k < t->n_top; k++) {
        label(lab, top[k], t->top_label[k]);
        t->top_prob[k] = p[top[k]];
    }
}

/* Decodes the pinned prompt to its end, telling every token. */
static enum pw_code decode(struct pw_lab *lab, const struct pw_arm *arm, struct pw_err *err)
{
    struct pw_pin *pin = &lab->pin;
    const struct pw_sample *x = &pin->sample;
    int V = arm->cfg.vocab, limit = arm->cfg.context;
    bool known = x->n > x->n_prompt, exact = known;
    if (known && x->n + BEYOND < limit)
        limit = x->n + BEYOND;
    float *logits = get((size_t)V, sizeof *logits), *p = get((size_t)V, sizeof *p);
    struct pw_decoder *decoder;
    enum pw_code code = pw_decoder_create(&decoder, arm->model, limit, err);
    pin->n = x->n_prompt;
    memcpy(pin->tokens, x->tokens, (size_t)pin->n * sizeof *pin->tokens);
    for (bool last = false; code == PW_OK && !last;) {
        int fed = pw_decoder_length(decoder);
        code = pw_decoder_feed(decoder, pin->tokens + fed, pin->n - fed, logits, err);
        if (code != PW_OK)
            break;
        distribution(p, logits, V, lab->temperature > 0.0f ? lab->temperature : 1.0);
        struct pw_event *e = pw_lab_event(lab, PW_EV_TOKEN, arm);
        struct pw_ev_token *t = &e->u.token;
        t->prompt = pin->id;
        t->pos = pin->n;
        t->token = lab->temperature > 0.0f ? draw(lab, p, V) : best_of(logits, V);
        t->prob = p[t->token];
        label(lab, t->token, t->label);
        fill_top(lab, t, p, V);
        t->right = known && pin->n < x->n && x->tokens[pin->n] == t->token;
        exact = exact && t->right;
        pin->tokens[pin->n++] = t->token;
        t->ended = t->token == PW_EOS;
        t->last = last = t->ended || pin->n >= limit;
        t->exact = last && exact && pin->n == x->n;
        pw_lab_emit(lab, e);
    }
    pw_decoder_destroy(decoder);
    free(logits);
    free(p);
    return code;
}

static uint16_t *halves(const float *x, size_t n)
{
    uint16_t *out = get(n, sizeof *out);
    for (size_t i = 0; i < n; i++)
        out[i] = pw_half(x[i]);
    return out;
}

static enum pw_code tell_attention(struct pw_lab *lab, const struct pw_arm *arm, struct pw_err *err)
{
    struct pw_pin *pin = &lab->pin;
    int T = pin->n < arm->cfg.context ? pin->n : arm->cfg.context, L = arm->cfg.layers, H = arm->cfg.heads;
    size_t head = (size_t)T * T, all = (size_t)L * H * head;
    float *maps = get(4 * all, sizeof *maps);
    struct pw_inspection in = {
        .probs = maps, .score = maps + all, .content = maps + 2 * all, .bias = maps + 3 * all};
    enum pw_code code = pw_model_inspect(arm->model, pin->tokens, T, &in, err);
    if (code == PW_OK) {
        struct pw_event *e = pw_lab_event(lab, PW_EV_ATTENTION, arm);
        struct pw_ev_attention *a = &e->u.attention;
        a->layer = pin->layer < L ? pin->layer : L - 1;
        a->head = pin->head < H ? pin->head : H - 1;
        size_t at = ((size_t)a->layer * H + a->head) * head;
        a->prompt = pin->id;
        a->T = T;
        a->layers = L;
        a->heads = H;
        a->view = pin->view;
        a->labels = labels(lab, pin->tokens, T);
        a->n_prompt = pin->sample.n_prompt;
        a->probs = halves(in.probs, all);
        a->score = halves(in.score + at, head);
        a->content = halves(in.content + at, head);
        a->bias = halves(in.bias + at, head);
        pw_lab_emit(lab, e);
    }
    free(maps);
    return code;
}

enum pw_code pw_lab_prompt(struct pw_lab *lab, const char *text, struct pw_err *err)
{
    struct pw_arm *arm = pw_lab_current(lab);
    int context = arm->cfg.context;
    struct pw_sample x = {.tokens = get((size_t)context, sizeof(int)), .cap = context};
    enum pw_code code = pw_taskset_prompt(&lab->tasks, text, context, &x, err);
    if (code != PW_OK) {
        free(x.tokens);
        return code;
    }
    free(lab->pin.sample.tokens);
    free(lab->pin.tokens);
    lab->pin.sample = x;
    lab->pin.tokens = get((size_t)context + 1, sizeof(int));
    lab->pin.n = 0;
    lab->pin.id = ++lab->last_prompt_id;
    lab->pin.arm = arm->id;
    pw_text_copy(lab->pin.text, sizeof lab->pin.text, text);
    tell_prompt(lab, arm);
    code = decode(lab, arm, err);
    return code == PW_OK ? tell_attention(lab, arm, err) : code;
}

void pw_lab_set_temperature(struct pw_lab *lab, float temperature)
{
    lab->temperature = temperature;
    pw_lab_refresh(lab, false);
}

enum pw_code pw_lab_look(struct pw_lab *lab, int layer, int head, int view, struct pw_err *err)
{
    struct pw_arm *arm = pw_lab_current(lab);
    if (layer >= arm->cfg.layers)
        return pw_fail(err, PW_EUSER, "inspect: layer=%d: arm %d has layers 0..%d", layer, arm->id,
                       arm->cfg.layers - 1);
    if (head >= arm->cfg.heads)
        return pw_fail(err, PW_EUSER, "inspect: head=%d: arm %d has heads 0..%d", head, arm->id,
                       arm->cfg.heads - 1);
    if (lab->pin.id == 0)
        return pw_fail(err, PW_EUSER,
                       "inspect: nothing to look at yet; type a prompt first, such as 'prompt %s %s'",
                       lab->tasks.use[0].task->name, lab->tasks.use[0].task->example);
    lab->pin.layer = layer >= 0 ? layer : lab->pin.layer;
    lab->pin.head = head >= 0 ? head : lab->pin.head;
    lab->pin.view = view >= 0 ? view : lab->pin.view;
    return tell_attention(lab, arm, err);
}

void pw_lab_refresh(struct pw_lab *lab, bool table)
{
    struct pw_arm *arm = pw_lab_current(lab);
    struct pw_err err;
    struct pw_event *e;
    if (!lab->cfg.live)
        return;
    if (lab->pin.id != 0 && lab->pin.sample.n_prompt < arm->cfg.context) {
        lab->pin.arm = arm->id;
        tell_prompt(lab, arm);
        if (decode(lab, arm, &err) != PW_OK || tell_attention(lab, arm, &err) != PW_OK)
            pw_lab_trouble(lab, &err);
    }
    if (table && pw_lab_table(lab, arm, 0, &e, &err) == PW_OK)
        pw_lab_emit(lab, e);
}

/* Largest distance between two rows of a training sample. */
static int trained_distance(const struct pw_lab *lab)
{
    int most = 0;
    for (int t = 0; t < lab->tasks.n; t++) {
        int d = pw_lab_rows_at(lab, t, pw_task_train(&lab->tasks.use[t]).hi) - 1;
        most = d > most ? d : most;
    }
    return most;
}

enum pw_code pw_lab_table(struct pw_lab *lab, struct pw_arm *arm, int length, struct pw_event **out,
                          struct pw_err *err)
{
    int context = arm->cfg.context, H = arm->cfg.heads, C = arm->cfg.width;
    int N = length > 0 ? length : lab->tasks.max_tokens < context ? lab->tasks.max_tokens : context;
    if (N > context)
        return pw_fail(err, PW_EUSER, "length=%d: the model has %d positions", N, context);
    struct pw_pe_tables t = {0};
    enum pw_code code = pw_model_tables(arm->model, N, &t, err);
    if (code != PW_OK)
        return code;
    const struct pw_pe *pe = arm->pe.pe;
    struct pw_event *e = pw_lab_event(lab, PW_EV_TABLE, arm);
    struct pw_ev_table *x = &e->u.table;
    struct pw_str text = {0};
    pw_pe_print(&arm->pe, &text);
    pw_text_copy(x->pe, sizeof x->pe, pw_str_text(&text));
    pw_str_fini(&text);
    x->length = N;
    x->heads = H;
    x->width = C;
    x->trained = arm->step > 0 ? trained_distance(lab) : 0;
    if (t.bias != NULL) {
        bool linear = pe->param == NULL; /* fixed and proportional to the distance: slopes say all */
        x->bias = get((size_t)H * N, sizeof *x->bias);
        x->slopes = get((size_t)H, sizeof *x->slopes);
        for (int h = 0; h < H; h++) {
            const float *row = t.bias + (size_t)h * (2 * t.P - 1) + t.P - 1;
            memcpy(x->bias + (size_t)h * N, row, (size_t)N * sizeof *row);
            x->slopes[h] = N > 1 ? row[0] - row[1] : 0.0f;
            for (int r = 0; r < N; r++)
                linear = linear && fabsf(row[r] + x->slopes[h] * (float)r) <= 1e-5f * fabsf(row[r]);
        }
        if (!linear) {
            free(x->slopes);
            x->slopes = NULL;
        }
    }
    if (pe->index != NULL) {
        x->bucket = get((size_t)N, sizeof *x->bucket);
        x->n_buckets = pe->param_rows(arm->pe.o.bytes, &arm->cfg);
        for (int r = 0; r < N; r++)
            x->bucket[r] = pe->index(arm->pe.o.bytes, r);
    }
    if (t.cosine != NULL) {
        x->pairs = pe->pairs(arm->pe.o.bytes, &arm->cfg);
        x->frequencies = get((size_t)x->pairs, sizeof *x->frequencies);
        for (int i = 0; i < x->pairs && t.P > 1; i++) /* the angle of position 1, below pi for every base */
            x->frequencies[i] = (float)atan2(t.sine[x->pairs + i], t.cosine[x->pairs + i]);
    }
    if (t.added != NULL) {
        x->added = get((size_t)N * C, sizeof *x->added);
        memcpy(x->added, t.added, (size_t)N * C * sizeof *x->added);
    }
    pw_pe_tables_free(&t);
    *out = e;
    return PW_OK;
}
