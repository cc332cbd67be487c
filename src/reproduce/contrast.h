/* contrast.h - differences between two sets of training runs, tested exactly and corrected for their number.
 *
 * Why: a study compares many pairs (formats by encodings, settings by encodings), and picks what it says from
 * them. Each difference is tested over runs, not over samples, and all tests of one claim are corrected
 * together (Holm 1979), so the largest of them may be picked afterwards. Values are in the caller's unit. Any
 * thread. */
#ifndef PW_CONTRAST_H
#define PW_CONTRAST_H
#include <stdbool.h>

#include "base/finding.h"
#include "base/stats.h"

#define PW_CONTRAST_LEVEL                                                                                    \
    0.05                   /* a corrected p below it is a difference; fixed before anything was measured */
#define PW_CONTRAST_RUNS 5 /* fewer runs than this decide nothing, whatever their interval */

struct pw_contrast {
    struct pw_interval
        difference;      /* run k of the first minus run k of the second: .n runs, mean, 95 % interval */
    double p, corrected; /* exact two-sample test (pw_two_sample); 1 where there is nothing to compare */
};

/* Compares first [n] with second [n]; runs of which either is NaN are left out. At most PW_TWO_SAMPLE_MAX / 2
 * runs are used. Runs of one number share batches or initial weights, which makes the two-sample test
 * conservative. */
void pw_contrast_measure(struct pw_contrast *c, const double *first, const double *second, int n);
/* Corrects the n contrasts of one claim for their number. */
void pw_contrast_correct(struct pw_contrast *c, int n);

/* 1: the first is higher, -1: the second is, 0: undecided. After pw_contrast_correct. */
int pw_contrast_sign(const struct pw_contrast *c);
/* Does the interval lie within -margin..margin, or outside of it? Neither where it is too wide, or there are
 * fewer than PW_CONTRAST_RUNS runs. */
bool pw_contrast_within(const struct pw_contrast *c, double margin);
bool pw_contrast_beyond(const struct pw_contrast *c, double margin);

/* A table's first PW_CONTRAST_COLUMNS columns: the difference with its interval, p, p corrected, runs. */
#define PW_CONTRAST_COLUMNS 6
void pw_contrast_name_columns(struct pw_finding *f, int table);
void pw_contrast_put(struct pw_finding *f, int table, int row, const struct pw_contrast *c);

/* The fewest runs of each side with which one of so many tests can be significant, at least PW_CONTRAST_RUNS.
 */
int pw_contrast_runs(int tests);

/* The verdict on a claim that so many runs stand behind: inconclusive with fewer than are needed, or where
 * neither is certain. protocol: enum pw_protocol; what holds at toy size is PW_CLAIM_TOY. */
enum pw_claim_verdict pw_contrast_verdict(int protocol, int runs, int needed, bool contradicted,
                                          bool supported);

#endif
