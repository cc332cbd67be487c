/* watching.h - the study that the findings pane shows, read again every two seconds while it runs, also if
 * another process or another machine runs it.
 *
 * The folder is read on the disk's thread. The functions belong to the UI thread. */
#ifndef PW_WATCHING_H
#define PW_WATCHING_H
#include "base/err.h"

struct pw_app;
struct pw_finding_view;
struct pw_watched; /* a study with its findings */

/* Part of struct pw_app. */
struct pw_watching {
    struct pw_watched *study; /* NULL: none is watched */
    double next;              /* CLOCK_MONOTONIC; 0: it is being read */
};

/* Show the findings of a study from now on, in place of another study's. If its folder can't be read, the
 * pane stays as it is. */
enum pw_code pw_watching_begin(struct pw_app *app, const char *name, struct pw_err *err);
/* Remove them from the pane. */
void pw_watching_end(struct pw_app *app);
/* Read again if it is time. */
void pw_watching_look(struct pw_app *app);
double
pw_watching_wakes(const struct pw_app *app); /* the time of the next pw_watching_look; 0: none is due */
/* The finding "NAME TOPIC" of the watched study; "": the first. NULL: it has none. Valid until the loop goes
 * on. */
const struct pw_finding_view *pw_watching_finding(const struct pw_app *app, const char *text);
/* The commands that make its report; "" if no study is watched. */
const char *pw_watching_commands(const struct pw_app *app);
/* The name of the watched study, or NULL. */
const char *pw_watching_name(const struct pw_app *app);

#endif
