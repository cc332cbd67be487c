/* help.c - help texts. They are made from the tables only, so they can't differ from what the program
 * does. */
#include <string.h>

#include "command/help.h"

enum { MOST_FOUND = 12 }; /* most commands listed for a word */

static void pad(struct pw_str *out, int cells)
{
    for (; cells > 0; cells--)
        pw_str_put(out, " ", 1);
}

static void list_commands(const struct pw_command *const *list, struct pw_str *out)
{
    int width = 0;
    for (int i = 0; list[i] != NULL; i++) {
        int cells = pw_text_cells(list[i]->name);
        width = cells > width ? cells : width;
    }
    for (int i = 0; list[i] != NULL; i++) {
        pw_str_add(out, "%s", list[i]->name);
        pad(out, width - pw_text_cells(list[i]->name) + 2);
        pw_str_add(out, "%s\n", list[i]->summary);
    }
}

void pw_command_help_list(const struct pw_commands *t, struct pw_str *out)
{
    list_commands(t->list, out);
}

void pw_help_describe(const struct pw_opt *opt, struct pw_str *key, struct pw_str *allowed)
{
    pw_str_clear(key);
    pw_str_clear(allowed);
    pw_str_add(key, "%s=%s", opt->name, opt->def != NULL ? opt->def : "");
    pw_opt_allowed(opt, allowed);
}

const struct pw_opt *pw_help_row(const struct pw_command *cmd, int i)
{
    const struct pw_opt *tables[] = {cmd->opts, cmd->also};
    for (int t = 0; t < 2; t++)
        for (const struct pw_opt *o = tables[t]; o != NULL && o->name != NULL; o++)
            if (i-- == 0)
                return o;
    return NULL;
}

static void help_options(const struct pw_command *cmd, struct pw_str *out)
{
    struct pw_str key = {0}, allowed = {0};
    int key_width = 0, allowed_width = 0;
    const struct pw_opt *o;
    for (int i = 0; (o = pw_help_row(cmd, i)) != NULL; i++) {
        pw_help_describe(o, &key, &allowed);
        key_width = (int)key.len > key_width ? (int)key.len : key_width;
        allowed_width = (int)allowed.len > allowed_width ? (int)allowed.len : allowed_width;
    }
    if (allowed_width > 32) /* a long list of choices must not widen the column for all rows */
        allowed_width = 32;
    pw_str_add(out, "\noptions, with their defaults:\n");
    for (int i = 0; (o = pw_help_row(cmd, i)) != NULL; i++) {
        pw_help_describe(o, &key, &allowed);
        pw_str_add(out, "  %s", key.s);
        pad(out, key_width - (int)key.len + 2);
        pw_str_add(out, "%s", allowed.s);
        pad(out, allowed_width - (int)allowed.len);
        pw_str_add(out, "  %s\n", o->help);
    }
    pw_str_fini(&key);
    pw_str_fini(&allowed);
}

/* Print one option of a command; false if the command does not have it. */
static bool help_option(const struct pw_command *cmd, const char *name, struct pw_str *out)
{
    const struct pw_opt *o;
    for (int i = 0; (o = pw_help_row(cmd, i)) != NULL; i++)
        if (strcmp(o->name, name) == 0) {
            const struct pw_opt one[] = {*o, {.name = NULL}};
            pw_str_add(out, "%s\n", cmd->usage);
            help_options(&(struct pw_command){.opts = one}, out);
            return true;
        }
    return false;
}

/* Print the meaning of an argument word, and the options that it adds. */
static enum pw_code help_word(const struct pw_command *cmd, const char *word, struct pw_str *out,
                              struct pw_err *err)
{
    struct pw_args args = {.n = 1, .words = {{.value = (char *)word}}};
    struct pw_command with = {.opts = cmd->opts_for != NULL ? cmd->opts_for(&args) : NULL};
    if (cmd->about == NULL || !cmd->about(word, out))
        return help_option(cmd, word, out)
                   ? PW_OK
                   : pw_fail(err, PW_EUSER, "help: no topic '%s'; 'help %s' lists the topics", word,
                             cmd->name);
    if (pw_help_row(&with, 0) != NULL)
        help_options(&with, out);
    return PW_OK;
}

/* There is no command with this name: list the commands that match it. */
static enum pw_code help_about(const struct pw_commands *t, const char *name, struct pw_str *out,
                               struct pw_err *err)
{
    const struct pw_command *found[MOST_FOUND + 1];
    int n = pw_commands_about(t, name, found, MOST_FOUND);
    if (n == 0)
        return pw_command_unknown(t, name, err);
    found[n] = NULL;
    pw_str_add(out, "no command '%s'; these commands mention it ('help COMMAND'):\n", name);
    list_commands(found, out);
    return PW_OK;
}

enum pw_code pw_command_help(const struct pw_commands *t, const char *name, const char *word,
                             struct pw_str *out, struct pw_err *err)
{
    const struct pw_command *cmd = pw_command_find(t, name);
    if (cmd == NULL)
        return word == NULL ? help_about(t, name, out, err) : pw_command_unknown(t, name, err);
    if (word != NULL)
        return help_word(cmd, word, out, err);
    pw_str_add(out, "%s\n%s\n", cmd->usage, cmd->summary);
    for (const char *const *alias = cmd->aliases; alias != NULL && *alias != NULL; alias++)
        pw_str_add(out, "%s%s%s", alias == cmd->aliases ? "also " : ", ", *alias,
                   alias[1] == NULL ? "\n" : "");
    if (cmd->detail != NULL)
        pw_str_add(out, "\n%s\n", cmd->detail);
    if (cmd->more != NULL)
        cmd->more(out);
    if (pw_help_row(cmd, 0) != NULL)
        help_options(cmd, out);
    return PW_OK;
}
