/* canvas_svg.c - a canvas as an SVG picture with real text. The same cells give the same bytes.
 *
 * Backgrounds come first, then blocks and dots, then text. Half blocks, bars and Braille are drawn as shapes,
 * so that maps have no seams and curves do not shift with the font. Shapes of one colour are one path, and
 * text of one style is one group: a picture has many small shapes and few colours. Paths count in integers,
 * relative to the point before; a transformation gives them their size. Other glyphs are text. The length of
 * each run is given, so that columns are kept in a font of another width.
 *
 * A film (film.c) draws spans of rows on top of earlier ones, with their background. */
#include <stdlib.h>

#include "base/alloc.h"
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

/* ---- parts by style */

/* Everything drawn in one style: a path, or elements. */
struct part {
    struct ink ink; /* without bg */
    struct pw_str body;
    int x, y; /* of a path: the current point */
};

struct parts {
    struct part *part;
    int n, cap;
};

static struct part *part_of(struct parts *p, uint32_t fg, unsigned attr)
{
    for (int i = p->n - 1; i >= 0; i--)
        if (p->part[i].ink.fg == fg && p->part[i].ink.attr == attr)
            return &p->part[i];
    if (p->n == p->cap) {
        p->cap = p->cap > 0 ? 2 * p->cap : 16;
        p->part = pw_grow(p->part, (size_t)p->cap, sizeof *p->part);
    }
    p->part[p->n] = (struct part){.ink = {.fg = fg, .attr = attr}};
    return &p->part[p->n++];
}

static void drop_parts(struct parts *p)
{
    for (int i = 0; i < p->n; i++)
        pw_str_fini(&p->part[i].body);
    free(p->part);
    *p = (struct parts){0};
}

static void move_to(struct part *p, int x, int y)
{
    bool first = p->body.len == 0;
    int dx = x - p->x, dy = y - p->y;
    pw_str_add(&p->body, dy < 0 && !first ? "%s%d%d" : "%s%d %d", first ? "M" : "m", dx, dy);
    p->x = x, p->y = y;
}

/* Adds a rectangle, in eighths of a cell: 1.05 by 2 px. */
static void add_rect(struct parts *p, int x, int y, int w, int h, uint32_t fill)
{
    struct part *part = part_of(p, fill, 0);
    move_to(part, x, y);
    pw_str_add(&part->body, "h%dv%dh-%dz", w, h, w);
}

static void put_rects(struct pw_str *out, struct parts *p)
{
    if (p->n > 0)
        pw_str_add(out, "<g transform=\"scale(1.05 2)\" shape-rendering=\"crispEdges\">\n");
    for (int i = 0; i < p->n; i++)
        pw_str_add(out, "<path fill=\"#%06x\" d=\"%s\"/>\n", p->part[i].ink.fg, p->part[i].body.s);
    pw_str_add(out, p->n > 0 ? "</g>\n" : "");
    drop_parts(p);
}

static void put_dots(struct pw_str *out, struct parts *p)
{
    if (p->n > 0)
        pw_str_add(out, "<g transform=\"translate(2.1 2)scale(4.2 4)\" stroke-width=\".59\" "
                        "stroke-linecap=\"round\">\n");
    for (int i = 0; i < p->n; i++)
        pw_str_add(out, "<path stroke=\"#%06x\"%s d=\"%s\"/>\n", p->part[i].ink.fg,
                   p->part[i].ink.attr & PW_DIM ? " opacity=\".6\"" : "", p->part[i].body.s);
    pw_str_add(out, p->n > 0 ? "</g>\n" : "");
    drop_parts(p);
}

static void put_texts(struct pw_str *out, struct parts *p)
{
    for (int i = 0; i < p->n; i++) {
        unsigned attr = p->part[i].ink.attr;
        pw_str_add(out, "<g fill=\"#%06x\"%s%s%s>\n%s</g>\n", p->part[i].ink.fg,
                   attr & PW_BOLD ? " font-weight=\"bold\"" : "", attr & PW_DIM ? " opacity=\".6\"" : "",
                   attr & PW_UNDERLINE ? " text-decoration=\"underline\"" : "", p->part[i].body.s);
    }
    drop_parts(p);
}

/* ---- cells */

/* A span of a row, with its cells. */
struct run {
    const struct pw_cell *row;
    int y, from, to;
    bool light;
};

/* The picture's own background is drawn only where the span covers an earlier one. */
static void add_backgrounds(struct parts *p, const struct run *r, bool covers)
{
    for (int x = r->from, end; x < r->to; x = end) {
        uint32_t bg = ink_of(r->row + x, r->light).bg;
        for (end = x + 1; end < r->to && ink_of(r->row + end, r->light).bg == bg; end++)
            continue;
        if (covers || bg != papers[r->light].bg)
            add_rect(p, 8 * x, 8 * r->y, 8 * (end - x), 8, bg);
    }
}

/* Block glyphs of full width are merged into runs. */
static void add_blocks(struct parts *p, const struct run *r)
{
    for (int x = r->from, end; x < r->to; x = end) {
        int bx, by, bw, bh;
        uint32_t fg = ink_of(r->row + x, r->light).fg;
        end = x + 1;
        if (!block(r->row[x].cp, &bx, &by, &bw, &bh))
            continue;
        while (bw == 8 && end < r->to && r->row[end].cp == r->row[x].cp &&
               ink_of(r->row + end, r->light).fg == fg)
            end++;
        add_rect(p, 8 * x + bx, 8 * r->y + by, 8 * (end - x - 1) + bw, bh, fg);
    }
}

/* A Braille glyph has two columns of four dots, 4.2 by 4 px apart. A path leaves a dot at each stop. */
static void add_dots(struct parts *p, const struct run *r)
{
    static const unsigned char bits[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    for (int i = 0; i < 4; i++)
        for (int x = r->from; x < r->to; x++) {
            struct ink k = ink_of(r->row + x, r->light);
            for (int j = 0; j < 2 && is_braille(r->row[x].cp); j++)
                if (r->row[x].cp & bits[i][j]) {
                    struct part *part = part_of(p, k.fg, k.attr & PW_DIM);
                    move_to(part, 2 * x + j, 4 * r->y + i);
                    pw_str_add(&part->body, "h0");
                }
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
static int end_of_run(const struct run *r, int x)
{
    struct ink first = ink_of(r->row + x, r->light);
    int end = x + 1;
    if (!is_common(r->row[x].cp)) /* including its right half, if it has one */
        return end + (end < r->to && r->row[end].cp == 0);
    for (int i = end; i < r->to; i++) {
        bool blank = r->row[i].cp == ' ';
        struct ink k = ink_of(r->row + i, r->light);
        if (blank && r->row[i - 1].cp != ' ')
            continue;
        if (!is_text(r->row + i) || !is_common(r->row[i].cp) || k.fg != first.fg || k.attr != first.attr)
            break;
        end = i + 1;
    }
    return end;
}

static void add_texts(struct parts *p, const struct run *r)
{
    for (int x = r->from, end; x < r->to; x = end) {
        end = x + 1;
        if (r->row[x].cp == 0 || !is_text(r->row + x))
            continue;
        struct ink k = ink_of(r->row + x, r->light);
        struct pw_str *out = &part_of(p, k.fg, k.attr)->body;
        end = end_of_run(r, x);
        pw_str_add(out, "<text x=\"");
        put_x(out, x * CELL_W);
        pw_str_add(out, "\" y=\"%d\"", r->y * CELL_H + BASE);
        if (end > x + 1) {
            pw_str_add(out, " textLength=\"");
            put_x(out, (end - x) * CELL_W);
            pw_str_add(out, "\"");
        }
        pw_str_add(out, ">");
        for (int i = x; i < end; i++)
            if (r->row[i].cp != 0)
                pw_str_xml(out, r->row[i].cp);
        pw_str_add(out, "</text>\n");
    }
}

/* ---- the picture */

void pw_canvas_svg_spans(const struct pw_canvas *c, const struct pw_span *span, int n, bool covers,
                         bool light, struct pw_str *out)
{
    struct parts grounds = {0}, blocks = {0}, dots = {0}, texts = {0};
    for (int i = 0; i < n; i++) {
        const struct pw_cell *row = c->cells + (size_t)span[i].y * (size_t)c->cols;
        struct run r = {row, span[i].y, span[i].from, span[i].to, light};
        add_backgrounds(&grounds, &r, covers);
        add_blocks(&blocks, &r);
        add_dots(&dots, &r);
        add_texts(&texts, &r);
    }
    put_rects(out, &grounds);
    put_rects(out, &blocks);
    put_dots(out, &dots);
    put_texts(out, &texts);
}

void pw_canvas_svg_open(int rows, int cols, bool light, const char *head, struct pw_str *out)
{
    pw_str_add(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"");
    put_x(out, cols * CELL_W);
    pw_str_add(out, "\" height=\"%d\" viewBox=\"0 0 ", rows * CELL_H);
    put_x(out, cols * CELL_W);
    pw_str_add(out, " %d\">\n%s<rect width=\"100%%\" height=\"100%%\" fill=\"#%06x\"/>\n", rows * CELL_H,
               head, papers[light].bg);
    pw_str_add(out, "<g font-family=\"'DejaVu Sans Mono','Cascadia Mono',Menlo,Consolas,'Liberation Mono',"
                    "monospace\" font-size=\"13.95\">\n");
}

void pw_canvas_svg_close(struct pw_str *out)
{
    pw_str_add(out, "</g>\n</svg>\n");
}

void pw_canvas_svg(const struct pw_canvas *c, bool light, struct pw_str *out)
{
    struct pw_span *all = pw_alloc((size_t)c->rows, sizeof *all);
    for (int y = 0; y < c->rows; y++)
        all[y] = (struct pw_span){y, 0, c->cols};
    pw_canvas_svg_open(c->rows, c->cols, light, "", out);
    pw_canvas_svg_spans(c, all, c->rows, false, light, out);
    pw_canvas_svg_close(out);
    free(all);
}
