/* parse.c - text of a formula to its register program, by recursive descent. Every error names its column. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/expr/expr_int.h"

const char *const pw_stage_names[PW_STAGES + 1] = {"position", "embed", "angle", "gain", "bias",
                                                   "scale",    "score", "mask",  NULL};
static const char *const variables[PW_VARS + 1] = {"i",      "j", "d",     "n", "L", "context", "h", "H", "l",
                                                   "layers", "p", "pairs", "c", "C", "D",       "s", NULL};
/* Words with a meaning of their own, besides variables, stages and functions. */
static const char *const words[] = {"learn",  "normal", "per", "head",   "layer",
                                    "slopes", "sum",    "mlp", "hidden", NULL};

struct name {
    int at, length;
    int node, param; /* an expression; or a parameter, -1 otherwise */
    bool used;
};

struct parser {
    struct pw_expr *x;
    struct pw_token t; /* the token to be read next */
    struct pw_err *err;
    int depth, error_at;
    bool failed;
    struct name names[PW_EXPR_NAMES];
    int n_names;
    int counter_at[PW_EXPR_SUMS], counter_length[PW_EXPR_SUMS]; /* names of the open sums' counters */
    bool counter_open[PW_EXPR_SUMS];
    int position_at; /* where the expression of stage position begins */
    bool for_key;    /* reading that expression for the key: i is j */
    int stage;       /* of the statement that is read; -1: none */
};

__attribute__((format(printf, 3, 4))) static int fail_at(struct parser *p, int at, const char *fmt, ...)
{
    if (!p->failed) {
        char text[300];
        va_list list;
        va_start(list, fmt);
        vsnprintf(text, sizeof text, fmt, list);
        va_end(list);
        pw_fail(p->err, PW_EUSER, "column %d: %s", at + 1, text);
        p->failed = true;
        p->error_at = at;
    }
    return 0;
}

static void advance(struct parser *p)
{
    struct pw_err err;
    if (p->failed)
        return;
    if (pw_expr_lex(p->x->text, p->t.at + p->t.length, &p->t, &err) != PW_OK)
        fail_at(p, p->t.at, "%s", err.msg);
}

static const char *token_text(const struct parser *p)
{
    return p->x->text + p->t.at;
}

static bool is_word(const struct parser *p, const char *word)
{
    return !p->failed && (p->t.kind == PW_TOK_NAME || p->t.kind == PW_TOK_SIGN) &&
           (int)strlen(word) == p->t.length && memcmp(token_text(p), word, (size_t)p->t.length) == 0;
}

static bool take(struct parser *p, const char *word)
{
    if (!is_word(p, word))
        return false;
    advance(p);
    return true;
}

static void expect(struct parser *p, const char *word, const char *place)
{
    if (p->failed || take(p, word))
        return;
    if (p->t.kind == PW_TOK_END || p->t.kind == PW_TOK_BREAK)
        fail_at(p, p->t.at, "'%s' is missing %s", word, place);
    else
        fail_at(p, p->t.at, "'%s' was expected %s, not '%.*s'", word, place, p->t.length, token_text(p));
}

static int find_word(const char *const *list, const char *text, int length)
{
    for (int i = 0; list[i] != NULL; i++)
        if ((int)strlen(list[i]) == length && memcmp(list[i], text, (size_t)length) == 0)
            return i;
    return -1;
}

/* ---- nodes */

static int make(struct parser *p, struct pw_node node)
{
    if (p->failed)
        return 0;
    int k = pw_expr_node(p->x, node);
    return k >= 0 ? k : fail_at(p, p->t.at, "the formula is too long: at most %d operations", PW_EXPR_NODES);
}

static int make_number(struct parser *p, double value)
{
    return make(p, (struct pw_node){.op = PW_NODE_NUMBER, .arg = {-1, -1, -1}, .value = value});
}

static int make_variable(struct parser *p, enum pw_expr_var v)
{
    return make(p, (struct pw_node){.op = PW_NODE_VAR, .index = (int)v, .arg = {-1, -1, -1}});
}

static int make_call(struct parser *p, const char *name, int a, int b, int c)
{
    int f = pw_function_find(name, (int)strlen(name));
    return make(p, (struct pw_node){.op = PW_NODE_CALL, .index = f, .arg = {a, b, c}});
}

/* ---- expressions */

static int expression(struct parser *p);

static int position_of(struct parser *p, bool of_key)
{
    if (p->position_at < 0 || p->stage == PW_STAGE_POSITION)
        return make_variable(p, of_key ? PW_VAR_J : PW_VAR_I);
    if (!of_key)
        return p->x->root[PW_STAGE_POSITION];
    struct pw_token back = p->t;
    p->t = (struct pw_token){.at = p->position_at};
    advance(p);
    p->for_key = true;
    int k = expression(p);
    p->for_key = false;
    p->t = back;
    return k;
}

static int variable(struct parser *p, enum pw_expr_var v, int at)
{
    bool needs_key = v == PW_VAR_J || v == PW_VAR_DISTANCE || v == PW_VAR_SCORE;
    if (needs_key && (p->stage == PW_STAGE_POSITION || p->stage == PW_STAGE_EMBED ||
                      p->stage == PW_STAGE_ANGLE || p->stage == PW_STAGE_GAIN || p->stage == PW_STAGE_SCALE))
        return fail_at(p, at, "%s has no '%s': it is of one token", pw_stage_names[p->stage], variables[v]);
    if (v == PW_VAR_SCORE && p->stage >= 0 && p->stage != PW_STAGE_SCORE)
        return fail_at(p, at, "'s' is the finished score, which only 'score' can read");
    if (v == PW_VAR_DISTANCE && p->position_at >= 0)
        return make_call(p, "-", position_of(p, false), position_of(p, true), -1);
    return make_variable(p, v == PW_VAR_I && p->for_key ? PW_VAR_J : v);
}

static struct pw_expr_param *add_param(struct parser *p, const char *name, int length, int at)
{
    struct pw_expr *x = p->x;
    if (x->n_params == PW_EXPR_PARAMS) {
        fail_at(p, at, "too many learned parameters: at most %d", PW_EXPR_PARAMS);
        return NULL;
    }
    struct pw_expr_param *q = &x->param[x->n_params++];
    *q = (struct pw_expr_param){.size = 1};
    if (length >= (int)sizeof q->name)
        fail_at(p, at, "a name has at most %d characters", (int)sizeof q->name - 1);
    else
        memcpy(q->name, name, (size_t)length);
    return q;
}

/* A whole number written as such, for sizes. */
static int whole_number(struct parser *p, const char *of, int lo, int hi)
{
    int at = p->t.at, k = expression(p);
    double v = p->failed ? lo : p->x->node[k].value;
    if (!p->failed && (p->x->node[k].op != PW_NODE_NUMBER || v != floor(v) || v < lo || v > hi))
        return fail_at(p, at, "%s is a whole number of %d..%d", of, lo, hi);
    return (int)v;
}

/* mlp(x, hidden=K): PyTorch's names; deviations as in pe/fire.c. */
static int network(struct parser *p)
{
    static const char *const part[PW_NETWORK_PARAMS] = {"0.weight", "0.bias", "2.weight", "2.bias"};
    int at = p->t.at, in, hidden = 32, first;
    expect(p, "(", "after mlp");
    in = expression(p);
    if (take(p, ",")) {
        if (is_word(p, "hidden")) {
            advance(p);
            expect(p, "=", "after hidden");
        }
        hidden = whole_number(p, "the number of hidden units", 1, 256);
    }
    expect(p, ")", "after the arguments of mlp");
    first = p->x->n_params;
    for (int k = 0; k < PW_NETWORK_PARAMS && !p->failed; k++) {
        char name[32];
        snprintf(name, sizeof name, "mlp%d.%s", first, part[k]);
        struct pw_expr_param *q = add_param(p, name, (int)strlen(name), at);
        if (q == NULL)
            return 0;
        q->size = k == 3 ? 1 : hidden;
        q->per_head = k >= 2;
        q->drawn = true;
        q->value = k < 2 ? sqrt(1.0 / 3) : sqrt(1.0 / 3 / hidden);
    }
    return make(p, (struct pw_node){.op = PW_NODE_NETWORK, .index = first, .arg = {in, -1, -1}});
}

/* sum(k=A..B, e) */
static int sum(struct parser *p)
{
    int from, to, body, id = p->x->n_sums;
    expect(p, "(", "after sum");
    if (p->failed)
        return 0;
    if (p->t.kind != PW_TOK_NAME)
        return fail_at(p, p->t.at, "sum: a counter was expected: sum(k=A..B, expression)");
    if (id == PW_EXPR_SUMS)
        return fail_at(p, p->t.at, "too many sums: at most %d", PW_EXPR_SUMS);
    p->x->n_sums++;
    int at = p->t.at, length = p->t.length;
    advance(p);
    expect(p, "=", "after the counter of sum");
    from = expression(p);
    expect(p, "..", "between the ends of sum");
    to = expression(p);
    expect(p, ",", "after the ends of sum");
    p->counter_at[id] = at;
    p->counter_length[id] = length;
    p->counter_open[id] = true;
    body = expression(p);
    p->counter_open[id] = false;
    expect(p, ")", "after the terms of sum");
    return make(p, (struct pw_node){.op = PW_NODE_SUM, .index = id, .arg = {from, to, body}});
}

static int call(struct parser *p, int f, int at)
{
    int a[3] = {-1, -1, -1}, n = 0, most = pw_functions[f].args;
    const char *name = pw_functions[f].name;
    expect(p, "(", "after the function's name");
    while (!p->failed && !is_word(p, ")")) {
        if (n > 0)
            expect(p, ",", "between arguments");
        if (n == most)
            return fail_at(p, at, "%s takes %d argument%s", name, most, most == 1 ? "" : "s");
        a[n++] = expression(p);
    }
    expect(p, ")", "after the arguments");
    if (n < most)
        return fail_at(p, at, "%s takes %d argument%s", name, most, most == 1 ? "" : "s");
    if (strcmp(name, "bucket") == 0 && !p->failed) {
        const struct pw_node *b = &p->x->node[a[1]], *m = &p->x->node[a[2]];
        if (b->op != PW_NODE_NUMBER || m->op != PW_NODE_NUMBER || b->value < 2 || b->value > 4096 ||
            m->value < b->value || m->value > 1e6)
            return fail_at(
                p, at, "bucket(d, buckets, distance): 2..4096 buckets, a distance from buckets to 1000000");
    }
    return make(p, (struct pw_node){.op = PW_NODE_CALL, .index = f, .arg = {a[0], a[1], a[2]}});
}

static int table_entry(struct parser *p, int param, int at)
{
    bool between = is_word(p, "(");
    if (!between && !is_word(p, "["))
        return fail_at(p, at, "'%s' is a table: '%s[n]' is an entry, '%s(x)' lies between entries",
                       p->x->param[param].name, p->x->param[param].name, p->x->param[param].name);
    advance(p);
    int k = expression(p);
    expect(p, between ? ")" : "]", "after the entry's number");
    return make(p, (struct pw_node){
                       .op = between ? PW_NODE_BETWEEN : PW_NODE_ENTRY, .index = param, .arg = {k, -1, -1}});
}

static int slopes(struct parser *p)
{
    expect(p, "(", "after slopes");
    expect(p, ")", "after slopes(");
    expect(p, "[", "after slopes()");
    int k = expression(p);
    expect(p, "]", "after the head's number");
    return make_call(p, "slope", k, make_variable(p, PW_VAR_HEADS), -1);
}

static int unknown(struct parser *p, const char *text, int length, int at)
{
    const char *all[128];
    char word[40];
    int n = 0;
    for (int k = 0; variables[k] != NULL; k++)
        all[n++] = variables[k];
    for (int k = 0; pw_functions[k].name != NULL && n < 126; k++)
        if (pw_functions[k].name[0] >= 'a')
            all[n++] = pw_functions[k].name;
    all[n] = NULL;
    snprintf(word, sizeof word, "%.*s", length < 39 ? length : 39, text);
    const char *near = pw_text_nearest(word, all);
    return near != NULL ? fail_at(p, at, "nothing has the name '%s'; did you mean '%s'?", word, near)
                        : fail_at(p, at, "nothing has the name '%s'", word);
}

static int named(struct parser *p)
{
    const char *text = token_text(p);
    int at = p->t.at, length = p->t.length, k;
    advance(p);
    for (k = p->x->n_sums - 1; k >= 0; k--)
        if (p->counter_open[k] && p->counter_length[k] == length &&
            memcmp(p->x->text + p->counter_at[k], text, (size_t)length) == 0)
            return make(p, (struct pw_node){.op = PW_NODE_BOUND, .index = k, .arg = {-1, -1, -1}});
    for (k = 0; k < p->n_names; k++) {
        struct name *name = &p->names[k];
        if (name->length != length || memcmp(p->x->text + name->at, text, (size_t)length) != 0)
            continue;
        name->used = true;
        if (name->param < 0)
            return name->node;
        if (p->x->param[name->param].size > 1)
            return table_entry(p, name->param, at);
        return make(p, (struct pw_node){.op = PW_NODE_PARAM, .index = name->param, .arg = {-1, -1, -1}});
    }
    k = find_word(variables, text, length);
    if (k >= 0)
        return variable(p, (enum pw_expr_var)k, at);
    if (length == 8 && memcmp(text, "position", 8) == 0) {
        expect(p, "(", "after position");
        bool key = is_word(p, "j");
        if (!key && !is_word(p, "i"))
            return fail_at(p, p->t.at, "position(i) or position(j)");
        advance(p);
        expect(p, ")", "after position(");
        return position_of(p, key != p->for_key);
    }
    if (length == 6 && memcmp(text, "slopes", 6) == 0)
        return slopes(p);
    if (length == 3 && memcmp(text, "sum", 3) == 0)
        return sum(p);
    if (length == 3 && memcmp(text, "mlp", 3) == 0)
        return network(p);
    k = pw_function_find(text, length);
    if (k >= 0 && strcmp(pw_functions[k].name, "slope") != 0 && strcmp(pw_functions[k].name, "negative") != 0)
        return call(p, k, at);
    return unknown(p, text, length, at);
}

static int primary(struct parser *p)
{
    int k;
    if (p->failed)
        return 0;
    if (p->t.kind == PW_TOK_NUMBER) {
        k = make_number(p, p->t.value);
        advance(p);
        return k;
    }
    if (p->t.kind == PW_TOK_NAME)
        return named(p);
    if (take(p, "(")) {
        k = expression(p);
        expect(p, ")", "to close the bracket");
        return k;
    }
    if (p->t.kind == PW_TOK_SIGN)
        return fail_at(p, p->t.at, "a number, a name or '(' was expected, not '%.*s'", p->t.length,
                       token_text(p));
    return fail_at(p, p->t.at, "the expression is not complete");
}

static int unary(struct parser *p);

/* ** binds more than a sign before it: -2**2 is -4; and to the right: 2**3**2 is 2**9. */
static int raised(struct parser *p)
{
    int k = primary(p);
    return take(p, "**") || take(p, "^") ? make_call(p, "**", k, unary(p), -1) : k;
}

static int unary(struct parser *p)
{
    int k = 0;
    if (++p->depth > PW_EXPR_DEPTH)
        fail_at(p, p->t.at, "more than %d nested brackets and operators", PW_EXPR_DEPTH);
    else if (take(p, "-"))
        k = make_call(p, "negative", unary(p), -1, -1);
    else if (take(p, "!"))
        k = make_call(p, "!", unary(p), -1, -1);
    else if (take(p, "+"))
        k = unary(p);
    else
        k = raised(p);
    p->depth--;
    return k;
}

/* Binary operators by precedence, the weakest first; all of a level group to the left. */
static int binary(struct parser *p, int level)
{
    static const char *const levels[][5] = {{"||"},     {"&&"},         {"==", "!="}, {"<=", ">=", "<", ">"},
                                            {"+", "-"}, {"*", "/", "%"}};
    if (level == sizeof levels / sizeof *levels)
        return unary(p);
    int k = binary(p, level + 1);
    for (int i = 0; i < 5 && levels[level][i] != NULL; i++)
        if (take(p, levels[level][i])) {
            k = make_call(p, levels[level][i], k, binary(p, level + 1), -1);
            i = -1;
        }
    return k;
}

static int expression(struct parser *p)
{
    if (++p->depth > PW_EXPR_DEPTH)
        return fail_at(p, p->t.at, "more than %d nested brackets and operators", PW_EXPR_DEPTH);
    int k = binary(p, 0);
    if (take(p, "?")) {
        int yes = expression(p);
        expect(p, ":", "between the branches of '?'");
        int no = expression(p);
        k = make(p, (struct pw_node){.op = PW_NODE_SELECT, .arg = {k, yes, no}});
    }
    p->depth--;
    return k;
}

/* ---- statements */

/* learn(INIT [, size]) [per head [, layer]] */
static void learned(struct parser *p, struct name *name)
{
    struct pw_expr_param *q = add_param(p, p->x->text + name->at, name->length, name->at);
    int at;
    if (q == NULL)
        return;
    name->param = p->x->n_params - 1;
    expect(p, "(", "after learn");
    at = p->t.at;
    if (take(p, "normal")) {
        q->drawn = true;
        expect(p, "(", "after normal");
    }
    int k = expression(p);
    if (q->drawn)
        expect(p, ")", "after the deviation");
    if (p->failed)
        return;
    q->value = p->x->node[k].value;
    if (p->x->node[k].op != PW_NODE_NUMBER || !isfinite(q->value) || (q->drawn && q->value < 0)) {
        fail_at(p, at, "the initial value is a number or normal(deviation)");
        return;
    }
    if (take(p, ","))
        q->size = whole_number(p, "the size of a table", 2, PW_EXPR_TABLE);
    expect(p, ")", "after the initial value");
    if (!take(p, "per"))
        return;
    do {
        bool head = is_word(p, "head");
        if (!head && !is_word(p, "layer")) {
            fail_at(p, p->t.at, "'per head', 'per layer' or 'per head, layer'");
            return;
        }
        *(head ? &q->per_head : &q->per_layer) = true;
        advance(p);
    } while (take(p, ","));
}

static bool is_reserved(const char *text, int length)
{
    return find_word(variables, text, length) >= 0 || find_word(words, text, length) >= 0 ||
           pw_function_find(text, length) >= 0;
}

static void statement(struct parser *p)
{
    const char *text = token_text(p);
    int at = p->t.at, length = p->t.length, stage = find_word(pw_stage_names, text, length);
    if (p->t.kind != PW_TOK_NAME) {
        fail_at(p, at, "a statement was expected: 'bias = ...' or 'name = ...'");
        return;
    }
    advance(p);
    if (!p->failed && !is_word(p, "=")) {
        fail_at(p, p->t.at, "'=' was expected after '%.*s': 'bias = ...' or 'name = ...'", length, text);
        return;
    }
    if (stage < 0 && is_reserved(text, length)) {
        fail_at(p, at, "'%.*s' has a meaning in formulas; choose another name", length, text);
        return;
    }
    for (int k = 0; k < p->n_names; k++)
        if (p->names[k].length == length && memcmp(p->x->text + p->names[k].at, text, (size_t)length) == 0) {
            fail_at(p, at, "'%.*s' is defined twice", length, text);
            return;
        }
    if (stage >= 0 && p->x->root[stage] >= 0) {
        fail_at(p, at, "'%s' is defined twice", pw_stage_names[stage]);
        return;
    }
    if (stage < 0 && p->n_names == PW_EXPR_NAMES) {
        fail_at(p, at, "too many names: at most %d", PW_EXPR_NAMES);
        return;
    }
    int before = p->t.at + p->t.length;
    advance(p);
    p->stage = stage;
    if (stage >= 0) {
        int k = expression(p);
        p->x->root[stage] = k;
        if (stage == PW_STAGE_POSITION)
            p->position_at = before;
    } else {
        struct name name = {.at = at, .length = length, .param = -1};
        if (take(p, "learn"))
            learned(p, &name);
        else
            name.node = expression(p);
        p->names[p->n_names++] = name;
    }
    p->stage = -1;
}

static void check_used(struct parser *p)
{
    bool any = false;
    for (int k = 0; k < PW_STAGES; k++)
        any |= p->x->root[k] >= 0;
    if (!any)
        fail_at(p, p->t.at,
                "the formula defines nothing: one of position, embed, angle, gain, bias, scale, score, mask");
    for (int k = 0; k < p->n_names; k++)
        if (p->names[k].param >= 0 && !p->names[k].used)
            fail_at(p, p->names[k].at, "nothing uses the parameter '%s'",
                    p->x->param[p->names[k].param].name);
}

enum pw_code pw_expr_parse(struct pw_expr **out, const char *text, int *at, struct pw_err *err)
{
    struct pw_err mine;
    struct parser p = {.err = err != NULL ? err : &mine, .position_at = -1, .stage = -1};
    *out = NULL;
    if (at != NULL)
        *at = 0;
    if (strlen(text) > PW_EXPR_TEXT)
        return pw_fail(err, PW_EUSER, "a formula has at most %d characters", PW_EXPR_TEXT);
    p.x = pw_alloc(1, sizeof *p.x);
    p.x->text = pw_copy(text, strlen(text) + 1, 1);
    for (int k = 0; k < PW_STAGES; k++)
        p.x->root[k] = -1;
    advance(&p);
    while (!p.failed && p.t.kind != PW_TOK_END) {
        if (p.t.kind == PW_TOK_BREAK) {
            advance(&p);
            continue;
        }
        statement(&p);
        if (!p.failed && p.t.kind != PW_TOK_END && p.t.kind != PW_TOK_BREAK)
            fail_at(&p, p.t.at, "';' or the end was expected, not '%.*s'", p.t.length, token_text(&p));
    }
    if (!p.failed)
        check_used(&p);
    if (p.failed) {
        pw_expr_free(p.x);
        if (at != NULL)
            *at = p.error_at;
        return PW_EUSER;
    }
    *out = p.x;
    return PW_OK;
}

void pw_expr_free(struct pw_expr *x)
{
    if (x != NULL)
        free(x->text);
    free(x);
}
