/* print_torch.c - a stage as a Python function on tensors.
 *
 * FlexAttention can trace the code: conditions are torch.where, tables are indexed by whole numbers, sums and
 * networks are loops over constants. It works on FlexAttention's scalars and on index tensors that broadcast.
 * Nodes that are used twice are local variables; a node that the formula names has its name. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/expr/print_int.h"

enum { LONG_TEXT = 72 }; /* a longer operand becomes a variable */

/* Words that a variable of the generated functions can't be. */
static const char *const taken[] = {
    "False",  "None",    "True",   "and",      "as",     "assert",   "async",  "await",
    "bias",   "break",   "class",  "continue", "def",    "del",      "elif",   "else",
    "except", "finally", "for",    "from",     "global", "if",       "import", "in",
    "int",    "is",      "lambda", "nonlocal", "not",    "or",       "pass",   "raise",
    "range",  "return",  "torch",  "try",      "while",  "with",     "yield",  "functional",
    "PARAMS", "TABLES",  "DTYPE",  "SCALE",    "q_idx",  "kv_idx",   "like",   "score",
    "_mod",   "_entry",  "_mlp",   "_sum",     "_range", "_between", "_term",  NULL};

static bool is_taken(const char *word, int length)
{
    for (int i = 0; taken[i] != NULL; i++)
        if ((int)strlen(taken[i]) == length && memcmp(taken[i], word, (size_t)length) == 0)
            return true;
    return false;
}

/* Append a name of the formula as a Python name. */
static void put_word(const struct pw_print *p, struct pw_str *out, const char *word, int length)
{
    pw_str_put(out, word, (size_t)length);
    if (is_taken(word, length))
        do
            pw_str_put(out, "_", 1);
        while (pw_print_is_name(p->x, out->s, (int)out->len));
}

static void put_counter(const struct pw_print *p, struct pw_str *out, int sum)
{
    const struct pw_expr_name *c = &p->x->counter[sum];
    const char *word = p->x->text + c->at;
    bool other = is_taken(word, c->length) || pw_print_is_name(p->x, word, c->length);
    int v = pw_parse_find(pw_parse_variables, word, c->length);
    other = other || (v >= 0 && (v != PW_VAR_MIX || pw_print_reads(p, PW_VAR_MIX)));
    for (int s = 0; s < sum && !other; s++)
        other = p->x->counter[s].length == c->length &&
                memcmp(p->x->text + p->x->counter[s].at, word, (size_t)c->length) == 0;
    if (other)
        pw_str_add(out, "k%d_", sum);
    else
        pw_str_put(out, word, (size_t)c->length);
}

static void write_variable(struct pw_print_node *n, int var)
{
    n->level = PW_BIND_ATOM;
    if (var == PW_VAR_HEAD)
        pw_str_add(&n->text, "head");
    else
        pw_str_add(&n->text, "%s", pw_parse_variables[var]);
}

/* The index of a parameter's entry along its axis, in Python. */
static const char *const index_of[PW_AXES] = {"", "h", "c.long()", "p.long()", "m.long()"};

static const char *head_of(const struct pw_expr_param *q)
{
    static const char *const before[PW_AXES] = {"", "h, ", "c.long(), ", "p.long(), ", "m.long(), "};
    return before[q->axis];
}

static void write_table(struct pw_print *p, struct pw_print_node *n, const struct pw_node *node)
{
    const struct pw_expr_param *q = &p->x->param[node->index];
    struct pw_str name = {0};
    put_word(p, &name, q->name, (int)strlen(q->name));
    n->level = PW_BIND_ATOM;
    if (node->op == PW_NODE_ENTRY) {
        pw_str_add(&n->text, "%s[%s", name.s, head_of(q));
        pw_torch_entry(p, &n->text, node->arg[0], q->size);
        pw_str_add(&n->text, "]");
    } else {
        p->helpers |= PW_HELP_BETWEEN;
        pw_str_add(&n->text, "_between(lambda n: %s[%sn], ", name.s, head_of(q));
        pw_torch_tensor(p, &n->text, node->arg[0]);
        pw_str_add(&n->text, ", %d)", q->size);
    }
    pw_str_fini(&name);
}

static void write_select(struct pw_print *p, struct pw_print_node *n, const struct pw_node *node)
{
    n->level = PW_BIND_ATOM;
    pw_str_add(&n->text, "torch.where(");
    pw_torch_put(p, &n->text, node->arg[0], true, PW_BIND_COMPARISON);
    pw_str_add(&n->text, ", ");
    if (pw_print_fixed(p, node->arg[1]) && pw_print_fixed(p, node->arg[2]))
        pw_torch_tensor(p, &n->text, node->arg[1]); /* else the result would not have the right precision */
    else
        pw_torch_put(p, &n->text, node->arg[1], false, PW_BIND_COMPARISON);
    pw_str_add(&n->text, ", ");
    pw_torch_put(p, &n->text, node->arg[2], false, PW_BIND_COMPARISON);
    pw_str_add(&n->text, ")");
}

static void write_network(struct pw_print *p, struct pw_print_node *n, const struct pw_node *node)
{
    p->helpers |= PW_HELP_MLP;
    n->level = PW_BIND_ATOM;
    pw_str_add(&n->text, "_mlp(");
    pw_torch_put(p, &n->text, node->arg[0], false, PW_BIND_COMPARISON);
    pw_str_add(&n->text, ", \"%.*s\", h)", (int)strcspn(p->x->param[node->index].name, "."),
               p->x->param[node->index].name);
}

static void write_range(struct pw_print *p, int to, int loop, const char *indent);

/* The terms are a function of the counter. Ends that are not numbers need a loop over all that occur. */
static void write_sum(struct pw_print *p, struct pw_print_node *n, int k, const char *indent)
{
    const struct pw_node *node = &p->x->node[k];
    char inner[40];
    int id = ++p->n_locals;
    bool numbers = pw_print_fixed(p, node->arg[0]) && pw_print_fixed(p, node->arg[1]);
    snprintf(inner, sizeof inner, "%.20s    ", indent);
    pw_str_add(p->out, "%sdef term%d(", indent, id);
    put_counter(p, p->out, node->index);
    pw_str_add(p->out, "):\n");
    write_range(p, k, node->index, inner);
    pw_str_add(p->out, "%sreturn ", inner);
    pw_torch_put(p, p->out, node->arg[2], false, PW_BIND_COMPARISON);
    pw_str_add(p->out, "\n");
    p->helpers |= PW_HELP_ZERO | (numbers ? PW_HELP_SUM : PW_HELP_RANGE);
    pw_str_add(&n->text, numbers ? "_sum(" : "_range(");
    for (int i = 0; i < 2; i++) {
        if (numbers)
            pw_torch_number(&n->text, i == 0 ? ceil(pw_print_value(p, node->arg[0]))
                                             : floor(pw_print_value(p, node->arg[1])));
        else
            pw_torch_tensor(p, &n->text, node->arg[i]);
        pw_str_add(&n->text, ", ");
    }
    pw_str_add(&n->text, "zero, term%d)", id);
    n->level = PW_BIND_ATOM;
}

static void write_node(struct pw_print *p, int k, const char *indent)
{
    const struct pw_node *node = &p->x->node[k];
    struct pw_print_node *n = &p->node[k];
    switch (node->op) {
    case PW_NODE_SAMPLE:        /* of a position, which has no text */
    case PW_NODE_NUMBER: break; /* fixed */
    case PW_NODE_VAR: write_variable(n, node->index); break;
    case PW_NODE_BOUND:
        put_counter(p, &n->text, node->index);
        n->level = PW_BIND_ATOM;
        break;
    case PW_NODE_PARAM:
        put_word(p, &n->text, p->x->param[node->index].name, (int)strlen(p->x->param[node->index].name));
        n->level = PW_BIND_ATOM;
        break;
    case PW_NODE_ENTRY:
    case PW_NODE_BETWEEN: write_table(p, n, node); break;
    case PW_NODE_DATA: pw_torch_data(p, n, node); break;
    case PW_NODE_CALL: pw_torch_call(p, n, node); break;
    case PW_NODE_SELECT: write_select(p, n, node); break;
    case PW_NODE_SUM: write_sum(p, n, k, indent); break;
    case PW_NODE_NETWORK: write_network(p, n, node); break;
    }
}

/* Is the node's text short and without operators? */
static bool is_leaf(const struct pw_node *node)
{
    return node->op == PW_NODE_NUMBER || node->op == PW_NODE_VAR || node->op == PW_NODE_BOUND ||
           node->op == PW_NODE_PARAM;
}

/* Writes the nodes whose innermost sum is `loop`, with a statement for each local variable. */
static void write_range(struct pw_print *p, int to, int loop, const char *indent)
{
    for (int k = 0; k < to; k++) {
        struct pw_print_node *n = &p->node[k];
        const struct pw_expr_name *name = pw_print_name(p->x, k);
        if (!n->needed || n->fixed || !pw_node_in(&p->x->node[k], loop))
            continue;
        write_node(p, k, indent);
        bool result = loop < 0 && k == to - 1;
        if (name == NULL && (result || is_leaf(&p->x->node[k]) || (n->uses < 2 && n->text.len < LONG_TEXT)))
            continue;
        struct pw_str local = {0};
        if (name != NULL)
            put_word(p, &local, p->x->text + name->at, name->length);
        while (name == NULL) {
            pw_str_clear(&local);
            pw_str_add(&local, "t%d", ++p->n_locals);
            if (!pw_print_is_name(p->x, local.s, (int)local.len))
                break;
        }
        pw_str_add(p->out, "%s%s = %s\n", indent, local.s, n->text.s);
        pw_str_fini(&n->text);
        n->text = local;
        n->level = PW_BIND_ATOM;
    }
}

/* The variables of a function on pairs of tokens; those of a table by token are its arguments. */
static void put_pair(const struct pw_print *p, struct pw_str *out)
{
    static const struct {
        enum pw_expr_var var;
        const char *text;
    } of[] = {{PW_VAR_I, "i = q_idx.to"},
              {PW_VAR_J, "j = kv_idx.to"},
              {PW_VAR_DISTANCE, "d = (q_idx - kv_idx).to"},
              {PW_VAR_N, "n = (q_idx + 1).to"}};
    double stretch = (double)p->src->tune.stretch;
    for (size_t k = 0; k < sizeof of / sizeof *of; k++)
        if (pw_print_reads(p, of[k].var)) {
            pw_str_add(out, "    %s(%s)", of[k].text, p->precision);
            if (stretch != 1 && of[k].var != PW_VAR_N)
                pw_str_add(out, " * %.9g", stretch);
            if (p->src->tune.offset != 0 && (of[k].var == PW_VAR_I || of[k].var == PW_VAR_J))
                pw_str_add(out, " + %.9g", (double)p->src->tune.offset);
            pw_str_add(out, "\n");
        }
}

static void put_inputs(const struct pw_print *p, struct pw_str *out, bool rows)
{
    if (!rows)
        put_pair(p, out);
    if (p->helpers & PW_HELP_HEAD)
        pw_str_add(out, "    head = h.to(%s)\n", p->precision);
    for (int k = 0; k < p->x->n_params; k++) {
        const struct pw_expr_param *q = &p->x->param[k];
        struct pw_str name = {0};
        if (!pw_print_reads_param(p, k))
            continue;
        put_word(p, &name, q->name, (int)strlen(q->name));
        bool entry = q->axis != PW_AXIS_NONE && q->size == 1;
        pw_str_add(out, "    %s = PARAMS[\"%s\"]%s%s%s\n", name.s, q->name, entry ? "[" : "",
                   entry ? index_of[q->axis] : "", entry ? "]" : "");
        pw_str_fini(&name);
    }
}

void pw_torch_function(struct pw_print *p, enum pw_stage stage, const struct pw_torch_head *head)
{
    struct pw_str *out = p->out, body = {0};
    bool truth = stage == PW_STAGE_MASK;
    unsigned before = p->helpers;
    pw_print_scan(p, stage, true);
    int root = pw_print_follow(p, p->x->root[stage]);
    p->out = &body;
    p->helpers = 0;
    write_range(p, root + 1, -1, "    ");
    pw_str_add(&body, "    return ");
    if (p->node[root].fixed && truth) {
        p->helpers |= PW_HELP_ZERO;
        pw_str_add(&body, p->node[root].value != 0 ? "zero == 0" : "zero != 0");
    } else if (truth)
        pw_torch_put(p, &body, root, true, PW_BIND_COMPARISON);
    else
        pw_torch_tensor(p, &body, root);
    p->out = out;
    pw_str_add(out, "def formula_%s(%s):\n", pw_stage_names[stage], head->arguments);
    put_inputs(p, out, head->rows);
    if (p->helpers & PW_HELP_ZERO)
        pw_str_add(out, "    zero = 0 * (%s).to(%s)\n", head->shape, p->precision);
    pw_str_add(out, "%s\n", body.s);
    p->helpers |= before;
    pw_str_fini(&body);
}
