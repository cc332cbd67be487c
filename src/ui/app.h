/* app.h - the workbench's loop, and what a command of where=ui may touch.
 *
 * One thread: keys, signals and the lab's wake-ups come in, command lines and frames go out. Nothing wakes it
 * while nothing happens. */
#ifndef PW_APP_H
#define PW_APP_H
#include "base/opt.h"
#include "command/command.h"
#include "lab/lab.h"
#include "ui/term.h"
#include "ui/ui.h"
#include "ui/undo.h"
#include <stdbool.h>

/* What `set` sets. */
struct pw_settings {
    int color;  /* enum pw_color_want */
    int fps;    /* frames a second at most; a key is answered at once */
    int escape; /* milliseconds that a lone ESC may still become the beginning of a key */
    bool mouse, sync;
};
extern const struct pw_opt pw_settings_opts[]; /* commands/set.c */

enum pw_quit { PW_STAY, PW_QUIT_WHEN_IDLE, PW_QUIT_NOW };

/* The context of commands of where=ui. */
struct pw_app {
    struct pw_lab *lab;
    const struct pw_commands *commands;
    struct pw_ui ui;
    struct pw_settings settings; /* take effect before the next frame */
    struct pw_settings begin;    /* as the program began */
    struct pw_undo undo;
    struct pw_str to_terminal; /* bytes that go out beside the frames: the clipboard's */
    bool screen;               /* false in plain mode: there is nothing to focus */
    bool script;               /* the line being run is part of a script */
    enum pw_quit quit;
};

struct pw_app_config {
    const char *script; /* lines to begin with, run as a script; or NULL */
    int color;          /* enum pw_color_want */
    bool ascii;         /* no characters beyond ASCII, whatever the locale says */
};

/* Lines before and behind of it as one: everything is parsed first, and if that fails nothing is run or sent.
 */
enum pw_code pw_app_submit(struct pw_app *app, const char *text, enum pw_send how, struct pw_err *err);
/* What `submit` would do before it runs anything. */
enum pw_code pw_app_check(struct pw_app *app, const char *text, struct pw_err *err);
/* Shows a line of text as the answer to a command. */
void pw_app_say(struct pw_app *app, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Shows several lines: a page over the panes, or as they are in plain mode. */
void pw_app_page(struct pw_app *app, const char *title, const char *text);
/* For both modes: after lab, commands, screen and settings are set. What was wrong in the user's file goes to
 * errors, a line each. */
void pw_app_begin(struct pw_app *app, struct pw_str *errors);
void pw_app_end(struct pw_app *app);

/* Blocks the signals that the loop reads itself. Call it before any thread is made: threads inherit it. */
void pw_app_block_signals(void);
/* A descriptor that gives those signals (signalfd), close-on-exec and non-blocking. */
int pw_app_signals(void);

/* Can the workbench run here: are input and output a terminal that can place characters? Plain mode is for
 * the rest. */
bool pw_app_possible(void);
/* Runs the workbench until somebody quits (PW_OK), or until a signal or the end of the terminal stops it
 * (PW_ECANCEL; the message says which). PW_EUSER if the terminal is not one for this: plain mode is. The lab
 * stays the caller's. */
enum pw_code pw_app_run(struct pw_lab *lab, const struct pw_commands *all, const struct pw_app_config *cfg,
                        struct pw_err *err);

#endif
