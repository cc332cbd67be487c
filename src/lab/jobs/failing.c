/* failing.c - examples that a replica failed in its last evaluation: list them, or pin one.
 *
 * An evaluation keeps which samples failed, not how. So the few listed samples are answered again with the
 * present weights. An arm that has trained since may answer one of them right now, and the list reports
 * that. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "lab/arms/arms.h"
#include "lab/core/lab_int.h"
#include "lab/jobs/evals.h"
#include "lab/looks/looks.h"

static const struct pw_replica_view *seen_of(const struct pw_lab *lab, const struct pw_replica *arm)
{
    return &lab->record->arms[arm->id - 1].rep[arm->replica - 1];
}

/* Find the row; task -1: any, length 0: the first row with a failure. NULL fills err. */
static const struct pw_eval_row *find_row(struct pw_lab *lab, const struct pw_replica *arm, int task,
                                          int length, struct pw_err *err)
{
    const struct pw_ev_eval *e = &seen_of(lab, arm)->eval;
    int id = arm->id;
    if (e->n == 0) {
        pw_fail(err, PW_EUSER, "failing: arm %d has no evaluation yet; run 'eval' first", id);
        return NULL;
    }
    if (pw_eval_runs(e)) {
        pw_fail(err, PW_EUSER,
                "failing: %s has no right and wrong samples; 'eval' gives the loss by length and by position",
                lab->tasks.use[0].task->name);
        return NULL;
    }
    if (e->draw != pw_lab_draw(lab)) {
        pw_fail(err, PW_EUSER, "failing: arm %d was evaluated on another task or seed; run 'eval' first", id);
        return NULL;
    }
    for (int i = 0; i < e->n; i++) {
        const struct pw_eval_row *r = &e->rows[i];
        if ((task < 0 || r->task == task) && (length > 0 ? r->length == length : r->exact < r->samples))
            return r;
    }
    if (length > 0)
        pw_fail(err, PW_EUSER, "failing: length %d was not evaluated; run 'eval lengths=%d' first", length,
                length);
    else
        pw_fail(err, PW_EUSER, "failing: arm %d has no failing example: its last evaluation is all right",
                id);
    return NULL;
}

/* Return the token as it appears in a text, with a blank in front. */
static const char *word(const struct pw_lab *lab, int token)
{
    return lab->tasks.vocab.words[token];
}

/* Compute the arm's answer to the sample in lab->scratch up to its first wrong token: choices, with its place
 * and kind of error. place -1: the answer is right. */
static enum pw_code answer(struct pw_lab *lab, struct pw_replica *arm, int task, int *choices, int *place,
                           enum pw_error *kind, struct pw_err *err)
{
    struct pw_samples *s = &lab->scratch;
    struct pw_decoding *d = NULL;
    struct pw_decoded x;
    int n = s->b.n_scored;
    enum pw_code code = pw_model_eval(arm->model, &s->b, choices, NULL, err);
    if (code != PW_OK || !pw_lab_decodes(lab, arm, task)) {
        *place = code == PW_OK ? pw_eval_first_error(choices, s->targets, n, kind) : -1;
        return code;
    }
    int *taken = pw_alloc((size_t)n, sizeof *taken);
    memcpy(taken, choices, (size_t)n * sizeof *taken);
    code = pw_decoding_begin(&d, lab, arm, s, task, taken, err);
    while (code == PW_OK && !pw_decoding_over(d))
        code = pw_decoding_go_on(d, err);
    if (code == PW_OK && pw_decoding_at(d, 0, &x)) {
        *place = x.well ? -1 : pw_eval_first_error(x.said, s->targets, n, kind);
        memcpy(choices, x.well ? x.right : x.said, (size_t)(x.well ? n : *place + 1) * sizeof *choices);
    }
    pw_decoding_end(d);
    return code;
}

/* Answer sample `index` of a row, and describe its error. */
static enum pw_code describe(struct pw_lab *lab, struct pw_replica *arm, const struct pw_eval_row *row,
                             int index, struct pw_failing *x, struct pw_err *err)
{
    struct pw_samples *s = &lab->scratch;
    struct pw_str prompt = {0}, right = {0}, model = {0};
    pw_samples_fill(s, &lab->tasks, lab->seed, PW_SPLIT_TEST, (uint64_t)index, 1, row->task, row->length);
    int n = s->b.n_scored, *choices = pw_alloc((size_t)n, sizeof *choices);
    *x = (struct pw_failing){.index = index, .n_answer = n, .place = -1};
    enum pw_code code = answer(lab, arm, row->task, choices, &x->place, &x->kind, err);
    int end = x->place < 0 ? n - 1 : x->place;
    for (int k = 0; k <= end && code == PW_OK; k++)
        pw_str_add(&model, "%s", word(lab, choices[k]));
    if (x->place >= 0) {
        pw_lab_label(lab, choices[x->place], x->got);
        pw_lab_label(lab, s->targets[x->place], x->want);
    }
    for (int k = 0; k < n; k++)
        pw_str_add(&right, "%s", word(lab, s->targets[k]));
    for (int k = 0; k <= s->b.n_rows - n; k++)
        pw_str_add(&prompt, "%s", word(lab, s->tokens[k]));
    const char *skip = pw_str_text(&right), *from = pw_str_text(&model);
    pw_text_copy(x->prompt, sizeof x->prompt, pw_str_text(&prompt));
    pw_text_copy(x->right, sizeof x->right, skip + (*skip == ' '));
    pw_text_copy(x->model, sizeof x->model, from + (*from == ' '));
    pw_str_fini(&prompt);
    pw_str_fini(&right);
    pw_str_fini(&model);
    free(choices);
    return code;
}

enum pw_code pw_lab_failing(struct pw_lab *lab, struct pw_replica *arm, int task, int length, int n,
                            struct pw_err *err)
{
    const struct pw_replica_view *seen = seen_of(lab, arm);
    const struct pw_eval_row *row = find_row(lab, arm, task, length, err);
    enum pw_code code = PW_OK;
    if (row == NULL)
        return PW_EUSER;
    struct pw_event *e = pw_lab_event(PW_EV_FAILING, arm);
    struct pw_ev_failing *f = &e->u.failing;
    *f = (struct pw_ev_failing){.task = row->task,
                                .length = row->length,
                                .failed = row->samples - row->exact,
                                .samples = row->samples,
                                .eval_step = seen->eval_step,
                                .list = pw_alloc((size_t)n, sizeof *f->list)};
    for (int i = pw_eval_failing(&seen->eval, row, 0); i >= 0 && f->n < n && code == PW_OK;
         i = pw_eval_failing(&seen->eval, row, i + 1))
        code = describe(lab, arm, row, i, &f->list[f->n++], err);
    if (code != PW_OK) {
        pw_event_free(e);
        return code;
    }
    pw_lab_emit(lab, e);
    return PW_OK;
}

enum pw_code pw_lab_pin_failing(struct pw_lab *lab, int task, int length, int index, struct pw_err *err)
{
    const struct pw_replica *arm = pw_lab_inspected(lab);
    const struct pw_eval_row *row = find_row(lab, arm, task, length, err);
    if (row == NULL)
        return PW_EUSER;
    if (index >= row->samples)
        return pw_fail(err, PW_EUSER, "failing: index=%d: length %d has samples 0..%d", index, row->length,
                       row->samples - 1);
    const char *name = lab->tasks.use[row->task].task->name;
    enum pw_code code =
        pw_lab_sample(lab, name, (struct pw_move){.n = row->length}, (struct pw_move){.n = index}, err);
    if (code != PW_OK)
        return code;
    lab->pin.stop_at_wrong = !pw_task_parsed(&lab->tasks.use[row->task]);
    pw_lab_note(lab, "pinned sample %d of %s, length %d%s; decoding %s", index, name, row->length,
                pw_eval_right(&seen_of(lab, arm)->eval, row, index) ? " (right in the last evaluation)" : "",
                lab->pin.stop_at_wrong ? "stops at its first wrong token"
                                       : "continues to the answer; only the answer counts");
    return PW_OK;
}
