/* loop.h - the internals of the workbench's loop. app.c waits, reads and draws; loop_keys.c interprets keys.
 */
#ifndef PW_LOOP_H
#define PW_LOOP_H
#include "base/clock.h"
#include "ui/app.h"
#include "ui/history.h"
#include "ui/keys.h"
#include "ui/line.h"
#include "ui/news.h"

/* The loop's state. It owns everything but the lab, which app borrows. */
struct pw_loop {
    struct pw_app app;
    struct pw_term *term;
    struct pw_term_config shown; /* the settings that the terminal has now */
    struct pw_canvas canvas;
    struct pw_keys keys;
    struct pw_history history;
    struct pw_line *line;
    char note[PW_LINE];  /* shown after the typed text; line borrows it */
    struct pw_seen seen; /* data for completion */
    int signals;
    enum pw_backdrop behind; /* the background as reported by the terminal */
    struct pw_news news;
    bool dirty;           /* a frame is due */
    double next_frame;    /* the earliest time of the next frame */
    double waiting_since; /* the arrival of bytes in keys that are not yet a whole key; 0: none */
    double interrupted;   /* time of the last Ctrl-C */
    bool offered;         /* the command line asks whether to quit, and no key was pressed since */
    bool ended;
    int ended_by;      /* a signal; 0: none */
    struct pw_err end; /* the cause, if the user did not quit */
};

/* ---- app.c */
void pw_loop_draw_at_once(struct pw_loop *l); /* in the loop's next pass, before the frame interval ends */
/* Runs a line and shows its error, if any. */
void pw_loop_submit(struct pw_loop *l, const char *text, enum pw_send how);

/* ---- loop_keys.c */
void pw_loop_key(struct pw_loop *l, const struct pw_input *in); /* handles an input and draws */
void pw_loop_interrupt(struct pw_loop *l); /* Ctrl-C: stops a job or training; twice: offers to quit */
void pw_loop_suspend(struct pw_loop *l);   /* Ctrl-Z */

#endif
