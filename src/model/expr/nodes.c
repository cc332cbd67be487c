/* nodes.c - building the register program: equal nodes are one, operations on constants are constants. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "model/expr/expr_int.h"

bool pw_node_same(const struct pw_node *a, const struct pw_node *b)
{
    return a->op == b->op && a->index == b->index && memcmp(a->arg, b->arg, sizeof a->arg) == 0 &&
           memcmp(&a->value, &b->value, sizeof a->value) == 0;
}

static int number_node(struct pw_expr *x, double value)
{
    return pw_expr_node(x, (struct pw_node){.op = PW_NODE_NUMBER, .arg = {-1, -1, -1}, .value = value});
}

static bool is_number(const struct pw_expr *x, int k)
{
    return k < 0 || x->node[k].op == PW_NODE_NUMBER;
}

bool pw_node_in(const struct pw_node *node, int loop)
{
    return loop < 0 ? node->counters == 0
                    : node->counters >> loop == 1; /* an inner sum has a higher number */
}

static unsigned counters_of(const struct pw_expr *x, const struct pw_node *node)
{
    unsigned counters = node->op == PW_NODE_BOUND ? 1u << node->index : 0;
    for (int i = 0; i < 3; i++)
        if (node->arg[i] >= 0)
            counters |= x->node[node->arg[i]].counters;
    return node->op == PW_NODE_SUM ? counters & ~(1u << node->index) : counters;
}

static uint64_t vars_of(const struct pw_expr *x, const struct pw_node *node)
{
    uint64_t vars = node->op == PW_NODE_VAR ? UINT64_C(1) << node->index : 0;
    for (int i = 0; i < 3; i++)
        if (node->arg[i] >= 0)
            vars |= x->node[node->arg[i]].vars;
    return vars;
}

int pw_expr_node(struct pw_expr *x, struct pw_node node)
{
    if (node.op == PW_NODE_CALL && is_number(x, node.arg[0]) && is_number(x, node.arg[1]) &&
        is_number(x, node.arg[2])) {
        double a[3] = {0};
        for (int i = 0; i < pw_functions[node.index].args; i++)
            a[i] = x->node[node.arg[i]].value;
        return number_node(x, pw_function_value(node.index, a));
    }
    if (node.op == PW_NODE_SELECT && is_number(x, node.arg[0]))
        return x->node[node.arg[0]].value != 0 ? node.arg[1] : node.arg[2];
    node.counters = counters_of(x, &node);
    node.vars = vars_of(x, &node);
    for (int k = 0; k < x->n; k++)
        if (pw_node_same(&x->node[k], &node))
            return k;
    if (x->n == PW_EXPR_NODES)
        return -1;
    if (x->n == x->cap) {
        x->cap = x->cap == 0 ? 16 : 2 * x->cap;
        x->node = pw_grow(x->node, (size_t)x->cap, sizeof *x->node);
    }
    x->node[x->n] = node;
    return x->n++;
}
