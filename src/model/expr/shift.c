/* shift.c - find out if a stage depends on positions only by their distance.
 *
 * If i and j both grow by t, a node grows by t times its slope, if it has one: i and j have slope 1, d has 0,
 * and sums, differences and multiples follow. A stage of slope 0 is a function of the distance, so its bias
 * needs one value for each distance, not one for each pair of positions. The answer is safe, not complete: a
 * node whose slope is not found has none. */
#include <string.h>

#include "model/expr/expr_int.h"

/* The slope: a number times, or divided by, the values of n nodes, in this order. */
enum { FACTORS = 4 };
struct slope {
    bool known;
    double factor;
    int n, by[FACTORS];
    bool over[FACTORS];
};

static const struct slope flat = {.known = true}, unknown = {0};

static bool is_flat(struct slope s)
{
    return s.known && s.factor == 0;
}

static bool same_factors(const struct slope *a, const struct slope *b)
{
    bool same = a->n == b->n;
    for (int k = 0; same && k < a->n; k++)
        same = a->by[k] == b->by[k] && a->over[k] == b->over[k];
    return same;
}

static struct slope added(struct slope a, struct slope b, double sign)
{
    if (!a.known || !b.known || is_flat(b))
        return b.known ? a : unknown;
    if (is_flat(a)) {
        b.factor *= sign;
        return b;
    }
    if (!same_factors(&a, &b))
        return unknown;
    a.factor += sign * b.factor;
    return a;
}

/* The slope of s times, or over, node k, which is flat. */
static struct slope scaled(const struct pw_expr *x, struct slope s, int k, bool over)
{
    const struct pw_node *node = &x->node[k];
    if (!s.known || s.factor == 0)
        return s;
    if (node->op == PW_NODE_NUMBER) {
        s.factor = over ? s.factor / node->value : s.factor * node->value;
        return s;
    }
    if (s.n == FACTORS)
        return unknown;
    s.by[s.n] = k;
    s.over[s.n++] = over;
    return s;
}

static bool is_call(const struct pw_node *node, const char *name)
{
    return node->op == PW_NODE_CALL && strcmp(pw_functions[node->index].name, name) == 0;
}

static struct slope slope_of(const struct pw_expr *x, int k, const struct slope *before)
{
    const struct pw_node *node = &x->node[k];
    struct slope a = node->arg[0] >= 0 ? before[node->arg[0]] : flat;
    struct slope b = node->arg[1] >= 0 ? before[node->arg[1]] : flat;
    struct slope c = node->arg[2] >= 0 ? before[node->arg[2]] : flat;
    if (node->op == PW_NODE_VAR)
        switch (node->index) {
        case PW_VAR_I:
        case PW_VAR_J: return (struct slope){.known = true, .factor = 1};
        case PW_VAR_N: return unknown; /* it counts keys, whatever the positions are */
        default: return flat;
        }
    if (is_call(node, "+") || is_call(node, "-"))
        return added(a, b, is_call(node, "+") ? 1 : -1);
    if (is_call(node, "-x"))
        return added(flat, a, -1);
    if (is_call(node, "*") && (is_flat(a) || is_flat(b)))
        return is_flat(a) ? scaled(x, b, node->arg[0], false) : scaled(x, a, node->arg[1], false);
    if (is_call(node, "/") && is_flat(b))
        return scaled(x, a, node->arg[1], true);
    if (node->op == PW_NODE_SELECT && is_flat(a))
        return is_flat(added(b, c, -1)) ? b : unknown;
    return is_flat(a) && is_flat(b) && is_flat(c) ? flat : unknown;
}

bool pw_expr_by_distance(const struct pw_expr *x, enum pw_stage stage)
{
    struct slope slope[PW_EXPR_NODES];
    if (x->root[stage] < 0)
        return true;
    for (int k = 0; k <= x->root[stage]; k++)
        slope[k] = slope_of(x, k, slope);
    return is_flat(slope[x->root[stage]]);
}
