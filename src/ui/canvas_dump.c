/* canvas_dump.c - a canvas as text: glyphs alone for tests and `diff`, or with ANSI sequences for `cat`. */
#include "ui/canvas.h"
#include <string.h>

static const struct pw_style plain = {PW_DEFAULT, PW_DEFAULT, 0};

static bool same_style(struct pw_style a, struct pw_style b)
{
    return a.fg == b.fg && a.bg == b.bg && a.attr == b.attr;
}

bool pw_cell_same(const struct pw_cell *a, const struct pw_cell *b)
{
    return a->cp == b->cp && same_style(a->style, b->style);
}

/* Returns the columns of a row without trailing blanks. styled: a blank with a visible style counts as used.
 */
static int used_cols(const struct pw_cell *row, int cols, bool styled)
{
    while (cols > 0 && row[cols - 1].cp == ' ' && (!styled || same_style(row[cols - 1].style, plain)))
        cols--;
    return cols;
}

static void put_glyph(struct pw_str *out, uint32_t cp)
{
    char bytes[4];

    if (cp != 0)
        pw_str_put(out, bytes, pw_utf8_put(bytes, cp));
}

void pw_canvas_text(const struct pw_canvas *c, struct pw_str *out)
{
    for (int y = 0; y < c->rows; y++) {
        const struct pw_cell *row = c->cells + (size_t)y * (size_t)c->cols;
        int n = used_cols(row, c->cols, false);
        for (int x = 0; x < n; x++)
            put_glyph(out, row[x].cp);
        pw_str_put(out, "\n", 1);
    }
}

static void put_color(struct pw_str *out, uint32_t color, int base)
{
    if (color == PW_DEFAULT)
        return;
    if (color >= PW_ANSI(0))
        pw_str_add(out, ";%d", base + (int)(color & 7));
    else
        pw_str_add(out, ";%d;2;%d;%d;%d", base + 8, (int)(color >> 16 & 255), (int)(color >> 8 & 255),
                   (int)(color & 255));
}

static void put_style(struct pw_str *out, struct pw_style s)
{
    pw_str_add(out, "\033[0");
    if (s.attr & PW_BOLD)
        pw_str_add(out, ";1");
    if (s.attr & PW_DIM)
        pw_str_add(out, ";2");
    if (s.attr & PW_UNDERLINE)
        pw_str_add(out, ";4");
    if (s.attr & PW_REVERSE)
        pw_str_add(out, ";7");
    put_color(out, s.fg, 30);
    put_color(out, s.bg, 40);
    pw_str_add(out, "m");
}

void pw_canvas_ansi(const struct pw_canvas *c, struct pw_str *out)
{
    for (int y = 0; y < c->rows; y++) {
        const struct pw_cell *row = c->cells + (size_t)y * (size_t)c->cols;
        int n = used_cols(row, c->cols, true);
        struct pw_style now = plain;
        for (int x = 0; x < n; x++) {
            if (!same_style(row[x].style, now)) {
                now = row[x].style;
                put_style(out, now);
            }
            put_glyph(out, row[x].cp);
        }
        if (!same_style(now, plain))
            pw_str_add(out, "\033[0m");
        pw_str_put(out, "\n", 1);
    }
}

/* The left half of a wide character sends both halves. */
void pw_canvas_changes(const struct pw_canvas *before, const struct pw_canvas *now, struct pw_str *out)
{
    struct pw_style style = plain;
    for (int y = 0; y < now->rows; y++) {
        const struct pw_cell *row = now->cells + (size_t)y * (size_t)now->cols;
        const struct pw_cell *was = before->cells + (size_t)y * (size_t)now->cols;
        int at = -1; /* the terminal's cursor in this row; -1: unknown */
        for (int x = 0, width; x < now->cols; x += width) {
            width = x + 1 < now->cols && row[x + 1].cp == 0 ? 2 : 1;
            if (row[x].cp == 0 ||
                (pw_cell_same(&row[x], &was[x]) && (width == 1 || pw_cell_same(&row[x + 1], &was[x + 1]))))
                continue;
            if (at != x)
                pw_str_add(out, "\033[%d;%dH", y + 1, x + 1);
            if (!same_style(row[x].style, style)) {
                style = row[x].style;
                put_style(out, style);
            }
            put_glyph(out, row[x].cp);
            at = x + width;
        }
    }
    if (!same_style(style, plain))
        pw_str_add(out, "\033[0m");
}
