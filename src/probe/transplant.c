/* transplant.c - the probe transplant: replaces the attention pattern of a head in arm B by the pattern of a
 * head in arm A. B keeps the head's values and W_o.
 *
 * Models that were trained separately have no common basis of the residual stream, so activations of one have
 * no meaning in the other. An attention pattern is independent of the basis: it selects tokens to read. In
 * B's forward pass the head's output becomes z = P_A V_B. The values are B's own, computed from unchanged
 * earlier layers. Exact match is teacher-forced, as in `eval`. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/argmax.h"
#include "probe/pattern.h"
#include "probe/probe.h"

#define END_MARK 1

struct options {
    char head[16], from[16];
    int samples;
};

static const struct pw_opt opts[] = {
    {.name = "head",
     .type = PW_OPT_TEXT,
     .offset = offsetof(struct options, head),
     .def = "0.0",
     .size = sizeof((struct options *)0)->head,
     .help = "layer.head of the second arm, whose pattern is replaced"},
    {.name = "from",
     .type = PW_OPT_TEXT,
     .offset = offsetof(struct options, from),
     .def = "",
     .size = sizeof((struct options *)0)->from,
     .help = "layer.head of the first arm, which supplies the pattern; default: the same as head="},
    {.name = "samples",
     .type = PW_OPT_INT,
     .offset = offsetof(struct options, samples),
     .def = "32",
     .min = 1,
     .max = 10000,
     .help = "samples per length, trained and longer"},
    {.name = NULL}};

enum { DONOR, RECEIVER, BOTH, MODELS };

struct head {
    int layer, head;
};

struct state {
    struct head to, from;
    int first, lengths, cap;
    int *tokens, *samples, *right[MODELS]; /* [lengths] */
    float *probs;                          /* [L,H,T,T] of the donor */
    float *v, *z, *logits;                 /* [L,T,H,D], [T,D], [T,V] of the receiver */
};

static enum pw_code read_head(struct head *h, const char *name, const char *text, const struct pw_model *m,
                              struct pw_err *err)
{
    const struct pw_config *c = pw_model_config(m);
    char end;
    bool named = sscanf(text, "L%dH%d%c", &h->layer, &h->head, &end) == 2; /* the notation of the screen */
    if ((named || sscanf(text, "%d.%d%c", &h->layer, &h->head, &end) == 2) && h->layer >= 0 &&
        h->layer < c->layers && h->head >= 0 && h->head < c->heads)
        return PW_OK;
    return pw_fail(err, PW_EUSER, "probe transplant: %s=%s: allowed are L0H0 to L%dH%d, or 0.0 to %d.%d",
                   name, text, c->layers - 1, c->heads - 1, c->layers - 1, c->heads - 1);
}

static enum pw_code begin_transplant(struct pw_probing_at *p, struct pw_err *err)
{
    const struct pw_probe_in *in = p->in;
    const struct options *o = p->opts;
    struct state *s = p->state = pw_alloc(1, sizeof *s);
    if (in->n != 2)
        return pw_fail(
            err, PW_EUSER,
            "probe transplant: %d model%s: name two arms of one replica each, 'probe transplant FROM TO'",
            in->n, in->n == 1 ? "" : "s");
    const struct pw_config *a = pw_model_config(in->subject[0].model),
                           *b = pw_model_config(in->subject[1].model);
    enum pw_code code = read_head(&s->to, "head", o->head, in->subject[1].model, err);
    if (code == PW_OK)
        code = read_head(&s->from, "from", o->from[0] != '\0' ? o->from : o->head, in->subject[0].model, err);
    if (code != PW_OK)
        return code;
    s->cap = a->context < b->context ? a->context : b->context;
    s->first = in->lengths.lo;
    s->lengths = in->test.hi - s->first + 1;
    s->tokens = pw_alloc((size_t)s->cap, sizeof *s->tokens);
    s->samples = pw_alloc((size_t)s->lengths, sizeof *s->samples);
    for (int i = 0; i < MODELS; i++)
        s->right[i] = pw_alloc((size_t)s->lengths, sizeof *s->right[i]);
    size_t T = (size_t)s->cap, V = (size_t)(a->vocab > b->vocab ? a->vocab : b->vocab);
    s->probs = malloc((size_t)a->layers * a->heads * T * T * sizeof *s->probs);
    s->v = malloc((size_t)b->layers * T * b->heads * b->head_width * sizeof *s->v);
    s->z = malloc(T * b->head_width * sizeof *s->z);
    s->logits = malloc(T * V * sizeof *s->logits);
    if (s->probs == NULL || s->v == NULL || s->z == NULL || s->logits == NULL)
        return pw_fail(err, PW_ENOMEM, "probe transplant: out of memory for maps of %d tokens", s->cap);
    p->units = s->lengths * o->samples;
    return PW_OK;
}

/* Returns true if every token of the answer, and the end mark, is the most probable one. */
static bool all_right(const struct state *s, int T, int n_prompt, int V)
{
    for (int t = n_prompt - 1; t < T; t++)
        if (pw_argmax(s->logits + (size_t)t * V, V) != (t + 1 < T ? s->tokens[t + 1] : END_MARK))
            return false;
    return true;
}

static enum pw_code unit(struct pw_probing_at *p, int i, struct pw_err *err)
{
    const struct options *o = p->opts;
    const struct pw_probe_in *in = p->in;
    struct state *s = p->state;
    struct pw_model *donor = in->subject[0].model, *receiver = in->subject[1].model;
    const struct pw_config *a = pw_model_config(donor), *b = pw_model_config(receiver);
    int at = i / o->samples, n_prompt, T = 0;
    if (in->has(in->arg, s->first + at))
        T = in->sequence(in->arg, s->first + at, i % o->samples, s->tokens, s->cap, &n_prompt);
    if (T == 0)
        return PW_OK;
    struct pw_patch patch = {.layer = s->to.layer, .head = s->to.head, .from = 0, .to = T, .source = s->z};
    s->samples[at]++;
    enum pw_code code = pw_model_inspect(
        donor, s->tokens, T, &(struct pw_inspection){.probs = s->probs, .logits = s->logits}, err);
    if (code == PW_OK) {
        s->right[DONOR][at] += all_right(s, T, n_prompt, a->vocab);
        code = pw_model_inspect(receiver, s->tokens, T,
                                &(struct pw_inspection){.v = s->v, .logits = s->logits}, err);
    }
    if (code == PW_OK) {
        s->right[RECEIVER][at] += all_right(s, T, n_prompt, b->vocab);
        pw_pattern_apply(s->z, s->probs + ((size_t)s->from.layer * a->heads + s->from.head) * T * T,
                         s->v + (size_t)s->to.layer * T * b->heads * b->head_width, T, s->to.head, b);
        code = pw_model_inspect(
            receiver, s->tokens, T,
            &(struct pw_inspection){.logits = s->logits, .patches = &patch, .n_patches = 1}, err);
    }
    if (code == PW_OK)
        s->right[BOTH][at] += all_right(s, T, n_prompt, b->vocab);
    return code;
}

/* Mean exact match over the trained lengths, or over longer ones. */
static double mean(const struct state *s, const struct pw_probe_in *in, int which, bool beyond)
{
    double sum = 0;
    int n = 0;
    for (int i = 0; i < s->lengths; i++)
        if (s->samples[i] > 0 && (s->first + i > in->lengths.hi) == beyond) {
            sum += (double)s->right[which][i] / s->samples[i];
            n++;
        }
    return n > 0 ? sum / n : NAN;
}

static enum pw_code end(struct pw_probing_at *p, struct pw_finding *f, struct pw_err *err)
{
    const struct pw_probe_in *in = p->in;
    const struct options *o = p->opts;
    struct state *s = p->state;
    const char *names[MODELS] = {in->subject[0].name, in->subject[1].name, "with its pattern"};
    int points = 0;
    for (int i = 0; i < s->lengths; i++)
        points += s->samples[i] > 0;
    if (points == 0)
        return pw_fail(err, PW_EUSER, "probe transplant: no sample fits into %d positions", s->cap);
    pw_finding_init(
        f, "transplant", in->topic,
        "head %d.%d of arm %s with the attention pattern of head %d.%d of arm %s, %d samples per length",
        s->to.layer, s->to.head, names[RECEIVER], s->from.layer, s->from.head, names[DONOR], o->samples);
    int plot = pw_finding_plot(f, "exact match by length", "length", "exact match", points, MODELS, false);
    int table = pw_finding_table(f, "mean exact match, per cent", MODELS, 2);
    f->blocks[table].decimals = 1;
    pw_finding_col(f, table, 0, "in range");
    pw_finding_col(f, table, 1, "longer");
    for (int k = 0; k < MODELS; k++) {
        pw_finding_name(f, plot, k, "%s", names[k]);
        pw_finding_row(f, table, k, "%s", names[k]);
        pw_finding_put(f, table, k, 0, 100 * mean(s, in, k, false));
        pw_finding_put(f, table, k, 1, 100 * mean(s, in, k, true));
    }
    for (int i = 0, n = 0; i < s->lengths; i++) {
        if (s->samples[i] == 0)
            continue;
        pw_finding_x(f, plot, n, s->first + i);
        for (int k = 0; k < MODELS; k++)
            pw_finding_y(f, plot, n, k, (double)s->right[k][i] / s->samples[i]);
        n++;
    }
    pw_finding_remark(f, "values, W_o and all other heads are those of arm %s", names[RECEIVER]);
    return PW_OK;
}

static void fini(struct pw_probing_at *p)
{
    struct state *s = p->state;
    for (int i = 0; i < MODELS; i++)
        free(s->right[i]);
    free(s->tokens);
    free(s->samples);
    free(s->probs);
    free(s->v);
    free(s->z);
    free(s->logits);
    free(s);
}

const struct pw_probe pw_probe_transplant = {
    .name = "transplant",
    .summary = "replace the attention pattern of a head by one of another arm: exact match by length",
    .source = "after Zhang and Nanda 2024, with patterns in place of activations",
    .opts = opts,
    .opts_size = sizeof(struct options),
    .takes = PW_PROBE_ARMS | PW_PROBE_ANSWERS,
    .begin = begin_transplant,
    .unit = unit,
    .end = end,
    .fini = fini,
};
