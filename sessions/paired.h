/* paired.h - arms compared by pairs, on the same samples: which differences are more than chance.
 *
 * Evaluation draws the same samples for every arm, so two arms are compared sample by sample (McNemar's
 * test), which sees differences that two intervals beside each other hide. Samples are one source of chance,
 * the initialisation is the other and the larger one: a test over the samples of one trained model says
 * nothing about the encoding. So replicate k is paired with replicate k, one arm is ahead of another only if
 * it is in every pair of replicates (the p of the pair is the largest of theirs: an intersection-union test,
 * Berger 1982), and no arm is called best with fewer than three. */
#ifndef PW_PAIRED_H
#define PW_PAIRED_H
#include "base/text.h"
#include "sessions/fold.h"

#define PW_MAX_TESTS    (PW_MAX_ARMS * (PW_MAX_ARMS - 1) / 2)
#define PW_LEAST_SEEDS  3
#define PW_SIGNIFICANCE 0.05

struct pw_pair_test {
    int a, b;               /* ids of two arms, a < b */
    int seeds;              /* pairs of replicates that answered the same samples */
    int64_t samples;        /* of all of them together */
    int64_t only_a, only_b; /* of these, what only one of the two got right */
    int ahead_a, ahead_b;   /* seeds in which a (b) got more right */
    double p;               /* two-sided; the largest of the seeds', 1 where not all say the same */
    double corrected;       /* for the number of tests, by Holm's method */
};

struct pw_paired {
    int n_arms, arms[PW_MAX_ARMS]; /* that have samples to be compared by */
    int n;
    struct pw_pair_test tests[PW_MAX_TESTS];
    int left_out; /* arms evaluated on other samples, or not at all, or by PW_JUDGE_TAUGHT */
    int best;     /* the arm that is ahead of every other, beyond chance and with enough seeds; 0: none */
};

/* Compares by the latest evaluations, over those of a task's lengths that lie in lo..hi, the arms whose bit
 * (id - 1) is in `arms`. */
void pw_paired_find(struct pw_paired *out, const struct pw_snapshot *s, unsigned arms, int task, int lo,
                    int hi);
/* One sentence: which arm is best, or why none is called so. */
void pw_paired_verdict(const struct pw_paired *x, const struct pw_snapshot *s, struct pw_str *out);
/* "0.012", "<0.001". */
void pw_p_text(char dst[16], double p);

#endif
