/* eval_decode.c - answers decoded to their end, where teacher-forced choices don't tell which are right.
 *
 * Behind a scratchpad the answer alone counts, and one that goes wrong may come to it all the same: what the
 * model says after its first wrong token has to be seen. Up to that token decoding says what teacher forcing
 * chose, so it begins there, and what was right throughout isn't decoded at all. A model that sees what comes
 * after a token sees the answer that it is forced to give, and one whose encoding depends on the length of
 * the sequence how long it is: of theirs all has to be decoded, up to the first wrong token where every token
 * counts; unless the answer is one token, which neither can see.
 *
 * As many answers as there are workers grow side by side, a token each at a time, so that the lab can be
 * called away between two. What is said depends on none of this. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "lab/lab_int.h"

struct said {
    struct pw_sample x; /* prompt and right answer */
    struct pw_pair pair;
    const int *choices; /* [x.n - x.n_prompt] teacher-forced */
    int *tokens;        /* [limit] prompt and what is said */
    int n, limit;
    bool over;
};

struct lane {
    struct pw_decoder *decoder;
    struct said *said; /* NULL: it waits for one */
};

struct pw_decoding {
    struct pw_lab *lab;
    int n, next; /* samples; the first that no lane has had */
    struct said *list;
    int *choices, *tokens, *said; /* of all, one after the other: teacher-forced, right, decoded */
    int n_lanes;
    struct lane lanes[PW_MAX_DECODERS];
    float *logits; /* [n_lanes,V] */
    int V;
};

/* Does a model that is given an answer know more than one that decodes it? */
static bool knows_ahead(const struct pw_arm *arm)
{
    return !arm->cfg.causal || pw_pe_uses_length(arm->pe.pe);
}

bool pw_lab_decodes(const struct pw_lab *lab, const struct pw_arm *arm, int task)
{
    return pw_task_parsed(&lab->tasks.use[task]) || (pw_taskset_ends(&lab->tasks, task) && knows_ahead(arm));
}

/* The end mark, or the limit; and where every token counts the first wrong one. */
static void say(const struct pw_decoding *d, struct said *s, int token)
{
    bool parsed = pw_task_parsed(&d->lab->tasks.use[s->x.task]);
    s->over = token == PW_EOS || s->n + 1 == s->limit || (!parsed && token != s->x.tokens[s->n]);
    s->tokens[s->n++] = token;
}

/* Sequence i of s, of which n_scored rows are scored; its tokens go to `tokens`. */
static struct pw_sample sample_of(const struct pw_samples *s, int i, int task, int *tokens)
{
    int from = s->b.start[i], rows = s->b.start[i + 1] - from;
    int at = s->seq_scored[i], n = s->seq_scored[i + 1] - at;
    struct pw_sample x = {.task = task, .n_prompt = rows - n + 1, .n = rows + 1, .tokens = tokens};
    memcpy(tokens, s->tokens + from, (size_t)rows * sizeof *tokens);
    tokens[rows] = s->targets[at + n - 1];
    return x;
}

/* What is known of an answer before it is decoded. */
static void begin(const struct pw_decoding *d, struct said *s, bool ahead)
{
    int n = s->x.n - s->x.n_prompt;
    memcpy(s->tokens, s->x.tokens, (size_t)s->x.n_prompt * sizeof *s->tokens);
    s->n = s->x.n_prompt;
    for (int k = 0; !ahead && k < n && !s->over; k++) {
        say(d, s, s->choices[k]);
        if (s->choices[k] != s->x.tokens[s->x.n_prompt + k])
            break;
    }
}

/* Where every token counts, nothing is said beyond the right answer. */
static int limit_of(const struct pw_lab *lab, const struct pw_arm *arm, const struct pw_sample *x)
{
    int most = arm->cfg.context + 1;
    int limit = pw_task_parsed(&lab->tasks.use[x->task]) ? pw_lab_answer_limit(lab, x) : x->n;
    return limit < most ? limit : most;
}

static enum pw_code make_lanes(struct pw_decoding *d, const struct pw_arm *arm, struct pw_err *err)
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

enum pw_code pw_decoding_begin(struct pw_decoding **out, struct pw_lab *lab, const struct pw_arm *arm,
                               const struct pw_samples *s, int task, int *choices, struct pw_err *err)
{
    struct pw_decoding *d = pw_alloc(1, sizeof *d);
    bool ahead = knows_ahead(arm);
    *d = (struct pw_decoding){.lab = lab, .n = s->b.n_seqs, .choices = choices};
    d->list = pw_alloc((size_t)d->n, sizeof *d->list);
    size_t right = (size_t)(s->b.n_rows + s->b.n_seqs), said = 0; /* a token more than rows each */
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
        begin(d, &d->list[i], ahead);
    }
    enum pw_code code = make_lanes(d, arm, err);
    if (code != PW_OK)
        pw_decoding_end(d);
    *out = code == PW_OK ? d : NULL;
    return code;
}

/* Gives lanes that wait the next answers that are not over; how many lanes have one: the first ones. */
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
        say(d, d->lanes[i].said, token);
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
