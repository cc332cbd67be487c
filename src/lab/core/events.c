/* events.c - emitting events: every effect becomes an event in the session and in the reader's queue
 * (queue.h). */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "lab/core/lab_int.h"
#include "lab/jobs/jobs.h"

struct pw_event *pw_lab_event(enum pw_event_kind kind, const struct pw_arm *arm)
{
    struct pw_event *e = pw_event_new(kind);
    e->t_ns = pw_wall_ns();
    e->arm = arm != NULL ? arm->id : 0;
    e->replicate = arm != NULL ? arm->replicate : 0;
    e->step = arm != NULL ? arm->step : 0;
    return e;
}

/* The lab's own snapshot holds series, evaluations and findings, which `export` and `judge` read, and the
 * ablated heads. The fold may take ownership of an event's arrays, so the snapshot gets a copy. */
bool pw_lab_keeps(const struct pw_event *e)
{
    return e->kind == PW_EV_STEP || e->kind == PW_EV_UPDATES || e->kind == PW_EV_EVAL ||
           e->kind == PW_EV_ARM || e->kind == PW_EV_DROP || e->kind == PW_EV_LAB || e->kind == PW_EV_HEADS ||
           e->kind == PW_EV_FINDING;
}

void pw_lab_fold(struct pw_lab *lab, const struct pw_event *e)
{
    if (!pw_lab_keeps(e))
        return;
    struct pw_event *copy = pw_event_copy(e);
    pw_fold(lab->record, copy);
    pw_event_free(copy);
}

void pw_lab_emit(struct pw_lab *lab, struct pw_event *e)
{
    if (pw_follow_takes(lab, e))
        return;
    /* assigned here, because other events may have been emitted since this one was created */
    e->seq = ++lab->seq;
    pw_lab_fold(lab, e);
    pw_session_put(lab, e);
    pthread_mutex_lock(&lab->lock);
    pw_queue_put(&lab->queue, e);
    pthread_mutex_unlock(&lab->lock);
    pw_lab_wake_reader(lab);
}

void pw_lab_wake_reader(const struct pw_lab *lab)
{
    uint64_t one = 1;
    if (write(lab->fd, &one, sizeof one) < 0) {
        /* the counter is full: the reader will wake anyway */
    }
}

void pw_lab_end_request(struct pw_lab *lab)
{
    pthread_mutex_lock(&lab->lock);
    pw_lines_drop_first(&lab->now);
    pw_queue_mark(&lab->queue);
    pthread_mutex_unlock(&lab->lock);
    pw_lab_wake_reader(lab);
}

void pw_lab_note(struct pw_lab *lab, const char *fmt, ...)
{
    struct pw_event *e = pw_lab_event(PW_EV_NOTE, NULL);
    char text[sizeof e->u.text];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    pw_text_copy(e->u.text, sizeof e->u.text, text);
    pw_lab_emit(lab, e);
}

/* Old sessions contain longer remarks, of which only the beginning was emitted. A re-run does the same. */
enum pw_code pw_lab_check_remark(const struct pw_lab *lab, const struct pw_command *cmd,
                                 const struct pw_args *args, struct pw_err *err)
{
    return pw_args_text(cmd, args, lab->follow != NULL ? PW_COMMAND : PW_REMARK, err);
}

void pw_lab_mark(struct pw_lab *lab, const char *text)
{
    struct pw_event *e = pw_lab_event(PW_EV_MARK, pw_lab_current(lab));
    pw_text_copy(e->u.text, sizeof e->u.text, text);
    pw_lab_emit(lab, e);
}

void pw_lab_note_lines(struct pw_lab *lab, const char *text)
{
    while (*text != '\0') {
        size_t n = strcspn(text, "\n");
        pw_lab_note(lab, "%.*s", (int)n, text);
        text += n + (text[n] == '\n');
    }
}

/* Epochs: training samples that the current arm has seen, divided by the number in an epoch. A mixture of
 * several sets uses the largest. */
static double epoch_of(struct pw_lab *lab)
{
    const struct pw_arm *arm = pw_lab_current(lab);
    int most = 0;
    for (int i = 0; i < lab->tasks.n; i++) {
        int n = pw_task_data(&lab->tasks.use[i], PW_SPLIT_TRAIN);
        most = n > most ? n : most;
    }
    return arm == NULL || most == 0 ? 0.0
                                    : (double)(arm->step * arm->optim.batch) / ((double)most * lab->tasks.n);
}

/* Write a working prompt of task i as the arguments of a command; "" if it can't be written so. */
static void view_prompt(const struct pw_taskset *set, int i, char *line, size_t size)
{
    struct pw_str text = {0};
    pw_taskset_example(set, i, &text);
    bool quoted = strpbrk(text.s, ";#") != NULL;
    if (strpbrk(text.s, "\"\n") == NULL && text.len + 3 <= size)
        snprintf(line, size, quoted ? "\"%s\"" : "%s", text.s);
    pw_str_fini(&text);
}

/* Fill in a task's description for the panes. */
static void view_task(const struct pw_task_use *use, struct pw_task_view *v)
{
    struct pw_range train = pw_task_train(use), test = pw_task_test(use);
    const struct pw_task_pairs *pairs = use->task->pairs;
    snprintf(v->name, sizeof v->name, "%s", use->task->name);
    v->train_lo = train.lo;
    v->train_hi = train.hi;
    v->test_lo = test.lo;
    v->test_hi = test.hi;
    v->data = pw_task_data(use, PW_SPLIT_TRAIN);
    const int most = sizeof v->share / sizeof *v->share;
    v->n_share = train.hi - train.lo < most ? train.hi - train.lo + 1 : most;
    for (int i = 0; i < v->n_share; i++)
        v->share[i] = (float)pw_task_share(use, train.lo + i);
    if (pairs == NULL)
        return;
    snprintf(v->axis[0], sizeof v->axis[0], "%s", pairs->a);
    snprintf(v->axis[1], sizeof v->axis[1], "%s", pairs->b);
    for (int length = train.lo; length <= train.hi; length++) {
        struct pw_pair at[PW_MAX_PAIRS];
        int n = pw_task_pairs_at(use, length, at);
        for (int i = 0; i < n; i++)
            for (int k = 0; k < 2; k++) {
                int x = k == 0 ? at[i].a : at[i].b;
                bool first = length == train.lo && i == 0;
                v->box_lo[k] = first || x < v->box_lo[k] ? x : v->box_lo[k];
                v->box_hi[k] = first || x > v->box_hi[k] ? x : v->box_hi[k];
            }
    }
}

void pw_lab_tell_lab(struct pw_lab *lab)
{
    struct pw_event *e = pw_lab_event(PW_EV_LAB, NULL);
    struct pw_ev_lab *l = &e->u.lab;
    struct pw_str text = {0};
    pw_taskset_print(&lab->tasks, &text);
    pw_text_copy(l->task, sizeof l->task, pw_str_text(&text));
    pw_str_fini(&text);
    snprintf(l->backend, sizeof l->backend, "%s: %s", lab->ops->name, lab->ops->device(lab->be));
    l->seed = lab->seed;
    l->n_tasks = lab->tasks.n;
    l->epoch = epoch_of(lab);
    for (int i = 0; i < lab->tasks.n; i++) {
        view_task(&lab->tasks.use[i], &l->tasks[i]);
        view_prompt(&lab->tasks, i, l->tasks[i].prompt, sizeof l->tasks[i].prompt);
    }
    pw_lab_emit(lab, e);
}

void pw_lab_tell_arm(struct pw_lab *lab, const struct pw_arm *arm, bool restarted)
{
    struct pw_event *e = pw_lab_event(PW_EV_ARM, arm);
    if (arm->id == lab->current)
        e->replicate = lab->replica;
    struct pw_ev_arm *a = &e->u.arm;
    struct pw_str text = {0};
    a->id = arm->id;
    a->current = arm->id == lab->current;
    snprintf(a->name, sizeof a->name, "%s", arm->pe.pe->name);
    pw_pe_print(&arm->pe, &text);
    pw_text_copy(a->pe, sizeof a->pe, pw_str_text(&text));
    pw_str_fini(&text);
    a->n_params = (int64_t)pw_model_size(arm->model);
    snprintf(a->model, sizeof a->model, "%s %dx%d, %d heads, %.0f k parameters", pw_lab_shape(arm),
             arm->cfg.layers, arm->cfg.width, arm->cfg.heads, (double)a->n_params / 1000.0);
    a->replicates = pw_lab_replicates(lab, arm->id);
    a->seed = arm->seed;
    a->step = arm->step;
    a->swaps = arm->swaps;
    a->layers = arm->cfg.layers;
    a->heads = arm->cfg.heads;
    a->width = arm->cfg.width;
    a->context = arm->cfg.context;
    a->restarted = restarted;
    a->parent = arm->parent;
    a->parent_step = arm->parent_step;
    a->own_batches = lab->own_batches && a->replicates > 1;
    pw_lab_emit(lab, e);
    for (int r = 1; restarted && r <= pw_lab_replicates(lab, arm->id); r++) {
        const struct pw_arm *replicate = pw_lab_replicate(lab, arm->id, r);
        if (pw_lab_heads_off(replicate)) /* of a fork */
            pw_lab_tell_heads(lab, replicate);
    }
}

void pw_lab_tell_state(struct pw_lab *lab)
{
    struct pw_event *e = pw_lab_event(PW_EV_STATE, NULL);
    int64_t left = 0, until = 0;
    for (int i = 0; i < PW_MAX_PLACES; i++) {
        const struct pw_arm *a = &lab->arms[i];
        if (a->model == NULL || !a->training)
            continue;
        left += a->goal - a->step;
        if (a->goal > until)
            until = a->goal;
    }
    /* arms may have different goals: show the current arm's next to its step */
    if (pw_lab_current(lab)->training)
        until = pw_lab_current(lab)->goal;
    bool training = pw_lab_training(lab);
    e->u.state.others = training && !pw_lab_current(lab)->training;
    e->u.state.run = !training ? PW_RUN_IDLE : lab->paused ? PW_RUN_PAUSED : PW_RUN_TRAINING;
    e->u.state.until = until;
    e->u.state.steps_per_s = training ? lab->rate : 0.0;
    e->u.state.eta_s = training && lab->rate > 0.0 ? (double)left / lab->rate : -1.0;
    e->u.state.epoch = epoch_of(lab);
    lab->t_state = pw_now();
    pw_lab_emit(lab, e);
}

void pw_lab_tell_job(struct pw_lab *lab, const char *name, enum pw_job_state state, int64_t done,
                     int64_t total)
{
    struct pw_event *e = pw_lab_event(PW_EV_JOB, NULL);
    snprintf(e->u.job.name, sizeof e->u.job.name, "%s", name);
    e->u.job.state = state;
    e->u.job.done = done;
    e->u.job.total = total;
    pw_lab_emit(lab, e);
}

void pw_lab_tell_digest(struct pw_lab *lab, const struct pw_arm *arm, char text[33])
{
    struct pw_event *e = pw_lab_event(PW_EV_DIGEST, arm);
    pw_model_digest(arm->model, e->u.digest);
    if (text != NULL)
        pw_digest_text(text, e->u.digest);
    pw_lab_emit(lab, e);
}
