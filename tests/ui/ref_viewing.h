/* ref_viewing.h - the workbench with the session of ref_recording.h in a folder of its own, for tests of
 * moving through it. */
#ifndef REF_VIEWING_H
#define REF_VIEWING_H
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ui/app.h"

struct viewing {
    char folder[64], session[96];
    struct pw_app app;
    struct pw_canvas c;
    struct pw_str line;
    struct pw_err err;
    struct pw_snapshot *present; /* of the fabricated lab */
};

/* For cmocka's setup and teardown. */
int viewing_setup(void **state);
int viewing_teardown(void **state);
/* Runs a line, which must be accepted. */
void viewing_run(struct viewing *v, const char *line);
/* Runs a line, which must be refused with a message that contains `why`, and move nowhere. */
void viewing_refused(struct viewing *v, const char *line, const char *why);
/* Presses a key. Returns the command line that it stands for, until the next call. */
const char *viewing_press(struct viewing *v, int key);
/* Checks whether this text is on the screen. */
void viewing_shows(struct viewing *v, const char *what, bool shown);
/* Checks the steps of both arms at the shown moment. */
void viewing_steps_are(struct viewing *v, int64_t none, int64_t alibi);

#endif
