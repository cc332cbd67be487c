/* score.h - a function that attention applies to every finished score before the softmax, as "soft capping"
 * does: cap * tanh(s / cap) (Gemma 2). Terms of rows are sums of such functions of a gate, too (terms_fwd in
 * backend.h). One definition for the cpu backend and for CUDA kernels.
 *
 * The function is a short program in double precision. Node k reads nodes below k only; the last one is the
 * result. One derivative is computed beside each value, for the backward pass: with respect to s, or to one
 * of the learned numbers that the program reads. A score of -inf, with which a bias hides a key, stays as it
 * is. */
#ifndef PW_SCORE_H
#define PW_SCORE_H
#include "kernels/expr_maths.h"

enum { PW_SCORE_NODES = 64, PW_SCORE_MOST_LEARNED = 16 /* learned numbers */ };

enum pw_score_op {
    PW_SCORE_NUMBER,  /* value */
    PW_SCORE_S,       /* the finished score, or the gate */
    PW_SCORE_QUERY,   /* value + step * the query's position id */
    PW_SCORE_KEY,     /* value + step * the key's position id */
    PW_SCORE_HEAD,    /* the head, from 0 */
    PW_SCORE_CALL,    /* function of nodes arg[]; all but BUCKET and SLOPE */
    PW_SCORE_SELECT,  /* arg[0] != 0 ? arg[1] : arg[2] */
    PW_SCORE_LEARNED, /* learned number `function` of the head */
};

struct pw_score_node {
    int op, function; /* enum pw_score_op; CALL: enum pw_expr_function; LEARNED: which number */
    int arg[3];       /* unused ones are 0 */
    double value, step;
};

struct pw_score {
    int n; /* 1 .. PW_SCORE_NODES */
    struct pw_score_node node[PW_SCORE_NODES];
};

/* One pair of a query and a key, by position ids, of head h. */
struct pw_score_pair {
    int query, key, h;
    const float *learned; /* the head's learned numbers; NULL: the program reads none */
};

/* Returns the function's value at the score s, rounded. *slope receives its derivative with respect to
 * learned number `along`, or to s if `along` is -1. */
PW_BOTH float pw_score_along(const struct pw_score *x, struct pw_score_pair pair, float s, int along,
                             float *slope)
{
    double v[PW_SCORE_NODES], g[PW_SCORE_NODES], by[3];
    *slope = 0;
    if (isinf(s) && s < 0)
        return s; /* a bias hides the key */
    for (int k = 0; k < x->n; k++) {
        const struct pw_score_node *node = &x->node[k];
        const int *arg = node->arg;
        double a, b, c;
        v[k] = g[k] = 0; /* node 0 may name itself */
        a = v[arg[0]];
        switch (node->op) {
        case PW_SCORE_NUMBER: v[k] = node->value; break;
        case PW_SCORE_S:
            v[k] = (double)s;
            g[k] = along < 0;
            break;
        case PW_SCORE_LEARNED:
            v[k] = (double)pair.learned[node->function];
            g[k] = along == node->function;
            break;
        case PW_SCORE_QUERY: v[k] = node->value + node->step * pair.query; break;
        case PW_SCORE_KEY: v[k] = node->value + node->step * pair.key; break;
        case PW_SCORE_HEAD: v[k] = pair.h; break;
        case PW_SCORE_SELECT:
            v[k] = a != 0 ? v[arg[1]] : v[arg[2]];
            g[k] = a != 0 ? g[arg[1]] : g[arg[2]];
            break;
        default:
            b = v[arg[1]];
            c = v[arg[2]];
            v[k] = pw_f_value((enum pw_expr_function)node->function, a, b, c);
            if (g[arg[0]] == 0 && g[arg[1]] == 0 && g[arg[2]] == 0)
                break;
            pw_f_slopes((enum pw_expr_function)node->function, a, b, c, v[k], by);
            for (int i = 0; i < 3; i++)
                g[k] += pw_f_product(by[i], g[arg[i]]);
            break;
        }
    }
    *slope = (float)g[x->n - 1];
    return (float)v[x->n - 1];
}

PW_BOTH float pw_score_value(const struct pw_score *x, struct pw_score_pair pair, float s, float *slope)
{
    return pw_score_along(x, pair, s, -1, slope);
}

#endif
