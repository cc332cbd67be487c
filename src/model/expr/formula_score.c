/* formula_score.c - the stages `score` and `gate` of a formula in a model: a program for each layer, and
 * their checks. */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "model/expr/expr_int.h"
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

/* ---- checks */

/* A stage of a layer, with its learned numbers at their first values. */
struct stage {
    enum pw_stage stage;
    struct pw_score x;
    int n_learned;
    float learned[PW_SCORE_MOST_LEARNED]; /* of the head */
};

/* Is the function finite at s, with its derivatives? *value receives it. */
static bool is_finite_at(const struct stage *f, struct pw_score_pair pair, float s, float *value)
{
    float slope;
    bool finite = true;
    for (int k = -1; k < f->n_learned; k++) {
        *value = pw_score_along(&f->x, pair, s, k, &slope);
        finite = finite && isfinite(*value) && isfinite(slope);
    }
    return finite;
}

/* Fails at the first number that is tried where the value or a derivative is not finite. */
static enum pw_code check_pair(const struct stage *f, int query, int key, int h, struct pw_err *err)
{
    bool gate = f->stage == PW_STAGE_GATE;
    struct pw_score_pair pair = {query, key, h, f->learned};
    for (size_t k = 0; k < sizeof tried / sizeof *tried; k++) {
        float value;
        if (is_finite_at(f, pair, tried[k], &value) || (gate && fabsf(tried[k]) > 10))
            continue;
        struct pw_str at = {0};
        pw_str_add(&at, "%s=%g", gate ? "g" : "s", (double)tried[k]);
        if (!gate)
            pw_str_add(&at, ", i=%d, j=%d", query, key);
        pw_fail(err, PW_EUSER, "expr: %s %s not finite at %s, head %d", pw_stage_names[f->stage],
                isfinite(value) ? "has a derivative that is" : "is", pw_str_text(&at), h);
        pw_str_fini(&at);
        return PW_EUSER;
    }
    return PW_OK;
}

static enum pw_code check_head(const struct stage *f, const struct pw_config *cfg, int h, bool both,
                               struct pw_err *err)
{
    const int places[] = {0, 1, 2, cfg->context / 2, cfg->context - 1};
    enum pw_code code = PW_OK;
    for (int i = 0; i < (f->stage == PW_STAGE_GATE ? 1 : 5); i++)
        for (int j = 0; j <= (both ? 4 : i) && code == PW_OK; j++)
            if (places[i] < cfg->context && places[j] < cfg->context)
                code = check_pair(f, places[i], places[j], h, err);
    return code;
}

/* Sets the learned numbers of a layer and head. */
static void set_learned(struct stage *f, const void *opts, const struct pw_config *cfg, int sign, int layer,
                        int head)
{
    const double *param[PW_EXPR_PARAMS];
    const struct pw_expr *x = pw_formula_of(opts)->x;
    int node[PW_EXPR_NODES];
    f->n_learned = f->stage == PW_STAGE_SCORE ? pw_expr_numbers(x, node) : 0;
    if (f->n_learned == 0)
        return;
    struct pw_formula_inputs in = pw_formula_inputs_of(x, opts, cfg, 0, 1);
    double *first = pw_formula_first(x, pw_formula_sign, &sign, param),
           *regs = pw_alloc((size_t)x->n, sizeof *regs);
    in.vars[PW_VAR_LAYER] = layer;
    in.vars[PW_VAR_HEAD] = head;
    pw_expr_eval(x, PW_STAGE_SCORE, in.vars, param, regs);
    for (int k = 0; k < f->n_learned; k++)
        f->learned[k] = (float)regs[node[k]];
    pw_formula_inputs_fini(&in);
    free(regs);
    free(first);
}

static enum pw_code check_stage(enum pw_stage stage, const void *opts, const struct pw_config *cfg,
                                double from, double step, struct pw_err *err)
{
    const struct pw_expr *formula = pw_formula_of(opts)->x;
    int layers = pw_expr_has(formula, stage) ? pw_formula_layers(formula, cfg, stage, stage) : 0;
    bool both = stage == PW_STAGE_SCORE && pw_formula_both(formula, cfg);
    struct stage f = {.stage = stage};
    for (int l = 0; l < layers; l++) {
        enum pw_code code = program_of(&f.x, stage, opts, cfg, l, from, step, err);
        if (code != PW_OK) {
            pw_err_at(err, "expr");
            return code;
        }
        for (int sign = 1; sign >= (pw_expr_learns(formula, stage) ? -1 : 1); sign -= 2)
            for (int h = 0; h < cfg->heads && code == PW_OK; h++) {
                set_learned(&f, opts, cfg, sign, l, h);
                code = check_head(&f, cfg, h, both, err);
            }
        if (code != PW_OK)
            return code;
    }
    return PW_OK;
}

enum pw_code pw_formula_check_functions(const void *opts, const struct pw_config *cfg, double from,
                                        double step, struct pw_err *err)
{
    enum pw_code code = check_stage(PW_STAGE_SCORE, opts, cfg, from, step, err);
    return code == PW_OK ? check_stage(PW_STAGE_GATE, opts, cfg, from, step, err) : code;
}
