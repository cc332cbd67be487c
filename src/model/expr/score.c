/* score.c - translates the stages `score` and `gate`. Constants of the model are folded, so the program that
 * every pair of positions or every token runs is as short as the formula's own part. Of learned parameters it
 * reads numbers that depend on no pair: the backend computes them once for each layer and head
 * (PW_TABLE_SCORE), by the program of a learned table. */
#include "model/expr/score.h"

#include <string.h>

#include "model/expr/expr_int.h"

struct translation {
    const struct pw_expr *x;
    const double *vars;
    double from, step;
    const char *stage;
    struct pw_score *out;
    struct pw_err *err;
    int number[PW_EXPR_NODES], n_numbers; /* the nodes that are learned numbers */
    int to[PW_EXPR_NODES]; /* the program's node of each node of the formula; -1: not translated */
    enum pw_code code;
};

static int put_node(struct translation *t, struct pw_score_node node)
{
    for (int k = 0; k < t->out->n; k++) /* equal nodes are one */
        if (memcmp(&t->out->node[k], &node, sizeof node) == 0)
            return k;
    if (t->out->n == PW_SCORE_NODES) {
        t->code = pw_fail(t->err, PW_EUSER, "%s: too long: at most %d operations", t->stage, PW_SCORE_NODES);
        return 0;
    }
    t->out->node[t->out->n] = node;
    return t->out->n++;
}

static int put_number(struct translation *t, double value)
{
    struct pw_score_node node;
    memset(&node, 0, sizeof node); /* nodes are compared by their bytes */
    node.op = PW_SCORE_NUMBER;
    node.value = value;
    return put_node(t, node);
}

static int put_op(struct translation *t, enum pw_score_op op, int function, const int *arg, double from,
                  double step)
{
    struct pw_score_node node;
    memset(&node, 0, sizeof node);
    node.op = op;
    node.function = function;
    node.value = from;
    node.step = step;
    for (int i = 0; arg != NULL && i < 3; i++)
        node.arg[i] = arg[i];
    return put_node(t, node);
}

static int put_variable(struct translation *t, int v)
{
    switch (v) {
    case PW_VAR_I: return put_op(t, PW_SCORE_QUERY, 0, NULL, t->from, t->step);
    case PW_VAR_J: return put_op(t, PW_SCORE_KEY, 0, NULL, t->from, t->step);
    case PW_VAR_DISTANCE: {
        int query = put_op(t, PW_SCORE_QUERY, 0, NULL, 0, t->step);
        int key = put_op(t, PW_SCORE_KEY, 0, NULL, 0, t->step);
        return put_op(t, PW_SCORE_CALL, PW_F_SUBTRACT, (const int[]){query, key, 0}, 0, 0);
    }
    case PW_VAR_HEAD: return put_op(t, PW_SCORE_HEAD, 0, NULL, 0, 0);
    case PW_VAR_GATE:
    case PW_VAR_SCORE: return put_op(t, PW_SCORE_S, 0, NULL, 0, 0);
    default: return put_number(t, t->vars[v]);
    }
}

static bool is_constant(const struct translation *t, int node)
{
    return t->out->node[node].op == PW_SCORE_NUMBER;
}

static int put_call(struct translation *t, const struct pw_node *node)
{
    int arg[3] = {0}, n = pw_functions[node->index].args;
    double a[3] = {0};
    bool constant = true;
    for (int i = 0; i < n; i++) {
        arg[i] = t->to[node->arg[i]];
        constant = constant && is_constant(t, arg[i]);
        a[i] = t->out->node[arg[i]].value;
    }
    if (constant)
        return put_number(t, pw_function_value(node->index, a));
    if (node->index == PW_F_BUCKET || node->index == PW_F_SLOPE) {
        t->code = pw_fail(t->err, PW_EUSER, "%s: %s of a value that is not constant: use it in 'bias'",
                          t->stage, node->index == PW_F_BUCKET ? "bucket" : "slopes()");
        return 0;
    }
    return put_op(t, PW_SCORE_CALL, node->index, arg, 0, 0);
}

static int put_select(struct translation *t, const struct pw_node *node)
{
    int arg[3] = {t->to[node->arg[0]], t->to[node->arg[1]], t->to[node->arg[2]]};
    if (is_constant(t, arg[0]))
        return arg[t->out->node[arg[0]].value != 0 ? 1 : 2];
    return put_op(t, PW_SCORE_SELECT, 0, arg, 0, 0);
}

static int translate(struct translation *t, int k)
{
    const struct pw_node *node = &t->x->node[k];
    for (int i = 0; i < t->n_numbers; i++)
        if (t->number[i] == k)
            return put_op(t, PW_SCORE_LEARNED, i, NULL, 0, 0);
    switch (node->op) {
    case PW_NODE_NUMBER: return put_number(t, node->value);
    case PW_NODE_VAR: return put_variable(t, node->index);
    case PW_NODE_CALL: return put_call(t, node);
    case PW_NODE_SELECT: return put_select(t, node);
    case PW_NODE_DATA:
        t->code = pw_fail(t->err, PW_EUSER, "%s: no numbers of a file here: write them as numbers", t->stage);
        return 0;
    case PW_NODE_SUM:
    case PW_NODE_BOUND:
        t->code = pw_fail(t->err, PW_EUSER, "%s: no 'sum' here: write its terms", t->stage);
        return 0;
    default:
        t->code =
            pw_fail(t->err, PW_EUSER, "%s: no table or network of s, i, j or d: use it in 'bias'", t->stage);
        return 0;
    }
}

static bool is_learned(const struct pw_node *node, const bool *learned)
{
    bool any = pw_node_learns(node);
    for (int i = 0; i < 3; i++)
        any = any || (node->arg[i] >= 0 && learned[node->arg[i]]);
    return any;
}

/* Sets needed [PW_EXPR_NODES] for the nodes that the program has: those that the root reads, but none that
 * only a learned number reads. */
static int mark_program(const struct pw_expr *x, enum pw_stage stage, bool *needed, int *number)
{
    static const uint64_t of_pair = UINT64_C(1) << PW_VAR_SCORE | UINT64_C(1) << PW_VAR_I |
                                    UINT64_C(1) << PW_VAR_J | UINT64_C(1) << PW_VAR_DISTANCE;
    bool learned[PW_EXPR_NODES];
    int root = x->root[stage], n = 0;
    for (int k = 0; k <= root; k++)
        learned[k] = is_learned(&x->node[k], learned);
    memset(needed, 0, PW_EXPR_NODES * sizeof *needed);
    if (root >= 0)
        needed[root] = true;
    for (int k = root; k >= 0; k--) {
        const struct pw_node *node = &x->node[k];
        bool whole = learned[k] && (node->vars & of_pair) == 0 && node->counters == 0;
        if (needed[k] && whole)
            number[n++] = k;
        for (int i = 0; needed[k] && !whole && i < 3; i++)
            if (node->arg[i] >= 0)
                needed[node->arg[i]] = true;
    }
    return n;
}

int pw_expr_numbers(const struct pw_expr *x, int *node)
{
    bool needed[PW_EXPR_NODES];
    return mark_program(x, PW_STAGE_SCORE, needed, node);
}

enum pw_code pw_expr_function(struct pw_score *out, const struct pw_expr *x, enum pw_stage stage,
                              const double *vars, double from, double step, struct pw_err *err)
{
    struct translation t = {.x = x,
                            .vars = vars,
                            .from = from,
                            .step = step,
                            .stage = pw_stage_names[stage],
                            .out = out,
                            .err = err};
    bool needed[PW_EXPR_NODES];
    int root = x->root[stage];
    memset(out, 0, sizeof *out);
    t.n_numbers = mark_program(x, stage, needed, t.number);
    if (t.n_numbers > PW_SCORE_MOST_LEARNED)
        return pw_fail(err, PW_EUSER, "%s: %d numbers of learned parameters: at most %d", t.stage,
                       t.n_numbers, PW_SCORE_MOST_LEARNED);
    for (int k = 0; k <= root && t.code == PW_OK; k++)
        t.to[k] = needed[k] ? translate(&t, k) : -1;
    if (t.code != PW_OK)
        return t.code;
    /* the last node is the result; that of a constant, or of `s` or `g` alone, may lie before others */
    out->n = t.to[root] + 1;
    return PW_OK;
}
