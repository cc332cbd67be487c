/* columns.h - many points on few columns, so that no spike is lost. */
#ifndef PW_COLUMNS_H
#define PW_COLUMNS_H
#include "base/pyramid.h"
#include <stdbool.h>
#include <stdint.h>

struct pw_points {
    const int64_t *x; /* [n] ascending */
    const float *y;
    int n;
    int from;                         /* those before are left out */
    const struct pw_pyramid *pyramid; /* of y; NULL: there is none */
    const int64_t *step, *swaps;      /* [n], [n_swaps] ascending: behind a swap's step it is another model */
    int n_swaps;                      /* 0: one model throughout, and the two are not looked at */
};

/* The points of each of n columns, the first of which has x0 in its middle and the last x1; part: how many
 * swaps lie before each column's last point. */
void pw_columns_find(struct pw_summary *k, int *part, int n, const struct pw_points *p, double x0, double x1);
/* The mean of each column and of `reach` columns on either side, as far as they are of its part, so that what
 * follows a swap doesn't show before it; NaN where there is no point. */
void pw_columns_means(const struct pw_summary *k, const int *part, int n, int reach, float *mean);
/* Widens lo..hi to the finite points; with positive, lo to those above 0 only. */
void pw_plot_extent(const struct pw_points *p, bool positive, float *lo, float *hi);

#endif
