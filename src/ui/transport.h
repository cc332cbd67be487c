/* transport.h - moving through the time of a recording: which moment the panes show.
 *
 * A recording has a player (sessions/player.h), and any of its moments is a snapshot like the present's,
 * drawn by the same panes. A workbench without a laboratory (`pewter replay NAME`) shows nothing else; beside
 * a laboratory the session's own record is opened for reading when somebody first looks back. Where nothing
 * is recorded, the past is what the snapshot itself keeps of it (ui->time).
 *
 * Looking changes nothing but what is seen. UI thread; times are CLOCK_MONOTONIC seconds. */
#ifndef PW_TRANSPORT_H
#define PW_TRANSPORT_H
#include "base/err.h"
#include "base/text.h"
#include "sessions/player.h"

struct pw_ui;

#define PW_SPEED_MAX 1000

struct pw_transport {
    struct pw_player *player; /* owned; NULL: none was needed yet, or nothing is recorded */
    bool alone;               /* there is no laboratory */
    char folder[PW_LINE * 4]; /* that the player reads */
    uint64_t at;              /* the event after which it is; 0: the right end */
    bool playing;
    double speed;  /* times as fast as it happened, long pauses cut; 0: as it was recorded */
    double played; /* CLOCK_REALTIME seconds of the recording that playing has come to */
    double since;  /* when it had */
    double polled; /* when it was last looked for more */
};

/* A recording and no laboratory. The player is taken. */
void pw_time_open(struct pw_ui *ui, struct pw_player *player);
void pw_time_fini(struct pw_ui *ui);

/* Before each frame: goes on playing, and decides what is drawn. present: the laboratory's, NULL: there is
 * none. */
void pw_time_show(struct pw_ui *ui, const struct pw_snapshot *present, double now);
/* When it should be called again though nothing happens; 0: need not be. */
double pw_time_wakes(const struct pw_ui *ui, double now);

/* The right end of time: the present, or all that is recorded. */
const struct pw_snapshot *pw_time_end(const struct pw_ui *ui);
/* Is what is looked at read from a recording? */
bool pw_time_in_recording(const struct pw_ui *ui);
/* Is an earlier moment looked at? */
bool pw_time_is_past(const struct pw_ui *ui);
void pw_time_live(struct pw_ui *ui);

/* The player of what is recorded; *p NULL and PW_OK: nothing is. */
enum pw_code pw_time_player(struct pw_ui *ui, struct pw_player **p, struct pw_err *err);
/* To the moment after an event of the player's; its last, or one behind it, is the right end. */
void pw_time_to_event(struct pw_ui *ui, uint64_t seq);
/* To a step of the arm that is the current one where one is. */
enum pw_code pw_time_to_step(struct pw_ui *ui, int64_t step, struct pw_err *err);
/* Plays from where one is, from the right end from the beginning. */
enum pw_code pw_time_play(struct pw_ui *ui, double now, struct pw_err *err);
void pw_time_pause(struct pw_ui *ui);

/* What a session is called on a screen: the last part of its path, without the ending. */
void pw_time_name(struct pw_str *out, const char *name);
/* "replay NAME · step 1240 · 12:31:07 · 4x" */
void pw_time_describe(const struct pw_ui *ui, struct pw_str *out);

#endif
