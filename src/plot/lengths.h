/* lengths.h - the latest evaluations by length: lengths, pairs of numbers, errors. Pure functions of a
 * snapshot; nothing is allocated except in out. */
#ifndef PW_PLOT_LENGTHS_H
#define PW_PLOT_LENGTHS_H
#include "base/text.h"
#include "plot/matrix.h"
#include "sessions/fold.h"

#define PW_MAX_LENGTHS 512
#define PW_LEARNED     0.99f /* least exact match on trained lengths for a verdict on longer ones */

/* The evaluated lengths of one task, ascending, over all arms. */
struct pw_lengths {
    int task, n;
    int lengths[PW_MAX_LENGTHS];
    const struct pw_task_view *range; /* NULL: the lab has no such task */
    bool runs;                        /* running text: rows have a loss, and no exact match */
    bool judged;                      /* rows of some arm are not graded by exact match: enum pw_judge */
};

/* Fills v for a task; an index without a task is replaced by 0. */
void pw_lengths_of(struct pw_lengths *v, const struct pw_snapshot *s, int task);
/* The same arm by arm. pw_lengths_begin: no lengths yet, with the range that a task has in this lab.
 * pw_lengths_add: those of an arm, whose own lab may have the task at another place. */
void pw_lengths_begin(struct pw_lengths *v, const struct pw_snapshot *s, int task);
void pw_lengths_add(struct pw_lengths *v, const struct pw_arm_view *arm, int task);
/* Returns true if a length is in the trained range of v's task. */
bool pw_lengths_trained(const struct pw_lengths *v, int length);

/* Exact match of an arm, 0..1: the median over its replicas, with the ends of an interval. */
struct pw_match {
    int n;                 /* replicas with a value; 0: not evaluated, and median, lo and hi are NaN */
    double median, lo, hi; /* several replicas: lo and hi are their minimum and maximum */
};
/* At one length. With one replica the interval is Wilson's of its samples (95 %). */
struct pw_match pw_lengths_match(const struct pw_arm_view *arm, int task, int length);
/* The loss of running text at one length, in nats per token, likewise; with one replica the interval is that
 * of the mean over its windows (95 %, normal). */
struct pw_match pw_lengths_loss(const struct pw_arm_view *arm, int task, int length);
/* Returns the arm's longest row with a loss by position; NULL: none. */
const struct pw_eval_row *pw_lengths_longest(const struct pw_arm_view *arm, int replica);
/* The mean over the trained lengths of a task, or over all longer ones (beyond). With one replica there is no
 * interval, because lengths are not a sample: lo and hi are the median. */
struct pw_match pw_lengths_mean(const struct pw_ev_lab *lab, const struct pw_arm_view *arm, int task,
                                bool beyond);
/* Returns true if the arm has learned the trained lengths (PW_LEARNED, median of its replicas). */
bool pw_lengths_learned(const struct pw_ev_lab *lab, const struct pw_arm_view *arm, int task);
/* Appends the trained lengths of a task, "trained 2..8" with the text `between` both numbers, or "not trained
 * here": no arm was, and the task is running text. */
void pw_lengths_range_text(struct pw_str *out, const struct pw_snapshot *s, int task, const char *between);

/* Appends the samples per length in the latest evaluations of a task: "256 samples", or if arms differ "256
 * samples (arms 1, 3), 64 live (arm 2)". live: evaluated beside training or after heads were switched. */
void pw_lengths_samples(struct pw_str *out, const struct pw_snapshot *s, int task);
/* The same for a title in 70 columns, and only if arms differ: "samples 256 (1,3), 64 live (2)". Returns true
 * if they do. */
bool pw_lengths_samples_differ(struct pw_str *out, const struct pw_snapshot *s, int task);
/* The same for a list of arms, which are called by their labels, with a noun before these or NULL: "256
 * samples (A: none), 64 live (B: t5)". */
struct pw_lengths_arm {
    const struct pw_arm_view *arm; /* NULL: none */
    int task;
    const char *label;
};
void pw_lengths_samples_of(struct pw_str *out, const struct pw_lengths_arm *list, int n, const char *noun);

/* ---- exact match over both numbers of a length that is a pair; replicas are summed */
enum { PW_GRID_MOST = 64 }; /* larger numbers are left out */
struct pw_grid {
    int lo[2], hi[2];                                /* range of the two numbers */
    int samples[PW_GRID_MOST + 1][PW_GRID_MOST + 1]; /* [second][first] */
    int exact[PW_GRID_MOST + 1][PW_GRID_MOST + 1];
    bool cut; /* larger numbers were left out */
};
/* Sums the pairs of an arm's replicas; returns false if no evaluation had pairs. */
bool pw_grid_collect(struct pw_grid *g, const struct pw_arm_view *a, int task);
/* Exact match as a matrix: rows are the second number, columns the first, both from lo on; hidden: no
 * samples. g must outlive it. */
struct pw_matrix pw_grid_matrix(const struct pw_grid *g);

/* ---- errors in answers: one length of an arm, summed over its replicas */
struct pw_error_sum {
    int64_t samples, exact, tokens, errors[PW_ERRORS], places[PW_PLACES];
};
/* Returns the sums at a length of a task; zeros if it was not evaluated. */
struct pw_error_sum pw_error_sum_at(const struct pw_arm_view *a, int task, int length);
/* n as a share of the samples, 0..1. */
double pw_error_share(int64_t n, const struct pw_error_sum *s);
/* Returns the number of places with errors at any length, at least 1, and widens
 * *most to the largest share. */
int pw_error_places(const struct pw_arm_view *a, const struct pw_lengths *v, float *most);
/* Returns true if no answer reaches this place (from 0). wrong: errors at this place. The mean length
 * decides: if lengths differ, the longest answer is taken to be one token longer. */
bool pw_error_beyond(const struct pw_error_sum *s, int place, int64_t wrong);

#endif
