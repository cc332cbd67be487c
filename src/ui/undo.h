/* undo.h - settings, bindings and borders as they were, to go back to and forth.
 *
 * What is kept is the text that would make them so (config.h), so nothing that can be set can be forgotten
 * here. What changes the laboratory is not undone: steps were trained, numbers drawn. */
#ifndef PW_UNDO_H
#define PW_UNDO_H
#include "base/err.h"

#define PW_UNDO_MAX 64

struct pw_app;
struct pw_undo {
    int n, at;               /* texts kept, and which of them is the present */
    char *text[PW_UNDO_MAX]; /* the oldest first */
};

/* Looks whether anything differs from the present, and keeps it if so. Call it after whatever may have
 * changed something. */
void pw_undo_note(struct pw_app *app);
/* One back (-1) or forth (1), and says what changed. PW_EUSER: there is nothing. */
enum pw_code pw_undo_go(struct pw_app *app, int direction, struct pw_err *err);
void pw_undo_fini(struct pw_undo *u);

#endif
