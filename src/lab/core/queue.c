/* queue.c - the queue of events for the reader; queue.h has the contract. */
#include "lab/core/queue.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static void append(struct pw_queue *q, struct pw_event *e)
{
    if (q->n == q->cap) {
        q->cap = q->cap > 0 ? 2 * q->cap : 256;
        q->event = pw_grow(q->event, (size_t)q->cap, sizeof *q->event);
    }
    q->event[q->n++] = e;
    q->bytes += e != NULL ? pw_event_bytes(e) : 0;
}

static bool is_metric(const struct pw_event *e)
{
    return e->kind == PW_EV_STEP || e->kind == PW_EV_UPDATES;
}

/* Is old part of an answer to the pinned prompt that was decoded during training? */
static bool is_answer(const struct pw_event *old)
{
    return old->kind == PW_EV_PROMPT || old->kind == PW_EV_TOKEN || old->kind == PW_EV_LOOK ||
           (old->kind == PW_EV_ATTENTION && old->u.attention.source[0] == '\0');
}

/* Does e replace the value in the snapshot that old set? */
static bool supersedes(const struct pw_event *e, const struct pw_event *old)
{
    if (e->arm != old->arm || e->replica != old->replica)
        return false;
    switch (e->kind) {
    case PW_EV_STATE:
    case PW_EV_TABLE: return old->kind == e->kind;
    case PW_EV_JOB:
        return old->kind == PW_EV_JOB && old->u.job.state == PW_JOB_RUNNING &&
               strcmp(old->u.job.name, e->u.job.name) == 0;
    case PW_EV_EVAL: return old->kind == PW_EV_EVAL && old->u.eval.live && e->u.eval.live;
    case PW_EV_PROMPT: return is_answer(old);
    default: return false;
    }
}

static void drop_superseded(struct pw_queue *q, const struct pw_event *e)
{
    int from = q->n, kept;
    while (from > 0 && q->event[from - 1] != NULL)
        from--;
    kept = from;
    for (int i = from; i < q->n; i++) {
        if (supersedes(e, q->event[i])) {
            q->bytes -= pw_event_bytes(q->event[i]);
            pw_event_free(q->event[i]);
        } else {
            q->event[kept++] = q->event[i];
        }
    }
    q->n = kept;
}

/* Append a GAP event with the number of steps dropped before this one. */
static void append_gap(struct pw_queue *q, const struct pw_event *step)
{
    struct pw_event *g = pw_event_new(PW_EV_GAP);
    g->seq = step->seq;
    g->t_ns = step->t_ns;
    g->arm = step->arm;
    g->replica = step->replica;
    g->step = step->step;
    g->u.gap = q->gap[step->arm];
    q->gap[step->arm] = 0;
    append(q, g);
}

void pw_queue_put(struct pw_queue *q, struct pw_event *e)
{
    size_t most = q->most > 0 ? q->most : PW_QUEUE_BYTES;
    bool full = q->bytes + pw_event_bytes(e) > most;
    if (full && is_metric(e)) {
        /* the UPDATES event of a step is dropped with it, not counted */
        q->gap[e->arm] += e->kind == PW_EV_STEP;
        pw_event_free(e);
        return;
    }
    if (full)
        drop_superseded(q, e);
    if (e->kind == PW_EV_STEP && q->gap[e->arm] > 0)
        append_gap(q, e);
    append(q, e);
}

void pw_queue_mark(struct pw_queue *q)
{
    append(q, NULL);
}

bool pw_queue_take(struct pw_queue *q, struct pw_event ***event, int *n)
{
    int taken = 0;
    while (taken < q->n && q->event[taken] != NULL)
        q->bytes -= pw_event_bytes(q->event[taken++]);
    bool marked = taken < q->n;
    int rest = marked ? q->n - taken - 1 : 0;
    *event = q->event;
    *n = taken;
    q->event = rest > 0 ? pw_alloc((size_t)rest, sizeof *q->event) : NULL;
    if (rest > 0)
        memcpy(q->event, *event + taken + 1, (size_t)rest * sizeof *q->event);
    q->n = q->cap = rest;
    return marked;
}

void pw_queue_fini(struct pw_queue *q)
{
    for (int i = 0; i < q->n; i++)
        pw_event_free(q->event[i]);
    free(q->event);
    *q = (struct pw_queue){0};
}
