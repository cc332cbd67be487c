/* parse.c - split text into commands, and commands into words. The run function interprets them. */
#include "base/alloc.h"
#include "command/command.h"
#include "command/lex.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *copy(const char *s, size_t begin, size_t end)
{
    struct pw_str text = {0};
    pw_str_put(&text, s + begin, end - begin);
    return text.s;
}

static char *unquoted(const char *s, size_t begin, size_t end)
{
    struct pw_str text = {0};
    pw_lex_unquote(s, begin, end, &text);
    return text.s;
}

static enum pw_code check_quote(const char *text, const struct pw_lex_command *c, struct pw_err *err)
{
    if (c->quote == PW_NOWHERE)
        return PW_OK;
    return pw_lex_fail(text, c->quote, "unclosed quote (write a quote inside quotes as \\\")", err);
}

enum pw_code pw_commands_split(const char *text,
                               enum pw_code (*each)(void *arg, const char *command, int line), void *arg,
                               struct pw_err *err)
{
    struct pw_lex_command c;
    size_t counted = 0;
    int line = 1;
    if (strncmp(text, "\xef\xbb\xbf", 3) == 0) /* byte order mark that some editors write */
        text += 3;
    enum pw_code code = pw_lex_check(text, err);
    for (size_t at = 0; code == PW_OK && pw_lex_command(text, at, &c); at = c.next)
        code = check_quote(text, &c, err);
    for (size_t at = 0; code == PW_OK && pw_lex_command(text, at, &c); at = c.next) {
        if (c.begin == c.end)
            continue; /* only a comment */
        for (; counted < c.begin; counted++)
            line += text[counted] == '\n';
        char *command = copy(text, c.begin, c.end);
        code = each(arg, command, line);
        free(command);
    }
    return code;
}

/* Does the word have a formula in a list, as in t5,expr(bias = -d)? */
static bool has_formula(const char *text, const struct pw_lex_word *w)
{
    static const char begin[] = PW_LEX_FORMULA "(";
    const char *at = strstr(text + w->begin, begin);
    return at != NULL && at < text + w->end;
}

static enum pw_code parse_word(struct pw_args *args, const char *text, const struct pw_lex_word *w,
                               struct pw_err *err)
{
    if (w->stray != PW_NOWHERE)
        return pw_lex_fail(text, w->stray, "')' without '('", err);
    if (w->open != PW_NOWHERE)
        return pw_lex_fail(text, w->open,
                           has_formula(text, w)
                               ? "unclosed '('; a formula with ';' needs quotes: expr('a = 2; bias = -a * d')"
                               : "unclosed '('",
                           err);
    if (w->equals == w->begin)
        return pw_lex_fail(text, w->begin, "'=' without a name before it", err);
    if (args->n == PW_MAX_WORDS)
        return pw_lex_fail(text, w->begin, "too many words: a command has at most 32", err);
    struct pw_word *word = &args->words[args->n++];
    *word = (struct pw_word){0};
    if (w->equals == PW_NOWHERE) {
        word->value = unquoted(text, w->begin, w->end);
        return PW_OK;
    }
    word->key = unquoted(text, w->begin, w->equals);
    word->value = unquoted(text, w->equals + 1, w->end);
    for (int i = 0; i < args->n - 1; i++)
        if (args->words[i].key != NULL && strcmp(args->words[i].key, word->key) == 0)
            return pw_fail(err, PW_EUSER, "%s: %s= is given twice", args->name, word->key);
    return PW_OK;
}

/* Adds the formula behind *at as one word, and sets *at to its end. */
static enum pw_code parse_formula(struct pw_args *args, const char *text, size_t *at, size_t end,
                                  struct pw_err *err)
{
    size_t begin = *at, stop;
    while (begin < end && (text[begin] == ' ' || text[begin] == '\t' || text[begin] == '\r'))
        begin++;
    if (begin == end)
        return PW_OK;
    if (args->n == PW_MAX_WORDS)
        return pw_lex_fail(text, begin, "too many words: a command has at most 32", err);
    stop = pw_lex_tail(text, begin, end);
    args->words[args->n++] = (struct pw_word){
        .value = pw_lex_enclosed(text, begin, stop) ? unquoted(text, begin, stop) : copy(text, begin, stop)};
    *at = stop;
    return PW_OK;
}

/* text was checked and contains the command c. */
static enum pw_code parse(const struct pw_commands *t, const char *text, const struct pw_lex_command *c,
                          struct pw_args *args, const struct pw_command **cmd, struct pw_err *err)
{
    struct pw_lex_word w = {0};
    enum pw_code code = PW_OK;
    pw_lex_word(text, c->begin, c->end, &w);
    args->text = copy(text, c->begin, c->end);
    args->name = copy(text, w.begin, w.end);
    *cmd = pw_command_find(t, args->name);
    if (*cmd == NULL)
        return pw_command_unknown(t, args->name, err);
    free(args->name); /* it may be an alias */
    args->name = pw_text_dup((*cmd)->name);
    size_t rest = w.end + strspn(text + w.end, " \t");
    if (pw_lex_enclosed(text, rest, c->end))
        args->rest = unquoted(text, rest, c->end);
    else
        args->rest = copy(text, rest, c->end > rest ? c->end : rest);
    while (!(*cmd)->raw && code == PW_OK && pw_lex_word(text, w.end, c->end, &w)) {
        code = parse_word(args, text, &w, err);
        const struct pw_word *last = args->n > 0 ? &args->words[args->n - 1] : NULL;
        if (code == PW_OK && (*cmd)->formula && last->key == NULL && strcmp(last->value, PW_LEX_FORMULA) == 0)
            code = parse_formula(args, text, &w.end, c->end, err);
    }
    return code;
}

void pw_parsed_fini(struct pw_parsed *p)
{
    for (int i = 0; i < p->n; i++)
        pw_args_fini(&p->command[i].args);
    free(p->command);
    *p = (struct pw_parsed){0};
}

enum pw_code pw_commands_parse(const struct pw_commands *t, const char *text, struct pw_parsed *p,
                               struct pw_err *err)
{
    struct pw_lex_command c;
    *p = (struct pw_parsed){0};
    enum pw_code code = pw_lex_check(text, err);
    for (size_t at = 0; code == PW_OK && pw_lex_command(text, at, &c); at = c.next) {
        code = check_quote(text, &c, err);
        if (code != PW_OK || c.begin == c.end)
            continue;
        p->command = pw_grow(p->command, (size_t)p->n + 1, sizeof *p->command);
        struct pw_parsed_command *one = &p->command[p->n++];
        *one = (struct pw_parsed_command){0};
        code = parse(t, text, &c, &one->args, &one->cmd, err);
    }
    if (code != PW_OK)
        pw_parsed_fini(p);
    return code;
}

enum pw_code pw_commands_check(const struct pw_commands *t, const char *text, struct pw_err *err)
{
    struct pw_parsed p;
    enum pw_code code = pw_commands_parse(t, text, &p, err);
    pw_parsed_fini(&p);
    return code;
}

enum pw_code pw_command_parse(const struct pw_commands *t, const char *text, struct pw_args *args,
                              const struct pw_command **cmd, struct pw_err *err)
{
    struct pw_lex_command c, more;
    *args = (struct pw_args){0};
    *cmd = NULL;
    enum pw_code code = pw_lex_check(text, err);
    if (code == PW_OK && (!pw_lex_command(text, 0, &c) || c.begin == c.end))
        code = pw_fail(err, PW_EUSER, "no command here ('help' lists them)");
    if (code == PW_OK)
        code = check_quote(text, &c, err);
    if (code == PW_OK && pw_lex_command(text, c.next, &more))
        code = pw_lex_fail(text, more.begin, "a second command; only one is allowed here", err);
    if (code == PW_OK)
        code = parse(t, text, &c, args, cmd, err);
    if (code != PW_OK) {
        pw_args_fini(args);
        *cmd = NULL;
    }
    return code;
}

void pw_args_fini(struct pw_args *a)
{
    for (int i = 0; i < a->n; i++) {
        free(a->words[i].key);
        free(a->words[i].value);
    }
    free(a->text);
    free(a->name);
    free(a->rest);
    *a = (struct pw_args){0};
}

bool pw_command_outside(const struct pw_args *args)
{
    (void)args;
    return true;
}
