/* find.c - find a command by name, alias or search word. */
#include <string.h>

#include "command/command.h"

int pw_commands_join(const struct pw_command **list, int n, const struct pw_command *const *more)
{
    for (int i = 0; more[i] != NULL; i++) {
        int at = 0;
        while (at < n && strcmp(list[at]->name, more[i]->name) != 0)
            at++;
        list[at] = more[i];
        n += at == n;
    }
    list[n] = NULL;
    return n;
}

static bool has_alias(const struct pw_command *cmd, const char *name)
{
    for (const char *const *alias = cmd->aliases; alias != NULL && *alias != NULL; alias++)
        if (strcmp(*alias, name) == 0)
            return true;
    return false;
}

const struct pw_command *pw_command_find(const struct pw_commands *t, const char *name)
{
    for (int i = 0; t->list[i] != NULL; i++)
        if (strcmp(t->list[i]->name, name) == 0 || has_alias(t->list[i], name))
            return t->list[i];
    return NULL;
}

/* ---- search */

static bool has_text(const char *text, const char *word)
{
    return text != NULL && strcasestr(text, word) != NULL;
}

static bool has_option(const struct pw_opt *table, const char *word)
{
    for (; table != NULL && table->name != NULL; table++)
        if (has_text(table->name, word) || has_text(table->help, word))
            return true;
    return false;
}

/* Does the command take this word as an argument? For example `pe` takes `rope`. */
static bool takes(const struct pw_command *cmd, const char *word)
{
    struct pw_str more = {0};
    bool known = cmd->about != NULL && cmd->about(word, &more);
    pw_str_fini(&more);
    return known;
}

enum pw_about pw_command_about(const struct pw_command *cmd, const char *word)
{
    if (has_text(cmd->name, word) || has_alias(cmd, word) || has_text(cmd->summary, word) ||
        has_text(cmd->search, word) || takes(cmd, word))
        return PW_ABOUT_IT;
    return has_text(cmd->detail, word) || has_option(cmd->opts, word) || has_option(cmd->also, word)
               ? PW_ABOUT_MENTIONS
               : PW_ABOUT_NOT;
}

int pw_commands_about(const struct pw_commands *t, const char *word, const struct pw_command **out, int most)
{
    int n = 0;
    for (int about = PW_ABOUT_IT; about > PW_ABOUT_NOT && n == 0; about--)
        for (int i = 0; t->list[i] != NULL && n < most; i++)
            if ((int)pw_command_about(t->list[i], word) == about)
                out[n++] = t->list[i];
    return n;
}

/* Is word one of the search words, as a whole? */
static bool has_search_word(const struct pw_command *cmd, const char *word)
{
    size_t len = strlen(word), n;
    for (const char *at = cmd->search; at != NULL && *at != '\0'; at += n, at += strspn(at, " ")) {
        n = strcspn(at, " ");
        if (n == len && strncmp(at, word, n) == 0)
            return true;
    }
    return false;
}

/* List the commands that take the word, or have it as a search word: "'goto' or 'play'", "'pe rope'". */
static void list_searched(const struct pw_commands *t, const char *word, struct pw_str *out)
{
    for (int i = 0; t->list[i] != NULL; i++) {
        bool taken = takes(t->list[i], word);
        if (taken || has_search_word(t->list[i], word))
            pw_str_add(out, "%s'%s%s%s'", out->len > 0 ? " or " : "", t->list[i]->name, taken ? " " : "",
                       taken ? word : "");
    }
}

enum pw_code pw_command_unknown(const struct pw_commands *t, const char *name, struct pw_err *err)
{
    const char *names[256], *near;
    char shown[48];
    struct pw_str other = {0};
    int n = 0;
    for (; t->list[n] != NULL && n < 255; n++)
        names[n] = t->list[n]->name;
    names[n] = NULL;
    pw_text_copy(shown, sizeof shown, name);
    list_searched(t, name, &other);
    if (other.len == 0 && (near = pw_text_nearest(name, names)) != NULL)
        pw_str_add(&other, "'%s'", near);
    enum pw_code code =
        other.len == 0
            ? pw_fail(err, PW_EUSER, "no command '%s' ('help' lists them)", shown)
            : pw_fail(err, PW_EUSER, "no command '%s'; did you mean %s? ('help' lists them)", shown, other.s);
    pw_str_fini(&other);
    return code;
}
