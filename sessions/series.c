/* series.c - series over training: metrics of steps, relative updates of the blocks, exact match. If an arm
 * goes back to an earlier step, later points are overwritten. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "sessions/fold_int.h"

static int grown(int cap)
{
    return cap == 0 ? 64 : cap * 2;
}

/* Return how many of n ascending steps are before `step`. */
static int before(const int64_t *steps, int n, int64_t step)
{
    while (n > 0 && steps[n - 1] >= step)
        n--;
    return n;
}

/* Return the next of ascending values. A clock that was set back, or an invalid count, repeats the last
 * value. */
static int64_t ascending(const int64_t *values, int n, double next)
{
    int64_t last = n > 0 ? values[n - 1] : 0;
    return next > (double)last && next < 9e18 ? (int64_t)next : last;
}

/* ---- metrics of steps */

void pw_series_add(struct pw_series *s, int64_t step, double ms, const struct pw_ev_step *v)
{
    s->n = before(s->step, s->n, step);
    if (s->n == s->cap) {
        s->cap = grown(s->cap);
        s->step = pw_grow(s->step, (size_t)s->cap, sizeof *s->step);
        s->flops = pw_grow(s->flops, (size_t)s->cap, sizeof *s->flops);
        s->ms = pw_grow(s->ms, (size_t)s->cap, sizeof *s->ms);
        for (int m = 0; m < PW_METRICS; m++)
            s->v[m] = pw_grow(s->v[m], (size_t)s->cap, sizeof *s->v[m]);
    }
    s->step[s->n] = step;
    s->v[PW_M_LOSS][s->n] = v->loss;
    s->v[PW_M_ACCURACY][s->n] = v->accuracy;
    s->v[PW_M_LR][s->n] = v->lr;
    s->v[PW_M_GRAD_NORM][s->n] = v->grad_norm;
    s->flops[s->n] = ascending(s->flops, s->n, v->flops);
    s->ms[s->n] = ascending(s->ms, s->n, ms);
    s->n++;
    for (int m = 0; m < PW_METRICS; m++)
        pw_pyramid_add(&s->pyramid[m], s->v[m], s->n);
}

void pw_series_own(struct pw_series *s)
{
    s->step = pw_copy(s->step, (size_t)s->n, sizeof *s->step);
    s->flops = pw_copy(s->flops, (size_t)s->n, sizeof *s->flops);
    s->ms = pw_copy(s->ms, (size_t)s->n, sizeof *s->ms);
    for (int m = 0; m < PW_METRICS; m++) {
        s->v[m] = pw_copy(s->v[m], (size_t)s->n, sizeof *s->v[m]);
        pw_pyramid_own(&s->pyramid[m], s->n);
    }
    s->cap = s->n;
}

void pw_series_fini(struct pw_series *s)
{
    free(s->step);
    free(s->flops);
    free(s->ms);
    for (int m = 0; m < PW_METRICS; m++) {
        free(s->v[m]);
        pw_pyramid_fini(&s->pyramid[m]);
    }
    *s = (struct pw_series){0};
}

/* ---- updates */

void pw_updates_add(struct pw_updates *u, int64_t step, const struct pw_ev_updates *v)
{
    if (v->n < 1 || v->n > PW_MAX_BLOCKS)
        return;
    if (v->n != u->blocks) { /* another model: its series starts here */
        pw_updates_fini(u);
        u->blocks = v->n;
    }
    u->n = before(u->step, u->n, step);
    if (u->n == u->cap) {
        u->cap = grown(u->cap);
        u->step = pw_grow(u->step, (size_t)u->cap, sizeof *u->step);
        u->ratio = pw_grow(u->ratio, (size_t)u->cap * (size_t)u->blocks, sizeof *u->ratio);
    }
    u->step[u->n] = step;
    memcpy(u->ratio + (size_t)u->n++ * u->blocks, v->ratio, sizeof *u->ratio * (size_t)u->blocks);
}

void pw_updates_own(struct pw_updates *u)
{
    u->step = pw_copy(u->step, (size_t)u->n, sizeof *u->step);
    u->ratio = pw_copy(u->ratio, (size_t)u->n, (size_t)u->blocks * sizeof *u->ratio);
    u->cap = u->n;
}

void pw_updates_fini(struct pw_updates *u)
{
    free(u->step);
    free(u->ratio);
    *u = (struct pw_updates){0};
}

/* ---- evaluations */

void pw_track_add(struct pw_track *t, int64_t step, double flops, double ms,
                  const struct pw_track_point *point)
{
    t->n = before(t->step, t->n, step);
    if (t->n == t->cap) {
        t->cap = grown(t->cap);
        t->step = pw_grow(t->step, (size_t)t->cap, sizeof *t->step);
        t->flops = pw_grow(t->flops, (size_t)t->cap, sizeof *t->flops);
        t->ms = pw_grow(t->ms, (size_t)t->cap, sizeof *t->ms);
        t->in_range = pw_grow(t->in_range, (size_t)t->cap, sizeof *t->in_range);
        t->beyond = pw_grow(t->beyond, (size_t)t->cap, sizeof *t->beyond);
        t->held = pw_grow(t->held, (size_t)t->cap, sizeof *t->held);
        t->held_beyond = pw_grow(t->held_beyond, (size_t)t->cap, sizeof *t->held_beyond);
        t->samples = pw_grow(t->samples, (size_t)t->cap, sizeof *t->samples);
    }
    t->step[t->n] = step;
    t->flops[t->n] = ascending(t->flops, t->n, flops);
    t->ms[t->n] = ascending(t->ms, t->n, ms);
    t->in_range[t->n] = point->in_range;
    t->beyond[t->n] = point->beyond;
    t->held[t->n] = point->held;
    t->held_beyond[t->n] = point->held_beyond;
    t->samples[t->n] = point->samples;
    t->n++;
}

void pw_track_own(struct pw_track *t)
{
    t->step = pw_copy(t->step, (size_t)t->n, sizeof *t->step);
    t->flops = pw_copy(t->flops, (size_t)t->n, sizeof *t->flops);
    t->ms = pw_copy(t->ms, (size_t)t->n, sizeof *t->ms);
    t->in_range = pw_copy(t->in_range, (size_t)t->n, sizeof *t->in_range);
    t->beyond = pw_copy(t->beyond, (size_t)t->n, sizeof *t->beyond);
    t->held = pw_copy(t->held, (size_t)t->n, sizeof *t->held);
    t->held_beyond = pw_copy(t->held_beyond, (size_t)t->n, sizeof *t->held_beyond);
    t->samples = pw_copy(t->samples, (size_t)t->n, sizeof *t->samples);
    t->cap = t->n;
}

void pw_track_fini(struct pw_track *t)
{
    free(t->step);
    free(t->flops);
    free(t->ms);
    free(t->in_range);
    free(t->beyond);
    free(t->held);
    free(t->held_beyond);
    free(t->samples);
    *t = (struct pw_track){0};
}
