/* formula_scan.c - the setting `scan` of a formula: how heads read their keys. The engine of a scan
 * (kernels/backend.h) reads products of queries and keys without bias, terms, mix or function. Contextual
 * positions are shown from products without a rotation, so none can be beside them. */
#include "model/expr/expr_int.h"
#include "model/expr/formula.h"

int pw_formula_scan_rows(const void *opts)
{
    return pw_formula_of(opts)->x->scan_rows;
}

enum pw_code pw_formula_check_scan(const struct pw_expr *x, struct pw_err *err)
{
    static const enum pw_stage excluded[] = {PW_STAGE_BIAS, PW_STAGE_MASK,  PW_STAGE_SCORE, PW_STAGE_GATE,
                                             PW_STAGE_MIX,  PW_STAGE_ANGLE, PW_STAGE_GAIN};
    int n = x->scan == 0 ? 0 : x->scan == PW_SCAN_CONTEXT ? 7 : 5;
    for (int k = 0; k < n; k++)
        if (pw_expr_has(x, excluded[k]))
            return pw_fail(err, PW_EUSER, "scan: not beside '%s': allowed are embed, scale%s and position",
                           pw_stage_names[excluded[k]], x->scan == PW_SCAN_STICK ? ", angle, gain" : "");
    if (n > 0 && pw_expr_by_data(x))
        return pw_fail(err, PW_EUSER, "scan: not beside %s: it reads keys in the order of their rows",
                       pw_expr_positions(x));
    return PW_OK;
}
