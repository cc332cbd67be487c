/* print.h - a formula in the languages of other programs: PyTorch with FlexAttention, and LaTeX.
 *
 * Both are generated from the formula's nodes, so they match the computation of pewter. Names that the
 * formula gives to expressions stay names. All functions are pure; any thread may call them. */
#ifndef PW_EXPR_PRINT_H
#define PW_EXPR_PRINT_H
#include "model/expr/expr.h"
#include "model/pe.h"

/* A formula in a model. */
struct pw_expr_source {
    const struct pw_expr *x;
    const struct pw_config *cfg;
    struct pw_pe_tune tune;
    int layer;                 /* the value of l, and the layer of parameters per layer */
    int trained;               /* the value of L: longest trained length */
    const float *const *param; /* [n_params] values of parameter k in this layer: [H or 1, size] row-major */
};

/* Append a Python file: functions of the stages, and score_mod and mask_mod for FlexAttention if the formula
 * has such a form. PW_EUSER: the formula has no such text; one line says why. */
enum pw_code pw_expr_print_torch(const struct pw_expr_source *src, struct pw_str *out, struct pw_err *err);
/* Append LaTeX: an equation for each named expression and stage, and the trained values as comments. */
void pw_expr_print_latex(const struct pw_expr_source *src, struct pw_str *out);

/* Has the formula a FlexAttention score_mod? A mask_mod alone needs none. */
bool pw_expr_has_score_mod(const struct pw_expr *x);
/* Does it need code outside of FlexAttention, which sees finished scores only? */
bool pw_expr_needs_module(const struct pw_expr *x);

#endif
