/* curve.h - the effect of a formula by distance, computed without a model: the preview of a formula that is
 * being typed. */
#ifndef PW_EXPR_CURVE_H
#define PW_EXPR_CURVE_H
#include "model/config.h"
#include "model/expr/expr.h"

/* The stage that a curve shows: the first of these that the formula has. */
enum pw_formula_curve {
    PW_CURVE_BIAS,     /* the bias of head h on the key at distance d */
    PW_CURVE_ROTATION, /* the mean over pairs of the cosine of the rotation between query and key, times gains
                        */
    PW_CURVE_ADDED,    /* the cosine of the rows that are added at both positions */
    PW_CURVE_NONE,     /* no stage that acts by distance */
};

/* Evaluates the formula for the last query of a sequence of `length` and each of its keys, in layer 0. Writes
 * out [heads,length], entry (h,d); NaN where the mask hides the key. Learned parameters have their initial
 * values; those that are drawn have one fixed draw. cfg: layers, width, heads, head_width and context are
 * read. The longest trained length L is taken to be `length`. Pure; any thread. */
enum pw_formula_curve pw_expr_curve(const struct pw_expr *x, const struct pw_config *cfg, int length,
                                    float *out);

#endif
