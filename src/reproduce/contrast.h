/* contrast.h - differences between two sets of training runs: exact tests, corrected for their number.
 *
 * A study compares many pairs (formats by encodings, settings by encodings) and reports the most notable of
 * them. So each difference is tested over runs, not over samples, and all tests of one claim are corrected
 * together (Holm 1979). Then even the largest difference may be picked afterwards. Values are in the caller's
 * unit. Any thread. */
#ifndef PW_CONTRAST_H
#define PW_CONTRAST_H
#include <stdbool.h>

#include "base/finding.h"
#include "base/stats.h"

/* A difference is significant if its corrected p is below this level. The level was fixed before any
 * measurement. */
#define PW_CONTRAST_LEVEL 0.05
/* With fewer runs nothing is decided, whatever the interval. */
#define PW_CONTRAST_RUNS 5

/* The difference between two sets of runs, with its tests. */
struct pw_run_contrast {
    /* run k of the first minus run k of the second: number of runs .n, mean, 95 % interval */
    struct pw_interval difference;
    double p, corrected; /* exact two-sample test (pw_two_sample); 1 if no runs can be compared */
};

/* Compare first [n] with second [n]. A run is left out if either value is NaN. At most PW_TWO_SAMPLE_MAX / 2
 * runs are used. Runs with the same index share batches or initial weights, which makes the two-sample test
 * conservative. */
void pw_contrast_measure(struct pw_run_contrast *c, const double *first, const double *second, int n);
/* Correct the p values of the n contrasts of one claim for their number. */
void pw_contrast_correct(struct pw_run_contrast *c, int n);

/* Return 1 if the first is higher, -1 if the second is, 0 if undecided. Call pw_contrast_correct before. */
int pw_contrast_sign(const struct pw_run_contrast *c);
/* Does the interval lie within -margin..margin (within) or outside of it (beyond)? Both are false if the
 * interval is too wide, or with fewer than PW_CONTRAST_RUNS runs. */
bool pw_contrast_within(const struct pw_run_contrast *c, double margin);
bool pw_contrast_beyond(const struct pw_run_contrast *c, double margin);

/* The first PW_CONTRAST_COLUMNS columns of a table: the difference, both ends of its interval, p, corrected
 * p, runs. */
#define PW_CONTRAST_COLUMNS 6
void pw_contrast_name_columns(struct pw_finding *f, int table);
void pw_contrast_put(struct pw_finding *f, int table, int row, const struct pw_run_contrast *c);

/* Return the smallest number of runs of each side with which one of `tests` tests can be significant; at
 * least PW_CONTRAST_RUNS. */
int pw_contrast_runs(int tests);

/* Return the verdict on a claim that is based on `runs` runs. It is inconclusive if runs < needed, or if
 * neither or both of contradicted and supported hold. protocol: enum pw_protocol; a claim supported at toy
 * size is PW_CLAIM_TOY. */
enum pw_claim_verdict pw_contrast_verdict(int protocol, int runs, int needed, bool contradicted,
                                          bool supported);

#endif
