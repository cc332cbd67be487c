/* turns.c - chooses the gradient slot that a worker runs next.
 *
 * The chunks of a slot run one after the other, so a slot is never on two workers at once. Running whole
 * slots suits the cache best: a slot's sums stay in it from chunk to chunk. But if workers differ in speed,
 * or one loses its processor for a while, the others would wait for its last slot. For example, eight slots
 * on two processors, one of them a tenth slower, make the other wait for half a slot. So when at most one
 * slot more than workers is left, workers take slots round-robin, a chunk at a time, always the slot with the
 * most chunks left. Then all end within one chunk of each other. */
#include "model/turns.h"

static int left(const struct pw_batch_plan *plan, int s)
{
    return plan->first[s + 1] - plan->next[s];
}

void pw_turns_init(struct pw_turns *t, struct pw_batch_plan *plan, int workers)
{
    *t = (struct pw_turns){.plan = plan, .workers = workers};
    pthread_mutex_init(&t->lock, NULL);
}

void pw_turns_fini(struct pw_turns *t)
{
    pthread_mutex_destroy(&t->lock);
}

/* Returns the free slot with the most chunks left; -1 if there is none. */
static int furthest_behind(const struct pw_turns *t)
{
    int most = -1;

    for (int s = 0; s < t->plan->n_slots; s++)
        if (!t->taken[s] && left(t->plan, s) > 0 && (most < 0 || left(t->plan, s) > left(t->plan, most)))
            most = s;
    return most;
}

int pw_turns_next(struct pw_turns *t, int own)
{
    int unfinished = 0, next;

    pthread_mutex_lock(&t->lock);
    if (own >= 0) {
        t->plan->next[own]++;
        t->taken[own] = false;
    }
    for (int s = 0; s < t->plan->n_slots; s++)
        unfinished += left(t->plan, s) > 0;
    next = own >= 0 && left(t->plan, own) > 0 && unfinished > t->workers + 1 ? own : furthest_behind(t);
    if (next >= 0)
        t->taken[next] = true;
    pthread_mutex_unlock(&t->lock);
    return next;
}
