/* opening.h - creates the lab on a thread of its own, while the screen or standard error shows what takes
 * long: the weights of a large session are read for seconds. UI thread. */
#ifndef PW_OPENING_H
#define PW_OPENING_H
#include "lab/lab.h"
#include "ui/canvas.h"
#include "ui/term.h"

enum { PW_OPENING_TYPED = 1024 };

struct pw_opening {
    struct pw_lab *lab;           /* NULL: not created */
    bool left;                    /* the user left with q or Ctrl-C */
    int signal;                   /* a signal ended the program; 0: none */
    char typed[PW_OPENING_TYPED]; /* [n_typed] bytes that were typed meanwhile, for the workbench */
    size_t n_typed;
};

/* Creates a lab as cfg says, and draws until that is done. signals: a signalfd (pw_app_signals). If the user
 * leaves or a signal ends the program, the lab's creation is cancelled, and the code is PW_ECANCEL. The
 * session is then as it was. Fails like pw_lab_create. */
enum pw_code pw_opening_run(struct pw_opening *o, const struct pw_lab_config *cfg, struct pw_term *term,
                            struct pw_canvas *canvas, int signals, struct pw_err *err);

/* The same without a screen, for a program that has blocked its signals. Progress goes to standard error if
 * that is a terminal: on one line that is overwritten (repaint), or as a line every five seconds. Otherwise
 * it is pw_lab_create. */
enum pw_code pw_opening_lines(struct pw_opening *o, const struct pw_lab_config *cfg, bool repaint,
                              struct pw_err *err);

#endif
