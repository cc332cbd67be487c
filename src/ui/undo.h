/* undo.h - undoes and redoes changes of settings, bindings and borders.
 *
 * A state is stored as the text that would restore it (config.h), so every setting is included. Changes of
 * the lab cannot be undone: steps were trained, random numbers drawn. */
#ifndef PW_UNDO_H
#define PW_UNDO_H
#include "base/err.h"

#define PW_UNDO_MAX 64

struct pw_app;
/* The stored states. */
struct pw_undo {
    int n, at;               /* number of texts, and the index of the present one */
    char *text[PW_UNDO_MAX]; /* owned, the oldest first */
};

/* Stores the present state if it differs from the last one. Call it after each possible change. */
void pw_undo_note(struct pw_app *app);
/* Goes one state back (-1) or forward (1) and reports the change. PW_EUSER: there is no such state. */
enum pw_code pw_undo_go(struct pw_app *app, int direction, struct pw_err *err);
void pw_undo_fini(struct pw_undo *u);

#endif
