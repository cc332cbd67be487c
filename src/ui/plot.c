/* plot.c - axes and curves.
 *
 * A curve is drawn in Braille dots, 2x4 to a cell, in quarters of blocks where the font has no Braille, or in
 * the arm's mark where there is no UTF-8. A cell has
 * one colour, so where two curves meet the one drawn last owns the cell: mixing the dots of two colours would
 * show a third curve that isn't there. */
#include <math.h>
#include <stdio.h>

#include "ui/plot.h"

/* ---- axes */

/* The smallest of 1, 2 or 5 times a power of ten that puts at most `max` ticks on lo..hi. */
static double nice_step(double lo, double hi, int max)
{
    static const double factors[] = {2, 2.5, 2};
    double step = pow(10, floor(log10((hi - lo) / (max + 1))));

    for (int i = 0; floor(hi / step + 1e-9) - ceil(lo / step - 1e-9) + 1 > max && i < 12; i++)
        step *= factors[i % 3];
    return step;
}

static double scale_y(const struct pw_plot *p, double y)
{
    double lo = p->y0, hi = p->y1;

    if (p->log)
        lo = log(lo), hi = log(hi), y = y > 0 ? log(y) : lo;
    return (y - lo) / (hi - lo);
}

/* Dot row from the top, not clamped to the field. */
static int dot_row(const struct pw_plot *p, double y)
{
    double f = scale_y(p, y);

    f = f < -1 ? -1 : f > 2 ? 2 : f;
    return (int)lrint((1 - f) * (p->dots_y - 1));
}

int pw_plot_row(const struct pw_plot *p, double y)
{
    int d = dot_row(p, y);

    d = d < 0 ? 0 : d >= p->dots_y ? p->dots_y - 1 : d;
    return p->field.y + d * p->field.h / p->dots_y;
}

static double dot_column(const struct pw_plot *p, double x)
{
    return (x - p->x0) / (p->x1 - p->x0) * (p->dots_x - 1);
}

int pw_plot_column(const struct pw_plot *p, double x)
{
    double d = dot_column(p, x);

    if (!(d > -0.5 && d < p->dots_x - 0.5))
        return -1;
    return p->field.x + (int)lrint(d) * p->field.w / p->dots_x;
}

static void tick_text(const struct pw_plot *p, char *dst, size_t size, double v)
{
    if (p->percent)
        snprintf(dst, size, "%.0f%%", v * 100);
    else if (v != 0 && (fabs(v) < 1e-3 || fabs(v) >= 1e5))
        snprintf(dst, size, "%.0e", v);
    else
        snprintf(dst, size, "%.4g", v);
}

/* Ticks of a log axis: the first `each` of 1, 2, 5 in every skip-th decade. Returns how many lie on it, at
 * most room. */
static int log_ticks(const struct pw_plot *p, double *at, int room, int each, int skip)
{
    static const double within[] = {1, 2, 5};
    int n = 0;

    for (double d = floor(log10(p->y0) / skip) * skip; d <= log10(p->y1); d += skip)
        for (int i = 0; i < each; i++) {
            double v = within[i] * pow(10, d);
            if (v >= p->y0 * 0.999 && v <= p->y1 * 1.001 && n++ < room)
                at[n - 1] = v;
        }
    return n;
}

/* Up to max ticks between y0 and y1, as many as that allows; returns how many. */
static int y_ticks(const struct pw_plot *p, double *at, int max)
{
    int n = 0;

    if (p->log) {
        n = log_ticks(p, at, max, 3, 1);
        for (int skip = 1; n > max; skip++)
            n = log_ticks(p, at, max, 1, skip);
        if (n > 0)
            return n;
    }
    double step = nice_step(p->y0, p->y1, max);
    for (double k = ceil(p->y0 / step - 1e-9); k * step <= p->y1 + step * 1e-9 && n < max; k++)
        at[n++] = k * step + 0.0; /* no -0 */
    return n;
}

static void draw_x_axis(const struct pw_plot *p, struct pw_canvas *c, const char *name, bool line)
{
    struct pw_rect f = p->field;
    int y = f.y + f.h, end = f.x + f.w;
    double unit = p->x_unit > 0 ? p->x_unit : 1, x0 = p->x0 / unit, x1 = p->x1 / unit;
    double step = nice_step(x0, x1, f.w / 12 + 1);

    if (step < 1 && unit <= 1)
        step = 1;
    if (line) {
        for (int x = f.x; x < end; x++)
            pw_draw_cell(c, p->box, y, x, pw_style_dim(), 0x2500);
        pw_draw_cell(c, p->box, y, f.x - 1, pw_style_dim(), 0x2514);
    }
    int free_from = f.x - 1; /* labels must not touch */
    int name_at = end - pw_text_cells(name);
    for (double v = ceil(x0 / step) * step; v <= x1 * (1 + 1e-9); v += step) {
        char text[32];
        int x = pw_plot_column(p, v * unit);
        if (x < 0)
            continue;
        pw_count(text, sizeof text, v);
        int w = pw_text_cells(text), from = x - w / 2;
        from = from < p->box.x ? p->box.x : from + w > end ? end - w : from;
        if (line)
            pw_draw_cell(c, p->box, y, x, pw_style_dim(), 0x2534);
        if (from > free_from && from + w < name_at)
            free_from = pw_draw_text(c, p->box, y + line, from, pw_style_dim(), text);
    }
    if (name_at > free_from)
        pw_draw_text(c, p->box, y + line, name_at, pw_style_dim(), name);
}

bool pw_plot_begin(struct pw_plot *p, const struct pw_ui *ui, struct pw_canvas *c, const char *x_name)
{
    double at[32];
    char text[32];
    int x_rows = p->box.h >= 8 ? 2 : p->box.h >= 4 ? 1 : 0; /* the curve needs every row */
    int max = (p->box.h - x_rows + 2) / 3, label = 0;

    if (!(p->x1 > p->x0))
        p->x1 = p->x0 + 1;
    if (!(p->y1 > p->y0))
        p->y1 = p->log ? p->y0 * 1.1 : p->y0 + 1;
    int n = y_ticks(p, at, max < 1 ? 1 : max > 32 ? 32 : max);
    for (int i = 0; i < n; i++) {
        tick_text(p, text, sizeof text, at[i]);
        int w = pw_text_cells(text);
        label = w > label ? w : label;
    }
    if (p->box.w < label + 12)
        label = -1; /* no axis at all */
    p->field = (struct pw_rect){p->box.y, p->box.x + label + 1, p->box.h - x_rows, p->box.w - label - 1};
    if (p->field.h < 1 || p->field.w < 2)
        return false;
    p->dots_x = ui->look.utf8 ? 2 * p->field.w : p->field.w;
    p->dots_y = !ui->look.utf8 ? p->field.h : (ui->theme.marker == PW_BLOCKS ? 2 : 4) * p->field.h;
    if (label >= 0) {
        for (int y = 0; y < p->field.h; y++)
            pw_draw_cell(c, p->box, p->field.y + y, p->field.x - 1, pw_style_dim(), 0x2502);
        for (int i = 0; i < n; i++) {
            int y = pw_plot_row(p, at[i]);
            tick_text(p, text, sizeof text, at[i]);
            pw_draw_text(c, p->box, y, p->field.x - 1 - pw_text_cells(text), pw_style_dim(), text);
            pw_draw_cell(c, p->box, y, p->field.x - 1, pw_style_dim(), 0x2524);
        }
    }
    if (x_rows)
        draw_x_axis(p, c, x_name, x_rows == 2);
    return true;
}

/* ---- curves */

#define MAX_DOTS 4096 /* columns of dots that a curve can have; wider fields stay empty at the right */

/* The pen of one curve. */
struct pen {
    const struct pw_plot *p;
    struct pw_canvas *c;
    struct pw_style style;
    uint32_t mark; /* drawn instead of dots; 0: dots */
    bool dotted;
    bool below; /* never over another curve's line */
    bool thin;  /* every other dot of every other row: a surface, not a line */
};

/* Of the four quarters that a cell's dots are with PW_BLOCKS: 1 and 2 above, 4 and 8 below. */
static const uint32_t quarters[16] = {' ',    0x2598, 0x259d, 0x2580, 0x2596, 0x258c, 0x259e, 0x259b,
                                      0x2597, 0x259a, 0x2590, 0x259c, 0x2584, 0x2599, 0x259f, 0x2588};

static struct pen pen_of(const struct pw_plot *p, const struct pw_ui *ui, struct pw_canvas *c, int arm,
                         enum pw_stroke stroke)
{
    struct pen pen = {.p = p,
                      .c = c,
                      .style = pw_style_arm(ui, arm),
                      .dotted = stroke == PW_STROKE_DOTTED || stroke == PW_STROKE_GREY};

    pen.style.attr |= stroke == PW_STROKE_GREY ? PW_DIM : 0;
    return pen;
}

/* The dots that a cell has, one bit each; 0: it was drawn with something else. */
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
    int per = p->dots_y / p->field.h; /* 4, or 2 of blocks */
    int y = p->field.y + dy / per, x = p->field.x + dx / 2;
    if (y >= pen->c->rows || x >= pen->c->cols)
        return;
    const struct pw_cell *old = pen->c->cells + (size_t)y * (size_t)pen->c->cols + x;
    unsigned there = dots_of(old->cp);
    bool mine = there && old->style.fg == pen->style.fg && old->style.attr == pen->style.attr;
    if (old->cp >= 0x25a0 && old->cp < 0x2800)
        return; /* a mark stays: without colours it alone tells the curves apart */
    if (pen->below && there && !mine && !(old->style.attr & PW_DIM))
        return;
    unsigned now = (mine ? there : 0) | (per == 4 ? braille[dy % 4][dx % 2] : 1u << (dy % 2 * 2 + dx % 2));
    pw_draw_cell(pen->c, p->field, y, x, pen->style, per == 4 ? 0x2800 | now : quarters[now]);
}

/* From (x0,y0) to (x1,y1), x0 <= x1: in every column the rows that the line passes. */
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

/* First index from `from` on whose step lies right of x. */
static int first_beyond(const int64_t *step, int from, int n, double x)
{
    while (from < n) {
        int mid = from + (n - from) / 2;
        if ((double)step[mid] > x)
            n = mid;
        else
            from = mid + 1;
    }
    return from;
}

/* What the points of one column of dots come to. */
struct column {
    float lo, hi, first, last; /* of the finite ones; lo > hi: none */
    double sum;
    int n;
    bool broken; /* one of them is no number */
};

/* The same for points of which some are no numbers. */
static struct column column_of_broken(const float *y, int from, int end)
{
    struct column k = {INFINITY, -INFINITY, NAN, NAN, 0, 0, false};

    for (int i = from; i < end; i++) {
        float v = y[i];
        if (!isfinite(v)) {
            k.broken = true;
            continue;
        }
        if (k.n++ == 0)
            k.first = v;
        k.lo = v < k.lo ? v : k.lo, k.hi = v > k.hi ? v : k.hi;
        k.last = v;
        k.sum += (double)v;
    }
    return k;
}

/* Long runs have millions of points, all of which are looked at in each frame: no branch in the loop. */
static struct column column_from(const float *y, int from, int end)
{
    struct column k = {INFINITY, -INFINITY, NAN, NAN, 0, end - from, false};
    float zero = 0; /* stays 0 as long as everything is finite */

    for (int i = from; i < end; i++) {
        float v = y[i];
        k.lo = v < k.lo ? v : k.lo, k.hi = v > k.hi ? v : k.hi;
        k.sum += (double)v;
        zero += v - v;
    }
    if (zero != 0)
        return column_of_broken(y, from, end);
    if (k.n > 0)
        k.first = y[from], k.last = y[end - 1];
    return k;
}

void pw_plot_extent(const float *y, int n, bool positive, float *lo, float *hi)
{
    enum { BLOCK = 512 };

    for (int i = 0; i < n; i += BLOCK) {
        int end = i + BLOCK < n ? i + BLOCK : n;
        struct column k = column_from(y, i, end);
        if (positive && !(k.lo > 0)) {
            k.lo = INFINITY;
            for (int j = i; j < end; j++)
                if (y[j] > 0 && y[j] < k.lo)
                    k.lo = y[j];
        }
        *lo = k.lo < *lo ? k.lo : *lo, *hi = k.hi > *hi ? k.hi : *hi;
    }
}

/* Every point: the span of each column, joined to the one before. A gap stays where there was no number. */
static void draw_points(const struct pen *pen, const struct column *k, int dots)
{
    int last_x = -1, last_y = 0;

    for (int d = 0; d < dots; d++) {
        if (k[d].n > 0) {
            if (last_x >= 0)
                segment(pen, last_x, last_y, d, dot_row(pen->p, (double)k[d].first));
            segment(pen, d, dot_row(pen->p, (double)k[d].lo), d, dot_row(pen->p, (double)k[d].hi));
            last_x = d, last_y = dot_row(pen->p, (double)k[d].last);
        }
        if (k[d].broken)
            last_x = -1;
    }
}

/* Columns on either side that a smooth line takes the mean of. */
static int reach_of(const struct pw_plot *p, int dots)
{
    return (int)(dots * (p->reach > 0 ? p->reach : 1.0 / 60));
}

/* The mean over a window of columns, centred, so that nothing lags behind. */
static void draw_means(const struct pen *pen, const struct column *k, int dots)
{
    int reach = reach_of(pen->p, dots), last_x = -1, last_y = 0;

    for (int d = 0; d < dots; d++) {
        double sum = 0;
        int n = 0;
        for (int i = d - reach < 0 ? 0 : d - reach; i <= d + reach && i < dots; i++)
            sum += k[i].sum, n += k[i].n;
        if (k[d].n == 0)
            continue;
        int y = dot_row(pen->p, sum / n);
        segment(pen, last_x >= 0 ? last_x : d, last_x >= 0 ? last_y : y, d, y);
        last_x = d, last_y = y;
    }
}

/* What each column of dots shows of n points; returns the number of columns. */
static int find_columns(const struct pw_plot *p, const int64_t *x, const float *y, int n, struct column *k)
{
    double per_dot = (p->x1 - p->x0) / (p->dots_x > 1 ? p->dots_x - 1 : 1);
    int dots = p->dots_x < MAX_DOTS ? p->dots_x : MAX_DOTS;

    for (int i = 0, d = 0; d < dots; d++) {
        int end = first_beyond(x, i, n, p->x0 + (d + 0.5) * per_dot);
        k[d] = column_from(y, i, end);
        i = end;
    }
    return dots;
}

static void draw_broken(const struct pw_plot *p, struct pw_canvas *c, int d)
{
    pw_draw_cell(c, p->box, p->field.y + p->field.h - 1, p->field.x + d * p->field.w / p->dots_x,
                 pw_style_bad(), 0xd7);
}

/* Without colours curves differ by marks along the way, those of different arms in different columns. */
static bool has_marks(const struct pw_ui *ui)
{
    return ui->look.utf8 && ui->look.colors == PW_COLORS_MONO;
}

void pw_plot_series(const struct pw_plot *p, const struct pw_ui *ui, struct pw_canvas *c, int arm,
                    const int64_t *x, const float *y, int n, enum pw_stroke stroke)
{
    struct column k[MAX_DOTS];
    struct pen pen = pen_of(p, ui, c, arm, stroke);
    int dots = find_columns(p, x, y, n, k);

    if (!ui->look.utf8)
        pen.mark = (unsigned char)pw_arm_mark(ui, arm)[0];
    if (stroke == PW_STROKE_SMOOTH) {
        struct pen band = pen;
        band.below = true;
        band.style.attr |= PW_DIM;
        if (ui->look.utf8) /* marks have no room for both */
            draw_points(&band, k, dots);
        draw_means(&pen, k, dots);
    } else {
        draw_points(&pen, k, dots);
    }
    for (int d = 0; d < dots && !pen.dotted; d++)
        if (k[d].broken)
            draw_broken(p, c, d);
    for (int at = 3 + 2 * arm; has_marks(ui) && at < p->field.w; at += 20) {
        int d = at * p->dots_x / p->field.w;
        if (d < dots && k[d].n > 0)
            pw_draw_text(c, p->field, pw_plot_row(p, k[d].sum / k[d].n), p->field.x + at, pen.style,
                         pw_arm_mark(ui, arm));
    }
}

/* ---- several of one kind */

/* The mean of each column and of `reach` columns on either side; NaN where there is no point. */
static void find_means(const struct column *k, int dots, int reach, float *mean)
{
    for (int d = 0; d < dots; d++) {
        double sum = 0;
        int n = 0;
        for (int i = d - reach < 0 ? 0 : d - reach; i <= d + reach && i < dots; i++)
            sum += k[i].sum, n += k[i].n;
        mean[d] = k[d].n > 0 ? (float)(sum / n) : NAN;
    }
}

/* The surface between two columns whose rows from top to bottom belong to the band. */
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
                  const struct pw_points *replicates, int n, enum pw_stroke stroke)
{
    struct column k[MAX_DOTS];
    float mean[PW_MAX_REPLICATES][MAX_DOTS];
    bool broken[MAX_DOTS] = {false};
    struct pen line = pen_of(p, ui, c, arm, stroke);
    struct pen band = {.p = p, .c = c, .style = line.style, .below = true, .thin = true};
    int dots = 0, last = -1, row = 0, top = 0, bottom = 0;

    for (int r = 0; r < n; r++) {
        dots = find_columns(p, replicates[r].x, replicates[r].y, replicates[r].n, k);
        find_means(k, dots, stroke == PW_STROKE_SMOOTH ? reach_of(p, dots) : 0, mean[r]);
        for (int d = 0; d < dots; d++)
            broken[d] |= k[d].broken;
    }
    band.style.attr |= PW_DIM;
    if (!ui->look.utf8)
        line.mark = (unsigned char)pw_arm_mark(ui, arm)[0], band.mark = '.', band.thin = false;
    for (int pass = 0; pass < 2; pass++, last = -1)
        for (int d = 0; d < dots; d++) {
            float v[PW_MAX_REPLICATES];
            for (int r = 0; r < n; r++)
                v[r] = mean[r][d];
            struct pw_spread s = pw_spread_of(v, n);
            if (s.n == 0) {
                last = broken[d] ? -1 : last;
                continue;
            }
            int to = dot_row(p, (double)s.median), hi = dot_row(p, (double)s.hi),
                lo = dot_row(p, (double)s.lo);
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
