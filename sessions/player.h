/* player.h - any moment of a recorded session as a snapshot, without computing it again.
 *
 * The snapshot of a moment is what pw_fold makes of all events up to it; a player gets there faster: it has
 * seen every value of every slot, and cuts series that it has read once. A test holds the two equal. One
 * thing is left out of the past: of the maps that the fold keeps over training (pw_kept) it has the steps and
 * the heads' scores, and not the attention itself, which stands in for moments that one can't go back to. */
#ifndef PW_PLAYER_H
#define PW_PLAYER_H
#include "sessions/fold.h"
#include "sessions/record.h"

struct pw_player;

/* Reads all series: for a session of 1,000,000 steps well under a second. */
enum pw_code pw_player_open(struct pw_player **p, const char *path, struct pw_err *err);
void pw_player_close(struct pw_player *p); /* NULL is a no-op */
struct pw_record *pw_player_record(struct pw_player *p);

/* Reads on where somebody records; true if there is something new. */
bool pw_player_poll(struct pw_player *p);
uint64_t pw_player_last(const struct pw_player *p);

/* The moment after event seq, at most the last one; valid until the next call. Takes less than a frame. */
const struct pw_snapshot *pw_player_at(struct pw_player *p, uint64_t seq);

/* ---- moments by what happened: the number of an event; 0: there is none */
/* The last at which the arm (0: the current one then) had completed no more than `step` steps in the life
 * that it has at the end of the recording, and none of the others had gone on to a later one since. */
uint64_t pw_player_step(struct pw_player *p, int arm, int64_t step);
/* The same in the life that the arm has at event `near`, which ends where that does. */
uint64_t pw_player_step_near(struct pw_player *p, uint64_t near, int arm, int64_t step);
/* The next (dir 1) or last (dir -1) COMMAND, MARK, CHECKPOINT or EVAL from there, or with KINDS anything but
 * the metrics of steps; text "" or a part of its text. */
uint64_t pw_player_seek(struct pw_player *p, uint64_t from, int dir, enum pw_event_kind kind,
                        const char *text);
/* The last that happened by a time of day; and when an event happened. */
uint64_t pw_player_by_time(struct pw_player *p, int64_t t_ns);
int64_t pw_player_time(struct pw_player *p, uint64_t seq);

#endif
