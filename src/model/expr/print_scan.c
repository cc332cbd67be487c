/* print_scan.c - properties of the nodes of a stage for the printers: which are numbers in this model, which
 * are needed, and how often. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/expr/print_int.h"

/* The value of a variable that is a number in this model; false if it is none. */
static bool constant_variable(const struct pw_expr_source *src, int var, double *out)
{
    const struct pw_config *c = src->cfg;
    switch (var) {
    case PW_VAR_TRAINED: *out = src->trained; return true;
    case PW_VAR_CONTEXT: *out = c->context; return true;
    case PW_VAR_HEADS: *out = c->heads; return true;
    case PW_VAR_LAYER: *out = src->layer; return true;
    case PW_VAR_LAYERS: *out = c->layers; return true;
    case PW_VAR_PAIRS: *out = pw_expr_pairs(src->x, c); return true;
    case PW_VAR_CHANNELS: *out = c->width; return true;
    case PW_VAR_WIDTH: *out = c->head_width; return true;
    default: return false;
    }
}

static void set_value(struct pw_print_node *n, double value)
{
    n->fixed = true;
    n->value = value;
}

/* Conditions that one operand decides, or whose other operand it leaves unchanged. */
static void fold_logic(struct pw_print *p, int k, bool both)
{
    const struct pw_node *node = &p->x->node[k];
    for (int i = 0; i < 2; i++) {
        const struct pw_print_node *a = &p->node[node->arg[i]];
        if (!a->fixed)
            continue;
        if ((a->value != 0) == both)
            p->node[k].same_as = node->arg[1 - i];
        else
            set_value(&p->node[k], !both);
    }
}

static void fold_call(struct pw_print *p, int k)
{
    const struct pw_node *node = &p->x->node[k];
    const struct pw_function *f = &pw_functions[node->index];
    double a[3] = {0};
    bool fixed = true;
    for (int i = 0; i < f->args; i++) {
        fixed = fixed && p->node[node->arg[i]].fixed;
        a[i] = p->node[node->arg[i]].value;
    }
    if (fixed)
        set_value(&p->node[k], pw_function_value(node->index, a));
    else if (strcmp(f->name, "&&") == 0 || strcmp(f->name, "||") == 0)
        fold_logic(p, k, *f->name == '&');
}

static void fold_node(struct pw_print *p, int k)
{
    const struct pw_node *node = &p->x->node[k];
    struct pw_print_node *n = &p->node[k];
    double value;
    switch (node->op) {
    case PW_NODE_NUMBER: set_value(n, node->value); break;
    case PW_NODE_VAR:
        if (constant_variable(p->src, node->index, &value))
            set_value(n, value);
        break;
    case PW_NODE_CALL: fold_call(p, k); break;
    case PW_NODE_SELECT:
        if (p->node[node->arg[0]].fixed)
            n->same_as = node->arg[p->node[node->arg[0]].value != 0 ? 1 : 2];
        break;
    default: break;
    }
    if (n->same_as >= 0) {
        n->same_as = pw_print_follow(p, n->same_as);
        if (p->node[n->same_as].fixed)
            set_value(n, p->node[n->same_as].value);
    }
}

int pw_print_follow(const struct pw_print *p, int k)
{
    return p->node[k].same_as >= 0 ? p->node[k].same_as : k;
}

bool pw_print_fixed(const struct pw_print *p, int k)
{
    return p->node[pw_print_follow(p, k)].fixed;
}

double pw_print_value(const struct pw_print *p, int k)
{
    return p->node[pw_print_follow(p, k)].value;
}

void pw_print_scan(struct pw_print *p, enum pw_stage stage, bool fold)
{
    const struct pw_expr *x = p->x;
    int root = x->root[stage];
    pw_print_fini(p);
    p->node = pw_alloc((size_t)x->n, sizeof *p->node);
    for (int k = 0; k <= root; k++) {
        p->node[k].same_as = -1;
        if (fold)
            fold_node(p, k);
        else if (x->node[k].op == PW_NODE_NUMBER)
            set_value(&p->node[k], x->node[k].value);
    }
    p->node[pw_print_follow(p, root)].needed = true;
    for (int k = root; k >= 0; k--) {
        const struct pw_node *node = &x->node[k];
        if (!p->node[k].needed || p->node[k].fixed)
            continue;
        for (int i = 0; i < 3; i++)
            if (node->arg[i] >= 0) {
                int a = pw_print_follow(p, node->arg[i]);
                p->node[a].needed = true;
                bool term = node->op == PW_NODE_SUM && i == 2;
                /* parts that all terms of a sum share are computed once, before it */
                p->node[a].uses += term || x->node[a].counters == node->counters ? 1 : 2;
            }
    }
}

void pw_print_fini(struct pw_print *p)
{
    for (int k = 0; p->node != NULL && k < p->x->n; k++)
        pw_str_fini(&p->node[k].text);
    free(p->node);
    p->node = NULL;
}

bool pw_print_reads(const struct pw_print *p, enum pw_expr_var var)
{
    for (int k = 0; k < p->x->n; k++)
        if (p->node[k].needed && p->x->node[k].op == PW_NODE_VAR && p->x->node[k].index == (int)var)
            return true;
    return false;
}

bool pw_print_reads_param(const struct pw_print *p, int param)
{
    for (int k = 0; k < p->x->n; k++) {
        const struct pw_node *node = &p->x->node[k];
        bool reads = node->op == PW_NODE_PARAM || node->op == PW_NODE_ENTRY || node->op == PW_NODE_BETWEEN;
        if (p->node[k].needed && reads && node->index == param)
            return true;
    }
    return false;
}

const struct pw_expr_name *pw_print_name(const struct pw_expr *x, int k)
{
    if (x->node[k].op == PW_NODE_NUMBER || x->node[k].op == PW_NODE_VAR || x->node[k].op == PW_NODE_PARAM)
        return NULL;
    for (int i = 0; i < x->n_names; i++)
        if (x->name[i].node == k)
            return &x->name[i];
    return NULL;
}

bool pw_print_is_name(const struct pw_expr *x, const char *word, int length)
{
    for (int i = 0; i < x->n_names; i++)
        if (x->name[i].length == length && memcmp(x->text + x->name[i].at, word, (size_t)length) == 0)
            return true;
    for (int i = 0; i < x->n_params; i++)
        if ((int)strlen(x->param[i].name) == length && memcmp(x->param[i].name, word, (size_t)length) == 0)
            return true;
    return false;
}

void pw_print_number(struct pw_str *out, double v)
{
    char text[40];
    int digits = 1;
    if (v == floor(v) && fabs(v) < 1e9) {
        pw_str_add(out, "%.0f", v == 0 ? 0 : v);
        return;
    }
    do
        snprintf(text, sizeof text, "%.*g", digits, v);
    while (digits++ < 17 && strtod(text, NULL) != v);
    pw_str_add(out, "%s", text);
}
