/* lab.c - the lab thread: it receives lines, does one thing at a time, and emits events.
 *
 * The loop checks in this order: a typed line, the next part of an answer, a job's next slice, the next
 * training step, the next line of a script. So a script waits for the work that it started. The sender of a
 * typed line raises a flag. Then the running slice ends, or the step stops between two blocks and continues
 * after the line. For a command this equals a stop between two steps, because weights change only at the end
 * of a step. The loop sleeps when there is nothing to do. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/alloc.h"
#include "lab/arms/arms.h"
#include "lab/core/lab_int.h"
#include "lab/jobs/evals.h"
#include "lab/jobs/watch.h"
#include "lab/looks/looks.h"
#include "lab/loop/loop.h"
#include "lab/recording/session.h"
#include "lab/train/train.h"

/* Ctrl-C runs as a command, so that the session records it. */
static void serve_interrupt(struct pw_lab *lab)
{
    if (!atomic_exchange(&lab->interrupt, false))
        return;
    pw_lab_drain(lab);
    const char *job = pw_lab_job(lab);
    char line[32] = "pause";
    if (job != NULL)
        snprintf(line, sizeof line, "cancel %s", job);
    else if (!pw_lab_training(lab) || lab->paused)
        return;
    pw_lab_run_typed(lab, line, 1);
    if (job == NULL)
        pw_lab_note(lab, "paused; 'resume' continues, 'stop' ends training");
}

/* Does the loop of lab_main have something to do? Called with the lock held and decided by the present state,
 * because a line may have arrived since the loop last checked. */
static bool is_woken(const struct pw_lab *lab, bool trains, bool on_its_way)
{
    bool line = lab->now.n > 0 || (lab->script.n > 0 && !trains); /* a script waits for the end of training */
    return lab->quit || lab->stored || atomic_load(&lab->interrupt) || (line && !on_its_way);
}

/* Sleep until there is work. Before every sleep the reader is notified that the lab is idle. A sender resets
 * `idle`, and its line may turn out to contain no command. */
static bool wait_for_work(struct pw_lab *lab)
{
    bool trains = pw_lab_training(lab); /* training, but paused */
    bool on_its_way = lab->session.line != NULL;
    pthread_mutex_lock(&lab->lock);
    while (!is_woken(lab, trains, on_its_way)) {
        if (!trains && !on_its_way && !lab->idle) {
            lab->idle = true;
            pw_lab_wake_reader(lab);
        }
        pthread_cond_wait(&lab->wake, &lab->lock);
    }
    bool go_on = !lab->quit;
    lab->stored = false;
    pthread_mutex_unlock(&lab->lock);
    return go_on;
}

static void wake_reader(void *lab)
{
    pw_lab_wake_reader(lab);
}

static void *lab_main(void *arg)
{
    struct pw_lab *lab = arg;
    struct pw_err err;
    lab->progress = (struct pw_progress){.changed = wake_reader, .arg = lab};
    pw_progress_watch(&lab->progress);
    if (lab->cfg.follow != NULL)
        /* can't fail: no other re-run is active yet */
        pw_lab_follow(lab, lab->cfg.follow, &err);
    if (lab->session.resume == NULL) { /* else the recorded events describe it */
        pw_session_emit(lab, false);
        pw_lab_emit_lab(lab);
        pw_lab_emit_arm(lab, pw_lab_current(lab), true);
        pw_lab_emit_state(lab);
        pw_lab_refresh(lab, true);
        if (lab->session.now.how == PW_REC_NONE && lab->session.now.why[0] != '\0')
            pw_lab_note(lab, "nothing is recorded: %s", lab->session.now.why);
    }
    for (;;) {
        /* reset before checking: a line that arrives after the check raises the flag again */
        atomic_store(&lab->yield, false);
        if (pw_lab_quits(lab))
            break;
        if (lab->follow != NULL) {
            pw_follow_go_on(lab);
            continue;
        }
        serve_interrupt(lab);
        pw_session_tick(lab);
        if (pw_lab_serve_line(lab) || pw_lab_serve_request(lab) || pw_lab_work(lab))
            continue;
        if (!pw_lab_training(lab) && pw_lab_ask(lab, true))
            continue;
        if (!wait_for_work(lab))
            break;
    }
    pw_follow_end(lab, PW_FOLLOW_STOPPED);
    pw_lab_drain(lab);
    pw_lab_emit_waiting(lab);
    pw_checkpoint_last(lab);
    return NULL;
}

struct pw_lab_facts pw_lab_facts(const struct pw_lab *lab)
{
    return (struct pw_lab_facts){.current = lab->current,
                                 .replica = lab->replica,
                                 .own_batches = lab->own_batches,
                                 .paused = lab->paused,
                                 .records = lab->session.store != NULL,
                                 .portable = lab->ops->portable,
                                 .tasks = &lab->tasks,
                                 .record = lab->record,
                                 .help = lab->cfg.help};
}

/* ---- public interface */

static enum pw_code free_lab(struct pw_lab *lab, struct pw_err *err)
{
    enum pw_code code = pw_session_end(lab, "quit", err);
    free(lab->session.line); /* the line that was never recorded */
    pw_session_free_folders(&lab->session.folders);
    pw_jobs_cancel(lab, PW_CHANGE_ANY);
    pw_pin_fini(&lab->pin);
    pw_lab_forget_heads(lab);
    for (int i = 0; i < PW_MAX_PLACES; i++)
        pw_model_destroy(lab->replicas[i].model);
    if (lab->ops != NULL)
        lab->ops->close(lab->be);
    pw_taskset_fini(&lab->tasks);
    pw_lab_free_batches(lab);
    pw_samples_fini(&lab->scratch);
    pw_lines_fini(&lab->now);
    pw_lines_fini(&lab->script);
    pw_queue_fini(&lab->queue);
    pw_snapshot_free(lab->snap);
    pw_snapshot_free(lab->record);
    if (lab->fd >= 0)
        close(lab->fd);
    pthread_cond_destroy(&lab->wake);
    pthread_mutex_destroy(&lab->lock);
    free(lab);
    return code;
}

/* The modules with state that depends on settings, in the order of their events. */
static const struct pw_listener *const listeners[] = {&pw_batches_listener, &pw_answer_listener,
                                                      &pw_eval_listener, &pw_watch_listener, NULL};

/* Set up a fresh lab: one arm, preset tiny, no encoding, the task sort, seed 0. */
static enum pw_code furnish(struct pw_lab *lab, struct pw_err *err)
{
    struct pw_replica first = {.id = 1, .replica = 1, .preset = "tiny"};
    for (int i = 0; i < PW_MAX_PLACES; i++)
        lab->replicas[i] = (struct pw_replica){.id = i % PW_MAX_ARMS + 1, .replica = i / PW_MAX_ARMS + 1};
    lab->current = lab->replica = 1;
    pw_lab_forget_batches(lab);
    lab->threads = lab->unit = lab->cfg.threads;
    lab->ops = pw_backend_cpu();
    enum pw_code code = lab->ops->open(&lab->be, lab->unit, err);
    if (code == PW_OK)
        code = pw_taskset_init(&lab->tasks, "sort", err);
    if (code == PW_OK)
        code = pw_preset(first.preset, &first.cfg, &first.optim, err);
    if (code == PW_OK)
        code = pw_pe_parse(&first.pe, "none", &first.cfg, err);
    if (code == PW_OK)
        code = pw_lab_build_replica(lab, &lab->replicas[0], &first, err);
    return code;
}

enum pw_code pw_lab_create(struct pw_lab **out, const struct pw_lab_config *cfg, struct pw_err *err)
{
    struct pw_lab *lab = calloc(1, sizeof *lab);
    if (lab == NULL)
        return pw_fail(err, PW_ENOMEM, "out of memory");
    lab->cfg = *cfg;
    lab->listeners = listeners;
    pthread_mutex_init(&lab->lock, NULL);
    pthread_cond_init(&lab->wake, NULL);
    lab->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    lab->snap = pw_snapshot_new();
    lab->record = pw_snapshot_new();
    enum pw_code code = PW_OK;
    if (lab->fd < 0)
        code = pw_fail(err, PW_EIO, "eventfd: %s", strerror(errno));
    if (code == PW_OK)
        code = furnish(lab, err);
    if (code == PW_OK)
        code = pw_session_begin(lab, err);
    if (code == PW_OK) {
        sigset_t all, old;
        sigfillset(&all);
        pthread_sigmask(SIG_BLOCK, &all, &old);
        int failed = pthread_create(&lab->thread, NULL, lab_main, lab);
        pthread_sigmask(SIG_SETMASK, &old, NULL);
        if (failed != 0)
            code = pw_fail(err, PW_EIO, "cannot start a thread: %s", strerror(failed));
    }
    if (code != PW_OK) {
        free_lab(lab, NULL);
        return code;
    }
    *out = lab;
    return PW_OK;
}

enum pw_code pw_lab_destroy(struct pw_lab *lab, struct pw_err *err)
{
    if (lab == NULL)
        return PW_OK;
    pthread_mutex_lock(&lab->lock);
    lab->quit = true;
    atomic_store(&lab->yield, true);
    pthread_cond_signal(&lab->wake);
    pthread_mutex_unlock(&lab->lock);
    pthread_join(lab->thread, NULL);
    return free_lab(lab, err);
}
