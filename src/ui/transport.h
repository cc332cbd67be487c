/* transport.h - selects the moment of a session that the panes show, and plays.
 *
 * A recorded session has a player (sessions/player.h). Each of its moments is a snapshot like the present
 * one, drawn by the same panes. `pewter replay NAME`, a workbench without a lab, shows only these. With a
 * lab, the session's own record is opened for reading when the user first goes back in time. If no session is
 * recorded, the past is the part that the snapshot keeps (ui->time).
 *
 * Only the view changes, never the lab. UI thread; times are CLOCK_MONOTONIC seconds. */
#ifndef PW_TRANSPORT_H
#define PW_TRANSPORT_H
#include "base/err.h"
#include "base/text.h"
#include "sessions/player.h"

struct pw_ui;

#define PW_SPEED_MAX 1000

/* The moment that the panes show; a member of struct pw_ui. */
struct pw_transport {
    struct pw_player *player; /* owned; NULL: not needed yet, or no session is recorded */
    bool alone;               /* there is no lab */
    char folder[PW_LINE * 4]; /* the folder of the player's session */
    uint64_t at;              /* the view is right after this event; 0: the right end */
    bool playing;
    double speed;  /* factor; long pauses are cut. 0: as recorded, with all pauses */
    double played; /* the moment of the session that playing has reached, CLOCK_REALTIME seconds */
    double since;  /* the time at which `played` was set */
    double polled; /* the time of the last poll for new events */
};

/* Starts a replay without a lab; takes ownership of the player. */
void pw_time_open(struct pw_ui *ui, struct pw_player *player);
/* Closes the player and shows the present. */
void pw_time_fini(struct pw_ui *ui);

/* Call it before each frame: continues playing and selects the snapshot to draw. present: the lab's snapshot,
 * NULL without a lab. */
void pw_time_show(struct pw_ui *ui, const struct pw_snapshot *present, double now);
/* The time of the next pw_time_show if no event arrives before it; 0: none needed. */
double pw_time_wakes(const struct pw_ui *ui, double now);

/* The snapshot at the right end of time: the present, or the end of the session. */
const struct pw_snapshot *pw_time_end(const struct pw_ui *ui);
/* Returns true if the view comes from a recorded session. */
bool pw_time_in_recording(const struct pw_ui *ui);
/* Returns true if the view is an earlier moment. */
bool pw_time_is_past(const struct pw_ui *ui);
/* Moves the view to the right end and stops playing. */
void pw_time_live(struct pw_ui *ui);

/* Sets *p to the session's player; to NULL with PW_OK if no session is recorded. */
enum pw_code pw_time_player(struct pw_ui *ui, struct pw_player **p, struct pw_err *err);
/* Moves the view to the moment after an event of the player. Its last event, or a later number, is the right
 * end. */
void pw_time_to_event(struct pw_ui *ui, uint64_t seq);
/* Moves the view to a step of the arm that is current there. */
enum pw_code pw_time_to_step(struct pw_ui *ui, int64_t step, struct pw_err *err);
/* Plays from the current moment; from the right end it starts at the beginning. */
enum pw_code pw_time_play(struct pw_ui *ui, double now, struct pw_err *err);
void pw_time_pause(struct pw_ui *ui);

/* Appends a session's short name: the last part of its path, without the ending. */
void pw_time_name(struct pw_str *out, const char *name);
/* "replay NAME · step 1240 · 12:31:07 · 4x" */
void pw_time_describe(const struct pw_ui *ui, struct pw_str *out);

#endif
