/* pyramid.h - summaries (sum, extremes, ends) of any range of a long series in logarithmic time.
 *
 * A curve of a million points is drawn in a few hundred columns; each column needs the ends, extremes and
 * mean of its range. So a series keeps summaries of its blocks of 32 points, of 32 such blocks, and so on.
 * The summary of n points combines about 64 log32(n) of them.
 *
 * The result is exact: the order of additions is defined over these blocks, and without a pyramid each block
 * is summed on the spot. So a picture has the same bits with a pyramid and without. The functions cannot
 * fail; one pyramid belongs to one thread at a time. */
#ifndef PW_PYRAMID_H
#define PW_PYRAMID_H
#include <stdbool.h>

/* Summary of a range of points. */
struct pw_summary {
    double sum;        /* of the finite points; so are lo, hi, above, first, last and n */
    float lo, hi;      /* lo > hi: no finite point */
    float above;       /* smallest value above 0; INFINITY: none */
    float first, last; /* NaN: none */
    int n;             /* number of finite points */
    bool broken;       /* at least one point is NaN or infinite */
};

/* Summaries of the complete blocks of a series, in the order in which the blocks become complete. The nodes
 * of a prefix of the series are a prefix of `node`. So a series that is cut, or shown up to some step, can
 * use the same pyramid. */
struct pw_pyramid {
    struct pw_summary *node;
    int cap;
};

/* Update the pyramid after y[n - 1] was written. Call it for every n in order. After the series was cut,
 * continue with the next n. */
void pw_pyramid_add(struct pw_pyramid *p, const float *y, int n);
/* Replace p's nodes, which belong to another pyramid, by a copy of those of the first n points. */
void pw_pyramid_own(struct pw_pyramid *p, int n);
void pw_pyramid_fini(struct pw_pyramid *p);

/* Summarise y[from..end-1]. p is the pyramid of y; NULL or no nodes: compute from the points. */
struct pw_summary pw_pyramid_sum(const struct pw_pyramid *p, const float *y, int from, int end);

#endif
