/* queue.h - events on their way from the lab thread to the reader, in the order in which they were emitted.
 *
 * The reader may stall for a long time (a suspended terminal, a slow link) while training continues. So the
 * queue is bounded in bytes. When it is full, new STEP and UPDATES events are dropped; a GAP event reports
 * the number of dropped steps. Any other new event then drops the queued events that it supersedes, because
 * the reader's snapshot would replace their values anyway. All remaining events are rare and small, and they
 * are kept. The session on disk loses nothing by this.
 *
 * The functions do not lock; the caller holds the lab's lock. */
#ifndef PW_QUEUE_H
#define PW_QUEUE_H
#include <stddef.h>

#include "sessions/event.h"

#define PW_QUEUE_BYTES ((size_t)64 << 20)

struct pw_queue {            /* {0} is an empty queue with the bound PW_QUEUE_BYTES */
    struct pw_event **event; /* [n] owned; NULL: a mark */
    int n, cap;
    size_t bytes, most;           /* size of the queued events; the bound, 0: PW_QUEUE_BYTES */
    int64_t gap[PW_MAX_ARMS + 1]; /* steps of each arm dropped since its last GAP event */
};

void pw_queue_put(struct pw_queue *q, struct pw_event *e); /* takes ownership of e */
/* Mark this place: a request has been served. No event behind the mark supersedes an event before it. */
void pw_queue_mark(struct pw_queue *q);
/* Take the events before the first mark, or all events if there is no mark. *event is the array of [*n]
 * events; the caller frees array and events. Returns whether a mark followed; the mark is removed from the
 * queue. */
bool pw_queue_take(struct pw_queue *q, struct pw_event ***event, int *n);
void pw_queue_fini(struct pw_queue *q);

#endif
