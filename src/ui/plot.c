/* plot.c - the axes of a plot: positions of values, ticks and their labels. plot_curve.c draws the curves.
 *
 * Curves are drawn in dots; a cell has 2x4 dots. */
#include <math.h>
#include <stdio.h>

#include "ui/plot_int.h"

static double scale_y(const struct pw_plot *p, double y)
{
    double lo = p->y0, hi = p->y1;

    if (p->log)
        lo = log(lo), hi = log(hi), y = y > 0 ? log(y) : lo;
    return (y - lo) / (hi - lo);
}

int pw_plot_dot_row(const struct pw_plot *p, double y)
{
    double f = scale_y(p, y);

    f = f < -1 ? -1 : f > 2 ? 2 : f;
    return (int)lrint((1 - f) * (p->dots_y - 1));
}

int pw_plot_row(const struct pw_plot *p, double y)
{
    int d = pw_plot_dot_row(p, y);

    d = d < 0 ? 0 : d >= p->dots_y ? p->dots_y - 1 : d;
    return p->field.y + d * p->field.h / p->dots_y;
}

/* From the left. */
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

int pw_plot_edge(const struct pw_plot *p, struct pw_canvas *c, int last)
{
    int x = pw_plot_column(p, last + 0.5);

    for (int i = 0; x >= 0 && i < p->field.h; i++)
        pw_draw_cell(c, p->field, p->field.y + i, x, pw_style_warn(), 0x250a);
    return x;
}

/* Computes the labels along x and their x values; returns how many. */
static int x_ticks(const struct pw_plot *p, double name[PW_MAX_TICKS_AXIS], double at[PW_MAX_TICKS_AXIS])
{
    double unit = p->x_unit > 0 ? p->x_unit : 1, x0 = p->x0 / unit, x1 = p->x1 / unit;
    int n = 0, most = p->field.w / 12 + 1;

    if (p->x_lo < p->x_hi) {
        n = pw_ticks(name, most, p->x_lo, p->x_hi, p->x_log);
        for (int i = 0; i < n; i++) {
            double f = p->x_log ? log(name[i] / p->x_lo) / log(p->x_hi / p->x_lo)
                                : (name[i] - p->x_lo) / (p->x_hi - p->x_lo);
            at[i] = p->x0 + f * (p->x1 - p->x0);
        }
        return n;
    }
    double step = pw_tick_step(x0, x1, most);
    if (step < 1 && unit <= 1)
        step = 1;
    for (double v = ceil(x0 / step) * step; v <= x1 * (1 + 1e-9) && n < PW_MAX_TICKS_AXIS; v += step, n++)
        name[n] = v, at[n] = v * unit;
    return n;
}

static void draw_x_axis(const struct pw_plot *p, struct pw_canvas *c, const char *name, bool line)
{
    struct pw_rect f = p->field;
    int y = f.y + f.h, end = f.x + f.w;
    double number[PW_MAX_TICKS_AXIS], at[PW_MAX_TICKS_AXIS];
    int n = x_ticks(p, number, at);

    if (line) {
        for (int x = f.x; x < end; x++)
            pw_draw_cell(c, p->box, y, x, pw_style_dim(), 0x2500);
        pw_draw_cell(c, p->box, y, f.x - 1, pw_style_dim(), 0x2514);
    }
    int free_from = f.x - 1; /* labels must not touch */
    int name_at = end - pw_text_cells(name), labels_end = name[0] ? name_at - 1 : end;
    for (int i = 0; i < n; i++) {
        char text[32];
        int x = pw_plot_column(p, at[i]);
        if (x < 0)
            continue;
        pw_count(text, sizeof text, number[i]);
        int w = pw_text_cells(text), from = x - w / 2;
        from = from < p->box.x ? p->box.x : from + w > end ? end - w : from;
        if (line)
            pw_draw_cell(c, p->box, y, x, pw_style_dim(), 0x2534);
        if (from > free_from && from + w <= labels_end)
            free_from = pw_draw_text(c, p->box, y + line, from, pw_style_dim(), text);
    }
    if (name_at > free_from)
        pw_draw_text(c, p->box, y + line, name_at, pw_style_dim(), name);
}

/* The rows below the field, and the ticks along y with the width of their labels (-1: no y axis). */
struct axes {
    int x_rows, n, label;
    double at[PW_MAX_TICKS_AXIS];
};

static bool fit(struct pw_plot *p, const struct pw_ui *ui, struct axes *a)
{
    char text[32];

    /* a small plot needs every row for its curves */
    *a = (struct axes){.x_rows = p->box.h >= 8 ? 2 : p->box.h >= 4 ? 1 : 0};
    if (!(p->x1 > p->x0))
        p->x1 = p->x0 + 1;
    if (!(p->y1 > p->y0))
        p->y1 = p->log ? p->y0 * 1.1 : p->y0 + 1;
    a->n = pw_ticks(a->at, (p->box.h - a->x_rows + 2) / 3, p->y0, p->y1, p->log);
    for (int i = 0; i < a->n; i++) {
        pw_tick_text(text, sizeof text, a->at[i], p->percent);
        int w = pw_text_cells(text);
        a->label = w > a->label ? w : a->label;
    }
    if (p->box.w < a->label + 12)
        a->label = -1;
    p->field =
        (struct pw_rect){p->box.y, p->box.x + a->label + 1, p->box.h - a->x_rows, p->box.w - a->label - 1};
    if (p->field.h < 1 || p->field.w < 2)
        return false;
    p->dots_x = ui->look.utf8 ? 2 * p->field.w : p->field.w;
    p->dots_y = !ui->look.utf8 ? p->field.h : (ui->theme.marker == PW_BLOCKS ? 2 : 4) * p->field.h;
    return true;
}

bool pw_plot_fit(struct pw_plot *p, const struct pw_ui *ui)
{
    struct axes a;

    return fit(p, ui, &a);
}

bool pw_plot_begin(struct pw_plot *p, const struct pw_ui *ui, struct pw_canvas *c, const char *x_name)
{
    struct axes a;
    char text[32];

    if (!fit(p, ui, &a))
        return false;
    if (a.label >= 0) {
        for (int y = 0; y < p->field.h; y++)
            pw_draw_cell(c, p->box, p->field.y + y, p->field.x - 1, pw_style_dim(), 0x2502);
        for (int i = 0; i < a.n; i++) {
            int y = pw_plot_row(p, a.at[i]);
            pw_tick_text(text, sizeof text, a.at[i], p->percent);
            pw_draw_text(c, p->box, y, p->field.x - 1 - pw_text_cells(text), pw_style_dim(), text);
            pw_draw_cell(c, p->box, y, p->field.x - 1, pw_style_dim(), 0x2524);
        }
    }
    if (a.x_rows)
        draw_x_axis(p, c, x_name, a.x_rows == 2);
    return true;
}
