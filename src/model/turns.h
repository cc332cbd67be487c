/* turns.h - the order in which workers run the chunks of a step (turns.c). Any worker may call. */
#ifndef PW_MODEL_TURNS_H
#define PW_MODEL_TURNS_H
#include <pthread.h>

#include "model/plan.h"

/* Distributes the slots of a plan to the workers. */
struct pw_turns {
    pthread_mutex_t lock;
    struct pw_batch_plan *plan;
    int workers;
    bool taken[PW_MAX_SLOTS];
};
void pw_turns_init(struct pw_turns *t, struct pw_batch_plan *plan, int workers);
void pw_turns_fini(struct pw_turns *t);
/* Releases slot own (-1: none), after this worker has run its next chunk. Returns the slot to run next; -1:
 * none is left for this worker. */
int pw_turns_next(struct pw_turns *t, int own);

#endif
