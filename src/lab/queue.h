/* queue.h - events on their way from the lab thread to the reader, in the order in which they were emitted.
 *
 * The reader may stall (a suspended terminal, a slow link) while training goes on for days, so the queue is
 * bounded in bytes. Beyond the bound metrics of steps are dropped and counted (a GAP event gives their
 * number), and an event that the newest one supersedes is dropped: the reader's snapshot would replace its
 * value anyway. Everything else is rare and small, and is kept. The session on disk loses nothing by it.
 *
 * The caller locks. */
#ifndef PW_QUEUE_H
#define PW_QUEUE_H
#include <stddef.h>

#include "sessions/event.h"

#define PW_QUEUE_BYTES ((size_t)64 << 20)

struct pw_queue {            /* {0} is empty, and bounded by PW_QUEUE_BYTES */
    struct pw_event **event; /* [n] owned; NULL: a mark */
    int n, cap;
    size_t bytes, most;           /* that the events take; the bound, 0: PW_QUEUE_BYTES */
    int64_t gap[PW_MAX_ARMS + 1]; /* steps of each arm that were dropped since its last GAP event */
};

void pw_queue_put(struct pw_queue *q, struct pw_event *e); /* takes e */
/* Marks this place: a request has been served. Events before a mark are never superseded by events behind it.
 */
void pw_queue_mark(struct pw_queue *q);
/* Hands over the events before the first mark, or all: [*n] events and their array, which the caller frees.
 * Returns whether a mark followed; it is taken off the queue. */
bool pw_queue_take(struct pw_queue *q, struct pw_event ***event, int *n);
void pw_queue_fini(struct pw_queue *q);

#endif
