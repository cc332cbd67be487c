/* print_latex_file.c - a formula as equations for amsmath's align: one for each expression that it names, and
 * one for each stage. The trained values are a comment. */
#include <stdio.h>
#include <string.h>

#include "model/expr/numbers.h"
#include "model/expr/print_int.h"

/* The variables that a node reads, as bits, and for a term of a sum its counters. */
static unsigned reads_of(const struct pw_expr *x, int node, bool *head, bool *layer)
{
    bool needed[PW_EXPR_NODES] = {false};
    unsigned vars = 0;
    needed[node] = true;
    for (int k = node; k >= 0; k--) {
        const struct pw_node *n = &x->node[k];
        if (!needed[k])
            continue;
        for (int i = 0; i < 3; i++)
            if (n->arg[i] >= 0)
                needed[n->arg[i]] = true;
        if (n->op == PW_NODE_VAR)
            vars |= 1u << n->index;
        if (n->op == PW_NODE_NETWORK)
            *head = true;
        if (n->op == PW_NODE_PARAM || n->op == PW_NODE_ENTRY || n->op == PW_NODE_BETWEEN) {
            *head = *head || x->param[n->index].axis == PW_AXIS_HEAD;
            vars |= x->param[n->index].axis == PW_AXIS_CHANNEL ? 1u << PW_VAR_CHANNEL
                    : x->param[n->index].axis == PW_AXIS_PAIR  ? 1u << PW_VAR_PAIR
                    : x->param[n->index].axis == PW_AXIS_MIX   ? 1u << PW_VAR_MIX
                                                               : 0;
            *layer = *layer || x->param[n->index].per_layer;
        }
    }
    return vars;
}

const char *pw_latex_variable(const struct pw_node *node)
{
    return node->value == 0          ? pw_latex_variables[node->index]
           : node->index == PW_VAR_I ? "\\operatorname{position}(i)"
                                     : "\\operatorname{position}(j)";
}

/* Append what a named expression depends on as its index: m = slopes()[h] is m_{h}. */
static void put_index(struct pw_str *out, const struct pw_expr *x, int node)
{
    static const enum pw_expr_var order[] = {PW_VAR_HEAD,    PW_VAR_LAYER, PW_VAR_I,
                                             PW_VAR_J,       PW_VAR_PAIR,  PW_VAR_DISTANCE,
                                             PW_VAR_CHANNEL, PW_VAR_N,     PW_VAR_MIX};
    bool head = false, layer = false, first = true;
    unsigned vars = reads_of(x, node, &head, &layer);
    vars |= (head ? 1u << PW_VAR_HEAD : 0) | (layer ? 1u << PW_VAR_LAYER : 0);
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        if (vars >> order[i] & 1) {
            pw_str_add(out, "%s%s", first ? "_{" : ",", pw_latex_variables[order[i]]);
            first = false;
        }
    pw_str_add(out, first ? "" : "}");
}

/* Write all nodes of a stage. A named expression becomes an equation, once, and then a symbol. */
static void put_stage(struct pw_print *p, enum pw_stage stage, bool *known)
{
    static const char *const head[PW_STAGES] = {
        "\\operatorname{position}(i)",        "\\operatorname{embed}_{i,c}",
        "\\operatorname{angle}_{i,p}",        "\\operatorname{gain}_{i,p}",
        "\\operatorname{bias}_{h}(i, j)",     "\\operatorname{scale}_{h}(i)",
        "\\operatorname{score}_{h}(s, i, j)", "\\operatorname{mask}_{h}(i, j)",
        "\\operatorname{gate}_{h}(g)",        "\\operatorname{mix}_{m}(d)"};
    const struct pw_expr *x = p->x;
    int root = x->root[stage];
    pw_print_scan(p, stage, false);
    for (int k = 0; k <= root; k++) {
        const struct pw_expr_name *name = pw_print_name(x, k);
        struct pw_print_node *n = &p->node[k];
        if (!n->needed)
            continue;
        pw_latex_node(p, k);
        if (name == NULL)
            continue;
        struct pw_str symbol = {0};
        pw_latex_symbol(&symbol, x->text + name->at, name->length);
        put_index(&symbol, x, k);
        if (!known[k])
            pw_str_add(p->out, "  %s &= %s \\\\\n", symbol.s, n->text.s);
        known[k] = true;
        pw_str_fini(&n->text);
        n->text = symbol;
        n->level = 100; /* a symbol */
    }
    pw_str_add(p->out, "  %s &= ", head[stage]);
    pw_latex_put(p, p->out, root, stage == PW_STAGE_MASK);
    pw_str_add(p->out, " \\\\\n");
}

/* How a head reads its keys, from its finished scores s. */
static void put_scan(const struct pw_expr *x, struct pw_str *out)
{
    if (x->scan == PW_SCAN_STICK)
        pw_str_add(out, "  \\operatorname{weight}_{h}(i, j) &= \\sigma(s_{i,j}) \\prod_{k=j+1}^{i-1} (1 - "
                        "\\sigma(s_{i,k})) \\quad \\text{if } j < i \\\\\n"
                        "  \\operatorname{weight}_{h}(i, i) &= \\prod_{k=0}^{i-1} (1 - \\sigma(s_{i,k})) "
                        "\\\\\n");
    if (x->scan == PW_SCAN_CONTEXT)
        pw_str_add(out,
                   "  t_{h}(i, j) &= \\min\\left(%d, \\sum_{k=j}^{i} \\sigma(s_{i,k})\\right) \\\\\n"
                   "  \\operatorname{score}_{h}(i, j) &= s_{i,j} + q_i \\cdot e_{t_{h}(i, j)} \\\\\n",
                   x->scan_rows - 1);
}

static void put_networks(const struct pw_expr *x, struct pw_str *out)
{
    for (int k = 0; k < x->n; k++)
        if (x->node[k].op == PW_NODE_NETWORK) {
            pw_str_add(
                out,
                "  \\operatorname{mlp}_{h}(x) &= \\mathbf{w}_{h} \\cdot \\max\\left(0, \\mathbf{u} \\, x "
                "+ \\mathbf{v}\\right) + b_{h} \\\\\n");
            return;
        }
}

static void put_comments(const struct pw_expr_source *src, struct pw_str *out)
{
    const struct pw_expr *x = src->x;
    const struct pw_config *c = src->cfg;
    struct pw_str text = {0};
    pw_expr_print(x, &text);
    pw_str_add(
        out,
        "%% A positional encoding, written by pewter from its formula; needs \\usepackage{amsmath}.\n"
        "%%   %s\n"
        "%% i, j: positions of query and key; d = i - j; h: head of H; \\ell: layer; p: pair of rotated "
        "columns;\n%% c: column of C; D: width of a head; n: length so far, in an angle or gain of the whole "
        "sequence;\n%% L: longest trained length.\n"
        "%s%% Here H = %d, C = %d, D = %d, L = %d, %d layers and context %d.\n",
        text.s,
        !x->by_data
            ? ""
            : "% position reads the class of token i (word, digit, separator, symbol, last: 0..4), runs of "
              "digits, and\n% random numbers u of a sequence: uniform in [0, 1), or of normal().\n",
        c->heads, c->width, c->head_width, src->trained, c->layers, c->context);
    if (pw_expr_has(x, PW_STAGE_GATE))
        pw_str_add(out,
                   "%% g: a learned projection of a layer's normed input, for each head; a score gets the "
                   "sum of the gates of\n%% all tokens after the key, up to the query.\n");
    if (pw_expr_has(x, PW_STAGE_MIX))
        pw_str_add(
            out,
            "%% mix: functions m = 0..%d of the distance; a score gets their sum, weighted by a learned "
            "projection of\n%% the query's normed input, which has a weight for each head and m.\n",
            x->mixes - 1);
    if (x->scan != 0)
        pw_str_add(out, "%% s: finished scores; %s.\n",
                   x->scan == PW_SCAN_STICK ? "the weights replace those of the softmax"
                                            : "e: a learned table of this layer, linear between its columns");
    pw_str_fini(&text);
    if (strstr(x->text, "slopes") != NULL) {
        pw_str_add(out, "%% slope: ALiBi's slopes (Press et al. 2022):");
        for (int h = 0; h < c->heads; h++)
            pw_str_add(out, " %.9g", pw_alibi_slope(h, c->heads));
        pw_str_add(out, "\n");
    }
    for (int k = 0; k < x->n_numbers; k++) {
        const struct pw_numbers *data = x->numbers[k];
        pw_str_add(out, "%% data_%d: %s, %d", k + 1, data->name, data->dims[0]);
        for (int d = 1; d < data->n_dims; d++)
            pw_str_add(out, " x %d", data->dims[d]);
        pw_str_add(out, " numbers of a file; indices are rounded, and clamped to the array\n");
    }
    for (int k = 0; k < x->n_params; k++) {
        const struct pw_expr_param *q = &x->param[k];
        for (int h = 0; h < pw_axis_size(x, q->axis, c); h++) {
            pw_str_add(out, "%% learned: %s", q->name);
            if (q->axis != PW_AXIS_NONE)
                pw_str_add(out, ", %s = %d", pw_axis_letters[q->axis], h);
            if (q->per_layer)
                pw_str_add(out, ", \\ell = %d", src->layer);
            pw_str_add(out, ":");
            for (int e = 0; e < q->size; e++)
                pw_str_add(out, " %.9g", (double)src->param[k][(size_t)h * q->size + e]);
            pw_str_add(out, "\n");
        }
    }
}

void pw_expr_print_latex(const struct pw_expr_source *src, struct pw_str *out)
{
    bool known[PW_EXPR_NODES] = {false};
    struct pw_print p = {.src = src, .x = src->x, .out = out};
    put_comments(src, out);
    pw_str_add(out, "\\begin{align}\n");
    for (int s = 0; s < PW_STAGES; s++)
        if (pw_expr_has(src->x, s))
            put_stage(&p, s, known);
    put_scan(src->x, out);
    put_networks(src->x, out);
    while (out->len > 0 && strchr("\\\n ", out->s[out->len - 1]) != NULL)
        out->s[--out->len] = '\0'; /* no line break after the last equation */
    pw_str_add(out, "\n\\end{align}\n");
    pw_print_fini(&p);
}
