/* print_latex_data.c - a number of a file's array in LaTeX: its indices as the formula has them, not the
 * place in memory that the parser makes of them (parse_calls.c): ((k0 * n1 + k1) * n2 + k2), each k =
 * min(max( round(e), 0), n - 1). Constant parts of it are one number. */
#include <math.h>
#include <string.h>

#include "model/expr/numbers.h"
#include "model/expr/print_int.h"

static bool is_call_of(const struct pw_node *node, const char *name)
{
    return node->op == PW_NODE_CALL && strcmp(pw_functions[node->index].name, name) == 0;
}

/* Returns e of an index; the node itself if it has another form. */
static int index_of(const struct pw_expr *x, int k)
{
    const char *const calls[] = {"min", "max", "round"};
    int e = k;
    for (int i = 0; i < 3; i++) {
        if (!is_call_of(&x->node[e], calls[i]))
            return k;
        e = x->node[e].arg[0];
    }
    return e;
}

void pw_latex_data(const struct pw_print *p, struct pw_str *out, const struct pw_node *node)
{
    const struct pw_expr *x = p->x;
    const struct pw_numbers *data = x->numbers[node->index];
    int index[PW_NUMBERS_DIMS], at = node->arg[0]; /* nodes; -1: the number `fixed` */
    double fixed[PW_NUMBERS_DIMS] = {0}, place = 0;
    bool number = false;
    for (int d = data->n_dims - 1; d >= 0; d--) {
        const struct pw_node *n = at >= 0 ? &x->node[at] : NULL;
        if (!number && n != NULL && n->op == PW_NODE_NUMBER) {
            number = true;
            place = n->value;
        }
        index[d] = -1;
        if (number) {
            fixed[d] = fmod(place, data->dims[d]);
            place = floor(place / data->dims[d]);
        } else if (d == 0) {
            index[d] = index_of(x, at);
        } else {
            int before = x->node[at].arg[0];
            index[d] = index_of(x, x->node[at].arg[1]);
            if (x->node[index[d]].op == PW_NODE_NUMBER) {
                fixed[d] = x->node[index[d]].value;
                index[d] = -1;
            }
            number = x->node[before].op == PW_NODE_NUMBER;
            place = number ? x->node[before].value / data->dims[d] : 0;
            at = number ? -1 : x->node[before].arg[0];
        }
    }
    pw_str_add(out, "\\operatorname{data}_{%d}\\left[", node->index + 1);
    for (int d = 0; d < data->n_dims; d++) {
        pw_str_add(out, d > 0 ? ", " : "");
        if (index[d] >= 0)
            pw_latex_put(p, out, index[d], false);
        else
            pw_str_add(out, "%.0f", fixed[d]);
    }
    pw_str_add(out, "\\right]");
}
