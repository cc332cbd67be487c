/* train.c - training of all arms, one step at a time.
 *
 * Step t (from 0) of any arm uses samples t*B .. t*B+B-1 of the training split, B its batch. So racing arms
 * see the same batches in the same order, and the position in the data is a number. With own batches each
 * replica of an arm sees samples of its own seed; replicas of the same number in all arms see the same
 * samples.
 *
 * Training runs in rounds: a step of the first replica of every arm, then of the second ones. So they share a
 * batch, and none gets ahead. With `set share flops` a round is one step of the arm that has spent the fewest
 * operations.
 *
 * A waiting line is served between two blocks of a step. The step continues afterwards if its model and batch
 * are unchanged; otherwise the model drops it and it is computed again. The round continues too: due replicas
 * take their steps first. If `stop` interrupted a round, the next `train` begins with the rest of it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lab/arms/arms.h"
#include "lab/core/lab_int.h"
#include "lab/jobs/evals.h"
#include "lab/jobs/watch.h"
#include "lab/looks/looks.h"
#include "lab/train/train.h"

#define CHECK_SAMPLES 256
#define UPDATES_EVERY 10   /* steps between update-to-weight ratios */
#define DIGEST_EVERY  100  /* steps between digests of the parameters */
#define STATE_S       0.1  /* seconds between state events */
#define LIVE_S        0.5  /* seconds between live inspections of the pinned prompt */
#define LIVE_SHARE    0.03 /* largest share of time spent on them */
#define EVAL_SHARE    0.1  /* and on live evaluations, except the one at the end of training */

/* Estimate the step at which a budget of operations will be used up, from the mean of the steps so far, or
 * from the first one. */
static int64_t budget_goal(struct pw_lab *lab, const struct pw_replica *a)
{
    int64_t steps = a->step - a->flops_from;
    double left = a->until_value - (double)a->flops;
    double each = steps > 0 ? (double)a->flops / (double)steps
                            : (double)pw_model_flops(&a->cfg, a->pe.pe, pw_lab_batch(lab, a, a->step));
    double more = left > 0.0 ? ceil(left / each) : 0.0;
    return a->step + (more < 1e15 ? (int64_t)more : (int64_t)1e15);
}

/* Give all replicas of an arm the largest of their goals. With own batches they differ in operations spent.
 */
static void share_goal(struct pw_lab *lab, int id)
{
    int64_t goal = 0;
    struct pw_replica *a;
    for (int r = 1; (a = pw_lab_replica(lab, id, r)) != NULL; r++)
        goal = a->goal > goal ? a->goal : goal;
    for (int r = 1; (a = pw_lab_replica(lab, id, r)) != NULL; r++)
        a->goal = goal;
}

/* The replicas of an arm train together. An interrupted round may have taken some of them to the goal, or
 * some may have used up their budget: they wait for the others. */
static void train_together(struct pw_lab *lab, int id, const struct pw_goal *g)
{
    bool training = false;
    struct pw_replica *a;
    if (g->replica == 0 && (g->arm == 0 || g->arm == id))
        share_goal(lab, id);
    for (int r = 1; (a = pw_lab_replica(lab, id, r)) != NULL; r++)
        training = training || a->training;
    for (int r = 1; training && (a = pw_lab_replica(lab, id, r)) != NULL; r++) {
        a->met = !a->training && a->budget; /* its budget is used up */
        a->seen = a->met ? (double)a->flops : a->seen;
        a->training = true;
    }
}

/* Set a's goal and condition. */
static void aim(struct pw_lab *lab, struct pw_replica *a, const struct pw_goal *g)
{
    int64_t now = a->step + a->due, from = a->training ? a->goal : now;
    double spent = a->training && a->until == PW_UNTIL_FLOPS ? a->until_value : (double)a->flops;
    a->until = g->until == PW_UNTIL_MORE_FLOPS ? PW_UNTIL_FLOPS : g->until;
    a->until_value = g->until == PW_UNTIL_MORE_FLOPS ? spent + g->value : g->value;
    a->budget = g->n == 0 && a->until == PW_UNTIL_FLOPS;
    if (g->n > 0)
        a->goal = from + g->n;
    else if (g->until == PW_UNTIL_STEP)
        a->goal = g->value > 0.0 ? (int64_t)g->value : a->optim.steps;
    else if (a->budget)
        a->goal = budget_goal(lab, a);
    else
        a->goal = now + 10 * (int64_t)a->optim.steps;
    a->goal -= g->replica > 0 && a->replica > g->replica;
    a->seen = NAN;
    a->met = a->checking = false;
    a->training = a->goal > a->step;
}

/* Emit a note if arms that begin to train can read the answers that they are trained to give. */
static void note_unmasked(struct pw_lab *lab)
{
    bool unmasked = false;
    int t = 0;
    for (int i = 0; i < PW_MAX_PLACES; i++)
        unmasked = unmasked || (lab->replicas[i].model != NULL && lab->replicas[i].training &&
                                !lab->replicas[i].cfg.causal);
    while (t < lab->tasks.n && pw_taskset_single(&lab->tasks, t))
        t++;
    if (unmasked && t < lab->tasks.n)
        pw_lab_note(lab,
                    "causal=off: in training the model sees the answers of %s, so the loss does not predict "
                    "decoding; use 'eval', or a task with answers of one token (session)",
                    lab->tasks.use[t].task->name);
}

enum pw_code pw_lab_train(struct pw_lab *lab, const struct pw_goal *g, struct pw_err *err)
{
    struct pw_replica fresh[PW_MAX_PLACES]; /* a goal that has been reached changes nothing */
    bool any = false, was = pw_lab_training(lab);
    if (g->until == PW_UNTIL_ACC && pw_taskset_runs(&lab->tasks))
        return pw_fail(err, PW_EUSER, "train: until acc: %s has no right answers to count; use until loss=X",
                       lab->tasks.use[0].task->name);
    memcpy(fresh, lab->replicas, sizeof fresh);
    for (int i = 0; i < PW_MAX_PLACES; i++) {
        struct pw_replica *a = &fresh[i];
        if (a->model == NULL || (g->arm != 0 && a->id != g->arm))
            continue;
        aim(lab, a, g);
        any = any || (a->training && (g->replica == 0 || a->replica == g->replica));
    }
    if (!any && g->arm != 0)
        return pw_fail(err, PW_EUSER, "arm %d has reached this goal; 'train N arm=%d' trains N more steps",
                       g->arm, g->arm);
    if (!any)
        return pw_fail(err, PW_EUSER,
                       "every arm has reached this goal; 'train N' trains N more steps, 'train flops=X' X "
                       "operations, 'reset' restarts, 'optim steps=N' moves the end");
    enum pw_code code = pw_lab_check_first_steps(lab, fresh, err);
    if (code != PW_OK)
        return code;
    memcpy(lab->replicas, fresh, sizeof fresh);
    for (int id = 1; id <= PW_MAX_ARMS; id++)
        train_together(lab, id, g);
    lab->paused = false;
    lab->allowed = 0;
    lab->rate_t = pw_now();
    lab->rate_steps = lab->steps_done;
    lab->rate = 0.0;
    pw_lab_emit_state(lab);
    if (!was)
        note_unmasked(lab);
    pw_lab_note_first_steps(lab);
    return PW_OK;
}

void pw_lab_set_share(struct pw_lab *lab, enum pw_share share)
{
    lab->share = share;
}

void pw_lab_pause(struct pw_lab *lab, bool paused)
{
    lab->paused = paused;
    lab->allowed = 0;
    lab->rate_t = pw_now();
    lab->rate_steps = lab->steps_done;
    pw_lab_emit_state(lab);
    pw_lab_refresh(lab, true);
}

void pw_lab_step(struct pw_lab *lab, int64_t n)
{
    lab->allowed += n;
}

void pw_lab_stop(struct pw_lab *lab, const char *why)
{
    bool was = pw_lab_training(lab);
    for (int i = 0; i < PW_MAX_PLACES; i++)
        lab->replicas[i].training = lab->replicas[i].checking = false;
    lab->paused = false;
    pw_jobs_cancel(lab, PW_CHANGE_ANY);
    if (was)
        pw_lab_emit_state(lab);
    if (was && why[0] != '\0')
        pw_lab_note(lab, "%s", why);
}

static void end_training(struct pw_lab *lab, int id)
{
    struct pw_replica *a;
    for (int r = 1; (a = pw_lab_replica(lab, id, r)) != NULL; r++)
        a->training = a->checking = false;
}

/* Does this loss satisfy replica a's `until` condition? Once is enough. For acc this starts a measurement in
 * slices. */
static void check_until(struct pw_lab *lab, struct pw_replica *a, double loss)
{
    if (a->met)
        return;
    if (a->until == PW_UNTIL_LOSS) {
        a->seen = loss;
        a->met = loss <= a->until_value;
    } else if (a->until == PW_UNTIL_ACC && (a->step % PW_CHECK_EVERY == 0 || a->step >= a->goal)) {
        a->checking = true;
        a->check_of = pw_lab_valid_samples(lab, CHECK_SAMPLES);
        a->check = (struct pw_eval_row){0};
    } else if (a->until == PW_UNTIL_FLOPS) {
        a->seen = (double)a->flops;
        a->met = a->seen >= a->until_value;
        a->goal = a->budget ? budget_goal(lab, a) : a->goal;
    }
}

static enum pw_code look_at_acc(struct pw_lab *lab, struct pw_replica *a, struct pw_err *err)
{
    enum pw_code code = pw_lab_valid_slice(lab, a, a->check_of, &a->check, false, err);
    if (code != PW_OK || a->check.samples < a->check_of)
        return code;
    a->checking = false;
    a->seen = (double)a->check.exact / a->check.samples;
    a->met = a->seen >= a->until_value;
    return PW_OK;
}

void pw_lab_end_checks(struct pw_lab *lab)
{
    for (int i = 0; i < PW_MAX_PLACES; i++) {
        struct pw_replica *a = &lab->replicas[i];
        if (a->model != NULL && a->checking) /* an error will recur in the next slice */
            pw_lab_valid_slice(lab, a, a->check_of, &a->check, true, NULL);
    }
}

/* End an arm's training when its goal is reached, or when all replicas satisfy the condition: they stay in
 * step. A budget has no other end, and its goal follows the replica that has most of it left. A goal that was
 * reached without satisfying the condition is an error. */
static void check_end(struct pw_lab *lab, const struct pw_replica *first)
{
    const struct pw_replica *a,
        *worst = first; /* a replica that still waits is worse than one that does not */
    static const char *const names[] = {"step", "acc", "loss", "flops"}; /* enum pw_until */
    const char *what = names[first->until];
    bool met = true;
    int n = 0;
    for (; (a = pw_lab_replica(lab, first->id, n + 1)) != NULL; n++) {
        met = met && a->met;
        if (first->until == PW_UNTIL_LOSS ? a->seen > worst->seen : a->seen < worst->seen)
            worst = a;
    }
    struct pw_err err;
    char of[32] = "";
    if (!met && first->budget)
        share_goal(lab, first->id);
    if (!met && (first->budget || first->step < first->goal))
        return;
    end_training(lab, first->id);
    if (n > 1)
        snprintf(of, sizeof of, first->until == PW_UNTIL_FLOPS ? " each of n=%d" : ", the worst of n=%d,", n);
    if (met) {
        pw_lab_note(lab, "arm %d (%s): %s %.4g%s at step %lld", first->id, first->pe.pe->name, what,
                    worst->seen, of, (long long)first->step);
    } else if (first->until != PW_UNTIL_STEP) {
        pw_fail(&err, PW_EUSER, "arm %d (%s): %s=%g was not reached by step %lld; it is at %.4g%s", first->id,
                first->pe.pe->name, what, first->until_value, (long long)first->step, worst->seen,
                n > 1 ? of : "");
        pw_lab_trouble(lab, &err);
    }
}

/* Emit the data about a step that is too expensive to emit for every step. */
static void tell_seldom(struct pw_lab *lab, const struct pw_replica *a)
{
    _Static_assert(PW_MAX_BLOCKS == PW_MAX_LAYERS + 3, "an event holds every block of the largest model");
    if (a->step % UPDATES_EVERY == 0) {
        struct pw_event *e = pw_lab_event(PW_EV_UPDATES, a);
        e->u.updates.n = a->cfg.layers + 3;
        pw_model_updates(a->model, e->u.updates.ratio);
        pw_lab_emit(lab, e);
    }
    if (a->step % DIGEST_EVERY == 0)
        pw_lab_emit_digest(lab, a, NULL);
}

static enum pw_code step_arm(struct pw_lab *lab, struct pw_replica *a, struct pw_err *err)
{
    struct pw_step_result r;
    enum pw_code code = pw_lab_step_ahead(lab, a, &r, err);
    if (code != PW_OK)
        return code;
    lab->steps_done++;
    struct pw_event *e = pw_lab_event(PW_EV_STEP, a);
    e->u.step.loss = (float)r.loss;
    e->u.step.accuracy = (float)r.accuracy;
    e->u.step.lr = (float)r.lr;
    e->u.step.grad_norm = (float)r.grad_norm;
    e->u.step.flops = (double)a->flops;
    pw_lab_emit(lab, e);
    tell_seldom(lab, a);
    check_until(lab, a, r.loss);
    return PW_OK;
}

/* ---- the round */

/* The first model that is due in this round; NULL: the round is over. A replica that is past its goal was
 * skipped in the last round (`replica` of struct pw_goal). */
static struct pw_replica *first_due(struct pw_lab *lab)
{
    for (int i = 0; i < PW_MAX_PLACES; i++) {
        struct pw_replica *a = &lab->replicas[i];
        if (a->model != NULL && a->training && a->due && (a->until != PW_UNTIL_STEP || a->step < a->goal))
            return a;
    }
    return NULL;
}

/* The model that opens the next round: the first that trains, or that of the arm that has spent the fewest
 * operations. */
static struct pw_replica *first_of_round(struct pw_lab *lab)
{
    struct pw_replica *first = NULL;
    for (int i = 0; i < PW_MAX_ARMS; i++) {
        struct pw_replica *a = &lab->replicas[i];
        bool before = first == NULL || (lab->share == PW_SHARE_FLOPS && a->flops < first->flops);
        if (a->model != NULL && a->training && before)
            first = a;
    }
    return first;
}

/* Is b in the round that a opens? */
static bool in_round(const struct pw_lab *lab, const struct pw_replica *a, const struct pw_replica *b)
{
    return b->model != NULL && b->training && (lab->share == PW_SHARE_STEPS || b->id == a->id);
}

static int find_checking(const struct pw_lab *lab)
{
    int i = 0;
    while (i < PW_MAX_PLACES && (lab->replicas[i].model == NULL || !lab->replicas[i].checking))
        i++;
    return i;
}

static struct pw_replica *first_checking(struct pw_lab *lab)
{
    int i = find_checking(lab);
    return i < PW_MAX_PLACES ? &lab->replicas[i] : NULL;
}

bool pw_lab_checks(const struct pw_lab *lab)
{
    return find_checking(lab) < PW_MAX_PLACES;
}

/* Model a has taken its step. If no model was due, this step opened a round. */
static void take_turn(struct pw_lab *lab, struct pw_replica *a)
{
    if (!a->due && first_due(lab) == NULL)
        for (int i = 0; i < PW_MAX_PLACES; i++)
            lab->replicas[i].due = lab->replicas[i].due || in_round(lab, a, &lab->replicas[i]);
    a->due = false;
}

/* Work at the end of a round, in which a took the last step: work that concerns its arms. */
static void end_round(struct pw_lab *lab, const struct pw_replica *a)
{
    bool rested = pw_now() - lab->t_eval >= lab->eval_s * (1 / EVAL_SHARE - 1);
    pw_watch_round(lab, in_round, a);
    for (int i = 0; i < PW_MAX_ARMS; i++) {
        struct pw_replica *first = &lab->replicas[i];
        if (!in_round(lab, a, first))
            continue;
        check_end(lab, first);
        if (lab->cfg.live && ((first->step % PW_CHECK_EVERY == 0 && rested) || !first->training))
            pw_lab_eval_live(lab, first);
    }
    if (lab->allowed > 0 && --lab->allowed == 0)
        pw_lab_pause(lab, true);
}

/* Emit what the screen shows of training, at intervals. stepped: the model that has just taken a step, or
 * NULL. */
static void tell_progress(struct pw_lab *lab, const struct pw_replica *stepped)
{
    double now = pw_now();
    if (now - lab->rate_t >= 0.5) {
        lab->rate = (double)(lab->steps_done - lab->rate_steps) / (now - lab->rate_t);
        lab->rate_t = now;
        lab->rate_steps = lab->steps_done;
    }
    bool ended = !pw_lab_training(lab);
    if (ended || now - lab->t_state >= STATE_S)
        pw_lab_emit_state(lab);
    double rest = fmax(LIVE_S, (lab->look_s + lab->table_s) / LIVE_SHARE);
    if (lab->landing) /* the model whose step is drained last */
        return;
    if (lab->cfg.live && (ended || now - lab->t_live >= rest)) {
        pw_lab_drain(lab);
        pw_lab_refresh(lab, true);
        lab->t_live = now;
    } else if (stepped != NULL && stepped == pw_lab_inspected(lab) && pw_lab_always_observed(stepped->step)) {
        pw_lab_refresh(lab, false);
    }
}

/* Add to the message which model it was. */
static void name_model(const struct pw_lab *lab, const struct pw_replica *a, struct pw_err *err)
{
    char place[PW_LINE], replica[32] = "";
    int n = pw_lab_n_replicas(lab, a->id);
    if ((pw_lab_n_arms(lab) == 1 && n == 1) || strncmp(err->msg, "arm ", 4) == 0)
        return;
    if (n > 1)
        snprintf(replica, sizeof replica, ", replica %d", a->replica);
    snprintf(place, sizeof place, "arm %d (%s%s)", a->id, a->pe.pe->name, replica);
    pw_err_at(err, place);
}

void pw_lab_train_step(struct pw_lab *lab)
{
    struct pw_replica *a = lab->landing ? NULL : first_checking(lab);
    struct pw_err err;
    enum pw_code code;
    bool looks = a != NULL;
    if (looks) {
        code = look_at_acc(lab, a, &err);
    } else {
        a = first_due(lab);
        a = a != NULL ? a : first_of_round(lab);
        if (lab->landing && !pw_lab_flying(lab)->training) /* a replica of an arm that failed */
            a = pw_lab_flying(lab);
        code = step_arm(lab, a, &err);
        if (code == PW_OK)
            take_turn(lab, a);
    }
    if (code == PW_EYIELD)
        return;
    if (code != PW_OK) {
        end_training(lab, a->id);
        pw_lab_suggest_fit(lab, a, &err);
        name_model(lab, a, &err);
        pw_lab_trouble(lab, &err);
    }
    if (first_checking(lab) == NULL && first_due(lab) == NULL)
        end_round(lab, a);
    tell_progress(lab, looks ? NULL : a);
}

void pw_lab_drain(struct pw_lab *lab)
{
    bool landing = lab->landing;
    lab->landing = true;
    while (pw_lab_flying(lab) != NULL)
        pw_lab_train_step(lab);
    lab->landing = landing;
}
