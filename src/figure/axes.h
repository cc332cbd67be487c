/* axes.h - a plot: axes with round numbers, and lines, bands and signs in its field. */
#ifndef PW_AXES_H
#define PW_AXES_H
#include "figure/svg.h"

struct pw_axes {
    struct pw_box box;     /* with axes; in */
    double x0, x1, y0, y1; /* in; y > 0 where log */
    bool log, percent;     /* in, of y */
    bool log_x;            /* in; x > 0 */
    double x_unit;         /* in: of the numbers along x; 0: 1 */
    const char *x_name, *y_name;
    struct pw_box field; /* out */
};

void pw_axes_draw(struct pw_axes *a, struct pw_svg *s);
double pw_axes_x(const struct pw_axes *a, double x);
double pw_axes_y(const struct pw_axes *a, double y); /* clamped to the field */

/* Through those of n points that are numbers; a y of infinity breaks the line. */
void pw_axes_line(const struct pw_axes *a, struct pw_svg *s, struct pw_pen pen, const double *x,
                  const float *y, int n);
void pw_axes_band(const struct pw_axes *a, struct pw_svg *s, uint32_t color, double opacity, const double *x,
                  const float *lo, const float *hi, int n);
/* From top to bottom at x, with a word at its upper end, `row` lines below it. */
void pw_axes_mark(const struct pw_axes *a, struct pw_svg *s, double x, uint32_t color, const char *text,
                  int row);

#endif
