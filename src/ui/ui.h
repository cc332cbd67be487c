/* ui.h - the state of the workbench (what is focused, where cursors stand) and what a pane is.
 *
 * Panes draw from the snapshot and this state, nothing else. A key either changes this state or becomes a
 * command line: everything that changes the laboratory is a line. */
#ifndef PW_UI_H
#define PW_UI_H
#include <stdio.h>

#include "base/err.h"
#include "base/text.h"
#include "command/command.h"
#include "plot/ramp.h"
#include "sessions/fold.h"
#include "ui/bindings.h"
#include "ui/canvas.h"
#include "ui/layout.h"
#include "ui/transport.h"

#define PW_KEY_ESCAPE 27
#define PW_CTRL(c)    ((c)&31) /* of an upper-case letter */

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
    PW_KEY_F1, /* F2 and so on follow */
    PW_KEY_F12 = PW_KEY_F1 + 11,
    PW_KEY_MOUSE,
    PW_KEY_PASTE,
    PW_KEY_BACKGROUND /* the terminal's answer to pw_term_ask_background */
};

/* How they should be shown. */
enum pw_backdrop { PW_ON_UNKNOWN, PW_ON_DARK, PW_ON_LIGHT };
enum pw_marker { PW_BRAILLE, PW_BLOCKS };
struct pw_theme {
    enum pw_backdrop backdrop; /* what is behind the text */
    enum pw_marker marker;     /* what curves are drawn with, where there is UTF-8 */
    enum pw_colormap map;      /* of values from 0 up */
};

/* What the cursors of the encoding's pages stand on. */
enum pw_enc_cursor {
    PW_ENC_DISTANCE, /* of a key from its query; of added rows the position */
    PW_ENC_HEAD,
    PW_ENC_BUCKET,
    PW_ENC_PAIR,   /* of a rotation */
    PW_ENC_COLUMN, /* of an added row */
    PW_ENC_OTHER,  /* a second position */
    PW_ENC_KEY,    /* row of the relative keys */
    PW_ENC_ENTRY,  /* of such a row */
    PW_ENC_QUERY,  /* of those whose bias is told */
    PW_ENC_CURSORS
};

/* Cells that stand for values of such a cursor: what a click there, or the pointer, moves it to. */
struct pw_enc_area {
    struct pw_rect r;
    enum pw_enc_cursor cursor;
    enum pw_enc_along { PW_ENC_ACROSS, PW_ENC_DOWN, PW_ENC_BETWEEN } along; /* BETWEEN: row less column */
    int first;                                                              /* value of the first cell */
    double size; /* cells a value, or fewer than one */
    int pool;    /* values drawn as one; 0: 1 */
};
#define PW_ENC_AREAS 4 /* on a page */

struct pw_ui {
    const struct pw_snapshot *snap;    /* never NULL while drawing */
    const struct pw_snapshot *present; /* while snap is of a recording's past: its right end; else NULL */
    struct pw_look look;
    struct pw_theme theme;
    int rows, cols;       /* of the screen, as last drawn */
    int focus;            /* enum pw_pane_id */
    bool zoom;            /* the focused pane fills the screen */
    bool half;            /* a pane has half of it, or more: */
    int half_of;          /* this one */
    int recent[PW_PANES]; /* panes in the order in which they had the focus, the latest first: layout.h */
    struct pw_proportions split;
    bool help;    /* the list of keys and commands covers the screen */
    int help_top; /* first line shown */
    struct {      /* that list: palette.h */
        char filter[64];
        int at;  /* the chosen entry */
        int nth; /* of its keys, the one that Enter presses */
    } palette;
    struct { /* the left button is held: mouse.h */
        enum pw_drag { PW_DRAG_NONE, PW_DRAG_BORDER, PW_DRAG_TIME, PW_DRAG_PANE } what;
        struct pw_border border;
        int from; /* the border: the pointer's column or row at the press */
        int pane;
        bool moved; /* since the press */
    } drag;
    struct pw_bindings bindings;
    const struct pw_commands *commands; /* for that list; NULL: none are offered */
    struct {                            /* search and filter: search.h */
        char text[64];                  /* "": nothing is searched for */
        char filter[64];                /* lines of the log that have it; "" all */
        int at, n;                      /* the current match of so many, as last drawn */
        bool fresh;                     /* the count is to be told with the next frame */
        bool trying;                    /* a text that is still being typed; what was before: */
        char before[64];
        int up; /* of the log */
    } find;
    struct { /* lines that cover the screen until Esc or the next typed line: page.h */
        char title[64];
        struct pw_str text; /* empty: no page */
        int top;
    } page;
    char message[PW_LINE * 2]; /* of the last line: an error or an answer; "" none */
    bool message_is_error;
    int64_t time; /* where nothing is recorded, the step that the time cursor stands at; -1: live */
    struct pw_transport transport; /* where something is */
    int press;              /* a key to be pressed for the user: what the list was asked to run; 0 none */
    bool no_machine;        /* a picture for everybody: no processor, no rates, no times of day */
    char ask[PW_LINE];      /* a key asks for the prompt with this typed: the loop opens it; "" no */
    char ask_note[PW_LINE]; /* that stands behind it; "" none */

    struct { /* a lesson that is given (script.c); the title is empty when none is */
        char title[64];
        char text[PW_LINE * 6]; /* of this step; paragraphs on lines of their own */
        int step, steps;        /* from 1 */
        bool read, waiting;     /* the next `say` begins a new step; a key is waited for */
        bool over;              /* it ended, and no key was pressed since */
    } lesson;
    struct {        /* curves */
        int metric; /* enum pw_metric, or PW_METRICS for exact match */
        bool log;
        int smooth;     /* 0: a mean over what is near, 1: over more, 2: every point alone */
        int axis;       /* enum pw_curves_axis: what x is */
        int zoom;       /* so often the x range was halved */
        int64_t cursor; /* on the x axis; -1: none, the right end is followed */
        double x0, x1;  /* what was shown of the x axis by the last frame */
        int left, w;    /* and in which columns; 0: in none */
        bool passing;   /* the cursor is there as long as the pointer is */
    } curves;
    struct {                 /* attention */
        int query, key;      /* cursor; clamped when drawn */
        bool follow;         /* keep the cursor at the last row */
        bool overview;       /* all heads in small; else one */
        bool mean;           /* over the heads of the layer */
        bool first_hidden;   /* the first position is left out, the rest renormalised */
        bool no_hatch;       /* what training never met looks like the rest */
        bool no_gold;        /* gold pointers aren't marked */
        bool list;           /* the head's scores, in place of the map where it is narrow */
        bool scroll;         /* one token a row, in place of pooling */
        int scale;           /* enum pw_att_scale */
        int score;           /* of the overview, in the order shown */
        int top, left;       /* first query and key shown, where it scrolls */
        struct {             /* attention of a file: a new one is shown before the arm's */
            uint64_t left;   /* that was left for the arm's: the snapshot's foreign_seq */
            int layer, head; /* what is looked at; clamped when drawn */
            bool score;      /* its scores, in place of probabilities */
        } file;
        struct pw_att_ref *ref; /* owned: what the map shown is compared to; NULL: nothing */
    } attention;
    struct {        /* step */
        int page;   /* the section on top: panes/step_int.h */
        int row[8]; /* cursor in each; clamped when drawn */
        int chosen; /* whose logit is taken apart: enum pw_step_chosen */
        bool mean;  /* against the mean over the vocabulary, not the runner-up */
        bool order; /* parts in the stream's order, not by size */
    } step;
    struct {        /* lengths */
        int cursor; /* row */
        int task;   /* of a mixture */
        int page;   /* enum pw_lengths_page */
        int place;  /* errors: the answer's token under the cursor */
        int a, b;   /* grid: the pair under the cursor */
        int top;    /* tests: the first one shown */
        int chosen; /* failing: which example */
        bool alone; /* tests: at the cursor's length alone, not over all beyond training */
        int held;   /* 1 + the first row shown, since the pointer chose one; 0: it didn't */
        struct {    /* where the last frame has them; h = 0: nowhere */
            struct pw_rect plot, table, places;
            int first;            /* the cursor that the table's first row has */
            int place_w, place_n; /* of the errors' places: columns, and how many of them share these */
        } drawn;
    } lengths;
    struct {                        /* encoding */
        int cursor[PW_ENC_CURSORS]; /* clamped when drawn */
        int page;                   /* of those that the encoding has; clamped when drawn */
        int reference;              /* id of the arm that others are compared with; 0: none */
        int held[PW_ENC_CURSORS];   /* 1 + the first value shown, since the pointer chose one; 0: no */
        int n_areas;
        struct pw_enc_area areas[PW_ENC_AREAS]; /* as of the last frame */
    } encoding;
    int findings_seen;                                       /* more of them than these bring their pane */
    struct {                                                 /* findings */
        char name[PW_FINDING_NAME], topic[PW_FINDING_TOPIC]; /* of the chosen one; "": the newest */
        char shown[PW_FINDING_NAME + PW_FINDING_TOPIC];      /* by the last frame */
        int page;            /* a block, or behind the last one what is claimed in full; clamped when drawn */
        int down, across;    /* cursor: row and column of a table or map, curve and point of a plot */
        int held;            /* 1 + the first row shown, since the pointer chose one; 0: it didn't */
        struct pw_rect body; /* of the block in the last frame */
    } findings;
    struct {     /* prompt */
        int top; /* the first band of the answer shown; clamped when drawn */
    } io;
    struct {    /* log */
        int up; /* lines scrolled back from the end */
    } log;
    struct {           /* what patching brought back: a page of the step pane */
        bool asked;    /* for the page, by its key; a new map brings itself to the front */
        uint64_t left; /* the map that was looked at and left: the snapshot's patch_seq */
        int row, col;  /* cursor, clamped when drawn */
    } patch;
};

/* What a pane shows beside what is always up to date: the pinned prompt's answer and what led to it, or the
 * tables of an encoding. */
enum pw_shows { PW_SHOWS_EVENTS, PW_SHOWS_ANSWER, PW_SHOWS_TABLE };

struct pw_pane {
    const char *name; /* for the command `focus NAME` */
    const char *title;
    const char *hints; /* keys of this pane, for the hint line: "hjkl cursor  [ ] head" */
    /* Text at the right of the title; may leave it empty. */
    void (*status)(const struct pw_ui *ui, struct pw_str *out);
    void (*draw)(struct pw_ui *ui, struct pw_canvas *c, struct pw_rect inside);
    /* Handles a key that the pane has the focus for; appends a command line to `line` where the key means
     * one. Returns false if the key means nothing here. */
    bool (*key)(struct pw_ui *ui, int key, struct pw_str *line);
    const char *const *keys; /* "key", "what it does", ..., NULL: for the help screen; palette.h */
    /* Prints in words and tables what all of its pages show: for readers of lines, by `show`. */
    void (*words)(FILE *out, const struct pw_ui *ui);

    enum pw_shows shows; /* what is computed before it is drawn into a file: ui/fresh.c */

    /* Optional, NULL where a pane has none. */

    /* A press of the left button in a cell of its inside, or a drag to it; as `key`. line NULL: the pointer
     * only passes there, which moves what is read out and does nothing else. */
    bool (*click)(struct pw_ui *ui, int y, int x, struct pw_rect inside, struct pw_str *line);
    /* The pointer is over it no more. */
    void (*leave)(struct pw_ui *ui);
    /* Appends what the pane shows as tab-separated values, a line each, names first; else its text is copied
     * as it is drawn. */
    void (*copy)(const struct pw_ui *ui, struct pw_str *out);
    /* Scrolls to the next line that has the text (direction 1), or the one before (-1), or to the first (0);
     * returns how many lines have it. Else what is drawn is searched. */
    int (*find)(struct pw_ui *ui, const char *text, int direction);
    /* The page that it shows, as `export figure page=` names it; NULL: the first that has something. */
    const char *(*page)(const struct pw_ui *ui);
};

extern const struct pw_pane *const pw_panes[PW_PANES]; /* by enum pw_pane_id; panes.c */
extern const char *const pw_pane_names[PW_PANES + 1];  /* the same, and NULL */
/* The number of the pane with this name; else the message says for what (a command), and which there are. */
enum pw_code pw_ui_find_pane(const char *what, const char *name, int *id, struct pw_err *err);
/* Their names as a command's first word (struct pw_command's complete). */
void pw_ui_complete_pane(struct pw_completion *c);

void pw_ui_init(struct pw_ui *ui);
void pw_ui_fini(struct pw_ui *ui);
/* Where everything goes on a screen of this size. */
void pw_ui_layout(const struct pw_ui *ui, int rows, int cols, struct pw_layout *l);
/* Draws everything but the prompt's text: status line, panes, timeline, hints, message, help. */
void pw_ui_draw(struct pw_ui *ui, struct pw_canvas *c);
/* A key: of a list or page that covers the screen, then what the user bound, then of the focused pane, else
 * of the whole workbench (Tab, 1-8, z, space, ?, ...). Appends a command line to `line` where the key means
 * one; "quit" is one of them. Returns false if the key means nothing. ':' is not handled here. */
bool pw_ui_key(struct pw_ui *ui, int key, struct pw_str *line);
/* Gives a pane the keys, and shows it. */
void pw_ui_focus(struct pw_ui *ui, int pane);
/* Asks for the command line with `prompt` and what was typed of it; where that is no word, behind the task's.
 */
void pw_ui_ask_prompt(struct pw_ui *ui, const char *typed);
void pw_ui_say(struct pw_ui *ui, const char *text); /* as the message, which is no error */

/* ---- colours that panes share (theme.c, ramp.c) */
struct pw_style pw_style_arm(const struct pw_ui *ui,
                             int arm); /* id 1..8: Okabe-Ito, distinct by glyph too in mono */
const char *pw_arm_mark(const struct pw_ui *ui,
                        int arm); /* one-column marker, so colour is never the only carrier */
/* Values as colours: of the map, and of the colours there are, that pw_ramp_use was called with last;
 * pw_ui_draw does. */
void pw_ramp_use(enum pw_colormap map, enum pw_colors colors);
uint32_t pw_ramp(float x);        /* sequential, 0..1, monotone in lightness */
uint32_t pw_ramp_signed(float x); /* diverging, -1..1: blue, white, orange */

#endif
