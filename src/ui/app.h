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
#include <stdio.h>

/* AUTO: what the terminal answers; braille wherever there is UTF-8. */
enum pw_theme_want { PW_THEME_AUTO, PW_THEME_DARK, PW_THEME_LIGHT };
enum pw_marker_want { PW_MARKER_AUTO, PW_MARKER_BRAILLE, PW_MARKER_BLOCK, PW_MARKER_ASCII };

/* What `set` sets. */
struct pw_settings {
    int color;                   /* enum pw_color_want */
    int theme, marker, colormap; /* enum pw_theme_want, pw_marker_want, pw_colormap */
    int fps;                     /* frames a second at most; a key is answered at once */
    int escape;                  /* milliseconds that a lone ESC may still become the beginning of a key */
    bool mouse, hover, sync;
};
extern const struct pw_opt pw_settings_opts[]; /* commands/set.c */

/* What is still to do of a script (script.c). */
enum pw_waiting { PW_WAIT_NOTHING, PW_WAIT_KEY, PW_WAIT_TIME, PW_WAIT_LAB };
struct pw_script {
    char **line; /* [n] commands and places (PW_PLACE), those before `at` are done */
    int at, n, cap;
    const char *file;    /* that commands are read from, while they are */
    char place[PW_LINE]; /* where the next one stands; "": nowhere */
    bool placed;         /* the laboratory knows it */
    int failures;        /* that the laboratory had when it began: more of them end it */
    int files;           /* that `source` has put into it */
    int pressed;         /* keys that `press` has put into it */
    bool sent;           /* something went to the laboratory since the last snapshot */
    bool computed;       /* what the next command, an `export figure`, lacked has been asked for */
    enum pw_waiting waiting;
    double until;     /* with PW_WAIT_TIME, CLOCK_MONOTONIC */
    uint64_t request; /* with PW_WAIT_LAB, its number: the command that draws is next */
};

/* Typed lines that wait for a request to the laboratory (fresh.c), in the order of the requests. */
struct pw_held {
    struct pw_held_entry {
        uint64_t request;
        char *line;
    } * entry;
    int n;
};

/* The steps of a lesson that were read (lesson_pages.c). */
struct pw_lesson_pages {
    struct pw_lesson_page *page; /* [n] owned */
    int n, at;                   /* at: the one that is shown; the last is the present */
};

enum pw_quit { PW_STAY, PW_QUIT_WHEN_IDLE, PW_QUIT_NOW };

/* The context of commands of where=ui. */
struct pw_app {
    struct pw_lab *lab;          /* NULL: there is only a recording */
    struct pw_player *recording; /* to begin with; ui's from then on */
    const struct pw_commands *commands;
    struct pw_ui ui;
    struct pw_settings settings; /* take effect before the next frame */
    struct pw_settings begin;    /* as the program began */
    struct pw_undo undo;
    struct pw_str to_terminal; /* bytes that go out beside the frames: the clipboard's */
    bool screen;               /* false in plain mode: there is nothing to focus */
    FILE *words;               /* without a screen: where answers go in words */
    bool alone;                /* nobody can press a key */
    bool script;               /* the line being run is part of a script */
    struct pw_script todo;
    struct pw_held held;
    uint64_t requests; /* to the laboratory so far */
    bool fresh;        /* the line being run has waited for its request */
    bool put_off;      /* the command that ran last waits for its request */
    struct pw_lesson_pages pages;
    enum pw_quit quit;
};

struct pw_app_config {
    struct pw_player *recording; /* taken, in place of a laboratory; or NULL */
    const char *script;          /* lines to begin with, run as a script; or NULL */
    const char *greeting;        /* the first message; or NULL */
    int color;                   /* enum pw_color_want */
    bool ascii;                  /* no characters beyond ASCII, whatever the locale says */
};

/* Lines before and behind of it as one: everything is parsed first, and if that fails nothing is run or sent.
 */
enum pw_code pw_app_submit(struct pw_app *app, const char *text, enum pw_send how, struct pw_err *err);
/* What `submit` would do before it runs anything. */
enum pw_code pw_app_check(struct pw_app *app, const char *text, struct pw_err *err);
/* A script's commands behind those that are still to do, or before them. file: where they stand, for errors,
 * or NULL. PW_EUSER: a quote is not closed, and nothing is added. */
enum pw_code pw_script_add(struct pw_app *app, const char *file, const char *text, struct pw_err *err);
enum pw_code pw_script_insert(struct pw_app *app, const char *file, const char *text, struct pw_err *err);
/* Runs what can be run now. To be called right after a new snapshot; fails as the command does that failed,
 * and the rest is dropped. */
enum pw_code pw_script_go_on(struct pw_app *app, struct pw_err *err);
bool pw_script_busy(const struct pw_app *app);
/* Stops it until a key comes (pw_script_key), or for a time. */
void pw_script_wait(struct pw_app *app, enum pw_waiting what, double seconds);
void pw_script_key(struct pw_app *app);
/* Enter, blank, Backspace, q or Esc: goes on, a step back, or leaves a lesson. False: the key means nothing
 * to it. */
bool pw_script_press(struct pw_app *app, int key);
/* A lesson's step waits: keeps what is shown. Goes a step back (-1) or on (1) among those kept; false: there
 * is none. Forgets them. */
void pw_lesson_keep(struct pw_app *app);
bool pw_lesson_turn(struct pw_app *app, int by);
void pw_lesson_forget(struct pw_app *app);
/* When go_on should be called again though nothing happens (CLOCK_MONOTONIC), 0: never; the same in
 * milliseconds from now, -1: never. */
double pw_script_wakes(const struct pw_app *app);
int pw_script_patience(const struct pw_app *app);
/* Drops what is still to do, and leaves a lesson. */
void pw_script_end(struct pw_app *app);

/* ---- fresh.c: commands that draw what the chosen arm answers */
/* What a pane shows of the prompt and of encodings. */
struct pw_needs pw_pane_needs(const struct pw_pane *pane);
/* A command calls it before it draws. True: the laboratory computes that first, the command runs again then,
 * and now it ends with PW_OK. */
bool pw_app_puts_off(struct pw_app *app, const struct pw_needs *needs, const struct pw_args *args);
void pw_app_hold_rest(struct pw_app *app, const char *text); /* behind the line that was put off last */
/* Runs typed lines whose request the snapshot ends with. */
enum pw_code pw_app_run_held(struct pw_app *app, struct pw_err *err);
void pw_app_drop_held(struct pw_app *app);

/* Look and theme of ui by the settings: look is what the terminal can show, behind what it has answered. */
void pw_app_dress(struct pw_app *app, struct pw_look look, enum pw_backdrop behind);
/* A copy of the workbench, which borrows what it has, as a picture is to show it. */
void pw_app_pose(const struct pw_app *app, struct pw_ui *ui);
/* Sends lines to the laboratory, which is looked at live again. PW_EUSER: there is none. */
enum pw_code pw_app_send(struct pw_app *app, const char *text, enum pw_send how, struct pw_err *err);
/* The same for commands whose other half is the laboratory's: in the place of the line being run. */
enum pw_code pw_app_hand_on(struct pw_app *app, const char *line, struct pw_err *err);
/* As pw_lab_idle and pw_lab_failures; where there is no laboratory it has nothing to do. */
bool pw_app_idle(const struct pw_app *app);
int pw_app_failures(const struct pw_app *app);

/* Shows a line of text as the answer to a command; without a screen prints it. */
void pw_app_say(struct pw_app *app, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Shows several lines: a page over the panes, or as they are in plain mode. */
void pw_app_page(struct pw_app *app, const char *title, const char *text);
/* What is set at the beginning, on a screen: over ssh less is sent, and keys arrive in pieces. */
void pw_app_settings(struct pw_settings *s, int color);
/* For both modes: after lab, commands, screen and settings are set. What was wrong in the user's file goes to
 * errors, a line each. */
void pw_app_begin(struct pw_app *app, struct pw_str *errors);
void pw_app_end(struct pw_app *app);

/* Blocks the signals that the loop reads itself. Call it before any thread is made: threads inherit it. */
void pw_app_block_signals(void);
/* A descriptor that gives those signals (signalfd), close-on-exec and non-blocking. */
int pw_app_signals(void);
const char *pw_app_ended_by(int signal); /* "ended by SIGTERM", of one that ends the program */

/* Can the workbench run here: are input and output a terminal that can place characters? Plain mode is for
 * the rest. */
bool pw_app_possible(void);
/* Runs the workbench until somebody quits (PW_OK), or until a signal or the end of the terminal stops it
 * (PW_ECANCEL; the message says which, and *signal is it, else 0). PW_EUSER if the terminal is not one for
 * this: plain mode is. The lab stays the caller's; with a recording it is NULL. */
enum pw_code pw_app_run(struct pw_lab *lab, const struct pw_commands *all, const struct pw_app_config *cfg,
                        int *signal, struct pw_err *err);

#endif
