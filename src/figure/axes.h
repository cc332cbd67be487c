/* axes.h - a plot in a figure: axes with round numbers, and lines, bands and marks in the plot's field. */
#ifndef PW_AXES_H
#define PW_AXES_H
#include "figure/svg.h"

/* A plot. The caller sets the members marked "in"; pw_axes_draw sets `field`. */
struct pw_axes {
    struct pw_box box;     /* in: the area of plot and axes, in points */
    double x0, x1, y0, y1; /* in: ranges; y > 0 if log */
    bool log, percent;     /* in: of the y axis */
    bool log_x;            /* in; x > 0 if set */
    double x_unit;         /* in: x values per unit of the axis labels; 0 means 1 */
    const char *x_name, *y_name;
    struct pw_box field; /* out: the area of the curves */
};

/* Draws axes, grid lines and labels, and sets a->field. Widens an empty range. */
void pw_axes_draw(struct pw_axes *a, struct pw_svg *s);
/* Return the position of a value in points; pw_axes_draw comes first. */
double pw_axes_x(const struct pw_axes *a, double x);
double pw_axes_y(const struct pw_axes *a, double y); /* clamped to the field */

/* Draws a line through those of the n points that are numbers. An infinite y interrupts the line. */
void pw_axes_line(const struct pw_axes *a, struct pw_svg *s, struct pw_pen pen, const double *x,
                  const float *y, int n);
/* Fills the area between lo and hi. An infinite lo interrupts the area; NaN is skipped. */
void pw_axes_band(const struct pw_axes *a, struct pw_svg *s, uint32_t color, double opacity, const double *x,
                  const float *lo, const float *hi, int n);
/* Draws a vertical line at x through the whole field. Its label is at the upper end, `row` lines down. */
void pw_axes_mark(const struct pw_axes *a, struct pw_svg *s, double x, uint32_t color, const char *text,
                  int row);

#endif
