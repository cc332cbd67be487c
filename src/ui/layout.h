/* layout.h - where everything goes: a pure function of size, what is looked at, and proportions. */
#ifndef PW_LAYOUT_H
#define PW_LAYOUT_H
#include "base/opt.h"
#include "ui/canvas.h"

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

/* How much of the screen a pane has: its place among others, half or more, all. */
enum pw_screen { PW_SCREEN_NORMAL, PW_SCREEN_HALF, PW_SCREEN_FULL };

/* Which panes are looked at. */
struct pw_looks {
    enum pw_screen screen;
    int focus;
    int half;          /* PW_SCREEN_HALF: the pane that has half, which needn't have the focus */
    const int *recent; /* [PW_PANES] in the order in which they had the focus, the latest first */
};
extern const int pw_panes_at_first[PW_PANES]; /* that order, before any had it */

/* The borders that can be moved. Each shape of the screen has its own: a share that suits a stack says
 * nothing about a dashboard. */
enum pw_split {
    PW_SPLIT_STACK,
    PW_SPLIT_STACK_LEFT,
    PW_SPLIT_COLUMNS,
    PW_SPLIT_COLUMNS_FOCUS,
    PW_SPLIT_COLUMNS_THIRD,
    PW_SPLIT_COLUMNS_SIDE,
    PW_SPLIT_HALF,
    PW_SPLIT_HALF_STACK,
    PW_SPLIT_DASH_LEFT,
    PW_SPLIT_DASH_MIDDLE,
    PW_SPLIT_DASH_CURVES,
    PW_SPLIT_DASH_ATTENTION,
    PW_SPLIT_DASH_STEP,
    PW_SPLIT_DASH_PROMPT,
    PW_SPLIT_LARGE_LEFT,
    PW_SPLIT_LARGE_MIDDLE,
    PW_SPLIT_LARGE_CURVES,
    PW_SPLIT_LARGE_ATTENTION,
    PW_SPLIT_LARGE_ENCODING,
    PW_SPLIT_LARGE_STEP,
    PW_SPLITS
};

/* Of what stands on both sides of a border, the share of the left or upper one. Any values do: the layout
 * gives no pane less than its minimum. */
struct pw_proportions {
    float share[PW_SPLITS];
};
extern const struct pw_opt pw_split_opts[]; /* "split.stack", ...; target: struct pw_proportions */

/* A border as it lies on the screen: the frames' edges on both sides of it, two cells thick. */
struct pw_border {
    struct pw_rect line;
    enum pw_split split;
    bool upright;    /* between left and right */
    int from, size;  /* of what it divides: first column (or row), and how many */
    int least, most; /* cells that its first part may have */
};

/* Rectangles never overlap and lie inside; h = 0 where something is not shown. */
struct pw_layout {
    struct pw_rect status, panes[PW_PANES], timeline, hints, prompt;
    struct pw_rect lesson; /* above the timeline; pw_ui_layout makes room for it */
    int n_borders;
    struct pw_border borders[PW_PANES - 1];
};

void pw_layout(struct pw_layout *l, int rows, int cols, const struct pw_looks *looks,
               const struct pw_proportions *p);
/* The border at a cell, or NULL. */
const struct pw_border *pw_layout_border(const struct pw_layout *l, int y, int x);
/* Moves a border so that its first part has n cells, or as near as the minima allow. */
void pw_layout_move(const struct pw_border *b, int n, struct pw_proportions *p);

#endif
