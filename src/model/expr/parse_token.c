/* parse_token.c - the words of the stage `position`: classes of tokens, runs of digits, and chance.
 *
 * None of these words is reserved: an older formula can have a name `index`, and its own names are looked up
 * first. If the position reads tokens or chance, position(i) is a node of its own beside the index i, which
 * names that `position` uses can read: a node of variable I with the value 1 (expr_int.h). */
#include <string.h>

#include "model/config.h"
#include "model/expr/parse_int.h"

static const struct {
    const char *name;
    enum pw_expr_var var;
    bool of_token; /* written with (i) */
} words[] = {{"token", PW_VAR_TOKEN, true},    {"run", PW_VAR_RUN, true},
             {"index", PW_VAR_INDEX, true},    {"length", PW_VAR_LENGTH, true},
             {"prompt", PW_VAR_PROMPT, false}, {"training", PW_VAR_TRAINING, false}};

enum { WORDS = sizeof words / sizeof *words };

static const char *const draws[] = {"uniform", "normal", "sample", NULL};
enum { UNIFORM, NORMAL, SAMPLE };

static int draw_number(struct pw_parser *p, int at, bool normal)
{
    struct pw_expr *x = p->x;
    if (x->n_draws == PW_EXPR_DRAWS)
        return pw_parse_fail(p, at, "too many random numbers: at most %d", PW_EXPR_DRAWS);
    x->normal[x->n_draws] = normal;
    return x->n_draws++;
}

/* Reads n arguments in brackets. */
static void arguments(struct pw_parser *p, const char *name, int *a, int n)
{
    pw_parse_expect(p, "(", "after the function's name");
    for (int i = 0; i < n && !p->failed; i++) {
        int at = p->t.at;
        if (i > 0)
            pw_parse_expect(p, ",", "between arguments");
        if (!p->failed && pw_parse_is(p, ")"))
            pw_parse_fail(p, at, "%s takes %d arguments", name, n);
        a[i] = pw_parse_expression(p);
    }
    pw_parse_expect(p, ")", "after the arguments");
}

/* uniform(A, B) is A + (B - A) * u, or B * u if A is 0, and normal(M, S) is M + S * u. */
static int drawn(struct pw_parser *p, int kind, int at)
{
    int a[3] = {-1, -1, -1};
    arguments(p, draws[kind], a, kind == SAMPLE ? 3 : 2);
    int k = draw_number(p, at, kind == NORMAL);
    if (kind == SAMPLE)
        return pw_parse_node(p,
                             (struct pw_node){.op = PW_NODE_SAMPLE, .index = k, .arg = {a[0], a[1], a[2]}});
    int u = pw_parse_variable(p, (enum pw_expr_var)(PW_VAR_DRAW + k));
    if (kind == UNIFORM && !p->failed && p->x->node[a[0]].op == PW_NODE_NUMBER && p->x->node[a[0]].value == 0)
        return pw_parse_call(p, "*", a[1], u, -1);
    int range = kind == UNIFORM ? pw_parse_call(p, "-", a[1], a[0], -1) : a[1];
    return pw_parse_call(p, "+", a[0], pw_parse_call(p, "*", range, u, -1), -1);
}

static int of_token(struct pw_parser *p, int k, int at)
{
    if (words[k].of_token) {
        pw_parse_expect(p, "(", "after the name");
        if (!p->failed && !pw_parse_is(p, "i"))
            return pw_parse_fail(p, p->t.at, "%s(i): it is of the token whose position is computed",
                                 words[k].name);
        pw_parse_advance(p);
        pw_parse_expect(p, ")", "after i");
    }
    if (p->stage >= 0 && p->stage != PW_STAGE_POSITION)
        return pw_parse_fail(p, at, "only 'position' reads '%s'", words[k].name);
    return pw_parse_variable(p, words[k].var);
}

bool pw_parse_token(struct pw_parser *p, const char *text, int length, int at, int *node)
{
    int kind = pw_parse_find(draws, text, length), class = pw_parse_find(pw_class_names, text, length);
    for (int k = 0; k < WORDS; k++)
        if ((int)strlen(words[k].name) == length && memcmp(words[k].name, text, (size_t)length) == 0) {
            *node = of_token(p, k, at);
            return true;
        }
    if (kind >= 0 && p->stage >= 0 && p->stage != PW_STAGE_POSITION)
        *node = pw_parse_fail(p, at, "only 'position' reads '%s'", draws[kind]);
    else if (kind >= 0)
        *node = drawn(p, kind, at);
    else if (class >= 0)
        *node = pw_parse_number(p, class);
    return kind >= 0 || class >= 0;
}

const char *pw_parse_token_word(int k)
{
    int classes = 0;
    while (pw_class_names[classes] != NULL)
        classes++;
    return k < WORDS                 ? words[k].name
           : k < WORDS + 3           ? draws[k - WORDS]
           : k < WORDS + 3 + classes ? pw_class_names[k - WORDS - 3]
                                     : NULL;
}

bool pw_parse_token_calls(int k)
{
    return k < WORDS ? words[k].of_token : k < WORDS + 3;
}

bool pw_parse_is_by_data(const struct pw_expr *x)
{
    bool needed[PW_EXPR_NODES], any = false;
    int root = x->root[PW_STAGE_POSITION];
    if (root < 0)
        return false;
    pw_expr_mark(x, root, needed);
    for (int k = 0; k <= root; k++) {
        const struct pw_node *node = &x->node[k];
        bool reads = node->op == PW_NODE_VAR && node->index >= PW_VAR_TOKEN;
        any = any || (needed[k] && (reads || node->op == PW_NODE_SAMPLE));
    }
    return any;
}

/* Fails if the stage reads what it has no value of. */
static void check_stage(struct pw_parser *p, enum pw_stage stage)
{
    static const struct {
        enum pw_expr_var var;
        const char *name, *instead;
    } gone[] = {{PW_VAR_I, "i", "write position(i)"},
                {PW_VAR_J, "j", "write position(j)"},
                {PW_VAR_N, "n", "keys have no order of positions"}};
    bool needed[PW_EXPR_NODES];
    int root = p->x->root[stage], at = p->stage_at[stage];
    pw_expr_mark(p->x, root, needed);
    for (int k = 0; k <= root; k++) {
        const struct pw_node *node = &p->x->node[k];
        bool data = node->op == PW_NODE_SAMPLE || (node->op == PW_NODE_VAR && node->index >= PW_VAR_TOKEN);
        if (needed[k] && data)
            pw_parse_fail(p, at, "%s reads tokens or chance: only 'position' can", pw_stage_names[stage]);
        for (size_t v = 0; v < sizeof gone / sizeof *gone && p->x->by_data; v++)
            if (needed[k] && node->op == PW_NODE_VAR && node->index == (int)gone[v].var && node->value == 0)
                pw_parse_fail(p, at, "%s: no '%s', because the position reads tokens or chance: %s",
                              pw_stage_names[stage], gone[v].name, gone[v].instead);
    }
}

void pw_parse_check_data(struct pw_parser *p)
{
    for (int s = 0; s < PW_STAGES && !p->failed; s++)
        if (s != PW_STAGE_POSITION && p->x->root[s] >= 0)
            check_stage(p, (enum pw_stage)s);
}
