/* eval.c - evaluate a formula, and the derivative with respect to its learned parameters in reverse order of
 * its nodes. A stage evaluates the nodes that it needs. */
#include <math.h>
#include <string.h>

#include "kernels/expr_maths.h"
#include "model/expr/expr_int.h"

struct pass {
    const struct pw_expr *x;
    const double *vars, *const *param;
    double *regs, counter[PW_EXPR_SUMS];
    int terms;              /* of sums, in this evaluation */
    pw_expr_sorted *sorted; /* of `sample` */
    void *arg;
};

/* Index of the entry, and the share of the one after it. */
static int entry_of(const struct pw_node *node, int size, double at, double *share)
{
    return pw_f_entry(at, size, node->op == PW_NODE_BETWEEN, share);
}

/* The number at a place, which lies inside of the array unless it is NaN. */
static double number_of(const struct pw_numbers *x, double at)
{
    return at >= 0 && at < (double)x->n ? (double)x->v[(size_t)at] : NAN;
}

static double network(const struct pass *p, const struct pw_node *node, double in)
{
    const double *const *w = p->param + node->index;
    double sum = w[3][0];
    for (int k = 0; k < p->x->param[node->index].size; k++) {
        double hidden = fma(w[0][k], in, w[1][k]);
        sum = fma(w[2][k], 0 > hidden ? 0 : hidden, sum);
    }
    return sum;
}

/* Is the node of another stage? Where no stage that is evaluated has learned parameters, there are no values
 * of them. */
static bool is_foreign(const struct pass *p, const struct pw_node *node)
{
    return p->param == NULL && pw_node_learns(node);
}

static void eval_range(struct pass *p, int from, int to, int loop);

static long sum_from(const struct pass *p, const struct pw_node *node, long *to)
{
    double a = ceil(p->regs[node->arg[0]]), b = floor(p->regs[node->arg[1]]);
    if (!(a <= b)) { /* also NaN */
        *to = -1;
        return 0;
    }
    *to = (long)b;
    return (long)a;
}

static double value_of(struct pass *p, int k)
{
    const struct pw_node *node = &p->x->node[k];
    double a[3], share, sum = 0;
    long from, to;
    for (int i = 0; i < 3; i++)
        a[i] = node->arg[i] >= 0 && !(node->op == PW_NODE_SUM && i == 2) ? p->regs[node->arg[i]] : 0;
    if (is_foreign(p, node))
        return NAN;
    switch (node->op) {
    case PW_NODE_NUMBER: return node->value;
    case PW_NODE_VAR: return p->vars[node->index];
    case PW_NODE_BOUND: return p->counter[node->index];
    case PW_NODE_PARAM: return p->param[node->index][0];
    case PW_NODE_ENTRY:
    case PW_NODE_BETWEEN: {
        const double *t = p->param[node->index];
        int low = entry_of(node, p->x->param[node->index].size, a[0], &share);
        return share > 0 ? t[low] + share * (t[low + 1] - t[low]) : t[low];
    }
    case PW_NODE_DATA: return number_of(p->x->numbers[node->index], a[0]);
    case PW_NODE_CALL: return pw_function_value(node->index, a);
    case PW_NODE_SELECT: return a[0] != 0 ? a[1] : a[2];
    case PW_NODE_NETWORK: return network(p, node, a[0]);
    case PW_NODE_SAMPLE: return p->sorted == NULL ? NAN : p->sorted(p->arg, node->index, a[0], a[1], a[2]);
    case PW_NODE_SUM:
        if (!(p->regs[node->arg[1]] - p->regs[node->arg[0]] < PW_SUM_MOST))
            return NAN;
        from = sum_from(p, node, &to);
        for (long c = from; c <= to; c++) {
            if (p->terms++ == PW_SUM_MOST)
                return NAN;
            p->counter[node->index] = (double)c;
            eval_range(p, 0, k, node->index);
            sum += p->regs[node->arg[2]];
        }
        return sum;
    }
    return NAN;
}

/* Evaluates the nodes whose innermost sum is `loop`. */
static void eval_range(struct pass *p, int from, int to, int loop)
{
    for (int k = from; k < to; k++)
        if (pw_node_in(&p->x->node[k], loop))
            p->regs[k] = value_of(p, k);
}

double pw_expr_eval_changed(const struct pw_expr *x, enum pw_stage stage, const double *vars,
                            const double *const *param, double *regs, uint64_t changed)
{
    struct pass p = {.x = x, .vars = vars, .param = param, .regs = regs};
    for (int k = 0; k <= x->root[stage]; k++)
        if (x->node[k].vars & changed && x->node[k].counters == 0)
            regs[k] = value_of(&p, k);
    return regs[x->root[stage]];
}

/* Marks the nodes without counters that the root reads. A sum evaluates all nodes of its loop, so with one
 * all nodes are marked. */
static void mark_read(const struct pw_expr *x, int root, const double *regs, uint64_t changed, bool *read)
{
    bool all = false;
    memset(read, 0, (size_t)(root + 1) * sizeof *read);
    read[root] = true;
    for (int k = root; k >= 0 && !all; k--) {
        const struct pw_node *node = &x->node[k];
        bool chosen = node->op == PW_NODE_SELECT && (x->node[node->arg[0]].vars & changed) == 0;
        int skipped = !chosen ? -1 : regs[node->arg[0]] != 0 ? 2 : 1;
        all = read[k] && node->op == PW_NODE_SUM;
        for (int i = 0; i < 3 && read[k]; i++)
            if (node->arg[i] >= 0 && i != skipped)
                read[node->arg[i]] = true;
    }
    for (int k = 0; k <= root && all; k++)
        read[k] = x->node[k].counters == 0;
}

int pw_expr_plan(const struct pw_expr *x, enum pw_stage stage, const double *regs, uint64_t changed,
                 int *nodes)
{
    bool read[PW_EXPR_NODES];
    int n = 0;
    mark_read(x, x->root[stage], regs, changed, read);
    for (int k = 0; k <= x->root[stage]; k++)
        if (read[k] && (x->node[k].vars & changed) != 0)
            nodes[n++] = k;
    return n;
}

double pw_expr_follow(const struct pw_expr *x, enum pw_stage stage, const double *vars,
                      const double *const *param, double *regs, const int *nodes, int n)
{
    struct pass p; /* a sum sets its counter before it is read */
    p.x = x;
    p.vars = vars;
    p.param = param;
    p.regs = regs;
    p.terms = 0;
    p.sorted = NULL;
    for (int k = 0; k < n; k++) { /* the frequent nodes; a table has thousands of entries */
        const struct pw_node *node = &x->node[nodes[k]];
        const int *arg = node->arg;
        if (node->op == PW_NODE_VAR) {
            regs[nodes[k]] = vars[node->index];
        } else if (node->op == PW_NODE_CALL) {
            const double a[3] = {arg[0] >= 0 ? regs[arg[0]] : 0, arg[1] >= 0 ? regs[arg[1]] : 0,
                                 arg[2] >= 0 ? regs[arg[2]] : 0};
            regs[nodes[k]] = pw_function_value(node->index, a);
        } else {
            regs[nodes[k]] = value_of(&p, nodes[k]);
        }
    }
    return regs[x->root[stage]];
}

double pw_expr_eval(const struct pw_expr *x, enum pw_stage stage, const double *vars,
                    const double *const *param, double *regs)
{
    struct pass p = {.x = x, .vars = vars, .param = param, .regs = regs};
    eval_range(&p, 0, x->root[stage] + 1, -1);
    return regs[x->root[stage]];
}

double pw_expr_eval_position(const struct pw_expr *x, const double *vars, double *regs,
                             pw_expr_sorted *sorted, void *arg)
{
    struct pass p = {.x = x, .vars = vars, .regs = regs, .sorted = sorted, .arg = arg};
    eval_range(&p, 0, x->root[PW_STAGE_POSITION] + 1, -1);
    return regs[x->root[PW_STAGE_POSITION]];
}

/* ---- gradient */

struct back {
    struct pass p;
    double *adjoint, *const *d_param;
};

static void back_network(struct back *b, const struct pw_node *node, double g)
{
    const double *const *w = b->p.param + node->index;
    double *const *d = b->d_param + node->index, in = b->p.regs[node->arg[0]], d_in = 0;
    for (int k = 0; k < b->p.x->param[node->index].size; k++) {
        double hidden = fma(w[0][k], in, w[1][k]);
        if (hidden > 0) {
            d[2][k] += g * hidden;
            d[1][k] += g * w[2][k];
            d[0][k] += g * w[2][k] * in;
            d_in += w[2][k] * w[0][k];
        }
    }
    d[3][0] += g;
    b->adjoint[node->arg[0]] += g * d_in;
}

static void back_range(struct back *b, int to, int loop);

static void back_sum(struct back *b, int k, double g)
{
    const struct pw_node *node = &b->p.x->node[k];
    long to, from;
    if (isnan(b->p.regs[k]))
        return; /* too many terms, or a term that is no number */
    from = sum_from(&b->p, node, &to);
    for (long c = from; c <= to; c++) {
        b->p.counter[node->index] = (double)c;
        eval_range(&b->p, 0, k, node->index);
        for (int i = 0; i < k; i++)
            if (pw_node_in(&b->p.x->node[i], node->index))
                b->adjoint[i] = 0;
        b->adjoint[node->arg[2]] += g;
        back_range(b, k, node->index);
    }
}

static void back_node(struct back *b, int k)
{
    const struct pw_node *node = &b->p.x->node[k];
    double g = b->adjoint[k], a[3], slope[3] = {0}, share;
    if (g == 0)
        return;
    for (int i = 0; i < 3; i++)
        a[i] = node->arg[i] >= 0 ? b->p.regs[node->arg[i]] : 0;
    switch (node->op) {
    case PW_NODE_NUMBER:
    case PW_NODE_VAR:
    case PW_NODE_DATA: /* rounded, so its slope is 0 */
    case PW_NODE_SAMPLE:
    case PW_NODE_BOUND: break;
    case PW_NODE_PARAM: b->d_param[node->index][0] += g; break;
    case PW_NODE_ENTRY:
    case PW_NODE_BETWEEN: {
        int size = b->p.x->param[node->index].size, low = entry_of(node, size, a[0], &share);
        const double *t = b->p.param[node->index];
        double *d = b->d_param[node->index];
        d[low] += g * (1 - share);
        if (share > 0)
            d[low + 1] += g * share;
        if (node->op == PW_NODE_BETWEEN && a[0] > 0 && low + 1 < size)
            b->adjoint[node->arg[0]] += g * (t[low + 1] - t[low]);
        break;
    }
    case PW_NODE_CALL:
        if (!pw_functions[node->index].smooth)
            break;
        pw_function_slopes(node->index, a, b->p.regs[k], slope);
        for (int i = 0; i < pw_functions[node->index].args; i++)
            if (slope[i] != 0)
                b->adjoint[node->arg[i]] += g * slope[i];
        break;
    case PW_NODE_SELECT: b->adjoint[node->arg[a[0] != 0 ? 1 : 2]] += g; break;
    case PW_NODE_NETWORK: back_network(b, node, g); break;
    case PW_NODE_SUM: back_sum(b, k, g); break;
    }
}

static void back_range(struct back *b, int to, int loop)
{
    for (int k = to - 1; k >= 0; k--)
        if (pw_node_in(&b->p.x->node[k], loop))
            back_node(b, k);
}

void pw_expr_gradient(const struct pw_expr *x, enum pw_stage stage, const double *vars,
                      const double *const *param, double *regs, double grad, double *const *d_param,
                      double *adjoint)
{
    struct back b = {{.x = x, .vars = vars, .param = param, .regs = regs}, adjoint, d_param};
    memset(adjoint, 0, (size_t)x->n * sizeof *adjoint);
    adjoint[x->root[stage]] = grad;
    back_range(&b, x->root[stage] + 1, -1);
}
