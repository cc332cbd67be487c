/* tell.c - the events that describe the lab: its task, its arms, and how far training is. */
#include <stdio.h>
#include <string.h>

#include "lab/arms/arms.h"
#include "lab/core/lab_int.h"

void pw_lab_mark(struct pw_lab *lab, const char *text)
{
    struct pw_event *e = pw_lab_event(PW_EV_MARK, pw_lab_current(lab));
    pw_text_copy(e->u.text, sizeof e->u.text, text);
    pw_lab_emit(lab, e);
}

/* Epochs: training samples that the current arm has seen, divided by the number in an epoch. A mixture of
 * several sets uses the largest. */
static double epoch_of(struct pw_lab *lab)
{
    const struct pw_replica *arm = pw_lab_current(lab);
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
    const char *s = pw_str_text(&text);
    bool quoted = strpbrk(s, ";#") != NULL;
    if (strpbrk(s, "\"\n") == NULL && text.len + 3 <= size)
        snprintf(line, size, quoted ? "\"%s\"" : "%s", s);
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
    v->runs = use->task->window != NULL;
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

void pw_lab_emit_lab(struct pw_lab *lab)
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

void pw_lab_emit_arm(struct pw_lab *lab, const struct pw_replica *arm, bool restarted)
{
    struct pw_event *e = pw_lab_event(PW_EV_ARM, arm);
    if (arm->id == lab->current)
        e->replica = lab->replica;
    struct pw_ev_arm *a = &e->u.arm;
    struct pw_str text = {0};
    a->id = arm->id;
    a->current = arm->id == lab->current;
    snprintf(a->name, sizeof a->name, "%s", arm->pe.pe->name);
    pw_pe_print(&arm->pe, &text);
    pw_text_copy(a->pe, sizeof a->pe, pw_str_text(&text));
    pw_str_fini(&text);
    a->n_params = (int64_t)pw_model_size(arm->model);
    char adapter[32];
    pw_lab_adapter_text(adapter, arm);
    snprintf(a->model, sizeof a->model, "%s %dx%d, %d heads%s, %.0f k parameters", pw_lab_shape(arm),
             arm->cfg.layers, arm->cfg.width, arm->cfg.heads, adapter, (double)a->n_params / 1000.0);
    a->replicas = pw_lab_n_replicas(lab, arm->id);
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
    a->own_batches = lab->own_batches && a->replicas > 1;
    pw_lab_emit(lab, e);
    for (int r = 1; restarted && r <= pw_lab_n_replicas(lab, arm->id); r++) {
        const struct pw_replica *replica = pw_lab_replica(lab, arm->id, r);
        if (pw_lab_heads_off(replica)) /* of a fork */
            pw_lab_emit_heads(lab, replica);
    }
}

void pw_lab_emit_state(struct pw_lab *lab)
{
    struct pw_event *e = pw_lab_event(PW_EV_STATE, NULL);
    int64_t left = 0, until = 0;
    for (int i = 0; i < PW_MAX_PLACES; i++) {
        const struct pw_replica *a = &lab->replicas[i];
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

void pw_lab_emit_digest(struct pw_lab *lab, const struct pw_replica *arm, char text[33])
{
    struct pw_event *e = pw_lab_event(PW_EV_DIGEST, arm);
    pw_model_digest(arm->model, e->u.digest);
    if (text != NULL)
        pw_digest_text(text, e->u.digest);
    pw_lab_emit(lab, e);
}

struct pw_checkpoint_info pw_lab_describe(const struct pw_lab *lab, const struct pw_replica *arm, char *task)
{
    return (struct pw_checkpoint_info){.vocab = lab->tasks.vocab.words,
                                       .n_vocab = lab->tasks.vocab.n,
                                       .task = task,
                                       .optim = arm->optim,
                                       .seed = arm->seed,
                                       .step = arm->step};
}

void pw_lab_emit_all(struct pw_lab *lab, bool restarted)
{
    for (int i = 0; i < PW_MAX_ARMS; i++)
        if (lab->replicas[i].model != NULL)
            pw_lab_emit_arm(lab, &lab->replicas[i], restarted);
    pw_lab_emit_state(lab);
}
