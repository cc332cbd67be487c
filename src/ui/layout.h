/* layout.h - the layout of the screen: a pure function of its size, the focused panes and the proportions. */
#ifndef PW_LAYOUT_H
#define PW_LAYOUT_H
#include "base/opt.h"
#include "ui/canvas.h"

/* The panes, in the order of the keys 1 to 8. */
enum pw_pane_id {
    PW_PANE_CURVES,
    PW_PANE_LENGTHS,
    PW_PANE_ATTENTION,
    PW_PANE_STEP,
    PW_PANE_ENCODING,
    PW_PANE_IO,
    PW_PANE_LOG,
    PW_PANE_FINDINGS,
    PW_PANES
};

/* The share of the screen that a pane has: its normal place, half or more, or all. */
enum pw_screen { PW_SCREEN_NORMAL, PW_SCREEN_HALF, PW_SCREEN_FULL };

/* Which panes the user works with. */
struct pw_looks {
    enum pw_screen screen;
    int focus;
    int half;          /* PW_SCREEN_HALF: the pane that has half; possibly not the focused one */
    const int *recent; /* [PW_PANES], ordered by their last focus, the latest first */
};
extern const int pw_panes_at_first[PW_PANES]; /* that order at the start */

/* The borders that the user can move. The middle of a name is the shape of the screen, by its size: STACK,
 * COLUMNS, HALF (one pane has half), DASH (dashboard), LARGE (from 220x60). The end names the part before the
 * border: left column, upper pane. layout.c describes each in pw_split_opts. Every shape has its own borders,
 * because a share that suits a stack does not suit a dashboard. */
enum pw_division {
    PW_DIVISION_STACK,
    PW_DIVISION_STACK_LEFT,
    PW_DIVISION_COLUMNS,
    PW_DIVISION_COLUMNS_FOCUS,
    PW_DIVISION_COLUMNS_THIRD,
    PW_DIVISION_COLUMNS_SIDE,
    PW_DIVISION_HALF,
    PW_DIVISION_HALF_STACK,
    PW_DIVISION_DASH_LEFT,
    PW_DIVISION_DASH_MIDDLE,
    PW_DIVISION_DASH_CURVES,
    PW_DIVISION_DASH_ATTENTION,
    PW_DIVISION_DASH_STEP,
    PW_DIVISION_DASH_PROMPT,
    PW_DIVISION_LARGE_LEFT,
    PW_DIVISION_LARGE_MIDDLE,
    PW_DIVISION_LARGE_CURVES,
    PW_DIVISION_LARGE_ATTENTION,
    PW_DIVISION_LARGE_ENCODING,
    PW_DIVISION_LARGE_STEP,
    PW_SPLITS
};

/* The share, 0..1, of the left or upper part at each border, by enum pw_division. Any value is valid: the
 * layout gives each pane at least its minimum. */
struct pw_proportions {
    float share[PW_SPLITS];
};
extern const struct pw_opt pw_split_opts[]; /* "split.stack", ...; target: struct pw_proportions */

/* A border on the screen: the frame edges on both sides of it, two cells thick. */
struct pw_border {
    struct pw_rect line;
    enum pw_division split;
    bool upright;    /* between a left and a right part */
    int from, size;  /* the divided area: its first column (or row), and its size */
    int least, most; /* minimum and maximum size of the first part, in cells */
};

/* Rectangles never overlap and are inside the screen. h = 0 if a part is not shown. */
struct pw_layout {
    struct pw_rect status, panes[PW_PANES], timeline, hints, prompt;
    struct pw_rect lesson; /* above the timeline; pw_ui_layout reserves the room */
    int n_borders;
    struct pw_border borders[PW_PANES - 1];
};

/* Computes the layout of a screen of rows x cols. */
void pw_layout(struct pw_layout *l, int rows, int cols, const struct pw_looks *looks,
               const struct pw_proportions *p);
/* Returns the border at a cell, or NULL. */
const struct pw_border *pw_layout_border(const struct pw_layout *l, int y, int x);
/* Moves a border so that its first part has n cells, within the limits of the minima. */
void pw_layout_move(const struct pw_border *b, int n, struct pw_proportions *p);

#endif
