/* divergence.h - how far attention patterns are from each other: of two rows, of all pairs of heads, and of
 * two layers by their heads (Kazemnejad et al. 2023, section 5.2 and Eq. 2).
 *
 * In nats. Probabilities are float as attention has them; sums are double, in a fixed order. */
#ifndef PW_DIVERGENCE_H
#define PW_DIVERGENCE_H
#include <stdbool.h>

enum pw_divergence {
    /* Jensen-Shannon: [KL(p||m) + KL(q||m)] / 2 with m = (p + q) / 2, from 0 to ln 2. */
    PW_DIVERGENCE_JSD,
    /* What the paper's released code computes in its place (torch's KLDivLoss with its arguments swapped):
     * [KL(m||p) + KL(m||q)] / 2, without a bound, and infinite where only one of the two is 0. */
    PW_DIVERGENCE_RELEASED
};

/* Of two distributions over n keys; 0 ln 0 = 0. */
double pw_divergence(enum pw_divergence kind, const float *p, const float *q, int n);

/* D_AT of every head of P [A,T,T] and every head of Q [B,T,T]: out [A,B] is the mean over rows first..T-1.
 * causal: row t has the keys 0..t, else all T. */
void pw_head_distances(enum pw_divergence kind, double *out, const float *P, int A, const float *Q, int B,
                       int T, int first, bool causal);

/* Of two layers, by the distances of their heads D [A,B]. */

/* Eq. 2: the least of all pairs; half: of the pairs a < b alone, which are those that the released code
 * visits. NaN: there is none. */
double pw_distance_least(const double *D, int A, int B, bool half);
/* Mean over the pairs of the cheapest matching, in which each head of the layer with fewer has one of the
 * other's to itself: match [A] is the head of the second layer, or -1; NULL: nobody asks. */
double pw_distance_matched(const double *D, int A, int B, int *match);
/* Mean over heads of equal number, which mean something where both began with the same weights. A = B. */
double pw_distance_same(const double *D, int A);

#endif
