/* axes.c - the axes of a plot in a figure, and the curves between them. */
#include "figure/axes.h"
#include "plot/palette.h"
#include "plot/ticks.h"
#include <math.h>

static const struct pw_font number = {.size = 7.5, .color = 0x4a4a4a, .anchor = PW_MIDDLE};
static const struct pw_font name = {.size = 8, .color = PW_INK, .anchor = PW_MIDDLE};

double pw_axes_x(const struct pw_axes *a, double x)
{
    double f = a->log_x ? log(x > 0 ? x / a->x0 : 1) / log(a->x1 / a->x0) : (x - a->x0) / (a->x1 - a->x0);

    return a->field.x + a->field.w * (f > 0 ? f < 1 ? f : 1 : 0);
}

double pw_axes_y(const struct pw_axes *a, double y)
{
    double lo = a->y0, hi = a->y1;

    if (a->log)
        lo = log(lo), hi = log(hi), y = y > 0 ? log(y) : lo;
    double f = (y - lo) / (hi - lo);
    return a->field.y + a->field.h * (1 - (f > 0 ? f < 1 ? f : 1 : 0));
}

/* Returns the width of the labels of the y axis. */
static double widest(const struct pw_axes *a, const double *at, int n)
{
    double most = 0;

    for (int i = 0; i < n; i++) {
        char text[32];
        pw_tick_text(text, sizeof text, at[i], a->percent);
        double w = pw_svg_width(&number, text);
        most = w > most ? w : most;
    }
    return most;
}

static void draw_x(const struct pw_axes *a, struct pw_svg *s)
{
    struct pw_box f = a->field;
    double at[PW_MAX_TICKS_AXIS], unit = a->x_unit > 0 ? a->x_unit : 1, bottom = f.y + f.h;
    int n = pw_ticks(at, (int)(f.w / 36) + 1, a->x0 / unit, a->x1 / unit, a->log_x);
    double least = f.x - 20; /* right end of the last label */

    for (int i = 0; i < n; i++) {
        char text[32];
        double x = pw_axes_x(a, at[i] * unit);
        if (a->x_unit == 0 && at[i] != floor(at[i]))
            continue; /* steps and lengths are integers */
        pw_count(text, sizeof text, at[i]);
        double half = pw_svg_width(&number, text) / 2;
        pw_svg_line(s, x, bottom, x, bottom + 3, (struct pw_pen){.color = PW_INK, .width = 0.7});
        if (x - half < least + 2)
            continue;
        pw_svg_text(s, x, bottom + 11, &number, text);
        least = x + half;
    }
    pw_svg_line(s, f.x, bottom, f.x + f.w, bottom, (struct pw_pen){.color = PW_INK, .width = 0.7});
    if (a->x_name != NULL)
        pw_svg_text(s, f.x + f.w / 2, bottom + 22, &name, a->x_name);
}

void pw_axes_draw(struct pw_axes *a, struct pw_svg *s)
{
    double at[PW_MAX_TICKS_AXIS], below = a->x_name != NULL ? 26 : 14, above = 4;
    struct pw_font right = number, turned = name;

    if (!(a->x1 > a->x0))
        a->x1 = a->x0 + 1;
    if (!(a->y1 > a->y0))
        a->y1 = a->log ? a->y0 * 1.1 : a->y0 + 1;
    int n = pw_ticks(at, (int)(a->box.h / 30) + 1, a->y0, a->y1, a->log);
    double left = widest(a, at, n) + 6 + (a->y_name != NULL ? 13 : 0);
    a->field =
        (struct pw_box){a->box.x + left, a->box.y + above, a->box.w - left - 6, a->box.h - above - below};
    right.anchor = PW_END, turned.turned = true;
    for (int i = 0; i < n; i++) {
        char text[32];
        double y = pw_axes_y(a, at[i]);
        pw_tick_text(text, sizeof text, at[i], a->percent);
        pw_svg_line(s, a->field.x, y, a->field.x + a->field.w, y,
                    (struct pw_pen){.color = PW_GRID, .width = 0.6});
        pw_svg_text(s, a->field.x - 4, y + 2.7, &right, text);
    }
    if (a->y_name != NULL)
        pw_svg_text(s, a->box.x + 8, a->field.y + a->field.h / 2, &turned, a->y_name);
    draw_x(a, s);
}

void pw_axes_line(const struct pw_axes *a, struct pw_svg *s, struct pw_pen pen, const double *x,
                  const float *y, int n)
{
    struct pw_path p;

    pw_path_begin(&p, s, pen);
    for (int i = 0; i < n; i++)
        if (isinf(y[i]))
            pw_path_lift(&p);
        else if (!isnan(y[i]))
            pw_path_to(&p, pw_axes_x(a, x[i]), pw_axes_y(a, (double)y[i]));
    pw_path_end(&p);
}

/* Fills one area per run of points: forward along the upper ends, back along the lower ends. */
void pw_axes_band(const struct pw_axes *a, struct pw_svg *s, uint32_t color, double opacity, const double *x,
                  const float *lo, const float *hi, int n)
{
    struct pw_path p;

    pw_path_begin_fill(&p, s, color, opacity);
    for (int from = 0, end; from < n; from = end + 1) {
        for (end = from; end < n && !isinf(lo[end]); end++)
            if (!isnan(lo[end]))
                pw_path_to(&p, pw_axes_x(a, x[end]), pw_axes_y(a, (double)hi[end]));
        for (int i = end - 1; i >= from; i--)
            if (!isnan(lo[i]))
                pw_path_to(&p, pw_axes_x(a, x[i]), pw_axes_y(a, (double)lo[i]));
        pw_path_lift(&p);
    }
    pw_path_end(&p);
}

void pw_axes_mark(const struct pw_axes *a, struct pw_svg *s, double x, uint32_t color, const char *text,
                  int row)
{
    struct pw_font f = {.size = 7, .color = color};
    double at = pw_axes_x(a, x), room = a->field.x + a->field.w - at;

    pw_svg_line(s, at, a->field.y, at, a->field.y + a->field.h,
                (struct pw_pen){.color = color, .width = 0.8, .dash = "1.5 2"});
    if (room < pw_svg_width(&f, text) + 3)
        f.anchor = PW_END;
    pw_svg_text(s, at + (f.anchor == PW_END ? -3 : 3), a->field.y + 7 + 9 * row, &f, text);
}
