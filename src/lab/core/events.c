/* events.c - emitting events: every effect becomes an event in the session and in the reader's queue
 * (queue.h). */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "lab/core/lab_int.h"

struct pw_event *pw_lab_event(enum pw_event_kind kind, const struct pw_replica *arm)
{
    struct pw_event *e = pw_event_new(kind);
    e->t_ns = pw_wall_ns();
    e->arm = arm != NULL ? arm->id : 0;
    e->replica = arm != NULL ? arm->replica : 0;
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
    if (lab->rerun.takes != NULL && lab->rerun.takes(lab, e))
        return;
    /* assigned here, because other events may have been emitted since this one was created */
    e->seq = ++lab->seq;
    pw_lab_fold(lab, e);
    if (lab->session.store != NULL)
        pw_store_put(lab->session.store, e);
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

void pw_lab_note_lines(struct pw_lab *lab, const char *text)
{
    while (*text != '\0') {
        size_t n = strcspn(text, "\n");
        pw_lab_note(lab, "%.*s", (int)n, text);
        text += n + (text[n] == '\n');
    }
}

void pw_lab_emit_job(struct pw_lab *lab, const char *name, enum pw_job_state state, int64_t done,
                     int64_t total)
{
    struct pw_event *e = pw_lab_event(PW_EV_JOB, NULL);
    snprintf(e->u.job.name, sizeof e->u.job.name, "%s", name);
    e->u.job.state = state;
    e->u.job.done = done;
    e->u.job.total = total;
    pw_lab_emit(lab, e);
}
