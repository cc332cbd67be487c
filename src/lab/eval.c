/* eval.c - exact match by length, from teacher-forced passes.
 *
 * Greedy decoding reproduces the answer if and only if every teacher-forced argmax is right, so a length
 * curve needs no decoding (DESIGN section 4); tests/lab/test_lab.c holds the two against each other. Work is
 * cut into slices, so that commands are served in between. Sample k of a (task, length) is the same for all
 * arms and all times. */
#include <stdlib.h>

#include "lab/lab_int.h"

#define SLICE_S      0.04
#define BATCH        32 /* sequences a pass: the work between two looks at the clock */
#define LIVE_SAMPLES 64 /* standard error at most 6 % */

static void free_plan(struct pw_lab *lab)
{
    free(lab->eval.rows);
    lab->eval = (struct pw_eval_plan){0};
}

static void tell_job(struct pw_lab *lab, enum pw_job_state state)
{
    const struct pw_eval_plan *p = &lab->eval;
    pw_lab_tell_job(lab, "eval", state, (int64_t)p->at * p->n_rows + p->row, (int64_t)p->n * p->n_rows);
}

void pw_lab_eval_cancel(struct pw_lab *lab)
{
    if (lab->eval.n == 0)
        return;
    if (!lab->eval.live)
        tell_job(lab, PW_JOB_CANCELLED);
    free_plan(lab);
}

/* One row a task and length; lengths {0,0}: those that each task trains on and is tested on. */
static enum pw_code plan_rows(struct pw_lab *lab, struct pw_eval_plan *p, struct pw_range lengths,
                              struct pw_err *err)
{
    int cap = 0, context = PW_MAX_ITEM;
    for (int i = 0; i < PW_MAX_ARMS; i++)
        if (lab->arms[i].model != NULL && lab->arms[i].cfg.context < context)
            context = lab->arms[i].cfg.context;
    for (int t = 0; t < lab->tasks.n; t++) {
        const struct pw_task_use *use = &lab->tasks.use[t];
        struct pw_range r = lengths, limits = use->task->length_limits;
        bool asked = lengths.hi > 0;
        if (!asked)
            r = (struct pw_range){pw_task_train(use).lo, pw_task_test(use).hi};
        if (asked && (r.lo < limits.lo || r.hi > limits.hi))
            return pw_fail(err, PW_EUSER, "eval: lengths=%d..%d: %s has lengths %d..%d", r.lo, r.hi,
                           use->task->name, limits.lo, limits.hi);
        int rows = pw_lab_rows_at(lab, t, r.hi);
        if (rows > context)
            return pw_fail(err, PW_EUSER,
                           "eval: length %d of %s takes %d positions, the model has %d: 'model context=%d'",
                           r.hi, use->task->name, rows, context, rows);
        for (int length = r.lo; length <= r.hi; length++) {
            if (!asked && length > pw_task_train(use).hi && length < pw_task_test(use).lo)
                continue;
            if (!pw_task_has(use, length))
                continue;
            if (p->n_rows == cap) {
                cap = cap > 0 ? 2 * cap : 64;
                struct pw_eval_row *rows_new = realloc(p->rows, (size_t)cap * sizeof *rows_new);
                if (rows_new == NULL)
                    return pw_fail(err, PW_ENOMEM, "eval: out of memory");
                p->rows = rows_new;
            }
            p->rows[p->n_rows++] = (struct pw_eval_row){.task = t, .length = length};
        }
    }
    if (p->n_rows == 0) /* of a file */
        return pw_fail(err, PW_EUSER, "eval: lengths=%d..%d: there are no such lines", lengths.lo,
                       lengths.hi);
    return PW_OK;
}

static void add_arm(struct pw_lab *lab, struct pw_eval_plan *p, int id)
{
    struct pw_arm *a;
    for (int r = 1; p->n < PW_MAX_PLACES && (a = pw_lab_replicate(lab, id, r)) != NULL; r++)
        p->place[p->n++] = (int)(a - lab->arms);
}

enum pw_code pw_lab_eval(struct pw_lab *lab, struct pw_range lengths, int samples, struct pw_err *err)
{
    struct pw_eval_plan p = {.samples = samples};
    enum pw_code code = plan_rows(lab, &p, lengths, err);
    if (code != PW_OK) {
        free(p.rows);
        return code;
    }
    for (int id = 1; id <= PW_MAX_ARMS; id++)
        add_arm(lab, &p, id);
    pw_lab_eval_cancel(lab);
    lab->eval = p;
    tell_job(lab, PW_JOB_RUNNING);
    return PW_OK;
}

/* Adds arm to the evaluation that runs beside training, or begins one. */
void pw_lab_eval_live(struct pw_lab *lab, struct pw_arm *arm)
{
    struct pw_eval_plan *p = &lab->eval;
    if (p->n > 0 && !p->live)
        return;
    if (p->n == 0) {
        *p = (struct pw_eval_plan){.live = true, .samples = LIVE_SAMPLES};
        if (plan_rows(lab, p, (struct pw_range){0, 0}, NULL) != PW_OK) {
            free_plan(lab);
            return;
        }
    }
    add_arm(lab, p, arm->id);
}

/* Samples from..from+n-1 of one row. */
static enum pw_code eval_part(struct pw_lab *lab, struct pw_arm *arm, enum pw_split split, uint64_t from,
                              int n, struct pw_eval_row *row, struct pw_err *err)
{
    struct pw_samples *s = &lab->scratch;
    pw_samples_fill(s, &lab->tasks, lab->seed, split, from, n, row->task, row->length);
    int *best = malloc((size_t)s->b.n_scored * sizeof *best);
    if (best == NULL)
        return pw_fail(err, PW_ENOMEM, "eval: out of memory");
    enum pw_code code = pw_model_eval(arm->model, &s->b, best, NULL, err);
    for (int i = 0; code == PW_OK && i < n; i++) {
        int right = 0, all = s->seq_scored[i + 1] - s->seq_scored[i];
        for (int k = s->seq_scored[i]; k < s->seq_scored[i + 1]; k++)
            right += best[k] == s->targets[k];
        row->exact += right == all;
        row->tokens += all;
        row->tokens_right += right;
        row->samples++;
    }
    free(best);
    return code;
}

/* A replicate's rows are complete: tell them, begin the next one. */
static void end_replicate(struct pw_lab *lab, struct pw_arm *arm)
{
    struct pw_eval_plan *p = &lab->eval;
    struct pw_event *e = pw_lab_event(lab, PW_EV_EVAL, arm);
    e->u.eval.n = p->n_rows;
    e->u.eval.live = p->live;
    e->u.eval.rows = malloc((size_t)p->n_rows * sizeof *e->u.eval.rows);
    if (e->u.eval.rows == NULL)
        abort();
    for (int i = 0; i < p->n_rows; i++) {
        e->u.eval.rows[i] = p->rows[i];
        p->rows[i] = (struct pw_eval_row){.task = p->rows[i].task, .length = p->rows[i].length};
    }
    pw_lab_emit(lab, e);
    p->row = 0;
    p->at++;
}

void pw_lab_eval_slice(struct pw_lab *lab)
{
    struct pw_eval_plan *p = &lab->eval;
    double end = pw_lab_now() + SLICE_S;
    while (p->at < p->n && pw_lab_now() < end) {
        struct pw_arm *arm = &lab->arms[p->place[p->at]]; /* is there: whoever drops it cancels this first */
        struct pw_eval_row *row = &p->rows[p->row];
        int n = p->samples - row->samples < BATCH ? p->samples - row->samples : BATCH;
        struct pw_err err;
        enum pw_code code = eval_part(lab, arm, PW_SPLIT_TEST, (uint64_t)row->samples, n, row, &err);
        if (code != PW_OK) {
            pw_lab_eval_cancel(lab);
            pw_lab_trouble(lab, &err);
            return;
        }
        if (row->samples == p->samples && ++p->row == p->n_rows)
            end_replicate(lab, arm);
    }
    if (!p->live)
        tell_job(lab, p->at < p->n ? PW_JOB_RUNNING : PW_JOB_DONE);
    if (p->at == p->n)
        free_plan(lab);
}

enum pw_code pw_lab_valid(struct pw_lab *lab, struct pw_arm *arm, int n, double *exact, struct pw_err *err)
{
    struct pw_eval_row row = {0};
    for (int from = 0; from < n; from += BATCH) {
        enum pw_code code = eval_part(lab, arm, PW_SPLIT_VALID, (uint64_t)from,
                                      n - from < BATCH ? n - from : BATCH, &row, err);
        if (code != PW_OK)
            return code;
    }
    *exact = (double)row.exact / row.samples;
    return PW_OK;
}
