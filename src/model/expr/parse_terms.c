/* parse_terms.c - expressions of a formula, by recursive descent: the weakest operator first. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "model/expr/parse_int.h"

const char *const pw_parse_variables[PW_VARS + 1] = {"i", "j", "d",      "n", "L",     "context", "h",
                                                     "H", "l", "layers", "p", "pairs", "c",       "C",
                                                     "D", "s", "key",    "g", "m",     NULL};

/* ---- nodes */

int pw_parse_node(struct pw_parser *p, struct pw_node node)
{
    if (p->failed)
        return 0;
    int k = pw_expr_node(p->x, node);
    return k >= 0
               ? k
               : pw_parse_fail(p, p->t.at, "the formula is too long: at most %d operations", PW_EXPR_NODES);
}

int pw_parse_number(struct pw_parser *p, double value)
{
    return pw_parse_node(p, (struct pw_node){.op = PW_NODE_NUMBER, .arg = {-1, -1, -1}, .value = value});
}

int pw_parse_variable(struct pw_parser *p, enum pw_expr_var v)
{
    return pw_parse_node(p, (struct pw_node){.op = PW_NODE_VAR, .index = (int)v, .arg = {-1, -1, -1}});
}

int pw_parse_call(struct pw_parser *p, const char *name, int a, int b, int c)
{
    int f = pw_function_find(name, (int)strlen(name));
    return pw_parse_node(p, (struct pw_node){.op = PW_NODE_CALL, .index = f, .arg = {a, b, c}});
}

/* ---- expressions */

static int position_of(struct pw_parser *p, bool of_key)
{
    if (p->position_at < 0 || p->stage == PW_STAGE_POSITION)
        return pw_parse_variable(p, of_key ? PW_VAR_J : PW_VAR_I);
    if (p->x->by_data)
        return pw_parse_node(p, (struct pw_node){.op = PW_NODE_VAR,
                                                 .index = of_key ? PW_VAR_J : PW_VAR_I,
                                                 .arg = {-1, -1, -1},
                                                 .value = 1});
    if (!of_key)
        return p->x->root[PW_STAGE_POSITION];
    struct pw_token back = p->t;
    p->t = (struct pw_token){.at = p->position_at};
    pw_parse_advance(p);
    p->for_key = true;
    int k = pw_parse_expression(p);
    p->for_key = false;
    p->t = back;
    return k;
}

static int variable(struct pw_parser *p, enum pw_expr_var v, int at)
{
    bool needs_key = v == PW_VAR_J || v == PW_VAR_DISTANCE || v == PW_VAR_SCORE;
    if (needs_key && (p->stage == PW_STAGE_POSITION || p->stage == PW_STAGE_EMBED ||
                      p->stage == PW_STAGE_ANGLE || p->stage == PW_STAGE_GAIN || p->stage == PW_STAGE_SCALE))
        return pw_parse_fail(p, at, "%s has no '%s': it is of one token", pw_stage_names[p->stage],
                             pw_parse_variables[v]);
    if (v == PW_VAR_SCORE && p->stage >= 0 && p->stage != PW_STAGE_SCORE)
        return pw_parse_fail(p, at, "'s' is the finished score, which only 'score' can read");
    if (v == PW_VAR_GATE && p->stage >= 0 && p->stage != PW_STAGE_GATE)
        return pw_parse_fail(p, at, "'g' is a token's projection, which only 'gate' can read");
    if (v == PW_VAR_MIX && p->stage >= 0 && p->stage != PW_STAGE_MIX)
        return pw_parse_fail(p, at, "'m' is the number of a function of a mix, which only 'mix' can read");
    if (v == PW_VAR_KEY && p->stage >= 0 && p->stage != PW_STAGE_ANGLE && p->stage != PW_STAGE_GAIN)
        return pw_parse_fail(p, at, "'key' is 1 for a rotated key: only 'angle' and 'gain' can read it");
    if (v == PW_VAR_DISTANCE && p->position_at >= 0 && !p->x->by_data)
        return pw_parse_call(p, "-", position_of(p, false), position_of(p, true), -1);
    return pw_parse_variable(p, v == PW_VAR_I && p->for_key ? PW_VAR_J : v);
}

static int unknown(struct pw_parser *p, const char *text, int length, int at)
{
    static const char *const special[] = {"learn",  "list",   "sum",    "mlp",
                                          "option", "normal", "slopes", "position"};
    const char *all[128];
    char word[40];
    int n = 0;
    for (int k = 0; pw_parse_variables[k] != NULL; k++)
        all[n++] = pw_parse_variables[k];
    for (int k = 0; pw_functions[k].name != NULL && n < 112; k++)
        if (pw_functions[k].name[0] >= 'a')
            all[n++] = pw_functions[k].name;
    for (size_t k = 0; k < sizeof special / sizeof *special; k++)
        all[n++] = special[k];
    for (int k = 0; pw_parse_token_word(k) != NULL && n < 126; k++)
        all[n++] = pw_parse_token_word(k);
    all[n] = NULL;
    snprintf(word, sizeof word, "%.*s", length < 39 ? length : 39, text);
    if (strcmp(word, "learn") == 0 || strcmp(word, "option") == 0)
        return pw_parse_fail(p, at, "'%s' is a statement: write 'a = %s(...);' before, and 'a' here", word,
                             word);
    const char *near = NULL;
    for (int k = 0; near == NULL && length > 1 && k < n; k++) /* half-typed */
        if (strncmp(all[k], word, strlen(word)) == 0)
            near = all[k];
    if (near == NULL)
        near = pw_text_nearest(word, all);
    return near != NULL ? pw_parse_fail(p, at, "nothing has the name '%s'; did you mean '%s'?", word, near)
                        : pw_parse_fail(p, at, "nothing has the name '%s'", word);
}

static int named(struct pw_parser *p)
{
    const char *text = pw_parse_text(p);
    int at = p->t.at, length = p->t.length, k;
    pw_parse_advance(p);
    for (k = p->x->n_sums - 1; k >= 0; k--)
        if (p->counter_open[k] && p->counter_length[k] == length &&
            memcmp(p->x->text + p->counter_at[k], text, (size_t)length) == 0)
            return pw_parse_node(p, (struct pw_node){.op = PW_NODE_BOUND, .index = k, .arg = {-1, -1, -1}});
    for (k = 0; k < p->n_names; k++) {
        struct pw_parse_name *name = &p->names[k];
        if (name->length != length || memcmp(p->x->text + name->at, text, (size_t)length) != 0)
            continue;
        name->used = true;
        if (name->param < 0)
            return name->node;
        if (p->x->param[name->param].size > 1)
            return pw_parse_entry(p, name->param, at);
        return pw_parse_node(
            p, (struct pw_node){.op = PW_NODE_PARAM, .index = name->param, .arg = {-1, -1, -1}});
    }
    k = pw_parse_find(pw_parse_variables, text, length);
    if (k >= 0)
        return variable(p, (enum pw_expr_var)k, at);
    if (length == 8 && memcmp(text, "position", 8) == 0) {
        pw_parse_expect(p, "(", "after position");
        bool key = pw_parse_is(p, "j");
        if (!key && !pw_parse_is(p, "i"))
            return pw_parse_fail(p, p->t.at, "position(i) or position(j)");
        pw_parse_advance(p);
        pw_parse_expect(p, ")", "after position(");
        return position_of(p, key != p->for_key);
    }
    if (length == 6 && memcmp(text, "slopes", 6) == 0)
        return pw_parse_slopes(p);
    if (length == 4 && memcmp(text, "list", 4) == 0)
        return pw_parse_list(p);
    if (length == 3 && memcmp(text, "sum", 3) == 0)
        return pw_parse_sum(p);
    if (length == 3 && memcmp(text, "mlp", 3) == 0)
        return pw_parse_network(p);
    if (pw_numbers_names(text, length))
        return pw_parse_numbers(p, text, length, at);
    k = pw_function_find(text, length);
    if (k >= 0)
        return pw_parse_function(p, k, at);
    if (pw_parse_token(p, text, length, at, &k))
        return k;
    return unknown(p, text, length, at);
}

static int primary(struct pw_parser *p)
{
    int k;
    if (p->failed)
        return 0;
    if (p->t.kind == PW_TOK_NUMBER) {
        k = pw_parse_number(p, p->t.value);
        pw_parse_advance(p);
        return k;
    }
    if (p->t.kind == PW_TOK_NAME)
        return named(p);
    if (pw_parse_take(p, "(")) {
        k = pw_parse_expression(p);
        pw_parse_expect(p, ")", "to close the bracket");
        return k;
    }
    if (p->t.kind == PW_TOK_SIGN)
        return pw_parse_fail(p, p->t.at, "a number, a name or '(' was expected, not '%.*s'", p->t.length,
                             pw_parse_text(p));
    return pw_parse_fail(p, p->t.at, "the expression is not complete");
}

static int unary(struct pw_parser *p);

/* ** binds more than a sign before it: -2**2 is -4; and to the right: 2**3**2 is 2**9. */
static int raised(struct pw_parser *p)
{
    int k = primary(p);
    return pw_parse_take(p, "**") || pw_parse_take(p, "^") ? pw_parse_call(p, "**", k, unary(p), -1) : k;
}

static int unary(struct pw_parser *p)
{
    int k = 0;
    if (++p->depth > PW_EXPR_DEPTH)
        pw_parse_fail(p, p->t.at, "more than %d nested brackets and operators", PW_EXPR_DEPTH);
    else if (pw_parse_take(p, "-"))
        k = pw_parse_call(p, "-x", unary(p), -1, -1);
    else if (pw_parse_take(p, "!"))
        k = pw_parse_call(p, "!", unary(p), -1, -1);
    else if (pw_parse_take(p, "+"))
        k = unary(p);
    else
        k = raised(p);
    p->depth--;
    return k;
}

/* Binary operators by precedence, the weakest first; all of a level group to the left. */
static int binary(struct pw_parser *p, int level)
{
    static const char *const levels[][5] = {{"||"},     {"&&"},         {"==", "!="}, {"<=", ">=", "<", ">"},
                                            {"+", "-"}, {"*", "/", "%"}};
    if (level == sizeof levels / sizeof *levels)
        return unary(p);
    int k = binary(p, level + 1);
    for (int i = 0; i < 5 && levels[level][i] != NULL; i++)
        if (pw_parse_take(p, levels[level][i])) {
            k = pw_parse_call(p, levels[level][i], k, binary(p, level + 1), -1);
            i = -1;
        }
    return k;
}

int pw_parse_expression(struct pw_parser *p)
{
    if (++p->depth > PW_EXPR_DEPTH)
        return pw_parse_fail(p, p->t.at, "more than %d nested brackets and operators", PW_EXPR_DEPTH);
    int k = binary(p, 0);
    if (pw_parse_take(p, "?")) {
        int yes = pw_parse_expression(p);
        pw_parse_expect(p, ":", "between the branches of '?'");
        int no = pw_parse_expression(p);
        k = pw_parse_node(p, (struct pw_node){.op = PW_NODE_SELECT, .arg = {k, yes, no}});
    }
    p->depth--;
    return k;
}
