/* score.h - the stages `score` and `gate` of a formula as programs for kernels. */
#ifndef PW_EXPR_SCORE_H
#define PW_EXPR_SCORE_H
#include "kernels/score.h"
#include "model/expr/expr.h"

/* Translates the stage. vars: [PW_VARS]; all but i, j, d, h, s and g have their values, of one layer.
 * Position id k of a query or key means i or j = from + k * step. Fails with one line if the stage has a sum,
 * a learned table or network of a pair's values, or bucket and slopes() of something that is no constant, or
 * if it is too long. Pure; any thread. */
enum pw_code pw_expr_function(struct pw_score *out, const struct pw_expr *x, enum pw_stage stage,
                              const double *vars, double from, double step, struct pw_err *err);

#endif
