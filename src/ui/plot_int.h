/* plot_int.h - the dot position of a value on a plot. Shared by plot.c and plot_curve.c only. */
#ifndef PW_PLOT_INT_H
#define PW_PLOT_INT_H
#include "ui/plot.h"

int pw_plot_dot_row(const struct pw_plot *p, double y); /* from the top; not clamped to the field */

#endif
