/* formula_learn.c - the learned parameters of a formula: their tensors, and the bias that the backend
 * computes from them (expr_fwd, expr_bwd of kernels/backend.h). */
#include <stdlib.h>

#include "base/alloc.h"
#include "kernels/expr_code.h"
#include "model/expr/expr_int.h"
#include "model/expr/formula.h"

_Static_assert((int)PW_EXPR_PARAMS <= (int)PW_PE_PARAMS, "the learned parameters of a formula");

/* A number has the shape [1] or [H], a table [size] or [H,size]; a weight of a network is a matrix. */
int pw_formula_params(const void *opts, const struct pw_config *cfg, struct pw_pe_param *out)
{
    const struct pw_expr *x = pw_formula_of(opts)->x;
    for (int k = 0; k < x->n_params; k++) {
        const struct pw_expr_param *q = &x->param[k];
        bool matrix = q->per_head && (q->size > 1 || q->weight);
        out[k] = (struct pw_pe_param){.name = q->name,
                                      .rows = matrix      ? cfg->heads
                                              : q->weight ? q->size
                                                          : 0,
                                      .cols = matrix        ? q->size
                                              : q->per_head ? cfg->heads
                                              : q->weight   ? 1
                                                            : q->size,
                                      .std = q->drawn ? (float)q->value : 0,
                                      .value = q->drawn ? 0 : (float)q->value,
                                      .decay = q->weight,
                                      .layers = q->per_layer ? cfg->layers : 0};
    }
    return x->n_params;
}

static struct pw_expr_use use_of(const struct pw_pe_pass *x, int layer)
{
    return (struct pw_expr_use){.code = x->code,
                                .there = x->there,
                                .from = x->use->tune.offset,
                                .step = x->use->tune.stretch,
                                .layer = layer,
                                .causal = !pw_formula_both(pw_formula_of(x->use->o.bytes)->x, x->cfg)};
}

static bool by_layer(const struct pw_pe_pass *x)
{
    return x->use->pe->by_layer & PW_PE_BIASES;
}

void pw_formula_fill(const struct pw_pe_pass *x, float *bias, const float *param)
{
    for (int l = 0; l < (by_layer(x) ? x->cfg->layers : 1); l++) {
        struct pw_expr_use use = use_of(x, l);
        x->ops->expr_fwd(x->c, bias + (size_t)l * x->bias_layer, param, &use, x->cfg->heads, x->P);
    }
}

void pw_formula_fill_bwd(const struct pw_pe_pass *x, float *d_param, float *d_bias, const float *param)
{
    int H = x->cfg->heads, L = x->cfg->layers;
    size_t layer = (size_t)H * pw_bias_entries(x->code->dense, x->P);
    for (int l = 0; l < (by_layer(x) ? L : 1); l++) {
        struct pw_expr_use use = use_of(x, l);
        x->ops->expr_bwd(x->c, d_param, d_bias + (size_t)l * layer, param, &use, by_layer(x) ? 1 : L, H,
                         x->P);
    }
}

/* ---- checks */

static void mark_used(const struct pw_expr *x, int root, bool *used)
{
    bool needed[PW_EXPR_NODES];
    pw_expr_mark(x, root, needed);
    for (int k = 0; k <= root; k++) {
        const struct pw_node *node = &x->node[k];
        bool entry = node->op == PW_NODE_PARAM || node->op == PW_NODE_ENTRY || node->op == PW_NODE_BETWEEN;
        int n = entry ? 1 : node->op == PW_NODE_NETWORK ? PW_NETWORK_PARAMS : 0;
        for (int i = 0; needed[k] && i < n; i++)
            used[node->index + i] = true;
    }
}

static enum pw_code check_params(const struct pw_expr *x, struct pw_err *err)
{
    bool used[PW_EXPR_PARAMS] = {0};
    for (int s = 0; s < PW_STAGES; s++)
        if (x->root[s] >= 0)
            mark_used(x, x->root[s], used);
    for (int k = 0; k < x->n_params; k++)
        if (!used[k])
            return pw_fail(err, PW_EUSER, "expr: parameter '%s': nothing uses it", x->param[k].name);
    return PW_OK;
}

double *pw_formula_first(const struct pw_expr *x, double (*draw)(void *arg, int param, int entry), void *arg,
                         const double **param)
{
    size_t all = 0;
    for (int k = 0; k < x->n_params; k++)
        all += (size_t)x->param[k].size;
    double *values = pw_alloc(all + 1, sizeof *values), *at = values;
    for (int k = 0; k < x->n_params; k++) {
        const struct pw_expr_param *q = &x->param[k];
        param[k] = at;
        for (int e = 0; e < q->size; e++)
            *at++ = q->drawn ? q->value * draw(arg, k, e) : q->value;
    }
    return values;
}

enum pw_code pw_formula_check_learned(const void *opts, const struct pw_config *cfg, struct pw_err *err)
{
    const struct pw_expr *x = pw_formula_of(opts)->x;
    struct pw_expr *flat;
    enum pw_code code = check_params(x, err);
    if (code != PW_OK || !pw_expr_learns(x, PW_STAGE_BIAS))
        return code;
    if (pw_expr_reads(x, PW_STAGE_BIAS, PW_VAR_N) || pw_expr_reads(x, PW_STAGE_MASK, PW_VAR_N))
        return pw_fail(err, PW_EUSER, "expr: bias: no 'n' with learned parameters: use i + 1");
    code = pw_formula_flat(opts, cfg, &flat, err);
    pw_expr_free(flat);
    return code;
}
