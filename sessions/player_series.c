/* player_series.c - series at any event: a prefix of the life that they had then.
 *
 * The fold drops a series when its arm is reset, and cuts it when the arm goes back to an earlier step.
 * Before that the series is saved. Every point has the number of its event. So the state at an event is found
 * by bisection, and uses the arrays of the present series. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "sessions/player_int.h"

#define MOST_COPIED 50000000 /* points: about 2 GB */

/* Return rep's number of points of a kind, and their steps. */
static int *points(struct pw_replica_view *rep, enum pw_life_kind kind, int64_t **steps)
{
    switch (kind) {
    case PW_LIFE_UPDATES: *steps = rep->updates.step; return &rep->updates.n;
    case PW_LIFE_TRACK: *steps = rep->track.step; return &rep->track.n;
    default: *steps = rep->series.step; return &rep->series.n;
    }
}

/* Set rep's series of a kind to the points of k. */
static void put(struct pw_replica_view *rep, enum pw_life_kind kind, const struct pw_life *k)
{
    switch (kind) {
    case PW_LIFE_UPDATES: rep->updates = k->u.updates; break;
    case PW_LIFE_TRACK: rep->track = k->u.track; break;
    default: rep->series = k->u.series; break;
    }
}

static void get(struct pw_life *k, enum pw_life_kind kind, const struct pw_replica_view *rep)
{
    switch (kind) {
    case PW_LIFE_UPDATES: k->u.updates = rep->updates; break;
    case PW_LIFE_TRACK: k->u.track = rep->track; break;
    default: k->u.series = rep->series; break;
    }
}

/* Give rep its own copies of the arrays. */
static void own(struct pw_replica_view *rep, enum pw_life_kind kind)
{
    switch (kind) {
    case PW_LIFE_UPDATES: pw_updates_own(&rep->updates); break;
    case PW_LIFE_TRACK: pw_track_own(&rep->track); break;
    default: pw_series_own(&rep->series); break;
    }
}

static void free_life(struct pw_life *k, enum pw_life_kind kind)
{
    free(k->seq);
    switch (kind) {
    case PW_LIFE_UPDATES: pw_updates_fini(&k->u.updates); break;
    case PW_LIFE_TRACK: pw_track_fini(&k->u.track); break;
    default: pw_series_fini(&k->u.series); break;
    }
}

/* End the present life at event seq, if it has begun. The next life starts empty, or (goes_on) from a copy
 * that the fold then cuts. */
static void end_life(struct pw_lives *l, enum pw_life_kind kind, struct pw_replica_view *rep, uint64_t seq,
                     bool goes_on)
{
    static const struct pw_life nothing;
    if (l->present.n == 0)
        return;
    if (l->n == l->cap) {
        l->cap = l->cap > 0 ? 2 * l->cap : 4;
        l->over = pw_grow(l->over, (size_t)l->cap, sizeof *l->over);
    }
    struct pw_life *old = &l->over[l->n++];
    *old = l->present;
    get(old, kind, rep);
    l->present = (struct pw_life){.from = seq};
    if (!goes_on) {
        put(rep, kind, &nothing);
        return;
    }
    l->present.seq = pw_alloc((size_t)old->n, sizeof *old->seq);
    memcpy(l->present.seq, old->seq, (size_t)old->n * sizeof *old->seq);
    l->present.n = l->present.cap = old->n;
    own(rep, kind);
}

/* Return the kind of series that an event adds a point to; PW_LIFE_KINDS: none. */
static enum pw_life_kind kind_of(const struct pw_event *e)
{
    return e->kind == PW_EV_STEP      ? PW_LIFE_SERIES
           : e->kind == PW_EV_UPDATES ? PW_LIFE_UPDATES
           : e->kind == PW_EV_EVAL    ? PW_LIFE_TRACK
                                      : PW_LIFE_KINDS;
}

static struct pw_lives *lives_of(struct pw_all_lives *l, struct pw_snapshot *now, const struct pw_event *e,
                                 const struct pw_replica_view *rep, enum pw_life_kind kind)
{
    return &l->of[e->arm - 1][rep - now->arms[e->arm - 1].rep][kind];
}

bool pw_lives_before(struct pw_all_lives *l, struct pw_snapshot *now, const struct pw_event *e)
{
    bool restarts = e->kind == PW_EV_ARM && e->u.arm.restarted;
    int id = e->kind == PW_EV_ARM ? e->u.arm.id : e->arm;
    if ((restarts || e->kind == PW_EV_DROP) && id >= 1 && id <= PW_MAX_ARMS) {
        for (int r = 0; r < PW_MAX_REPLICAS; r++)
            for (enum pw_life_kind k = 0; k < PW_LIFE_KINDS; k++)
                end_life(&l->of[id - 1][r][k], k, &now->arms[id - 1].rep[r], e->seq, false);
        return true;
    }
    enum pw_life_kind kind = kind_of(e);
    struct pw_replica_view *rep = kind < PW_LIFE_KINDS ? pw_fold_replica(now, e) : NULL;
    if (rep == NULL)
        return true;
    int64_t *steps;
    int n = *points(rep, kind, &steps);
    bool other = kind == PW_LIFE_UPDATES && n > 0 && e->u.updates.n != rep->updates.blocks;
    if (n == 0 || (steps[n - 1] < e->step && !other))
        return true;
    end_life(lives_of(l, now, e, rep, kind), kind, rep, e->seq, true);
    l->copied += n;
    return l->copied <= MOST_COPIED;
}

void pw_lives_after(struct pw_all_lives *l, struct pw_snapshot *now, const struct pw_event *e)
{
    enum pw_life_kind kind = kind_of(e);
    struct pw_replica_view *rep = kind < PW_LIFE_KINDS ? pw_fold_replica(now, e) : NULL;
    if (rep == NULL)
        return;
    struct pw_life *k = &lives_of(l, now, e, rep, kind)->present;
    int64_t *steps;
    int n = *points(rep, kind, &steps);
    if (n == 0 || steps[n - 1] != e->step)
        return; /* the fold did not add a point */
    if (n > k->cap) {
        k->cap = 2 * n + 64;
        k->seq = pw_grow(k->seq, (size_t)k->cap, sizeof *k->seq);
    }
    k->seq[n - 1] = e->seq;
    k->n = n;
}

/* ---- the state at an event */

/* Return the life that a series had at seq, with its points. *end: the event that ended it; 0: none. */
static struct pw_life life_at(const struct pw_lives *l, enum pw_life_kind kind,
                              const struct pw_replica_view *now, uint64_t seq, uint64_t *end)
{
    struct pw_life k = l->present;
    *end = 0;
    if (k.from <= seq)
        get(&k, kind, now);
    for (int i = l->n; k.from > seq && i-- > 0;) {
        *end = k.from;
        k = l->over[i];
    }
    return k;
}

/* Set rep's series to its points at seq. Returns the event of the last point; 0: no points. */
static uint64_t cut(const struct pw_lives *l, enum pw_life_kind kind, struct pw_replica_view *rep,
                    const struct pw_replica_view *now, uint64_t seq)
{
    uint64_t end;
    int64_t *steps;
    struct pw_life k = life_at(l, kind, now, seq, &end);
    int n = pw_upto(k.seq, k.n, seq);
    if (n == 0)
        k.u = (union pw_life_points){.series = {0}};
    put(rep, kind, &k);
    *points(rep, kind, &steps) = n;
    return n > 0 ? k.seq[n - 1] : 0;
}

void pw_lives_cut(const struct pw_all_lives *l, struct pw_snapshot *view, const struct pw_snapshot *now,
                  uint64_t seq, const uint64_t told[PW_MAX_ARMS])
{
    for (int i = 0; i < PW_MAX_ARMS; i++) {
        struct pw_arm_view *a = &view->arms[i];
        uint64_t latest = told[i];
        for (int r = 0; r < PW_MAX_REPLICAS; r++)
            for (enum pw_life_kind k = 0; k < PW_LIFE_KINDS; k++) {
                uint64_t at = cut(&l->of[i][r][k], k, &a->rep[r], &now->arms[i].rep[r], seq);
                if (k != PW_LIFE_SERIES || at <= latest)
                    continue;
                latest = at; /* a STEP event sets the arm's step */
                a->info.step = a->rep[r].series.step[a->rep[r].series.n - 1];
            }
    }
}

/* Return the smaller of two event numbers, where 0 means none. */
static uint64_t earlier(uint64_t a, uint64_t b)
{
    return b > 0 && (a == 0 || b < a) ? b : a;
}

uint64_t pw_lives_beyond(const struct pw_all_lives *l, const struct pw_snapshot *now, int arm, uint64_t seq,
                         int64_t step, uint64_t *reached, uint64_t *end)
{
    uint64_t first = 0;
    *reached = *end = 0;
    for (int r = 0; r < PW_MAX_REPLICAS; r++) {
        uint64_t over;
        struct pw_life k = life_at(&l->of[arm - 1][r][PW_LIFE_SERIES], PW_LIFE_SERIES,
                                   &now->arms[arm - 1].rep[r], seq, &over);
        int from = 0, n = k.n;
        while (from < n) {
            int mid = from + (n - from) / 2;
            if (k.u.series.step[mid] <= step)
                from = mid + 1;
            else
                n = mid;
        }
        uint64_t last = from > 0 ? k.seq[from - 1] : k.from, beyond = from < k.n ? k.seq[from] : 0;
        *reached = last > *reached ? last : *reached;
        *end = earlier(*end, over);
        first = earlier(first, beyond);
    }
    return first;
}

void pw_lives_fini(struct pw_all_lives *l)
{
    for (int i = 0; i < PW_MAX_ARMS; i++)
        for (int r = 0; r < PW_MAX_REPLICAS; r++)
            for (enum pw_life_kind k = 0; k < PW_LIFE_KINDS; k++) {
                struct pw_lives *v = &l->of[i][r][k];
                while (v->n > 0)
                    free_life(&v->over[--v->n], k);
                free(v->over);
                free(v->present.seq);
            }
}
