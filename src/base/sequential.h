/* sequential.h - a study that adds seeds until its comparisons are decided: a test, a decision and an
 * interval that account for looking at the results after every seed.
 *
 * A fixed-sample test (stats.h) that is repeated after every seed exceeds its level. The test here is an
 * e-process (Ville 1939; de la Pena 1999; Ramdas et al. 2020, "Admissible anytime-valid sequential inference
 * must rely on nonnegative martingales"). Its level holds for any number of looks and for any rule to stop,
 * including "stop when it is significant".
 *
 * d [n] are paired differences, in the order of the seeds: the result of the first arm minus that of the
 * second. For losses, where less is better, the caller negates them. A NaN entry is a pair without two
 * results and is left out. This is valid only if it is not missing because of the sign of its difference. So
 * a run that diverged must not be left out: its loss is infinite, and so is the difference.
 *
 * All functions are pure and cannot fail; any thread may call them. The caller owns all arrays. */
#ifndef PW_SEQUENTIAL_H
#define PW_SEQUENTIAL_H
#include "base/stats.h"

/* ---- the test
 *
 * Null hypothesis: the two runs of a pair are exchangeable, so given the magnitudes |d|, the signs are
 * independent fair coins. A gambler bets on the sign of each difference, for g = +1 (the first arm is better)
 * and g = -1, and for each c of a grid:
 *
 *   W_n(g, c) = prod over k <= n of (1 + g sign(d_k) b_k),  b_k = min(cap, tanh(c |d_k| / s_k))
 *   E_n       = mean of W_n(g, c) over both g and all c,    E_0 = 1
 *
 * s_k is the root mean square of the magnitudes up to k, without zeros and infinities. An infinite difference
 * has the bet `cap`. s_k and b_k depend on magnitudes only, so
 * each factor has the mean 1 under the null hypothesis, whatever the distribution of d. Hence
 * P(max over n of E_n >= 1 / a) <= a (Ville 1939). tanh is the best bet on the sign of a normal difference:
 * the factor 1 + tanh(x) = exp(x) / cosh(x) is the likelihood ratio of its sign (de la Pena 1999). A
 * difference of 0 has the factor 1. E is even in d and does not depend on its unit.
 *
 * The grid is c = 1.2 and 2.2, and cap = 0.95, so that a late contrary pair keeps 1/20 of a bet. Differences
 * of one sign and one magnitude reach E >= 20 (one comparison at 0.05) with 6 seeds, which is the least that
 * any bet needs, E >= 60 (three comparisons) with 8, and E >= 200 (ten) with 10. No bet needs fewer than 9
 * for the last. With a grid of smaller c the first needs 7; with larger c and no cap, small effects need more
 * seeds. */
struct pw_evidence {
    int n;       /* pairs with two results */
    double e;    /* E_n */
    double most; /* maximum of E_0 .. E_n, so at least 1 */
    double p;    /* 1 / most: two-sided p, valid at every n (1 without data) */
    int side;    /* arm that was ahead at the maximum: 1 the first, -1 the second, 0 if the maximum is E_0 */
};
struct pw_evidence pw_evidence_of(const double *d, int n);

/* ---- the decision on several comparisons */
struct pw_decision {
    double p;         /* of the comparison alone */
    double corrected; /* by Holm's method for the number of comparisons */
    int side;         /* arm that is better: 1 the first, -1 the second; 0: undecided */
};

/* Decide the n comparisons that a study asks, out [n] from e [n]. Comparison i is decided if its corrected p
 * is at most `level`. n must be fixed before the study begins, and includes comparisons that have no data
 * yet.
 *
 * The probability that any true null hypothesis is ever rejected is at most `level`. Holm's proof (1979)
 * needs only p <= a with a probability of at most a, which holds for the smallest p of all looks. The
 * comparisons may depend on each other, may stop at different n, and a decision is never withdrawn. */
void pw_decide(struct pw_decision *out, const struct pw_evidence *e, int n, double level);

/* ---- the size of the difference */

/* Mean difference and its 95 % interval after a study that asks m comparisons and could stop at each seed:
 * Student's t interval (pw_mean_interval), with its half-width multiplied by
 *
 *   1 + (0.10 + 0.12 / m) (1 - 6 / n)    for n > 6 pairs; no factor up to 6
 *
 * A study with n fixed beforehand uses pw_mean_interval itself. The factor has no proof. It was fitted to
 * simulated normal differences, for studies that stop once pw_decide has decided all comparisons at 0.05:
 *
 *   - With budgets of 10 to 40 seeds and m = 1, 3 or 10, Student's t covers 90.1 to 95.5 %, depending on the
 * true difference, and this interval 93.5 to 96.5 %. The difference that is covered least is 0.15 to 0.2
 * standard deviations.
 *   - Nothing is decided before seed 6, and a study that stops there has a clear difference, for which the t
 *     interval needs no factor. Each further look is another chance to stop on a wrong mean. The more
 *     comparisons a study asks, the rarer it stops by chance.
 *   - Inverting the test instead (every mean whose p is above 0.05) needs no fit, but covers 96.3 to 99.0 %
 * and is 1.4 to 2.1 times as wide as t.
 *
 * It doesn't hold:
 *   - among the studies that stopped early on a small difference: these stopped because their mean was too
 *     large by chance. Coverage is a rate over all studies. The mean is not corrected; on average it is too
 * far from 0 by up to 0.1 standard deviations;
 *   - with fewer than ten seeds if a run gives one of few values (all or nothing): there t itself, with n
 * fixed, covers 91 to 99 %; and equal differences give an interval of width 0;
 *   - exactly for distributions with long tails, where it covers up to 98 %;
 *   - for other rules to stop, such as "stop once the interval is narrow", or for another level. */
struct pw_interval pw_interval_after_looks(const double *d, int n, int m);

/* Standardised effect: mean difference over the standard deviation of the differences, with n - 1 in its
 * denominator (Cohen 1988, d_z). NaN for fewer than two pairs, or if the differences are equal up to
 * rounding. Few seeds, and stopping at a decision, make its magnitude too large on average (Hedges 1981). */
double pw_effect_size(const double *d, int n);

#endif
