/* shift.c - the probe shift: does the position of a text in the sequence matter? (Su 2024, kexue.fm 10347,
 * shortcoming 3: language needs relative position, but a model without an encoding has absolute position.)
 *
 * Two different shifts are measured:
 *
 * numbers  Samples of the task with all position ids raised by o, and no tokens before them: the loss of the
 *          right answer. It is unchanged if only distances enter. An added table supplies other rows.
 *          Without an encoding there are no position ids, so the loss must be unchanged.
 * text     The same few tokens after o other tokens: the cosine between the stream at the last token and the
 *          stream after BASE other tokens. New other tokens are drawn each time, also for BASE. The
 *          first value therefore shows the effect of other content. Later values show the effect of more
 *          content: absolute position that enters a causal model without any encoding. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "probe/draw.h"

/* Largest mean change of the loss that rounding explains, in nats. */
#define SAME 1e-3

enum { BASE = 4, MOST = 16 /* offsets: powers of two */, OTHER = 1 << 20 };

struct options {
    int samples, tokens;
};

static const struct pw_opt opts[] = {
    {"samples", PW_OPT_INT, offsetof(struct options, samples), "64", 1, 8192, NULL, 0,
     "samples of the task at its longest trained length, and number of random texts"},
    {"tokens", PW_OPT_INT, offsetof(struct options, tokens), "8", 1, 4096, NULL, 0,
     "tokens of a random text"},
    {0},
};

struct state {
    int T, length, C, streams;
    int n_numbers, numbers[MOST]; /* offsets of the position ids: 0, 1, 2, 4, ... */
    int n_texts, texts[MOST];     /* offsets of the text: BASE, 2 BASE, ... */
    double loss[MOST], change[MOST], agree[MOST], scored;
    double cosine[2][MOST]; /* sums of cosines: the arm, the untrained twin */
    int *tokens, *pos, *rows, *targets, *best, *was;
    float *losses, *before, *resid, *base;
};

/* Fails if the task's samples, or a text after BASE tokens, don't fit into the context. */
static enum pw_code check(struct state *s, const struct pw_probing_at *p, struct pw_err *err)
{
    const struct options *o = p->opts;
    const struct pw_probe_in *in = p->in;
    const struct pw_pe *pe = pw_model_pe(in->subject->model)->pe;
    int context = pw_model_config(in->subject->model)->context, n_prompt;
    if (pw_pe_uses_length(pe))
        return pw_fail(err, PW_EUSER,
                       "probe shift: arm %d: encoding %s depends on the length of the sequence, so a shift "
                       "isn't defined",
                       in->subject->arm, pe->name);
    if (pe->ids != NULL)
        return pw_fail(
            err, PW_EUSER,
            "probe shift: arm %d: encoding %s reads positions from tokens or chance, so a shift isn't "
            "defined",
            in->subject->arm, pe->name);
    if (o->tokens + BASE > context)
        return pw_fail(err, PW_EUSER,
                       "probe shift: tokens=%d: with %d tokens before the text, it must fit into the context "
                       "of %d tokens",
                       o->tokens, BASE, context);
    s->tokens = pw_alloc(2 * (size_t)context, sizeof *s->tokens);
    for (s->length = in->lengths.hi; s->T == 0 && s->length >= in->lengths.lo; s->length--)
        if (in->has(in->arg, s->length))
            s->T = in->sequence(in->arg, s->length, 0, s->tokens, context, &n_prompt);
    s->length++;
    if (s->T == 0 || s->T >= context)
        return pw_fail(err, PW_EUSER,
                       "probe shift: arm %d: its context of %d tokens has no room to shift a sample",
                       in->subject->arm, context);
    return PW_OK;
}

static enum pw_code begin_shift(struct pw_probing_at *p, struct pw_err *err)
{
    const struct options *o = p->opts;
    const struct pw_config *c = pw_model_config(p->in->subject->model);
    struct state *s = p->state = pw_alloc(1, sizeof *s);
    size_t N = (size_t)c->context;
    enum pw_code code = check(s, p, err);
    if (code != PW_OK)
        return code;
    s->n_numbers = 1; /* offset 0 */
    for (int v = 1; v + s->T <= c->context && s->n_numbers < MOST; v *= 2)
        s->numbers[s->n_numbers++] = v;
    for (int v = BASE; v + o->tokens <= c->context && s->n_texts < MOST; v *= 2)
        s->texts[s->n_texts++] = v;
    s->C = c->width;
    s->streams = c->layers + 1;
    s->pos = pw_alloc(5 * N, sizeof *s->pos);
    s->rows = s->pos + N;
    s->targets = s->rows + N;
    s->best = s->targets + N;
    s->was = s->best + N;
    s->losses = pw_alloc(2 * N, sizeof *s->losses);
    s->before = s->losses + N;
    s->resid = pw_alloc((size_t)s->streams * N * s->C, sizeof *s->resid);
    s->base = pw_alloc((size_t)s->C, sizeof *s->base);
    p->units = 3 * o->samples;
    return PW_OK;
}

/* ---- the position ids */

static enum pw_code numbers_unit(const struct pw_probing_at *p, int index, struct pw_err *err)
{
    const struct pw_probe_in *in = p->in;
    struct state *s = p->state;
    enum pw_code code = PW_OK;
    int n_prompt, T = in->sequence(
                      in->arg, s->length, index, s->tokens,
                      pw_model_config(in->subject->model)->context - s->numbers[s->n_numbers - 1], &n_prompt);
    int start[2] = {0, T}, n = T - n_prompt;
    if (T == 0 || n <= 0) /* longer than the first sample of this length, or no answer to score */
        return PW_OK;
    for (int k = 0; k < n; k++) {
        s->rows[k] = n_prompt - 1 + k;
        s->targets[k] = s->tokens[n_prompt + k];
    }
    struct pw_batch b = {.n_seqs = 1,
                         .n_rows = T,
                         .n_scored = n,
                         .start = start,
                         .tokens = s->tokens,
                         .pos = s->pos,
                         .rows = s->rows,
                         .targets = s->targets};
    for (int i = 0; i < s->n_numbers && code == PW_OK; i++) {
        for (int t = 0; t < T; t++)
            s->pos[t] = t + s->numbers[i];
        code = pw_model_eval(in->subject->model, &b, i == 0 ? s->was : s->best,
                             i == 0 ? s->before : s->losses, err);
        for (int k = 0; k < n && code == PW_OK; k++) {
            double before = (double)s->before[k], now = i == 0 ? before : (double)s->losses[k];
            s->loss[i] += now;
            s->change[i] += fabs(now - before);
            s->agree[i] += i == 0 || s->best[k] == s->was[k];
        }
    }
    s->scored += n;
    return code;
}

/* ---- the text */

/* Runs text `index` after `front` tokens of sequence `from`. *out [C] is the last stream at the last
 * token. */
static enum pw_code run_text(const struct pw_probing_at *p, struct pw_model *m, const float **out, int index,
                             int front, uint64_t from, struct pw_err *err)
{
    const struct options *o = p->opts;
    struct state *s = p->state;
    int T = front + o->tokens, *text = s->tokens + pw_model_config(m)->context;
    pw_draw_tokens(text, o->tokens + 1, p->in, (uint64_t)index); /* without its first word */
    pw_draw_tokens(s->tokens, front, p->in, from);
    memcpy(s->tokens + front, text + 1, (size_t)o->tokens * sizeof *text);
    *out = s->resid + ((size_t)(s->streams - 1) * T + T - 1) * s->C;
    return pw_model_inspect(m, s->tokens, T, &(struct pw_inspection){.resid = s->resid}, err);
}

static enum pw_code text_unit(const struct pw_probing_at *p, int side, int index, struct pw_err *err)
{
    struct state *s = p->state;
    struct pw_model *m = side == 0 ? p->in->subject->model : p->in->subject->control;
    const float *x;
    uint64_t from = OTHER + (uint64_t)index * (MOST + 1);
    enum pw_code code = run_text(p, m, &x, index, BASE, from, err);
    if (code == PW_OK)
        memcpy(s->base, x, (size_t)s->C * sizeof *x);
    for (int i = 0; i < s->n_texts && code == PW_OK; i++) {
        double xy = 0, xx = 0, yy = 0;
        code = run_text(p, m, &x, index, s->texts[i], from + 1 + (uint64_t)i, err);
        for (int c = 0; c < s->C; c++) {
            double a = (double)s->base[c], b = (double)x[c];
            xy += a * b;
            xx += a * a;
            yy += b * b;
        }
        s->cosine[side][i] += xy / sqrt(xx * yy);
    }
    return code;
}

static enum pw_code unit(struct pw_probing_at *p, int i, struct pw_err *err)
{
    return i % 3 == 0 ? numbers_unit(p, i / 3, err) : text_unit(p, i % 3 - 1, i / 3, err);
}

/* ---- the finding */

static void claims(const struct state *s, struct pw_finding *f, const struct pw_model *m)
{
    const struct pw_pe *pe = pw_model_pe(m)->pe;
    double most = 0;
    for (int i = 0; i < s->n_numbers; i++)
        most = fmax(most, s->change[i] / s->scored);
    if (pe->uses & PW_PE_DENSE)
        pw_finding_remark(
            f,
            "%s scales distances by the position of the query, so it is neither relative nor absolute; with "
            "all position ids raised by up to %d, the loss changes by at most %.1e",
            pe->name, s->numbers[s->n_numbers - 1], most);
    else if (pe->uses != 0 && (pe->uses & ~(unsigned)PW_PE_NO_POSITIONS) == 0)
        pw_finding_remark(f, "%s reads no positions, so position ids have no effect on it", pe->name);
    else if (pe->uses & PW_PE_MIXES && pw_pe_gains(pw_model_pe(m)))
        pw_finding_remark(
            f,
            "%s multiplies scores by a factor that grows with the position of the query, so with "
            "all position ids raised the loss changes by at most %.1e",
            pe->name, most);
    else if (pe->uses != 0 && (pe->uses & PW_PE_ADDED) == 0)
        pw_finding_claim(
            f, most <= SAME ? PW_CLAIM_REPRODUCED : PW_CLAIM_CONTRADICTED,
            "Su 2024: with a relative encoding, only distances matter",
            "all position ids raised by up to %d: the loss changes by at most %.1e (tolerance %g)",
            s->numbers[s->n_numbers - 1], most, SAME);
    else
        pw_probe_remark_one(f, "shift");
}

static enum pw_code end(struct pw_probing_at *p, struct pw_finding *f, struct pw_err *err)
{
    static const char *const heads[] = {"loss", "change", "same argmax"};
    const struct options *o = p->opts;
    const struct pw_probe_subject *subject = p->in->subject;
    const struct state *s = p->state;
    if (s->scored == 0)
        return pw_fail(err, PW_EUSER, "probe shift: samples of length %d have no answer to score", s->length);
    pw_finding_init(f, "shift", p->in->topic,
                    "effect of a shift on arm %s: %d samples of length %d, and %d texts of %d random tokens",
                    subject->name, o->samples, s->length, o->samples, o->tokens);
    int b = pw_finding_table(f, "all position ids raised: loss of the right answer, nats per token",
                             s->n_numbers, 3);
    for (int k = 0; k < 3; k++)
        pw_finding_col(f, b, k, "%s", heads[k]);
    for (int i = 0; i < s->n_numbers; i++) {
        const double row[] = {s->loss[i], s->change[i], s->agree[i]};
        pw_finding_row(f, b, i, "by %d", s->numbers[i]);
        for (int k = 0; k < 3; k++)
            pw_finding_put(f, b, i, k, row[k] / s->scored);
    }
    b = pw_finding_plot(
        f, "the same text at later positions: cosine of its last state with that after 4 other tokens",
        "tokens before the text", "cosine", s->n_texts, 2, false);
    f->blocks[b].log_x = true;
    pw_finding_name(f, b, 0, "arm");
    pw_finding_name(f, b, 1, "untrained");
    for (int i = 0; i < s->n_texts; i++) {
        pw_finding_x(f, b, i, s->texts[i]);
        for (int k = 0; k < 2; k++)
            pw_finding_y(f, b, i, k, s->cosine[k][i] / o->samples);
    }
    if (s->n_texts > 1) {
        b = pw_finding_table(f, "cosine of a text's last state with that after 4 other tokens", 2, 2);
        pw_finding_col(f, b, 0, "behind 4 others");
        pw_finding_col(f, b, 1, "behind %d", s->texts[s->n_texts - 1]);
        for (int k = 0; k < 2; k++) {
            pw_finding_row(f, b, k, "%s", k == 0 ? "arm" : "untrained");
            pw_finding_put(f, b, k, 0, s->cosine[k][0] / o->samples);
            pw_finding_put(f, b, k, 1, s->cosine[k][s->n_texts - 1] / o->samples);
        }
    }
    claims(s, f, subject->model);
    pw_finding_remark(f, "the position of a text affects any causal model, even with a relative encoding: "
                         "attention averages over the tokens before it, and their number grows");
    return PW_OK;
}

static void fini(struct pw_probing_at *p)
{
    struct state *s = p->state;
    free(s->tokens);
    free(s->pos);
    free(s->losses);
    free(s->resid);
    free(s->base);
    free(s);
}

const struct pw_probe pw_probe_shift = {
    .name = "shift",
    .summary = "effect of the position of a text: with all position ids raised, or after more tokens",
    .source = "Su 2024 (kexue.fm 10347), shortcoming 3",
    .opts = opts,
    .opts_size = sizeof(struct options),
    .takes = PW_PROBE_ARM | PW_PROBE_CONTROL,
    .begin = begin_shift,
    .unit = unit,
    .end = end,
    .fini = fini,
};
