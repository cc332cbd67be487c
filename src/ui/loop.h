/* loop.h - the workbench's loop from inside: app.c waits, reads and draws, loop_keys.c knows what a key
 * means.
 */
#ifndef PW_LOOP_H
#define PW_LOOP_H
#include "base/clock.h"
#include "ui/app.h"
#include "ui/history.h"
#include "ui/keys.h"
#include "ui/line.h"
#include "ui/news.h"

struct pw_loop {
    struct pw_app app;
    struct pw_term *term;
    struct pw_term_config shown; /* the settings that the terminal has */
    struct pw_canvas canvas;
    struct pw_keys keys;
    struct pw_history history;
    struct pw_line *line;
    char note[PW_LINE];  /* behind what is typed: the line borrows it */
    struct pw_seen seen; /* what its completion may look at */
    int signals;
    enum pw_backdrop behind; /* the text, as far as the terminal has told */
    struct pw_news news;
    bool dirty;           /* a frame is due */
    double next_frame;    /* not before then */
    double waiting_since; /* of the bytes in keys that are no whole key yet; 0: none */
    double interrupted;   /* the last Ctrl-C */
    bool offered;         /* the command line asks whether to quit, and no key was pressed since */
    bool ended;
    int ended_by;      /* a signal; 0: none */
    struct pw_err end; /* why, if not by quitting */
};

/* ---- app.c */
void pw_loop_draw_at_once(struct pw_loop *l);
/* Runs a line; what is wrong with it is shown. */
void pw_loop_submit(struct pw_loop *l, const char *text, enum pw_send how);

/* ---- loop_keys.c */
void pw_loop_key(struct pw_loop *l, const struct pw_input *in);
void pw_loop_interrupt(struct pw_loop *l); /* Ctrl-C: a job, training; twice: an offer to quit */
void pw_loop_suspend(struct pw_loop *l);   /* Ctrl-Z */

#endif
