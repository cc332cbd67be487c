/* every.c - all inputs of a task, each once: of the trained and the tested lengths.
 *
 * A task's own order over all lengths is kept (SCAN: the grammar's). Otherwise inputs come length by length,
 * pair by pair, and within a pair in the order of the task's `list`. */
#include <math.h>

#include "tasks/task.h"

static bool is_in(struct pw_range r, int length)
{
    return length >= r.lo && length <= r.hi;
}

static bool is_used(const struct pw_task_use *use, int length)
{
    return pw_task_has(use, length) &&
           (is_in(pw_task_train(use), length) || is_in(pw_task_test(use), length));
}

/* Finds pair number n of a length; returns false beyond the last. A length that is one
 * number counts as one pair. */
static bool pair_of(const struct pw_task_use *use, int length, int n, struct pw_pair *out)
{
    struct pw_pair pairs[PW_MAX_PAIRS];
    int count = pw_task_pairs_at(use, length, pairs);
    if (count == 0) {
        *out = (struct pw_pair){length, 0};
        return n == 0;
    }
    if (n < count)
        *out = pairs[n];
    return n < count;
}

double pw_every_count(const struct pw_task_use *use)
{
    double sum = 0;
    if (use->task->every != NULL) {
        struct pw_every e;
        struct pw_item item;
        for (pw_every_begin(&e, use); pw_every_next(&e, &item);)
            sum++;
        return sum;
    }
    if (use->task->list == NULL)
        return -1;
    for (int length = use->task->length_limits.lo; length <= use->task->length_limits.hi; length++)
        sum += is_used(use, length) ? pw_task_inputs(use, length) : 0;
    return sum;
}

void pw_every_begin(struct pw_every *e, const struct pw_task_use *use)
{
    *e = (struct pw_every){.use = use, .length = use->task->length_limits.lo};
}

bool pw_every_next(struct pw_every *e, struct pw_item *item)
{
    const struct pw_task *task = e->use->task;
    if (task->every != NULL) {
        while (task->every(&e->use->o, e->k++, item))
            if (is_used(e->use, item->length))
                return true;
        return false;
    }
    for (; e->length <= task->length_limits.hi; e->length++, e->pair = 0) {
        struct pw_pair at;
        for (; is_used(e->use, e->length) && pair_of(e->use, e->length, e->pair, &at); e->pair++, e->k = 0)
            if ((double)e->k < task->inputs(&e->use->o, at)) {
                task->list(&e->use->o, at, e->k++, item);
                return true;
            }
    }
    return false;
}
