/* formula_mix.c - the stage `mix` of a formula in a model: a bank of functions of the distance, which the
 * backend computes as it computes a learned table, even if nothing in it is learned. So one path of the
 * model reads banks and adds their gradients. */
#include <math.h>

#include "kernels/expr_maths.h"
#include "model/expr/expr_int.h"
#include "model/expr/formula.h"

#define MOST_BANK 2e9 /* most bytes of the banks of all layers */

int pw_formula_mixes(const void *opts)
{
    return pw_expr_mixes(pw_formula_of(opts)->x);
}

/* The distances d of `d < K ? e : 0` or `d <= K ? e : 0` with a number K, beyond which the mix is 0;
 * INFINITY: it is another formula. */
static double end_of(const struct pw_expr *x)
{
    const struct pw_node *root = &x->node[x->root[PW_STAGE_MIX]];
    if (root->op != PW_NODE_SELECT)
        return INFINITY;
    const struct pw_node *test = &x->node[root->arg[0]], *beyond = &x->node[root->arg[2]];
    if (beyond->op != PW_NODE_NUMBER || beyond->value != 0 || test->op != PW_NODE_CALL ||
        (test->index != PW_F_BELOW && test->index != PW_F_AT_MOST))
        return INFINITY;
    const struct pw_node *d = &x->node[test->arg[0]], *end = &x->node[test->arg[1]];
    if (d->op != PW_NODE_VAR || d->index != PW_VAR_DISTANCE || end->op != PW_NODE_NUMBER)
        return INFINITY;
    return test->index == PW_F_BELOW ? ceil(end->value) : floor(end->value) + 1;
}

/* Distances of position ids are whole numbers below the context. */
int pw_formula_mix_end(const struct pw_expr *x, const struct pw_config *cfg)
{
    double end = end_of(x);
    return end >= cfg->context ? cfg->context : end >= 1 ? (int)end : 1;
}

int pw_formula_reach(const void *opts, const struct pw_config *cfg)
{
    return pw_formula_mix_end(pw_formula_of(opts)->x, cfg);
}

/* Does the mix have the same value for every m? */
static bool is_one_function(const struct pw_expr *x)
{
    bool read[PW_EXPR_PARAMS] = {0}, varies = pw_expr_reads(x, PW_STAGE_MIX, PW_VAR_MIX);
    pw_expr_mark_params(x, PW_STAGE_MIX, read);
    for (int k = 0; k < x->n_params; k++)
        varies = varies || (read[k] && x->param[k].axis == PW_AXIS_MIX);
    return !varies;
}

static bool has_network(const struct pw_expr *x)
{
    bool needed[PW_EXPR_NODES], any = false;
    pw_expr_mark(x, x->root[PW_STAGE_MIX], needed);
    for (int k = 0; k <= x->root[PW_STAGE_MIX]; k++)
        any = any || (needed[k] && x->node[k].op == PW_NODE_NETWORK);
    return any;
}

enum pw_code pw_formula_check_mix(const struct pw_expr *x, struct pw_err *err)
{
    if (!pw_expr_has(x, PW_STAGE_MIX))
        return PW_OK;
    if (!pw_expr_by_distance(x, PW_STAGE_MIX) && !pw_expr_reads(x, PW_STAGE_MIX, PW_VAR_N))
        return pw_fail(err, PW_EUSER,
                       "mix: it reads i or j, not d alone: a mix is a function of the distance");
    if (has_network(x))
        return pw_fail(err, PW_EUSER,
                       "mix: no 'mlp': its outputs belong to heads, which share the functions");
    if (x->mixes > 1 && is_one_function(x))
        return pw_fail(err, PW_EUSER,
                       "mix: its %d functions are equal: it must read m, which no other name may hide, or a "
                       "parameter 'per mix'",
                       x->mixes);
    if (pw_expr_has(x, PW_STAGE_GATE))
        return pw_fail(err, PW_EUSER, "mix: not beside a gate: a layer has one projection of its input");
    if (pw_expr_learns(x, PW_STAGE_SCALE)) /* turn_bwd of kernels/backend.h adds what q.k has alone */
        return pw_fail(err, PW_EUSER,
                       "mix: not beside a scale with learned parameters: its gradient would lack the mix");
    return PW_OK;
}

enum pw_code pw_formula_check_bank(struct pw_formula_inputs *in, const void *opts,
                                   const struct pw_config *cfg, struct pw_err *err)
{
    const struct pw_expr *x = in->x;
    int reach = pw_formula_reach(opts, cfg);
    int layers = pw_expr_reads(x, PW_STAGE_MIX, PW_VAR_LAYER) ? cfg->layers : 1;
    double bytes = 4.0 * cfg->layers * x->mixes * reach;
    struct pw_formula_at at = {0};
    if (bytes > MOST_BANK)
        return pw_fail(err, PW_EUSER,
                       "expr: mix: %d functions of %d distances in %d layers need %.1f GB: allowed are 2 GB; "
                       "'d < 1000 ? ... : 0' has 1000 distances",
                       x->mixes, reach, cfg->layers, bytes / 1e9);
    if (pw_formula_within(in, cfg, PW_STAGE_MIX, 0, reach - 1))
        return PW_OK;
    for (; at.layer < layers; at.layer++)
        for (at.part = 0; at.part < x->mixes; at.part++)
            for (at.query = 0; at.query < reach; at.query++)
                if (!isfinite((float)pw_formula_value(in, PW_STAGE_MIX, &at))) {
                    struct pw_str layer = {0};
                    if (layers > 1)
                        pw_str_add(&layer, ", layer %d", at.layer);
                    pw_fail(err, PW_EUSER, "expr: mix is not finite at d=%g, m=%d%s",
                            in->vars[PW_VAR_DISTANCE], at.part, pw_str_text(&layer));
                    pw_str_fini(&layer);
                    return PW_EUSER;
                }
    return PW_OK;
}
