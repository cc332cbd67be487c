/* player_ahead.c - reads new events of a session on another thread than the player's.
 *
 * A player belongs to the thread that draws, and reading may wait for the disk. So the events are read by a
 * record of their own, and kept until the player's thread folds them. So are the events that the shown
 * snapshot lacks. */
#include "sessions/player.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/text.h"
#include "sessions/player_int.h"

#define MOST 20000 /* events of one read: a bound on memory; the next read continues */

struct pw_ahead *pw_ahead_create(struct pw_player *p, const char *path)
{
    struct pw_ahead *a = pw_alloc(1, sizeof *a);
    a->path = pw_text_dup(path);
    a->session = pw_player_at(p, UINT64_MAX)->session;
    return a;
}

void pw_ahead_drop(struct pw_ahead *a)
{
    for (int i = 0; i < a->n; i++)
        pw_event_free(a->event[i]);
    a->n = 0;
    for (int i = 0; i < a->n_lack; i++)
        pw_event_free(a->lack[i].e);
    free(a->lack);
    a->lack = NULL;
    a->n_lack = 0;
}

void pw_ahead_destroy(struct pw_ahead *a)
{
    if (a == NULL)
        return;
    pw_ahead_drop(a);
    free(a->event);
    free(a->path);
    pw_record_close(a->record);
    free(a);
}

static bool keep_event(void *arg, struct pw_event *e)
{
    struct pw_ahead *a = arg;
    if (a->n == a->cap) {
        a->cap = a->cap > 0 ? 2 * a->cap : 256;
        a->event = pw_grow(a->event, (size_t)a->cap, sizeof(struct pw_event *));
    }
    a->event[a->n++] = pw_event_move(e);
    return a->n < MOST;
}

void pw_ahead_read(struct pw_ahead *a, uint64_t from)
{
    struct pw_err err;
    a->told = false;
    if (a->record == NULL && pw_record_open(&a->record, a->path, &err) != PW_OK)
        return; /* the next call tries again; events that the snapshot lacks can't be read */
    for (int i = 0; i < a->n_lack; i++)
        a->lack[i].e = pw_slots_event(a->record, a->lack[i].seq);
    pw_record_poll(a->record);
    pw_record_events(a->record, from + 1, UINT64_MAX, keep_event, a, &err);
    /* If no process records, don't touch the lock: another process may want it. */
    a->told = a->n > 0 || a->session.why[0] != '\0';
    if (a->told)
        pw_player_session(&a->session, a->record);
}
