/* term.h - the terminal: shows a canvas, reads bytes. Only term.c uses curses.
 *
 * curses computes the changes since the last frame and sends them. keys.c decodes the bytes that are read
 * here. Only the UI thread calls this file; one terminal per process. */
#ifndef PW_TERM_H
#define PW_TERM_H
#include "base/err.h"
#include "ui/canvas.h"
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The user's choice; PW_WANT_AUTO: NO_COLOR, COLORTERM and the terminal's description decide. */
enum pw_color_want { PW_WANT_AUTO, PW_WANT_MONO, PW_WANT_16, PW_WANT_256, PW_WANT_TRUE };

/* The settings of the terminal. */
struct pw_term_config {
    int in, out;       /* descriptors of the terminal */
    int color;         /* enum pw_color_want */
    bool ascii;        /* only ASCII characters, whatever the locale */
    bool mouse, hover; /* mouse: report clicks, drags and the wheel; hover: also every move of the pointer */
    bool sync; /* bracket frames with DECSET 2026, so that a terminal with support for it only shows whole
                  frames */
};

struct pw_term;

/* PW_EUSER: in and out are not a terminal, or TERM has no cursor addressing. */
enum pw_code pw_term_possible(int in, int out, struct pw_err *err);

/* Is TERM the Linux console? Its fonts have at most 512 characters, and lack Braille and most block elements.
 */
bool pw_term_is_console(void);

/* The features of a terminal, by its description. */
struct pw_term_survey {
    bool described; /* TERM has a description, or pewter's own is used */
    bool mouse;     /* that description has a mouse */
    enum pw_colors colors;
};
/* Reads the description of the terminal at descriptor out, and opens no screen. want: enum pw_color_want. */
void pw_term_look(struct pw_term_survey *s, int out, int want);

/* Takes over the terminal. PW_EUSER: the terminal has no cursor addressing; use plain mode. Call
 * setlocale(LC_CTYPE, "") before. */
enum pw_code pw_term_open(struct pw_term **term, const struct pw_term_config *cfg, struct pw_err *err);
/* Restores the terminal to its earlier state. NULL is a no-op. */
void pw_term_close(struct pw_term *t);
/* Changes colours, mouse, hover and sync of an open terminal. On failure the terminal keeps its
 * configuration. */
enum pw_code pw_term_configure(struct pw_term *t, const struct pw_term_config *cfg, struct pw_err *err);

/* Returns the terminal's abilities. */
struct pw_abilities pw_term_abilities(const struct pw_term *t);
/* Asks the kernel for the size, at least 1x1. After SIGWINCH the answer is new. */
void pw_term_size(struct pw_term *t, int *rows, int *cols);
/* Shows the canvas. */
void pw_term_present(struct pw_term *t, const struct pw_canvas *c);
/* Sets the modes again and makes the next frame repaint every cell. Call it after another program used the
 * terminal. */
void pw_term_redraw(struct pw_term *t);
/* Asks for the background colour (OSC 11). The answer, if any, arrives as the key PW_KEY_BACKGROUND. */
void pw_term_ask_background(struct pw_term *t);
/* Returns the number of bytes read; 0: none available; -1: the terminal is gone. */
ssize_t pw_term_read(struct pw_term *t, char *bytes, size_t n);
/* Restores the terminal, stops the process as Ctrl-Z does, and takes the terminal over again when the process
 * continues. */
void pw_term_suspend(struct pw_term *t);

#endif
