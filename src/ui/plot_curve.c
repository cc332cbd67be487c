/* plot_curve.c - curves on a plot: solid and dotted lines, means, and bands of several series.
 *
 * A curve is drawn in Braille dots, 2x4 per cell. Without Braille in the font it is drawn in quarter blocks,
 * without UTF-8 in the arm's mark. A cell has one colour, so where two curves meet the later one owns the
 * cell: mixed dots would look like a third curve. */
#include <math.h>

#include "ui/plot_int.h"

#define MAX_DOTS 4096 /* maximum columns of dots of a curve; wider fields stay empty at the right */

/* How one curve is drawn. */
struct pen {
    const struct pw_plot *p;
    struct pw_canvas *c;
    struct pw_style style;
    uint32_t mark; /* drawn instead of dots; 0: dots */
    bool dotted;
    bool below; /* never over another curve's line */
    bool thin;  /* every other dot of every other row: an area, not a line */
};

/* The glyphs of a cell's four quarters with PW_BLOCKS: bits 1 and 2 above, 4 and 8 below. */
static const uint32_t quarters[16] = {' ',    0x2598, 0x259d, 0x2580, 0x2596, 0x258c, 0x259e, 0x259b,
                                      0x2597, 0x259a, 0x2590, 0x259c, 0x2584, 0x2599, 0x259f, 0x2588};

static struct pen pen_of(const struct pw_plot *p, const struct pw_ui *ui, struct pw_canvas *c, int arm,
                         enum pw_stroke stroke)
{
    struct pen pen = {.p = p,
                      .c = c,
                      .style = arm > 0 ? pw_style_arm(ui, arm) : pw_style_plain(),
                      .dotted = stroke == PW_STROKE_DOTTED || stroke == PW_STROKE_GREY};

    pen.style.attr |= stroke == PW_STROKE_GREY ? PW_DIM : 0;
    return pen;
}

/* Returns the dots of a cell's glyph, one bit each; 0: the glyph has no dots. */
static unsigned dots_of(uint32_t cp)
{
    if (cp >= 0x2800 && cp <= 0x28ff)
        return cp & 0xff;
    for (unsigned i = 1; cp >= 0x2580 && cp <= 0x259f && i < 16; i++)
        if (quarters[i] == cp)
            return i;
    return 0;
}

static void dot(const struct pen *pen, int dx, int dy)
{
    static const unsigned char braille[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    const struct pw_plot *p = pen->p;

    if (dx < 0 || dx >= p->dots_x || dy < 0 || dy >= p->dots_y || (pen->dotted && dx % 3 != 0))
        return;
    if (pen->thin && (dx + dy / 2) % 2 + dy % 2 > 0)
        return;
    if (pen->mark) {
        const struct pw_cell *there =
            pen->c->cells + (size_t)(p->field.y + dy) * (size_t)pen->c->cols + p->field.x + dx;
        if (pen->below && p->field.y + dy < pen->c->rows && p->field.x + dx < pen->c->cols &&
            there->cp != ' ')
            return;
        pw_draw_cell(pen->c, p->field, p->field.y + dy, p->field.x + dx, pen->style, pen->mark);
        return;
    }
    int per = p->dots_y / p->field.h; /* 4, or 2 with blocks */
    int y = p->field.y + dy / per, x = p->field.x + dx / 2;
    if (y >= pen->c->rows || x >= pen->c->cols)
        return;
    const struct pw_cell *old = pen->c->cells + (size_t)y * (size_t)pen->c->cols + x;
    unsigned there = dots_of(old->cp);
    bool mine = there && old->style.fg == pen->style.fg && old->style.attr == pen->style.attr;
    if (old->cp >= 0x25a0 && old->cp < 0x2800)
        return; /* a mark stays: without colours only marks distinguish the curves */
    if (pen->below && there && !mine && !(old->style.attr & PW_DIM))
        return;
    unsigned now = (mine ? there : 0) | (per == 4 ? braille[dy % 4][dx % 2] : 1u << (dy % 2 * 2 + dx % 2));
    pw_draw_cell(pen->c, p->field, y, x, pen->style, per == 4 ? 0x2800 | now : quarters[now]);
}

/* Draws a line from (x0,y0) to (x1,y1), x0 <= x1: in every column, the rows that the line crosses. */
static void segment(const struct pen *pen, int x0, int y0, int x1, int y1)
{
    for (int x = x0; x <= x1; x++) {
        int from = x == x0 ? y0 : y0 + (y1 - y0) * (2 * (x - x0) - 1) / (2 * (x1 - x0));
        int to = x == x1 ? y1 : y0 + (y1 - y0) * (2 * (x - x0) + 1) / (2 * (x1 - x0));
        int step = from <= to ? 1 : -1;
        for (int y = from; y != to + step; y += step)
            dot(pen, x, y);
    }
}

/* Draws every point: the range of each column, joined to the previous one. A missing number stays a gap. */
static void draw_points(const struct pen *pen, const struct pw_summary *k, int dots)
{
    int last_x = -1, last_y = 0;

    for (int d = 0; d < dots; d++) {
        if (k[d].n > 0) {
            if (last_x >= 0)
                segment(pen, last_x, last_y, d, pw_plot_dot_row(pen->p, (double)k[d].first));
            segment(pen, d, pw_plot_dot_row(pen->p, (double)k[d].lo), d,
                    pw_plot_dot_row(pen->p, (double)k[d].hi));
            last_x = d, last_y = pw_plot_dot_row(pen->p, (double)k[d].last);
        }
        if (k[d].broken)
            last_x = -1;
    }
}

/* Returns the columns on each side that a smooth line averages. */
static int reach_of(const struct pw_plot *p, int dots)
{
    return (int)(dots * (p->reach > 0 ? p->reach : 1.0 / 60));
}

/* Draws the mean over a centred window of columns, which has no lag. */
static void draw_means(const struct pen *pen, const struct pw_summary *k, const int *part, int dots)
{
    int last_x = -1, last_y = 0;
    float mean[MAX_DOTS];

    pw_columns_means(k, part, dots, reach_of(pen->p, dots), mean);
    for (int d = 0; d < dots; d++) {
        if (k[d].n == 0)
            continue;
        int y = pw_plot_dot_row(pen->p, (double)mean[d]);
        segment(pen, last_x >= 0 ? last_x : d, last_x >= 0 ? last_y : y, d, y);
        last_x = d, last_y = y;
    }
}

/* Summarises the points per column of dots, and the swap interval of each column; returns the number of
 * columns. */
static int find_columns(const struct pw_plot *p, const struct pw_points *points, struct pw_summary *k,
                        int *part)
{
    int dots = p->dots_x < MAX_DOTS ? p->dots_x : MAX_DOTS;
    double end = p->x0 + (p->x1 - p->x0) * (dots - 1) / (p->dots_x > 1 ? p->dots_x - 1 : 1);

    pw_columns_find(k, part, dots, points, p->x0, end);
    return dots;
}

static void draw_broken(const struct pw_plot *p, struct pw_canvas *c, int d)
{
    pw_draw_cell(c, p->box, p->field.y + p->field.h - 1, p->field.x + d * p->field.w / p->dots_x,
                 pw_style_bad(), 0xd7);
}

/* Without colours curves have marks along the way; different arms have them in different columns. */
static bool has_marks(const struct pw_ui *ui)
{
    return ui->look.utf8 && ui->look.colors == PW_COLORS_MONO;
}

void pw_plot_series(const struct pw_plot *p, const struct pw_ui *ui, struct pw_canvas *c, int arm,
                    const struct pw_points *points, enum pw_stroke stroke)
{
    struct pw_summary k[MAX_DOTS];
    int part[MAX_DOTS];
    struct pen pen = pen_of(p, ui, c, arm, stroke);
    int dots = find_columns(p, points, k, part);

    if (!ui->look.utf8)
        pen.mark = arm > 0 ? (unsigned char)pw_arm_mark(ui, arm)[0] : '-';
    if (stroke == PW_STROKE_SMOOTH) {
        struct pen band = pen;
        band.below = true;
        band.style.attr |= PW_DIM;
        if (ui->look.utf8) /* marks have no room for both */
            draw_points(&band, k, dots);
        draw_means(&pen, k, part, dots);
    } else {
        draw_points(&pen, k, dots);
    }
    for (int d = 0; d < dots && !pen.dotted; d++)
        if (k[d].broken)
            draw_broken(p, c, d);
    for (int at = 3 + 2 * arm; arm > 0 && has_marks(ui) && at < p->field.w; at += 20) {
        int d = at * p->dots_x / p->field.w;
        if (d < dots && k[d].n > 0)
            pw_draw_text(c, p->field, pw_plot_row(p, k[d].sum / k[d].n), p->field.x + at, pen.style,
                         pw_arm_mark(ui, arm));
    }
}

/* ---- several series of one kind */

/* Fills the area between two columns, from their top to their bottom rows. */
static void fill(const struct pen *pen, int x0, int top0, int bottom0, int x1, int top1, int bottom1)
{
    for (int x = x0; x <= x1; x++) {
        int w = x1 > x0 ? x1 - x0 : 1;
        int top = top0 + (top1 - top0) * (x - x0) / w, bottom = bottom0 + (bottom1 - bottom0) * (x - x0) / w;
        for (int y = top < 0 ? 0 : top; y <= bottom && y < pen->p->dots_y; y++)
            dot(pen, x, y);
    }
}

void pw_plot_band(const struct pw_plot *p, const struct pw_ui *ui, struct pw_canvas *c, int arm,
                  const struct pw_points *replicas, int n, enum pw_stroke stroke)
{
    struct pw_summary k[MAX_DOTS];
    float mean[PW_MAX_REPLICAS][MAX_DOTS];
    bool broken[MAX_DOTS] = {false};
    struct pen line = pen_of(p, ui, c, arm, stroke);
    struct pen band = {.p = p, .c = c, .style = line.style, .below = true, .thin = true};
    int dots = 0, last = -1, row = 0, top = 0, bottom = 0, part[MAX_DOTS];

    for (int r = 0; r < n; r++) {
        dots = find_columns(p, &replicas[r], k, part);
        pw_columns_means(k, part, dots, stroke == PW_STROKE_SMOOTH ? reach_of(p, dots) : 0, mean[r]);
        for (int d = 0; d < dots; d++)
            broken[d] |= k[d].broken;
    }
    band.style.attr |= PW_DIM;
    if (!ui->look.utf8)
        line.mark = (unsigned char)pw_arm_mark(ui, arm)[0], band.mark = '.', band.thin = false;
    for (int pass = 0; pass < 2; pass++, last = -1)
        for (int d = 0; d < dots; d++) {
            float v[PW_MAX_REPLICAS];
            for (int r = 0; r < n; r++)
                v[r] = mean[r][d];
            struct pw_spread s = pw_spread_of(v, n);
            if (s.n == 0) {
                last = broken[d] ? -1 : last;
                continue;
            }
            int to = pw_plot_dot_row(p, (double)s.median), hi = pw_plot_dot_row(p, (double)s.hi),
                lo = pw_plot_dot_row(p, (double)s.lo);
            if (pass == 0)
                fill(&band, last < 0 ? d : last, last < 0 ? hi : top, last < 0 ? lo : bottom, d, hi, lo);
            else
                segment(&line, last < 0 ? d : last, last < 0 ? to : row, d, to);
            last = d, row = to, top = hi, bottom = lo;
            int at = d * p->field.w / p->dots_x;
            if (pass == 1 && has_marks(ui) && at % 20 == (3 + 2 * arm) % 20 &&
                d * p->field.w % p->dots_x == 0)
                pw_draw_text(c, p->field, pw_plot_row(p, (double)s.median), p->field.x + at, line.style,
                             pw_arm_mark(ui, arm));
        }
    for (int d = 0; d < dots && !line.dotted; d++)
        if (broken[d])
            draw_broken(p, c, d);
}
