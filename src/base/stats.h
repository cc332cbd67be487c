/* stats.h - tests of differences between two that answered the same questions. */
#ifndef PW_STATS_H
#define PW_STATS_H
#include <stdint.h>

/* McNemar's exact test (McNemar 1947; exact: the sign test on the discordant pairs): of the samples that one
 * of two got right and the other wrong, only_a went to the first and only_b to the second. Two-sided p of so
 * uneven a division, if either were as likely: min(1, 2 * sum over i <= min(only_a, only_b) of C(n,i) / 2^n),
 * n = only_a + only_b. Relative error below 1e-9. */
double pw_mcnemar(int64_t only_a, int64_t only_b);

/* p [n] corrected for their number (Holm 1979): with p in ascending order the i-th, from 0, becomes the
 * largest of (n - j) * p_j for j <= i, at most 1. adjusted is another array of n. */
void pw_holm(double *adjusted, const double *p, int n);

#endif
