/* curve.c - the effect of a formula by distance. It evaluates the register program for each pair instead of
 * filling tables, because a preview needs one query only and no memory of the model. */
#include "model/expr/curve.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/maths.h"
#include "base/rng.h"
#include "model/expr/expr_int.h"
#include "model/expr/formula.h"

struct curve_pass {
    struct pw_formula_inputs in;
    const struct pw_config *cfg;
    int length;  /* n of a rotation */
    double *row; /* [width] of the query, if rows are added */
};

/* Entry `entry` of parameter `param` in units of its deviation. arg: the generator of random numbers. */
static double draw_entry(void *arg, int param, int entry)
{
    if (entry == 0)
        pw_rng_init(arg, 1, PW_STREAM_INIT, (uint64_t)param);
    return pw_rng_normal(arg);
}

/* The value of a stage of one token. */
static double value_at(struct curve_pass *p, enum pw_stage stage, int token, int part, bool of_key,
                       double absent)
{
    const struct pw_formula_at at = {.query = token, .part = part, .length = p->length, .of_key = of_key};
    return pw_expr_has(p->in.x, stage) ? pw_formula_value(&p->in, stage, &at) : absent;
}

static double rotation(struct curve_pass *p, int query, int key)
{
    int pairs = pw_expr_pairs(p->in.x, p->cfg);
    double sum = 0;
    for (int k = 0; k < pairs; k++) {
        double turn =
            value_at(p, PW_STAGE_ANGLE, query, k, false, 0) - value_at(p, PW_STAGE_ANGLE, key, k, true, 0);
        double gain =
            value_at(p, PW_STAGE_GAIN, query, k, false, 1) * value_at(p, PW_STAGE_GAIN, key, k, true, 1);
        sum += fabs(turn) < PW_MOST_ANGLE ? gain * pw_cos(turn) : NAN;
    }
    return pairs > 0 ? sum / pairs : NAN;
}

static void fill_row(struct curve_pass *p, int query)
{
    p->row = pw_alloc((size_t)p->cfg->width + 1, sizeof *p->row);
    for (int c = 0; c < p->cfg->width; c++)
        p->row[c] = value_at(p, PW_STAGE_EMBED, query, c, false, 0);
}

static double rows_cosine(struct curve_pass *p, int key)
{
    double ab = 0, aa = 0, bb = 0;
    for (int c = 0; c < p->cfg->width; c++) {
        double a = p->row[c], b = value_at(p, PW_STAGE_EMBED, key, c, false, 0);
        ab += a * b;
        aa += a * a;
        bb += b * b;
    }
    return ab / sqrt(aa * bb);
}

/* NaN if the mask hides the key. */
static double pair_value(struct curve_pass *p, enum pw_formula_curve kind, const struct pw_formula_at *at)
{
    if (pw_expr_has(p->in.x, PW_STAGE_MASK) && pw_formula_value(&p->in, PW_STAGE_MASK, at) == 0)
        return NAN;
    switch (kind) {
    case PW_CURVE_BIAS: return pw_formula_value(&p->in, PW_STAGE_BIAS, at);
    case PW_CURVE_ROTATION: return rotation(p, at->query, at->key);
    case PW_CURVE_ADDED: return rows_cosine(p, at->key);
    case PW_CURVE_NONE: break;
    }
    return 0;
}

static enum pw_formula_curve kind_of(const struct pw_expr *x)
{
    return pw_expr_has(x, PW_STAGE_BIAS)                                     ? PW_CURVE_BIAS
           : pw_expr_has(x, PW_STAGE_ANGLE) || pw_expr_has(x, PW_STAGE_GAIN) ? PW_CURVE_ROTATION
           : pw_expr_has(x, PW_STAGE_EMBED)                                  ? PW_CURVE_ADDED
                                                                             : PW_CURVE_NONE;
}

/* Do the heads differ? Otherwise all have the curve of head 0. */
static bool by_head(const struct pw_expr *x, enum pw_formula_curve kind)
{
    static const enum pw_stage stages[] = {PW_STAGE_ANGLE, PW_STAGE_GAIN, PW_STAGE_EMBED, PW_STAGE_MASK};
    bool any = kind == PW_CURVE_BIAS;
    for (int k = 0; k < 4; k++)
        any = any || pw_expr_reads(x, stages[k], PW_VAR_HEAD);
    return any;
}

enum pw_formula_curve pw_expr_curve(const struct pw_expr *x, const struct pw_config *cfg, int length,
                                    float *out)
{
    struct curve_pass p = {.in = pw_formula_inputs_of(x, NULL, cfg, 0, 1), .cfg = cfg, .length = length};
    const double *param[PW_EXPR_PARAMS];
    struct pw_rng rng;
    double *first = pw_formula_first(x, draw_entry, &rng, param);
    enum pw_formula_curve kind = kind_of(x);
    int query = length - 1, heads = by_head(x, kind) ? cfg->heads : 1;
    p.in.param = param;
    p.in.vars[PW_VAR_TRAINED] = length;
    if (kind == PW_CURVE_ADDED)
        fill_row(&p, query);
    for (int h = 0; h < cfg->heads; h++)
        for (int d = 0; d < length; d++, out++) {
            const struct pw_formula_at at = {.head = h, .query = query, .key = query - d};
            *out = h < heads ? (float)pair_value(&p, kind, &at) : out[-length];
        }
    pw_formula_inputs_fini(&p.in);
    free(first);
    free(p.row);
    return kind;
}
