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
                                            [PW_VAR_PAIRS] = pw_expr_pairs(x, cfg),
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

/* The variables that change from one position to the next, and from one key of a query to the next. */
#define BY_KEY   (UINT64_C(1) << PW_VAR_J | UINT64_C(1) << PW_VAR_DISTANCE)
#define BY_PLACE (BY_KEY | UINT64_C(1) << PW_VAR_I | UINT64_C(1) << PW_VAR_N)

double pw_formula_value(struct pw_formula_inputs *in, enum pw_stage stage, const struct pw_formula_at *at)
{
    double *vars = in->vars;
    set_place(in, at);
    vars[PW_VAR_LAYER] = at->layer;
    vars[PW_VAR_HEAD] = at->head;
    vars[PW_VAR_KEY] = at->of_key;
    vars[PW_VAR_PAIR] = vars[PW_VAR_CHANNEL] = vars[PW_VAR_MIX] = at->part;
    bool first = in->last[stage].regs == NULL;
    if (first)
        in->last[stage].regs = pw_alloc((size_t)pw_expr_n_nodes(in->x), sizeof *in->regs);
    uint64_t changed = changed_since(vars, in->last[stage].vars) | (in->last[stage].partial ? BY_PLACE : 0);
    in->last[stage].partial = false;
    in->regs = in->last[stage].regs;
    memcpy(in->last[stage].vars, vars, sizeof in->vars);
    return first ? pw_expr_eval(in->x, stage, vars, in->param, in->regs)
                 : pw_expr_eval_changed(in->x, stage, vars, in->param, in->regs, changed);
}

/* Values of a stage at some places of one part that differ in these variables: evaluates only nodes that
 * depend on them, without branches that are not chosen at any. */
struct column {
    struct pw_formula_inputs *in;
    enum pw_stage stage;
    double *regs;
    int n, nodes[PW_EXPR_NODES];
};

/* Begins at this place; column_value takes places that differ from it in the variables `changed` only. */
static void column_begin(struct column *c, struct pw_formula_inputs *in, enum pw_stage stage,
                         const struct pw_formula_at *at, uint64_t changed)
{
    c->in = in;
    c->stage = stage;
    pw_formula_value(in, stage, at);
    c->regs = in->last[stage].regs;
    c->n = pw_expr_plan(in->x, stage, c->regs, changed, c->nodes);
    in->last[stage].partial = true;
}

static double column_value(struct column *c, const struct pw_formula_at *at)
{
    set_place(c->in, at);
    return pw_expr_follow(c->in->x, c->stage, c->in->vars, c->in->param, c->regs, c->nodes, c->n);
}

/* Bias and mask together: -inf if the mask hides the key. */
struct masked {
    bool biases, masks;
    struct column bias, mask;
};

static void masked_begin(struct masked *m, struct pw_formula_inputs *in, const struct pw_formula_at *at,
                         uint64_t changed)
{
    m->biases = pw_expr_has(in->x, PW_STAGE_BIAS);
    m->masks = pw_expr_has(in->x, PW_STAGE_MASK);
    if (m->biases)
        column_begin(&m->bias, in, PW_STAGE_BIAS, at, changed);
    if (m->masks)
        column_begin(&m->mask, in, PW_STAGE_MASK, at, changed);
}

static float masked_value(struct masked *m, const struct pw_formula_at *at)
{
    if (m->masks && column_value(&m->mask, at) == 0)
        return -INFINITY;
    return m->biases ? (float)column_value(&m->bias, at) : 0;
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
    struct masked m;
    masked_begin(&m, in, &at, BY_PLACE);
    for (int r = pw_formula_both(in->x, cfg) ? -(P - 1) : 0; r < P; r++) {
        at.query = r > 0 ? r : 0;
        at.key = r > 0 ? 0 : -r;
        to[P - 1 + r] = masked_value(&m, &at);
    }
}

/* One head's bias by both positions [P,P]. */
static void fill_dense(float *to, const struct pw_config *cfg, int P, struct pw_formula_inputs *in,
                       struct pw_formula_at at)
{
    for (at.query = 0; at.query < P; at.query++, to += P) {
        struct masked m;
        at.key = 0;
        masked_begin(&m, in, &at, BY_KEY);
        for (; at.key < (pw_formula_both(in->x, cfg) ? P : at.query + 1); at.key++)
            to[at.key] = masked_value(&m, &at);
    }
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
        at.query = 0;
        if (gains)
            column_begin(&gain_of, in, PW_STAGE_GAIN, &at, BY_PLACE);
        if (angles)
            column_begin(&angle_of, in, PW_STAGE_ANGLE, &at, BY_PLACE);
        for (; at.query < P; at.query++) {
            size_t to = (size_t)at.query * (size_t)pairs + (size_t)at.part;
            double gain = gains ? column_value(&gain_of, &at) : 1;
            double angle = angles ? column_value(&angle_of, &at) : 0;
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
    int pairs = pw_expr_pairs(in->x, cfg), kinds = pw_formula_key_turns(in->x) ? 2 : 1;
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
        at.query = 0;
        column_begin(&rows, in, PW_STAGE_EMBED, &at, BY_PLACE);
        for (; at.query < t->P; at.query++)
            t->add[0][(size_t)at.query * (size_t)cfg->width + (size_t)at.part] =
                (float)column_value(&rows, &at);
    }
}

static void fill_gains(const struct pw_config *cfg, struct pw_pe_tables *t, struct pw_formula_inputs *in)
{
    int layers = pw_formula_layers(in->x, cfg, PW_STAGE_SCALE, PW_STAGE_SCALE);
    int heads = pw_formula_heads(in->x, cfg, PW_STAGE_SCALE, PW_STAGE_SCALE);
    size_t rows = (size_t)(t->first != NULL ? t->rows : t->P), P = (size_t)t->P;
    float *to = t->gain, *row = pw_alloc(P, sizeof *row);
    struct pw_formula_at at = {0};
    struct column scale;
    for (at.layer = 0; at.layer < layers; at.layer++)
        for (at.head = 0; at.head < heads; at.head++, to += rows) {
            at.query = 0;
            column_begin(&scale, in, PW_STAGE_SCALE, &at, BY_PLACE);
            for (; at.query < t->P; at.query++)
                row[at.query] = (float)column_value(&scale, &at);
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
