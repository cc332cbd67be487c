/* paired.h - pairwise significance tests between arms on the same evaluation samples.
 *
 * The unit of inference about an encoding is the training run, not the sample. Two networks of one encoding
 * that differ only in their initialisation can differ clearly on any number of samples. So the tests compare
 * results of runs: exact match over the samples, one number per run.
 *
 *   - The arms have the same seeds: run k of one arm and run k of the other had the same initialisation.
 *     Their differences are tested by flipping signs (pw_sign_flip). 0.05 needs six seeds per arm.
 *   - The seeds differ: the runs are two independent groups (pw_two_sample). 0.05 needs four seeds per arm.
 *   - Own batches (race ... batches=own): run k of each arm trained on the batches of the same seed, so runs
 *     cannot be exchanged between pairs, whatever their initialisation seeds: signs are flipped.
 *
 * Without own batches all runs of one lab train on the same batches, so p is conditional on these; another
 * `seed` has others. With own batches each pair has its own, and p covers other batches, too.
 *
 * The p in the table is corrected for the number of pairs (Holm 1979). An arm is called best if p < 0.05 in
 * its favour against each other arm. That is an intersection-union test (Berger 1982), which needs no
 * correction for the number of arms. `bench/decide` measures how often one of several equal arms is called
 * best: at most 5 %.
 *
 * Running text has no right samples: runs are compared by their mean loss, and McNemar's test, which is a
 * sign test then, counts the windows where one of two networks has the lower loss. Windows can overlap.
 *
 * McNemar's test over the samples shows whether two networks differ, and nothing about their encodings.
 * `networks` counts the pairs of runs for which it does.
 *
 * Shapes are in the members' comments. The caller owns all structs. Any thread; the functions cannot fail.
 */
#ifndef PW_PAIRED_H
#define PW_PAIRED_H
#include "base/text.h"
#include "sessions/fold.h"

#define PW_MAX_TESTS     (PW_MAX_ARMS * (PW_MAX_ARMS - 1) / 2)
#define PW_SIGNIFICANCE  0.05
#define PW_SEEDS_PAIRED  6 /* fewest runs per arm for p < PW_SIGNIFICANCE with the same seeds */
#define PW_SEEDS_GROUPED 4 /* and with different seeds */

/* Comparison of two arms. */
struct pw_pair_test {
    int a, b;               /* ids of two arms, a < b */
    bool shared;            /* run k of both arms has the same seed, or own batches: signs are flipped */
    int seeds;              /* pairs of runs that were evaluated on the same samples */
    int64_t samples;        /* total samples of these pairs */
    int64_t only_a, only_b; /* of these, samples that only a (only b) got right; text: with the lower loss */
    int ahead_a, ahead_b;   /* seeds for which a (b) got more samples right; text: has the lower loss */
    int networks;           /* seeds whose two networks differ: McNemar's exact p < PW_SIGNIFICANCE */
    double difference; /* mean over runs of exact match of a minus that of b; text: loss of b minus a's */
    double p;          /* two-sided, over training runs; NaN without runs */
    double corrected;  /* p corrected for the number of tests by Holm's method; NaN if p is */
};

/* Comparison of all selected arms, by pairs. */
struct pw_paired {
    int n_arms, arms[PW_MAX_ARMS]; /* arms with samples to compare */
    int n;
    struct pw_pair_test tests[PW_MAX_TESTS];
    bool own_batches; /* an arm of a test has own batches */
    bool losses;      /* of running text: samples are compared by their loss, in nats per token */
    int left_out;     /* arms with other samples, without evaluation, or judged by PW_JUDGE_TAUGHT */
    int best;         /* the arm that is significantly better than each other arm; 0: none */
};

/* Compare arms by their latest evaluations on the lengths lo..hi of a task. Bit (id - 1) of `arms` selects an
 * arm. */
void pw_paired_find(struct pw_paired *out, const struct pw_snapshot *s, unsigned arms, int task, int lo,
                    int hi);
/* Append one sentence without a full stop: which arm is best, or why no arm is called best. */
void pw_paired_verdict(const struct pw_paired *x, const struct pw_snapshot *s, struct pw_str *out);
/* Return the name of the test: "exact sign-flip test over training runs", "exact permutation test ...",
 * "exact tests ...", with own batches "exact sign-flip test over training runs, each pair on batches of its
 * own" */
const char *pw_paired_test_name(const struct pw_paired *x);
/* Format p: "0.012", "<0.001", "-" for NaN. */
void pw_p_text(char dst[16], double p);

#endif
