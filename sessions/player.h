/* player.h - replay: the snapshot at any event of a recorded session, without recomputing it.
 *
 * The snapshot at an event is what pw_fold makes of all events up to it. A player gets there faster: it has
 * stored every value of every slot, and returns prefixes of series. A test compares both ways. There is one
 * difference: of the attention maps that the fold keeps over training (struct pw_kept), a player has only the
 * steps and the heads' scores. The full attention is shown by moving to that event.
 *
 * One thread per player. */
#ifndef PW_PLAYER_H
#define PW_PLAYER_H
#include "sessions/fold.h"
#include "sessions/record.h"

struct pw_player;

/* Open a session (see pw_record_open) and read all its series; a session of 1,000,000 steps takes well under
 * a second. *p belongs to the caller. Fails with PW_EUSER, PW_EIO or PW_ENOMEM. */
enum pw_code pw_player_open(struct pw_player **p, const char *path, struct pw_err *err);
void pw_player_close(struct pw_player *p); /* NULL is a no-op */
struct pw_record *pw_player_record(struct pw_player *p);

/* Read new events if another process records the session; true if there were any. */
bool pw_player_poll(struct pw_player *p);
/* The same in two halves, for a thread that must not wait for the disk. pw_ahead_read reads the events after
 * `from`, at most 20000, on any thread, also while another thread uses the player; on failure it has none.
 * pw_player_take then adds them on the player's thread, and leaves none. path: the player's session. The
 * caller owns the read-ahead; one thread at a time. */
struct pw_ahead;
struct pw_ahead *pw_ahead_create(struct pw_player *p, const char *path);
void pw_ahead_destroy(struct pw_ahead *a); /* NULL is a no-op */
void pw_ahead_read(struct pw_ahead *a, uint64_t from);
bool pw_player_take(struct pw_player *p, struct pw_ahead *a);
/* From now on pw_player_at reads nothing. Its snapshot may lack events: an evaluation, a map, a table, a
 * finding or a prompt is then the one that was shown before. pw_player_lacks returns whether the last
 * snapshot of an earlier moment does. pw_player_ask makes pw_ahead_read read these events too, and
 * pw_player_take adds them; then call pw_player_at again. */
void pw_player_defer(struct pw_player *p);
bool pw_player_lacks(const struct pw_player *p);
void pw_player_ask(const struct pw_player *p, struct pw_ahead *a);
/* Return the number of the last event. */
uint64_t pw_player_last(const struct pw_player *p);

/* Return the snapshot after event seq, which must be at most the last one. It is valid until the next call,
 * and takes less time than a frame. */
const struct pw_snapshot *pw_player_at(struct pw_player *p, uint64_t seq);

/* ---- find events; each returns an event's number, or 0 if there is none */
/* The last event at which `arm` (0: the arm that was current then) had completed at most `step` steps, before
 * any other arm took a further step beyond `step`. An arm's life starts when it is created or reset; this
 * searches the life at the end of the session. */
uint64_t pw_player_step(struct pw_player *p, int arm, int64_t step);
/* The same in the life that the arm had at event `near`. */
uint64_t pw_player_step_near(struct pw_player *p, uint64_t near, int arm, int64_t step);
/* The next (dir 1) or previous (dir -1) event from `from`. kind: COMMAND, MARK, CHECKPOINT or EVAL;
 * PW_EV_KINDS: any event except step metrics. text: "", or a part of the event's text; case is ignored. */
uint64_t pw_player_seek(struct pw_player *p, uint64_t from, int dir, enum pw_event_kind kind,
                        const char *text);
/* The last event at or before a wall-clock time; and the time of an event (ns since 1970). */
uint64_t pw_player_by_time(struct pw_player *p, int64_t t_ns);
int64_t pw_player_time(struct pw_player *p, uint64_t seq);

#endif
