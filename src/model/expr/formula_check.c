/* formula_check.c - refuse a formula that a model can't compute, before anything changes. Causes: learned
 * parameters that a stage can't read, values that are not finite, tables that are too large, and a mask that
 * leaves a query without a key. */
#include <math.h>
#include <stdlib.h>

#include "model/expr/expr_int.h"
#include "model/expr/formula.h"

#define MOST_DENSE 2e9 /* most bytes of a bias by both positions */

/* ---- values */

/* Writes the ranges of the variables [PW_VARS] for positions from + r * step, first <= r <= last. */
static void ranges_of(const struct pw_formula_inputs *in, const struct pw_config *cfg, int first, int last,
                      struct pw_bounds *out)
{
    double low = in->from + first * in->step, high = in->from + last * in->step, far = last * in->step;
    for (int v = 0; v < PW_VARS; v++)
        out[v] = (struct pw_bounds){in->vars[v], in->vars[v]};
    out[PW_VAR_I] = out[PW_VAR_J] = (struct pw_bounds){low, high};
    out[PW_VAR_J].lo = in->from;
    out[PW_VAR_DISTANCE] = (struct pw_bounds){pw_formula_both(in->x, cfg) ? -far : 0, far};
    out[PW_VAR_N] = (struct pw_bounds){first + 1, last + 1};
    out[PW_VAR_HEAD] = (struct pw_bounds){0, cfg->heads - 1};
    out[PW_VAR_LAYER] = (struct pw_bounds){0, cfg->layers - 1};
    out[PW_VAR_PAIR] = (struct pw_bounds){0, pw_expr_pairs(in->x, cfg) - 1};
    out[PW_VAR_CHANNEL] = (struct pw_bounds){0, cfg->width - 1};
    out[PW_VAR_MIX] = (struct pw_bounds){0, in->x->mixes - 1};
    out[PW_VAR_KEY] = (struct pw_bounds){0, 1};
    out[PW_VAR_SCORE] = out[PW_VAR_GATE] = (struct pw_bounds){NAN, NAN};
}

bool pw_formula_within(const struct pw_formula_inputs *in, const struct pw_config *cfg, enum pw_stage stage,
                       int first, int last)
{
    struct pw_bounds vars[PW_VARS];
    ranges_of(in, cfg, first, last, vars);
    return pw_expr_within(in->x, stage, vars, stage == PW_STAGE_ANGLE ? 0.99e6 : 3e38);
}

/* Appends the places that a stage reads, as in "i=7, j=3, head 2, layer 1". */
static void put_place(struct pw_str *out, const struct pw_expr *x, enum pw_stage stage, bool dense,
                      const struct pw_formula_at *at, const double *vars)
{
    if (stage != PW_STAGE_BIAS && stage != PW_STAGE_MASK)
        pw_str_add(out, "i=%g", vars[PW_VAR_I]);
    else if (dense)
        pw_str_add(out, "i=%g, j=%g, head %d", vars[PW_VAR_I], vars[PW_VAR_J], at->head);
    else
        pw_str_add(out, "d=%g, head %d", vars[PW_VAR_DISTANCE], at->head);
    if (stage == PW_STAGE_EMBED || stage == PW_STAGE_ANGLE || stage == PW_STAGE_GAIN)
        pw_str_add(out, ", %s=%d", stage == PW_STAGE_EMBED ? "c" : "p", at->part);
    if (stage == PW_STAGE_SCALE && pw_expr_reads(x, stage, PW_VAR_HEAD))
        pw_str_add(out, ", head %d", at->head);
    if (pw_expr_reads(x, stage, PW_VAR_LAYER))
        pw_str_add(out, ", layer %d", at->layer);
}

/* Fails if the value at a place can't be an entry of a table. */
static enum pw_code check_value(struct pw_formula_inputs *in, enum pw_stage stage, bool dense,
                                const struct pw_formula_at *at, double *value, struct pw_err *err)
{
    double v = *value = pw_formula_value(in, stage, at);
    if (isfinite((float)v) && (stage != PW_STAGE_ANGLE || fabs(v) < 1e6))
        return PW_OK;
    struct pw_str place = {0};
    put_place(&place, in->x, stage, dense, at, in->vars);
    pw_fail(err, PW_EUSER, "expr: %s is %s at %s", pw_stage_names[stage],
            !isfinite(v)              ? "not finite"
            : stage == PW_STAGE_ANGLE ? "too large (1e6)"
                                      : "too large (3.4e38)",
            pw_str_text(&place));
    pw_str_fini(&place);
    return PW_EUSER;
}

/* Checks mask and bias of one pair. *seen: the query sees the key. A hidden pair needs no bias. */
static enum pw_code check_pair(struct pw_formula_inputs *in, bool dense, const struct pw_formula_at *at,
                               bool *seen, struct pw_err *err)
{
    double value = 1;
    enum pw_code code = PW_OK;
    if (pw_expr_has(in->x, PW_STAGE_MASK))
        code = check_value(in, PW_STAGE_MASK, dense, at, &value, err);
    *seen = value != 0;
    if (code == PW_OK && *seen && pw_expr_has(in->x, PW_STAGE_BIAS))
        code = check_value(in, PW_STAGE_BIAS, dense, at, &value, err);
    return code;
}

static enum pw_code no_key(const struct pw_formula_inputs *in, const struct pw_formula_at *at,
                           struct pw_err *err)
{
    return pw_fail(err, PW_EUSER, "expr: mask: query i=%g sees no key (layer %d, head %d)",
                   in->from + at->query * in->step, at->layer, at->head);
}

/* A query must see one of the keys up to itself: it can be the last of its sequence. By distance, query 0
 * sees no key but its own. If positions are read from tokens, only the query's own position is certain to
 * occur before it. */
static enum pw_code check_head(struct pw_formula_inputs *in, const struct pw_config *cfg, bool dense,
                               struct pw_formula_at at, struct pw_err *err)
{
    enum pw_code code = PW_OK;
    bool seen;
    bool both = pw_formula_both(in->x, cfg), data = pw_expr_by_data(in->x);
    for (int i = 0; dense && code == PW_OK && i < cfg->context; i++) {
        bool any = false;
        at.query = i;
        for (at.key = 0; code == PW_OK && at.key < (both ? cfg->context : i + 1); at.key++) {
            code = check_pair(in, dense, &at, &seen, err);
            any |= seen && (data ? at.key == i : at.key <= i);
        }
        if (code == PW_OK && !any)
            code = no_key(in, &at, err);
    }
    for (int d = both ? 1 - cfg->context : 0; !dense && code == PW_OK && d < cfg->context; d++) {
        at.query = d > 0 ? d : 0;
        at.key = d > 0 ? 0 : -d;
        code = check_pair(in, dense, &at, &seen, err);
        if (code == PW_OK && d == 0 && !seen)
            code = no_key(in, &at, err);
    }
    return code;
}

/* The same for a bias and a mask that are finite everywhere: most queries see a key near them. */
static enum pw_code check_seen(struct pw_formula_inputs *in, const struct pw_config *cfg, bool dense,
                               struct pw_formula_at at, struct pw_err *err)
{
    for (at.query = 0; at.query < (dense ? cfg->context : 1); at.query++) {
        int least = pw_expr_by_data(in->x) ? at.query : 0;
        at.key = at.query;
        while (at.key >= least && pw_formula_value(in, PW_STAGE_MASK, &at) == 0)
            at.key--;
        if (at.key < least)
            return no_key(in, &at, err);
    }
    return PW_OK;
}

static bool is_safe(const struct pw_formula_inputs *in, const struct pw_config *cfg, enum pw_stage stage)
{
    return !pw_expr_has(in->x, stage) || pw_formula_within(in, cfg, stage, 0, cfg->context - 1);
}

static enum pw_code check_biases(struct pw_formula_inputs *in, const struct pw_config *cfg, bool dense,
                                 struct pw_err *err)
{
    bool safe = is_safe(in, cfg, PW_STAGE_BIAS) && is_safe(in, cfg, PW_STAGE_MASK);
    if (safe && !pw_expr_has(in->x, PW_STAGE_MASK))
        return PW_OK;
    int layers = pw_formula_layers(in->x, cfg, PW_STAGE_BIAS, PW_STAGE_MASK);
    int heads = pw_formula_heads(in->x, cfg, PW_STAGE_BIAS, PW_STAGE_MASK);
    struct pw_formula_at at = {0};
    enum pw_code code = PW_OK;
    for (; code == PW_OK && at.layer < layers; at.layer++)
        for (at.head = 0; code == PW_OK && at.head < heads; at.head++)
            code = safe ? check_seen(in, cfg, dense, at, err) : check_head(in, cfg, dense, at, err);
    return code;
}

/* Checks the rows of a stage: in a rotation those of a sequence of this length, 0: n is that up to the query.
 */
static enum pw_code check_rows(struct pw_formula_inputs *in, const struct pw_config *cfg, enum pw_stage stage,
                               int length, struct pw_err *err)
{
    int positions = length > 0 ? length : cfg->context;
    int parts = stage == PW_STAGE_EMBED   ? cfg->width
                : stage == PW_STAGE_SCALE ? 1
                                          : pw_expr_pairs(in->x, cfg);
    int heads = pw_formula_heads(in->x, cfg, stage, stage), kinds = pw_formula_key_turns(in->x) ? 2 : 1;
    struct pw_formula_at at = {.length = length};
    enum pw_code code = PW_OK;
    double value;
    if (is_safe(in, cfg, stage))
        return PW_OK;
    for (; code == PW_OK && at.layer < pw_formula_layers(in->x, cfg, stage, stage); at.layer++)
        for (at.head = 0; code == PW_OK && at.head < heads; at.head++)
            for (at.query = 0; code == PW_OK && at.query < positions; at.query++)
                for (int n = 0; code == PW_OK && n < parts * kinds; n++) {
                    at.part = n / kinds;
                    at.of_key = n % kinds == 1;
                    code = check_value(in, stage, false, &at, &value, err);
                }
    return code;
}

enum pw_code pw_formula_check_turns(struct pw_formula_inputs *in, const struct pw_config *cfg, int length,
                                    struct pw_err *err)
{
    enum pw_code code = PW_OK;
    if (pw_expr_has(in->x, PW_STAGE_ANGLE))
        code = check_rows(in, cfg, PW_STAGE_ANGLE, length, err);
    if (code == PW_OK && pw_expr_has(in->x, PW_STAGE_GAIN))
        code = check_rows(in, cfg, PW_STAGE_GAIN, length, err);
    return code;
}

enum pw_code pw_formula_check_at(const void *opts, const struct pw_config *cfg, double from, double step,
                                 struct pw_err *err)
{
    static const enum pw_stage rows[] = {PW_STAGE_EMBED, PW_STAGE_ANGLE, PW_STAGE_GAIN, PW_STAGE_SCALE};
    const struct pw_formula *f = pw_formula_of(opts);
    struct pw_formula_inputs in = pw_formula_inputs_of(f->x, opts, cfg, from, step);
    bool by_length = pw_formula_by_length(f->x);
    enum pw_code code = by_length ? pw_formula_check_lengths(opts, cfg, from, step, err) : PW_OK;
    for (int sign = 1; sign >= -1 && code == PW_OK; sign -= 2) {
        const double *param[PW_EXPR_PARAMS];
        double *first = pw_formula_first(f->x, pw_formula_sign, &sign, param);
        in.param = param;
        pw_formula_inputs_forget(&in);
        if ((f->pe.uses & PW_PE_BIASES) != 0 && (sign > 0 || pw_expr_learns(f->x, PW_STAGE_BIAS)))
            code = check_biases(&in, cfg, (f->pe.uses & PW_PE_DENSE) != 0, err);
        for (int k = 0; code == PW_OK && k < 4; k++)
            if (pw_expr_has(f->x, rows[k]) && (sign > 0 || pw_expr_learns(f->x, rows[k])) &&
                !(by_length && (rows[k] == PW_STAGE_ANGLE || rows[k] == PW_STAGE_GAIN)))
                code = check_rows(&in, cfg, rows[k], 0, err);
        if (code == PW_OK && pw_expr_has(f->x, PW_STAGE_MIX))
            code = pw_formula_check_bank(&in, opts, cfg, err);
        in.param = NULL;
        free(first);
    }
    pw_formula_inputs_fini(&in);
    if (code == PW_OK)
        code = pw_formula_check_functions(opts, cfg, from, step, err);
    return code;
}

/* ---- the formula */

/* A bias by both positions has an entry for each pair of them, in each head and perhaps each layer. */
static enum pw_code check_dense(const struct pw_expr *x, const struct pw_config *cfg, struct pw_err *err)
{
    int layers = pw_formula_by_layer(x) & PW_PE_BIASES ? cfg->layers : 1;
    double bytes = 4.0 * layers * cfg->heads * cfg->context * cfg->context;
    const char *stage = pw_expr_by_distance(x, PW_STAGE_BIAS) ? "mask" : "bias";
    if (!(pw_formula_uses(x) & PW_PE_DENSE))
        return PW_OK;
    if (cfg->context > PW_DENSE_MOST)
        return pw_fail(err, PW_EUSER, "%s reads i or j, not d alone: context=%d: allowed are %d", stage,
                       cfg->context, PW_DENSE_MOST);
    if (bytes > MOST_DENSE)
        return pw_fail(err, PW_EUSER,
                       "%s reads i or j, not d alone: its table of %d heads, %d layer%s and context=%d "
                       "needs %.1f GB: allowed are 2 GB",
                       stage, cfg->heads, layers, layers > 1 ? "s" : "", cfg->context, bytes / 1e9);
    return PW_OK;
}

/* A rotation by the length of the sequence reads its tables at rows that are no positions. Only what reads
 * positions by their distance, or not at all, can be beside it. */
static enum pw_code check_length(const struct pw_expr *x, struct pw_err *err)
{
    if (!pw_formula_by_length(x))
        return PW_OK;
    if (pw_formula_computed(x) & (PW_PE_ROTATION | PW_PE_GAIN))
        return pw_fail(err, PW_EUSER,
                       "angle and gain: no 'n' with learned parameters in angle, gain or scale");
    if (pw_formula_uses(x) & PW_PE_DENSE)
        return pw_fail(err, PW_EUSER,
                       "angle and gain: no 'n' beside a bias or a mask that reads i or j, not d alone");
    if (pw_expr_reads(x, PW_STAGE_SCORE, PW_VAR_I) || pw_expr_reads(x, PW_STAGE_SCORE, PW_VAR_J))
        return pw_fail(err, PW_EUSER, "angle and gain: no 'n' beside a score that reads i or j, not d alone");
    return PW_OK;
}

/* Learned parameters along an axis that a stage does not have, and stages that can't have any. */
static enum pw_code check_params(const struct pw_expr *x, struct pw_err *err)
{
    static const char *const readers[PW_AXES] = {"", "bias, scale and score", "embed", "angle and gain",
                                                 "mix"};
    for (int s = 0; s < PW_STAGES; s++) {
        bool read[PW_EXPR_PARAMS] = {0};
        pw_expr_mark_params(x, (enum pw_stage)s, read);
        for (int k = 0; k < x->n_params; k++) {
            const struct pw_expr_param *q = &x->param[k];
            if (!read[k])
                continue;
            if (s == PW_STAGE_POSITION || s == PW_STAGE_MASK || s == PW_STAGE_GATE)
                return pw_fail(err, PW_EUSER, "%s: no learned parameters here: write numbers",
                               pw_stage_names[s]);
            if (q->axis != PW_AXIS_NONE && q->axis != pw_stage_axis((enum pw_stage)s))
                return pw_fail(err, PW_EUSER, "%s: '%s' has a value per %s: only %s can read it",
                               pw_stage_names[s], q->name, pw_axis_names[q->axis], readers[q->axis]);
            if (q->per_layer && s == PW_STAGE_EMBED)
                return pw_fail(err, PW_EUSER,
                               "embed: '%s' has a value per layer: embeddings are added once, before layer 0",
                               q->name);
        }
    }
    return PW_OK;
}

static enum pw_code check_gate(const struct pw_expr *x, struct pw_err *err)
{
    if (!pw_expr_has(x, PW_STAGE_GATE))
        return PW_OK;
    if (!pw_expr_reads(x, PW_STAGE_GATE, PW_VAR_GATE))
        return pw_fail(err, PW_EUSER,
                       "gate: it must read g, the token's projection, which no other name may hide; "
                       "constants belong into 'bias'");
    if (pw_expr_has(x, PW_STAGE_SCORE))
        return pw_fail(err, PW_EUSER,
                       "gate: not beside a score: the function of scores would act on the sums");
    return PW_OK;
}

enum pw_code pw_expr_fits(const struct pw_expr *x, const struct pw_config *cfg, struct pw_err *err)
{
    enum pw_code code = pw_formula_check_mix(x, err);
    if (code == PW_OK)
        code = pw_formula_check_scan(x, err);
    if (code == PW_OK)
        code = check_params(x, err);
    if (code == PW_OK && pw_formula_key_turns(x) && pw_formula_computed(x) & PW_PE_ROTATION)
        return pw_fail(err, PW_EUSER, "angle and gain: no 'key' with learned parameters");
    if (code == PW_OK)
        code = pw_formula_check_variables(x, cfg, err);
    if (code == PW_OK)
        code = check_length(x, err);
    if (code == PW_OK)
        code = check_gate(x, err);
    if (code != PW_OK)
        return code;
    if (pw_expr_has(x, PW_STAGE_POSITION) && (pw_formula_uses(x) & ~(unsigned)PW_PE_NO_POSITIONS) == 0)
        return pw_fail(err, PW_EUSER, "position: no stage reads it: write a bias, an angle or an embed");
    if (x->rotary_dim > cfg->head_width)
        return pw_fail(err, PW_EUSER, "rotary_dim = %d: a head has %d columns", x->rotary_dim,
                       cfg->head_width);
    if ((pw_formula_uses(x) & PW_PE_ROTATION) != 0 && x->rotary_dim == 0 && cfg->head_width % 2 != 0)
        return pw_fail(err, PW_EUSER, "%d entries of a head can't form pairs", cfg->head_width);
    return check_dense(x, cfg, err);
}

enum pw_code pw_formula_check(const void *opts, const struct pw_config *cfg, struct pw_err *err)
{
    enum pw_code code = pw_expr_fits(pw_formula_of(opts)->x, cfg, err);
    if (code != PW_OK) {
        pw_err_at(err, "expr");
        return code;
    }
    code = pw_formula_check_learned(opts, cfg, err);
    if (code == PW_OK && pw_expr_by_data(pw_formula_of(opts)->x))
        code = pw_formula_check_ids(opts, cfg, err);
    return code == PW_OK ? pw_formula_check_at(opts, cfg, 0, 1, err) : code;
}
