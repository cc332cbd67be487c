/* curves.h - the curves of a snapshot: what an arm's are by metric, and what x is. */
#ifndef PW_PLOT_CURVES_H
#define PW_PLOT_CURVES_H
#include "plot/columns.h"
#include "sessions/fold.h"

enum { PW_METRIC_EXACT = PW_METRICS, PW_METRIC_CHOICES }; /* after enum pw_metric */
extern const struct pw_metric_view {
    const char *word, *title;
    bool percent;
} pw_metric_views[PW_METRIC_CHOICES];

enum pw_curves_axis { PW_AXIS_STEP, PW_AXIS_FLOPS, PW_AXIS_TIME, PW_AXES };
/* What x is: whole numbers, and the unit in which they are written. */
extern const struct pw_axis_view {
    const char *name;
    double unit; /* 0: as they are */
} pw_axis_views[PW_AXES];

/* One curve of an arm, of each of its replicates. */
struct pw_curve {
    int arm, n; /* replicates */
    struct pw_points rep[PW_MAX_REPLICATES];
    bool dotted; /* beyond training */
};

#define PW_MAX_CURVES (2 * PW_MAX_ARMS)
/* Of an arm one, and of exact match a second one for longer lengths; returns how many. */
int pw_curves_of(struct pw_curve out[2], const struct pw_arm_view *a, int metric, enum pw_curves_axis axis);
/* Those of all arms; returns how many. */
int pw_curves_find(struct pw_curve out[PW_MAX_CURVES], const struct pw_snapshot *s, int metric,
                   enum pw_curves_axis axis);
/* All that there is on the x axis, from 0 where that is not far; false: nothing. */
bool pw_curves_extent(const struct pw_curve *k, int n, int64_t *first, int64_t *last);
/* What the y axis spans: all values of the points that can be shown, and on a linear axis 0. Where there are
 * none for a logarithmic one it becomes linear. */
void pw_curves_range(const struct pw_curve *k, int n, bool percent, bool *log, double *y0, double *y1);
/* How many of n ascending values are at most x. */
int pw_curves_up_to(const int64_t *values, int n, int64_t x);
/* The last value of each replicate at or before x that is a number. */
struct pw_spread pw_curves_at(const struct pw_curve *k, int64_t x);
/* Where on the x axis an arm made a step; the nearest before that is known. */
double pw_curves_x(const struct pw_arm_view *a, enum pw_curves_axis axis, int64_t step);

#endif
