/* parse_calls.c - the expressions of a formula that have a name and brackets: functions, entries of tables
 * and lists, sums and networks. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/expr/parse_int.h"

struct pw_expr_param *pw_parse_param(struct pw_parser *p, const char *name, int length, int at)
{
    struct pw_expr *x = p->x;
    if (x->n_params == PW_EXPR_PARAMS) {
        pw_parse_fail(p, at, "too many learned parameters: at most %d", PW_EXPR_PARAMS);
        return NULL;
    }
    struct pw_expr_param *q = &x->param[x->n_params++];
    *q = (struct pw_expr_param){.size = 1};
    if (length >= (int)sizeof q->name)
        pw_parse_fail(p, at, "a name has at most %d characters", (int)sizeof q->name - 1);
    else
        memcpy(q->name, name, (size_t)length);
    return q;
}

/* A whole number written as such, for sizes. */
int pw_parse_whole(struct pw_parser *p, const char *of, int lo, int hi)
{
    int at = p->t.at, k = pw_parse_expression(p);
    double v = p->failed ? lo : p->x->node[k].value;
    if (!p->failed && (p->x->node[k].op != PW_NODE_NUMBER || v != floor(v) || v < lo || v > hi))
        return pw_parse_fail(p, at, "%s is a whole number of %d..%d", of, lo, hi);
    return (int)v;
}

/* mlp(x, hidden=K): PyTorch's names; deviations as in pe/fire.c. */
int pw_parse_network(struct pw_parser *p)
{
    static const char *const part[PW_NETWORK_PARAMS] = {"0.weight", "0.bias", "2.weight", "2.bias"};
    int at = p->t.at, in, hidden = 32, first, number = 0;
    pw_parse_expect(p, "(", "after mlp");
    in = pw_parse_expression(p);
    if (pw_parse_take(p, ",")) {
        if (pw_parse_is(p, "hidden")) {
            pw_parse_advance(p);
            pw_parse_expect(p, "=", "after hidden");
        }
        hidden = pw_parse_whole(p, "the number of hidden units", 1, 256);
    }
    pw_parse_expect(p, ")", "after the arguments of mlp");
    first = p->x->n_params;
    for (int k = 0; k < first; k++)
        number += p->x->param[k].weight;
    number = 1 + number / 2;
    for (int k = 0; k < PW_NETWORK_PARAMS && !p->failed; k++) {
        char name[32];
        if (number > 1)
            snprintf(name, sizeof name, "mlp%d.%s", number, part[k]);
        else
            snprintf(name, sizeof name, "mlp.%s", part[k]);
        struct pw_expr_param *q = pw_parse_param(p, name, (int)strlen(name), at);
        if (q == NULL)
            return 0;
        q->size = k == 3 ? 1 : hidden;
        q->axis = k >= 2 ? PW_AXIS_HEAD : PW_AXIS_NONE;
        q->drawn = true;
        q->weight = k % 2 == 0;
        q->value = k < 2 ? sqrt(1.0 / 3) : sqrt(1.0 / 3 / hidden);
    }
    return pw_parse_node(p, (struct pw_node){.op = PW_NODE_NETWORK, .index = first, .arg = {in, -1, -1}});
}

/* sum(k=A..B, e) */
int pw_parse_sum(struct pw_parser *p)
{
    int from, to, body, id = p->x->n_sums;
    pw_parse_expect(p, "(", "after sum");
    if (p->failed)
        return 0;
    if (p->t.kind != PW_TOK_NAME)
        return pw_parse_fail(p, p->t.at, "sum: a counter was expected: sum(k=A..B, expression)");
    if (id == PW_EXPR_SUMS)
        return pw_parse_fail(p, p->t.at, "too many sums: at most %d", PW_EXPR_SUMS);
    p->x->n_sums++;
    int at = p->t.at, length = p->t.length;
    pw_parse_advance(p);
    pw_parse_expect(p, "=", "after the counter of sum");
    from = pw_parse_expression(p);
    pw_parse_expect(p, "..", "between the ends of sum");
    to = pw_parse_expression(p);
    pw_parse_expect(p, ",", "after the ends of sum");
    p->x->counter[id] = (struct pw_expr_name){.at = at, .length = length};
    p->counter_at[id] = at;
    p->counter_length[id] = length;
    p->counter_open[id] = true;
    body = pw_parse_expression(p);
    p->counter_open[id] = false;
    pw_parse_expect(p, ")", "after the terms of sum");
    return pw_parse_node(p, (struct pw_node){.op = PW_NODE_SUM, .index = id, .arg = {from, to, body}});
}

int pw_parse_function(struct pw_parser *p, int f, int at)
{
    int a[3] = {-1, -1, -1}, n = 0, most = pw_functions[f].args;
    const char *name = pw_functions[f].name;
    pw_parse_expect(p, "(", "after the function's name");
    while (!p->failed && !pw_parse_is(p, ")")) {
        if (n > 0)
            pw_parse_expect(p, ",", "between arguments");
        if (n == most)
            return pw_parse_fail(p, at, "%s takes %d argument%s", name, most, most == 1 ? "" : "s");
        a[n++] = pw_parse_expression(p);
    }
    pw_parse_expect(p, ")", "after the arguments");
    if (n < most)
        return pw_parse_fail(p, at, "%s takes %d argument%s", name, most, most == 1 ? "" : "s");
    if (strcmp(name, "bucket") == 0 && !p->failed) {
        const struct pw_node *b = &p->x->node[a[1]], *m = &p->x->node[a[2]];
        if (b->op != PW_NODE_NUMBER || m->op != PW_NODE_NUMBER || b->value < 2 || b->value > 128 ||
            m->value < b->value || m->value > 65536)
            return pw_parse_fail(
                p, at, "bucket(d, buckets, distance): 2..128 buckets, a distance from buckets to 65536");
    }
    return pw_parse_node(p, (struct pw_node){.op = PW_NODE_CALL, .index = f, .arg = {a[0], a[1], a[2]}});
}

int pw_parse_entry(struct pw_parser *p, int param, int at)
{
    bool between = pw_parse_is(p, "(");
    if (!between && !pw_parse_is(p, "["))
        return pw_parse_fail(p, at, "'%s' is a table: '%s[n]' is an entry, '%s(x)' lies between entries",
                             p->x->param[param].name, p->x->param[param].name, p->x->param[param].name);
    pw_parse_advance(p);
    int k = pw_parse_expression(p);
    pw_parse_expect(p, between ? ")" : "]", "after the entry's number");
    return pw_parse_node(p, (struct pw_node){.op = between ? PW_NODE_BETWEEN : PW_NODE_ENTRY,
                                             .index = param,
                                             .arg = {k, -1, -1}});
}

int pw_parse_slopes(struct pw_parser *p)
{
    pw_parse_expect(p, "(", "after slopes");
    pw_parse_expect(p, ")", "after slopes(");
    pw_parse_expect(p, "[", "after slopes()");
    int k = pw_parse_expression(p);
    pw_parse_expect(p, "]", "after the head's number");
    return pw_parse_call(p, "slopes()[h]", k, pw_parse_variable(p, PW_VAR_HEADS), -1);
}

/* Entry k of item[from..to], k rounded, by bisection: its depth stays small, and one comparison reads each
 * item. */
static int item_at(struct pw_parser *p, int k, const int *item, int from, int to)
{
    if (from == to || p->failed)
        return item[from];
    int middle = (from + to) / 2;
    int below = pw_parse_call(p, "<=", k, pw_parse_number(p, middle), -1);
    int low = item_at(p, k, item, from, middle), high = item_at(p, k, item, middle + 1, to);
    return pw_parse_node(p, (struct pw_node){.op = PW_NODE_SELECT, .arg = {below, low, high}});
}

/* list(A, B, ...)[k] */
int pw_parse_list(struct pw_parser *p)
{
    int item[PW_EXPR_LIST], n = 0;
    pw_parse_expect(p, "(", "after list");
    do {
        if (n == PW_EXPR_LIST)
            return pw_parse_fail(p, p->t.at, "a list has at most %d entries", PW_EXPR_LIST);
        item[n++] = pw_parse_expression(p);
    } while (pw_parse_take(p, ","));
    pw_parse_expect(p, ")", "after the entries of list");
    pw_parse_expect(p, "[", "after list(...)");
    int k = pw_parse_expression(p);
    pw_parse_expect(p, "]", "after the entry's number");
    return item_at(p, pw_parse_call(p, "round", k, -1, -1), item, 0, n - 1);
}

/* The place of an array among those of the formula; -1 after an error. */
static int numbers_slot(struct pw_parser *p, const struct pw_numbers *data, int at)
{
    struct pw_expr *x = p->x;
    int k = 0;
    while (k < x->n_numbers && x->numbers[k] != data)
        k++;
    if (k == PW_PE_NUMBERS) {
        pw_parse_fail(p, at, "more than %d arrays of numbers", PW_PE_NUMBERS);
        return -1;
    }
    x->numbers[k] = data;
    x->n_numbers = k == x->n_numbers ? k + 1 : x->n_numbers;
    return k;
}

/* An index, rounded, and clamped to 0..size - 1. */
static int clamped_index(struct pw_parser *p, int size)
{
    int k = pw_parse_call(p, "round", pw_parse_expression(p), -1, -1);
    k = pw_parse_call(p, "max", k, pw_parse_number(p, 0), -1);
    return pw_parse_call(p, "min", k, pw_parse_number(p, size - 1), -1);
}

int pw_parse_numbers(struct pw_parser *p, const char *name, int length, int at)
{
    const struct pw_numbers *data = pw_numbers_find(name, length);
    if (data == NULL)
        return pw_parse_fail(p, at, "the numbers %.*s were not read: 'pe file=F.npz' reads a file", length,
                             name);
    int slot = numbers_slot(p, data, at), place = 0;
    pw_parse_expect(p, "[", "after the name of numbers");
    for (int d = 0; d < data->n_dims && !p->failed; d++) {
        if (d > 0)
            pw_parse_expect(p, ",", "between indices");
        int k = clamped_index(p, data->dims[d]);
        int before = d > 0 ? pw_parse_call(p, "*", place, pw_parse_number(p, data->dims[d]), -1) : 0;
        place = d > 0 ? pw_parse_call(p, "+", before, k, -1) : k;
    }
    if (!pw_parse_is(p, "]"))
        return pw_parse_fail(p, p->t.at, "%s has %d indices", data->name, data->n_dims);
    pw_parse_advance(p);
    return pw_parse_node(
        p, (struct pw_node){.op = PW_NODE_DATA, .index = slot < 0 ? 0 : slot, .arg = {place, -1, -1}});
}
