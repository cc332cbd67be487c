/* formula_tables.c - the fixed parts of a formula, computed on the host in double precision: `bias` with
 * `mask`, `embed`, `scale`, and `angle` with `gain` fill the same tables as those of built-in encodings. A
 * table that reads the layer has a part for each layer; values that no head or layer changes are computed
 * once. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/maths.h"
#include "model/expr/formula.h"

struct pw_formula_inputs pw_formula_inputs_of(const struct pw_expr *x, const void *opts,
                                              const struct pw_config *cfg, double from, double step)
{
    struct pw_formula_inputs in = {.x = x,
                                   .from = from,
                                   .step = step,
                                   .vars = {[PW_VAR_CONTEXT] = cfg->context,
                                            [PW_VAR_HEADS] = cfg->heads,
                                            [PW_VAR_LAYERS] = cfg->layers,
                                            [PW_VAR_PAIRS] = cfg->head_width / 2,
                                            [PW_VAR_CHANNELS] = cfg->width,
                                            [PW_VAR_WIDTH] = cfg->head_width}};
    int trained = opts != NULL ? pw_formula_trained(opts) : 0;
    in.vars[PW_VAR_TRAINED] = trained > 0 ? trained : cfg->context;
    return in;
}

void pw_formula_inputs_forget(struct pw_formula_inputs *in)
{
    for (int s = 0; s < PW_STAGES; s++) {
        free(in->last[s].regs);
        in->last[s].regs = NULL;
    }
}

void pw_formula_inputs_fini(struct pw_formula_inputs *in)
{
    pw_formula_inputs_forget(in);
    in->regs = NULL;
}

_Static_assert(PW_VARS <= 64, "variables don't fit into a mask");

static uint64_t changed_since(const double *a, const double *b)
{
    uint64_t changed = 0;
    for (int v = 0; v < PW_VARS; v++)
        changed |= a[v] == b[v] ? 0 : UINT64_C(1) << v;
    return changed;
}

/* Sets the variables that depend on the position. */
static void set_place(struct pw_formula_inputs *in, const struct pw_formula_at *at)
{
    double *vars = in->vars;
    vars[PW_VAR_I] = in->from + at->query * in->step;
    vars[PW_VAR_J] = in->from + at->key * in->step;
    vars[PW_VAR_DISTANCE] = (at->query - at->key) * in->step;
    vars[PW_VAR_N] = at->length > 0 ? at->length : at->query + 1; /* the keys of a causal query */
}

double pw_formula_value(struct pw_formula_inputs *in, enum pw_stage stage, const struct pw_formula_at *at)
{
    double *vars = in->vars;
    set_place(in, at);
    vars[PW_VAR_LAYER] = at->layer;
    vars[PW_VAR_HEAD] = at->head;
    vars[PW_VAR_KEY] = at->of_key;
    vars[PW_VAR_PAIR] = vars[PW_VAR_CHANNEL] = vars[PW_VAR_MIX] = at->part;
    bool first = in->last[stage].regs == NULL || in->last[stage].partial;
    in->last[stage].partial = false;
    if (in->last[stage].regs == NULL)
        in->last[stage].regs = pw_alloc((size_t)pw_expr_n_nodes(in->x), sizeof *in->regs);
    uint64_t changed = changed_since(vars, in->last[stage].vars);
    in->regs = in->last[stage].regs;
    memcpy(in->last[stage].vars, vars, sizeof in->vars);
    return first ? pw_expr_eval(in->x, stage, vars, in->param, in->regs)
                 : pw_expr_eval_changed(in->x, stage, vars, in->param, in->regs, changed);
}

/* The variables that change from one position to the next. */
#define BY_PLACE                                                                                             \
    (UINT64_C(1) << PW_VAR_I | UINT64_C(1) << PW_VAR_J | UINT64_C(1) << PW_VAR_DISTANCE |                    \
     UINT64_C(1) << PW_VAR_N)

/* Values of a stage at the positions of one part, in ascending order: evaluates only nodes that depend on the
 * position, without branches that are not chosen at any. */
struct column {
    struct pw_formula_inputs *in;
    enum pw_stage stage;
    struct pw_formula_at at;
    double first, *regs;
    int n, nodes[PW_EXPR_NODES];
};

static void column_begin(struct column *c, struct pw_formula_inputs *in, enum pw_stage stage,
                         struct pw_formula_at at)
{
    c->in = in;
    c->stage = stage;
    c->at = at;
    c->at.query = 0;
    c->first = pw_formula_value(in, stage, &c->at);
    c->regs = in->last[stage].regs;
    c->n = pw_expr_plan(in->x, stage, c->regs, BY_PLACE, c->nodes);
    in->last[stage].partial = true;
}

static double column_value(struct column *c, int query)
{
    if (query == 0)
        return c->first;
    c->at.query = query;
    set_place(c->in, &c->at);
    return pw_expr_follow(c->in->x, c->stage, c->in->vars, c->in->param, c->regs, c->nodes, c->n);
}

/* Bias and mask together: -inf if the mask hides the key. */
static double masked_bias(struct pw_formula_inputs *in, const struct pw_formula_at *at)
{
    if (pw_expr_has(in->x, PW_STAGE_MASK) && pw_formula_value(in, PW_STAGE_MASK, at) == 0)
        return -INFINITY;
    return pw_expr_has(in->x, PW_STAGE_BIAS) ? pw_formula_value(in, PW_STAGE_BIAS, at) : 0;
}

int pw_formula_layers(const struct pw_expr *x, const struct pw_config *cfg, enum pw_stage a, enum pw_stage b)
{
    return pw_expr_reads(x, a, PW_VAR_LAYER) || pw_expr_reads(x, b, PW_VAR_LAYER) ? cfg->layers : 1;
}

int pw_formula_heads(const struct pw_expr *x, const struct pw_config *cfg, enum pw_stage a, enum pw_stage b)
{
    return pw_expr_reads(x, a, PW_VAR_HEAD) || pw_expr_reads(x, b, PW_VAR_HEAD) ? cfg->heads : 1;
}

bool pw_formula_both(const struct pw_expr *x, const struct pw_config *cfg)
{
    return !cfg->causal || pw_expr_by_data(x);
}

/* One head's bias by distance [2P-1]. */
static void fill_distances(float *to, const struct pw_config *cfg, int P, struct pw_formula_inputs *in,
                           struct pw_formula_at at)
{
    for (int r = pw_formula_both(in->x, cfg) ? -(P - 1) : 0; r < P; r++) {
        at.query = r > 0 ? r : 0;
        at.key = r > 0 ? 0 : -r;
        to[P - 1 + r] = (float)masked_bias(in, &at);
    }
}

/* One head's bias by both positions [P,P]. */
static void fill_dense(float *to, const struct pw_config *cfg, int P, struct pw_formula_inputs *in,
                       struct pw_formula_at at)
{
    for (at.query = 0; at.query < P; at.query++, to += P)
        for (at.key = 0; at.key < (pw_formula_both(in->x, cfg) ? P : at.query + 1); at.key++)
            to[at.key] = (float)masked_bias(in, &at);
}

static void fill_biases(const struct pw_config *cfg, struct pw_pe_tables *t, struct pw_formula_inputs *in)
{
    bool dense = t->dense != NULL;
    float *to = dense ? t->dense : t->bias;
    size_t head = pw_bias_entries(dense, t->P);
    int heads = pw_formula_heads(in->x, cfg, PW_STAGE_BIAS, PW_STAGE_MASK);
    int layers = pw_formula_layers(in->x, cfg, PW_STAGE_BIAS, PW_STAGE_MASK);
    struct pw_formula_at at = {0};
    for (at.layer = 0; at.layer < layers; at.layer++)
        for (at.head = 0; at.head < cfg->heads; at.head++, to += head)
            if (at.head >= heads)
                memcpy(to, to - head, head * sizeof *to);
            else if (dense)
                fill_dense(to, cfg, t->P, in, at);
            else
                fill_distances(to, cfg, t->P, in, at);
}

/* The rows of queries or of keys, of one layer, for P positions. */
static void fill_turn(float *cosine, float *sine, int P, int pairs, struct pw_formula_inputs *in,
                      struct pw_formula_at at)
{
    bool gains = pw_expr_has(in->x, PW_STAGE_GAIN), angles = pw_expr_has(in->x, PW_STAGE_ANGLE);
    struct column gain_of, angle_of;
    for (at.part = 0; at.part < pairs; at.part++) { /* most formulas have a costly factor of the pair alone */
        if (gains)
            column_begin(&gain_of, in, PW_STAGE_GAIN, at);
        if (angles)
            column_begin(&angle_of, in, PW_STAGE_ANGLE, at);
        for (int q = 0; q < P; q++) {
            size_t to = (size_t)q * (size_t)pairs + (size_t)at.part;
            double gain = gains ? column_value(&gain_of, q) : 1;
            double angle = angles ? column_value(&angle_of, q) : 0;
            cosine[to] = (float)(gain * pw_cos(angle));
            sine[to] = (float)(gain * pw_sin(angle));
        }
    }
}

/* Sets longest [P+1]: the block of which a length is the longest. false: a longer one has the same rows. */
static bool *longest_of(const struct pw_pe_tables *t)
{
    bool *seen = pw_alloc((size_t)t->rows, sizeof *seen),
         *longest = pw_alloc((size_t)t->P + 1, sizeof *longest);
    for (int l = t->P; l > 0; l--) {
        longest[l] = !seen[t->first[l]];
        seen[t->first[l]] = true;
    }
    free(seen);
    return longest;
}

static void fill_turns(const struct pw_config *cfg, struct pw_pe_tables *t, struct pw_formula_inputs *in)
{
    int pairs = cfg->head_width / 2, kinds = pw_formula_key_turns(in->x) ? 2 : 1;
    int layers = pw_formula_layers(in->x, cfg, PW_STAGE_ANGLE, PW_STAGE_GAIN);
    struct pw_formula_at at = {.length = pw_formula_by_length(in->x) ? t->P : 0};
    bool *longest = t->first != NULL ? longest_of(t) : NULL;
    size_t to = 0, rows = (size_t)(t->first != NULL ? t->rows : t->P);
    for (at.layer = 0; at.layer < layers; at.layer++)
        for (int kind = 0; kind < kinds; kind++, to += rows * (size_t)pairs) {
            at.of_key = kind == 1;
            if (t->first == NULL)
                fill_turn(t->cosine + to, t->sine + to, t->P, pairs, in, at);
            for (int l = 1; l <= t->P && t->first != NULL; l++) {
                size_t from = to + (size_t)t->first[l] * (size_t)pairs;
                at.length = l;
                if (longest[l])
                    fill_turn(t->cosine + from, t->sine + from, l, pairs, in, at);
            }
        }
    free(longest);
}

static void fill_added(const struct pw_config *cfg, struct pw_pe_tables *t, struct pw_formula_inputs *in)
{
    struct pw_formula_at at = {0};
    struct column rows;
    for (at.part = 0; at.part < cfg->width; at.part++) {
        column_begin(&rows, in, PW_STAGE_EMBED, at);
        for (int q = 0; q < t->P; q++)
            t->add[0][(size_t)q * (size_t)cfg->width + (size_t)at.part] = (float)column_value(&rows, q);
    }
}

static void fill_gains(const struct pw_config *cfg, struct pw_pe_tables *t, struct pw_formula_inputs *in)
{
    int layers = pw_formula_layers(in->x, cfg, PW_STAGE_SCALE, PW_STAGE_SCALE);
    int heads = pw_formula_heads(in->x, cfg, PW_STAGE_SCALE, PW_STAGE_SCALE);
    size_t rows = (size_t)(t->first != NULL ? t->rows : t->P), P = (size_t)t->P;
    float *to = t->gain, *row = pw_alloc(P, sizeof *row);
    struct pw_formula_at at = {0};
    for (at.layer = 0; at.layer < layers; at.layer++)
        for (at.head = 0; at.head < heads; at.head++, to += rows) {
            for (at.query = 0; at.query < t->P; at.query++)
                row[at.query] = (float)pw_formula_value(in, PW_STAGE_SCALE, &at);
            if (t->first == NULL)
                memcpy(to, row, P * sizeof *to);
            for (size_t l = 1; l <= P && t->first != NULL; l++)
                memcpy(to + t->first[l], row, l * sizeof *to);
        }
    free(row);
}

void pw_formula_build(const void *opts, const struct pw_config *cfg, struct pw_pe_tables *t)
{
    struct pw_formula_inputs in = pw_formula_inputs_of(pw_formula_of(opts)->x, opts, cfg, t->from, t->step);
    unsigned computed = pw_formula_computed(in.x);
    if ((t->bias != NULL || t->dense != NULL) && !(computed & PW_PE_BIASES))
        fill_biases(cfg, t, &in);
    if (t->cosine != NULL && !(computed & PW_PE_ROTATION))
        fill_turns(cfg, t, &in);
    if (t->add[0] != NULL && !(computed & PW_PE_ADDED))
        fill_added(cfg, t, &in);
    if (pw_expr_has(in.x, PW_STAGE_SCALE) && !(computed & PW_PE_GAIN))
        fill_gains(cfg, t, &in);
    pw_formula_inputs_fini(&in);
}
