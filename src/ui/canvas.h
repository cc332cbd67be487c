/* canvas.h - pewter's own screen: a grid of cells that panes draw into.
 *
 * The canvas does not depend on a terminal. Its outputs are ncurses (term.c), plain text and ANSI
 * (canvas_dump.c), and SVG (canvas_svg.c), so screenshots, snapshot tests and the workbench share one path.
 * Every drawing call clips to its rectangle. */
#ifndef PW_CANVAS_H
#define PW_CANVAS_H
#include "base/text.h"
#include <stdbool.h>
#include <stdint.h>

/* A colour: the terminal's default, one of its 8 named colours (which follow the user's scheme), or RGB. */
#define PW_DEFAULT      0xff000000u
#define PW_ANSI(i)      (0xfe000000u | (uint32_t)(i)) /* 0-7: black red green yellow blue magenta cyan white */
#define PW_RGB(r, g, b) ((uint32_t)(r) << 16 | (uint32_t)(g) << 8 | (uint32_t)(b))

/* Attributes of a cell, as bits. */
enum pw_attr { PW_BOLD = 1, PW_DIM = 2, PW_REVERSE = 4, PW_UNDERLINE = 8 };

/* Foreground, background, and bits of enum pw_attr. */
struct pw_style {
    uint32_t fg, bg;
    unsigned attr;
};

/* One cell. */
struct pw_cell {
    uint32_t cp; /* code point; 0: the right half of a wide character */
    struct pw_style style;
};

bool pw_cell_same(const struct pw_cell *a, const struct pw_cell *b);

/* The grid. It owns the cells. */
struct pw_canvas {
    int rows, cols;
    struct pw_cell *cells;  /* [rows,cols] */
    int cursor_y, cursor_x; /* position of the terminal's cursor; -1: hidden */
};

/* A rectangle of cells: row and column of its upper left cell, height and width. */
struct pw_rect {
    int y, x, h, w;
};

/* Columns [from,to) of row y. */
struct pw_span {
    int y, from, to;
};

/* The abilities of the terminal. */
enum pw_colors { PW_COLORS_MONO, PW_COLORS_16, PW_COLORS_256, PW_COLORS_TRUE };
struct pw_abilities {
    enum pw_colors colors;
    bool utf8;  /* false: ASCII only, except for boxes */
    bool boxes; /* without utf8: the characters of boxes are there all the same (Linux console) */
};

static inline bool pw_rect_has(struct pw_rect r, int y, int x)
{
    return y >= r.y && y < r.y + r.h && x >= r.x && x < r.x + r.w;
}

/* Creates a blank canvas of 1x1; pw_canvas_fini frees it. */
void pw_canvas_init(struct pw_canvas *c);
/* Sets the size, at least 1x1, and blanks all cells. The contents are lost if the size changes. */
void pw_canvas_resize(struct pw_canvas *c, int rows, int cols);
void pw_canvas_clear(struct pw_canvas *c);
void pw_canvas_fini(struct pw_canvas *c);

/* Draws UTF-8 text from (y,x) of the canvas, clipped to r. Control characters become '?'. Returns the column
 * after the text. */
int pw_draw_text(struct pw_canvas *c, struct pw_rect r, int y, int x, struct pw_style s, const char *text);
int pw_draw_fmt(struct pw_canvas *c, struct pw_rect r, int y, int x, struct pw_style s, const char *fmt, ...)
    __attribute__((format(printf, 6, 7)));
/* Draws one character; a wide one takes two cells. Control characters become '?'. */
void pw_draw_cell(struct pw_canvas *c, struct pw_rect r, int y, int x, struct pw_style s, uint32_t cp);
/* Draws the character in every cell of r. */
void pw_draw_fill(struct pw_canvas *c, struct pw_rect r, struct pw_style s, uint32_t cp);
/* Returns the part of r inside its frame; r itself if it is too small for one. */
struct pw_rect pw_frame_inside(struct pw_rect r);
/* Draws a frame with a title in its top border and `right` at the border's right end; heavy lines if focused.
 * Returns the inside. */
struct pw_rect pw_draw_frame(struct pw_canvas *c, struct pw_rect r, const struct pw_abilities *look,
                             bool focused, const char *title, const char *right);

/* Appends the glyphs alone: a line per row, without trailing blanks. */
void pw_canvas_text(const struct pw_canvas *c, struct pw_str *out);
/* Appends the canvas with colours and attributes as ANSI sequences (for `cat`). */
void pw_canvas_ansi(const struct pw_canvas *c, struct pw_str *out);
/* Appends the bytes that change a terminal from `before` to `now`. Both have the same size; the terminal has
 * plain style before and after. Appends nothing if they are equal. */
void pw_canvas_changes(const struct pw_canvas *before, const struct pw_canvas *now, struct pw_str *out);
/* Appends an SVG picture on a dark or light background. */
void pw_canvas_svg(const struct pw_canvas *c, bool light, struct pw_str *out);
/* The parts of such a picture, for a film: its beginning, with the elements in `head`; spans of rows,
 * which cover what was drawn there before if `covers`; its end. */
void pw_canvas_svg_open(int rows, int cols, bool light, const char *head, struct pw_str *out);
void pw_canvas_svg_spans(const struct pw_canvas *c, const struct pw_span *span, int n, bool covers,
                         bool light, struct pw_str *out);
void pw_canvas_svg_close(struct pw_str *out);

#endif
