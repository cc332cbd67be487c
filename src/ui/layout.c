/* layout.c - the layout: size, looks, mode and proportions in, rectangles out.
 *
 * There are five shapes: one pane up to 60x16; a stack up to 100 columns; two columns; from 140x40 a
 * dashboard; from 220x60 a dashboard with more room for the heads, and Encoding and Log side by side below
 * them. Each shape gives a pane one place, so no pane moves when the focus changes. If a shape has fewer
 * places than panes, some panes share a place, which shows the one focused last. Half and full screen are
 * modes that the user selects; only they give a pane more room.
 *
 * Every shape is a sequence of cuts, and each cut is a border. The mouse uses the list of borders that the
 * cuts produce. */
#include "ui/layout.h"
#include <math.h>
#include <string.h>

#define LEAST_H 5 /* minimum size of a pane beside another one, including its frame */
#define LEAST_W 30
#define TALL    40 /* a column of this height has room for three panes */

/* The place of each pane, in shapes where several panes share one. */
enum { TOP, BELOW_LEFT, BELOW_RIGHT };
static const int stack_places[PW_PANES] = {
    [PW_PANE_LENGTHS] = TOP,       [PW_PANE_ATTENTION] = TOP, [PW_PANE_STEP] = TOP,
    [PW_PANE_ENCODING] = TOP,      [PW_PANE_LOG] = TOP,       [PW_PANE_FINDINGS] = TOP,
    [PW_PANE_CURVES] = BELOW_LEFT, [PW_PANE_IO] = BELOW_RIGHT};

enum { LARGE, UNDER_LARGE, RIGHT_TOP, RIGHT_BOTTOM, RIGHT_THIRD };
static const int column_places[PW_PANES] = {
    [PW_PANE_LENGTHS] = LARGE,      [PW_PANE_ATTENTION] = LARGE,      [PW_PANE_FINDINGS] = LARGE,
    [PW_PANE_CURVES] = UNDER_LARGE, [PW_PANE_ENCODING] = UNDER_LARGE, [PW_PANE_STEP] = RIGHT_TOP,
    [PW_PANE_IO] = RIGHT_BOTTOM,    [PW_PANE_LOG] = RIGHT_TOP};
static const int tall_column_places[PW_PANES] = {
    [PW_PANE_LENGTHS] = LARGE,      [PW_PANE_ATTENTION] = LARGE,      [PW_PANE_FINDINGS] = LARGE,
    [PW_PANE_CURVES] = UNDER_LARGE, [PW_PANE_ENCODING] = UNDER_LARGE, [PW_PANE_STEP] = RIGHT_TOP,
    [PW_PANE_IO] = RIGHT_BOTTOM,    [PW_PANE_LOG] = RIGHT_THIRD};

const int pw_panes_at_first[PW_PANES] = {PW_PANE_LENGTHS,  PW_PANE_CURVES,    PW_PANE_IO,  PW_PANE_STEP,
                                         PW_PANE_ENCODING, PW_PANE_ATTENTION, PW_PANE_LOG, PW_PANE_FINDINGS};

/* The most useful panes beside the one that has half of the screen, best first. */
static const int companions[PW_PANES][PW_PANES - 1] = {
    [PW_PANE_CURVES] = {PW_PANE_LENGTHS, PW_PANE_IO, PW_PANE_ATTENTION, PW_PANE_LOG, PW_PANE_STEP,
                        PW_PANE_ENCODING, PW_PANE_FINDINGS},
    [PW_PANE_LENGTHS] = {PW_PANE_CURVES, PW_PANE_IO, PW_PANE_ENCODING, PW_PANE_LOG, PW_PANE_STEP,
                         PW_PANE_ATTENTION, PW_PANE_FINDINGS},
    [PW_PANE_ATTENTION] = {PW_PANE_STEP, PW_PANE_IO, PW_PANE_ENCODING, PW_PANE_CURVES, PW_PANE_LENGTHS,
                           PW_PANE_LOG, PW_PANE_FINDINGS},
    [PW_PANE_STEP] = {PW_PANE_ATTENTION, PW_PANE_IO, PW_PANE_ENCODING, PW_PANE_CURVES, PW_PANE_LENGTHS,
                      PW_PANE_LOG, PW_PANE_FINDINGS},
    [PW_PANE_ENCODING] = {PW_PANE_LENGTHS, PW_PANE_ATTENTION, PW_PANE_CURVES, PW_PANE_IO, PW_PANE_STEP,
                          PW_PANE_LOG, PW_PANE_FINDINGS},
    [PW_PANE_IO] = {PW_PANE_STEP, PW_PANE_ATTENTION, PW_PANE_LENGTHS, PW_PANE_CURVES, PW_PANE_ENCODING,
                    PW_PANE_LOG, PW_PANE_FINDINGS},
    [PW_PANE_LOG] = {PW_PANE_CURVES, PW_PANE_IO, PW_PANE_LENGTHS, PW_PANE_ATTENTION, PW_PANE_STEP,
                     PW_PANE_ENCODING, PW_PANE_FINDINGS},
    [PW_PANE_FINDINGS] = {PW_PANE_LENGTHS, PW_PANE_CURVES, PW_PANE_ATTENTION, PW_PANE_LOG, PW_PANE_IO,
                          PW_PANE_STEP, PW_PANE_ENCODING},
};

#define SPLIT(id, text, share_, what)                                                                        \
    {                                                                                                        \
        .name = "split." text, .type = PW_OPT_FLOAT,                                                         \
        .offset = offsetof(struct pw_proportions, share) + sizeof(float) * (id), .def = share_, .min = 0.01, \
        .max = 0.99, .help = what                                                                            \
    }

const struct pw_opt pw_split_opts[] = {
    SPLIT(PW_DIVISION_STACK, "stack", "0.62", "stack: height of the upper pane"),
    SPLIT(PW_DIVISION_STACK_LEFT, "stack.left", "0.5", "stack: width of the curves"),
    SPLIT(PW_DIVISION_COLUMNS, "columns", "0.58", "two columns: width of the left one"),
    SPLIT(PW_DIVISION_COLUMNS_FOCUS, "columns.focus", "0.6", "two columns: height of the large pane"),
    SPLIT(PW_DIVISION_COLUMNS_THIRD, "columns.third", "0.33", "two columns: height of the upper of three"),
    SPLIT(PW_DIVISION_COLUMNS_SIDE, "columns.side", "0.5", "two columns: height of the upper of two"),
    SPLIT(PW_DIVISION_HALF, "half", "0.5", "half screen: width of the focused pane"),
    SPLIT(PW_DIVISION_HALF_STACK, "half.stack", "0.72", "half screen, narrow: height of the focused pane"),
    SPLIT(PW_DIVISION_DASH_LEFT, "dash.left", "0.36", "dashboard: width of curves and lengths"),
    SPLIT(PW_DIVISION_DASH_MIDDLE, "dash.middle", "0.6", "dashboard: width of attention beside step"),
    SPLIT(PW_DIVISION_DASH_CURVES, "dash.curves", "0.5", "dashboard: height of curves over lengths"),
    SPLIT(PW_DIVISION_DASH_ATTENTION, "dash.attention", "0.64",
          "dashboard: height of attention over encoding"),
    SPLIT(PW_DIVISION_DASH_STEP, "dash.step", "0.42", "dashboard: height of step over prompt and log"),
    SPLIT(PW_DIVISION_DASH_PROMPT, "dash.prompt", "0.58", "dashboard: height of prompt over log"),
    SPLIT(PW_DIVISION_LARGE_LEFT, "large.left", "0.3", "from 220x60: width of curves and lengths"),
    SPLIT(PW_DIVISION_LARGE_MIDDLE, "large.middle", "0.68", "from 220x60: width of attention beside step"),
    SPLIT(PW_DIVISION_LARGE_CURVES, "large.curves", "0.5", "from 220x60: height of curves over lengths"),
    SPLIT(PW_DIVISION_LARGE_ATTENTION, "large.attention", "0.7", "from 220x60: height of attention"),
    SPLIT(PW_DIVISION_LARGE_ENCODING, "large.encoding", "0.62", "from 220x60: width of encoding beside log"),
    SPLIT(PW_DIVISION_LARGE_STEP, "large.step", "0.55", "from 220x60: height of step over prompt"),
    {.name = NULL},
};

/* ---- cuts */

struct plan {
    struct pw_layout *l;
    const struct pw_proportions *p;
    const struct pw_looks *looks;
};

/* Returns the pane to show of two that share a place: the focused one, else the one focused last. */
static int latest(const struct plan *a, int one, int other)
{
    if (a->looks->focus == one || a->looks->focus == other)
        return a->looks->focus;
    for (int i = 0; i < PW_PANES; i++)
        if (a->looks->recent[i] == one || a->looks->recent[i] == other)
            return a->looks->recent[i];
    return one;
}

static void put(struct plan *a, const int places[PW_PANES], int place, struct pw_rect r)
{
    int pane = PW_PANES;

    for (int i = 0; i < PW_PANES; i++)
        if (places[i] == place)
            pane = pane == PW_PANES ? i : latest(a, pane, i);
    a->l->panes[pane] = r;
}

/* Cuts the first h rows off r and returns them. */
static struct pw_rect rows_off(struct pw_rect *r, int h)
{
    struct pw_rect top = {r->y, r->x, h, r->w};
    r->y += h, r->h -= h;
    return top;
}

/* Cuts r at a border and returns the first part; r keeps the rest. n_first, n_rest: the panes that each part
 * must hold in that direction. */
static struct pw_rect cut(struct plan *a, struct pw_rect *r, enum pw_division split, bool upright,
                          int n_first, int n_rest)
{
    int size = upright ? r->w : r->h, unit = upright ? LEAST_W : LEAST_H;
    struct pw_border b = {
        *r, split, upright, upright ? r->x : r->y, size, n_first * unit, size - n_rest * unit};
    float share = a->p->share[split];
    int n = share > 0 && share < 1 ? (int)lrintf((float)size * share) : size / 2;

    n = n > b.most ? b.most : n;
    n = n < b.least ? b.least : n;
    struct pw_rect first = *r;
    if (upright) {
        first.w = n, r->x += n, r->w -= n;
        b.line.x = r->x - 1, b.line.w = 2;
    } else {
        first.h = n, r->y += n, r->h -= n;
        b.line.y = r->y - 1, b.line.h = 2;
    }
    a->l->borders[a->l->n_borders++] = b;
    return first;
}

static struct pw_rect cut_top(struct plan *a, struct pw_rect *r, enum pw_division split, int n_rest)
{
    return cut(a, r, split, false, 1, n_rest);
}

static struct pw_rect cut_left(struct plan *a, struct pw_rect *r, enum pw_division split, int n_rest)
{
    return cut(a, r, split, true, 1, n_rest);
}

/* ---- shapes */

static void stack(struct plan *a, struct pw_rect body)
{
    put(a, stack_places, TOP, cut_top(a, &body, PW_DIVISION_STACK, 1));
    put(a, stack_places, BELOW_LEFT, cut_left(a, &body, PW_DIVISION_STACK_LEFT, 1));
    put(a, stack_places, BELOW_RIGHT, body);
}

static void half_stack(struct plan *a, struct pw_rect body)
{
    a->l->panes[a->looks->half] = cut_top(a, &body, PW_DIVISION_HALF_STACK, 1);
    a->l->panes[companions[a->looks->half][0]] = body;
}

/* Cuts the right column into two panes, or three if there is room. Returns how many are in side; the last
 * pane stays in *column. */
static int cut_side(struct plan *a, struct pw_rect *column, struct pw_rect side[2])
{
    int n = 0;

    if (column->h >= TALL)
        side[n++] = cut_top(a, column, PW_DIVISION_COLUMNS_THIRD, 2);
    side[n++] = cut_top(a, column, PW_DIVISION_COLUMNS_SIDE, 1);
    return n;
}

static void two_columns(struct plan *a, struct pw_rect body)
{
    const int *places = body.h >= TALL ? tall_column_places : column_places;
    struct pw_rect left = cut_left(a, &body, PW_DIVISION_COLUMNS, 1), side[2];

    put(a, places, LARGE, cut_top(a, &left, PW_DIVISION_COLUMNS_FOCUS, 1));
    put(a, places, UNDER_LARGE, left);
    int n = cut_side(a, &body, side);
    for (int i = 0; i < n; i++)
        put(a, places, RIGHT_TOP + i, side[i]);
    put(a, places, RIGHT_TOP + n, body);
}

static void half_columns(struct plan *a, struct pw_rect body)
{
    const int *with = companions[a->looks->half];
    struct pw_rect side[2];

    a->l->panes[a->looks->half] = cut_left(a, &body, PW_DIVISION_HALF, 1);
    int n = cut_side(a, &body, side);
    for (int i = 0; i < n; i++)
        a->l->panes[with[i]] = side[i];
    a->l->panes[with[n]] = body;
}

static void dashboard(struct plan *a, struct pw_rect body)
{
    int corner = latest(a, PW_PANE_ENCODING, PW_PANE_FINDINGS);
    struct pw_rect left = cut_left(a, &body, PW_DIVISION_DASH_LEFT, 2);
    struct pw_rect middle = cut_left(a, &body, PW_DIVISION_DASH_MIDDLE, 1);
    struct pw_rect *panes = a->l->panes;

    panes[PW_PANE_CURVES] = cut_top(a, &left, PW_DIVISION_DASH_CURVES, 1);
    panes[PW_PANE_LENGTHS] = left;
    panes[PW_PANE_ATTENTION] = cut_top(a, &middle, PW_DIVISION_DASH_ATTENTION, 1);
    panes[corner] = middle;
    panes[PW_PANE_STEP] = cut_top(a, &body, PW_DIVISION_DASH_STEP, 2);
    panes[PW_PANE_IO] = cut_top(a, &body, PW_DIVISION_DASH_PROMPT, 1);
    panes[PW_PANE_LOG] = body;
}

static void large_dashboard(struct plan *a, struct pw_rect body)
{
    int corner = latest(a, PW_PANE_ENCODING, PW_PANE_FINDINGS);
    struct pw_rect left = cut_left(a, &body, PW_DIVISION_LARGE_LEFT, 3);
    struct pw_rect middle = cut(a, &body, PW_DIVISION_LARGE_MIDDLE, true, 2, 1);
    struct pw_rect *panes = a->l->panes;

    panes[PW_PANE_CURVES] = cut_top(a, &left, PW_DIVISION_LARGE_CURVES, 1);
    panes[PW_PANE_LENGTHS] = left;
    panes[PW_PANE_ATTENTION] = cut_top(a, &middle, PW_DIVISION_LARGE_ATTENTION, 1);
    panes[corner] = cut_left(a, &middle, PW_DIVISION_LARGE_ENCODING, 1);
    panes[PW_PANE_LOG] = middle;
    panes[PW_PANE_STEP] = cut_top(a, &body, PW_DIVISION_LARGE_STEP, 1);
    panes[PW_PANE_IO] = body;
}

void pw_layout(struct pw_layout *l, int rows, int cols, const struct pw_looks *looks,
               const struct pw_proportions *p)
{
    memset(l, 0, sizeof *l);
    struct plan a = {l, p, looks};
    struct pw_rect body = {0, 0, rows, cols};
    bool half = looks->screen == PW_SCREEN_HALF;

    /* The prompt has the highest priority, so a command can be typed on every screen. */
    l->prompt = (struct pw_rect){rows - 1, 0, 1, cols};
    body.h--;
    if (rows >= 2)
        l->status = rows_off(&body, 1);
    if (rows >= 6) {
        l->hints = (struct pw_rect){rows - 2, 0, 1, cols};
        body.h--;
    }
    if (rows >= 12) {
        l->timeline = (struct pw_rect){rows - 3, 0, 1, cols};
        body.h--;
    }
    if (body.h == 0)
        return;
    if (looks->screen == PW_SCREEN_FULL || cols <= 60 || rows <= 16)
        l->panes[looks->focus] = body;
    else if (half)
        (cols < 100 ? half_stack : half_columns)(&a, body);
    else if (cols < 100)
        stack(&a, body);
    else if (cols < 140 || rows < 40)
        two_columns(&a, body);
    else if (cols < 220 || rows < 60)
        dashboard(&a, body);
    else
        large_dashboard(&a, body);
}

/* ---- borders */

static bool inside(const struct pw_rect *r, int y, int x)
{
    return y >= r->y && y < r->y + r->h && x >= r->x && x < r->x + r->w;
}

const struct pw_border *pw_layout_border(const struct pw_layout *l, int y, int x)
{
    for (int i = 0; i < l->n_borders; i++)
        if (inside(&l->borders[i].line, y, x))
            return &l->borders[i];
    return NULL;
}

void pw_layout_move(const struct pw_border *b, int n, struct pw_proportions *p)
{
    n = n > b->most ? b->most : n;
    n = n < b->least ? b->least : n;
    /* Three digits, as in the configuration file: exact to a cell up to 500 cells. */
    p->share[b->split] = roundf(1000 * (float)n / (float)b->size) / 1000;
}
