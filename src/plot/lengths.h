/* lengths.h - what the latest evaluations say by length: which lengths there are, pairs, and errors. */
#ifndef PW_PLOT_LENGTHS_H
#define PW_PLOT_LENGTHS_H
#include "base/text.h"
#include "sessions/fold.h"

#define PW_MAX_LENGTHS 512
#define PW_LEARNED     0.99f /* exact match on trained lengths from which on the others mean anything */

/* One task's lengths, ascending, over all arms. */
struct pw_lengths {
    int task, n;
    int lengths[PW_MAX_LENGTHS];
    const struct pw_task_view *range; /* NULL: no such task in the lab */
    bool judged;                      /* rows of some arm are not judged by exact match: enum pw_judge */
};

/* A task that isn't there becomes the first. */
void pw_lengths_of(struct pw_lengths *v, const struct pw_snapshot *s, int task);
bool pw_lengths_trained(const struct pw_lengths *v, int length);
/* Has it learned the trained lengths, so that what it does beyond them tells of generalisation? */
bool pw_lengths_learned(const struct pw_ev_lab *lab, const struct pw_arm_view *arm, int task);

/* How many samples a length the latest evaluations of a task have: "256 samples", or where arms differ "256
 * samples (arms 1, 3), 64 live (arm 2)". live: beside training or after heads were switched. */
void pw_lengths_samples(struct pw_str *out, const struct pw_snapshot *s, int task);
/* The same for a title in 70 columns, and only where arms differ: "samples 256 (1,3), 64 live (2)". Returns
 * whether they do. */
bool pw_lengths_samples_differ(struct pw_str *out, const struct pw_snapshot *s, int task);

/* ---- exact match over both numbers of a length that is a pair; replicates are counted together */
enum { PW_GRID_MOST = 64 }; /* larger numbers are left out */
struct pw_grid {
    int lo[2], hi[2];                                /* what the two numbers lie between */
    int samples[PW_GRID_MOST + 1][PW_GRID_MOST + 1]; /* [second][first] */
    int exact[PW_GRID_MOST + 1][PW_GRID_MOST + 1];
    bool cut; /* there are larger ones */
};
/* False: nothing was evaluated by pairs. */
bool pw_grid_collect(struct pw_grid *g, const struct pw_arm_view *a, int task);
/* Exact match of a row (second number) and column (first), from lo on; -inf: no samples. */
float pw_grid_value(const void *grid, int row, int col);

/* ---- how answers go wrong: a row of an arm over its replicates */
struct pw_error_sum {
    int64_t samples, exact, tokens, errors[PW_ERRORS], places[PW_PLACES];
};
struct pw_error_sum pw_error_sum_at(const struct pw_arm_view *a, int task, int length);
/* n as a share of its samples. */
double pw_error_share(int64_t n, const struct pw_error_sum *s);
/* Places at which anything goes wrong at any length, and the largest share. */
int pw_error_places(const struct pw_arm_view *a, const struct pw_lengths *v, float *most);
/* Does no answer reach so far? Where they differ in length, the longest is a token more than the mean. */
bool pw_error_beyond(const struct pw_error_sum *s, int place, int64_t wrong);

#endif
