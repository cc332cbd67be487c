/* layout.c - where everything goes: size, focus, mode and proportions in, rectangles out.
 *
 * Five shapes. One pane up to 60x16; a stack (the focused pane above two companions) up to 100 columns; two
 * columns, the focused pane largest; from 140x40 a dashboard where every pane has its place and none moves;
 * and from 220x60 one that gives the heads more room, with Encoding and Log side by side below them. Small
 * screens give the room to what is looked at; large ones keep things where the eye expects them: of Encoding
 * and Findings one is there, in the same corner.
 *
 * Every shape is a sequence of cuts, and a cut is a border: the mouse finds it in the same list that the
 * rectangles come from. */
#include "ui/layout.h"
#include <math.h>
#include <string.h>

#define LEAST_H 5 /* of a pane beside another one, with its frame */
#define LEAST_W 30

/* What helps most beside a focused pane, best first. */
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
    SPLIT(PW_SPLIT_STACK, "stack", "0.62", "stack: height of the focused pane"),
    SPLIT(PW_SPLIT_STACK_LEFT, "stack.left", "0.5", "stack: width of the left companion"),
    SPLIT(PW_SPLIT_COLUMNS, "columns", "0.58", "two columns: width of the left one"),
    SPLIT(PW_SPLIT_COLUMNS_FOCUS, "columns.focus", "0.6", "two columns: height of the focused pane"),
    SPLIT(PW_SPLIT_COLUMNS_THIRD, "columns.third", "0.33", "two columns: height of the upper of three"),
    SPLIT(PW_SPLIT_COLUMNS_SIDE, "columns.side", "0.5", "two columns: height of the upper of two"),
    SPLIT(PW_SPLIT_HALF, "half", "0.5", "half screen: width of the focused pane"),
    SPLIT(PW_SPLIT_HALF_STACK, "half.stack", "0.72", "half screen, narrow: height of the focused pane"),
    SPLIT(PW_SPLIT_DASH_LEFT, "dash.left", "0.36", "dashboard: width of curves and lengths"),
    SPLIT(PW_SPLIT_DASH_MIDDLE, "dash.middle", "0.6", "dashboard: width of attention beside step"),
    SPLIT(PW_SPLIT_DASH_CURVES, "dash.curves", "0.5", "dashboard: height of curves over lengths"),
    SPLIT(PW_SPLIT_DASH_ATTENTION, "dash.attention", "0.64", "dashboard: height of attention over encoding"),
    SPLIT(PW_SPLIT_DASH_STEP, "dash.step", "0.42", "dashboard: height of step over prompt and log"),
    SPLIT(PW_SPLIT_DASH_PROMPT, "dash.prompt", "0.58", "dashboard: height of prompt over log"),
    SPLIT(PW_SPLIT_LARGE_LEFT, "large.left", "0.3", "from 220x60: width of curves and lengths"),
    SPLIT(PW_SPLIT_LARGE_MIDDLE, "large.middle", "0.68", "from 220x60: width of attention beside step"),
    SPLIT(PW_SPLIT_LARGE_CURVES, "large.curves", "0.5", "from 220x60: height of curves over lengths"),
    SPLIT(PW_SPLIT_LARGE_ATTENTION, "large.attention", "0.7", "from 220x60: height of attention"),
    SPLIT(PW_SPLIT_LARGE_ENCODING, "large.encoding", "0.62", "from 220x60: width of encoding beside log"),
    SPLIT(PW_SPLIT_LARGE_STEP, "large.step", "0.55", "from 220x60: height of step over prompt"),
    {.name = NULL},
};

/* ---- cuts */

struct plan {
    struct pw_layout *l;
    const struct pw_proportions *p;
};

/* Cuts the first h rows off r. */
static struct pw_rect rows_off(struct pw_rect *r, int h)
{
    struct pw_rect top = {r->y, r->x, h, r->w};
    r->y += h, r->h -= h;
    return top;
}

/* Cuts the part before a border off r. The two parts will hold so many panes in that direction. */
static struct pw_rect cut(struct plan *a, struct pw_rect *r, enum pw_split split, bool upright, int n_first,
                          int n_rest)
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

static struct pw_rect cut_top(struct plan *a, struct pw_rect *r, enum pw_split split, int n_rest)
{
    return cut(a, r, split, false, 1, n_rest);
}

static struct pw_rect cut_left(struct plan *a, struct pw_rect *r, enum pw_split split, int n_rest)
{
    return cut(a, r, split, true, 1, n_rest);
}

/* ---- shapes */

static void stack(struct plan *a, struct pw_rect body, int focus, bool half)
{
    const int *with = companions[focus];

    a->l->panes[focus] = cut_top(a, &body, half ? PW_SPLIT_HALF_STACK : PW_SPLIT_STACK, 1);
    if (!half)
        a->l->panes[with[0]] = cut_left(a, &body, PW_SPLIT_STACK_LEFT, 1);
    a->l->panes[with[half ? 0 : 1]] = body;
}

/* Two panes below each other, or three where they have room. */
static void side_column(struct plan *a, struct pw_rect column, const int *with)
{
    if (column.h >= 40)
        a->l->panes[*with++] = cut_top(a, &column, PW_SPLIT_COLUMNS_THIRD, 2);
    a->l->panes[with[0]] = cut_top(a, &column, PW_SPLIT_COLUMNS_SIDE, 1);
    a->l->panes[with[1]] = column;
}

static void two_columns(struct plan *a, struct pw_rect body, int focus, bool half)
{
    const int *with = companions[focus];
    struct pw_rect left = cut_left(a, &body, half ? PW_SPLIT_HALF : PW_SPLIT_COLUMNS, 1);

    if (!half) {
        a->l->panes[focus] = cut_top(a, &left, PW_SPLIT_COLUMNS_FOCUS, 1);
        focus = *with++;
    }
    a->l->panes[focus] = left;
    side_column(a, body, with);
}

static void dashboard(struct plan *a, struct pw_rect body, int corner)
{
    struct pw_rect left = cut_left(a, &body, PW_SPLIT_DASH_LEFT, 2);
    struct pw_rect middle = cut_left(a, &body, PW_SPLIT_DASH_MIDDLE, 1);
    struct pw_rect *panes = a->l->panes;

    panes[PW_PANE_CURVES] = cut_top(a, &left, PW_SPLIT_DASH_CURVES, 1);
    panes[PW_PANE_LENGTHS] = left;
    panes[PW_PANE_ATTENTION] = cut_top(a, &middle, PW_SPLIT_DASH_ATTENTION, 1);
    panes[corner] = middle;
    panes[PW_PANE_STEP] = cut_top(a, &body, PW_SPLIT_DASH_STEP, 2);
    panes[PW_PANE_IO] = cut_top(a, &body, PW_SPLIT_DASH_PROMPT, 1);
    panes[PW_PANE_LOG] = body;
}

static void large_dashboard(struct plan *a, struct pw_rect body, int corner)
{
    struct pw_rect left = cut_left(a, &body, PW_SPLIT_LARGE_LEFT, 3);
    struct pw_rect middle = cut(a, &body, PW_SPLIT_LARGE_MIDDLE, true, 2, 1);
    struct pw_rect *panes = a->l->panes;

    panes[PW_PANE_CURVES] = cut_top(a, &left, PW_SPLIT_LARGE_CURVES, 1);
    panes[PW_PANE_LENGTHS] = left;
    panes[PW_PANE_ATTENTION] = cut_top(a, &middle, PW_SPLIT_LARGE_ATTENTION, 1);
    panes[corner] = cut_left(a, &middle, PW_SPLIT_LARGE_ENCODING, 1);
    panes[PW_PANE_LOG] = middle;
    panes[PW_PANE_STEP] = cut_top(a, &body, PW_SPLIT_LARGE_STEP, 1);
    panes[PW_PANE_IO] = body;
}

void pw_layout(struct pw_layout *l, int rows, int cols, int focus, int corner, enum pw_screen screen,
               const struct pw_proportions *p)
{
    memset(l, 0, sizeof *l);
    struct plan a = {l, p};
    struct pw_rect body = {0, 0, rows, cols};
    bool half = screen == PW_SCREEN_HALF;

    if (focus == PW_PANE_ENCODING || focus == PW_PANE_FINDINGS)
        corner = focus;
    /* The prompt is the last thing to go: whatever is on the screen, a command can be typed. */
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
    if (screen == PW_SCREEN_FULL || cols <= 60 || rows <= 16)
        l->panes[focus] = body;
    else if (cols < 100)
        stack(&a, body, focus, half);
    else if (cols < 140 || rows < 40 || half)
        two_columns(&a, body, focus, half);
    else if (cols < 220 || rows < 60)
        dashboard(&a, body, corner);
    else
        large_dashboard(&a, body, corner);
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
    /* Three digits, as they stand in the configuration: the nearest cell of up to 500. */
    p->share[b->split] = roundf(1000 * (float)n / (float)b->size) / 1000;
}
