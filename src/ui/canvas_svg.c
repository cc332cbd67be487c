/* canvas_svg.c - a canvas as an SVG picture with real text. The same cells give the same bytes.
 *
 * A row consists of its backgrounds (merged into runs), its blocks and dots, then its text. Half blocks, bars
 * and Braille are drawn as shapes, so that maps have no seams and curves do not shift with the font. Other
 * glyphs are text. The length of each run is given, so that columns are kept in a font of another width. */
#include <string.h>

#include "ui/canvas.h"

#define CELL_W 8.4 /* of DejaVu Sans Mono at 13.95 px; in tenths, so that every sum is written exactly */
#define CELL_H 16
#define BASE   12 /* baseline of the text */

/* The visible colours of one cell, after reverse. */
struct ink {
    uint32_t fg, bg;
    unsigned attr;
};

static const struct {
    uint32_t fg, bg, ansi[8];
} papers[2] = {
    {0xd4d4d4, 0x121212, {0x121212, 0xde7575, 0x1ca951, 0xbe8c00, 0x5d97d6, 0xcd71cd, 0x11a8cd, 0xd4d4d4}},
    {0x1f1f1f, 0xffffff, {0x1f1f1f, 0xcd3131, 0x008031, 0x8e6900, 0x2370c4, 0xb33cb3, 0x0c7994, 0x1f1f1f}},
};

static uint32_t solid(uint32_t color, uint32_t other, bool light)
{
    return color == PW_DEFAULT   ? other
           : color >= PW_ANSI(0) ? papers[light].ansi[color & 7]
                                 : color & 0xffffff;
}

static struct ink ink_of(const struct pw_cell *cell, bool light)
{
    uint32_t fg = solid(cell->style.fg, papers[light].fg, light);
    uint32_t bg = solid(cell->style.bg, papers[light].bg, light);
    unsigned attr = cell->style.attr & (PW_BOLD | PW_DIM | PW_UNDERLINE);
    if (cell->style.attr & PW_REVERSE)
        return (struct ink){bg, fg, attr};
    return (struct ink){fg, bg, attr};
}

static bool is_braille(uint32_t cp)
{
    return cp > 0x2800 && cp <= 0x28ff;
}

/* Computes the part of a cell that a block glyph fills, in eighths from the left and the top. Returns false
 * for other glyphs. */
static bool block(uint32_t cp, int *x, int *y, int *w, int *h)
{
    *x = *y = 0, *w = *h = 8;
    if (cp == 0x2580)
        *h = 4;
    else if (cp >= 0x2581 && cp <= 0x2588)
        *h = (int)(cp - 0x2580), *y = 8 - *h;
    else if (cp >= 0x2589 && cp <= 0x258f)
        *w = (int)(0x2590 - cp);
    else if (cp == 0x2590)
        *x = *w = 4;
    else
        return false;
    return true;
}

static void put_x(struct pw_str *out, double x)
{
    int tenths = (int)(x * 10 + 0.5);
    pw_str_add(out, tenths % 10 ? "%d.%d" : "%d", tenths / 10, tenths % 10);
}

static void put_rect(struct pw_str *out, double x, double y, double w, double h, uint32_t fill)
{
    pw_str_add(out, "<rect x=\"");
    put_x(out, x);
    pw_str_add(out, "\" y=\"");
    put_x(out, y);
    pw_str_add(out, "\" width=\"");
    put_x(out, w);
    pw_str_add(out, "\" height=\"");
    put_x(out, h);
    pw_str_add(out, "\" fill=\"#%06x\"/>\n", fill);
}

static void put_backgrounds(struct pw_str *out, const struct pw_cell *row, int y, int cols, bool light)
{
    for (int x = 0, end; x < cols; x = end) {
        uint32_t bg = ink_of(row + x, light).bg;
        for (end = x + 1; end < cols && ink_of(row + end, light).bg == bg; end++)
            continue;
        if (bg != papers[light].bg)
            put_rect(out, x * CELL_W, y * CELL_H, (end - x) * CELL_W, CELL_H, bg);
    }
}

/* Draws block glyphs; those of full width are merged into runs. */
static void put_blocks(struct pw_str *out, const struct pw_cell *row, int y, int cols, bool light)
{
    for (int x = 0, end; x < cols; x = end) {
        int bx, by, bw, bh;
        uint32_t fg = ink_of(row + x, light).fg;
        end = x + 1;
        if (!block(row[x].cp, &bx, &by, &bw, &bh))
            continue;
        while (bw == 8 && end < cols && row[end].cp == row[x].cp && ink_of(row + end, light).fg == fg)
            end++;
        put_rect(out, x * CELL_W + bx * CELL_W / 8, y * CELL_H + by * CELL_H / 8.0,
                 (end - x - 1) * CELL_W + bw * CELL_W / 8, bh * CELL_H / 8.0, fg);
    }
}

/* Draws Braille glyphs, two columns of four dots. A run of one colour is one path that leaves a dot at each
 * stop. */
static void put_dots(struct pw_str *out, const struct pw_cell *row, int y, int cols, bool light)
{
    static const unsigned char bits[8] = {0x01, 0x02, 0x04, 0x40,
                                          0x08, 0x10, 0x20, 0x80}; /* down, then across */
    for (int x = 0, end; x < cols; x = end) {
        struct ink k = ink_of(row + x, light);
        end = x + 1;
        if (!is_braille(row[x].cp))
            continue;
        pw_str_add(out, "<path stroke=\"#%06x\"%s d=\"", k.fg, k.attr & PW_DIM ? " opacity=\".6\"" : "");
        for (end = x; end < cols && is_braille(row[end].cp); end++) {
            struct ink this = ink_of(row + end, light);
            if (this.fg != k.fg || this.attr != k.attr)
                break;
            for (int i = 0; i < 8; i++)
                if (row[end].cp & bits[i]) {
                    pw_str_add(out, "M");
                    put_x(out, (end + 0.25 + 0.5 * (i / 4)) * CELL_W);
                    pw_str_add(out, " %dh0", y * CELL_H + 2 + 4 * (i % 4));
                }
        }
        pw_str_add(out, "\"/>\n");
    }
}

static bool is_text(const struct pw_cell *cell)
{
    int x, y, w, h;
    return cell->cp != ' ' && cell->cp != 0x2800 && !is_braille(cell->cp) && !block(cell->cp, &x, &y, &w, &h);
}

/* Returns true if every monospaced font has the glyph. Other glyphs possibly come from a font of another
 * width and are drawn alone. */
static bool is_common(uint32_t cp)
{
    return cp < 0x180 || (cp >= 0x2500 && cp < 0x2580);
}

/* Returns the end of a run of text with the same look and single blanks inside; XML would collapse more
 * blanks. */
static int end_of_run(const struct pw_cell *row, int x, int cols, bool light)
{
    struct ink first = ink_of(row + x, light);
    int end = x + 1;
    if (!is_common(row[x].cp)) /* including its right half, if it has one */
        return end + (end < cols && row[end].cp == 0);
    for (int i = end; i < cols; i++) {
        bool blank = row[i].cp == ' ';
        struct ink k = ink_of(row + i, light);
        if (blank && row[i - 1].cp != ' ')
            continue;
        if (!is_text(row + i) || !is_common(row[i].cp) || k.fg != first.fg || k.attr != first.attr)
            break;
        end = i + 1;
    }
    return end;
}

static void put_text(struct pw_str *out, const struct pw_cell *row, int y, int cols, bool light)
{
    for (int x = 0, end; x < cols; x = end) {
        end = x + 1;
        if (row[x].cp == 0 || !is_text(row + x))
            continue;
        struct ink k = ink_of(row + x, light);
        end = end_of_run(row, x, cols, light);
        pw_str_add(out, "<text x=\"");
        put_x(out, x * CELL_W);
        pw_str_add(out, "\" y=\"%d\"", y * CELL_H + BASE);
        if (end > x + 1) {
            pw_str_add(out, " textLength=\"");
            put_x(out, (end - x) * CELL_W);
            pw_str_add(out, "\"");
        }
        if (k.fg != papers[light].fg)
            pw_str_add(out, " fill=\"#%06x\"", k.fg);
        if (k.attr & PW_BOLD)
            pw_str_add(out, " font-weight=\"bold\"");
        if (k.attr & PW_DIM)
            pw_str_add(out, " opacity=\".6\"");
        if (k.attr & PW_UNDERLINE)
            pw_str_add(out, " text-decoration=\"underline\"");
        pw_str_add(out, ">");
        for (int i = x; i < end; i++)
            if (row[i].cp != 0)
                pw_str_xml(out, row[i].cp);
        pw_str_add(out, "</text>\n");
    }
}

void pw_canvas_svg(const struct pw_canvas *c, bool light, struct pw_str *out)
{
    pw_str_add(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"");
    put_x(out, c->cols * CELL_W);
    pw_str_add(out, "\" height=\"%d\" viewBox=\"0 0 ", c->rows * CELL_H);
    put_x(out, c->cols * CELL_W);
    pw_str_add(out,
               " %d\">\n<style>rect{shape-rendering:crispEdges}</style>\n<rect width=\"100%%\" "
               "height=\"100%%\" fill=\"#%06x\"/>\n<g font-family=\"'DejaVu Sans "
               "Mono','Cascadia Mono',Menlo,Consolas,'Liberation Mono',monospace\" font-size=\"13.95\" "
               "fill=\"#%06x\" stroke-width=\"2.4\" stroke-linecap=\"round\">\n",
               c->rows * CELL_H, papers[light].bg, papers[light].fg);
    for (int y = 0; y < c->rows; y++) {
        const struct pw_cell *row = c->cells + (size_t)y * (size_t)c->cols;
        put_backgrounds(out, row, y, c->cols, light);
        put_blocks(out, row, y, c->cols, light);
        put_dots(out, row, y, c->cols, light);
        put_text(out, row, y, c->cols, light);
    }
    pw_str_add(out, "</g>\n</svg>\n");
}
