/* player_course.c - the learned parameters over training as the fold had them at any event. */
#include <stdlib.h>

#include "base/alloc.h"
#include "sessions/player_int.h"

static bool may_change(enum pw_event_kind kind)
{
    return kind == PW_EV_TABLE || kind == PW_EV_ARM || kind == PW_EV_DROP;
}

/* Stores a point with its own copy of the values. */
static void put_point(struct pw_shelf *entry, const struct pw_course *c)
{
    struct pw_course_point p = c->point[c->n - 1];
    p.v = pw_copy(p.v, (size_t)c->values, sizeof *p.v);
    entry->size = sizeof p;
    pw_shelf_put(entry, p.seq, &p);
}

void pw_past_course_after(struct pw_past_course past[PW_MAX_ARMS], const struct pw_snapshot *now,
                          const struct pw_event *e)
{
    uint64_t list[PW_MAX_COURSE];
    for (int i = 0; i < PW_MAX_ARMS && may_change(e->kind); i++) {
        const struct pw_course *c = &now->arms[i].course;
        struct pw_course shape = {.replica = c->replica, .values = c->values};
        if (c->n == 0 && past[i].list.entry.n == 0)
            continue; /* the arm never had such parameters */
        for (int k = 0; k < c->n; k++)
            list[k] = c->point[k].seq;
        if (c->n > 0 && list[c->n - 1] == e->seq)
            put_point(&past[i].list.entry, c);
        pw_trail_put(&past[i].list, e->seq, list, c->n);
        past[i].shape.size = sizeof shape;
        pw_shelf_put(&past[i].shape, e->seq, &shape);
    }
}

void pw_past_course_restore(struct pw_past_course past[PW_MAX_ARMS], struct pw_snapshot *view, uint64_t seq)
{
    for (int i = 0; i < PW_MAX_ARMS; i++) {
        struct pw_course *c = &view->arms[i].course;
        const struct pw_course *shape = past[i].shape.n > 0 ? pw_shelf_last(&past[i].shape, seq) : NULL;
        *c = shape != NULL ? *shape : (struct pw_course){0};
        if (shape == NULL)
            continue;
        const uint64_t *list = pw_trail_at(&past[i].list, seq, &c->n);
        if (c->n > 0 && past[i].shown == NULL)
            past[i].shown = pw_alloc(PW_MAX_COURSE, sizeof *past[i].shown);
        c->point = past[i].shown;
        for (int k = 0; k < c->n; k++)
            c->point[k] = *(const struct pw_course_point *)pw_shelf_last(&past[i].list.entry, list[k]);
    }
}

void pw_past_course_fini(struct pw_past_course past[PW_MAX_ARMS])
{
    for (int i = 0; i < PW_MAX_ARMS; i++) {
        for (int k = 0; k < past[i].list.entry.n; k++)
            free(((struct pw_course_point *)pw_shelf_at(&past[i].list.entry, k))->v);
        pw_trail_fini(&past[i].list);
        pw_shelf_fini(&past[i].shape);
        free(past[i].shown);
    }
}
