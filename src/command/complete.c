/* complete.c - completion and hints for a line that is being typed.
 *
 * Candidates come from the table of commands, from a command's own complete function and from its option
 * table. A half-typed line has open quotes and parentheses, so it is read with the lexer and not parsed. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "command/command.h"
#include "command/lex.h"

/* The command being typed, split into words. The last word has begun, or is empty after a blank. */
struct typing {
    const struct pw_command *cmd; /* NULL: unknown, or its name is the last word */
    struct pw_args args;          /* the words between the name and the last one */
    bool naming;                  /* the last word is the command's name */
    struct pw_lex_word last;
    bool nothing; /* the cursor is inside a comment */
};

static void take_word(struct pw_args *args, const char *s, const struct pw_lex_word *w)
{
    if (args->n == PW_MAX_WORDS)
        return;
    struct pw_str key = {0}, value = {0};
    if (w->equals != PW_NOWHERE)
        pw_lex_unquote(s, w->begin, w->equals, &key);
    pw_lex_unquote(s, w->equals != PW_NOWHERE ? w->equals + 1 : w->begin, w->end, &value);
    args->words[args->n++] = (struct pw_word){key.s, value.s};
}

/* Read all of s; the caller frees typing.args. */
static void read_typing(struct typing *ty, const struct pw_commands *t, const char *s)
{
    struct pw_lex_command c = {.quote = PW_NOWHERE}, next;
    struct pw_lex_word w;
    size_t n = strlen(s), at = 0;
    *ty = (struct typing){.naming = true};
    for (; pw_lex_command(s, at, &next); at = c.next)
        c = next;
    ty->nothing = c.comment && c.next == n;
    size_t begin = c.next == n ? c.begin : n; /* a new command begins after a separator */
    ty->last = (struct pw_lex_word){n, n, PW_NOWHERE, n, PW_NOWHERE, PW_NOWHERE};
    for (at = begin; pw_lex_word(s, at, n, &w); at = w.end) {
        if (w.end == n) {
            ty->last = w;
        } else if (ty->naming) {
            struct pw_str name = {0};
            pw_str_put(&name, s + w.begin, w.end - w.begin);
            ty->args.name = name.s;
            ty->cmd = pw_command_find(t, name.s);
            ty->naming = false;
        } else {
            take_word(&ty->args, s, &w);
        }
    }
}

static const struct pw_opt *options(const struct typing *ty)
{
    const struct pw_opt *table = ty->cmd->opts_for != NULL ? ty->cmd->opts_for(&ty->args) : NULL;
    return table != NULL ? table : ty->cmd->opts;
}

static const struct pw_opt *option(const struct typing *ty, const char *key)
{
    const struct pw_opt *table = options(ty), *found = table != NULL ? pw_opt_find(table, key) : NULL;
    return found == NULL && ty->cmd->also != NULL ? pw_opt_find(ty->cmd->also, key) : found;
}

/* ---- completion */

static void offer(struct pw_completion *c, const char *name)
{
    if (strncmp(name, c->prefix, strlen(c->prefix)) != 0)
        return;
    struct pw_str text = {0};
    if (c->quoted)
        pw_str_quote(&text, name);
    else
        pw_str_word(&text, name);
    c->add(c->arg, pw_str_text(&text));
    pw_str_fini(&text);
}

void pw_complete_offer(struct pw_completion *c, const char *fmt, ...)
{
    char name[512];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(name, sizeof name, fmt, ap);
    va_end(ap);
    if (n > 0 && (size_t)n < sizeof name) /* a cut name would be a different one */
        offer(c, name);
}

void pw_complete_offer_all(struct pw_completion *c, const char *const *names)
{
    for (; *names != NULL; names++)
        offer(c, *names);
}

static void offer_file(void *arg, const char *path)
{
    offer(arg, path);
}

/* Can the value be a file's name? */
static bool is_path(const struct pw_opt *opt)
{
    return opt->type == PW_OPT_TEXT && (strcmp(opt->name, "path") == 0 || strcmp(opt->name, "file") == 0 ||
                                        strcmp(opt->name, "tokens") == 0);
}

static void offer_values(struct pw_completion *c, const struct typing *ty)
{
    static const char *const switches[] = {"on", "off", NULL};
    const struct pw_opt *opt = option(ty, c->key);
    if (opt != NULL && opt->type == PW_OPT_SWITCH)
        pw_complete_offer_all(c, switches);
    else if (opt != NULL && opt->choices != NULL)
        pw_complete_offer_all(c, opt->choices);
    if (opt != NULL && is_path(opt))
        pw_complete_files(c->prefix, offer_file, c);
    if (ty->cmd->values != NULL)
        ty->cmd->values(c);
}

static void offer_keys(struct pw_completion *c, const struct pw_opt *opt)
{
    for (; opt != NULL && opt->name != NULL; opt++)
        if (pw_args_key(c->so_far, opt->name) == NULL)
            pw_complete_offer(c, "%s=", opt->name);
}

static void offer_commands(struct pw_completion *c, const struct pw_commands *t)
{
    for (int i = 0; t->list[i] != NULL; i++)
        offer(c, t->list[i]->name);
}

/* list: the word is a comma-separated list, and its first item is complete. */
static void offer_words(struct pw_completion *c, const struct pw_commands *t, const struct typing *ty,
                        bool list)
{
    if (ty->cmd->complete != NULL)
        ty->cmd->complete(c);
    if (c->at == ty->cmd->file_at - 1)
        pw_complete_files(c->prefix, offer_file, c);
    if (c->at == ty->cmd->command_at - 1)
        offer_commands(c, t);
    if (!list) {
        offer_keys(c, options(ty));
        offer_keys(c, ty->cmd->also);
    }
}

size_t pw_command_complete(const struct pw_commands *t, const struct pw_seen *seen, const char *line,
                           size_t point, void (*add)(void *arg, const char *candidate), void *arg)
{
    struct pw_str typed = {0}, prefix = {0}, key = {0};
    struct typing ty;
    size_t n = strlen(line);
    pw_str_put(&typed, line, point < n ? point : n);
    read_typing(&ty, t, typed.s);
    const struct pw_lex_word *w = &ty.last;
    pw_lex_unquote(typed.s, w->item, typed.len, &prefix);
    struct pw_completion c = {.so_far = &ty.args,
                              .at = pw_args_words(&ty.args),
                              .seen = seen != NULL && ty.cmd != NULL ? seen->by[ty.cmd->where] : NULL,
                              .prefix = pw_str_text(&prefix),
                              .quoted = typed.s[w->item] == '"',
                              .add = add,
                              .arg = arg};
    if (ty.nothing || w->open != PW_NOWHERE || w->stray != PW_NOWHERE) {
        /* no candidates */
    } else if (ty.naming) {
        offer_commands(&c, t);
    } else if (ty.cmd != NULL && w->equals == PW_NOWHERE) {
        offer_words(&c, t, &ty, w->item != w->begin);
    } else if (ty.cmd != NULL) {
        pw_lex_unquote(typed.s, w->begin, w->equals, &key);
        c.key = pw_str_text(&key);
        offer_values(&c, &ty);
    }
    size_t begin = w->item;
    pw_args_fini(&ty.args);
    pw_str_fini(&typed);
    pw_str_fini(&prefix);
    pw_str_fini(&key);
    return begin;
}

/* ---- hint */

/* Return the next part of a usage line: a word, or a pair of brackets with its content. */
static const char *usage_part(const char *u, size_t *n)
{
    int depth = 0;
    u += strspn(u, " ");
    for (*n = 0; u[*n] != '\0' && (depth > 0 || u[*n] != ' '); ++*n)
        depth += (u[*n] == '[') - (u[*n] == ']');
    return u;
}

/* Does a part of the usage name this word? "[until acc=A|loss=X]" names "until", and "acc=A|loss=X" the keys
 * acc and loss. Returns the offset behind the word, or 0. ends: characters that may follow the word. */
static size_t names(const char *part, size_t n, const char *word, const char *ends)
{
    size_t len = strlen(word);
    for (size_t i = n > 0 && part[0] == '['; i + len <= n && len > 0; i++) {
        if (strncmp(part + i, word, len) == 0 && (i + len == n || strchr(ends, part[i + len]) != NULL))
            return i + len;
        while (i < n && part[i] != '|')
            i++;
    }
    return 0;
}

/* Remove from the usage what a given word has used up. A word uses the part that names it and all parts
 * before, but not the rest inside its brackets. A word that no part names uses the first part without '='. A
 * key uses only the part that names it, so [key=value] remains. */
static void use_up(struct pw_str *usage, const struct pw_word *word)
{
    const char *u = usage->s, *part, *first = NULL;
    struct pw_str left = {0};
    size_t n, first_n = 0, behind = 0;
    for (part = usage_part(u, &n); n > 0; part = usage_part(part + n, &n)) {
        behind = word->key != NULL ? names(part, n, word->key, "=") : names(part, n, word->value, " ]|");
        if (behind > 0)
            break;
        if (first == NULL && memchr(part, '=', n) == NULL && *part != '|') {
            first = part;
            first_n = n;
        }
    }
    if (behind > 0 && word->key != NULL) {
        pw_str_put(&left, u, (size_t)(part - u));
        pw_str_add(&left, "%s", part + n);
    } else if (behind > 0) {
        if (part[0] == '[' && behind < n && part[behind] == ' ')
            pw_str_put(&left, part + behind, n - behind - 1);
        pw_str_add(&left, "%s", part + n);
    } else if (first != NULL && word->key == NULL) {
        pw_str_put(&left, u, (size_t)(first - u));
        pw_str_add(&left, "%s", first + first_n);
    } else {
        return;
    }
    pw_str_fini(usage);
    *usage = left;
}

static void hint_usage(const struct typing *ty, const char *usage, struct pw_str *out)
{
    struct pw_str left = {0};
    size_t n;
    const char *u = usage_part(usage, &n); /* the name */
    pw_str_add(&left, "%s", u + n);
    for (int i = 0; i < ty->args.n; i++)
        use_up(&left, &ty->args.words[i]);
    if (ty->args.n > 0) { /* the user types one form of "arm [N] | arm add PE"; remove the other forms */
        char *other = strstr(left.s, "| ");
        if (other != NULL)
            *other = '\0';
    }
    for (u = usage_part(left.s, &n); n > 0; u = usage_part(u + n, &n))
        pw_str_add(out, "%s%.*s", out->len > 0 ? " " : "", (int)n, u);
    pw_str_fini(&left);
}

void pw_command_hint(const struct pw_commands *t, const char *line, struct pw_str *out)
{
    struct typing ty;
    read_typing(&ty, t, line);
    const struct pw_lex_word *w = &ty.last;
    if (ty.naming && w->end > w->begin) {
        struct pw_str name = {0};
        pw_str_put(&name, line + w->begin, w->end - w->begin);
        ty.cmd = pw_command_find(t, name.s);
        pw_str_fini(&name);
    } else if (w->end > w->begin) {
        take_word(&ty.args, line, w);
    }
    if (ty.cmd != NULL && !ty.nothing) {
        const struct pw_word *word = ty.args.n > 0 ? &ty.args.words[ty.args.n - 1] : NULL;
        const struct pw_opt *opt = NULL;
        if (word != NULL && word->key != NULL && w->equals + 1 == w->end)
            opt = option(&ty, word->key);
        if (opt != NULL) {
            pw_opt_allowed(opt, out);
            pw_str_add(out, ": %s", opt->help);
        } else {
            hint_usage(&ty, ty.cmd->usage, out);
        }
    }
    pw_args_fini(&ty.args);
}
