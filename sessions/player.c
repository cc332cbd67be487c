/* player.c - replay a session: read it once, then restore the snapshot at any event. */
#include "sessions/player.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "sessions/player_int.h"

#define CLOCK_NS 10000000 /* resolution of recorded times in nanoseconds: finer than a frame */

/* The members of an event that pw_player_seek compares. */
struct told {
    enum pw_event_kind kind;
    int arm;
};

struct pw_player {
    struct pw_record *record;
    struct pw_snapshot *now;  /* all events read so far, folded */
    struct pw_snapshot *view; /* snapshot at another event; its arrays belong to slots, lives and now */
    uint64_t shown;           /* the event that view belongs to */
    struct pw_slots *slots;
    struct pw_all_lives lives;
    struct pw_shelf events; /* of struct told: all events except step metrics */
    struct pw_shelf clock;  /* of int64_t: CLOCK_REALTIME, ascending */
    bool too_wild;
    bool defers; /* pw_player_at reads nothing */
};

static bool is_metric(enum pw_event_kind kind)
{
    return kind == PW_EV_STEP || kind == PW_EV_UPDATES;
}

static void note_time(struct pw_player *p, const struct pw_event *e)
{
    const int64_t *last = p->clock.n > 0 ? pw_shelf_at(&p->clock, p->clock.n - 1) : NULL;
    /* If the clock was set back, repeat the last time. */
    int64_t t = last != NULL && e->t_ns < *last ? *last : e->t_ns;
    if (last == NULL || t - *last >= CLOCK_NS || !is_metric(e->kind))
        pw_shelf_put(&p->clock, e->seq, &t);
}

static bool take(void *arg, struct pw_event *e)
{
    struct pw_player *p = arg;
    if (e->seq <= p->now->seq) /* numbers ascend; ignore an event that violates it */
        return true;
    p->too_wild = !pw_lives_before(&p->lives, p->now, e);
    struct told what = {e->kind, e->arm};
    note_time(p, e);
    pw_fold(p->now, e);
    pw_lives_after(&p->lives, p->now, e);
    if (!is_metric(e->kind)) {
        pw_slots_after(p->slots, p->now, e);
        pw_shelf_put(&p->events, e->seq, &what);
    }
    return !p->too_wild;
}

static enum pw_code read_on(struct pw_player *p, struct pw_err *err)
{
    enum pw_code code = pw_record_events(p->record, p->now->seq + 1, UINT64_MAX, take, p, err);
    if (code == PW_OK && p->too_wild)
        code = pw_fail(err, PW_EUSER, "the recording goes back in time too often to be one");
    return code;
}

void pw_player_session(struct pw_ev_session *s, struct pw_record *r)
{
    struct pw_record_info info;
    pw_record_info(r, &info);
    *s = (struct pw_ev_session){.how = PW_REC_READ, .saved = info.last, .bytes = info.bytes};
    pw_text_copy(s->name, sizeof s->name, info.name);
    pw_record_writer(r, s->why, sizeof s->why);
}

enum pw_code pw_player_open(struct pw_player **out, const char *path, struct pw_err *err)
{
    struct pw_player *p = pw_alloc(1, sizeof *p);
    p->now = pw_snapshot_new();
    p->view = pw_snapshot_new();
    p->slots = pw_slots_new();
    p->events.size = sizeof(struct told);
    p->clock.size = sizeof(int64_t);
    enum pw_code code = pw_record_open(&p->record, path, err);
    if (code == PW_OK)
        code = read_on(p, err);
    if (code != PW_OK) {
        pw_player_close(p);
        return code;
    }
    pw_player_session(&p->now->session, p->record);
    *out = p;
    return PW_OK;
}

void pw_player_close(struct pw_player *p)
{
    if (p == NULL)
        return;
    pw_snapshot_free(p->now);
    free(p->view); /* it owns no arrays */
    pw_slots_free(p->slots);
    pw_lives_fini(&p->lives);
    pw_shelf_fini(&p->events);
    pw_shelf_fini(&p->clock);
    pw_record_close(p->record);
    free(p);
}

struct pw_record *pw_player_record(struct pw_player *p)
{
    return p->record;
}

bool pw_player_poll(struct pw_player *p)
{
    struct pw_err err;
    uint64_t last = p->now->seq;
    bool news = !p->too_wild && pw_record_poll(p->record) && read_on(p, &err) == PW_OK && p->now->seq > last;
    if (news)
        p->shown = 0; /* series may have been reallocated */
    /* If no process records, don't touch the lock: another process may want it. */
    if (news || p->now->session.why[0] != '\0')
        pw_player_session(&p->now->session, p->record);
    return news;
}

bool pw_player_take(struct pw_player *p, struct pw_ahead *a)
{
    uint64_t last = p->now->seq;
    bool lacked = a->n_lack > 0;
    for (int i = 0; i < a->n && !p->too_wild; i++)
        take(p, a->event[i]);
    for (int i = 0; i < a->n_lack; i++)
        pw_slots_take(p->slots, &a->lack[i]);
    pw_ahead_drop(a);
    if (a->told)
        p->now->session = a->session;
    if (p->now->seq > last || lacked)
        p->shown = 0; /* as in pw_player_poll */
    return p->now->seq > last;
}

void pw_player_defer(struct pw_player *p)
{
    p->defers = true;
}

bool pw_player_lacks(const struct pw_player *p)
{
    return p->defers && p->shown > 0 && pw_slots_lack(p->slots, NULL) > 0;
}

void pw_player_ask(const struct pw_player *p, struct pw_ahead *a)
{
    pw_ahead_drop(a);
    if (pw_player_lacks(p))
        a->n_lack = pw_slots_lack(p->slots, &a->lack);
}

uint64_t pw_player_last(const struct pw_player *p)
{
    return p->now->seq;
}

const struct pw_snapshot *pw_player_at(struct pw_player *p, uint64_t seq)
{
    uint64_t told[PW_MAX_ARMS];
    if (seq >= p->now->seq)
        return p->now;
    if (seq == p->shown && seq > 0)
        return p->view;
    pw_slots_restore(p->slots, p->view, p->now, p->defers ? NULL : p->record, seq);
    for (int i = 0; i < PW_MAX_ARMS; i++)
        told[i] = pw_slots_emitted_step(p->slots, i + 1, seq);
    pw_lives_cut(&p->lives, p->view, p->now, seq, told);
    p->view->session = p->now->session;
    p->view->seq = p->shown = seq;
    return p->view;
}

/* ---- find events */

uint64_t pw_player_step(struct pw_player *p, int arm, int64_t step)
{
    return pw_player_step_near(p, p->now->seq, arm, step);
}

/* Arms that race reach the same step together: stop before any of them goes beyond it. */
static uint64_t before_others(struct pw_player *p, uint64_t beyond, uint64_t reached, int arm, int64_t step)
{
    const struct pw_snapshot *s = pw_player_at(p, reached);
    for (int id = 1; id <= PW_MAX_ARMS; id++) {
        uint64_t other, ignored[2];
        int64_t at = s->arms[id - 1].info.step > step ? s->arms[id - 1].info.step : step;
        if (id == arm || !s->arms[id - 1].used)
            continue;
        other = pw_lives_beyond(&p->lives, p->now, id, reached, at, &ignored[0], &ignored[1]);
        if (other > reached && (beyond == 0 || other < beyond))
            beyond = other;
    }
    return beyond;
}

uint64_t pw_player_step_near(struct pw_player *p, uint64_t near, int arm, int64_t step)
{
    uint64_t reached, end;
    arm = arm == 0 ? pw_player_at(p, near)->current : arm;
    if (arm < 1 || arm > PW_MAX_ARMS || !pw_player_at(p, near)->arms[arm - 1].used || step < 0)
        return 0;
    uint64_t beyond = pw_lives_beyond(&p->lives, p->now, arm, near, step, &reached, &end);
    beyond = beyond == 0 || (end > 0 && end < beyond) ? end : beyond;
    beyond = before_others(p, beyond, reached, arm, step);
    uint64_t seq = beyond > 0 ? beyond - 1 : p->now->seq;
    const struct pw_arm_view *a = &pw_player_at(p, seq)->arms[arm - 1];
    return a->used && a->info.step <= step ? seq : 0; /* an arm may start with more steps than that */
}

uint64_t pw_player_seek(struct pw_player *p, uint64_t from, int dir, enum pw_event_kind kind,
                        const char *text)
{
    static const char mark[] = "mark: "; /* the prefix of its log line */
    int i =
        dir > 0 ? pw_shelf_upto(&p->events, from) : pw_shelf_upto(&p->events, from > 0 ? from - 1 : 0) - 1;
    for (; i >= 0 && i<p->events.n; i += dir> 0 ? 1 : -1) {
        const struct told *what = pw_shelf_at(&p->events, i);
        if (kind != PW_EV_KINDS && what->kind != kind)
            continue;
        const char *line = pw_slots_line(p->slots, p->events.seq[i]);
        line = line == NULL ? "" : kind == PW_EV_MARK ? line + strlen(mark) : line;
        if (*text == '\0' || strcasestr(line, text) != NULL)
            return p->events.seq[i];
    }
    return 0;
}

uint64_t pw_player_by_time(struct pw_player *p, int64_t t_ns)
{
    int from = 0, n = p->clock.n;
    while (from < n) {
        int mid = from + (n - from) / 2;
        if (*(const int64_t *)pw_shelf_at(&p->clock, mid) <= t_ns)
            from = mid + 1;
        else
            n = mid;
    }
    return from == p->clock.n ? p->now->seq : from > 0 ? p->clock.seq[from] - 1 : 0;
}

int64_t pw_player_time(struct pw_player *p, uint64_t seq)
{
    const int64_t *t = pw_shelf_last(&p->clock, seq);
    return t != NULL ? *t : p->now->began_ns;
}
