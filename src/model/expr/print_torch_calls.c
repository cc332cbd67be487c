/* print_torch_calls.c - operators and functions of formulas as Python expressions on tensors. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/expr/print_int.h"

void pw_torch_number(struct pw_str *out, double v)
{
    if (isfinite(v))
        pw_print_number(out, v);
    else
        pw_str_add(out, "float(\"%s\")", isnan(v) ? "nan" : v > 0 ? "inf" : "-inf");
}

/* Append node k as an operand, in brackets if it binds less than `level`. */
void pw_torch_put(struct pw_print *p, struct pw_str *out, int k, bool truth, int level)
{
    const struct pw_print_node *n = &p->node[pw_print_follow(p, k)];
    const char *text = pw_str_text(&n->text);
    p->helpers |= strcmp(text, "head") == 0 ? PW_HELP_HEAD : 0;
    if (n->fixed) {
        bool wrap = !truth && (n->value < 0 || (n->value == 0 && signbit(n->value))) && level > PW_BIND_SIGN;
        pw_str_add(out, wrap ? "(" : "");
        if (truth)
            pw_str_add(out, n->value != 0 ? "True" : "False");
        else
            pw_torch_number(out, n->value);
        pw_str_add(out, wrap ? ")" : "");
    } else if (n->truth == truth)
        pw_str_add(out, n->level < level ? "(%s)" : "%s", text);
    else if (n->truth)
        pw_str_add(out, n->level < PW_BIND_ATOM ? "(%s).to(%s)" : "%s.to(%s)", text, p->precision);
    else {
        pw_str_add(out, level > PW_BIND_COMPARISON ? "(" : "");
        pw_str_add(out, n->level < PW_BIND_SUM ? "(%s) != 0" : "%s != 0", text);
        pw_str_add(out, level > PW_BIND_COMPARISON ? ")" : "");
    }
}

void pw_torch_tensor(struct pw_print *p, struct pw_str *out, int k)
{
    if (p->node[pw_print_follow(p, k)].fixed) {
        p->helpers |= PW_HELP_ZERO;
        pw_str_add(out, "zero + ");
    }
    pw_torch_put(p, out, k, false, PW_BIND_SUM);
}

static void put_infix(struct pw_print *p, struct pw_str *out, const struct pw_node *node, const char *sign,
                      int left, int right, bool truth)
{
    pw_torch_put(p, out, node->arg[0], truth, left);
    pw_str_add(out, " %s ", sign);
    pw_torch_put(p, out, node->arg[1], truth, right);
}

static void put_call(struct pw_print *p, struct pw_str *out, const struct pw_node *node, const char *name,
                     int n)
{
    pw_str_add(out, "%s(", name);
    for (int i = 0; i < n; i++) {
        pw_str_add(out, i > 0 ? ", " : "");
        pw_torch_put(p, out, node->arg[i], false, PW_BIND_COMPARISON);
    }
    pw_str_add(out, ")");
}

/* min and max: a number is a limit of the other operand. */
static void put_limit(struct pw_print *p, struct pw_str *out, const struct pw_node *node, bool max)
{
    int tensor = pw_print_fixed(p, node->arg[0]) ? 1 : 0;
    if (!pw_print_fixed(p, node->arg[1 - tensor])) {
        put_call(p, out, node, max ? "torch.maximum" : "torch.minimum", 2);
        return;
    }
    pw_str_add(out, "torch.clamp(");
    pw_torch_put(p, out, node->arg[tensor], false, PW_BIND_COMPARISON);
    pw_str_add(out, ", %s=", max ? "min" : "max");
    pw_torch_put(p, out, node->arg[1 - tensor], false, PW_BIND_COMPARISON);
    pw_str_add(out, ")");
}

static void put_clip(struct pw_print *p, struct pw_str *out, const struct pw_node *node)
{
    if (!pw_print_fixed(p, node->arg[0]) && pw_print_fixed(p, node->arg[1]) &&
        pw_print_fixed(p, node->arg[2]) &&
        pw_print_value(p, node->arg[1]) <= pw_print_value(p, node->arg[2])) {
        put_call(p, out, node, "torch.clamp", 3);
        return;
    }
    pw_str_add(out, "torch.where(");
    pw_torch_put(p, out, node->arg[0], false, PW_BIND_SUM);
    pw_str_add(out, " < ");
    pw_torch_put(p, out, node->arg[1], false, PW_BIND_SUM);
    pw_str_add(out, ", ");
    pw_torch_put(p, out, node->arg[1], false, PW_BIND_COMPARISON);
    pw_str_add(out, ", torch.minimum(");
    pw_torch_tensor(p, out, node->arg[0]);
    pw_str_add(out, ", ");
    pw_torch_tensor(p, out, node->arg[2]);
    pw_str_add(out, "))");
}

static void put_bucket(struct pw_print *p, struct pw_str *out, const struct pw_node *node);

static bool is_bucket(const struct pw_node *node)
{
    return node->op == PW_NODE_CALL && strcmp(pw_functions[node->index].name, "bucket") == 0;
}

/* An index of a table: the number of an entry, rounded and inside of the table. */
void pw_torch_entry(struct pw_print *p, struct pw_str *out, int k, int size)
{
    k = pw_print_follow(p, k);
    const struct pw_node *node = &p->x->node[k];
    if (p->node[k].fixed) {
        double v = fmin(fmax(nearbyint(p->node[k].value), 0), size - 1);
        pw_str_add(out, "%.0f", v);
    } else if (node->op == PW_NODE_VAR && node->index == PW_VAR_HEAD && size == p->src->cfg->heads)
        pw_str_add(out, "h");
    else if (is_bucket(node) && pw_print_value(p, node->arg[1]) <= size)
        put_bucket(p, out, node); /* whole and inside already */
    else {
        p->helpers |= PW_HELP_ENTRY;
        pw_str_add(out, "_entry(");
        pw_torch_put(p, out, k, false, PW_BIND_COMPARISON);
        pw_str_add(out, ", %d)", size);
    }
}

/* ---- tables of the file */

/* Append a member of TABLES, unless it is there. Returns where its value belongs, or NULL. */
static struct pw_str *new_table(struct pw_print *p, const char *name)
{
    char key[64];
    snprintf(key, sizeof key, "    \"%s\": ", name);
    if (strstr(pw_str_text(&p->tables), key) != NULL)
        return NULL;
    pw_str_add(&p->tables, "%s", key);
    return &p->tables;
}

static void put_slope(struct pw_print *p, struct pw_str *out, const struct pw_node *node)
{
    int H = p->src->cfg->heads;
    struct pw_str *t = new_table(p, "slopes");
    if (t != NULL) {
        pw_str_add(t, "torch.tensor([");
        for (int h = 0; h < H; h++) {
            pw_str_add(t, h > 0 ? ", " : "");
            pw_print_number(t, pw_alibi_slope(h, H));
        }
        pw_str_add(t, "], dtype=DTYPE),\n");
    }
    pw_str_add(out, "TABLES[\"slopes\"][");
    pw_torch_entry(p, out, node->arg[0], H);
    pw_str_add(out, "]");
}

void pw_torch_data(struct pw_print *p, struct pw_print_node *n, const struct pw_node *node)
{
    const struct pw_numbers *data = p->x->numbers[node->index];
    struct pw_str *t = new_table(p, data->name);
    if (t != NULL) {
        pw_str_add(t, "torch.tensor([");
        for (size_t i = 0; i < data->n; i++)
            pw_str_add(t, "%s%.9g", i == 0 ? "" : i % 8 == 0 ? ",\n        " : ", ", (double)data->v[i]);
        pw_str_add(t, "], dtype=DTYPE),\n");
    }
    n->level = PW_BIND_ATOM;
    pw_str_add(&n->text, "TABLES[\"%s\"][", data->name);
    pw_torch_entry(p, &n->text, node->arg[0], (int)data->n);
    pw_str_add(&n->text, "]");
}

/* The bucket of every distance, from the first distance of each bucket: whole numbers, without logarithms. */
static void put_bucket(struct pw_print *p, struct pw_str *out, const struct pw_node *node)
{
    int B = (int)pw_print_value(p, node->arg[1]), most = (int)pw_print_value(p, node->arg[2]), last = 0;
    char name[48];
    snprintf(name, sizeof name, "bucket_%d_%d", B, most);
    struct pw_str *t = new_table(p, name);
    if (t != NULL) {
        pw_str_add(t, "torch.bucketize(torch.arange(%d), torch.tensor([", most + 1);
        for (int d = 1; d <= most; d++)
            for (int b = pw_t5_bucket(d, B, most); last < b; last++)
                pw_str_add(t, last > 0 ? ", %d" : "%d", d);
        pw_str_add(t, "]), right=True),\n");
    }
    pw_str_add(out, "TABLES[\"%s\"][", name);
    pw_torch_entry(p, out, node->arg[0], most + 1);
    pw_str_add(out, "]");
}

/* ---- nodes */

void pw_torch_call(struct pw_print *p, struct pw_print_node *n, const struct pw_node *node)
{
    static const struct {
        const char *name, *sign;
        int left, right, level;
        bool truth, of_truths;
    } infix[] = {{"+", "+", PW_BIND_SUM, PW_BIND_PRODUCT, PW_BIND_SUM, false, false},
                 {"-", "-", PW_BIND_SUM, PW_BIND_PRODUCT, PW_BIND_SUM, false, false},
                 {"*", "*", PW_BIND_PRODUCT, PW_BIND_SIGN, PW_BIND_PRODUCT, false, false},
                 {"/", "/", PW_BIND_PRODUCT, PW_BIND_SIGN, PW_BIND_PRODUCT, false, false},
                 {"**", "**", PW_BIND_ATOM, PW_BIND_SIGN, PW_BIND_POWER, false, false},
                 {"pow", "**", PW_BIND_ATOM, PW_BIND_SIGN, PW_BIND_POWER, false, false},
                 {"<", "<", PW_BIND_SUM, PW_BIND_SUM, PW_BIND_COMPARISON, true, false},
                 {">", ">", PW_BIND_SUM, PW_BIND_SUM, PW_BIND_COMPARISON, true, false},
                 {"<=", "<=", PW_BIND_SUM, PW_BIND_SUM, PW_BIND_COMPARISON, true, false},
                 {">=", ">=", PW_BIND_SUM, PW_BIND_SUM, PW_BIND_COMPARISON, true, false},
                 {"==", "==", PW_BIND_SUM, PW_BIND_SUM, PW_BIND_COMPARISON, true, false},
                 {"!=", "!=", PW_BIND_SUM, PW_BIND_SUM, PW_BIND_COMPARISON, true, false},
                 {"&&", "&", PW_BIND_BOTH, PW_BIND_SUM, PW_BIND_BOTH, true, true},
                 {"||", "|", PW_BIND_EITHER, PW_BIND_BOTH, PW_BIND_EITHER, true, true}};
    const char *name = pw_functions[node->index].name;
    n->level = PW_BIND_ATOM;
    if ((strcmp(name, "**") == 0 || strcmp(name, "pow") == 0) && pw_print_fixed(p, node->arg[0]) &&
        pw_print_value(p, node->arg[0]) < 0) {
        put_call(p, &n->text, node, "torch.pow", 2); /* torch.fx prints (-2) ** x as -2 ** x, which is less */
        return;
    }
    for (size_t i = 0; i < sizeof infix / sizeof *infix; i++)
        if (strcmp(name, infix[i].name) == 0) {
            put_infix(p, &n->text, node, infix[i].sign, infix[i].left, infix[i].right, infix[i].of_truths);
            n->level = infix[i].level;
            n->truth = infix[i].truth;
            return;
        }
    if (strcmp(name, "-x") == 0 || strcmp(name, "!") == 0) {
        n->truth = *name == '!';
        pw_str_add(&n->text, n->truth ? "~" : "-");
        pw_torch_put(p, &n->text, node->arg[0], n->truth, PW_BIND_SIGN);
        n->level = PW_BIND_SIGN;
    } else if (strcmp(name, "min") == 0 || strcmp(name, "max") == 0)
        put_limit(p, &n->text, node, name[1] == 'a');
    else if (strcmp(name, "clip") == 0)
        put_clip(p, &n->text, node);
    else if (strcmp(name, "%") == 0) {
        p->helpers |= PW_HELP_MOD;
        put_call(p, &n->text, node, "_mod", 2);
    } else if (strcmp(name, "slopes()[h]") == 0)
        put_slope(p, &n->text, node);
    else if (strcmp(name, "bucket") == 0) {
        put_bucket(p, &n->text, node);
        pw_str_add(&n->text, ".to(%s)", p->precision);
    } else {
        char call[40];
        bool softplus = strcmp(name, "softplus") == 0;
        p->helpers |= softplus ? PW_HELP_SOFTPLUS : 0;
        snprintf(call, sizeof call, "%s.%s", softplus ? "functional" : "torch", name);
        put_call(p, &n->text, node, call, pw_functions[node->index].args);
    }
}
