/* describe.c - two lines about a formula before it is trained. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/expr/describe.h"
#include "model/expr/expr_int.h"
#include "model/expr/formula.h"
#include "model/expr/print.h"

enum { SAMPLES = 64 };

static void put_part(struct pw_str *out, const char *text)
{
    pw_str_add(out, "%s%s", out->len > 0 ? ", " : "", text);
}

static void put_class(const struct pw_expr *x, struct pw_str *out)
{
    struct pw_str s = {0};
    if (pw_expr_by_data(x))
        put_part(&s, pw_expr_positions(x));
    if (pw_expr_has(x, PW_STAGE_EMBED))
        put_part(&s, "adds rows to the embeddings");
    if (pw_expr_has(x, PW_STAGE_ANGLE) || pw_expr_has(x, PW_STAGE_GAIN))
        put_part(&s, pw_expr_has(x, PW_STAGE_ANGLE) ? "rotates queries and keys" : "scales queries and keys");
    if (pw_expr_has(x, PW_STAGE_BIAS))
        put_part(&s,
                 pw_expr_by_distance(x, PW_STAGE_BIAS) ? "bias by distance" : "dense bias by query and key");
    if (pw_expr_has(x, PW_STAGE_SCALE))
        put_part(&s, "scales the scores of a query");
    if (pw_expr_has(x, PW_STAGE_SCORE))
        put_part(&s, "replaces the finished score");
    if (pw_expr_has(x, PW_STAGE_GATE))
        put_part(&s, "sums gates of the tokens between key and query");
    if (pw_expr_has(x, PW_STAGE_MIX))
        put_part(&s, "functions of the distance that each token mixes");
    if (x->scan != 0)
        put_part(&s, x->scan == PW_SCAN_STICK ? "stick-breaking weights in place of a softmax"
                                              : "contextual positions");
    if (pw_expr_has(x, PW_STAGE_MASK))
        put_part(&s, pw_expr_by_distance(x, PW_STAGE_MASK) ? "mask by distance" : "mask by query and key");
    pw_str_add(out, "%s", pw_str_text(&s));
    pw_str_fini(&s);
}

static void put_parameters(const void *opts, const struct pw_config *cfg, struct pw_str *out)
{
    struct pw_pe_param list[PW_PE_PARAMS];
    long n = 0;
    for (int k = pw_formula_params(opts, cfg, list) - 1; k >= 0; k--)
        n += (long)(list[k].rows > 0 ? list[k].rows : 1) * list[k].cols *
             (list[k].layers > 0 ? list[k].layers : 1);
    if (n > 0)
        pw_str_add(out, "; %ld learned parameter%s", n, n == 1 ? "" : "s");
    else
        pw_str_add(out, "; no learned parameters");
}

/* 3.2e-8 as "3e-8" */
static void put_error(struct pw_str *out, double error)
{
    char text[32];
    snprintf(text, sizeof text, "%.0e", error);
    pw_str_add(out, "%.*s%d", (int)(strchr(text, 'e') + 1 - text), text, atoi(strchr(text, 'e') + 1));
}

static void put_twin(const struct pw_pe_use_opts *use, const struct pw_config *cfg, struct pw_str *out)
{
    struct pw_formula_twin t = pw_formula_nearest(use, cfg);
    if (t.pe == NULL)
        return;
    if (t.learned) {
        pw_str_add(out, "; reads a learned entry for the same distances as %s", t.pe->name);
        return;
    }
    pw_str_add(out, "; equals %s", t.pe->name);
    if (t.factor != 1)
        pw_str_add(out, " times %.4g", t.factor);
    if (t.error == 0)
        pw_str_add(out, " in every bit");
    else if (t.error > 1e-9) { /* less is the rounding of an entry */
        pw_str_add(out, " to ");
        put_error(out, t.error);
    }
}

/* ---- values */

/* Drawn initial values alternate in sign. */
static double alternate(void *arg, int param, int entry)
{
    (void)arg;
    (void)param;
    return entry % 2 == 0 ? 1 : -1;
}

static bool is_finite(struct pw_formula_inputs *in, const struct pw_config *cfg, enum pw_stage stage,
                      int query)
{
    int parts = stage == PW_STAGE_EMBED                             ? cfg->width
                : stage == PW_STAGE_ANGLE || stage == PW_STAGE_GAIN ? pw_expr_pairs(in->x, cfg)
                : stage == PW_STAGE_MIX                             ? in->x->mixes
                                                                    : cfg->heads;
    for (int k = 0; k < parts; k++) {
        double y = pw_formula_value(in, stage, &(struct pw_formula_at){.head = k, .query = query, .part = k});
        if (!isfinite((float)y) || (stage == PW_STAGE_ANGLE && fabs(y) >= 1e6))
            return false;
    }
    return true;
}

/* From the context to twice the context; the check of a formula has seen all up to the context. */
static void put_range(struct pw_formula_inputs *in, const struct pw_config *cfg, struct pw_str *out)
{
    int context = cfg->context;
    bool safe = true;
    for (int s = PW_STAGE_EMBED; s < PW_STAGES; s++)
        safe = safe && (!pw_expr_has(in->x, s) || pw_formula_within(in, cfg, s, 0, 2 * context));
    for (int k = 0; !safe && k <= SAMPLES; k++)
        for (int s = PW_STAGE_EMBED; s < PW_STAGES; s++) {
            int query = context + (int)((long)context * k / SAMPLES);
            if (!pw_expr_has(in->x, s) || is_finite(in, cfg, s, query))
                continue;
            pw_str_add(out, "; %s is not finite at position %d, beyond the context of %d", pw_stage_names[s],
                       query, context);
            return;
        }
    pw_str_add(out, "; finite up to position %d, twice the context", 2 * context);
}

/* Sets table [PW_EXPR_PARAMS] for the parameters that are read by entries. Returns whether there is one. */
static bool mark_tables(const struct pw_expr *x, bool *table)
{
    bool any = false;
    for (int k = 0; k < x->n; k++)
        if (x->node[k].op == PW_NODE_ENTRY || x->node[k].op == PW_NODE_BETWEEN)
            any = table[x->node[k].index] = true;
    return any;
}

/* Entries of tables that no distance or position of the training data reads, but a longer one does. */
static void put_untrained(struct pw_formula_inputs *in, const struct pw_config *cfg, int trained,
                          struct pw_str *out)
{
    const struct pw_expr *x = in->x;
    double *grads[PW_EXPR_PARAMS], *adjoint;
    bool table[PW_EXPR_PARAMS] = {0}, learns[PW_STAGES] = {0};
    int late = 0, all = 0;
    if (trained <= 0 || pw_expr_by_data(x) || !mark_tables(x, table))
        return;
    adjoint = pw_alloc((size_t)x->n, sizeof *adjoint);
    for (int s = PW_STAGE_EMBED; s < PW_STAGES; s++)
        learns[s] = pw_expr_learns(x, (enum pw_stage)s);
    for (int k = 0; k < x->n_params; k++)
        grads[k] = pw_alloc((size_t)x->param[k].size, sizeof(double));
    for (int phase = 0; phase < 2; phase++) {
        int from = phase == 0 ? 0 : trained + 1, to = phase == 0 ? trained + 1 : cfg->context;
        for (int d = from; d < to; d++)
            for (int s = PW_STAGE_EMBED; s < PW_STAGES; s++) { /* others learn nothing */
                if (!learns[s])
                    continue;
                pw_formula_value(in, (enum pw_stage)s, &(struct pw_formula_at){.query = d});
                pw_expr_gradient(x, (enum pw_stage)s, in->vars, in->param, in->regs, 1 + 0.001 * d, grads,
                                 adjoint);
            }
        for (int k = 0; k < x->n_params; k++)
            for (int e = 0; table[k] && e < x->param[k].size; e++) {
                bool reached = grads[k][e] != 0;
                all += phase == 1 && reached;
                late += phase == 1 ? reached : -(int)reached;
            }
    }
    if (late > 0)
        pw_str_add(out, "; %d of %d table entries are read beyond %s %d only, which training does not reach",
                   late, all, learns[PW_STAGE_BIAS] || learns[PW_STAGE_MIX] ? "distance" : "position",
                   trained);
    for (int k = 0; k < x->n_params; k++)
        free(grads[k]);
    free(adjoint);
}

/* ---- FlexAttention */

static void put_flex(const struct pw_expr *x, struct pw_str *out)
{
    bool score = pw_expr_has_score_mod(x), mask = pw_expr_has(x, PW_STAGE_MASK);
    pw_str_add(out, "\nFlexAttention: ");
    if (pw_expr_by_data(x)) {
        pw_str_add(out, "none: it sees neither tokens nor draws, which the position reads");
        return;
    }
    if (x->scan != 0) {
        pw_str_add(out,
                   "none: it does not see all scores of a query, which a scan reads; plain PyTorch instead "
                   "('export formula FILE.py')");
        return;
    }
    if (score || mask)
        pw_str_add(out, "%s%s%s", score ? "score_mod" : "", score && mask ? " and " : "",
                   mask ? "mask_mod" : "");
    if (pw_expr_has(x, PW_STAGE_GATE))
        pw_str_add(out, " with sums of the gates, which come from the layer's input");
    if (pw_expr_has(x, PW_STAGE_MIX))
        pw_str_add(out, " with weights of the mix, which come from the layer's input");
    if (pw_expr_needs_module(x))
        pw_str_add(out, "%s%s, which it does not see; plain PyTorch instead",
                   score || mask ? "; not for the rest: it changes " : "none: it changes ",
                   pw_expr_has(x, PW_STAGE_EMBED)
                       ? pw_expr_has(x, PW_STAGE_ANGLE) || pw_expr_has(x, PW_STAGE_GAIN)
                             ? "embeddings, queries and keys"
                             : "embeddings"
                       : "queries and keys");
    pw_str_add(out, " ('export formula FILE.py')");
}

void pw_formula_describe(const struct pw_pe_use_opts *use, const struct pw_config *cfg, int trained,
                         struct pw_str *out)
{
    if (use->pe->print == NULL)
        return;
    const struct pw_expr *x = pw_formula_of(use->o.bytes)->x;
    struct pw_formula_inputs in = pw_formula_inputs_of(x, use->o.bytes, cfg, 0, 1);
    const double *param[PW_EXPR_PARAMS];
    double *first = pw_formula_first(x, alternate, NULL, param);
    bool length = false;
    in.param = param;
    put_class(x, out);
    put_parameters(use->o.bytes, cfg, out);
    put_twin(use, cfg, out);
    for (int s = 0; s < PW_STAGES; s++)
        length = length || ((s == PW_STAGE_EMBED || s == PW_STAGE_ANGLE || s == PW_STAGE_GAIN) &&
                            pw_expr_reads(x, s, PW_VAR_N));
    if (length)
        pw_str_add(out, "; needs the length of the whole sequence");
    put_range(&in, cfg, out);
    put_untrained(&in, cfg, trained, out);
    put_flex(x, out);
    pw_formula_inputs_fini(&in);
    free(first);
}
