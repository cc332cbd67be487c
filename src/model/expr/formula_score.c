/* formula_score.c - the stage `score` of a formula in a model: its program for each layer, and its checks. */
#include <math.h>

#include "model/expr/formula.h"
#include "model/expr/score.h"

/* Scores at which the function is tried. Trained models have scores within a few tens; the checks also look
 * beyond them, because training moves there. */
static const float tried[] = {-1000, -100, -10, -1, -0.1f, 0, 0.1f, 1, 10, 100, 1000};

static enum pw_code program_of(struct pw_score *out, const void *opts, const struct pw_config *cfg, int layer,
                               double from, double step, struct pw_err *err)
{
    struct pw_formula_inputs in = pw_formula_inputs_of(pw_formula_of(opts)->x, opts, cfg, from, step);
    in.vars[PW_VAR_LAYER] = layer;
    enum pw_code code = pw_expr_score(out, in.x, in.vars, from, step, err);
    pw_formula_inputs_fini(&in);
    return code;
}

void pw_formula_score(const void *opts, const struct pw_config *cfg, double from, double step,
                      struct pw_score *out)
{
    int layers = pw_formula_layers(pw_formula_of(opts)->x, cfg, PW_STAGE_SCORE, PW_STAGE_SCORE);
    struct pw_err err;
    for (int l = 0; l < cfg->layers; l++)
        if (l < layers)
            program_of(&out[l], opts, cfg, l, from, step, &err);
        else
            out[l] = out[0];
}

/* Fails at the first score and pair of positions where the value or its derivative is not finite. */
static enum pw_code check_finite(const struct pw_score *x, const struct pw_config *cfg, bool both,
                                 struct pw_err *err)
{
    const int places[] = {0, 1, 2, cfg->context / 2, cfg->context - 1};
    for (int h = 0; h < cfg->heads; h++)
        for (int i = 0; i < 5; i++)
            for (int j = 0; j <= (both ? 4 : i); j++)
                for (size_t k = 0; k < sizeof tried / sizeof *tried; k++) {
                    struct pw_score_pair pair = {places[i], places[j], h};
                    float slope, value = pw_score_value(x, pair, tried[k], &slope);
                    if (pair.query >= cfg->context || pair.key >= cfg->context)
                        continue;
                    if (!isfinite(value) || !isfinite(slope))
                        return pw_fail(err, PW_EUSER,
                                       "expr: score %s not finite at s=%g, i=%d, j=%d, head %d",
                                       isfinite(value) ? "has a derivative that is" : "is", (double)tried[k],
                                       pair.query, pair.key, h);
                }
    return PW_OK;
}

enum pw_code pw_formula_check_score(const void *opts, const struct pw_config *cfg, double from, double step,
                                    struct pw_err *err)
{
    int layers = pw_formula_layers(pw_formula_of(opts)->x, cfg, PW_STAGE_SCORE, PW_STAGE_SCORE);
    struct pw_score x;
    enum pw_code code = PW_OK;
    for (int l = 0; code == PW_OK && l < layers; l++) {
        code = program_of(&x, opts, cfg, l, from, step, err);
        if (code != PW_OK)
            pw_err_at(err, "expr");
        else
            code = check_finite(&x, cfg, pw_formula_both(pw_formula_of(opts)->x, cfg), err);
    }
    return code;
}
