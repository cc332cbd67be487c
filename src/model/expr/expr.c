/* expr.c - questions about a parsed formula, and its text. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/expr/expr_int.h"

/* The number of blanks before a token is none or one. The same text is printed for equal tokens. */
struct printing {
    const struct pw_expr *x;
    struct pw_str *out;
    bool lines;  /* a statement on each line, with the help of options */
    bool values; /* the values of options as their defaults */
};

void pw_expr_number(double value, char *out, size_t size)
{
    snprintf(out, size, "%.15g", value);
    if (strtod(out, NULL) != value)
        snprintf(out, size, "%.17g", value);
}

/* Is the token in the default of an option? Returns the option; -1: no. */
static int option_at(const struct pw_expr *x, int at)
{
    for (int k = 0; k < x->n_options; k++)
        if (at >= x->option[k].at && at < x->option[k].def_end)
            return k;
    return -1;
}

static void end_statement(const struct printing *p, int from, int to)
{
    for (int k = 0; p->lines && k < p->x->n_options; k++)
        if (p->x->option[k].at >= from && p->x->option[k].at < to && p->x->option[k].help[0] != '\0')
            pw_str_add(p->out, " # %s", p->x->option[k].help);
}

static void print_tokens(const struct printing *p)
{
    static const char tight_after[] = "([!", tight_before[] = ")](,[";
    const struct pw_expr *x = p->x;
    struct pw_str *out = p->out;
    struct pw_token t = {0}, last = {0};
    bool tight = true, closes = false;
    int begun = 0, option;
    for (;;) {
        last = t;
        if (pw_expr_lex(x->text, t.at + t.length, &t, NULL) != PW_OK || t.kind == PW_TOK_END)
            break;
        if (t.kind == PW_TOK_BREAK) {
            struct pw_token next;
            end_statement(p, begun, t.at);
            begun = t.at;
            if (pw_expr_lex(x->text, t.at + t.length, &next, NULL) == PW_OK && next.kind != PW_TOK_END &&
                last.length > 0)
                pw_str_put(out, p->lines ? "\n" : ";", 1);
            tight = last.length == 0 || p->lines;
            continue;
        }
        const char *s = x->text + t.at;
        bool opens = *s == '(' && last.kind != PW_TOK_NAME; /* a bracket, not a call */
        bool operand = last.kind == PW_TOK_NUMBER || last.kind == PW_TOK_NAME || closes;
        if (!tight && (opens || t.kind != PW_TOK_SIGN || strchr(tight_before, *s) == NULL))
            pw_str_put(out, " ", 1);
        option = p->values ? option_at(x, t.at) : -1;
        if (option >= 0) {
            char number[32];
            pw_expr_number(x->option[option].value, number, sizeof number);
            pw_str_add(out, "%s", number);
            t.length = x->option[option].def_end - t.at;
            t.kind = PW_TOK_NUMBER;
            tight = closes = false;
            continue;
        }
        pw_str_put(out, s, (size_t)t.length);
        closes = t.kind == PW_TOK_SIGN && (*s == ')' || *s == ']');
        tight = t.kind == PW_TOK_SIGN && t.length == 1 &&
                (strchr(tight_after, *s) != NULL || (!operand && (*s == '-' || *s == '+'))); /* a sign */
    }
    end_statement(p, begun, t.at + 1);
}

void pw_expr_print(const struct pw_expr *x, struct pw_str *out)
{
    print_tokens(&(struct printing){.x = x, .out = out});
}

void pw_expr_print_values(const struct pw_expr *x, struct pw_str *out)
{
    print_tokens(&(struct printing){.x = x, .out = out, .values = true});
}

void pw_expr_print_lines(const struct pw_expr *x, struct pw_str *out)
{
    print_tokens(&(struct printing){.x = x, .out = out, .lines = true, .values = true});
    pw_str_add(out, "\n");
}

static bool same_params(const struct pw_expr *a, const struct pw_expr *b)
{
    for (int k = 0; k < a->n_params; k++) {
        const struct pw_expr_param *x = &a->param[k], *y = &b->param[k];
        if (strcmp(x->name, y->name) != 0 || x->axis != y->axis || x->per_layer != y->per_layer ||
            x->size != y->size || x->value != y->value || x->drawn != y->drawn)
            return false;
    }
    return true;
}

static bool same_options(const struct pw_expr *a, const struct pw_expr *b)
{
    for (int k = 0; k < a->n_options; k++) {
        const struct pw_expr_option *x = &a->option[k], *y = &b->option[k];
        if (strcmp(x->name, y->name) != 0 || x->value != y->value || x->def != y->def || x->lo != y->lo ||
            x->hi != y->hi || x->whole != y->whole)
            return false;
    }
    return true;
}

static bool same_nodes(const struct pw_expr *a, const struct pw_expr *b)
{
    for (int k = 0; k < a->n; k++)
        if (!pw_node_same(&a->node[k], &b->node[k]))
            return false;
    return true;
}

bool pw_expr_same(const struct pw_expr *a, const struct pw_expr *b)
{
    return a->n == b->n && a->n_numbers == b->n_numbers &&
           memcmp(a->numbers, b->numbers, (size_t)a->n_numbers * sizeof(const struct pw_numbers *)) == 0 &&
           a->pairing == b->pairing && a->rotary_dim == b->rotary_dim && a->mixes == b->mixes &&
           a->scan == b->scan && a->scan_rows == b->scan_rows && a->n_params == b->n_params &&
           a->n_options == b->n_options && memcmp(a->root, b->root, sizeof a->root) == 0 &&
           same_nodes(a, b) && same_params(a, b) && same_options(a, b);
}

bool pw_expr_has(const struct pw_expr *x, enum pw_stage stage)
{
    return x->root[stage] >= 0;
}

void pw_expr_mark(const struct pw_expr *x, int root, bool *needed)
{
    memset(needed, 0, PW_EXPR_NODES * sizeof *needed);
    needed[root] = true;
    for (int k = root; k >= 0; k--)
        for (int i = 0; needed[k] && i < 3; i++)
            if (x->node[k].arg[i] >= 0)
                needed[x->node[k].arg[i]] = true;
}

bool pw_expr_reads(const struct pw_expr *x, enum pw_stage stage, enum pw_expr_var var)
{
    bool needed[PW_EXPR_NODES];
    if (x->root[stage] < 0)
        return false;
    pw_expr_mark(x, x->root[stage], needed);
    for (int k = 0; k <= x->root[stage]; k++)
        if (needed[k] && x->node[k].op == PW_NODE_VAR && x->node[k].index == (int)var)
            return true;
    return false;
}

/* Returns the parameters that the node reads: the first, and how many. */
static int params_of(const struct pw_node *node, int *n)
{
    bool entry = node->op == PW_NODE_PARAM || node->op == PW_NODE_ENTRY || node->op == PW_NODE_BETWEEN;
    *n = entry ? 1 : node->op == PW_NODE_NETWORK ? PW_NETWORK_PARAMS : 0;
    return node->index;
}

bool pw_node_learns(const struct pw_node *node)
{
    int n;
    params_of(node, &n);
    return n > 0;
}

void pw_expr_mark_params(const struct pw_expr *x, enum pw_stage stage, bool *read)
{
    bool needed[PW_EXPR_NODES];
    if (x->root[stage] < 0)
        return;
    pw_expr_mark(x, x->root[stage], needed);
    for (int k = 0; k <= x->root[stage]; k++) {
        int n, first = params_of(&x->node[k], &n);
        for (int i = 0; needed[k] && i < n; i++)
            read[first + i] = true;
    }
}

bool pw_expr_learns(const struct pw_expr *x, enum pw_stage stage)
{
    bool read[PW_EXPR_PARAMS] = {0}, any = false;
    pw_expr_mark_params(x, stage, read);
    for (int k = 0; k < x->n_params; k++)
        any = any || read[k];
    return any;
}

enum pw_axis pw_stage_axis(enum pw_stage stage)
{
    return stage == PW_STAGE_EMBED                             ? PW_AXIS_CHANNEL
           : stage == PW_STAGE_MIX                             ? PW_AXIS_MIX
           : stage == PW_STAGE_ANGLE || stage == PW_STAGE_GAIN ? PW_AXIS_PAIR
                                                               : PW_AXIS_HEAD;
}

const char *const pw_axis_names[PW_AXES + 1] = {"", "head", "channel", "pair", "mix"};

const char *const pw_axis_letters[PW_AXES] = {"", "h", "c", "p", "m"};

int pw_axis_size(const struct pw_expr *x, enum pw_axis axis, const struct pw_config *cfg)
{
    const int size[PW_AXES] = {1, cfg->heads, cfg->width, pw_expr_pairs(x, cfg), x->mixes};
    return size[axis];
}

int pw_expr_pairs(const struct pw_expr *x, const struct pw_config *cfg)
{
    return (x->rotary_dim > 0 ? x->rotary_dim : cfg->head_width) / 2;
}

int pw_expr_mixes(const struct pw_expr *x)
{
    return x->root[PW_STAGE_MIX] >= 0 ? x->mixes : 0;
}

bool pw_expr_by_data(const struct pw_expr *x)
{
    return x->by_data;
}

const char *pw_expr_positions(const struct pw_expr *x)
{
    bool tokens = false;
    for (int v = PW_VAR_TOKEN; v <= PW_VAR_LENGTH; v++)
        tokens = tokens || pw_expr_reads(x, PW_STAGE_POSITION, (enum pw_expr_var)v);
    if (!x->by_data)
        return NULL;
    return x->n_draws == 0 ? "positions by tokens"
           : tokens        ? "positions by tokens and chance"
                           : "positions by chance";
}

int pw_expr_n_nodes(const struct pw_expr *x)
{
    return x->n;
}
