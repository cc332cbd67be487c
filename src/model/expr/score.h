/* score.h - the stage `score` of a formula as a program for the attention kernels. */
#ifndef PW_EXPR_SCORE_H
#define PW_EXPR_SCORE_H
#include "kernels/score.h"
#include "model/expr/expr.h"

/* Translates the stage. vars: [PW_VARS]; all but i, j, d, h and s have their values, of one layer. Position
 * id k of a query or key means i or j = from + k * step. Fails with one line if the stage reads a learned
 * parameter, a sum, or bucket and slopes() of something that is no constant, or if it is too long. Pure; any
 * thread. */
enum pw_code pw_expr_score(struct pw_score *out, const struct pw_expr *x, const double *vars, double from,
                           double step, struct pw_err *err);

#endif
