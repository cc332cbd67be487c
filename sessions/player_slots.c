/* player_slots.c - the history of every plain member of the snapshot, and the events that hold its arrays. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "sessions/player_int.h"

/* All plain members of the snapshot's structs are kept, in pieces. A table lists, in the order of the struct,
 * what is kept elsewhere, and members at which a new piece begins because they change often or are large. So
 * a new member is kept without a line here. */
struct cut {
    size_t at, end;
};
#define ELSEWHERE(type, from, to)                                                                            \
    {                                                                                                        \
        offsetof(type, from), offsetof(type, to) + sizeof(((type *)NULL)->to)                                \
    }
#define PIECE(type, member)                                                                                  \
    {                                                                                                        \
        offsetof(type, member), offsetof(type, member)                                                       \
    }
#define END(type)                                                                                            \
    {                                                                                                        \
        sizeof(type), sizeof(type)                                                                           \
    }

static const struct cut whole[] = {
    ELSEWHERE(struct pw_snapshot, seq, seq),
    ELSEWHERE(struct pw_snapshot, session, session),
    PIECE(struct pw_snapshot, state),
    ELSEWHERE(struct pw_snapshot, arms, arms),
    ELSEWHERE(struct pw_snapshot, tokens, cap_tokens),
    PIECE(struct pw_snapshot, has_look),
    PIECE(struct pw_snapshot, has_attention),
    PIECE(struct pw_snapshot, has_foreign),
    PIECE(struct pw_snapshot, has_patch),
    PIECE(struct pw_snapshot, failing),
    ELSEWHERE(struct pw_snapshot, findings, n_ticks),
    ELSEWHERE(struct pw_snapshot, log, log_before),
    END(struct pw_snapshot),
};
static const struct cut of_arm[] = {
    PIECE(struct pw_arm_view, info.step),        PIECE(struct pw_arm_view, info.swaps),
    ELSEWHERE(struct pw_arm_view, rep, rep),     PIECE(struct pw_arm_view, has_table),
    ELSEWHERE(struct pw_arm_view, kept, course), END(struct pw_arm_view),
};
static const struct cut of_finding[] = {END(struct pw_finding_view)};
static const struct cut of_replica[] = {
    ELSEWHERE(struct pw_replica_view, series, track),
    PIECE(struct pw_replica_view, eval_before),
    PIECE(struct pw_replica_view, heads_off),
    PIECE(struct pw_replica_view, has_digest),
    END(struct pw_replica_view),
};

/* A slot with arrays: the kind of event that holds them, where the event's number is, and which member says
 * that the slot is valid. */
struct slot {
    enum pw_event_kind kind;
    size_t at, size, seq, has;
};
#define ALWAYS SIZE_MAX
#define SLOT(type, kind, what, has)                                                                          \
    {                                                                                                        \
        kind, offsetof(type, what), sizeof(((type *)NULL)->what), offsetof(type, what##_seq), has            \
    }
static const struct slot whole_slots[] = {
    SLOT(struct pw_snapshot, PW_EV_PROMPT, prompt, offsetof(struct pw_snapshot, has_prompt)),
    SLOT(struct pw_snapshot, PW_EV_LOOK, look, offsetof(struct pw_snapshot, has_look)),
    SLOT(struct pw_snapshot, PW_EV_ATTENTION, attention, offsetof(struct pw_snapshot, has_attention)),
    SLOT(struct pw_snapshot, PW_EV_ATTENTION, foreign, offsetof(struct pw_snapshot, has_foreign)),
    SLOT(struct pw_snapshot, PW_EV_PATCH, patch, offsetof(struct pw_snapshot, has_patch)),
    SLOT(struct pw_snapshot, PW_EV_FAILING, failing, ALWAYS),
};
static const struct slot arm_slots[] = {
    SLOT(struct pw_arm_view, PW_EV_TABLE, table, offsetof(struct pw_arm_view, has_table)),
};
static const struct slot finding_slots[] = {SLOT(struct pw_finding_view, PW_EV_FINDING, f, ALWAYS)};
static const struct slot replica_slots[] = {
    SLOT(struct pw_replica_view, PW_EV_EVAL, eval, ALWAYS),
    SLOT(struct pw_replica_view, PW_EV_EVAL, eval_before, ALWAYS),
    SLOT(struct pw_replica_view, PW_EV_HEADS, heads_off, ALWAYS),
};

#define COUNT(a) ((int)(sizeof(a) / sizeof *(a)))
enum {
    REPS = PW_MAX_ARMS * PW_MAX_REPLICAS,
    PIECES = COUNT(whole) + PW_MAX_ARMS * COUNT(of_arm) + REPS * COUNT(of_replica) +
             PW_MAX_FINDINGS * COUNT(of_finding),
    ARM_PIECES = COUNT(of_arm) + PW_MAX_REPLICAS * COUNT(of_replica),
    STEP_PIECE = 1, /* index in of_arm */
    SLOTS = COUNT(whole_slots) + PW_MAX_ARMS * COUNT(arm_slots) + REPS * COUNT(replica_slots) +
            PW_MAX_FINDINGS * COUNT(finding_slots),
};

struct pw_slots {
    struct pw_shelf values[PIECES];
    struct pw_event *held[SLOTS]; /* events that own the arrays of the restored snapshot; NULL: unreadable */
    uint64_t read[SLOTS];         /* the numbers of these events; 0: none was read yet */
    uint64_t needed[SLOTS];       /* the events that the restored snapshot should have; 0: none */
    struct pw_trail ticks, tokens;
    struct pw_past_kept kept[PW_MAX_ARMS];
    struct pw_past_course course[PW_MAX_ARMS];
    struct pw_shelf log; /* of struct pw_log_line */
    uint64_t *answer;    /* [cap] the events of the tokens in `now` */
    int cap;
    struct pw_ev_token *restored; /* [cap_restored] tokens of the restored snapshot */
    int cap_restored;
};

struct pw_slots *pw_slots_new(void)
{
    struct pw_slots *s = pw_alloc(1, sizeof *s);
    s->log.size = sizeof(struct pw_log_line);
    s->ticks.entry.size = sizeof(struct pw_tick);
    s->tokens.entry.size = sizeof(struct pw_ev_token);
    return s;
}

void pw_slots_free(struct pw_slots *s)
{
    if (s == NULL)
        return;
    for (int i = 0; i < PIECES; i++)
        pw_shelf_fini(&s->values[i]);
    for (int i = 0; i < SLOTS; i++)
        pw_event_free(s->held[i]);
    pw_trail_fini(&s->ticks);
    pw_trail_fini(&s->tokens);
    pw_past_kept_fini(s->kept);
    pw_past_course_fini(s->course);
    pw_shelf_fini(&s->log);
    free(s->answer);
    free(s->restored);
    free(s);
}

/* ---- after each event */

uint64_t pw_slots_emitted_step(const struct pw_slots *s, int arm, uint64_t seq)
{
    const struct pw_shelf *v = &s->values[COUNT(whole) + (arm - 1) * ARM_PIECES + STEP_PIECE];
    int n = pw_shelf_upto(v, seq);
    return n > 0 ? v->seq[n - 1] : 0;
}

/* Piece i ends where cut i begins. */
static size_t piece(const struct cut *c, int i, size_t *at)
{
    *at = i > 0 ? c[i - 1].end : 0;
    return c[i].at - *at;
}

static struct pw_shelf *note(struct pw_shelf *v, const void *of, const struct cut *c, int n, uint64_t seq)
{
    for (int i = 0; i < n; i++, v++) {
        size_t at, size = piece(c, i, &at);
        const char *value = (const char *)of + at;
        v->size = size;
        if (size > 0 && (v->n == 0 || memcmp(pw_shelf_at(v, v->n - 1), value, size) != 0))
            pw_shelf_put(v, seq, value);
    }
    return v;
}

static void note_ticks(struct pw_slots *s, const struct pw_snapshot *now)
{
    uint64_t list[PW_MAX_TICKS];
    for (int i = 0; i < now->n_ticks; i++)
        list[i] = now->ticks[i].seq;
    if (now->n_ticks > 0 && list[now->n_ticks - 1] == now->seq) /* an event adds at most one */
        pw_shelf_put(&s->ticks.entry, now->seq, &now->ticks[now->n_ticks - 1]);
    pw_trail_put(&s->ticks, now->seq, list, now->n_ticks);
}

static void note_tokens(struct pw_slots *s, const struct pw_snapshot *now, const struct pw_event *e)
{
    int n = now->n_tokens;
    bool taken =
        e->kind == PW_EV_TOKEN && n > 0 && memcmp(&now->tokens[n - 1], &e->u.token, sizeof e->u.token) == 0;
    if (s->cap < n) {
        s->cap = 2 * n;
        s->answer = pw_grow(s->answer, (size_t)s->cap, sizeof *s->answer);
    }
    if (taken) {
        s->answer[n - 1] = e->seq;
        pw_shelf_put(&s->tokens.entry, e->seq, &e->u.token);
    }
    if (taken || e->kind == PW_EV_PROMPT)
        pw_trail_put(&s->tokens, e->seq, s->answer, n);
}

void pw_slots_after(struct pw_slots *s, const struct pw_snapshot *now, const struct pw_event *e)
{
    struct pw_shelf *v = note(s->values, now, whole, COUNT(whole), e->seq);
    for (int i = 0; i < PW_MAX_ARMS; i++) {
        v = note(v, &now->arms[i], of_arm, COUNT(of_arm), e->seq);
        for (int r = 0; r < PW_MAX_REPLICAS; r++)
            v = note(v, &now->arms[i].rep[r], of_replica, COUNT(of_replica), e->seq);
    }
    for (int i = 0; i < PW_MAX_FINDINGS; i++)
        v = note(v, &now->findings[i], of_finding, COUNT(of_finding), e->seq);
    note_ticks(s, now);
    note_tokens(s, now, e);
    pw_past_kept_after(s->kept, now, e);
    pw_past_course_after(s->course, now, e);
    if (now->n_log > s->log.n)
        pw_shelf_put(&s->log, e->seq, &now->log[(now->n_log - 1) % PW_LOG_LINES]);
}

const char *pw_slots_line(const struct pw_slots *s, uint64_t seq)
{
    int n = pw_shelf_upto(&s->log, seq);
    return n > 0 && s->log.seq[n - 1] == seq ? ((struct pw_log_line *)pw_shelf_at(&s->log, n - 1))->text
                                             : NULL;
}

/* ---- the state at an event */

static const struct pw_shelf *restore(const struct pw_shelf *v, void *of, const struct cut *c, int n,
                                      uint64_t seq)
{
    for (int i = 0; i < n; i++, v++) {
        size_t at, size = piece(c, i, &at);
        const void *value = v->n > 0 ? pw_shelf_last(v, seq) : NULL;
        if (value != NULL)
            memcpy((char *)of + at, value, size);
        else
            memset((char *)of + at, 0, size);
    }
    return v;
}

static bool take(void *arg, struct pw_event *e)
{
    struct pw_event **out = arg;
    *out = pw_event_move(e);
    return false;
}

struct pw_event *pw_slots_event(struct pw_record *r, uint64_t seq)
{
    struct pw_event *e = NULL;
    struct pw_err err;
    if (pw_record_events(r, seq, seq, take, &e, &err) == PW_OK && e != NULL && e->seq == seq)
        return e;
    pw_event_free(e);
    return NULL;
}

static void hold(struct pw_slots *s, int i, uint64_t seq, struct pw_event *e)
{
    pw_event_free(s->held[i]);
    s->held[i] = e;
    s->read[i] = seq;
}

/* The content of slot i from event seq. If nothing is read now (r NULL): the last content, at first that of
 * the end. NULL: there is none. */
static const void *content(struct pw_slots *s, int i, const struct slot *slot, uint64_t seq, const char *end,
                           struct pw_record *r)
{
    uint64_t last;
    s->needed[i] = seq;
    if (seq == 0)
        return NULL;
    if (s->read[i] != seq && r != NULL)
        hold(s, i, seq, pw_slots_event(r, seq));
    if (s->held[i] != NULL)
        return s->held[i]->kind == slot->kind ? &s->held[i]->u : NULL;
    memcpy(&last, end + slot->seq, sizeof last);
    return s->read[i] == 0 && last != 0 ? end + slot->at : NULL;
}

/* Fill the arrays of n slots, the first of which is *next. A slot without content becomes empty. end: the
 * same part of the snapshot at the end. */
static void fill(struct pw_slots *s, int *next, void *of, const void *end, const struct slot *slot, int n,
                 struct pw_record *r)
{
    for (int i = 0; i < n; i++, ++*next) {
        char *at = (char *)of + slot[i].at;
        uint64_t seq;
        memcpy(&seq, (char *)of + slot[i].seq, sizeof seq);
        const void *from = content(s, *next, &slot[i], seq, end, r);
        if (from != NULL)
            memcpy(at, from, slot[i].size);
        else
            memset(at, 0, slot[i].size);
        if (from == NULL && seq != 0 && slot[i].has != ALWAYS)
            *((bool *)((char *)of + slot[i].has)) = false;
    }
}

static void restore_ticks(const struct pw_slots *s, struct pw_snapshot *view, uint64_t seq)
{
    const uint64_t *list = pw_trail_at(&s->ticks, seq, &view->n_ticks);
    for (int i = 0; i < view->n_ticks; i++)
        memcpy(&view->ticks[i], pw_shelf_last(&s->ticks.entry, list[i]), sizeof *view->ticks);
}

static void restore_tokens(struct pw_slots *s, struct pw_snapshot *view, uint64_t seq)
{
    const uint64_t *list = pw_trail_at(&s->tokens, seq, &view->n_tokens);
    if (s->cap_restored < view->n_tokens) {
        s->cap_restored = 2 * view->n_tokens;
        s->restored = pw_grow(s->restored, (size_t)s->cap_restored, sizeof *s->restored);
    }
    for (int i = 0; i < view->n_tokens; i++)
        memcpy(&s->restored[i], pw_shelf_last(&s->tokens.entry, list[i]), sizeof *s->restored);
    view->tokens = s->restored;
    view->cap_tokens = s->cap_restored;
}

void pw_slots_restore(struct pw_slots *s, struct pw_snapshot *view, const struct pw_snapshot *end,
                      struct pw_record *r, uint64_t seq)
{
    const struct pw_shelf *v = restore(s->values, view, whole, COUNT(whole), seq);
    int next = 0;
    fill(s, &next, view, end, whole_slots, COUNT(whole_slots), r);
    for (int i = 0; i < PW_MAX_ARMS; i++) {
        struct pw_arm_view *a = &view->arms[i];
        const struct pw_arm_view *last = &end->arms[i];
        v = restore(v, a, of_arm, COUNT(of_arm), seq);
        fill(s, &next, a, last, arm_slots, COUNT(arm_slots), r);
        for (int k = 0; k < PW_MAX_REPLICAS; k++) {
            v = restore(v, &a->rep[k], of_replica, COUNT(of_replica), seq);
            fill(s, &next, &a->rep[k], &last->rep[k], replica_slots, COUNT(replica_slots), r);
        }
    }
    for (int i = 0; i < PW_MAX_FINDINGS; i++) {
        v = restore(v, &view->findings[i], of_finding, COUNT(of_finding), seq);
        fill(s, &next, &view->findings[i], &end->findings[i], finding_slots, COUNT(finding_slots), r);
    }
    restore_ticks(s, view, seq);
    restore_tokens(s, view, seq);
    pw_past_kept_restore(s->kept, view, seq);
    pw_past_course_restore(s->course, view, seq);
    view->n_log = pw_shelf_upto(&s->log, seq);
    for (int64_t i = view->n_log > PW_LOG_LINES ? view->n_log - PW_LOG_LINES : 0; i < view->n_log; i++)
        memcpy(&view->log[i % PW_LOG_LINES], pw_shelf_at(&s->log, (int)i), sizeof *view->log);
}

/* ---- reading on another thread */

int pw_slots_lack(const struct pw_slots *s, struct pw_lack **list)
{
    int n = 0;
    for (int i = 0; i < SLOTS; i++)
        n += s->needed[i] != 0 && s->needed[i] != s->read[i];
    if (n > 0 && list != NULL) {
        *list = pw_alloc((size_t)n, sizeof **list);
        for (int i = 0, k = 0; i < SLOTS; i++)
            if (s->needed[i] != 0 && s->needed[i] != s->read[i])
                (*list)[k++] = (struct pw_lack){.slot = i, .seq = s->needed[i]};
    }
    return n;
}

void pw_slots_take(struct pw_slots *s, struct pw_lack *l)
{
    if (s->needed[l->slot] == s->read[l->slot])
        return; /* the view moved on, and is complete */
    hold(s, l->slot, l->seq, l->e);
    l->e = NULL;
}
