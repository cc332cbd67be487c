/* ranges.c - bounds of a stage's values, by interval arithmetic (Moore 1966, "Interval Analysis"). A bound
 * that is found holds for every input in its range, so a check need not try them all. A bound that is not
 * found says nothing: 1 / d for d from 0 to 9 has none, and neither has (d == 0 ? 0 : 1 / d). */
#include <math.h>

#include "kernels/expr_maths.h"
#include "model/expr/expr_int.h"

#define HUGE_BOUND    1e300 /* larger bounds count as none */
#define LARGEST_ANGLE (0.99 * PW_MOST_ANGLE)
#define ROUNDING      1e-9 /* relative; covers the rounding of what the bounds are computed with */

static const struct pw_bounds none = {NAN, NAN};

static bool known(struct pw_bounds r)
{
    return r.lo <= r.hi;
}

static struct pw_bounds widened(double lo, double hi)
{
    lo -= ROUNDING * fabs(lo);
    hi += ROUNDING * fabs(hi);
    return lo >= -HUGE_BOUND && hi <= HUGE_BOUND ? (struct pw_bounds){lo, hi} : none;
}

static double largest(struct pw_bounds r)
{
    return fmax(fabs(r.lo), fabs(r.hi));
}

static struct pw_bounds hull(struct pw_bounds a, struct pw_bounds b)
{
    return known(a) && known(b) ? (struct pw_bounds){fmin(a.lo, b.lo), fmax(a.hi, b.hi)} : none;
}

/* The range of a function of two arguments whose extremes are at ends of the ranges of its arguments. */
static struct pw_bounds corners(enum pw_expr_function f, struct pw_bounds a, struct pw_bounds b)
{
    double v[4] = {pw_f_value(f, a.lo, b.lo, 0), pw_f_value(f, a.lo, b.hi, 0), pw_f_value(f, a.hi, b.lo, 0),
                   pw_f_value(f, a.hi, b.hi, 0)};
    return widened(fmin(fmin(v[0], v[1]), fmin(v[2], v[3])), fmax(fmax(v[0], v[1]), fmax(v[2], v[3])));
}

/* The range of an ascending function. */
static struct pw_bounds ascending(enum pw_expr_function f, struct pw_bounds a)
{
    return widened(pw_f_value(f, a.lo, 0, 0), pw_f_value(f, a.hi, 0, 0));
}

static bool excludes_zero(struct pw_bounds r)
{
    return r.lo > 0 || r.hi < 0;
}

static struct pw_bounds power(struct pw_bounds a, struct pw_bounds b)
{
    if (a.lo > 0 || (a.lo == 0 && b.lo > 0))
        return corners(PW_F_POW, a, b);
    if (b.lo != b.hi || b.lo != floor(b.lo) || b.lo < 0)
        return none;
    double most = pw_f_pow(largest(a), b.lo);
    return widened(-most, most);
}

static struct pw_bounds absolute(struct pw_bounds a)
{
    return (struct pw_bounds){a.lo <= 0 && a.hi >= 0 ? 0 : fmin(fabs(a.lo), fabs(a.hi)), largest(a)};
}

static struct pw_bounds call(const struct pw_expr *x, const struct pw_node *node, const struct pw_bounds *of)
{
    static const struct pw_bounds zero = {0, 0}, truth = {0, 1}, unit = {-1, 1};
    enum pw_expr_function f = (enum pw_expr_function)node->index;
    struct pw_bounds a = of[node->arg[0]], b = node->arg[1] >= 0 ? of[node->arg[1]] : zero,
                     c = node->arg[2] >= 0 ? of[node->arg[2]] : zero;
    if (!known(a) || !known(b) || !known(c))
        return none;
    switch (f) {
    case PW_F_ADD: return widened(a.lo + b.lo, a.hi + b.hi);
    case PW_F_SUBTRACT: return widened(a.lo - b.hi, a.hi - b.lo);
    case PW_F_MULTIPLY: return corners(f, a, b);
    case PW_F_DIVIDE: return excludes_zero(b) ? corners(f, a, b) : none;
    case PW_F_MODULO: { /* a - b * floor(a / b): between 0 and b, but for the rounding of its product */
        double rounding = ROUNDING * (1 + largest(a));
        return excludes_zero(b) ? widened(fmin(b.lo, 0) - rounding, fmax(b.hi, 0) + rounding) : none;
    }
    case PW_F_RAISE:
    case PW_F_POW: return power(a, b);
    case PW_F_NEGATE: return (struct pw_bounds){-a.hi, -a.lo};
    case PW_F_MIN: return (struct pw_bounds){fmin(a.lo, b.lo), fmin(a.hi, b.hi)};
    case PW_F_MAX: return (struct pw_bounds){fmax(a.lo, b.lo), fmax(a.hi, b.hi)};
    case PW_F_CLIP: return hull(b, c);
    case PW_F_ABS: return absolute(a);
    case PW_F_FLOOR:
    case PW_F_ROUND:
    case PW_F_EXP:
    case PW_F_RELU:
    case PW_F_SOFTPLUS: return ascending(f, a);
    case PW_F_LOG:
    case PW_F_LOG2: return a.lo > 0 ? ascending(f, a) : none;
    case PW_F_LOG1P: return a.lo > -1 ? ascending(f, a) : none;
    case PW_F_SQRT: return a.lo >= 0 ? ascending(f, a) : none;
    case PW_F_SIN:
    case PW_F_COS: return largest(a) < LARGEST_ANGLE ? unit : none;
    case PW_F_TANH:
    case PW_F_ERF: return unit;
    case PW_F_BUCKET: return (struct pw_bounds){0, x->node[node->arg[1]].value};
    default: return truth; /* comparisons, sigmoid, slopes */
    }
}

/* The values with which the check of a formula begins: a drawn one has either sign. */
static struct pw_bounds initial(const struct pw_expr_param *q)
{
    return (struct pw_bounds){q->drawn ? -q->value : q->value, q->value};
}

static struct pw_bounds network(const struct pw_expr *x, const struct pw_node *node, struct pw_bounds in)
{
    const struct pw_expr_param *w = &x->param[node->index];
    double hidden = w[0].value * largest(in) + w[1].value;
    double most = w[0].size * w[2].value * hidden + w[3].value;
    return known(in) ? widened(-most, most) : none;
}

/* A sum that reads the counter of another one has no bound here: its terms count as often as the other's. */
static struct pw_bounds sum(const struct pw_node *node, const struct pw_bounds *of, double *terms)
{
    struct pw_bounds from = of[node->arg[0]], to = of[node->arg[1]], each = of[node->arg[2]];
    double n = fmax(0, floor(to.hi) - ceil(from.lo) + 1);
    *terms += n;
    if (!known(from) || !known(to) || !known(each) || !(*terms < PW_SUM_MOST) || node->counters != 0)
        return none;
    return widened(fmin(0, n * each.lo), fmax(0, n * each.hi));
}

static struct pw_bounds choice(const struct pw_bounds *of, const struct pw_node *node)
{
    struct pw_bounds if_so = of[node->arg[0]];
    if (!known(if_so))
        return none;
    if (excludes_zero(if_so))
        return of[node->arg[1]];
    return if_so.lo == 0 && if_so.hi == 0 ? of[node->arg[2]] : hull(of[node->arg[1]], of[node->arg[2]]);
}

/* The range of the counter of a sum. The ends of a sum come before its terms. */
static struct pw_bounds counter(const struct pw_expr *x, int loop, const struct pw_bounds *of)
{
    for (int k = 0; k < x->n; k++)
        if (x->node[k].op == PW_NODE_SUM && x->node[k].index == loop) {
            struct pw_bounds from = of[x->node[k].arg[0]], to = of[x->node[k].arg[1]];
            return known(from) && known(to) ? (struct pw_bounds){from.lo, fmax(to.hi, from.lo)} : none;
        }
    return none;
}

bool pw_expr_within(const struct pw_expr *x, enum pw_stage stage, const struct pw_bounds *vars, double most)
{
    struct pw_bounds of[PW_EXPR_NODES];
    bool needed[PW_EXPR_NODES];
    double terms = 0;
    int root = x->root[stage];
    pw_expr_mark(x, root, needed);
    for (int k = 0; k <= root; k++) {
        const struct pw_node *node = &x->node[k];
        if (!needed[k])
            continue;
        switch (node->op) {
        case PW_NODE_NUMBER:
            of[k] = fabs(node->value) <= HUGE_BOUND ? (struct pw_bounds){node->value, node->value} : none;
            break;
        case PW_NODE_VAR: of[k] = vars[node->index]; break;
        case PW_NODE_BOUND: of[k] = counter(x, node->index, of); break;
        case PW_NODE_PARAM:
        case PW_NODE_ENTRY:
        case PW_NODE_BETWEEN: of[k] = initial(&x->param[node->index]); break;
        case PW_NODE_SAMPLE:
        case PW_NODE_DATA: of[k] = none; break; /* a few numbers of a file are as soon tried */
        case PW_NODE_CALL: of[k] = call(x, node, of); break;
        case PW_NODE_SELECT: of[k] = choice(of, node); break;
        case PW_NODE_SUM: of[k] = sum(node, of, &terms); break;
        case PW_NODE_NETWORK: of[k] = network(x, node, of[node->arg[0]]); break;
        }
    }
    return known(of[root]) && largest(of[root]) <= most;
}
