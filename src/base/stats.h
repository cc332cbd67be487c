/* stats.h - exact tests of a difference, intervals, and corrections for several tests. */
#ifndef PW_STATS_H
#define PW_STATS_H
#include <stdint.h>

/* McNemar's exact test (McNemar 1947; exact: the sign test on the discordant pairs): of the samples that one
 * of two got right and the other wrong, only_a went to the first and only_b to the second. Two-sided p of so
 * uneven a division, if either were as likely: min(1, 2 * sum over i <= min(only_a, only_b) of C(n,i) / 2^n),
 * n = only_a + only_b. Relative error below 1e-9. */
double pw_mcnemar(int64_t only_a, int64_t only_b);

/* ---- training runs as the unit: each number is one run's result, such as its exact match
 *
 * Both tests enumerate every assignment that the null hypothesis makes equally likely, so their level is
 * exact for any distribution. p is the share of assignments whose sum is at least as far from 0 (from the
 * mean) as the observed one, two-sided; NaN for n < 1 or m < 1. Sums that differ by less than 1e-9 of the
 * largest count as equal. */

/* Paired runs: d [n] are differences of run k of one arm from run k of the other. Under the null hypothesis
 * each difference is as likely with the other sign (Fisher 1935, section 21). The smallest p is 2 / 2^n, so
 * six pairs are the fewest that reach 0.05. n <= 20. */
#define PW_SIGN_FLIP_MAX 20
double pw_sign_flip(const double *d, int n);

/* Independent runs: a [n] and b [m]. Under the null hypothesis every choice of n of the n + m is equally
 * likely (Pitman 1937). The smallest p is 2 / C(n + m, n) for n = m, so four runs of each are the fewest that
 * reach 0.05. n + m <= 24. */
#define PW_TWO_SAMPLE_MAX 24
double pw_two_sample(const double *a, int n, const double *b, int m);

/* Mean and 95 % confidence interval by Student's t distribution (Student 1908), n - 1 degrees of freedom. NaN
 * entries are left out; n is the number of those used. lo and hi are NaN for fewer than two, mean for none.
 */
struct pw_interval {
    int n;
    double mean, lo, hi;
};
struct pw_interval pw_mean_interval(const double *x, int n);

/* p [n] corrected for their number (Holm 1979): with p in ascending order the i-th, from 0, becomes the
 * largest of (n - j) * p_j for j <= i, at most 1. adjusted is another array of n. */
void pw_holm(double *adjusted, const double *p, int n);

#endif
