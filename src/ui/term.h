/* term.h - the terminal: a canvas goes out, bytes come in. The only part of pewter that knows curses.
 *
 * curses finds what changed since the last frame and sends that. Keys are decoded by keys.h from the bytes
 * read here. Only the UI thread calls this; one terminal a process. */
#ifndef PW_TERM_H
#define PW_TERM_H
#include "base/err.h"
#include "ui/canvas.h"
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* What the user wants; PW_WANT_AUTO: NO_COLOR, COLORTERM and the terminal's description decide. */
enum pw_color_want { PW_WANT_AUTO, PW_WANT_MONO, PW_WANT_16, PW_WANT_256, PW_WANT_TRUE };

struct pw_term_config {
    int in, out;       /* descriptors of the terminal */
    int color;         /* enum pw_color_want */
    bool ascii;        /* no characters beyond ASCII, whatever the locale says */
    bool mouse, hover; /* clicks, drags and the wheel; with them every move of the pointer */
    bool sync; /* bracket frames with DECSET 2026, so that a terminal that knows it shows whole frames only */
};

struct pw_term;

/* PW_EUSER if in and out are no terminal, or TERM says that it can't place characters. */
enum pw_code pw_term_possible(int in, int out, struct pw_err *err);

/* Takes the terminal over. PW_EUSER if this is no terminal that can place characters: plain mode is for
 * those. setlocale(LC_CTYPE, "") must have been called. */
enum pw_code pw_term_open(struct pw_term **term, const struct pw_term_config *cfg, struct pw_err *err);
/* Gives it back as it was. NULL is a no-op. */
void pw_term_close(struct pw_term *t);
/* Changes colours, mouse, hover and sync of an open terminal; on failure it keeps what it had. */
enum pw_code pw_term_configure(struct pw_term *t, const struct pw_term_config *cfg, struct pw_err *err);

struct pw_look pw_term_look(const struct pw_term *t);
/* Asks the kernel; after SIGWINCH the answer is new. At least 1x1. */
void pw_term_size(struct pw_term *t, int *rows, int *cols);
/* Shows the canvas. */
void pw_term_present(struct pw_term *t, const struct pw_canvas *c);
/* Sets the modes again, and the next frame repaints every cell: after somebody else used the terminal. */
void pw_term_redraw(struct pw_term *t);
/* Asks for the colour of the background (OSC 11). The answer, if any, comes among the keys:
 * PW_KEY_BACKGROUND. */
void pw_term_ask_background(struct pw_term *t);
/* Bytes that are there; 0: none now; -1: the terminal is gone. */
ssize_t pw_term_read(struct pw_term *t, char *bytes, size_t n);
/* Gives the terminal back, stops the process as Ctrl-Z does, and takes the terminal over again when it goes
 * on. */
void pw_term_suspend(struct pw_term *t);

#endif
