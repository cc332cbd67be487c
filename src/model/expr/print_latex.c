/* print_latex.c - the nodes of a formula as LaTeX, for amsmath. Settings of the model stay symbols. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/expr/print_int.h"

/* Precedence; a number is a condition if it is not 0. */
enum { EITHER = 1, BOTH, COMPARED, TERM, NEGATED, FACTOR, FRACTION, RAISED, CLOSED };

static const char *const greek[] = {"alpha", "beta",   "gamma", "delta", "epsilon", "zeta", "eta", "theta",
                                    "kappa", "lambda", "mu",    "nu",    "xi",      "pi",   "rho", "sigma",
                                    "tau",   "phi",    "chi",   "psi",   "omega",   NULL};

const char *const pw_latex_variables[PW_VARS] = {"i",
                                                 "j",
                                                 "d",
                                                 "n",
                                                 "L",
                                                 "\\mathrm{context}",
                                                 "h",
                                                 "H",
                                                 "\\ell",
                                                 "\\mathrm{layers}",
                                                 "p",
                                                 "\\mathrm{pairs}",
                                                 "c",
                                                 "C",
                                                 "D",
                                                 "s",
                                                 "\\mathrm{key}",
                                                 "g",
                                                 "m",
                                                 "\\operatorname{token}(i)",
                                                 "\\operatorname{run}(i)",
                                                 "\\operatorname{index}(i)",
                                                 "\\operatorname{length}(i)",
                                                 "\\mathrm{prompt}",
                                                 "\\mathrm{training}",
                                                 "u_1",
                                                 "u_2",
                                                 "u_3",
                                                 "u_4"};

/* A word as a symbol: a letter, a letter with digits as its index, a Greek letter, or an upright word. */
void pw_latex_symbol(struct pw_str *out, const char *word, int length)
{
    int letters = (int)strcspn(word, "0123456789_");
    letters = letters < length ? letters : length;
    if (pw_parse_find(greek, word, length) >= 0)
        pw_str_add(out, "\\%.*s", length, word);
    else if (letters == 1 && length == 1)
        pw_str_add(out, "%c", *word);
    else if (letters == 1 && (int)strspn(word + 1, "0123456789") >= length - 1)
        pw_str_add(out, "{%c_{%.*s}}", *word, length - 1, word + 1);
    else {
        pw_str_add(out, "\\mathrm{");
        for (int i = 0; i < length; i++)
            pw_str_add(out, word[i] == '_' ? "\\_" : "%c", word[i]);
        pw_str_add(out, "}");
    }
}

static void put_tex_number(struct pw_str *out, double v)
{
    char text[64], *e;
    struct pw_str s = {0};
    if (!isfinite(v)) {
        pw_str_add(out, isnan(v) ? "\\mathrm{NaN}" : v > 0 ? "\\infty" : "-\\infty");
        return;
    }
    pw_print_number(&s, v);
    snprintf(text, sizeof text, "%s", s.s);
    pw_str_fini(&s);
    e = strchr(text, 'e');
    if (e == NULL) {
        pw_str_add(out, "%s", text);
        return;
    }
    *e = '\0';
    if (strcmp(text, "1") == 0)
        pw_str_add(out, "10^{%d}", atoi(e + 1));
    else
        pw_str_add(out, "%s \\cdot 10^{%d}", text, atoi(e + 1));
}

/* Append node k as an operand of an operator that binds with `level`. */
static void put_operand(const struct pw_print *p, struct pw_str *out, int k, bool truth, int level)
{
    const struct pw_print_node *n = &p->node[k];
    const char *text = pw_str_text(&n->text);
    int own = n->level;
    struct pw_str whole = {0};
    if (n->truth == truth)
        pw_str_add(&whole, "%s", text);
    else if (n->truth) {
        pw_str_add(&whole, "\\mathbf{1}[%s]", text);
        own = CLOSED;
    } else {
        pw_str_add(&whole, n->level < TERM ? "\\left(%s\\right) \\ne 0" : "%s \\ne 0", text);
        own = COMPARED;
    }
    pw_str_add(out, own < level ? "\\left(%s\\right)" : "%s", whole.s);
    pw_str_fini(&whole);
}

void pw_latex_put(const struct pw_print *p, struct pw_str *out, int k, bool truth)
{
    put_operand(p, out, k, truth, EITHER);
}

static void put_arguments(const struct pw_print *p, struct pw_str *out, const struct pw_node *node, int n)
{
    pw_str_add(out, "\\left(");
    for (int i = 0; i < n; i++) {
        pw_str_add(out, i > 0 ? ", " : "");
        put_operand(p, out, node->arg[i], false, EITHER);
    }
    pw_str_add(out, "\\right)");
}

/* ---- nodes */

static void tex_product(const struct pw_print *p, struct pw_print_node *n, const struct pw_node *node)
{
    struct pw_str right = {0};
    put_operand(p, &n->text, node->arg[0], false, NEGATED);
    put_operand(p, &right, node->arg[1], false, FACTOR);
    bool digits = *right.s >= '0' && *right.s <= '9';
    pw_str_add(&n->text, digits ? " \\cdot %s" : " \\, %s", right.s);
    pw_str_fini(&right);
    n->level = FACTOR;
}

static void tex_power(const struct pw_print *p, struct pw_print_node *n, const struct pw_node *node)
{
    put_operand(p, &n->text, node->arg[0], false, CLOSED);
    pw_str_add(&n->text, "^{");
    const struct pw_node *up = &p->x->node[node->arg[1]];
    if (up->op == PW_NODE_CALL && strcmp(pw_functions[up->index].name, "/") == 0 &&
        pw_print_name(p->x, node->arg[1]) == NULL) { /* a fraction would be too small */
        put_operand(p, &n->text, up->arg[0], false, NEGATED);
        pw_str_add(&n->text, "/");
        put_operand(p, &n->text, up->arg[1], false, RAISED);
    } else
        put_operand(p, &n->text, node->arg[1], false, EITHER);
    pw_str_add(&n->text, "}");
    n->level = RAISED;
}

static bool tex_infix(const struct pw_print *p, struct pw_print_node *n, const struct pw_node *node,
                      const char *name)
{
    static const struct {
        const char *name, *sign;
        int left, right, level;
        bool truth, of_truths;
    } of[] = {{"+", "+", TERM, NEGATED + 1, TERM, false, false},
              {"-", "-", TERM, NEGATED + 1, TERM, false, false},
              {"%", "\\bmod", FRACTION, FRACTION, FACTOR, false, false},
              {"<", "<", TERM, TERM, COMPARED, true, false},
              {">", ">", TERM, TERM, COMPARED, true, false},
              {"<=", "\\le", TERM, TERM, COMPARED, true, false},
              {">=", "\\ge", TERM, TERM, COMPARED, true, false},
              {"==", "=", TERM, TERM, COMPARED, true, false},
              {"!=", "\\ne", TERM, TERM, COMPARED, true, false},
              {"&&", "\\wedge", BOTH, COMPARED, BOTH, true, true},
              {"||", "\\vee", EITHER, BOTH, EITHER, true, true}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        if (strcmp(name, of[i].name) == 0) {
            n->truth = of[i].truth;
            n->level = of[i].level;
            put_operand(p, &n->text, node->arg[0], of[i].of_truths, of[i].left);
            pw_str_add(&n->text, " %s ", of[i].sign);
            put_operand(p, &n->text, node->arg[1], of[i].of_truths, of[i].right);
            return true;
        }
    return false;
}

/* Functions with signs of their own around one argument. */
static bool tex_around(const struct pw_print *p, struct pw_print_node *n, const struct pw_node *node,
                       const char *name)
{
    static const struct {
        const char *name, *open, *close;
        int level;
    } of[] = {{"abs", "\\left|", "\\right|", EITHER},
              {"floor", "\\left\\lfloor ", " \\right\\rfloor", EITHER},
              {"sqrt", "\\sqrt{", "}", EITHER},
              {"log1p", "\\log\\left(1 + ", "\\right)", FACTOR},
              {"-x", "-", "", FACTOR},
              {"!", "\\neg ", "", CLOSED}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        if (strcmp(name, of[i].name) == 0) {
            n->truth = *name == '!';
            n->level = *name == '-' ? NEGATED : CLOSED;
            pw_str_add(&n->text, "%s", of[i].open);
            put_operand(p, &n->text, node->arg[0], n->truth, of[i].level);
            pw_str_add(&n->text, "%s", of[i].close);
            return true;
        }
    return false;
}

static void tex_call(const struct pw_print *p, struct pw_print_node *n, const struct pw_node *node)
{
    static const char *const known[] = {"min", "max", "exp", "log", "sin", "cos", "tanh", NULL};
    const char *name = pw_functions[node->index].name;
    int args = pw_functions[node->index].args;
    if (tex_infix(p, n, node, name) || tex_around(p, n, node, name))
        return;
    n->level = CLOSED;
    if (strcmp(name, "*") == 0)
        tex_product(p, n, node);
    else if (strcmp(name, "**") == 0 || strcmp(name, "pow") == 0)
        tex_power(p, n, node);
    else if (strcmp(name, "/") == 0) {
        pw_str_add(&n->text, "\\frac{");
        put_operand(p, &n->text, node->arg[0], false, EITHER);
        pw_str_add(&n->text, "}{");
        put_operand(p, &n->text, node->arg[1], false, EITHER);
        pw_str_add(&n->text, "}");
        n->level = FRACTION;
    } else if (strcmp(name, "slopes()[h]") == 0) {
        pw_str_add(&n->text, "\\operatorname{slope}_{");
        put_operand(p, &n->text, node->arg[0], false, EITHER);
        pw_str_add(&n->text, "}");
    } else if (strcmp(name, "bucket") == 0) {
        pw_str_add(&n->text, "\\operatorname{bucket}_{%.0f,%.0f}", p->x->node[node->arg[1]].value,
                   p->x->node[node->arg[2]].value);
        put_arguments(p, &n->text, node, 1);
    } else {
        if (strcmp(name, "log2") == 0)
            pw_str_add(&n->text, "\\log_2");
        else
            pw_str_add(&n->text,
                       pw_parse_find(known, name, (int)strlen(name)) >= 0 ? "\\%s" : "\\operatorname{%s}",
                       name);
        put_arguments(p, &n->text, node, args);
    }
}

/* Append the index of a parameter: its head and layer. */
static void put_scope(struct pw_str *out, const struct pw_expr_param *q)
{
    bool axis = q->axis != PW_AXIS_NONE;
    if (axis || q->per_layer)
        pw_str_add(out, "_{%s%s%s}", pw_axis_letters[q->axis], axis && q->per_layer ? "," : "",
                   q->per_layer ? "\\ell" : "");
}

static void tex_param(const struct pw_print *p, struct pw_print_node *n, const struct pw_node *node)
{
    const struct pw_expr_param *q = &p->x->param[node->index];
    pw_latex_symbol(&n->text, q->name, (int)strlen(q->name));
    put_scope(&n->text, q);
    if (node->op == PW_NODE_PARAM)
        return;
    pw_str_add(&n->text, node->op == PW_NODE_ENTRY ? "\\left[" : "\\left(");
    put_operand(p, &n->text, node->arg[0], false, EITHER);
    pw_str_add(&n->text, node->op == PW_NODE_ENTRY ? "\\right]" : "\\right)");
}

/* The node that a condition of the form "node <= number" compares; -1: it is another condition. */
static int compared(const struct pw_expr *x, int condition)
{
    const struct pw_node *c = &x->node[condition];
    bool is_bound = c->op == PW_NODE_CALL && strcmp(pw_functions[c->index].name, "<=") == 0 &&
                    x->node[c->arg[1]].op == PW_NODE_NUMBER;
    return is_bound ? c->arg[0] : -1;
}

/* Appends the cases of node k, which holds under a condition (-1: otherwise), after the cases before it. A
 * chain of conditions is one list of cases. So are the entries of a list, a search by bisection: below "key
 * <= 3" the condition "key <= 1" may stand before it. key: the node of such a search; -1: none. */
static void put_cases(const struct pw_print *p, struct pw_str *out, int k, int condition, int key)
{
    const struct pw_node *node = &p->x->node[k];
    bool chain = node->op == PW_NODE_SELECT && pw_print_name(p->x, k) == NULL;
    int own = chain ? compared(p->x, node->arg[0]) : -1;
    if (chain && (condition < 0 || (key >= 0 && own == key))) {
        put_cases(p, out, node->arg[1], node->arg[0], own);
        put_cases(p, out, node->arg[2], condition, own);
        return;
    }
    put_operand(p, out, k, false, EITHER);
    if (condition < 0) {
        pw_str_add(out, " & \\text{otherwise}");
        return;
    }
    pw_str_add(out, " & \\text{if } ");
    put_operand(p, out, condition, true, EITHER);
    pw_str_add(out, " \\\\ ");
}

static void tex_select(const struct pw_print *p, struct pw_print_node *n, const struct pw_node *node)
{
    pw_str_add(&n->text, "\\begin{cases} ");
    put_cases(p, &n->text, node->arg[1], node->arg[0], compared(p->x, node->arg[0]));
    put_cases(p, &n->text, node->arg[2], -1, -1);
    pw_str_add(&n->text, " \\end{cases}");
    n->level = EITHER;
}

void pw_latex_node(const struct pw_print *p, int k)
{
    const struct pw_node *node = &p->x->node[k];
    struct pw_print_node *n = &p->node[k];
    n->level = CLOSED;
    switch (node->op) {
    case PW_NODE_NUMBER:
        put_tex_number(&n->text, node->value);
        n->level = node->value < 0 ? NEGATED : strchr(n->text.s, '^') != NULL ? FACTOR : CLOSED;
        break;
    case PW_NODE_VAR: pw_str_add(&n->text, "%s", pw_latex_variable(node)); break;
    case PW_NODE_BOUND:
        pw_latex_symbol(&n->text, p->x->text + p->x->counter[node->index].at,
                        p->x->counter[node->index].length);
        break;
    case PW_NODE_PARAM:
    case PW_NODE_ENTRY:
    case PW_NODE_BETWEEN: tex_param(p, n, node); break;
    case PW_NODE_CALL: tex_call(p, n, node); break;
    case PW_NODE_SELECT: tex_select(p, n, node); break;
    case PW_NODE_SUM:
        pw_str_add(&n->text, "\\sum_{");
        pw_latex_symbol(&n->text, p->x->text + p->x->counter[node->index].at,
                        p->x->counter[node->index].length);
        pw_str_add(&n->text, "=");
        put_operand(p, &n->text, node->arg[0], false, EITHER);
        pw_str_add(&n->text, "}^{");
        put_operand(p, &n->text, node->arg[1], false, EITHER);
        pw_str_add(&n->text, "} ");
        put_operand(p, &n->text, node->arg[2], false, FACTOR);
        n->level = TERM;
        break;
    case PW_NODE_DATA: pw_latex_data(p, &n->text, node); break;
    case PW_NODE_NETWORK:
        pw_str_add(&n->text, "\\operatorname{mlp}_{h}");
        put_arguments(p, &n->text, node, 1);
        break;
    case PW_NODE_SAMPLE:
        pw_str_add(&n->text, "\\operatorname{sample}");
        put_arguments(p, &n->text, node, 3);
        break;
    }
}
