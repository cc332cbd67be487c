/* columns.h - summarises many points in few columns without losing a spike. Pure functions; the caller owns
 * every array. Columns are screen cells or pixels of a plot. */
#ifndef PW_COLUMNS_H
#define PW_COLUMNS_H
#include "base/pyramid.h"
#include <stdbool.h>
#include <stdint.h>

/* The points of one curve. All arrays are borrowed. */
struct pw_points {
    const int64_t *x; /* [n] ascending */
    const float *y;
    int n;
    int from;                         /* points before this index are left out */
    const struct pw_pyramid *pyramid; /* of y; NULL: none */
    const int64_t *step, *swaps; /* [n] and [n_swaps], both ascending; after the step of a swap the model has
                                    another encoding */
    int n_swaps;                 /* 0: no swap; step and swaps are then not read */
};

/* Summarises the points of each of n columns. x0 is the middle of the first column, x1 of the last. k [n]:
 * the summaries; part [n]: number of swaps before each column's last point. */
void pw_columns_find(struct pw_summary *k, int *part, int n, const struct pw_points *p, double x0, double x1);
/* Writes mean [n]: the mean over each column and `reach` columns on either side with the same part, so that
 * an effect of a swap does not show before it. NaN for a column without points. */
void pw_columns_means(const struct pw_summary *k, const int *part, int n, int reach, float *mean);
/* Widens lo..hi to the finite points; with positive, lo only to points above 0. */
void pw_plot_extent(const struct pw_points *p, bool positive, float *lo, float *hi);

#endif
