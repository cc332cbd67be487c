/* line.h - the prompt: readline without its terminal. Only line.c uses readline.
 *
 * readline edits the line (with the user's inputrc), searches the history and tracks the cursor. It reads and
 * writes no descriptor once the prompt exists. It receives only whole keys, so it never waits for the rest of
 * one. Pastes bypass it as text. readline's state is global: one prompt per process, on the UI thread. */
#ifndef PW_LINE_EDIT_H
#define PW_LINE_EDIT_H
#include "command/command.h"
#include "ui/canvas.h"
#include "ui/history.h"
#include <stdbool.h>
#include <stddef.h>

struct pw_line;

/* commands, history and seen (the data for completion) are borrowed. */
struct pw_line *pw_line_new(const struct pw_commands *commands, const struct pw_seen *seen,
                            struct pw_history *history);
void pw_line_free(struct pw_line *l); /* NULL is a no-op */

/* Opens the prompt with initial text. note (or NULL, borrowed) is shown after it until the next key. */
void pw_line_open(struct pw_line *l, const char *initial, const char *note);
/* Returns true between pw_line_open and the end of the line. */
bool pw_line_is_open(const struct pw_line *l);
/* The state of the prompt after a key. */
enum pw_line_state {
    PW_LINE_OPEN,     /* the user is still editing */
    PW_LINE_ACCEPTED, /* closed; pw_line_text returns the line */
    PW_LINE_CANCELLED /* closed */
};
/* Handles the bytes of one key; a lone ESC and Ctrl-C cancel. */
enum pw_line_state pw_line_key(struct pw_line *l, const char *bytes, size_t n);
/* Completes now if Tab was pressed last and waits for names of files. Call it when the disk's thread has read
 * some (base/recall.h). */
void pw_line_read(struct pw_line *l);
/* Inserts text unchanged. Several lines become commands of one line; if that is impossible, blanks replace
 * the line ends. */
void pw_line_paste(struct pw_line *l, const char *text, size_t n);

/* Remarks on the open line, until the next call. Strings are borrowed; NULL: none. */
struct pw_line_remark {
    size_t from, to;  /* bytes of an error, drawn red and underlined */
    const char *why;  /* the error, shown above the line */
    const char *hint; /* shown after the line instead of the command's usage */
};
void pw_line_remark(struct pw_line *l, const struct pw_line_remark *r);

/* Returns the current text; after PW_LINE_ACCEPTED the accepted text. */
const char *pw_line_text(const struct pw_line *l);

/* Draws the prompt into the first row of r, with the hint after it and the terminal's cursor on it. Draws the
 * completions of Tab above r. */
void pw_line_draw(struct pw_line *l, struct pw_canvas *c, struct pw_rect r);

#endif
