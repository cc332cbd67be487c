/* stats.h - exact significance tests, confidence intervals, a correction for several tests, and ranks.
 *
 * Any thread may call these functions. */
#ifndef PW_STATS_H
#define PW_STATS_H
#include <stdint.h>

/* McNemar's exact test (McNemar 1947; exact form: sign test on the discordant pairs). only_a samples are
 * correct for the first model only, only_b for the second only; n = only_a + only_b. Returns the two-sided p
 * if both were equally likely: min(1, 2 * sum over i <= min(only_a, only_b) of C(n,i) / 2^n). Relative error
 * below 1e-9. */
double pw_mcnemar(int64_t only_a, int64_t only_b);

/* ---- tests with the training run as the unit: each number is the result of one run, such as its exact match
 *
 * Both tests enumerate every assignment that is equally likely under the null hypothesis, so their level is
 * exact for any distribution. p is two-sided: the share of assignments whose sum is at least as far from its
 * null value as the observed sum. The null value is 0 for pairs, the mean for independent runs. Sums that
 * differ by less than 1e-9 of the largest count as equal. p is NaN for n < 1 or m < 1. */

/* Sign-flip test for paired runs. d [n], n <= 20: run k of one arm minus run k of the other. Under the null
 * hypothesis each difference has either sign with equal probability (Fisher 1935, section 21). The smallest p
 * is 2 / 2^n, so 0.05 needs at least six pairs. */
#define PW_SIGN_FLIP_MAX 20
double pw_sign_flip(const double *d, int n);

/* Permutation test for independent runs a [n] and b [m], n + m <= 24. Under the null hypothesis every choice
 * of n of the n + m runs is equally likely (Pitman 1937). For n = m the smallest p is 2 / C(n + m, n), so
 * 0.05 needs at least four runs of each. */
#define PW_TWO_SAMPLE_MAX 24
double pw_two_sample(const double *a, int n, const double *b, int m);

/* Mean of x [n] and its 95 % confidence interval by Student's t distribution (Student 1908) with n - 1
 * degrees of freedom. NaN entries are left out; the result's n counts the others. lo and hi are NaN for fewer
 * than two values, mean for none. */
struct pw_interval {
    int n;
    double mean, lo, hi;
};
struct pw_interval pw_mean_interval(const double *x, int n);

/* Correct p [n] for multiple tests (Holm 1979). With p in ascending order, the i-th value (from 0) becomes
 * the largest of (n - j) * p_j for j <= i, at most 1. adjusted [n] must not overlap p. */
void pw_holm(double *adjusted, const double *p, int n);

/* 1 over the rank of entry i of x [n], where the greatest has rank 1. Tied entries share the mean of their
 * ranks, so the result does not depend on the order of entries. (The released code of Kazemnejad et al. 2023
 * gives the better rank to the entry that comes first.) NaN entries have no rank: the result is NaN for one
 * of them, and the others are ranked without them. */
double pw_reciprocal_rank(const double *x, int n, int i);

/* Mean reciprocal rank of each of n columns over the rows of x [rows, n], into out [n] (Kazemnejad et al.
 * 2023, Figures 1 and 2: a row is a task and seed, a column is an encoding). Rows with a NaN are left out, so
 * that all columns are ranked on the same rows. Returns the number of rows that count; out is NaN if it is 0.
 */
int pw_mean_reciprocal_ranks(double *out, const double *x, int rows, int n);

#endif
