/* reader.c - the reader's side of the lab: lines and requests go in, events come out (lab.h). Reader's
 * thread. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lab/core/lab_int.h"
#include "lab/recording/session.h"

void pw_lab_send(struct pw_lab *lab, const char *line, enum pw_send how)
{
    struct pw_err err;
    pthread_mutex_lock(&lab->lock);
    if (how == PW_SEND_SCRIPT && lab->failures != lab->seen_failures) {
        pthread_mutex_unlock(&lab->lock); /* the queue was dropped, and the sender has not seen that yet */
        return;
    }
    lab->idle = false;
    if (how == PW_SEND_SCRIPT && *line == PW_PLACE) {
        pw_lines_push(&lab->script, line);
    } else if (how == PW_SEND_NOW || pw_commands_split(line, pw_lines_queue, &lab->script, &err) != PW_OK) {
        pw_lines_push(&lab->now, line); /* a line that can't be split fails when it runs, with the message */
        atomic_store(&lab->yield, true);
    }
    pthread_cond_signal(&lab->wake);
    pthread_mutex_unlock(&lab->lock);
}

void pw_lab_interrupt(struct pw_lab *lab)
{
    pthread_mutex_lock(&lab->lock);
    atomic_store(&lab->interrupt, true);
    atomic_store(&lab->yield, true);
    pthread_cond_signal(&lab->wake);
    pthread_mutex_unlock(&lab->lock);
}

int pw_lab_fd(const struct pw_lab *lab)
{
    return lab->fd;
}

/* The session changed: its events on disk come before the new ones. */
static void begin_anew(struct pw_lab *lab, const struct pw_ev_session *v)
{
    struct pw_err err;
    pw_snapshot_free(lab->snap);
    lab->snap = pw_snapshot_new();
    bool ok = v->saved == 0 || pw_session_fold(lab->snap, v->folder, v->saved, NULL, &err) == PW_OK;
    lab->snap->log_before = lab->snap->n_log;
    if (ok)
        return;
    struct pw_event *e = pw_event_new(PW_EV_ERROR);
    pw_text_copy(e->u.text, sizeof e->u.text, err.msg);
    pw_fold(lab->snap, e);
    pw_event_free(e);
}

const struct pw_snapshot *pw_lab_snapshot(struct pw_lab *lab)
{
    uint64_t count;
    struct pw_event **queue;
    int n;
    if (read(lab->fd, &count, sizeof count) < 0) {
        /* no new events */
    }
    pthread_mutex_lock(&lab->lock);
    lab->seen_requests += pw_queue_take(&lab->queue, &queue, &n);
    bool more = lab->queue.n > 0;
    lab->seen_idle = lab->idle && !more;
    lab->seen_failures = lab->failures;
    pthread_mutex_unlock(&lab->lock);
    if (more)
        pw_lab_wake_reader(lab);
    for (int i = 0; i < n; i++) {
        if (queue[i]->kind == PW_EV_SESSION && queue[i]->u.session.fresh)
            begin_anew(lab, &queue[i]->u.session);
        if (lab->cfg.on_event != NULL)
            lab->cfg.on_event(lab->cfg.on_event_arg, queue[i], lab->snap);
        pw_fold(lab->snap, queue[i]);
        pw_event_free(queue[i]);
    }
    free(queue);
    return lab->snap;
}

struct pw_progress_now pw_lab_progress(const struct pw_lab *lab)
{
    return pw_progress_read(&lab->progress);
}

const struct pw_verdict *pw_lab_verdict(const struct pw_lab *lab)
{
    return &lab->verdict;
}

bool pw_lab_idle(const struct pw_lab *lab)
{
    return lab->seen_idle;
}

int pw_lab_failures(const struct pw_lab *lab)
{
    return lab->seen_failures;
}

void pw_lab_request(struct pw_lab *lab, const struct pw_needs *needs)
{
    char line[64];
    snprintf(line, sizeof line, "%c%d %d %u %u", PW_REQUEST, needs->answer, needs->tables, needs->table_of,
             needs->answer_of);
    pw_lab_send(lab, line, PW_SEND_NOW);
}

uint64_t pw_lab_requests_done(const struct pw_lab *lab)
{
    return lab->seen_requests;
}
