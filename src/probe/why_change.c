/* why_change.c - answers samples with a changed copy of the subject's model. The arm itself is not changed,
 * and a step of it that has yielded is not lost.
 *
 * A copy is made once. Options of the encoding and an ablated head are set back on it; after other changes it
 * is made again. */
#include <stdlib.h>

#include "probe/why.h"

/* Sets back the change that the copy has, or drops the copy. */
static void set_back(struct pw_why_state *s, const struct pw_model *from)
{
    const struct pw_why_candidate *c = s->changed >= 0 ? &s->list[s->changed] : NULL;
    int H = pw_model_config(from)->heads;
    if (c == NULL)
        return;
    if (c->kind == PW_WHY_TUNE) {
        pw_model_tune(s->copy, pw_model_pe(from));
    } else if (c->kind == PW_WHY_ABLATE) {
        pw_model_restore_head(s->copy, c->head / H, c->head % H);
    } else if (c->kind == PW_WHY_VALUES || c->kind == PW_WHY_SWAP || c->kind == PW_WHY_RESTORE) {
        pw_model_destroy(s->copy);
        s->copy = NULL;
    }
    s->changed = s->copy != NULL ? 0 : -1;
}

static void restore_heads(struct pw_model *m, int head)
{
    int H = pw_model_config(m)->heads, n = pw_model_config(m)->layers * H;
    for (int h = 0; h < n; h++)
        if ((head < 0 || h == head) && pw_model_replaced(m, h / H, h % H) != 0)
            pw_model_restore_head(m, h / H, h % H);
}

enum pw_code pw_why_change(struct pw_why_state *s, const struct pw_probe_in *in, int candidate,
                           struct pw_err *err)
{
    struct pw_model *from = in->subject[0].model;
    const struct pw_why_candidate *c = &s->list[candidate];
    int H = pw_model_config(from)->heads;
    enum pw_code code = PW_OK;
    if (s->changed == candidate)
        return PW_OK;
    set_back(s, from);
    if (c->kind == PW_WHY_SWAP) {
        pw_model_destroy(s->copy);
        s->copy = NULL;
        code = pw_model_swap(&s->copy, from, &c->use, 0, false, err);
        if (code == PW_OK && c->values != NULL)
            code = pw_model_put_encoding(s->copy, c->values, err);
    } else if (s->copy == NULL)
        code = pw_model_clone(&s->copy, from, in->ops, in->be, err);
    if (code != PW_OK)
        return code;
    s->changed = candidate;
    switch (c->kind) {
    case PW_WHY_NOTHING:
    case PW_WHY_END:
    case PW_WHY_SWAP:
    case PW_WHY_PATTERN:
    case PW_WHY_GOLD: break;
    case PW_WHY_TUNE: pw_model_tune(s->copy, &c->use); break;
    case PW_WHY_VALUES: code = pw_model_put_encoding(s->copy, c->values, err); break;
    case PW_WHY_RESTORE: restore_heads(s->copy, c->head); break;
    case PW_WHY_ABLATE:
        code = pw_model_replace_head(s->copy, c->head / H, c->head % H, 1, NULL, err);
        if (code != PW_OK)
            s->changed = 0;
        break;
    }
    return code;
}

/* Is a choice of this sequence the end mark, before the last scored row? */
static bool ends_early(const int *choices, const int *scored, int seq)
{
    for (int t = scored[seq]; t < scored[seq + 1] - 1; t++)
        if (choices[t] == PW_WHY_END_MARK)
            return true;
    return false;
}

/* Replaces the choices of one sequence by the most probable tokens other than the end mark. */
static enum pw_code choose_without_end(struct pw_model *m, const struct pw_batch *b, const int *scored,
                                       int seq, int *choices, struct pw_err *err)
{
    int from = b->start[seq], T = b->start[seq + 1] - from, V = pw_model_config(m)->vocab;
    float *logits = malloc((size_t)T * (size_t)V * sizeof *logits);
    if (logits == NULL)
        return pw_fail(err, PW_ENOMEM, "probe why: out of memory for the logits of %d tokens", T);
    enum pw_code code =
        pw_model_inspect(m, b->tokens + from, T, &(struct pw_inspection){.logits = logits}, err);
    for (int t = scored[seq]; code == PW_OK && t < scored[seq + 1] - 1; t++) {
        const float *row = logits + (size_t)(b->rows[t] - from) * (size_t)V;
        int best = 0;
        for (int i = 1; i < V; i++)
            if (i != PW_WHY_END_MARK && row[i] > row[best])
                best = i;
        choices[t] = best;
    }
    free(logits);
    return code;
}

enum pw_code pw_why_answer(struct pw_why_state *s, const struct pw_probe_in *in, int length, int64_t first,
                           const struct pw_batch *b, const int *scored, int *choices, struct pw_err *err)
{
    const struct pw_why_candidate *c = &s->list[s->changed];
    if (c->kind == PW_WHY_GOLD) {
        enum pw_code gold = PW_OK;
        for (int i = 0; gold == PW_OK && i < b->n_seqs; i++)
            gold = pw_why_answer_gold(s->copy, in, c->head, length, first + i, choices + scored[i], err);
        return gold;
    }
    if (c->kind == PW_WHY_PATTERN) {
        enum pw_code pattern = PW_OK;
        for (int i = 0; pattern == PW_OK && i < b->n_seqs; i++)
            pattern = pw_why_answer_pattern(s, c, b, scored, i, choices, err);
        return pattern;
    }
    enum pw_code code = pw_model_eval(s->copy, b, choices, NULL, err);
    if (c->kind != PW_WHY_END)
        return code;
    for (int i = 0; code == PW_OK && i < b->n_seqs; i++) {
        int last = scored[i + 1] - 1;
        if (b->targets[last] == PW_WHY_END_MARK)
            choices[last] = PW_WHY_END_MARK;
        if (ends_early(choices, scored, i))
            code = choose_without_end(s->copy, b, scored, i, choices, err);
    }
    return code;
}
