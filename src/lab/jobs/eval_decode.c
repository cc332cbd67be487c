/* eval_decode.c - decode answers to their end if teacher-forced choices do not decide which answers are
 * right.
 *
 * After a scratchpad only the answer counts, and a wrong scratchpad may still lead to the right answer. So
 * the tokens after the first wrong one are needed. Up to that token decoding gives the teacher-forced
 * choices, so decoding starts there, and a sample without errors is not decoded.
 *
 * Some models know more in a teacher-forced pass than in decoding. Without a causal mask a model sees the
 * answer's later tokens, and an encoding that depends on the sequence length reveals how long the answer is.
 * Their answers are decoded from the beginning, and up to the first wrong token if every token counts. An
 * answer of one token is exempt, because it reveals neither.
 *
 * Several answers, at most one per worker, are decoded side by side. Each call decodes one token of each, so
 * that the lab can serve a line between two calls. Results don't depend on this. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "lab/core/lab_int.h"
#include "lab/jobs/evals.h"
#include "lab/looks/looks.h"

struct said {
    struct pw_sample x; /* prompt and right answer */
    struct pw_pair pair;
    const int *choices; /* [x.n - x.n_prompt] teacher-forced choices */
    int *tokens;        /* [limit] the prompt, then the decoded tokens */
    int n, limit;
    bool over;
};

struct lane {
    struct pw_decoder *decoder;
    struct said *said; /* NULL: the lane is idle */
};

struct pw_decoding {
    struct pw_lab *lab;
    int n, next; /* number of samples; the first sample that no lane has taken */
    struct said *list;
    int *choices, *tokens, *said; /* of all samples, one after the other: teacher-forced, right, decoded */
    int n_lanes;
    struct lane lanes[PW_MAX_DECODERS];
    float *logits; /* [n_lanes,V] */
    int V;
};

/* Does the model know more in a teacher-forced pass than in decoding? */
static bool knows_ahead(const struct pw_replica *arm)
{
    return !arm->cfg.causal || pw_pe_uses_length(arm->pe.pe);
}

bool pw_lab_decodes(const struct pw_lab *lab, const struct pw_replica *arm, int task)
{
    return pw_task_parsed(&lab->tasks.use[task]) || (pw_taskset_ends(&lab->tasks, task) && knows_ahead(arm));
}

/* Append a token. The answer ends at the end mark or the limit, and at the first wrong token if every token
 * counts. */
static void append_token(const struct pw_decoding *d, struct said *s, int token)
{
    bool parsed = pw_task_parsed(&d->lab->tasks.use[s->x.task]);
    s->over = token == PW_EOS || s->n + 1 == s->limit || (!parsed && token != s->x.tokens[s->n]);
    s->tokens[s->n++] = token;
}

/* Return sequence i of s, with its tokens copied to `tokens`. Its last n scored rows predict the answer. */
static struct pw_sample sample_of(const struct pw_samples *s, int i, int task, int *tokens)
{
    int from = s->b.start[i], rows = s->b.start[i + 1] - from;
    int at = s->seq_scored[i], n = s->seq_scored[i + 1] - at;
    struct pw_sample x = {.task = task, .n_prompt = rows - n + 1, .n = rows + 1, .tokens = tokens};
    memcpy(tokens, s->tokens + from, (size_t)rows * sizeof *tokens);
    tokens[rows] = s->targets[at + n - 1];
    return x;
}

/* Fill in the part of an answer that the teacher-forced choices determine; ahead: none. */
static void begin_answer(const struct pw_decoding *d, struct said *s, bool ahead)
{
    int n = s->x.n - s->x.n_prompt;
    memcpy(s->tokens, s->x.tokens, (size_t)s->x.n_prompt * sizeof *s->tokens);
    s->n = s->x.n_prompt;
    for (int k = 0; !ahead && k < n && !s->over; k++) {
        append_token(d, s, s->choices[k]);
        if (s->choices[k] != s->x.tokens[s->x.n_prompt + k])
            break;
    }
}

/* If every token counts, decoding need not go beyond the length of the right answer. */
static int limit_of(const struct pw_lab *lab, const struct pw_replica *arm, const struct pw_sample *x)
{
    int most = arm->cfg.context + 1;
    int limit = pw_task_parsed(&lab->tasks.use[x->task]) ? pw_lab_answer_limit(lab, x) : x->n;
    return limit < most ? limit : most;
}

static enum pw_code make_lanes(struct pw_decoding *d, const struct pw_replica *arm, struct pw_err *err)
{
    int waiting = 0, longest = 1, workers = d->lab->ops->workers(d->lab->be);
    for (int i = 0; i < d->n; i++) {
        waiting += !d->list[i].over;
        longest = d->list[i].limit - 1 > longest ? d->list[i].limit - 1 : longest;
    }
    workers = workers < waiting ? workers : waiting;
    workers = workers < PW_MAX_DECODERS ? workers : PW_MAX_DECODERS;
    d->V = arm->cfg.vocab;
    d->logits = pw_alloc((size_t)workers * (size_t)d->V + 1, sizeof *d->logits);
    for (; d->n_lanes < workers; d->n_lanes++) {
        enum pw_code code = pw_decoder_create(&d->lanes[d->n_lanes].decoder, arm->model, longest, err);
        if (code != PW_OK)
            return code;
    }
    return PW_OK;
}

enum pw_code pw_decoding_begin(struct pw_decoding **out, struct pw_lab *lab, const struct pw_replica *arm,
                               const struct pw_samples *s, int task, int *choices, struct pw_err *err)
{
    struct pw_decoding *d = pw_alloc(1, sizeof *d);
    bool ahead = knows_ahead(arm);
    *d = (struct pw_decoding){.lab = lab, .n = s->b.n_seqs, .choices = choices};
    d->list = pw_alloc((size_t)d->n, sizeof *d->list);
    /* a sequence has one token more than rows */
    size_t right = (size_t)(s->b.n_rows + s->b.n_seqs), said = 0;
    d->tokens = pw_alloc(right, sizeof *d->tokens);
    for (int i = 0; i < d->n; i++) {
        struct said *x = &d->list[i];
        *x = (struct said){.x = sample_of(s, i, task, d->tokens + s->b.start[i] + i),
                           .pair = s->pairs[i],
                           .choices = choices + s->seq_scored[i]};
        x->limit = limit_of(lab, arm, &x->x);
        said += (size_t)x->limit;
    }
    d->said = pw_alloc(said, sizeof *d->said);
    for (int i = 0, at = 0; i < d->n; at += d->list[i++].limit) {
        d->list[i].tokens = d->said + at;
        begin_answer(d, &d->list[i], ahead);
    }
    enum pw_code code = make_lanes(d, arm, err);
    if (code != PW_OK)
        pw_decoding_end(d);
    *out = code == PW_OK ? d : NULL;
    return code;
}

/* Give the next unfinished answers to idle lanes. Lanes with an answer come first; returns their number. */
static int fill_lanes(struct pw_decoding *d)
{
    int n = 0;
    for (int i = 0; i < d->n_lanes; i++) {
        struct lane lane = d->lanes[i];
        if (lane.said == NULL || lane.said->over) {
            while (d->next < d->n && d->list[d->next].over)
                d->next++;
            lane.said = d->next < d->n ? &d->list[d->next++] : NULL;
            pw_decoder_rewind(lane.decoder, 0);
        }
        d->lanes[i] = d->lanes[n];
        d->lanes[n] = lane;
        n += lane.said != NULL;
    }
    return n;
}

bool pw_decoding_over(const struct pw_decoding *d)
{
    for (int i = 0; i < d->n; i++)
        if (!d->list[i].over)
            return false;
    return true;
}

enum pw_code pw_decoding_go_on(struct pw_decoding *d, struct pw_err *err)
{
    struct pw_decoder *decoders[PW_MAX_DECODERS];
    const int *tokens[PW_MAX_DECODERS];
    int n[PW_MAX_DECODERS], lanes = fill_lanes(d), token;
    for (int i = 0; i < lanes; i++) {
        int fed = pw_decoder_length(d->lanes[i].decoder);
        decoders[i] = d->lanes[i].decoder;
        tokens[i] = d->lanes[i].said->tokens + fed;
        n[i] = d->lanes[i].said->n - fed;
    }
    enum pw_code code = pw_decoder_feed_all(decoders, lanes, tokens, n, d->logits, err);
    for (int i = 0; i < lanes && code == PW_OK; i++) {
        pw_lab_top(&token, 1, d->logits + (size_t)i * d->V, d->V);
        append_token(d, d->lanes[i].said, token);
    }
    return code;
}

bool pw_decoding_at(const struct pw_decoding *d, int i, struct pw_decoded *out)
{
    if (i >= d->n)
        return false;
    const struct said *s = &d->list[i];
    const int *said = s->tokens + s->x.n_prompt;
    *out = (struct pw_decoded){.n_right = s->x.n - s->x.n_prompt,
                               .right = s->x.tokens + s->x.n_prompt,
                               .choices = s->choices,
                               .said = said,
                               .well = pw_taskset_right(&d->lab->tasks, &s->x, said, s->n - s->x.n_prompt),
                               .pair = s->pair};
    return true;
}

void pw_decoding_end(struct pw_decoding *d)
{
    if (d == NULL)
        return;
    for (int i = 0; i < d->n_lanes; i++)
        pw_decoder_destroy(d->lanes[i].decoder);
    free(d->logits);
    free(d->choices);
    free(d->tokens);
    free(d->said);
    free(d->list);
    free(d);
}
