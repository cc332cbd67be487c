/* plot_int.h - where a value lies on a plot, in dots of its field: plot.c for plot_curve.c alone. */
#ifndef PW_PLOT_INT_H
#define PW_PLOT_INT_H
#include "ui/plot.h"

int pw_plot_dot_row(const struct pw_plot *p, double y); /* from the top; not clamped to the field */

#endif
