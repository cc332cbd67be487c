/* findings_blocks.c - the blocks of a finding: a table as text, a plot with axes and legend, a map as an
 * image with names. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "figure/axes.h"
#include "figure/map.h"
#include "figure/panes/findings.h"
#include "figure/sheet.h"

static const struct pw_font cell_font = {.size = 8, .color = PW_INK};
static const struct pw_font small = {.size = 7.5, .color = PW_INK};
static const struct pw_font number = {.size = 7, .color = 0x4a4a4a, .anchor = PW_MIDDLE};

static double wider(double w, const struct pw_font *f, const char *text)
{
    return fmax(w, pw_svg_width(f, text));
}

/* ---- tables: bands of as many columns as fit, one below the other */

#define GAP 6.0 /* the same as in sheet.c */

struct band {
    const struct pw_block_of *k;
    int first, n; /* columns */
    double label_w;
};

static int rows_of(const struct pw_block *b)
{
    return b->rows < PW_FINDING_ROWS ? b->rows : PW_FINDING_ROWS;
}

static double column_width(const struct pw_block_of *k, int col)
{
    double w = wider(12, &small, pw_finding_col_name(k->f, k->b, col));

    for (int i = 0; i < rows_of(k->b); i++) {
        char text[64];
        pw_finding_cell_text(k->f, k->b, i, col, text, sizeof text);
        w = wider(w, &cell_font, text);
    }
    return w + 2;
}

/* Returns the band that begins at column `first`; the last band ends with the table. */
static struct band band_from(const struct pw_block_of *k, int first, double w)
{
    struct band d = {.k = k, .first = first, .label_w = wider(1, &small, k->b->x)};

    for (int i = 0; i < rows_of(k->b); i++)
        d.label_w = wider(d.label_w, &cell_font, pw_finding_row_name(k->f, k->b, i));
    d.label_w = fmin(d.label_w + 2, w * 0.4);
    double used = d.label_w;
    for (int col = first; col < k->b->cols; col++, d.n++) {
        used += GAP + column_width(k, col);
        if (used > w && d.n > 0)
            break;
    }
    return d;
}

static double band_height(const struct pw_block *b)
{
    return PW_SHEET_ROW * (rows_of(b) + 1) + 8;
}

static double table_height(const struct pw_block_of *k, double w)
{
    double h = 0;

    for (int at = 0; at < k->b->cols; at += band_from(k, at, w).n)
        h += band_height(k->b);
    return h;
}

static void cell(const void *arg, int row, int column, char *dst, size_t size, struct pw_font *font)
{
    const struct band *d = arg;

    (void)font;
    if (column == 0)
        pw_text_copy(dst, size, pw_finding_row_name(d->k->f, d->k->b, row));
    else
        pw_finding_cell_text(d->k->f, d->k->b, row, d->first + column - 1, dst, size);
}

static void draw_table(struct pw_figure *f, const struct pw_block_of *k, struct pw_box b)
{
    struct pw_sheet_column *columns = pw_alloc((size_t)k->b->cols + 1, sizeof *columns);

    for (int at = 0; at < k->b->cols;) {
        struct band d = band_from(k, at, b.w);
        double used = d.label_w;
        columns[0] = (struct pw_sheet_column){k->b->x, d.label_w, false};
        for (int i = 0; i < d.n; i++) {
            double room = b.w - used - GAP, w = fmin(column_width(k, at + i), room);
            columns[i + 1] = (struct pw_sheet_column){pw_finding_col_name(k->f, k->b, at + i), w, true};
            used += GAP + w;
        }
        struct pw_sheet sheet = {columns, d.n + 1, rows_of(k->b), cell, &d};
        pw_sheet_draw(&sheet, &f->svg, (struct pw_box){b.x, b.y, used, band_height(k->b)});
        b.y += band_height(k->b);
        at += d.n;
    }
    free(columns);
}

/* ---- plots */

#define KEY_H 11.0
#define SIGNS 24 /* a curve with at most this many points has a mark at each */

static struct pw_pen pen_of(const struct pw_block *b, int curve)
{
    if (pw_block_is_reference(b, curve))
        return (struct pw_pen){.color = 0x4a4a4a, .width = 1, .dash = "3 2"};
    return (struct pw_pen){.color = pw_svg_arm(pw_block_color(curve)), .width = 1.3};
}

/* Draws the legend above a plot of width w, over as many lines as needed, and returns its height. f NULL:
 * only measures. */
static double draw_legend(struct pw_figure *f, const struct pw_block_of *k, double x, double y, double w)
{
    double at = 0, down = KEY_H;

    for (int i = 0; i < k->b->cols; i++) {
        const char *name = pw_finding_col_name(k->f, k->b, i);
        double needs = fmin(20 + pw_svg_width(&small, name), w);
        if (at > 0 && at + needs > w)
            at = 0, down += KEY_H;
        if (f != NULL) {
            pw_svg_line(&f->svg, x + at, y + down - 5.7, x + at + 16, y + down - 5.7, pen_of(k->b, i));
            if (!pw_block_is_reference(k->b, i))
                pw_svg_mark(&f->svg, pw_block_color(i), x + at + 8, y + down - 5.7, 2.2);
            pw_svg_cut(&f->svg, x + at + 20, y + down - 3, &small, name, w - at - 20);
        }
        at += needs + 10;
    }
    return down;
}

/* The points of one curve: y and the ends of its band. A missing number is a break in the curve. */
struct points {
    double *x;
    float *y[3];
    int n;
};

static struct points points_of(const struct pw_block_of *k, int curve)
{
    struct points p = {.x = pw_alloc((size_t)k->b->rows, sizeof *p.x), .n = k->b->rows};

    for (int i = 0; i < 3; i++)
        p.y[i] = pw_alloc((size_t)p.n, sizeof *p.y[i]);
    for (int row = 0; row < p.n; row++) {
        double x = pw_finding_x_at(k->f, k->b, row), y = pw_finding_y_at(k->f, k->b, row, curve, 0);
        p.x[row] = isfinite(x) ? x : 0;
        for (int i = 0; i < 3; i++) {
            double v = pw_finding_y_at(k->f, k->b, row, curve, i);
            p.y[i][row] = !isfinite(y) || !isfinite(x) ? INFINITY : (float)(isfinite(v) ? v : y);
        }
    }
    return p;
}

static void draw_curve(struct pw_figure *f, const struct pw_axes *a, const struct pw_block_of *k, int curve)
{
    struct points p = points_of(k, curve);
    bool reference = pw_block_is_reference(k->b, curve);

    if (k->b->band && !reference)
        pw_axes_band(a, &f->svg, pw_svg_arm(pw_block_color(curve)), 0.15, p.x, p.y[1], p.y[2], p.n);
    pw_axes_line(a, &f->svg, pen_of(k->b, curve), p.x, p.y[0], p.n);
    for (int i = 0; i < p.n && p.n <= SIGNS && !reference; i++)
        if (isfinite(p.y[0][i]))
            pw_svg_mark(&f->svg, pw_block_color(curve), pw_axes_x(a, p.x[i]), pw_axes_y(a, (double)p.y[0][i]),
                        1.8);
    free(p.x);
    for (int i = 0; i < 3; i++)
        free(p.y[i]);
}

static void draw_plot(struct pw_figure *f, const struct pw_block_of *k, struct pw_box b)
{
    struct pw_block_axes span;
    double used = draw_legend(f, k, b.x + 4, b.y, b.w - 4);

    pw_block_axes(k, &span);
    struct pw_axes a = {.box = {b.x, b.y + used, b.w, b.h - used},
                        .x0 = span.x0,
                        .x1 = span.x1,
                        .y0 = span.y0,
                        .y1 = span.y1,
                        .log = span.log_y,
                        .log_x = span.log_x,
                        .x_unit = 1, /* labels between integers are allowed */
                        .x_name = k->b->x,
                        .y_name = k->b->y};
    pw_figure_axes(f, &a);
    for (int pass = 0; pass < 2; pass++) /* reference curves (theory) lie below the others */
        for (int i = 0; i < k->b->cols; i++)
            if (pw_block_is_reference(k->b, i) == (pass == 0))
                draw_curve(f, &a, k, i);
}

/* ---- maps */

#define CELL  24.0 /* maximum size of a value in points */
#define MOST  320.0
#define BAR   58.0 /* at the right: the colour bar and its numbers */
#define NAMES 62.0 /* maximum width of a name at the side */

struct sides {
    double left, below, w, h; /* of the image */
    bool turned;              /* names below the image are vertical */
};

static void name_of(const struct pw_block_of *k, int i, bool row, char text[PW_FINDING_LABEL])
{
    const char *name = row ? pw_finding_row_name(k->f, k->b, i) : pw_finding_col_name(k->f, k->b, i);

    if (name[0])
        pw_text_copy(text, PW_FINDING_LABEL, name);
    else
        snprintf(text, PW_FINDING_LABEL, "%d", i);
}

static double widest_name(const struct pw_block_of *k, int n, bool row)
{
    double w = 0;

    for (int i = 0; i < n; i++) {
        char text[PW_FINDING_LABEL];
        name_of(k, i, row, text);
        w = wider(w, &number, text);
    }
    return fmin(w, NAMES);
}

static struct sides sides_of(const struct pw_block_of *k, double w, double stretch)
{
    const struct pw_block *b = k->b;
    double names = widest_name(k, b->cols, false);
    struct sides s = {.left = widest_name(k, b->rows, true) + 5 + (b->y[0] ? 12 : 0)};
    double cell = fmin((w - s.left - BAR) / b->cols, CELL);

    s.w = cell * b->cols;
    s.h = fmin(fmax(cell * b->rows, 40), MOST) * stretch;
    s.turned = b->n_labels > 0 && names + 2 > cell;
    s.below = (s.turned ? names + 5 : 12) + (b->x[0] ? 12 : 0);
    return s;
}

static void draw_names(struct pw_figure *f, const struct pw_block_of *k, const struct sides *s,
                       struct pw_box in)
{
    double w = in.w / k->b->cols, h = in.h / k->b->rows;
    struct pw_font right = number, below = number, turned = small, middle = small;
    char text[PW_FINDING_LABEL];

    right.anchor = PW_END, turned.anchor = middle.anchor = PW_MIDDLE, turned.turned = true;
    below.turned = s->turned, below.anchor = s->turned ? PW_END : PW_MIDDLE;
    int every = (int)ceil(8.5 / h),
        across = (int)ceil((s->turned ? 8.5 : widest_name(k, k->b->cols, false) + 3) / w);
    for (int i = 0; i < k->b->rows; i += every) {
        name_of(k, i, true, text);
        pw_svg_cut(&f->svg, in.x - 3, in.y + (i + 0.5) * h + 2.5, &right, text, NAMES);
    }
    for (int i = 0; i < k->b->cols; i += across) {
        name_of(k, i, false, text);
        pw_svg_cut(&f->svg, in.x + (i + 0.5) * w + (s->turned ? 2.5 : 0), in.y + in.h + (s->turned ? 4 : 9),
                   &below, text, NAMES);
    }
    pw_svg_cut(&f->svg, in.x + in.w / 2, in.y + in.h + s->below - 3, &middle, k->b->x, 2 * in.w);
    if (k->b->y[0])
        pw_svg_cut(&f->svg, in.x - s->left + 8, in.y + in.h / 2, &turned, k->b->y, in.h + s->below);
}

static void draw_map(struct pw_figure *f, const struct pw_block_of *k, struct pw_box b, double stretch)
{
    struct sides s = sides_of(k, b.w, stretch);
    struct pw_box in = {b.x + s.left, b.y + 2, s.w, s.h};
    struct pw_map m = {.data = pw_block_matrix(k), .map = (enum pw_colormap)f->o->map, .most = 512};

    pw_map_draw(&m, &f->svg, in);
    pw_svg_frame(&f->svg, in, (struct pw_pen){.color = 0x808080, .width = 0.5});
    draw_names(f, k, &s, in);
    pw_map_bar(&m, &f->svg, (struct pw_box){in.x + in.w + 10, in.y, 8, fmin(in.h, 100)}, false, NULL);
}

/* ---- all kinds of blocks */

struct pw_block_height pw_figure_block_height(const struct pw_block_of *k, double w)
{
    if (k->b->kind == PW_BLOCK_TABLE)
        return (struct pw_block_height){table_height(k, w), 0};
    if (k->b->kind == PW_BLOCK_PLOT)
        return (struct pw_block_height){draw_legend(NULL, k, 0, 0, w - 4), 0.4 * w};
    struct sides s = sides_of(k, w, 1);
    return (struct pw_block_height){s.below + 4, s.h};
}

void pw_figure_block(struct pw_figure *f, const struct pw_block_of *k, struct pw_box b, double stretch)
{
    if (k->b->kind == PW_BLOCK_TABLE)
        draw_table(f, k, b);
    else if (k->b->kind == PW_BLOCK_PLOT)
        draw_plot(f, k, b);
    else
        draw_map(f, k, b, stretch);
}
