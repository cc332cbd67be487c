/* formula_check.c - refuse a formula that a model can't compute, before anything changes: learned parameters,
 * a bias that depends on more than the distance, the stages scale, score and mask, and values that are not
 * finite. */
#include <math.h>

#include "model/expr/formula.h"

/* Fails at the first value that is not finite, with its place. */
static enum pw_code check_finite(const struct pw_expr *x, const struct pw_config *cfg, struct pw_err *err)
{
    struct pw_formula_inputs in = pw_formula_inputs_of(cfg, x);
    enum pw_code code = PW_OK;
    for (int d = cfg->causal ? 0 : 1 - cfg->context;
         code == PW_OK && pw_expr_has(x, PW_STAGE_BIAS) && d < cfg->context; d++)
        for (int h = 0; code == PW_OK && h < cfg->heads; h++) {
            in.vars[PW_VAR_HEAD] = h;
            in.vars[PW_VAR_DISTANCE] = d;
            if (!isfinite((float)pw_formula_value(x, PW_STAGE_BIAS, &in)))
                code = pw_fail(err, PW_EUSER, "expr: bias is not finite at d=%d, head %d", d, h);
        }
    for (int i = 0; code == PW_OK && i < cfg->context; i++) {
        static const enum pw_stage stages[] = {PW_STAGE_EMBED, PW_STAGE_ANGLE, PW_STAGE_GAIN};
        in.vars[PW_VAR_I] = i;
        for (int k = 0; k < 3; k++)
            for (int c = 0; code == PW_OK && pw_expr_has(x, stages[k]) &&
                            c < (k == 0 ? cfg->width : cfg->head_width / 2);
                 c++) {
                in.vars[k == 0 ? PW_VAR_CHANNEL : PW_VAR_PAIR] = c;
                double v = pw_formula_value(x, stages[k], &in);
                if (!isfinite((float)v) || (k == 1 && fabs(v) >= 1e6))
                    code = pw_fail(err, PW_EUSER, "expr: %s is %s at i=%d, %s=%d", pw_stage_names[stages[k]],
                                   isfinite(v) ? "too large (1e6)" : "not finite", i, k == 0 ? "c" : "p", c);
            }
    }
    pw_formula_inputs_fini(&in);
    return code;
}

enum pw_code pw_formula_check(const void *opts, const struct pw_config *cfg, struct pw_err *err)
{
    static const enum pw_stage refused[] = {PW_STAGE_POSITION, PW_STAGE_SCALE, PW_STAGE_SCORE, PW_STAGE_MASK};
    static const struct {
        enum pw_expr_var var;
        const char *name;
    } absent[] = {{PW_VAR_N, "n"}, {PW_VAR_TRAINED, "L"}, {PW_VAR_LAYER, "l"}, {PW_VAR_J, "j"}};
    const struct pw_expr *x = pw_formula_of(opts)->x;
    for (int k = 0; k < 4; k++)
        if (pw_expr_has(x, refused[k]))
            return pw_fail(err, PW_EUSER, "expr: no '%s' yet: a formula has embed, angle, gain and bias",
                           pw_stage_names[refused[k]]);
    for (int s = 0; s < PW_STAGES; s++) {
        if (pw_expr_learns(x, s))
            return pw_fail(err, PW_EUSER, "expr: %s: no learned parameters yet: write numbers",
                           pw_stage_names[s]);
        for (int k = 0; k < 4; k++)
            if (pw_expr_reads(x, s, absent[k].var))
                return pw_fail(err, PW_EUSER, "expr: %s: no '%s' yet", pw_stage_names[s], absent[k].name);
    }
    if (pw_expr_reads(x, PW_STAGE_BIAS, PW_VAR_I))
        return pw_fail(err, PW_EUSER, "expr: bias: no 'i' yet: a bias depends on d and h");
    if ((pw_expr_has(x, PW_STAGE_ANGLE) || pw_expr_has(x, PW_STAGE_GAIN)) && cfg->head_width % 2 != 0)
        return pw_fail(err, PW_EUSER, "expr: %d entries of a head can't form pairs", cfg->head_width);
    return check_finite(x, cfg, err);
}
