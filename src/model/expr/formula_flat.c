/* formula_flat.c - a learned table of a formula for one model: the model's numbers in place of their names,
 * sums as their terms, and without what became constant. */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "kernels/expr_maths.h"
#include "model/expr/expr_int.h"
#include "model/expr/formula.h"

enum { MOST_TERMS = 4096 };

struct flattener {
    const struct pw_expr *x;
    struct pw_expr *flat;
    const struct pw_config *cfg;
    struct pw_err *err;
    enum pw_code code;
    int trained; /* L */
    enum pw_pe_table which;
    const char *stage; /* for messages */
    bool pairs;        /* it depends on query and key; otherwise on their distance, or on a position */
    bool needed[PW_EXPR_NODES];
    int map[PW_EXPR_NODES]; /* node of flat */
    double counter[PW_EXPR_SUMS];
    int terms;
};

static int add_node(struct flattener *f, struct pw_node node)
{
    int k = pw_expr_node(f->flat, node);
    if (k < 0 && f->code == PW_OK)
        f->code = pw_fail(f->err, PW_EUSER, "expr: %s: too long for a learned one: at most %d operations",
                          f->stage, PW_EXPR_NODES);
    return k < 0 ? 0 : k;
}

static int add_number(struct flattener *f, double value)
{
    return add_node(f, (struct pw_node){.op = PW_NODE_NUMBER, .arg = {-1, -1, -1}, .value = value});
}

static int add_variable(struct flattener *f, enum pw_expr_var var)
{
    return add_node(f, (struct pw_node){.op = PW_NODE_VAR, .index = (int)var, .arg = {-1, -1, -1}});
}

static int variable_node(struct flattener *f, const struct pw_node *node)
{
    const struct pw_config *cfg = f->cfg;
    switch ((enum pw_expr_var)node->index) {
    case PW_VAR_TRAINED: return add_number(f, f->trained);
    case PW_VAR_CONTEXT: return add_number(f, cfg->context);
    case PW_VAR_HEADS: return add_number(f, cfg->heads);
    case PW_VAR_LAYERS: return add_number(f, cfg->layers);
    case PW_VAR_PAIRS: return add_number(f, pw_expr_pairs(f->x, cfg));
    case PW_VAR_CHANNELS: return add_number(f, cfg->width);
    case PW_VAR_I: return f->pairs ? add_node(f, *node) : add_variable(f, PW_VAR_DISTANCE);
    case PW_VAR_CHANNEL:
    case PW_VAR_MIX:
    case PW_VAR_PAIR: return add_variable(f, PW_VAR_HEAD);
    case PW_VAR_J: return f->pairs ? add_node(f, *node) : add_number(f, 0);
    case PW_VAR_WIDTH: return add_number(f, cfg->head_width);
    default: return add_node(f, *node);
    }
}

/* The condition of a refusal; a bank is always computed. */
static const char *because(const struct flattener *f)
{
    return f->which == PW_TABLE_BANK ? "" : "with learned parameters ";
}

static void flatten_range(struct flattener *f, int to, int loop);

static int sum_node(struct flattener *f, const struct pw_node *node, int k)
{
    const struct pw_node *from = &f->flat->node[f->map[node->arg[0]]],
                         *to = &f->flat->node[f->map[node->arg[1]]];
    double first = ceil(from->value), last = floor(to->value);
    int sum = -1;
    if (from->op != PW_NODE_NUMBER || to->op != PW_NODE_NUMBER) {
        if (f->code == PW_OK)
            f->code =
                pw_fail(f->err, PW_EUSER, "expr: %s: %sthe ends of a sum are numbers, as in sum(k=1..8, ...)",
                        f->stage, because(f));
        return 0;
    }
    for (double c = first; c <= last && f->code == PW_OK; c++) {
        if (f->terms++ == MOST_TERMS)
            f->code =
                pw_fail(f->err, PW_EUSER, "expr: %s: sums of more than %d terms with learned parameters",
                        f->stage, MOST_TERMS);
        f->counter[node->index] = c;
        flatten_range(f, k, node->index);
        int term = f->map[node->arg[2]];
        sum = sum < 0
                  ? term
                  : add_node(f,
                             (struct pw_node){.op = PW_NODE_CALL, .index = PW_F_ADD, .arg = {sum, term, -1}});
    }
    return sum < 0 ? add_number(f, 0) : sum;
}

static int flat_node(struct flattener *f, int k)
{
    struct pw_node node = f->x->node[k];
    if (node.op == PW_NODE_DATA && f->code == PW_OK)
        f->code = pw_fail(f->err, PW_EUSER, "expr: %s: %sit can't read the numbers of a file", f->stage,
                          because(f));
    if (node.op == PW_NODE_SUM)
        return sum_node(f, &node, k);
    for (int i = 0; i < 3; i++)
        node.arg[i] = node.arg[i] < 0 ? -1 : f->map[node.arg[i]];
    if (node.op == PW_NODE_VAR)
        return variable_node(f, &node);
    if (node.op == PW_NODE_BOUND)
        return add_number(f, f->counter[node.index]);
    return add_node(f, node);
}

/* Copies the nodes below `to` whose innermost sum is `loop`. */
static void flatten_range(struct flattener *f, int to, int loop)
{
    for (int k = 0; k < to && f->code == PW_OK; k++)
        if (f->needed[k] && pw_node_in(&f->x->node[k], loop))
            f->map[k] = flat_node(f, k);
}

/* Copies a node with those that it reads; returns its copy. */
static int flatten_node(struct flattener *f, int root)
{
    pw_expr_mark(f->x, root, f->needed);
    flatten_range(f, root + 1, -1);
    return f->map[root];
}

static int flatten_stage(struct flattener *f, enum pw_stage stage)
{
    return flatten_node(f, f->x->root[stage]);
}

static int call_node(struct flattener *f, enum pw_expr_function function, int a, int b)
{
    return add_node(f, (struct pw_node){.op = PW_NODE_CALL, .index = (int)function, .arg = {a, b, -1}});
}

static int bias_node(struct flattener *f)
{
    int root = flatten_stage(f, PW_STAGE_BIAS);
    if (!pw_expr_has(f->x, PW_STAGE_MASK) || f->code != PW_OK)
        return root;
    int seen = flatten_stage(f, PW_STAGE_MASK), hidden = add_number(f, -INFINITY);
    return add_node(f, (struct pw_node){.op = PW_NODE_SELECT, .arg = {seen, root, hidden}});
}

/* The learned numbers of the stage score, by d: d == 0 ? the first : d == 1 ? the second : ... There are none
 * if all that learns reads the pair, which the check of the stage refuses. */
static int numbers_node(struct flattener *f)
{
    int number[PW_EXPR_NODES], n = pw_expr_numbers(f->x, number);
    int all = n > 0 ? flatten_node(f, number[n - 1]) : add_number(f, 0);
    for (int k = n - 2; k >= 0; k--) {
        int own = flatten_node(f, number[k]);
        int here = call_node(f, PW_F_EQUAL, add_variable(f, PW_VAR_DISTANCE), add_number(f, k));
        all = add_node(f, (struct pw_node){.op = PW_NODE_SELECT, .arg = {here, own, all}});
    }
    return all;
}

/* gain * cos(angle) or gain * sin(angle) */
static int turn_node(struct flattener *f)
{
    bool angles = pw_expr_has(f->x, PW_STAGE_ANGLE), cosine = f->which == PW_TABLE_COSINE;
    int gain = -1, turn = angles ? -1 : add_number(f, cosine ? 1 : 0);
    if (pw_expr_has(f->x, PW_STAGE_GAIN))
        gain = flatten_stage(f, PW_STAGE_GAIN);
    if (angles)
        turn = call_node(f, cosine ? PW_F_COS : PW_F_SIN, flatten_stage(f, PW_STAGE_ANGLE), -1);
    return gain < 0 ? turn : call_node(f, PW_F_MULTIPLY, gain, turn);
}

static int root_node(struct flattener *f)
{
    switch (f->which) {
    case PW_TABLE_BIAS: return bias_node(f);
    case PW_TABLE_GAIN: return flatten_stage(f, PW_STAGE_SCALE);
    case PW_TABLE_ADDED: return flatten_stage(f, PW_STAGE_EMBED);
    case PW_TABLE_BANK: return flatten_stage(f, PW_STAGE_MIX);
    case PW_TABLE_SCORE: return numbers_node(f);
    default: return turn_node(f);
    }
}

enum pw_code pw_formula_flat(const void *opts, const struct pw_config *cfg, enum pw_pe_table which,
                             struct pw_expr **out, struct pw_err *err)
{
    static const char *const stages[PW_PE_TABLES] = {
        "bias", "scale", "angle", "angle", "embed", "mix", [PW_TABLE_SCORE] = "score"};
    const struct pw_formula *formula = pw_formula_of(opts);
    const struct pw_expr *x = formula->x;
    struct flattener *f = pw_alloc(1, sizeof *f);
    *f = (struct flattener){.x = x,
                            .flat = pw_alloc(1, sizeof *f->flat),
                            .cfg = cfg,
                            .err = err,
                            .which = which,
                            .stage = stages[which]};
    f->trained = pw_formula_trained(opts) > 0 ? pw_formula_trained(opts) : cfg->context;
    f->pairs = which == PW_TABLE_BIAS && formula->pe.uses & PW_PE_DENSE;
    f->flat->rotary_dim = x->rotary_dim;
    f->flat->mixes = x->mixes;
    f->flat->n_params = x->n_params;
    for (int k = 0; k < PW_EXPR_PARAMS; k++)
        f->flat->param[k] = x->param[k];
    for (int k = 0; k < PW_STAGES; k++)
        f->flat->root[k] = -1;
    f->flat->root[PW_STAGE_BIAS] = root_node(f);
    enum pw_code code = f->code;
    *out = code == PW_OK ? f->flat : NULL;
    if (code != PW_OK)
        pw_expr_free(f->flat);
    free(f);
    return code;
}
