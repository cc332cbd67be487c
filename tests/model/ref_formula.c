/* ref_formula.c - random formulas. */
#include "ref_formula.h"

#include <string.h>

unsigned ref_any(struct ref_maker *m, unsigned n)
{
    return pw_rng_below(&m->rng, n);
}

void ref_add_expression(struct ref_maker *m, int depth)
{
    static const char *const smooth[] = {"tanh", "sigmoid",   "softplus",        "sin",     "cos",
                                         "erf",  "log1p(exp", "sqrt(1.1 + tanh", "exp(tanh"};
    static const char *const signs[] = {"+", "-", "*", "/"};
    unsigned n = 0;
    if (depth == 0) {
        while (m->leaves[n] != NULL)
            n++;
        pw_str_add(&m->out, "%s", m->leaves[ref_any(m, n)]);
        return;
    }
    switch (ref_any(m, 7)) {
    case 0: {
        const char *f = smooth[ref_any(m, sizeof smooth / sizeof *smooth)];
        pw_str_add(&m->out, "%s(tanh(", f);
        ref_add_expression(m, depth - 1);
        pw_str_add(&m->out, "))%s", strchr(f, '(') != NULL ? ")" : "");
        break;
    }
    case 1:
        pw_str_add(&m->out, "(%s > 1.2 ? ", ref_any(m, 2) ? "d" : "h");
        ref_add_expression(m, depth - 1);
        pw_str_add(&m->out, " : ");
        ref_add_expression(m, depth - 1);
        pw_str_add(&m->out, ")");
        break;
    case 2:
        pw_str_add(&m->out, "sum(k=1..3, k * ");
        ref_add_expression(m, depth - 1);
        pw_str_add(&m->out, ")");
        break;
    case 3:
        pw_str_add(&m->out, "list(");
        ref_add_expression(m, depth - 1);
        pw_str_add(&m->out, ", ");
        ref_add_expression(m, depth - 1);
        pw_str_add(&m->out, ")[%s]", ref_any(m, 2) ? "d / 7" : "h");
        break;
    default: {
        const char *sign = signs[ref_any(m, 4)];
        pw_str_add(&m->out, "(");
        ref_add_expression(m, depth - 1);
        pw_str_add(&m->out, " %s ", sign);
        if (*sign == '/')
            pw_str_add(&m->out, "(2.1 + tanh(");
        ref_add_expression(m, depth - 1);
        pw_str_add(&m->out, *sign == '/' ? ")))" : ")");
    }
    }
}
