/* canvas.c - the grid of cells and the few drawing calls that everything on the screen uses.
 *
 * This file does all clipping and all wide characters, so no pane can draw outside its rectangle. Overwriting
 * one half of a wide character blanks the other half. */
#include "ui/canvas.h"
#include "base/alloc.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SIDE 4096 /* rows or columns; larger than any terminal, and rows * cols fits an int */

static const struct pw_cell blank = {' ', {PW_DEFAULT, PW_DEFAULT, 0}};

void pw_canvas_init(struct pw_canvas *c)
{
    *c = (struct pw_canvas){.cursor_y = -1, .cursor_x = -1};
    pw_canvas_resize(c, 1, 1);
}

static int clamp_side(int n)
{
    return n < 1 ? 1 : n > MAX_SIDE ? MAX_SIDE : n;
}

void pw_canvas_resize(struct pw_canvas *c, int rows, int cols)
{
    rows = clamp_side(rows), cols = clamp_side(cols);
    if (rows != c->rows || cols != c->cols) {
        free(c->cells);
        c->cells = pw_alloc((size_t)rows * (size_t)cols, sizeof *c->cells);
        c->rows = rows, c->cols = cols;
    }
    pw_canvas_clear(c);
}

void pw_canvas_clear(struct pw_canvas *c)
{
    for (int i = 0; i < c->rows * c->cols; i++)
        c->cells[i] = blank;
    c->cursor_y = c->cursor_x = -1;
}

void pw_canvas_fini(struct pw_canvas *c)
{
    free(c->cells);
    *c = (struct pw_canvas){.cursor_y = -1, .cursor_x = -1};
}

/* Returns true if (y,x) is inside both the rectangle and the canvas. */
static bool inside(const struct pw_canvas *c, struct pw_rect r, int y, int x)
{
    return pw_rect_has(r, y, x) && y >= 0 && y < c->rows && x >= 0 && x < c->cols;
}

/* Writes one cell and blanks the remaining half of an overwritten wide character. */
static void put(struct pw_canvas *c, int y, int x, uint32_t cp, struct pw_style s)
{
    struct pw_cell *row = c->cells + (size_t)y * (size_t)c->cols;

    if (cp != 0 && row[x].cp == 0 && x > 0)
        row[x - 1].cp = ' ';
    if (x + 1 < c->cols && row[x + 1].cp == 0)
        row[x + 1].cp = ' ';
    row[x] = (struct pw_cell){cp, s};
}

void pw_draw_cell(struct pw_canvas *c, struct pw_rect r, int y, int x, struct pw_style s, uint32_t cp)
{
    if (!inside(c, r, y, x))
        return;
    if (cp < 0x20 || (cp >= 0x7f && cp < 0xa0))
        cp = '?';
    int width = pw_utf8_cells(cp);
    if (width == 0)
        return; /* a combining mark alone has no base character */
    if (width == 1) {
        put(c, y, x, cp, s);
    } else if (inside(c, r, y, x + 1)) {
        put(c, y, x, cp, s);
        put(c, y, x + 1, 0, s);
    } else {
        put(c, y, x, ' ', s);
    }
}

int pw_draw_text(struct pw_canvas *c, struct pw_rect r, int y, int x, struct pw_style s, const char *text)
{
    size_t left = strlen(text);

    while (left > 0) {
        uint32_t cp;
        size_t n = pw_utf8_next(text, left, &cp);
        pw_draw_cell(c, r, y, x, s, cp);
        x += pw_utf8_cells(cp);
        text += n, left -= n;
    }
    return x;
}

int pw_draw_fmt(struct pw_canvas *c, struct pw_rect r, int y, int x, struct pw_style s, const char *fmt, ...)
{
    char text[1024];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return pw_draw_text(c, r, y, x, s, text);
}

void pw_draw_fill(struct pw_canvas *c, struct pw_rect r, struct pw_style s, uint32_t cp)
{
    for (int y = r.y; y < r.y + r.h; y++)
        for (int x = r.x; x < r.x + r.w; x++)
            pw_draw_cell(c, r, y, x, s, cp);
}

/* Corners clockwise from the top left, then horizontal and vertical. Never ACS: under some TERM values in
 * tmux, ACS_VLINE shows as 'x'. */
enum { BORDERS_ASCII, BORDERS_UTF8, BORDERS_CONSOLE };
static const uint32_t borders[][2][6] = {
    {{'+', '+', '+', '+', '-', '|'}, {'#', '#', '#', '#', '=', '|'}},
    {{0x250c, 0x2510, 0x2518, 0x2514, 0x2500, 0x2502}, {0x250f, 0x2513, 0x251b, 0x2517, 0x2501, 0x2503}},
    /* console fonts have double lines instead of heavy ones */
    {{0x250c, 0x2510, 0x2518, 0x2514, 0x2500, 0x2502}, {0x2554, 0x2557, 0x255d, 0x255a, 0x2550, 0x2551}},
};

static bool has_frame(struct pw_rect r)
{
    return r.h >= 3 && r.w >= 4; /* else a border would leave no room inside */
}

struct pw_rect pw_frame_inside(struct pw_rect r)
{
    return has_frame(r) ? (struct pw_rect){r.y + 1, r.x + 1, r.h - 2, r.w - 2} : r;
}

struct pw_rect pw_draw_frame(struct pw_canvas *c, struct pw_rect r, const struct pw_abilities *look,
                             bool focused, const char *title, const char *right)
{
    if (!has_frame(r))
        return r;

    int kind = look->utf8 ? BORDERS_UTF8 : look->boxes ? BORDERS_CONSOLE : BORDERS_ASCII;
    const uint32_t *b = borders[kind][focused];
    struct pw_style line = {PW_DEFAULT, PW_DEFAULT, focused ? PW_BOLD : PW_DIM};
    struct pw_style name = {PW_DEFAULT, PW_DEFAULT, focused ? PW_BOLD : 0};
    struct pw_style note = {PW_DEFAULT, PW_DEFAULT, focused ? 0 : PW_DIM};
    int bottom = r.y + r.h - 1, end = r.x + r.w - 1;

    for (int x = r.x + 1; x < end; x++) {
        pw_draw_cell(c, r, r.y, x, line, b[4]);
        pw_draw_cell(c, r, bottom, x, line, b[4]);
    }
    for (int y = r.y + 1; y < bottom; y++) {
        pw_draw_cell(c, r, y, r.x, line, b[5]);
        pw_draw_cell(c, r, y, end, line, b[5]);
    }
    pw_draw_cell(c, r, r.y, r.x, line, b[0]);
    pw_draw_cell(c, r, r.y, end, line, b[1]);
    pw_draw_cell(c, r, bottom, end, line, b[2]);
    pw_draw_cell(c, r, bottom, r.x, line, b[3]);

    struct pw_rect top = {r.y, r.x + 2, 1, r.w - 4};
    int x = r.x + 2;
    if (title[0]) {
        x = pw_draw_text(c, top, r.y, x, line, " ");
        x = pw_draw_text(c, top, r.y, x, name, title);
        x = pw_draw_text(c, top, r.y, x, line, " ");
    }
    int from = end - 3 - pw_text_cells(right);
    if (right[0] && from > x) { /* whole or not at all: a cut number would be wrong */
        from = pw_draw_text(c, top, r.y, from, line, " ");
        from = pw_draw_text(c, top, r.y, from, note, right);
        pw_draw_text(c, top, r.y, from, line, " ");
    }
    return (struct pw_rect){r.y + 1, r.x + 1, r.h - 2, r.w - 2};
}
