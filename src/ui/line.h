/* line.h - the prompt: readline without its terminal. The only part of pewter that knows readline.
 *
 * readline edits (with the user's inputrc), searches history and knows where the cursor is; it reads no
 * descriptor and writes none. Whole keys are fed to it, so it never waits for the rest of one. Pastes go
 * around it, as text. readline's state is global: one prompt a process, on the UI thread. */
#ifndef PW_LINE_EDIT_H
#define PW_LINE_EDIT_H
#include "command/command.h"
#include "ui/canvas.h"
#include "ui/history.h"
#include <stdbool.h>
#include <stddef.h>

struct pw_line;

/* commands, history and what completion may look at are borrowed. */
struct pw_line *pw_line_new(const struct pw_commands *commands, const struct pw_seen *seen,
                            struct pw_history *history);
void pw_line_free(struct pw_line *l); /* NULL is a no-op */

/* Opens the prompt with text already typed; note (or NULL, borrowed) stands behind it until the next key. */
void pw_line_open(struct pw_line *l, const char *initial, const char *note);
bool pw_line_is_open(const struct pw_line *l);
enum pw_line_state {
    PW_LINE_OPEN,     /* goes on */
    PW_LINE_ACCEPTED, /* closed; pw_line_text has the line */
    PW_LINE_CANCELLED /* closed */
};
/* One key as it came from the terminal; ESC alone and Ctrl-C cancel. */
enum pw_line_state pw_line_key(struct pw_line *l, const char *bytes, size_t n);
/* Inserts text as it is; lines become the commands of one line, or if they can't, blanks stand for their
 * ends. */
void pw_line_paste(struct pw_line *l, const char *text, size_t n);

/* What is typed, or after PW_LINE_ACCEPTED what was. */
const char *pw_line_text(const struct pw_line *l);

/* Draws the prompt into the first row of r, with the hint behind it and the terminal's cursor on it, and what
 * Tab found above r. */
void pw_line_draw(struct pw_line *l, struct pw_canvas *c, struct pw_rect r);

#endif
