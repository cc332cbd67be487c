/* parse.c - reads the text of a study. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "study/study.h"

/* Splits text at `sep` outside of quotes and parentheses, without blanks around the parts. A list continues
 * on the next line if a line ends with a comma. Calls put(arg, part) for each part, which may be empty. Fails
 * if a quote or parenthesis stays open. */
static enum pw_code split(const char *text, const char *sep,
                          enum pw_code (*put)(void *arg, char *part, struct pw_err *err), void *arg,
                          struct pw_err *err)
{
    struct pw_str part = {0};
    enum pw_code code = PW_OK;
    char quote = '\0';
    int depth = 0;
    for (const char *c = text; code == PW_OK; c++) {
        bool inside = quote != '\0' || depth > 0;
        if (*c == '\0' && inside) {
            code = quote != '\0' ? pw_fail(err, PW_EUSER, "a quote is not closed")
                                 : pw_fail(err, PW_EUSER, "a parenthesis is not closed");
            break;
        }
        bool ends = *c == '\0' || (!inside && strchr(sep, *c) != NULL);
        while (ends && part.len > 0 && strchr(" \t", part.s[part.len - 1]) != NULL)
            part.s[--part.len] = '\0';
        if (ends && *c == '\n' && part.len > 0 && part.s[part.len - 1] == ',')
            continue;
        if (ends) {
            code = put(arg, part.s != NULL ? part.s : (char[]){""}, err);
            pw_str_clear(&part);
            if (*c == '\0')
                break;
            continue;
        }
        if (quote != '\0')
            quote = *c == quote ? '\0' : quote;
        else if (*c == '"' || *c == '\'')
            quote = *c;
        else
            depth += *c == '(' ? 1 : *c == ')' && depth > 0 ? -1 : 0;
        if (part.len > 0 || strchr(" \t", *c) == NULL)
            pw_str_put(&part, c, 1);
    }
    pw_str_fini(&part);
    return code;
}

/* ---- lists */

/* copy(variant=rsc,alphabet=10) becomes "copy variant=rsc alphabet=10"; quotes around a whole entry go. */
static char *spell(const char *part)
{
    size_t n = strlen(part);
    char *text = pw_text_dup(part), *open = strchr(text, '(');
    if (n >= 2 && (part[0] == '"' || part[0] == '\'') && part[n - 1] == part[0]) {
        memmove(text, text + 1, n - 2);
        text[n - 2] = '\0';
        return text;
    }
    if (open == NULL || text[n - 1] != ')' || memchr(text, ' ', (size_t)(open - text)) != NULL)
        return text;
    text[n - 1] = '\0';
    *open = ' ';
    char quote = '\0';
    for (char *c = open; *c != '\0'; c++)
        if (quote != '\0')
            quote = *c == quote ? '\0' : quote;
        else if (*c == '"' || *c == '\'')
            quote = *c;
        else if (*c == ',')
            *c = ' ';
    return text;
}

static enum pw_code put_item(void *arg, char *part, struct pw_err *err)
{
    struct pw_study_list *list = arg;
    if (part[0] == '\0')
        return pw_fail(err, PW_EUSER, "an entry of the list is empty");
    if (list->n == PW_STUDY_ITEMS)
        return pw_fail(err, PW_EUSER, "more than %d entries", PW_STUDY_ITEMS);
    char *text = spell(part);
    for (int i = 0; i < list->n; i++)
        if (strcmp(list->items[i], text) == 0) {
            free(text);
            return pw_fail(err, PW_EUSER, "'%s' is there twice", part);
        }
    list->items[list->n++] = text;
    return PW_OK;
}

static void free_list(struct pw_study_list *list)
{
    for (int i = 0; i < list->n; i++)
        free(list->items[i]);
    list->n = 0;
}

static enum pw_code read_list(struct pw_study_list *list, const char *text, struct pw_err *err)
{
    free_list(list);
    return split(text, ",", put_item, list, err);
}

/* ---- numbers */

static enum pw_code read_seeds(struct pw_study *s, char *text, struct pw_err *err)
{
    char *dots = strstr(text, "..");
    long min, max;
    if (dots != NULL)
        *dots = '\0';
    if (!pw_text_int(text, 1, PW_STUDY_SEEDS, &min) ||
        !pw_text_int(dots != NULL ? dots + 2 : text, min, PW_STUDY_SEEDS, &max))
        return pw_fail(err, PW_EUSER, "allowed are a number N or a range A..B of 1..%d", PW_STUDY_SEEDS);
    s->seeds_min = (int)min;
    s->seeds_max = (int)max;
    return PW_OK;
}

static enum pw_code put_budget(void *arg, char *part, struct pw_err *err)
{
    struct pw_study *s = arg;
    char *value = strchr(part, '=');
    long n;
    if (part[0] == '\0')
        return PW_OK;
    if (value != NULL)
        *value++ = '\0';
    if (value != NULL && strcmp(part, "steps") == 0 && pw_text_int(value, 1, 1000000000000, &n)) {
        s->budget_steps = n;
        return PW_OK;
    }
    if (value != NULL && strcmp(part, "operations") == 0)
        return pw_text_double(value, &s->budget_operations) && s->budget_operations >= 1.0
                   ? PW_OK
                   : pw_fail(err, PW_EUSER, "operations=%.40s: must be a number from 1 on, such as 3e15",
                             value);
    size_t digits = value != NULL ? strspn(value, "0123456789") : 0;
    double unit = digits == 0                          ? 0.0
                  : strcmp(value + digits, "s") == 0   ? 1.0
                  : strcmp(value + digits, "min") == 0 ? 60.0
                  : strcmp(value + digits, "h") == 0   ? 3600.0
                                                       : 0.0;
    if (value == NULL || strcmp(part, "time") != 0 || unit == 0.0)
        return pw_fail(err, PW_EUSER, "allowed are time=90s, time=30min, time=2h, steps=N and operations=N");
    value[digits] = '\0';
    if (!pw_text_int(value, 1, 100000000, &n))
        return pw_fail(err, PW_EUSER, "time=%s: must be 1..100000000", value);
    s->budget_s = (double)n * unit;
    return PW_OK;
}

/* ---- statements. `ask` names arms, so it is read after all lists. */

struct reading {
    struct pw_study *s;
    char *ask;
};

static enum pw_code read_value(struct reading *r, const char *key, char *value, struct pw_err *err)
{
    static const char *const keys[] = {"race", "model", "optim", "task",   "seeds", "first",
                                       "eval", "ask",   "level", "budget", "keep",  NULL};
    struct pw_study *s = r->s;
    const char *near;
    long n;
    if (strcmp(key, "race") == 0)
        return read_list(&s->races, value, err);
    if (strcmp(key, "model") == 0)
        return read_list(&s->models, value, err);
    if (strcmp(key, "optim") == 0)
        return read_list(&s->optims, value, err);
    if (strcmp(key, "task") == 0)
        return read_list(&s->tasks, value, err);
    if (strcmp(key, "seeds") == 0)
        return read_seeds(s, value, err);
    if (strcmp(key, "keep") == 0) {
        s->keep_weights = strcmp(value, "weights") == 0;
        return s->keep_weights ? PW_OK : pw_fail(err, PW_EUSER, "'%.40s': allowed is weights", value);
    }
    if (strcmp(key, "budget") == 0)
        return split(value, " ", put_budget, s, err);
    if (strcmp(key, "eval") == 0 || strcmp(key, "ask") == 0) {
        char **to = key[0] == 'e' ? &s->eval : &r->ask;
        free(*to);
        *to = pw_text_dup(value);
        return PW_OK;
    }
    if (strcmp(key, "first") == 0) {
        if (!pw_text_int(value, 0, 1000000000, &n))
            return pw_fail(err, PW_EUSER, "allowed are 0..1000000000");
        s->first = (int)n;
        return PW_OK;
    }
    if (strcmp(key, "level") == 0)
        return pw_text_double(value, &s->level) && s->level > 0.0 && s->level <= 0.5
                   ? PW_OK
                   : pw_fail(err, PW_EUSER, "allowed are numbers above 0, at most 0.5");
    near = pw_text_nearest(key, keys);
    return near != NULL ? pw_fail(err, PW_EUSER, "no such statement; did you mean '%s'?", near)
                        : pw_fail(err, PW_EUSER,
                                  "no such statement; there are race model optim task seeds first eval ask "
                                  "level budget keep");
}

static enum pw_code put_statement(void *arg, char *part, struct pw_err *err)
{
    struct pw_err why;
    if (part[0] == '\0')
        return PW_OK;
    size_t key = strcspn(part, " \t");
    char *value = part + key + strspn(part + key, " \t");
    part[key] = '\0';
    enum pw_code code =
        value[0] == '\0' ? pw_fail(&why, PW_EUSER, "a value is missing") : read_value(arg, part, value, &why);
    return code == PW_OK ? code : pw_fail(err, code, "%.40s: %.400s", part, why.msg);
}

/* ---- arms and comparisons */

static void name_arms(struct pw_study *s)
{
    for (int m = 0; m < s->models.n; m++)
        for (int o = 0; o < s->optims.n; o++)
            for (int e = 0; e < s->races.n; e++) {
                struct pw_str name = {0};
                pw_str_add(&name, "%s", s->races.items[e]);
                if (s->models.n > 1)
                    pw_str_add(&name, ", %s", s->models.items[m]);
                if (s->optims.n > 1)
                    pw_str_add(&name, ", %s", s->optims.items[o]);
                s->arms[s->n_arms++] = name.s;
            }
}

static int arm_named(const struct pw_study *s, const char *name)
{
    for (int i = 0; i < s->n_arms; i++)
        if (strcmp(s->arms[i], name) == 0)
            return i;
    return -1;
}

static enum pw_code add_ask(struct pw_study *s, int a, int b, struct pw_err *err)
{
    if (s->n_ask == PW_STUDY_ASKED)
        return pw_fail(err, PW_EUSER, "more than %d comparisons", PW_STUDY_ASKED);
    s->ask[s->n_ask++] = (struct pw_study_ask){a, b};
    return PW_OK;
}

static enum pw_code put_ask(void *arg, char *part, struct pw_err *err)
{
    struct pw_study *s = arg;
    char *colon = strchr(part, ':');
    if (colon != NULL)
        *colon = '\0';
    char *names[2] = {spell(part), spell(colon != NULL ? colon + 1 : part)};
    int a = arm_named(s, names[0]), b = arm_named(s, names[1]);
    enum pw_code code = PW_OK;
    if (a < 0 || b < 0)
        code = pw_fail(err, PW_EUSER, "no arm '%s' in this study", names[a < 0 ? 0 : 1]);
    else if (colon != NULL)
        code =
            a != b ? add_ask(s, a, b, err) : pw_fail(err, PW_EUSER, "'%s' is compared with itself", names[0]);
    else
        for (int i = 0; i < s->n_arms && code == PW_OK; i++)
            code = i != a ? add_ask(s, a, i, err) : PW_OK;
    free(names[0]);
    free(names[1]);
    return code;
}

static enum pw_code ask_all(struct pw_study *s, const char *text, struct pw_err *err)
{
    struct pw_err why;
    enum pw_code code = PW_OK;
    if (text != NULL && strcmp(text, "pairs") != 0)
        code = split(text, ",", put_ask, s, &why);
    else
        for (int a = 0; a < s->n_arms; a++)
            for (int b = a + 1; b < s->n_arms && code == PW_OK; b++)
                code = add_ask(s, a, b, &why);
    return code == PW_OK ? code : pw_fail(err, code, "ask: %.400s", why.msg);
}

static enum pw_code complete(struct pw_study *s, const char *ask, struct pw_err *err)
{
    if (s->races.n == 0 || s->tasks.n == 0)
        return pw_fail(err, PW_EUSER,
                       "a study needs '%s'; for example: race none,t5,alibi; task sort; seeds 10",
                       s->races.n == 0 ? "race" : "task");
    long arms = (long)s->races.n * s->models.n * s->optims.n, cells = arms * s->tasks.n * s->seeds_max;
    if (arms > PW_STUDY_ARMS || cells > PW_STUDY_CELLS)
        return pw_fail(err, PW_EUSER, "%ld arms and %ld cells; allowed are %d and %d", arms, cells,
                       PW_STUDY_ARMS, PW_STUDY_CELLS);
    name_arms(s);
    return ask_all(s, ask, err);
}

/* Comments may contain anything, so they go before quotes are looked for. */
static char *without_comments(const char *text)
{
    char *out = pw_text_dup(text), *to = out, quote = '\0';
    for (const char *c = text; *c != '\0'; c++) {
        if (quote == '\0' && *c == '#')
            c += strcspn(c, "\n");
        if (*c == '\0')
            break;
        quote = quote != '\0' ? (*c == quote ? '\0' : quote) : *c == '"' || *c == '\'' ? *c : '\0';
        *to++ = *c;
    }
    *to = '\0';
    return out;
}

enum pw_code pw_study_read(struct pw_study *s, const char *text, struct pw_err *err)
{
    char *plain = without_comments(text);
    struct reading r = {.s = s};
    *s = (struct pw_study){.first = 101, .seeds_min = 5, .seeds_max = 5, .level = 0.05};
    enum pw_code code = read_list(&s->models, "tiny", err);
    if (code == PW_OK)
        code = split(plain, ";\n", put_statement, &r, err);
    if (code == PW_OK && s->optims.n == 0)
        s->optims.items[s->optims.n++] = pw_text_dup("");
    if (code == PW_OK && s->eval == NULL)
        s->eval = pw_text_dup("samples=128");
    if (code == PW_OK)
        code = complete(s, r.ask, err);
    free(plain);
    free(r.ask);
    if (code != PW_OK)
        pw_study_fini(s);
    return code;
}

void pw_study_fini(struct pw_study *s)
{
    free_list(&s->races);
    free_list(&s->models);
    free_list(&s->optims);
    free_list(&s->tasks);
    free(s->eval);
    for (int i = 0; i < s->n_arms; i++)
        free(s->arms[i]);
    *s = (struct pw_study){0};
}
