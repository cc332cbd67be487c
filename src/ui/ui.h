/* ui.h - the state of the workbench (focus, cursors, pages), and the interface of a pane.
 *
 * Panes draw only from the snapshot and this state. A key either changes this state or becomes a command
 * line, because every change of the lab is a line. Such a line states a move, not a target (`inspect
 * head=+1`): the lab moves on from its own state, so keys that arrive faster than answers all count. */
#ifndef PW_UI_H
#define PW_UI_H
#include <stdio.h>

#include "base/err.h"
#include "base/progress.h"
#include "base/text.h"
#include "command/command.h"
#include "plot/ramp.h"
#include "sessions/fold.h"
#include "ui/bindings.h"
#include "ui/canvas.h"
#include "ui/layout.h"
#include "ui/panes/states.h"
#include "ui/transport.h"

#define PW_KEY_ESCAPE 27
#define PW_CTRL(c)    ((c)&31) /* c: an upper-case letter */

/* Keys beyond the Unicode code points. */
enum pw_key {
    PW_KEY_UP = 0x110000,
    PW_KEY_DOWN,
    PW_KEY_LEFT,
    PW_KEY_RIGHT,
    PW_KEY_HOME,
    PW_KEY_END,
    PW_KEY_PAGE_UP,
    PW_KEY_PAGE_DOWN,
    PW_KEY_BACKTAB,
    PW_KEY_SHIFT_LEFT,
    PW_KEY_SHIFT_RIGHT,
    PW_KEY_DELETE,
    PW_KEY_F1, /* F2 to F11 follow */
    PW_KEY_F12 = PW_KEY_F1 + 11,
    PW_KEY_MOUSE,
    PW_KEY_PASTE,
    PW_KEY_BACKGROUND /* the terminal's answer to pw_term_ask_background */
};

/* How the user wants the screen to look. */
enum pw_backdrop { PW_ON_UNKNOWN, PW_ON_DARK, PW_ON_LIGHT };
enum pw_marker { PW_BRAILLE, PW_BLOCKS };
/* The colours and glyphs of the screen. */
struct pw_theme {
    enum pw_backdrop backdrop; /* the background of the text */
    enum pw_marker marker;     /* how curves are drawn, if there is UTF-8 */
    enum pw_colormap map;      /* for values from 0 up */
};

/* The workbench's state. Plain values, apart from what pw_ui_fini frees and borrowed pointers. */
struct pw_ui {
    const struct pw_snapshot *snap;    /* never NULL while drawing */
    const struct pw_snapshot *present; /* the right end, while snap is of a session's past; else NULL */
    struct pw_abilities look;
    struct pw_theme theme;
    int rows, cols; /* size of the screen; 0: not known yet */
    int focus;      /* enum pw_pane_id */
    bool zoom;      /* the focused pane fills the screen */
    bool half;      /* the pane half_of has half of the screen or more */
    int half_of;
    int recent[PW_PANES]; /* panes ordered by their last focus, the latest first: layout.h */
    struct pw_proportions split;
    bool help;    /* the list of keys and commands covers the screen */
    int help_top; /* the first line shown */
    struct {      /* the state of that list: palette.h */
        char filter[64];
        int at;  /* the selected entry */
        int nth; /* which of the entry's keys Enter presses */
    } palette;
    struct { /* a drag with the left button: mouse.h */
        enum pw_drag { PW_DRAG_NONE, PW_DRAG_BORDER, PW_DRAG_TIME, PW_DRAG_PANE } what;
        struct pw_border border;
        int from; /* of a border: the pointer's column or row at the press */
        int pane;
        bool moved; /* since the press */
    } drag;
    struct pw_bindings bindings;
    const struct pw_commands *commands; /* for that list; NULL: no commands */
    struct {                            /* search and filter: search.h */
        char text[64];                  /* "": no search */
        int at, n;                      /* the current match and the number of matches */
        bool fresh;                     /* the matches are to be counted and reported */
        bool trying; /* text is still being typed; before and up hold the state to restore */
        char before[64];
        int up; /* of the log */
    } find;
    struct { /* text that covers the screen until Esc or the next typed line: page.h */
        char title[64];
        struct pw_str text; /* empty: no page */
        int top;
    } page;
    char message[PW_LINE * 2]; /* answer or error of the last line; "": none */
    bool message_is_error;
    int64_t time;                  /* the time cursor's step if no session is recorded; -1: live */
    struct pw_transport transport; /* the same for a recorded session */
    int press;                     /* a key that the list (palette.h) asks the loop to press; 0: none */
    struct pw_progress_now reads;  /* what the lab reads now; what: NULL: nothing */
    bool no_machine;   /* a picture without data of this machine: no processor, no rates, no times of day */
    char ask[PW_LINE]; /* a key asks the loop to open the prompt with this text; "": no */
    char ask_note[PW_LINE]; /* the note to show after that text; "": none */

    struct { /* the running lesson (script.c); the title is empty if there is none */
        char title[64];
        char text[PW_LINE * 6]; /* of the current step; a line per paragraph */
        int step, steps;        /* from 1 */
        bool read, waiting;     /* read: the next `say` begins a new step; waiting: a key continues */
        bool over;              /* the lesson ended, and no key was pressed since */
    } lesson;
    int findings_seen; /* number of findings seen; a new finding shows its pane */
#define PW_PANE_STATE(name) struct pw_##name##_state name;
    PW_PANE_STATES(PW_PANE_STATE) /* panes/states.h */
#undef PW_PANE_STATE
};

/* The data that a pane needs besides the events: the answer to the pinned prompt with its attention and
 * parts, or the tables of an encoding. */
enum pw_shows { PW_SHOWS_EVENTS, PW_SHOWS_ANSWER, PW_SHOWS_TABLE };

/* The descriptor of a pane. Constant. */
struct pw_pane {
    const char *name; /* for the command `focus NAME` */
    const char *title;
    const char *hints; /* keys of this pane, for the hint line: "hjkl cursor  [ ] head" */
    /* Appends the text at the right end of the title; can leave it empty. */
    void (*status)(const struct pw_ui *ui, struct pw_str *out);
    /* Draws a settled state into `inside`. */
    void (*draw)(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect inside);
    /* Handles a key while the pane has the focus; appends a command line to `line` if the key is a command.
     * Returns false if the key has no effect here. */
    bool (*key)(struct pw_ui *ui, int key, struct pw_str *line);
    const char *const *keys; /* "key", "what it does", ..., NULL: for the help screen; palette.h */
    /* Prints the contents of all its pages in words and tables, for `show`. */
    void (*words)(FILE *out, const struct pw_ui *ui);

    enum pw_shows shows; /* the data to compute before a picture is drawn: ui/fresh.c */

    /* The rest is optional: NULL if the pane lacks it. */

    /* Set the pane's state at the program's start; free what it owns. */
    void (*init)(struct pw_ui *ui);
    void (*fini)(struct pw_ui *ui);
    /* Fits the state to the snapshot and to this inside: clamps cursors, scrolls. Called before the pane is
     * drawn and before input; a second call with the same arguments changes nothing. */
    void (*settle)(struct pw_ui *ui, struct pw_rect inside);

    /* Handles a press of the left button in a cell of its inside, or a drag to it; otherwise like `key`.
     * Computes the place of what it draws from inside and the state, as `draw` does. line NULL: the pointer
     * only hovers, which moves the readout and has no other effect. */
    bool (*click)(struct pw_ui *ui, int y, int x, struct pw_rect inside, struct pw_str *line);
    /* The pointer left the pane. */
    void (*leave)(struct pw_ui *ui);
    /* Appends the pane's data as tab-separated values: a line of names, then a line per row. If NULL, the
     * drawn text is copied. */
    void (*copy)(const struct pw_ui *ui, struct pw_str *out);
    /* Scrolls to the next line that contains the text (direction 1), the previous one (-1) or the first (0).
     * Returns the number of such lines. If NULL, the drawn cells are searched. */
    int (*find)(struct pw_ui *ui, const char *text, int direction);
    /* Returns the name of the shown page for `export figure page=`; NULL: the first page with data. */
    const char *(*page)(const struct pw_ui *ui);
};

extern const struct pw_pane *const pw_panes[PW_PANES]; /* by enum pw_pane_id; panes.c */
extern const char *const pw_pane_names[PW_PANES + 1];  /* their names, NULL-terminated */
/* Sets *id to the pane with this name. The error message names `what` (a command) and lists the panes. */
enum pw_code pw_ui_find_pane(const char *what, const char *name, int *id, struct pw_err *err);
/* Offers the pane names as a command's first word (struct pw_command's complete). */
void pw_ui_complete_pane(struct pw_completion *c);

/* Sets the state at the program's start; pw_ui_fini frees what the state owns. */
void pw_ui_init(struct pw_ui *ui);
void pw_ui_fini(struct pw_ui *ui);
/* Makes a plain copy of the state independent of the original, for another thread: without snapshots, player,
 * page and list of keys. pw_ui_fini frees it. */
void pw_ui_detach(struct pw_ui *copy);
/* Computes the layout of a screen of this size. */
void pw_ui_layout(const struct pw_ui *ui, int rows, int cols, struct pw_layout *l);
/* Returns a pane's rectangle without its frame. */
struct pw_rect pw_ui_inside(const struct pw_layout *l, int pane);
/* Fits the state to the snapshot and to a screen of this size. Call it before drawing, and before input after
 * one of them changed; a second call with the same arguments changes nothing. */
void pw_ui_settle(struct pw_ui *ui, int rows, int cols);
/* Draws everything but the prompt's text: status line, panes, timeline, hints, message, help. The state must
 * be settled for the canvas' size. */
void pw_ui_draw(const struct pw_ui *ui, struct pw_canvas *c);
/* Draws one pane into r with its frame. */
void pw_ui_draw_pane(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r, int pane);
/* Settles the state for the canvas' size and draws it. */
void pw_ui_frame(struct pw_ui *ui, struct pw_canvas *c);
/* Handles a key. The order is: a list or page that covers the screen, the user's bindings, the focused pane,
 * the workbench (Tab, 1-8, z, space, ?, ...). Appends a command line to `line` if the key is a command, such
 * as "quit". Returns false if the key has no effect. The caller handles ':'. */
bool pw_ui_key(struct pw_ui *ui, int key, struct pw_str *line);
/* Focuses a pane and shows it. */
void pw_ui_focus(struct pw_ui *ui, int pane);
/* Opens the command line with `prompt` and the typed text. If the text does not begin with a word, the task's
 * name precedes it. */
void pw_ui_ask_prompt(struct pw_ui *ui, const char *typed);
void pw_ui_message(struct pw_ui *ui, const char *text); /* sets the message, not as an error */

/* ---- colours that panes share (theme.c, ramp.c) */
struct pw_style pw_style_arm(const struct pw_ui *ui,
                             int arm); /* id 1..8: Okabe-Ito; in mono the glyph distinguishes arms */
const char *pw_arm_mark(const struct pw_ui *ui,
                        int arm); /* one-column marker, so that colour is never the only carrier */
/* pw_ramp_use selects the colour map and the depth of colours; pw_ui_draw calls it. The others return the
 * colour of a value. */
void pw_ramp_use(enum pw_colormap map, enum pw_colors colors);
uint32_t pw_ramp(float x);        /* sequential, 0..1, monotone in lightness */
uint32_t pw_ramp_signed(float x); /* diverging, -1..1: blue, white, orange */

#endif
