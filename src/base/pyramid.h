/* pyramid.h - what any stretch of a long series comes to, without looking at its points.
 *
 * A curve of a million points is drawn in a few hundred columns, of each of which the ends, the extremes and
 * the mean are wanted. So a series carries summaries of its blocks of 32 points, of 32 such blocks, and so
 * on; a stretch of n points is put together from some 64 log32(n) of them.
 *
 * Exact: a summary is defined over those blocks, also where there is no pyramid and each of them is summed up
 * on the spot. So the order of additions, the only thing that could make a difference, is the same, and a
 * picture has the same bits with a pyramid and without. */
#ifndef PW_PYRAMID_H
#define PW_PYRAMID_H
#include <stdbool.h>

struct pw_summary {
    double sum;        /* this and the next ones of the finite points */
    float lo, hi;      /* lo > hi: there is none */
    float above;       /* the least that is above 0; INFINITY: none is */
    float first, last; /* NaN: none */
    int n;             /* how many */
    bool broken;       /* one of the points is no number */
};

/* Summaries of a series' complete blocks, in the order in which they become so: what a series of n points has
 * begins what it has with more. So one that is cut, or shown up to a moment, needs no other pyramid. */
struct pw_pyramid {
    struct pw_summary *node;
    int cap;
};

/* After y[n - 1] was written, and for every n in turn; after series were cut from the new n on. */
void pw_pyramid_add(struct pw_pyramid *p, const float *y, int n);
/* Nodes of its own for the n points of a pyramid that is somebody else's. */
void pw_pyramid_own(struct pw_pyramid *p, int n);
void pw_pyramid_fini(struct pw_pyramid *p);

/* What y[from] to y[end - 1] come to. p is y's pyramid; NULL, or one without nodes: there is none. */
struct pw_summary pw_pyramid_sum(const struct pw_pyramid *p, const float *y, int from, int end);

#endif
