/* args.c - helpers with which run functions read their words and options. */
#include "command/command.h"

#include <string.h>

int pw_args_words(const struct pw_args *a)
{
    int n = 0;
    for (int i = 0; i < a->n; i++)
        n += a->words[i].key == NULL;
    return n;
}

const char *pw_args_word(const struct pw_args *a, int i)
{
    for (int k = 0; k < a->n; k++)
        if (a->words[k].key == NULL && i-- == 0)
            return a->words[k].value;
    return NULL;
}

const char *pw_args_key(const struct pw_args *a, const char *key)
{
    for (int i = 0; i < a->n; i++)
        if (a->words[i].key != NULL && strcmp(a->words[i].key, key) == 0)
            return a->words[i].value;
    return NULL;
}

enum pw_code pw_args_opts(const struct pw_args *a, const struct pw_opt *table, void *target,
                          struct pw_err *err)
{
    static const struct pw_opt none[1]; /* an empty table */
    enum pw_code code = PW_OK;
    if (table == NULL)
        table = none;
    for (int i = 0; i < a->n && code == PW_OK; i++)
        if (a->words[i].key != NULL)
            code = pw_opt_set(table, target, a->name, a->words[i].key, a->words[i].value, err);
    return code;
}

enum pw_code pw_args_limit(const struct pw_command *cmd, const struct pw_args *a, int min, int max,
                           struct pw_err *err)
{
    int n = pw_args_words(a);
    bool options = cmd->opts != NULL || cmd->also != NULL || cmd->opts_for != NULL;
    if (n >= min && n <= max)
        return options ? PW_OK : pw_args_opts(a, NULL, NULL, err);
    return pw_fail(err, PW_EUSER, "%s: too %s arguments; usage: %s", cmd->name, n < min ? "few" : "many",
                   cmd->usage);
}

enum pw_code pw_args_text(const struct pw_command *cmd, const struct pw_args *a, size_t most,
                          struct pw_err *err)
{
    size_t n = a->rest != NULL ? strlen(a->rest) : 0;
    return n <= most ? PW_OK
                     : pw_fail(err, PW_EUSER, "%s: at most %zu bytes of text are allowed; this one has %zu",
                               cmd->name, most, n);
}

enum pw_code pw_args_number(const struct pw_command *cmd, const struct pw_args *a, long most, long *n,
                            struct pw_err *err)
{
    enum pw_code code = pw_args_limit(cmd, a, 0, 1, err);
    const char *word = pw_args_word(a, 0);
    if (code == PW_OK && word != NULL && !pw_text_int(word, 1, most, n))
        code = pw_fail(err, PW_EUSER, "usage: %s, N in 1..%ld", cmd->usage, most);
    return code;
}
