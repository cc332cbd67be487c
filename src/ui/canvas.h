/* canvas.h - pewter's own screen: a grid of cells that panes draw into.
 *
 * No terminal in sight: ncurses (term.c), plain text and ANSI (canvas_dump.c), SVG (canvas_svg.c) are its
 * outputs, so screenshots, snapshot tests and the workbench come from one path. Every drawing call clips to
 * its rectangle; nothing outside is touched. */
#ifndef PW_CANVAS_H
#define PW_CANVAS_H
#include "base/text.h"
#include <stdbool.h>
#include <stdint.h>

/* A colour: the terminal's own default, one of its 8 named colours (so the user's scheme applies), or RGB. */
#define PW_DEFAULT      0xff000000u
#define PW_ANSI(i)      (0xfe000000u | (uint32_t)(i)) /* 0-7: black red green yellow blue magenta cyan white */
#define PW_RGB(r, g, b) ((uint32_t)(r) << 16 | (uint32_t)(g) << 8 | (uint32_t)(b))

enum pw_attr { PW_BOLD = 1, PW_DIM = 2, PW_REVERSE = 4, PW_UNDERLINE = 8 };

struct pw_style {
    uint32_t fg, bg;
    unsigned attr;
};

struct pw_cell {
    uint32_t cp; /* code point; 0: the right half of a wide character */
    struct pw_style style;
};

struct pw_canvas {
    int rows, cols;
    struct pw_cell *cells;  /* [rows,cols] */
    int cursor_y, cursor_x; /* where the terminal's cursor stands; -1: hidden */
};

struct pw_rect {
    int y, x, h, w;
};

/* How the terminal can show things. */
enum pw_colors { PW_COLORS_MONO, PW_COLORS_16, PW_COLORS_256, PW_COLORS_TRUE };
struct pw_look {
    enum pw_colors colors;
    bool utf8; /* else ASCII only */
};

static inline bool pw_rect_has(struct pw_rect r, int y, int x)
{
    return y >= r.y && y < r.y + r.h && x >= r.x && x < r.x + r.w;
}

void pw_canvas_init(struct pw_canvas *c);
/* All cells blank; contents are lost when the size changes. At least 1x1. */
void pw_canvas_resize(struct pw_canvas *c, int rows, int cols);
void pw_canvas_clear(struct pw_canvas *c);
void pw_canvas_fini(struct pw_canvas *c);

/* Draws UTF-8 text from (y,x) of the canvas, clipped to r; control characters become '?'. Returns the column
 * after. */
int pw_draw_text(struct pw_canvas *c, struct pw_rect r, int y, int x, struct pw_style s, const char *text);
int pw_draw_fmt(struct pw_canvas *c, struct pw_rect r, int y, int x, struct pw_style s, const char *fmt, ...)
    __attribute__((format(printf, 6, 7)));
void pw_draw_cell(struct pw_canvas *c, struct pw_rect r, int y, int x, struct pw_style s, uint32_t cp);
void pw_draw_fill(struct pw_canvas *c, struct pw_rect r, struct pw_style s, uint32_t cp);
/* A frame with a title in its top border and text at the right end of it; heavy when focused. Returns the
 * inside. */
struct pw_rect pw_draw_frame(struct pw_canvas *c, struct pw_rect r, const struct pw_look *look, bool focused,
                             const char *title, const char *right);

/* The glyphs alone, rows separated by newlines, trailing blanks cut. */
void pw_canvas_text(const struct pw_canvas *c, struct pw_str *out);
/* With colours and attributes as ANSI sequences (for `cat`). */
void pw_canvas_ansi(const struct pw_canvas *c, struct pw_str *out);
/* What turns a terminal that shows `before`, of the same size and with plain style, into one that shows
 * `now`;
 * "" where they are alike. */
void pw_canvas_changes(const struct pw_canvas *before, const struct pw_canvas *now, struct pw_str *out);
/* A picture, on a dark or a light ground. */
void pw_canvas_svg(const struct pw_canvas *c, bool light, struct pw_str *out);

#endif
