/* paired.h - arms compared by pairs, on the same evaluation samples: which differences are more than chance.
 *
 * The unit of inference about an encoding is the training run, not the sample: two networks of the same
 * encoding that differ only in their first values can differ clearly on any number of samples. So the test
 * compares the results of runs (exact match over the samples, one number a run):
 *
 *   - the arms' seeds are the same: run k of one arm and run k of the other began alike, so their differences
 * are tested by flipping signs (pw_sign_flip). 0.05 needs six seeds of each arm.
 *   - the seeds differ: the runs are two independent groups (pw_two_sample). 0.05 needs four seeds of each
 * arm.
 *   - own batches (race ... batches=own): run k of each arm learned from the batches of the same seed, so
 * runs can't be exchanged between pairs, whatever seeds they began with: signs are flipped.
 *
 * Else all runs of one laboratory learn from the same batches, so p is conditional on these; another `seed`
 * has others. With own batches each pair has its own, and p speaks of other batches, too.
 *
 * The table's p is corrected for the number of its pairs (Holm 1979). An arm is called best if it has p <
 * 0.05 against each other arm, in its favour: an intersection-union test (Berger 1982), which needs no
 * correction for the other arms. `bench/decide` prints how often equal arms are called best: at most 5 %.
 *
 * McNemar's test over the samples says whether two networks differ, and nothing about their encodings;
 * `networks` counts the pairs of runs for which it does. */
#ifndef PW_PAIRED_H
#define PW_PAIRED_H
#include "base/text.h"
#include "sessions/fold.h"

#define PW_MAX_TESTS     (PW_MAX_ARMS * (PW_MAX_ARMS - 1) / 2)
#define PW_SIGNIFICANCE  0.05
#define PW_SEEDS_PAIRED  6 /* fewest runs of each arm with which p can be below PW_SIGNIFICANCE, */
#define PW_SEEDS_GROUPED 4 /* and where the arms' seeds differ */

struct pw_pair_test {
    int a, b;               /* ids of two arms, a < b */
    bool shared;            /* run k of both has the same seed, or batches of its own: signs are flipped */
    int seeds;              /* pairs of runs that answered the same samples */
    int64_t samples;        /* of all of them together */
    int64_t only_a, only_b; /* of these, what only one of the two got right */
    int ahead_a, ahead_b;   /* seeds in which a (b) got more right */
    int networks;           /* seeds whose two networks differ, McNemar's exact p < PW_SIGNIFICANCE */
    double difference;      /* mean over runs of the share right of a less that of b */
    double p;               /* over training runs, two-sided; NaN for no runs */
    double corrected;       /* for the number of tests, by Holm's method; NaN where p is */
};

struct pw_paired {
    int n_arms, arms[PW_MAX_ARMS]; /* that have samples to be compared by */
    int n;
    struct pw_pair_test tests[PW_MAX_TESTS];
    bool own_batches; /* an arm of a test has them, so run k of each learned from batches of its own */
    int left_out;     /* arms evaluated on other samples, or not at all, or by PW_JUDGE_TAUGHT */
    int best;         /* the arm that is better than each other one, beyond chance; 0: none */
};

/* Compares by the latest evaluations, over those of a task's lengths that lie in lo..hi, the arms whose bit
 * (id - 1) is in `arms`. */
void pw_paired_find(struct pw_paired *out, const struct pw_snapshot *s, unsigned arms, int task, int lo,
                    int hi);
/* Appends one sentence without a full stop: which arm is best, or why none is called so. */
void pw_paired_verdict(const struct pw_paired *x, const struct pw_snapshot *s, struct pw_str *out);
/* The test by its name: "exact sign-flip test over training runs", "exact permutation test ...", "exact tests
 * ...", with own batches "exact sign-flip test over training runs, each pair on batches of its own" */
const char *pw_paired_test_name(const struct pw_paired *x);
/* "0.012", "<0.001", "-" for NaN. */
void pw_p_text(char dst[16], double p);

#endif
