/* layout.c - where everything goes: size, focus and zoom in, rectangles out.
 *
 * Four shapes. One pane up to 60x16; a stack (the focused pane above two companions) up to 100 columns; two
 * columns, the focused pane largest; and from 140x40 a dashboard where every pane has its place and none
 * moves. Small screens give the room to what is looked at; large ones keep things where the eye expects them.
 */
#include "ui/ui.h"
#include <string.h>

/* What helps most beside a focused pane, best first. */
static const int companions[PW_PANES][PW_PANES - 1] = {
    [PW_PANE_CURVES] = {PW_PANE_LENGTHS, PW_PANE_IO, PW_PANE_ATTENTION, PW_PANE_LOG, PW_PANE_STEP,
                        PW_PANE_ENCODING},
    [PW_PANE_LENGTHS] = {PW_PANE_CURVES, PW_PANE_IO, PW_PANE_ENCODING, PW_PANE_LOG, PW_PANE_STEP,
                         PW_PANE_ATTENTION},
    [PW_PANE_ATTENTION] = {PW_PANE_STEP, PW_PANE_IO, PW_PANE_ENCODING, PW_PANE_CURVES, PW_PANE_LENGTHS,
                           PW_PANE_LOG},
    [PW_PANE_STEP] = {PW_PANE_ATTENTION, PW_PANE_IO, PW_PANE_ENCODING, PW_PANE_CURVES, PW_PANE_LENGTHS,
                      PW_PANE_LOG},
    [PW_PANE_ENCODING] = {PW_PANE_LENGTHS, PW_PANE_ATTENTION, PW_PANE_CURVES, PW_PANE_IO, PW_PANE_STEP,
                          PW_PANE_LOG},
    [PW_PANE_IO] = {PW_PANE_STEP, PW_PANE_ATTENTION, PW_PANE_LENGTHS, PW_PANE_CURVES, PW_PANE_ENCODING,
                    PW_PANE_LOG},
    [PW_PANE_LOG] = {PW_PANE_CURVES, PW_PANE_IO, PW_PANE_LENGTHS, PW_PANE_ATTENTION, PW_PANE_STEP,
                     PW_PANE_ENCODING},
};

/* Cuts the first h rows (or w columns) off r. */
static struct pw_rect cut_top(struct pw_rect *r, int h)
{
    struct pw_rect top = {r->y, r->x, h, r->w};
    r->y += h, r->h -= h;
    return top;
}

static struct pw_rect cut_left(struct pw_rect *r, int w)
{
    struct pw_rect left = {r->y, r->x, r->h, w};
    r->x += w, r->w -= w;
    return left;
}

static void stack(struct pw_layout *l, struct pw_rect body, int focus)
{
    const int *with = companions[focus];

    l->panes[focus] = cut_top(&body, (body.h * 62 + 50) / 100);
    l->panes[with[0]] = cut_left(&body, body.w / 2);
    l->panes[with[1]] = body;
}

static void two_columns(struct pw_layout *l, struct pw_rect body, int focus)
{
    const int *with = companions[focus];
    int right = body.h >= 40 ? 3 : 2; /* panes in the right column */
    struct pw_rect left = cut_left(&body, (body.w * 58 + 50) / 100);

    l->panes[focus] = cut_top(&left, (left.h * 60 + 50) / 100);
    l->panes[with[0]] = left;
    for (int i = 1; i <= right; i++)
        l->panes[with[i]] = cut_top(&body, body.h / (right + 1 - i));
}

static void dashboard(struct pw_layout *l, struct pw_rect body)
{
    struct pw_rect left = cut_left(&body, body.w * 36 / 100);
    struct pw_rect middle = cut_left(&body, body.w * 60 / 100);

    l->panes[PW_PANE_CURVES] = cut_top(&left, left.h / 2);
    l->panes[PW_PANE_LENGTHS] = left;
    l->panes[PW_PANE_ATTENTION] = cut_top(&middle, (middle.h * 64 + 50) / 100);
    l->panes[PW_PANE_ENCODING] = middle;
    l->panes[PW_PANE_STEP] = cut_top(&body, (body.h * 42 + 50) / 100);
    l->panes[PW_PANE_IO] = cut_top(&body, (body.h * 58 + 50) / 100);
    l->panes[PW_PANE_LOG] = body;
}

void pw_layout(struct pw_layout *l, int rows, int cols, int focus, bool zoom)
{
    memset(l, 0, sizeof *l);
    struct pw_rect body = {0, 0, rows, cols};

    /* The prompt is the last thing to go: whatever is on the screen, a command can be typed. */
    l->prompt = (struct pw_rect){rows - 1, 0, 1, cols};
    body.h--;
    if (rows >= 2)
        l->status = cut_top(&body, 1);
    if (rows >= 6) {
        l->hints = (struct pw_rect){rows - 2, 0, 1, cols};
        body.h--;
    }
    if (body.h == 0)
        return;
    if (zoom || cols <= 60 || rows <= 16)
        l->panes[focus] = body;
    else if (cols < 100)
        stack(l, body, focus);
    else if (cols < 140 || rows < 40)
        two_columns(l, body, focus);
    else
        dashboard(l, body);
}
