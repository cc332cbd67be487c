/* formula_score.c - the stages `score` and `gate` of a formula in a model: a program for each layer, and
 * their checks. */
#include <math.h>

#include "model/expr/formula.h"
#include "model/expr/score.h"

/* Scores at which the function is tried, and projections up to 10: exp(g) has no value at 100.
 * Trained models have both within a few tens; the checks also look beyond them, because training moves there.
 */
static const float tried[] = {-1000, -100, -10, -1, -0.1f, 0, 0.1f, 1, 10, 100, 1000};

static enum pw_code program_of(struct pw_score *out, enum pw_stage stage, const void *opts,
                               const struct pw_config *cfg, int layer, double from, double step,
                               struct pw_err *err)
{
    struct pw_formula_inputs in = pw_formula_inputs_of(pw_formula_of(opts)->x, opts, cfg, from, step);
    in.vars[PW_VAR_LAYER] = layer;
    enum pw_code code = pw_expr_function(out, in.x, stage, in.vars, from, step, err);
    pw_formula_inputs_fini(&in);
    return code;
}

static void write_programs(enum pw_stage stage, const void *opts, const struct pw_config *cfg, double from,
                           double step, struct pw_score *out)
{
    int layers = pw_formula_layers(pw_formula_of(opts)->x, cfg, stage, stage);
    struct pw_err err;
    for (int l = 0; l < cfg->layers; l++)
        if (l < layers)
            program_of(&out[l], stage, opts, cfg, l, from, step, &err);
        else
            out[l] = out[0];
}

void pw_formula_score(const void *opts, const struct pw_config *cfg, double from, double step,
                      struct pw_score *out)
{
    write_programs(PW_STAGE_SCORE, opts, cfg, from, step, out);
}

void pw_formula_gate(const void *opts, const struct pw_config *cfg, double from, double step,
                     struct pw_score *out)
{
    write_programs(PW_STAGE_GATE, opts, cfg, from, step, out);
}

/* Fails at the first number that is tried where the value or its derivative is not finite. */
static enum pw_code check_pair(const struct pw_score *x, enum pw_stage stage, struct pw_score_pair pair,
                               struct pw_err *err)
{
    bool gate = stage == PW_STAGE_GATE;
    for (size_t k = 0; k < sizeof tried / sizeof *tried; k++) {
        float slope, value = pw_score_value(x, pair, tried[k], &slope);
        if ((isfinite(value) && isfinite(slope)) || (gate && fabsf(tried[k]) > 10))
            continue;
        struct pw_str at = {0};
        pw_str_add(&at, "%s=%g", gate ? "g" : "s", (double)tried[k]);
        if (!gate)
            pw_str_add(&at, ", i=%d, j=%d", pair.query, pair.key);
        pw_fail(err, PW_EUSER, "expr: %s %s not finite at %s, head %d", pw_stage_names[stage],
                isfinite(value) ? "has a derivative that is" : "is", pw_str_text(&at), pair.h);
        pw_str_fini(&at);
        return PW_EUSER;
    }
    return PW_OK;
}

static enum pw_code check_finite(const struct pw_score *x, enum pw_stage stage, const struct pw_config *cfg,
                                 bool both, struct pw_err *err)
{
    const int places[] = {0, 1, 2, cfg->context / 2, cfg->context - 1};
    enum pw_code code = PW_OK;
    for (int h = 0; h < cfg->heads; h++)
        for (int i = 0; i < (stage == PW_STAGE_GATE ? 1 : 5); i++)
            for (int j = 0; j <= (both ? 4 : i) && code == PW_OK; j++)
                if (places[i] < cfg->context && places[j] < cfg->context)
                    code = check_pair(x, stage, (struct pw_score_pair){places[i], places[j], h}, err);
    return code;
}

static enum pw_code check_stage(enum pw_stage stage, const void *opts, const struct pw_config *cfg,
                                double from, double step, struct pw_err *err)
{
    const struct pw_expr *formula = pw_formula_of(opts)->x;
    int layers = pw_expr_has(formula, stage) ? pw_formula_layers(formula, cfg, stage, stage) : 0;
    bool both = stage == PW_STAGE_SCORE && pw_formula_both(formula, cfg);
    struct pw_score x;
    enum pw_code code = PW_OK;
    for (int l = 0; code == PW_OK && l < layers; l++) {
        code = program_of(&x, stage, opts, cfg, l, from, step, err);
        if (code != PW_OK)
            pw_err_at(err, "expr");
        else
            code = check_finite(&x, stage, cfg, both, err);
    }
    return code;
}

enum pw_code pw_formula_check_functions(const void *opts, const struct pw_config *cfg, double from,
                                        double step, struct pw_err *err)
{
    enum pw_code code = check_stage(PW_STAGE_SCORE, opts, cfg, from, step, err);
    return code == PW_OK ? check_stage(PW_STAGE_GATE, opts, cfg, from, step, err) : code;
}
