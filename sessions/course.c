/* course.c - the learned parameters of a formula over training.
 *
 * The values of every table are a point until an arm has too many. Then one is dropped, as in kept.c: never
 * the first or the last; of the others the one whose neighbours are closest in the square root of their
 * steps. Parameters change most at the beginning, and a long run still has points at its end. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "sessions/fold_int.h"

static void drop_point(struct pw_course *c, int i)
{
    free(c->point[i].v);
    memmove(c->point + i, c->point + i + 1, (size_t)(--c->n - i) * sizeof *c->point);
}

void pw_course_clear(struct pw_course *c)
{
    while (c->n > 0)
        drop_point(c, c->n - 1);
    free(c->point);
    *c = (struct pw_course){0};
}

void pw_course_add(struct pw_arm_view *arm, uint64_t seq)
{
    struct pw_course *c = &arm->course;
    const struct pw_ev_table *t = &arm->table;
    if (t->n_learned < 1 || t->learned == NULL || arm->table_step < 0)
        return;
    if (c->replica != arm->table_replica || c->values != t->n_learned)
        pw_course_clear(c); /* another model: a curve must not join both */
    while (c->n > 0 && c->point[c->n - 1].step >= arm->table_step) /* emitted again, or the arm went back */
        drop_point(c, c->n - 1);
    if (c->point == NULL)
        c->point = pw_alloc(PW_MAX_COURSE + 1, sizeof *c->point);
    c->replica = arm->table_replica;
    c->values = t->n_learned;
    c->point[c->n++] =
        (struct pw_course_point){.seq = seq,
                                 .step = arm->table_step,
                                 .v = pw_copy(t->learned, (size_t)t->n_learned, sizeof *t->learned)};
    if (c->n > PW_MAX_COURSE)
        drop_point(c, pw_most_crowded(&c->point->step, sizeof *c->point, c->n));
}
