/* transport.h - selects the moment of a session that the panes show, and plays.
 *
 * A recorded session has a player (sessions/player.h). Each of its moments is a snapshot like the present
 * one, drawn by the same panes. `pewter replay NAME`, a workbench without a lab, shows only these. With a
 * lab, the session's own record is opened for reading when the user first goes back in time, and read on when
 * the user does so again. With a screen a thread of its own does this (past.c), because it takes as long as
 * the session is. The same thread reads new events, and the arrays of the moment, while a player is shown. If
 * no session is recorded, the past is the part that the snapshot keeps (ui->time).
 *
 * Only the view changes, never the lab. UI thread; times are CLOCK_MONOTONIC seconds. */
#ifndef PW_TRANSPORT_H
#define PW_TRANSPORT_H
#include "base/err.h"
#include "base/text.h"
#include "sessions/player.h"

struct pw_disk;
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
    /* past.c */
    bool beside;            /* another thread opens and reads, so that no key waits for it */
    struct pw_disk *reader; /* owned: that thread; NULL: not needed yet */
    bool reading;           /* it has the player, and the present is shown */
    bool read,
        waited; /* until pw_script_go_on: the reader has just returned the player; after waiting for a step */
    struct pw_ahead *ahead; /* owned: reads new events beside the player; NULL: not needed yet, or in use */
    bool looks;             /* the thread reads with it */
    double lacks_since;     /* since when the shown moment lacks arrays; 0: it lacks none */
    uint64_t back;          /* `at` when it took the player */
    bool goes;              /* a key moved to ui->time, which is then looked up */
    int64_t goes_ns;        /* likewise: a moment, CLOCK_REALTIME nanoseconds; 0: none */
    struct pw_err failed;   /* why there is no player, until a command has said so; "": no error */
};

/* Starts a replay without a lab; takes ownership of the player. */
void pw_time_open(struct pw_ui *ui, struct pw_player *player);
/* Closes the player, shows the present and ends the other thread. */
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

/* ---- past.c */
/* Sets *p to the session's player with its latest events; to NULL with PW_OK if no session is recorded, or
 * while it is being read (pw_time_reading). */
enum pw_code pw_time_player(struct pw_ui *ui, struct pw_player **p, struct pw_err *err);
/* Is the player being opened or read on? pw_time_show, called when pw_time_fd is readable, ends this. */
bool pw_time_reading(const struct pw_ui *ui);
int pw_time_fd(const struct pw_ui *ui); /* -1: there is no other thread */
/* If the lab has reported this step of the current arm, and it is not on disk yet, waits for it, about a
 * second: without a screen in this call, else as for pw_time_player. Returns true in the latter case. */
bool pw_time_awaits(struct pw_ui *ui, int64_t step);
/* Moves to ui->time or to a wall-clock time (ns since 1970), now or when the player has been read. */
void pw_time_go_when_read(struct pw_ui *ui, int64_t t_ns);
/* Does the shown moment lack arrays that are being read? Then a frame waits for them until pw_time_due (0: it
 * doesn't wait), and a command that draws waits for all of them. pw_time_complete asks for them. */
bool pw_time_lacks(const struct pw_ui *ui);
double pw_time_due(const struct pw_ui *ui);
void pw_time_complete(struct pw_ui *ui);
/* Reads new events, which pw_time_take adds to the player: with a screen on the other thread, else now. */
void pw_time_look(struct pw_ui *ui);
/* Takes the player back if it was read, and new events. */
void pw_time_take(struct pw_ui *ui);
/* Closes the player: on the other thread, if there is one. */
void pw_time_drop(struct pw_ui *ui);
/* The arm that goto means, and its last step on disk; -1: there is none. */
int pw_time_arm(const struct pw_ui *ui);
int64_t pw_time_last_step(struct pw_player *p, uint64_t near, int arm);
/* Moves the view to the moment after an event of the player. Its last event, or a later number, is the right
 * end. */
void pw_time_to_event(struct pw_ui *ui, uint64_t seq);
/* Sets the snapshots to draw after the player moved or was polled: its snapshots are only valid until its
 * next call. */
void pw_time_choose(struct pw_ui *ui);
/* Moves the view to a step of the arm that is current there. */
enum pw_code pw_time_to_step(struct pw_ui *ui, int64_t step, struct pw_err *err);
/* Plays from the current moment; from the right end it starts at the beginning. Does nothing while the player
 * is being read. */
enum pw_code pw_time_play(struct pw_ui *ui, double now, struct pw_err *err);
void pw_time_pause(struct pw_ui *ui);

/* Appends a session's short name: the last part of its path, without the ending. */
void pw_time_name(struct pw_str *out, const char *name);
/* "replay NAME · step 1240 · 12:31:07 · 4x" */
void pw_time_describe(const struct pw_ui *ui, struct pw_str *out);

#endif
