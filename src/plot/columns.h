/* columns.h - many points on few columns, so that no spike is lost. */
#ifndef PW_COLUMNS_H
#define PW_COLUMNS_H
#include <stdbool.h>
#include <stdint.h>

struct pw_points {
    const int64_t *x; /* [n] ascending */
    const float *y;
    int n;
};

/* What the points of one column come to. */
struct pw_column {
    float lo, hi, first, last; /* of the finite ones; lo > hi: none */
    double sum;
    int n;
    bool broken; /* one of them is no number */
};

/* The points of each of n columns, the first of which has x0 in its middle and the last x1. */
void pw_columns_find(struct pw_column *k, int n, const struct pw_points *p, double x0, double x1);
/* The mean of each column and of `reach` columns on either side; NaN where there is no point. */
void pw_columns_means(const struct pw_column *k, int n, int reach, float *mean);
/* Widens lo..hi to the finite values of y; with positive, lo to those above 0 only. */
void pw_plot_extent(const float *y, int n, bool positive, float *lo, float *hi);

#endif
