/* curve.c - the effect of a formula by distance. It evaluates the register program for each pair instead of
 * filling tables, because a preview needs one query only and no memory of the model. */
#include "model/expr/curve.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/maths.h"
#include "base/rng.h"
#include "model/expr/expr_int.h"

struct curve_pass {
    const struct pw_expr *x;
    const struct pw_config *cfg;
    double vars[PW_VARS], *regs, *values;
    double *row; /* [width] of the query, if rows are added */
    const double *param[PW_EXPR_PARAMS];
};

static void draw_parameters(struct curve_pass *p)
{
    size_t at = 0, all = 0;
    for (int k = 0; k < p->x->n_params; k++)
        all += (size_t)p->x->param[k].size;
    p->values = pw_alloc(all + 1, sizeof *p->values);
    for (int k = 0; k < p->x->n_params; k++) {
        const struct pw_expr_param *param = &p->x->param[k];
        struct pw_rng rng;
        pw_rng_init(&rng, 1, PW_STREAM_INIT, (uint64_t)k);
        p->param[k] = p->values + at;
        for (int i = 0; i < param->size; i++)
            p->values[at++] = param->drawn ? param->value * pw_rng_normal(&rng) : param->value;
    }
}

static double stage_value(struct curve_pass *p, enum pw_stage stage, double absent)
{
    return pw_expr_has(p->x, stage) ? pw_expr_eval(p->x, stage, p->vars, p->param, p->regs) : absent;
}

/* The position whose stage is evaluated next: the stages of one token read i. */
static double value_at(struct curve_pass *p, enum pw_stage stage, int token, double absent)
{
    p->vars[PW_VAR_I] = token;
    p->vars[PW_VAR_N] = token + 1;
    return stage_value(p, stage, absent);
}

static double rotation(struct curve_pass *p, int query, int key)
{
    int pairs = p->cfg->head_width / 2;
    double sum = 0;
    for (int k = 0; k < pairs; k++) {
        p->vars[PW_VAR_PAIR] = k;
        double turn = value_at(p, PW_STAGE_ANGLE, query, 0) - value_at(p, PW_STAGE_ANGLE, key, 0);
        double gain = value_at(p, PW_STAGE_GAIN, query, 1) * value_at(p, PW_STAGE_GAIN, key, 1);
        sum += fabs(turn) < 1e6 ? gain * pw_cos(turn) : NAN;
    }
    return pairs > 0 ? sum / pairs : NAN;
}

static void fill_row(struct curve_pass *p, int query)
{
    p->row = pw_alloc((size_t)p->cfg->width + 1, sizeof *p->row);
    for (int c = 0; c < p->cfg->width; c++) {
        p->vars[PW_VAR_CHANNEL] = c;
        p->row[c] = value_at(p, PW_STAGE_EMBED, query, 0);
    }
}

static double rows_cosine(struct curve_pass *p, int key)
{
    double ab = 0, aa = 0, bb = 0;
    for (int c = 0; c < p->cfg->width; c++) {
        p->vars[PW_VAR_CHANNEL] = c;
        double a = p->row[c], b = value_at(p, PW_STAGE_EMBED, key, 0);
        ab += a * b;
        aa += a * a;
        bb += b * b;
    }
    return ab / sqrt(aa * bb);
}

static double pair_value(struct curve_pass *p, enum pw_formula_curve kind, int h, int query, int key)
{
    p->vars[PW_VAR_HEAD] = h;
    p->vars[PW_VAR_J] = key;
    p->vars[PW_VAR_DISTANCE] = query - key;
    switch (kind) {
    case PW_CURVE_BIAS: return value_at(p, PW_STAGE_BIAS, query, 0);
    case PW_CURVE_ROTATION: return rotation(p, query, key);
    case PW_CURVE_ADDED: return rows_cosine(p, key);
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

/* Do the heads differ? Otherwise the first one's curve is everyone's. */
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
    struct curve_pass p = {.x = x,
                           .cfg = cfg,
                           .vars = {[PW_VAR_TRAINED] = length,
                                    [PW_VAR_CONTEXT] = cfg->context,
                                    [PW_VAR_HEADS] = cfg->heads,
                                    [PW_VAR_LAYERS] = cfg->layers,
                                    [PW_VAR_PAIRS] = cfg->head_width / 2,
                                    [PW_VAR_CHANNELS] = cfg->width,
                                    [PW_VAR_WIDTH] = cfg->head_width}};
    enum pw_formula_curve kind = kind_of(x);
    int query = length - 1, heads = by_head(x, kind) ? cfg->heads : 1;
    p.regs = pw_alloc((size_t)pw_expr_n_nodes(x) + 1, sizeof *p.regs);
    draw_parameters(&p);
    if (kind == PW_CURVE_ADDED)
        fill_row(&p, query);
    for (int h = 0; h < cfg->heads; h++)
        for (int d = 0; d < length; d++) {
            float *to = &out[(size_t)h * (size_t)length + (size_t)d];
            if (h >= heads) {
                *to = out[d];
                continue;
            }
            double value = pair_value(&p, kind, h, query, query - d);
            p.vars[PW_VAR_I] = query;
            *to = stage_value(&p, PW_STAGE_MASK, 1) != 0 ? (float)value : NAN;
        }
    free(p.regs);
    free(p.values);
    free(p.row);
    return kind;
}
