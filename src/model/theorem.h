/* theorem.h - first values that are a proof's: a Transformer without positional encoding that knows absolute
 * positions (init=theorem1) and relative ones (init=theorem2). Kazemnejad et al. 2023, appendix C.
 *
 * Dimensions 1 to 3 of the stream are the proof's: 1; 1 at <bos> and 0 elsewhere; the position. Pure
 * functions of a configuration. */
#ifndef PW_THEOREM_H
#define PW_THEOREM_H
#include "model/config.h"

struct pw_param;

enum { PW_THEOREM_DIMS = 3, PW_THEOREM_MOST = 2048 /* positions to count */ };

/* 1 or 2; 0: the weights are drawn. */
int pw_theorem_of(const struct pw_config *cfg);
/* Do the other options leave room for the proof? */
enum pw_code pw_theorem_check(const struct pw_config *cfg, struct pw_err *err);

/* Hidden units of the MLP that counts up to T positions, and up to how many so many units count. */
int pw_theorem_ffn(int T);
int pw_theorem_T(int ffn);
/* What that MLP makes of u = 1/t in exact arithmetic: t up to T, then a curve that bends towards 2T - 1. */
double pw_theorem_count(double u, int T);
/* How many positions are worth looking at. */
int pw_theorem_positions(int T);

/* Puts the proof's numbers into the drawn ones, p, where tensors [n] say. */
void pw_theorem_write(float *p, const struct pw_param *tensors, int n, const struct pw_config *cfg);

#endif
