/* divergence.h - distances between attention patterns: of two rows, of all pairs of heads, and of two layers
 * (Kazemnejad et al. 2023, section 5.2 and Eq. 2).
 *
 * Unit: nats. Probabilities are float, as the attention kernels write them. Sums are double, in a fixed
 * order. Any thread. Nothing can fail. */
#ifndef PW_DIVERGENCE_H
#define PW_DIVERGENCE_H
#include <stdbool.h>

/* The formula of a divergence. */
enum pw_divergence {
    /* Jensen-Shannon divergence: [KL(p||m) + KL(q||m)] / 2 with m = (p + q) / 2, from 0 to ln 2. */
    PW_DIVERGENCE_JSD,
    /* The formula in the paper's released code, which swaps the arguments of torch's KLDivLoss: [KL(m||p) +
     * KL(m||q)] / 2. It has no upper bound. It is infinite where exactly one of p and q is 0. */
    PW_DIVERGENCE_RELEASED
};

/* The divergence of two distributions over n keys; 0 ln 0 = 0. */
double pw_divergence(enum pw_divergence kind, const float *p, const float *q, int n);

/* D_AT of every head of P [A,T,T] and every head of Q [B,T,T]. out [A,B] is the mean divergence over rows
 * first..T-1. causal: row t has keys 0..t, otherwise all T. */
void pw_head_distances(enum pw_divergence kind, double *out, const float *P, int A, const float *Q, int B,
                       int T, int first, bool causal);

/* The distance of two layers, from the distances D [A,B] of their heads. */

/* Eq. 2: the minimum over all pairs of heads. half: only over the pairs a < b, as in the released code.
 * Returns NaN if there is no pair. */
double pw_distance_least(const double *D, int A, int B, bool half);
/* The mean distance over the cheapest one-to-one matching of heads. Every head of the layer with fewer heads
 * gets a partner. match [A], or NULL: the partner of each head of the first layer, -1: none. */
double pw_distance_matched(const double *D, int A, int B, int *match);
/* The mean distance of heads with equal index. Requires A = B. It is meaningful only if both models share an
 * initialisation. */
double pw_distance_same(const double *D, int A);

#endif
