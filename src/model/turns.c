/* turns.c - which gradient slot a worker goes on with.
 *
 * The chunks of a slot run one after the other, so a slot is never on two workers at once. Whole slots are
 * what a cache likes best: a slot's sums stay in it from chunk to chunk. But where workers aren't equally
 * fast, or one of them has lost its processor for a while, the others would wait for its last slot: eight
 * slots on two processors, one of which is a tenth slower, make the other one wait for half a slot. So when
 * there are no more than one slot beside those that run, workers take them by turns, a chunk at a time,
 * always the one that is furthest behind; then all of them end within a chunk of each other. */
#include "model/model_int.h"

static int left(const struct pw_plan *plan, int s)
{
    return plan->first[s + 1] - plan->next[s];
}

void pw_turns_init(struct pw_turns *t, struct pw_plan *plan, int workers)
{
    *t = (struct pw_turns){.plan = plan, .workers = workers};
    pthread_mutex_init(&t->lock, NULL);
}

void pw_turns_fini(struct pw_turns *t)
{
    pthread_mutex_destroy(&t->lock);
}

/* Of the slots that nobody has, the one with most to do; -1 where there is none. */
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
