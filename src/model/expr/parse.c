/* parse.c - text of a formula to its register program: tokens and statements. Every error names its column.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/expr/parse_int.h"

const char *const pw_stage_names[PW_STAGES + 1] = {"position", "embed", "angle", "gain", "bias", "scale",
                                                   "score",    "mask",  "gate",  "mix",  NULL};
/* Words with a meaning of their own, besides variables, stages and functions. */
static const char *const words[] = {"learn", "normal", "per", "head",   "layer",  "slopes",
                                    "list",  "sum",    "mlp", "hidden", "option", NULL};

/* ---- tokens */

int pw_parse_fail(struct pw_parser *p, int at, const char *fmt, ...)
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

void pw_parse_advance(struct pw_parser *p)
{
    struct pw_err err;
    if (p->failed)
        return;
    if (pw_expr_lex(p->x->text, p->t.at + p->t.length, &p->t, &err) != PW_OK)
        pw_parse_fail(p, p->t.at, "%s", err.msg);
}

const char *pw_parse_text(const struct pw_parser *p)
{
    return p->x->text + p->t.at;
}

bool pw_parse_is(const struct pw_parser *p, const char *word)
{
    return !p->failed && (p->t.kind == PW_TOK_NAME || p->t.kind == PW_TOK_SIGN) &&
           (int)strlen(word) == p->t.length && memcmp(pw_parse_text(p), word, (size_t)p->t.length) == 0;
}

bool pw_parse_take(struct pw_parser *p, const char *word)
{
    if (!pw_parse_is(p, word))
        return false;
    pw_parse_advance(p);
    return true;
}

void pw_parse_expect(struct pw_parser *p, const char *word, const char *place)
{
    if (p->failed || pw_parse_take(p, word))
        return;
    if (p->t.kind == PW_TOK_END || p->t.kind == PW_TOK_BREAK)
        pw_parse_fail(p, p->t.at, "'%s' is missing %s", word, place);
    else
        pw_parse_fail(p, p->t.at, "'%s' was expected %s, not '%.*s'", word, place, p->t.length,
                      pw_parse_text(p));
}

int pw_parse_find(const char *const *list, const char *text, int length)
{
    for (int i = 0; list[i] != NULL; i++)
        if ((int)strlen(list[i]) == length && memcmp(list[i], text, (size_t)length) == 0)
            return i;
    return -1;
}

/* ---- statements */

/* learn(INIT [, size]) [per head [, layer]]; channel, pair or mix in place of head */
static void learned(struct pw_parser *p, struct pw_parse_name *name)
{
    struct pw_expr_param *q = pw_parse_param(p, p->x->text + name->at, name->length, name->at);
    int at;
    if (q == NULL)
        return;
    name->param = p->x->n_params - 1;
    pw_parse_expect(p, "(", "after learn");
    at = p->t.at;
    if (pw_parse_take(p, "normal")) {
        q->drawn = true;
        pw_parse_expect(p, "(", "after normal");
    }
    int k = pw_parse_expression(p);
    if (q->drawn)
        pw_parse_expect(p, ")", "after the deviation");
    if (p->failed)
        return;
    q->value = p->x->node[k].value;
    if (p->x->node[k].op != PW_NODE_NUMBER || !isfinite(q->value) || (q->drawn && q->value < 0)) {
        pw_parse_fail(p, at, "the initial value is a number or normal(deviation)");
        return;
    }
    if (pw_parse_take(p, ","))
        q->size = pw_parse_whole(p, "the size of a table", 2, PW_EXPR_TABLE);
    pw_parse_expect(p, ")", "after the initial value");
    if (!pw_parse_take(p, "per"))
        return;
    do {
        int axis = PW_AXIS_HEAD;
        while (axis < PW_AXES && !pw_parse_is(p, pw_axis_names[axis]))
            axis++;
        if (axis < PW_AXES && q->axis == PW_AXIS_NONE)
            q->axis = (enum pw_axis)axis;
        else if (axis == PW_AXES && pw_parse_is(p, "layer"))
            q->per_layer = true;
        else {
            pw_parse_fail(
                p, p->t.at,
                "'per head', 'per channel', 'per pair' or 'per mix', 'per layer', or two as in 'per head, "
                "layer'");
            return;
        }
        pw_parse_advance(p);
    } while (pw_parse_take(p, ","));
}

/* `g` and `m` are not: formulas use the letters for parameters and slopes, and names come before variables.
 */
static bool is_reserved(const char *text, int length)
{
    if (length == 1 && (*text == 'g' || *text == 'm'))
        return false;
    return pw_parse_find(pw_parse_variables, text, length) >= 0 || pw_parse_find(words, text, length) >= 0 ||
           pw_function_find(text, length) >= 0;
}

/* pairing = half|interleaved */
static void pairing(struct pw_parser *p, int at)
{
    if (p->x->pairing != 0)
        pw_parse_fail(p, at, "'pairing' is defined twice");
    else if (pw_parse_take(p, "half"))
        p->x->pairing = PW_FORMULA_HALF;
    else if (pw_parse_take(p, "interleaved"))
        p->x->pairing = PW_FORMULA_INTERLEAVED;
    else
        pw_parse_fail(p, p->t.at, "pairing is 'half' or 'interleaved'");
}

/* rotary_dim = N */
static void rotary_dim(struct pw_parser *p, int at)
{
    int from = p->t.at;
    if (p->x->rotary_dim != 0)
        pw_parse_fail(p, at, "'rotary_dim' is defined twice");
    else
        p->x->rotary_dim = pw_parse_whole(p, "the number of columns that rotate", 2, PW_EXPR_DIMS);
    if (p->x->rotary_dim % 2 != 0)
        pw_parse_fail(p, from, "%d columns can't form pairs; use an even number", p->x->rotary_dim);
}

/* scan = stick|context(N) */
static void scan(struct pw_parser *p, int at)
{
    if (p->x->scan != 0)
        pw_parse_fail(p, at, "'scan' is defined twice");
    else if (pw_parse_take(p, "stick"))
        p->x->scan = PW_SCAN_STICK;
    else if (pw_parse_take(p, "context")) {
        p->x->scan = PW_SCAN_CONTEXT;
        pw_parse_expect(p, "(", "after context");
        p->x->scan_rows = pw_parse_whole(p, "the number of contextual positions", 2, PW_EXPR_COUNTED);
        pw_parse_expect(p, ")", "after the number of positions");
    } else
        pw_parse_fail(p, p->t.at, "scan is 'stick' or 'context(64)'");
}

/* mixes = K */
static void mixes(struct pw_parser *p, int at)
{
    if (p->x->mixes != 0)
        pw_parse_fail(p, at, "'mixes' is defined twice");
    else
        p->x->mixes = pw_parse_whole(p, "the number of functions of a mix", 1, PW_EXPR_MIXES);
}

/* Statements that define neither a stage nor a name. */
static const char *const settings[] = {"pairing", "rotary_dim", "mixes", "scan", NULL};
static void (*const read_setting[])(struct pw_parser *p, int at) = {pairing, rotary_dim, mixes, scan};

static void statement(struct pw_parser *p)
{
    const char *text = pw_parse_text(p);
    int at = p->t.at, length = p->t.length, stage = pw_parse_find(pw_stage_names, text, length);
    if (p->t.kind != PW_TOK_NAME) {
        pw_parse_fail(p, at, "a statement was expected: 'bias = ...' or 'name = ...'");
        return;
    }
    pw_parse_advance(p);
    if (!p->failed && !pw_parse_is(p, "=")) {
        pw_parse_fail(p, p->t.at, "'=' was expected after '%.*s': 'bias = ...' or 'name = ...'", length,
                      text);
        return;
    }
    int setting = pw_parse_find(settings, text, length);
    if (setting >= 0) {
        pw_parse_advance(p);
        read_setting[setting](p, at);
        return;
    }
    if (stage < 0 && is_reserved(text, length)) {
        pw_parse_fail(p, at, "'%.*s' has a meaning in formulas; choose another name", length, text);
        return;
    }
    for (int k = 0; k < p->n_names; k++)
        if (p->names[k].length == length && memcmp(p->x->text + p->names[k].at, text, (size_t)length) == 0) {
            pw_parse_fail(p, at, "'%.*s' is defined twice", length, text);
            return;
        }
    if (stage >= 0 && p->x->root[stage] >= 0) {
        pw_parse_fail(p, at, "'%s' is defined twice", pw_stage_names[stage]);
        return;
    }
    if (stage < 0 && p->n_names == PW_EXPR_NAMES) {
        pw_parse_fail(p, at, "too many names: at most %d", PW_EXPR_NAMES);
        return;
    }
    int before = p->t.at + p->t.length;
    pw_parse_advance(p);
    p->stage = stage;
    if (stage >= 0) {
        p->stage_at[stage] = at;
        int k = pw_parse_expression(p);
        p->x->root[stage] = k;
        if (stage == PW_STAGE_POSITION && !p->failed) {
            p->position_at = before;
            p->x->by_data = pw_parse_is_by_data(p->x);
        }
    } else {
        struct pw_parse_name name = {.at = at, .length = length, .param = -1};
        if (pw_parse_take(p, "learn"))
            learned(p, &name);
        else if (pw_parse_take(p, "option"))
            pw_parse_option(p, &name);
        else {
            name.node = pw_parse_expression(p);
            p->x->name[p->x->n_names++] = (struct pw_expr_name){at, length, name.node};
        }
        p->names[p->n_names++] = name;
    }
    p->stage = -1;
}

/* Is the formula a single statement? It may be the part of a formula before a ';' that ended the command. */
static bool is_one(const struct pw_parser *p)
{
    const char *text = p->x->text;
    return strpbrk(text, ";\n") == NULL && text[strspn(text, " \t")] != '\0';
}

static void check_used(struct pw_parser *p)
{
    bool any = p->x->scan != 0;
    for (int k = 0; k < PW_STAGES; k++)
        any |= p->x->root[k] >= 0;
    if (!any)
        pw_parse_fail(p, p->t.at,
                      "the formula defines nothing: one of position, embed, angle, gain, bias, scale, score, "
                      "mask, gate, mix, scan%s",
                      is_one(p) ? "; quotes around a formula protect ';'" : "");
    if ((p->x->pairing != 0 || p->x->rotary_dim != 0) && p->x->root[PW_STAGE_ANGLE] < 0 &&
        p->x->root[PW_STAGE_GAIN] < 0)
        pw_parse_fail(p, p->t.at, "nothing uses %s: there is no angle and no gain",
                      p->x->pairing != 0 ? "the pairing" : "'rotary_dim'");
    if (p->x->mixes != 0 && p->x->root[PW_STAGE_MIX] < 0)
        pw_parse_fail(p, p->t.at, "nothing uses 'mixes': there is no mix");
    if (p->x->mixes == 0 && p->x->root[PW_STAGE_MIX] >= 0)
        pw_parse_fail(p, p->stage_at[PW_STAGE_MIX],
                      "a mix needs the number of its functions: 'mixes = 4; mix = ...'");
    for (int k = 0; k < p->n_names; k++)
        if ((p->names[k].param >= 0 || p->names[k].option) && !p->names[k].used)
            pw_parse_fail(p, p->names[k].at, "nothing uses the %s '%.*s'",
                          p->names[k].option ? "option" : "parameter", p->names[k].length,
                          p->x->text + p->names[k].at);
}

enum pw_code pw_expr_parse(struct pw_expr **out, const char *text, int *at, struct pw_err *err)
{
    return pw_expr_parse_with(out, text, NULL, 0, at, err);
}

enum pw_code pw_expr_parse_with(struct pw_expr **out, const char *text, const double *values, int n, int *at,
                                struct pw_err *err)
{
    struct pw_err mine;
    struct pw_parser p = {
        .err = err != NULL ? err : &mine, .position_at = -1, .stage = -1, .values = values, .n_values = n};
    *out = NULL;
    if (at != NULL)
        *at = 0;
    if (strlen(text) > PW_EXPR_TEXT)
        return pw_fail(err, PW_EUSER, "a formula has at most %d characters", PW_EXPR_TEXT);
    p.x = pw_alloc(1, sizeof *p.x);
    p.x->text = pw_copy(text, strlen(text) + 1, 1);
    for (int k = 0; k < PW_STAGES; k++)
        p.x->root[k] = -1;
    pw_parse_advance(&p);
    while (!p.failed && p.t.kind != PW_TOK_END) {
        if (p.t.kind == PW_TOK_BREAK) {
            pw_parse_advance(&p);
            continue;
        }
        statement(&p);
        if (!p.failed && p.t.kind != PW_TOK_END && p.t.kind != PW_TOK_BREAK)
            pw_parse_fail(&p, p.t.at, "';' or the end was expected, not '%.*s'", p.t.length,
                          pw_parse_text(&p));
    }
    if (!p.failed)
        check_used(&p);
    if (!p.failed)
        pw_parse_check_data(&p);
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
    if (x != NULL) {
        free(x->node);
        free(x->text);
    }
    free(x);
}

void pw_expr_words(void (*each)(void *arg, const char *word), void *arg)
{
    for (int k = 0; pw_stage_names[k] != NULL; k++)
        each(arg, pw_stage_names[k]);
    for (int k = 0; pw_parse_variables[k] != NULL; k++)
        each(arg, pw_parse_variables[k]);
    for (int k = 0; pw_functions[k].name != NULL; k++)
        if (pw_functions[k].name[0] >= 'a' && strchr(pw_functions[k].name, '(') == NULL) {
            char call[32];
            snprintf(call, sizeof call, "%s(", pw_functions[k].name);
            each(arg, call);
        }
    for (int k = 0; pw_parse_token_word(k) != NULL; k++) {
        char call[32];
        snprintf(call, sizeof call, "%s%s", pw_parse_token_word(k), pw_parse_token_calls(k) ? "(" : "");
        each(arg, call);
    }
    for (int k = 0; k < 6; k++)
        each(arg, (const char *const[]){"learn(", "slopes()", "list(", "sum(", "mlp(", "option("}[k]);
    for (int k = 0; settings[k] != NULL; k++)
        each(arg, settings[k]);
}
