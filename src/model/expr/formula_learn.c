/* formula_learn.c - the learned parameters of a formula: their tensors, and the bias that the backend
 * computes from them (expr_fwd, expr_bwd of kernels/backend.h). */
#include <stdlib.h>

#include "base/alloc.h"
#include "kernels/expr_code.h"
#include "model/expr/expr_int.h"
#include "model/expr/formula.h"

_Static_assert((int)PW_EXPR_PARAMS + 2 <= (int)PW_PE_PARAMS, "the learned parameters of a formula");

/* A number has the shape [1] or [n], n the entries along its axis, a table [size] or [n,size]; a weight of a
 * network is a matrix. The projection of a gate or a mix, or the table of contextual positions, comes last.
 */
int pw_formula_params(const void *opts, const struct pw_config *cfg, struct pw_pe_param *out)
{
    const struct pw_expr *x = pw_formula_of(opts)->x;
    for (int k = 0; k < x->n_params; k++) {
        const struct pw_expr_param *q = &x->param[k];
        bool axis = q->axis != PW_AXIS_NONE, matrix = axis && (q->size > 1 || q->weight);
        int n = pw_axis_size(x, q->axis, cfg);
        out[k] = (struct pw_pe_param){.name = q->name,
                                      .rows = matrix      ? n
                                              : q->weight ? q->size
                                                          : 0,
                                      .cols = matrix      ? q->size
                                              : axis      ? n
                                              : q->weight ? 1
                                                          : q->size,
                                      .std = q->drawn ? (float)q->value : 0,
                                      .value = q->drawn ? 0 : (float)q->value,
                                      .decay = q->weight,
                                      .layers = q->per_layer ? cfg->layers : 0};
    }
    if (pw_expr_has(x, PW_STAGE_MIX)) {
        out[x->n_params] = pw_pe_mix_param(cfg, x->mixes);
        return x->n_params + 1;
    }
    if (x->scan == PW_SCAN_CONTEXT) {
        out[x->n_params] = pw_pe_context_param(cfg, x->scan_rows);
        return x->n_params + 1;
    }
    if (!pw_expr_has(x, PW_STAGE_GATE))
        return x->n_params;
    pw_pe_gate_params(out + x->n_params, cfg, 0);
    return x->n_params + 2;
}

int pw_pe_formula_params(const struct pw_pe_use_opts *use, const struct pw_config *cfg,
                         struct pw_pe_formula_param out[PW_PE_PARAMS])
{
    if (use->pe->print == NULL || use->pe->params == NULL)
        return 0;
    const struct pw_expr *x = pw_formula_of(use->o.bytes)->x;
    for (int k = 0; k < x->n_params; k++) {
        const struct pw_expr_param *q = &x->param[k];
        bool heads = q->axis == PW_AXIS_HEAD;
        out[k] = (struct pw_pe_formula_param){.name = q->name,
                                              .layers = q->per_layer ? cfg->layers : 1,
                                              .heads = heads ? cfg->heads : 1,
                                              .size = q->size * (heads ? 1 : pw_axis_size(x, q->axis, cfg)),
                                              .channels = q->axis == PW_AXIS_CHANNEL,
                                              .pairs = q->axis == PW_AXIS_PAIR,
                                              .mixes = q->axis == PW_AXIS_MIX};
    }
    return x->n_params;
}

static struct pw_expr_use use_of(const struct pw_pe_pass *x, int layer)
{
    bool bank = x->which == PW_TABLE_BANK, score = x->which == PW_TABLE_SCORE,
         heads = bank || score || x->which == PW_TABLE_GAIN, columns = !heads && x->which != PW_TABLE_BIAS;
    return (struct pw_expr_use){.code = x->code,
                                .there = x->there,
                                /* positions of a bank are distances, those of a score's numbers count them */
                                .from = bank || score ? 0 : x->use->tune.offset,
                                .step = score ? 1 : x->use->tune.stretch,
                                .layer = layer,
                                .causal = heads || columns ||
                                          !pw_formula_both(pw_formula_of(x->use->o.bytes)->x, x->cfg),
                                .head = heads ? x->P : columns,
                                .place = columns ? x->code->heads : heads};
}

void pw_formula_fill(const struct pw_pe_pass *x, float *table, const float *param)
{
    for (int l = 0; l < x->layers; l++) {
        struct pw_expr_use use = use_of(x, l);
        x->ops->expr_fwd(x->c, table + (size_t)l * x->floats, param, &use, x->code->heads, x->P);
    }
}

void pw_formula_fill_bwd(const struct pw_pe_pass *x, float *d_param, float *d_table, const float *param)
{
    int layers = x->which == PW_TABLE_ADDED ? 1 : x->cfg->layers;
    if (x->which == PW_TABLE_BANK && !pw_expr_learns(pw_formula_of(x->use->o.bytes)->x, PW_STAGE_MIX))
        return; /* without learned parameters there is no gradient, for which expr_bwd has no place */
    for (int l = 0; l < x->layers; l++) {
        struct pw_expr_use use = use_of(x, l);
        x->ops->expr_bwd(x->c, d_param, d_table + (size_t)l * x->floats, param, &use,
                         x->layers > 1 ? 1 : layers, x->code->heads, x->P);
    }
}

/* ---- checks */

static enum pw_code check_params(const struct pw_expr *x, struct pw_err *err)
{
    bool used[PW_EXPR_PARAMS] = {0};
    for (int s = 0; s < PW_STAGES; s++)
        pw_expr_mark_params(x, (enum pw_stage)s, used);
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

double pw_formula_sign(void *arg, int param, int entry)
{
    (void)param;
    (void)entry;
    return *(const int *)arg;
}

enum pw_code pw_formula_check_learned(const void *opts, const struct pw_config *cfg, struct pw_err *err)
{
    const struct pw_expr *x = pw_formula_of(opts)->x;
    struct pw_expr *flat;
    enum pw_code code = check_params(x, err);
    if (code == PW_OK && pw_expr_learns(x, PW_STAGE_BIAS) &&
        (pw_expr_reads(x, PW_STAGE_BIAS, PW_VAR_N) || pw_expr_reads(x, PW_STAGE_MASK, PW_VAR_N)))
        return pw_fail(err, PW_EUSER, "expr: bias: no 'n' with learned parameters: use i + 1");
    for (int k = 0; k < PW_PE_TABLES && code == PW_OK; k++)
        if (pw_pe_computes(&pw_formula_of(opts)->pe, (enum pw_pe_table)k)) {
            code = pw_formula_flat(opts, cfg, (enum pw_pe_table)k, &flat, err);
            pw_expr_free(flat);
        }
    return code;
}
