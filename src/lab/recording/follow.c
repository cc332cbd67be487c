/* follow.c - the lab's loop during a re-run: the next recorded event decides what the lab does.
 *
 * A command runs as soon as every event recorded before it has occurred and the arms have taken the steps
 * that the COMMAND event states. This is never too early. Work that a command could interrupt either leaves
 * no trace (a step, an evaluation, a map of patches: they continue to the same bits or are dropped entirely),
 * or its end is an event.
 *
 * Results that a clock triggered in the workbench (live evaluations, inspections of the prompt, tables) are
 * computed when the record has them, and only then. So cfg.live is off during a re-run. */
#include "lab/follow.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "lab/core/lab_int.h"
#include "lab/jobs/evals.h"
#include "lab/looks/looks.h"
#include "lab/loop/loop.h"
#include "lab/recording/session.h"
#include "lab/recording/verify.h"
#include "lab/train/train.h"

#define TELL_S 0.1 /* seconds between two events of progress */

struct pw_follow {
    struct pw_follow_opts opts;
    struct pw_verdict v;
    struct pw_event *next; /* the next recorded event that is compared or run; NULL: no more */
    uint64_t at;           /* number of the last event that was read */
    uint64_t came;         /* how often `next` has occurred or been skipped */
    uint64_t begun;        /* value of `came` when an evaluation was started for `next` */
    /* number of events of each kind that the last advance() skipped */
    int tail[PW_EV_KINDS];
    /* the next CHECKPOINT event; NULL: none, or the caller does not compare models */
    struct pw_event *checkpoint;
    bool over;
    bool running; /* a command is running */
    int errors;   /* recorded errors since the last command that have not been emitted again yet */
    bool telling; /* progress is being emitted, which goes to the reader */
    bool live;    /* value of cfg.live before the re-run */
    int failures; /* the lab's count of failures before the re-run */
    double told;
    int n_files;
    struct pw_ev_file *files; /* [n_files] files that the running command had read */
    int n_late;
    struct pw_event **late; /* [n_late] emitted by unfinished work after the end of the record, and new */
};

/* ---- the record */

static bool matters(const struct pw_event *e)
{
    return e->kind == PW_EV_COMMAND || pw_verify_takes(e->kind);
}

/* Read up to the next event that is compared or that the loop acts on. Errors are only counted: they come
 * from a command, from a line that is no command, or from a file. Only the errors of a command are emitted
 * again, and their place among its other effects may differ, because those need not be recorded. */
static void advance(struct pw_lab *lab)
{
    struct pw_follow *f = lab->follow;
    pw_event_free(f->next);
    memset(f->tail, 0, sizeof f->tail);
    f->came++;
    for (;;) {
        struct pw_event *e = f->next = f->opts.next(f->opts.arg);
        if (e == NULL)
            break;
        f->at = e->seq;
        f->opts.first = f->opts.first > 0 ? f->opts.first : e->seq;
        if (matters(e))
            break;
        f->tail[e->kind]++;
        f->errors += e->kind == PW_EV_ERROR;
        if (e->kind == PW_EV_FILE) {
            f->files = pw_grow(f->files, (size_t)f->n_files + 1, sizeof *f->files);
            f->files[f->n_files++] = e->u.file;
        }
        pw_event_free(e);
    }
    if (f->next == NULL || f->next->kind == PW_EV_COMMAND)
        atomic_store(&lab->yield, true); /* stop the slice or step that is running */
}

/* ---- events of the re-run */

static void compare(struct pw_lab *lab, const struct pw_event *e)
{
    struct pw_follow *f = lab->follow;
    if (f->next != NULL && pw_verify_is(f->next, e)) {
        if (f->v.end == PW_FOLLOW_DIFFERENT || pw_verify_same(&f->v, f->next, e))
            advance(lab); /* after the first difference only the order of events counts */
        else if (f->checkpoint != NULL)
            advance(lab);
    } else {
        f->v.unrecorded += e->kind == PW_EV_STEP;
    }
}

/* A command fails in the re-run: its error must be recorded. The text may differ, because it depends on the
 * machine. */
static void compare_error(struct pw_lab *lab, const struct pw_event *e)
{
    struct pw_follow *f = lab->follow;
    f->tail[PW_EV_ERROR] -= f->tail[PW_EV_ERROR] > 0;
    if (f->errors > 0)
        f->errors--;
    else if (f->v.end != PW_FOLLOW_DIFFERENT)
        pw_verify_failed(&f->v, f->next != NULL ? f->next->seq : f->at, e->u.text);
}

/* The record ends within a step or a command. An event that the lab emits now is recorded already, or it is
 * new and waits for the end of the re-run. */
static void tell_later(struct pw_lab *lab, struct pw_event *e)
{
    struct pw_follow *f = lab->follow;
    bool known = f->tail[e->kind] > 0;
    f->tail[e->kind] -= f->tail[e->kind] > 0;
    if (known || f->opts.verify) {
        pw_lab_fold(lab, e);
        pw_event_free(e);
        return;
    }
    f->late = pw_grow(f->late, (size_t)f->n_late + 1, sizeof *f->late);
    f->late[f->n_late++] = e;
}

/* The record advances past a COMMAND event when the lab emits that command. By then the answer that the
 * command waits for exists. That answer need not be recorded, and no recorded event after the command belongs
 * to it. */
static bool takes(struct pw_lab *lab, struct pw_event *e)
{
    struct pw_follow *f = lab->follow;
    if (f == NULL || f->telling)
        return false;
    bool failed = e->kind == PW_EV_ERROR && f->running && f->errors > 0;
    if (f->next == NULL && !failed && f->v.end != PW_FOLLOW_DIFFERENT) {
        tell_later(lab, e);
        return true;
    }
    pw_lab_fold(lab, e);
    if (e->kind == PW_EV_COMMAND && f->next != NULL && f->next->kind == PW_EV_COMMAND)
        advance(lab);
    else if (e->kind == PW_EV_ERROR && f->running)
        compare_error(lab, e);
    else if (pw_verify_takes(e->kind))
        compare(lab, e);
    pw_event_free(e);
    return true;
}

static const char *find_file(struct pw_lab *lab, const char *name)
{
    struct pw_follow *f = lab->follow;
    char told[sizeof f->files->name];
    pw_text_copy(told, sizeof told, name);
    for (int i = 0; i < f->n_files && f->opts.file != NULL; i++)
        if (strcmp(f->files[i].name, told) == 0)
            return f->opts.file(f->opts.arg, f->files[i].sha);
    return NULL;
}

/* ---- start and end */

enum pw_code pw_lab_follow(struct pw_lab *lab, const struct pw_follow_opts *opts, struct pw_err *err)
{
    if (lab->follow != NULL)
        return pw_fail(err, PW_EUSER, "a session is being re-run already");
    struct pw_follow *f = lab->follow = pw_alloc(1, sizeof *f);
    f->opts = *opts;
    f->live = lab->cfg.live;
    f->failures = lab->failures;
    f->v.end = PW_FOLLOW_EQUAL;
    lab->cfg.live = false;
    lab->rerun = (struct pw_rerun){.takes = takes, .file = find_file};
    advance(lab);
    if (f->opts.checkpoint != NULL && f->next != NULL)
        f->checkpoint = f->opts.checkpoint(f->opts.arg, f->opts.first - 1);
    return PW_OK;
}

static void tell_progress(struct pw_lab *lab, enum pw_job_state state)
{
    struct pw_follow *f = lab->follow;
    uint64_t first = f->opts.first, last = f->opts.last;
    double now = pw_now();
    if (last <= first || (state == PW_JOB_RUNNING && now - f->told < TELL_S))
        return;
    f->told = now;
    f->telling = true;
    pw_lab_emit_job(lab, "re-running event", state, f->at > first ? (int64_t)(f->at - first) : 0,
                    (int64_t)(last - first));
    f->telling = false;
}

/* New events get the next numbers, and they precede everything that the lab does from now on. They belong to
 * the last recorded event, and a later re-run emits them right after it again. */
static void tell_late(struct pw_lab *lab, struct pw_follow *f)
{
    for (int i = 0; i < f->n_late; i++)
        pw_lab_emit(lab, f->late[i]);
}

void pw_follow_end(struct pw_lab *lab, enum pw_follow_end end)
{
    struct pw_follow *f = lab->follow;
    if (f == NULL)
        return;
    if (f->v.end != PW_FOLLOW_DIFFERENT)
        pw_verify_end(&f->v, end, f->next != NULL ? f->next->seq - 1 : f->at);
    if (f->opts.verify) { /* nothing continues after verification */
        pw_lab_stop(lab, "");
        pw_lab_unpin(lab);
    }
    tell_progress(lab, f->v.end == PW_FOLLOW_STOPPED ? PW_JOB_CANCELLED : PW_JOB_DONE);
    lab->seq = f->at;
    lab->cfg.live = f->live;
    pthread_mutex_lock(&lab->lock);
    lab->failures = f->failures;
    pthread_mutex_unlock(&lab->lock);
    lab->follow = NULL;
    struct pw_lines script = lab->rerun.script;
    bool goes_on = f->opts.ended == NULL || f->opts.ended(f->opts.arg, &f->v);
    tell_late(lab, f);
    if (f->opts.live != NULL)
        f->opts.live(f->opts.arg, &f->v);
    lab->rerun = (struct pw_rerun){.takes = NULL};
    pw_lab_resume_script(lab, &script, goes_on && f->v.end == PW_FOLLOW_EQUAL && !f->opts.verify);
    pw_event_free(f->next);
    pw_event_free(f->checkpoint);
    free(f->late);
    free(f->files);
    free(f);
}

/* ---- the loop */

enum where { BEFORE, UNFINISHED, THERE, BEYOND };

/* Was something still in progress in the re-run that had ended when the command took effect? Such work ends
 * without a step and without a compared event: a check of `until`, a step that fails, a job without a
 * result. */
static bool is_unfinished(const struct pw_event *then, const struct pw_event *now)
{
    bool more = now->u.command.job[0] != '\0' && then->u.command.job[0] == '\0';
    for (int i = 0; i < PW_BITS_OF_ALL; i++)
        more = more || (now->u.command.training[i] & ~then->u.command.training[i]) != 0 ||
               (now->u.command.checking[i] & ~then->u.command.checking[i]) != 0;
    return then->u.command.known && more;
}

/* Compare the lab's progress with its progress when the command took effect. */
static enum where stand(const struct pw_lab *lab, const struct pw_event *e)
{
    struct pw_event now = {.kind = PW_EV_COMMAND};
    enum where where = THERE;
    pw_lab_stand(lab, &now);
    for (int i = 0; i < PW_MAX_ARMS; i++) {
        int64_t n = pw_lab_n_replicas(lab, i + 1);
        int64_t then = n * e->u.command.at[i] - e->u.command.behind[i],
                is = n * now.u.command.at[i] - now.u.command.behind[i];
        if (is > then)
            return BEYOND;
        where = is < then ? BEFORE : where;
    }
    return where == THERE && is_unfinished(e, &now) ? UNFINISHED : where;
}

static void missing(struct pw_lab *lab, const char *why)
{
    struct pw_follow *f = lab->follow;
    if (f->v.end != PW_FOLLOW_DIFFERENT) /* else `next` may have occurred, with other bits */
        pw_verify_missing(&f->v, f->next, why);
    f->over = true;
}

/* Decode the answer that existed when the command took effect; it need not be recorded. Without it the
 * command would decode an answer itself and emit events that the session does not have. */
static void answer_before(struct pw_lab *lab, const struct pw_event *e)
{
    struct pw_err err;
    if (!e->u.command.answered || pw_lab_answered(lab))
        return;
    pw_lab_answer_all(lab);
    if (!pw_lab_answered(lab) && pw_lab_answer_again(lab, &err) == PW_OK)
        pw_lab_answer_all(lab);
}

static void run_command(struct pw_lab *lab)
{
    struct pw_follow *f = lab->follow;
    char text[PW_COMMAND];
    uint64_t came = f->came;
    memcpy(text, f->next->u.command.text, sizeof text);
    lab->rerun.known = f->next->u.command.known;
    answer_before(lab, f->next);
    f->n_files = f->errors = 0;
    f->running = true;
    pw_lab_run(lab, text);
    f->running = false;
    if (f->came > came)
        f->v.commands++;
    else
        missing(lab, "the command cannot be run");
}

/* Start the work that a clock had started. Returns false if that is impossible. */
static bool trigger(struct pw_lab *lab, const struct pw_event *e)
{
    struct pw_replica *arm = pw_lab_replica(lab, e->arm, pw_event_replica(e));
    struct pw_event *table;
    struct pw_err err;
    switch (e->kind) {
    case PW_EV_PROMPT:
        return e->u.prompt.id == lab->pin.id && arm != NULL && pw_lab_answer_by(lab, arm, &err) == PW_OK;
    case PW_EV_TOKEN: /* of an answer that the command before it completed in the re-run */
    case PW_EV_LOOK:
    case PW_EV_ATTENTION: /* of an answer whose own events are not recorded */
        if (arm == NULL || pw_lab_answer_by(lab, arm, &err) != PW_OK)
            return false;
        pw_lab_answer_all(lab);
        return true;
    case PW_EV_EVAL:
        if (e->u.eval.live)
            pw_lab_eval_live(lab, pw_lab_arm(lab, e->arm));
        return pw_job_state(lab, PW_JOB_EVAL) != NULL;
    case PW_EV_TABLE:
        if (pw_lab_table(lab, arm, (struct pw_table_choice){e->u.table.length, e->u.table.layer},
                         e->u.table.n_kernel > 0, &table, &err) != PW_OK)
            return false;
        pw_lab_emit(lab, table);
        return true;
    default: return false;
    }
}

/* Is the next recorded event one that a clock may have started, and is it due? */
static bool is_triggered(struct pw_lab *lab, const struct pw_event *e)
{
    struct pw_replica *arm = pw_lab_replica(lab, e->arm, pw_event_replica(e));
    if (arm == NULL || arm->step != e->step)
        return false;
    bool answer = e->kind == PW_EV_TOKEN || e->kind == PW_EV_LOOK || e->kind == PW_EV_ATTENTION;
    /* A round runs its checks first and evaluates afterwards. While training is paused, `ablate` may
     * evaluate. */
    bool checks = e->kind == PW_EV_EVAL && pw_lab_checks(lab) && (!lab->paused || lab->allowed > 0);
    return e->kind == PW_EV_PROMPT || e->kind == PW_EV_TABLE ||
           (e->kind == PW_EV_EVAL && pw_job_state(lab, PW_JOB_EVAL) == NULL && !checks) ||
           (answer && !pw_lab_answering(lab));
}

/* Has the arm taken further steps, so that the event can't occur any more? */
static bool is_late(struct pw_lab *lab, const struct pw_event *e)
{
    const struct pw_replica *arm = pw_lab_replica(lab, e->arm, pw_event_replica(e));
    return e->arm > 0 && e->kind != PW_EV_COMMAND && (arm == NULL || arm->step > e->step);
}

/* If a checkpoint was taken at this point, compare the models with it. Returns false if none was taken
 * here. */
static bool look_at_models(struct pw_lab *lab)
{
    struct pw_follow *f = lab->follow;
    struct pw_event *e = f->checkpoint;
    if (f->over || e == NULL || (f->next != NULL && f->next->seq <= e->u.checkpoint.as_of))
        return false;
    const struct pw_replica *arm = pw_lab_arm(lab, e->arm);
    /* the record has a gap before the checkpoint */
    if (f->next != NULL && arm != NULL && arm->step < e->step)
        return false;
    pw_verify_models(lab, &f->v, e, f->opts.file, f->opts.arg);
    f->checkpoint = f->opts.checkpoint(f->opts.arg, e->u.checkpoint.as_of + 1);
    pw_event_free(e);
    f->over = f->v.end == PW_FOLLOW_DIFFERENT;
    return true;
}

/* Make one turn towards the next recorded event. */
static void go_on(struct pw_lab *lab, const struct pw_event *e)
{
    struct pw_follow *f = lab->follow;
    enum where where = e->kind == PW_EV_COMMAND ? stand(lab, e) : BEFORE;
    if (where == THERE) {
        run_command(lab);
    } else if (where == BEYOND || is_late(lab, e)) {
        missing(lab, "training is already past that step");
    } else if (is_triggered(lab, e)) {
        uint64_t came = f->came;
        /* an evaluation runs in slices and starts once */
        bool later = e->kind == PW_EV_EVAL && f->begun != came;
        f->begun = later ? came : f->begun;
        if (!trigger(lab, e) || (f->came == came && !later))
            missing(lab, "its subject does not exist");
    } else if (where == UNFINISHED ? !pw_lab_work_beside(lab) : !pw_lab_work(lab)) {
        missing(lab, "no work is left");
    }
}

void pw_follow_go_on(struct pw_lab *lab)
{
    struct pw_follow *f = lab->follow;
    while (look_at_models(lab)) /* several checkpoints may have been taken without an event in between */
        ;
    f->over = f->over || (f->v.end == PW_FOLLOW_DIFFERENT && f->checkpoint == NULL);
    if (atomic_exchange(&lab->interrupt, false)) {
        pw_follow_end(lab, PW_FOLLOW_STOPPED);
    } else if (f->next == NULL || f->over) {
        pw_follow_end(lab, PW_FOLLOW_EQUAL);
    } else {
        tell_progress(lab, PW_JOB_RUNNING);
        go_on(lab, f->next);
    }
}
