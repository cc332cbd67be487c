/* curves.h - the curves of a snapshot by metric and x axis: values, ranges, extents. Pure functions; curves
 * point into the snapshot and are valid until it changes. */
#ifndef PW_PLOT_CURVES_H
#define PW_PLOT_CURVES_H
#include "plot/columns.h"
#include "sessions/fold.h"

enum { PW_METRIC_EXACT = PW_METRICS, PW_METRIC_CHOICES }; /* follows enum pw_metric */
/* Names of the metrics: as a word of commands, as a title; percent: fractions, shown as per cent. */
extern const struct pw_metric_view {
    const char *word, *title;
    bool percent;
} pw_metric_views[PW_METRIC_CHOICES];

/* The quantity on the x axis: steps, total operations, or time. */
enum pw_curves_axis { PW_AXIS_STEP, PW_AXIS_FLOPS, PW_AXIS_TIME, PW_AXES };
/* The quantities on the x axis: integers, with the unit in which they are written. */
extern const struct pw_axis_view {
    const char *name;
    double unit; /* divisor; 0: written as they are */
} pw_axis_views[PW_AXES];

/* The curves of one arm, one per replica. */
struct pw_curve {
    int arm, n; /* replicas */
    struct pw_points rep[PW_MAX_REPLICAS];
    bool dotted; /* exact match on lengths longer than trained; or the held-out loss of running text */
};

#define PW_MAX_CURVES (2 * PW_MAX_ARMS)
/* Writes the curve of an arm; for exact match also a second one for longer lengths, and for the loss one of
 * held-out text if there is any. Returns their number. */
int pw_curves_of(struct pw_curve out[2], const struct pw_arm_view *a, int metric, enum pw_curves_axis axis);
/* Writes those of all arms. Returns their number. */
int pw_curves_find(struct pw_curve out[PW_MAX_CURVES], const struct pw_snapshot *s, int metric,
                   enum pw_curves_axis axis);
/* Finds the range of all points on the x axis; it starts at 0 if that is near. Returns
 * false if there are no points. */
bool pw_curves_extent(const struct pw_curve *k, int n, int64_t *first, int64_t *last);
/* Finds the range of the y axis: all values that can be shown, and 0 on a linear axis; 0..1 for percent.
 * Clears *log if no value is above 0. */
void pw_curves_range(const struct pw_curve *k, int n, bool percent, bool *log, double *y0, double *y1);
/* Returns how many of n ascending values are at most x. */
int pw_curves_up_to(const int64_t *values, int n, int64_t x);
/* Returns the spread over the replicas of the last finite value at or before x. */
struct pw_spread pw_curves_at(const struct pw_curve *k, int64_t x);
/* Returns the x coordinate of an arm's step, or of the nearest earlier step that is known. */
double pw_curves_x(const struct pw_arm_view *a, enum pw_curves_axis axis, int64_t step);

#endif
