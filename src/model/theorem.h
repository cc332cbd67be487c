/* theorem.h - initial values from two proofs (Kazemnejad et al. 2023, appendix C): a Transformer without
 * positional encoding that computes absolute positions (init=theorem1) or relative ones (init=theorem2).
 *
 * Dimensions 1 to 3 of the stream are reserved for the proof: the constant 1; 1 at <bos> and 0 elsewhere; the
 * position. Pure functions of a configuration, for any thread. */
#ifndef PW_THEOREM_H
#define PW_THEOREM_H
#include "model/config.h"

struct pw_param;

enum { PW_THEOREM_DIMS = 3, PW_THEOREM_MOST = 2048 /* most positions that the MLP can count */ };

/* Returns 1 or 2, the theorem of this configuration; 0: the weights are drawn. */
int pw_theorem_of(const struct pw_config *cfg);
/* Checks that the other options fit the proof; PW_EUSER names the options that it needs. */
enum pw_code pw_theorem_check(const struct pw_config *cfg, struct pw_err *err);

/* The number of hidden units of an MLP that counts T positions, and its inverse. */
int pw_theorem_ffn(int T);
int pw_theorem_T(int ffn);
/* Returns the MLP's output for u = 1/t in exact arithmetic: t up to T, then a
 * curve that approaches 2T - 1. */
double pw_theorem_count(double u, int T);
/* Returns how many positions to evaluate; the cost of attention bounds it. */
int pw_theorem_positions(int T);

/* Overwrites entries of the drawn parameters p with the proof's values; tensors [n] give their offsets. */
void pw_theorem_write(float *p, const struct pw_param *tensors, int n, const struct pw_config *cfg);

#endif
