/* app.h - the workbench's loop, and the state that commands with where=ui can use.
 *
 * The loop has one thread. Its input is keys, signals and wake-ups from the lab; its output is command lines
 * and frames. The loop sleeps while nothing happens. */
#ifndef PW_APP_H
#define PW_APP_H
#include "base/opt.h"
#include "command/command.h"
#include "lab/lab.h"
#include "ui/disk.h"
#include "ui/term.h"
#include "ui/ui.h"
#include "ui/undo.h"
#include "ui/watching.h"
#include <stdbool.h>
#include <stdio.h>

/* AUTO: the theme follows the terminal's answer; the marker is braille if the terminal has UTF-8 and
 * is not the Linux console. */
enum pw_theme_want { PW_THEME_AUTO, PW_THEME_DARK, PW_THEME_LIGHT };
enum pw_marker_want { PW_MARKER_AUTO, PW_MARKER_BRAILLE, PW_MARKER_BLOCK, PW_MARKER_ASCII };

/* The settings of the command `set`. */
struct pw_settings {
    int color;                   /* enum pw_color_want */
    int theme, marker, colormap; /* enum pw_theme_want, pw_marker_want, pw_colormap */
    int fps;                     /* maximum number of frames per second; a key press draws at once */
    int escape;                  /* milliseconds to wait after a lone ESC for the rest of a key's sequence */
    bool mouse, hover, sync;
};
extern const struct pw_opt pw_settings_opts[]; /* commands/set.c */

/* The rest of a script (script.c). */
enum pw_waiting { PW_WAIT_NOTHING, PW_WAIT_KEY, PW_WAIT_TIME, PW_WAIT_LAB, PW_WAIT_DISK, PW_WAIT_PAST };
struct pw_script {
    char **line; /* [n] owned: commands and places (PW_PLACE); entries before `at` are done */
    int at, n, cap;
    const char *file;    /* the file whose commands are being read; else NULL */
    char place[PW_LINE]; /* place of the next command; "" if it has none */
    bool placed;         /* the lab has received the place */
    int failures;        /* the lab's failures when the script began; a higher count ends the script */
    int files;           /* files that `source` inserted */
    int pressed;         /* keys that `press` inserted */
    bool sent;           /* a command was sent to the lab since the last snapshot */
    bool computed;       /* the data that the next command (`export figure`) was missing has been requested */
    enum pw_waiting waiting;
    double until; /* for PW_WAIT_TIME, CLOCK_MONOTONIC */
    /* what the next command needs: a request to the lab, or what is in its place (fresh.c); for PW_WAIT_DISK
     * a job */
    uint64_t request;
};

/* Typed lines that wait for a request to the lab, or for the past (fresh.c). They run in this order. */
struct pw_held {
    struct pw_held_entry {
        uint64_t request;
        char *line;
    } * entry;
    int n;
};

/* The steps of a lesson that were shown (lesson_pages.c). */
struct pw_lesson_pages {
    struct pw_lesson_page *page; /* [n] owned */
    int n, at;                   /* at: the one on screen; the last one is the present */
};

/* Whether the loop ends: not yet, once the lab is idle, or now. */
enum pw_quit { PW_STAY, PW_QUIT_WHEN_IDLE, PW_QUIT_NOW };

/* The context of commands with where=ui. */
struct pw_app {
    struct pw_lab *lab;          /* NULL: the workbench only replays a session */
    struct pw_player *recording; /* in: the session to replay; pw_app_begin moves it to ui */
    const struct pw_commands *commands;
    struct pw_ui ui;
    struct pw_settings settings; /* take effect before the next frame */
    struct pw_settings begin;    /* the settings at program start */
    struct pw_undo undo;
    struct pw_disk *disk;      /* its thread writes files; NULL: the calling thread does */
    struct pw_str to_terminal; /* bytes to send besides the frames, for the clipboard */
    bool screen;               /* false in plain mode: panes have no focus there */
    FILE *words;               /* without a screen: the stream for answers */
    bool alone;                /* no user can press a key, so `wait key` does not wait */
    bool script;               /* the command being run is part of a script */
    struct pw_script todo;
    struct pw_held held;
    uint64_t requests; /* requests sent to the lab so far */
    uint64_t jobs;     /* jobs of the disk that a script has waited for so far */
    bool fresh;        /* the request of the command being run has completed */
    bool put_off;      /* the last command waits for its request */
    struct pw_lesson_pages pages;
    struct pw_watching watching; /* a study */
    struct pw_filming *filming;  /* commands/film.c; NULL: no film is being made */
    enum pw_quit quit;
};

/* Arguments of pw_app_run. Texts are borrowed. */
struct pw_app_config {
    const struct pw_lab_config *lab; /* the lab to create; NULL: none, `recording` is replayed */
    struct pw_player *recording;     /* a session to replay instead of a lab, or NULL; ownership passes */
    const char *script;              /* commands to run first as a script, or NULL */
    const char *greeting;            /* the first message, or NULL */
    int color;                       /* enum pw_color_want */
    bool ascii;                      /* only ASCII characters, whatever the locale */
};

/* Runs or sends the commands of a text, at once or as a script (how). All commands are parsed first; if one
 * is invalid, none is run or sent. */
enum pw_code pw_app_submit(struct pw_app *app, const char *text, enum pw_send how, struct pw_err *err);
/* Does only the parsing of pw_app_submit. */
enum pw_code pw_app_check(struct pw_app *app, const char *text, struct pw_err *err);
/* Adds commands to the script: `add` after the rest, `insert` before it. file: the file's name for error
 * messages, or NULL. PW_EUSER: a quote is not closed; the script is unchanged. */
enum pw_code pw_script_add(struct pw_app *app, const char *file, const char *text, struct pw_err *err);
enum pw_code pw_script_insert(struct pw_app *app, const char *file, const char *text, struct pw_err *err);
/* Runs the commands that can be run now. Call it right after a new snapshot. If a command fails, the call
 * returns its error and the rest of the script is dropped. */
enum pw_code pw_script_go_on(struct pw_app *app, struct pw_err *err);
/* Returns true while a script or lesson is not finished. */
bool pw_script_busy(const struct pw_app *app);
/* Pauses the script until a key press (pw_script_key), or for a time. */
void pw_script_wait(struct pw_app *app, enum pw_waiting what, double seconds);
void pw_script_key(struct pw_app *app);
/* Handles Enter, blank, Backspace, q and Esc while a script waits: continue, one step back, or leave the
 * lesson. Returns false if the key has no effect here. */
bool pw_script_press(struct pw_app *app, int key);
/* pw_lesson_keep stores the view of a lesson's step that waits. pw_lesson_turn moves one stored step back
 * (-1) or forward (1) and returns false at the ends. pw_lesson_forget frees all stored steps. */
void pw_lesson_keep(struct pw_app *app);
bool pw_lesson_turn(struct pw_app *app, int by);
void pw_lesson_forget(struct pw_app *app);
/* The time of the next pw_script_go_on if no event arrives before it: as CLOCK_MONOTONIC seconds (0: none),
 * or as milliseconds from now (-1: none). */
double pw_script_wakes(const struct pw_app *app);
int pw_script_patience(const struct pw_app *app);
/* Drops the rest of the script and leaves the lesson. */
void pw_script_end(struct pw_app *app);

/* ---- fresh.c: commands that draw data of the chosen arm, or move in time */
/* Returns which data of the prompt and of encodings the pane draws. */
struct pw_needs pw_pane_needs(const struct pw_pane *pane);
/* A command calls it before it draws. Returns true if the lab has to compute the data first. Then the command
 * returns PW_OK and runs again after the request. */
bool pw_app_puts_off(struct pw_app *app, const struct pw_needs *needs, const struct pw_args *args);
/* Likewise while the session's player is being read; text is the command to run then. */
bool pw_app_puts_off_past(struct pw_app *app, const char *text);
bool pw_app_waited(
    const struct pw_app *app); /* Is there what a script with PW_WAIT_LAB or _PAST waits for? */
void pw_app_hold_rest(struct pw_app *app, const char *text); /* appends to the line that was put off last */
/* Runs the typed lines for which there is what they wait for, in the current snapshot. */
enum pw_code pw_app_run_held(struct pw_app *app, struct pw_err *err);
/* Drops these lines without running them. */
void pw_app_drop_held(struct pw_app *app);

/* Sets ui's look and theme from the settings. look: the terminal's abilities; behind: its reported
 * background. */
void pw_app_dress(struct pw_app *app, struct pw_abilities look, enum pw_backdrop behind);
/* Copies the workbench for a picture. The copy borrows all pointers. */
void pw_app_pose(const struct pw_app *app, struct pw_ui *ui);
/* Sends command lines to the lab and returns the view to the live present. PW_EUSER: there is no lab. */
enum pw_code pw_app_send(struct pw_app *app, const char *text, enum pw_send how, struct pw_err *err);
/* For a command that both the workbench and the lab run, such as `set`: sends `line` to the lab, with the
 * place of the command that is being run. */
enum pw_code pw_app_hand_on(struct pw_app *app, const char *line, struct pw_err *err);
/* Like pw_lab_idle and pw_lab_failures; without a lab they return true and 0. */
bool pw_app_idle(const struct pw_app *app);
int pw_app_failures(const struct pw_app *app);

/* ---- beside.c: reading and writing files */
/* Does a job and shows its text. Takes ownership of the job's members. With a screen the disk's thread does
 * the job, and pw_app_take_written shows its text or error; a script waits for the job. Without a screen the
 * call does the job. */
enum pw_code pw_app_write(struct pw_app *app, struct pw_disk_job *job, struct pw_err *err);
/* Shows the texts of the jobs that were done since the last call; returns the last error. */
enum pw_code pw_app_take_written(struct pw_app *app, struct pw_err *err);
/* Reads a text file of at most `limit` bytes now; the caller frees *text. */
enum pw_code pw_app_text(const char *path, size_t limit, char **text, struct pw_err *err);
/* Reads the file as a job of the disk and then calls use with its text. Later commands of the line or script
 * wait. find: appends, as a part of the job, the path of the file that `path` names; NULL: `path` is the
 * path.
 */
typedef enum pw_code pw_app_find(const char *name, struct pw_str *path, struct pw_err *err);
typedef enum pw_code pw_app_use(struct pw_app *app, const char *path, char *text, struct pw_err *err);
enum pw_code pw_app_read(struct pw_app *app, const char *path, pw_app_find *find, size_t limit,
                         pw_app_use *use, struct pw_err *err);

/* From now on completion and hints on this thread get names and texts of files from memory, and the disk's
 * thread reads them (base/recall.h). Reads the rest that this thread needs. Call it before the first frame,
 * and pw_recall_begin(NULL, NULL) at the end. */
void pw_app_begin_recall(struct pw_app *app);

/* Shows the name of the last session if it was not ended (pw_lab_find_unended). */
void pw_app_show_unended(struct pw_app *app);

/* Shows a line of text as a command's answer; without a screen prints it. */
void pw_app_answer(struct pw_app *app, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Shows several lines: as a page over the panes, or printed in plain mode. */
void pw_app_page(struct pw_app *app, const char *title, const char *text);
/* Sets the initial settings for a screen. Over ssh there are fewer frames and no hover, and the ESC
 * timeout is longer because keys arrive in pieces. */
void pw_app_settings(struct pw_settings *s, int color);
/* Initialises the workbench in both modes, after lab, commands, screen and settings are set. Appends mistakes
 * in the user's file to errors, one per line. */
void pw_app_begin(struct pw_app *app, struct pw_str *errors);
void pw_app_end(struct pw_app *app);
void pw_app_drop_film(struct pw_app *app); /* commands/film.c: drops an unfinished film */

/* Blocks the signals that the loop reads itself. Call it before any thread is created, because threads
 * inherit the mask. */
void pw_app_block_signals(void);
/* Returns a signalfd for those signals, close-on-exec and non-blocking. */
int pw_app_signals(void);
const char *pw_app_ended_by(int signal); /* "ended by SIGTERM", for a signal that ends the program */

/* Returns true if input and output are a terminal with cursor addressing. Plain mode serves all others. */
bool pw_app_possible(void);
/* Takes the screen, creates the lab of cfg while the screen shows the progress (opening.h), and runs the
 * workbench. PW_OK: the user quit. PW_ECANCEL: a signal or the loss of the terminal ended it; the message
 * names the cause, *signal is the signal or 0. PW_EUSER: the terminal has no cursor addressing; use plain
 * mode. Other codes are those of pw_lab_create. The caller destroys *lab, which is NULL if it was not
 * created; lab is NULL for a replay. */
enum pw_code pw_app_run(struct pw_lab **lab, const struct pw_commands *all, const struct pw_app_config *cfg,
                        int *signal, struct pw_err *err);

#endif
