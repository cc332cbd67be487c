/* reference.c - the reference pages as Markdown, made from the command tables. They say what `help` says,
 * with a table of options that also names the type and gives an example. */
#include <math.h>
#include <string.h>

#include "command/help.h"

/* Appends text with Markdown's special characters escaped, so that a table cell shows it unchanged. */
static void put_escaped(struct pw_str *out, const char *text)
{
    for (const char *c = text; *c != '\0'; c++)
        pw_str_add(out, strchr("\\`*_{}[]<>#|~", *c) != NULL ? "\\%c" : "%c", *c);
}

static const char *type_name(const struct pw_opt *o)
{
    switch (o->type) {
    case PW_OPT_INT:
    case PW_OPT_COUNT:
    case PW_OPT_SEED: return "whole number";
    case PW_OPT_FLOAT:
    case PW_OPT_DOUBLE: return "number";
    case PW_OPT_SWITCH: return "switch";
    case PW_OPT_CHOICE: return "choice";
    case PW_OPT_TEXT: return "text";
    case PW_OPT_RANGE: return "range";
    case PW_OPT_MOVE: return "position or move";
    }
    return "";
}

/* A number for a row without a default: of a small set the second (arm=2), else one of usual size. */
static double usual_number(const struct pw_opt *o)
{
    if (o->type == PW_OPT_FLOAT || o->type == PW_OPT_DOUBLE)
        return o->max > 1e15 ? 1e12 : fmax(o->min, fmin(o->max, 1));
    return o->max <= 16 ? fmin(o->min + 1, o->max) : fmax(o->min, fmin(o->max, 64));
}

/* Appends a value that the row allows. It differs from the default where the type makes that easy. */
static void put_example(const struct pw_opt *o, struct pw_str *out)
{
    const char *def = o->def != NULL ? o->def : "";
    switch (o->type) {
    case PW_OPT_SWITCH: pw_str_add(out, "%s", strcmp(def, "on") == 0 ? "off" : "on"); return;
    case PW_OPT_CHOICE:
        pw_str_add(out, "%s", o->choices[strcmp(o->choices[0], def) == 0 && o->choices[1] != NULL]);
        return;
    case PW_OPT_RANGE: pw_str_add(out, "%.0f..%.0f", fmax(o->min, 1), fmin(o->max, 10)); return;
    case PW_OPT_MOVE: pw_str_add(out, "+1"); return;
    case PW_OPT_TEXT:
        pw_str_add(out, "%s", o->choices != NULL ? o->choices[0] : def[0] != '\0' ? def : "TEXT");
        return;
    case PW_OPT_INT:
    case PW_OPT_COUNT:
    case PW_OPT_SEED:
    case PW_OPT_FLOAT:
    case PW_OPT_DOUBLE: break;
    }
    if (def[0] != '\0' && (o->choices == NULL || strcmp(def, o->choices[0]) != 0))
        pw_str_add(out, "%s", def);
    else
        pw_str_add(out, "%.15g", o->type == PW_OPT_SEED ? 1 : usual_number(o));
}

static void put_option(const struct pw_opt *o, struct pw_str *out)
{
    struct pw_str allowed = {0}, example = {0};
    pw_opt_allowed(o, &allowed);
    put_example(o, &example);
    pw_str_add(out, "| `%s` | %s | ", o->name, type_name(o));
    put_escaped(out, pw_str_text(&allowed));
    pw_str_add(out, " | ");
    put_escaped(out, o->def != NULL ? o->def : "");
    pw_str_add(out, " | ");
    put_escaped(out, o->help);
    pw_str_add(out, " | `%s=%s` |\n", o->name, pw_str_text(&example));
    pw_str_fini(&allowed);
    pw_str_fini(&example);
}

void pw_reference_options(const struct pw_command *cmd, struct pw_str *out)
{
    const struct pw_opt *o;
    if (pw_help_row(cmd, 0) == NULL)
        return;
    pw_str_add(out,
               "\n| option | type | allowed | default | meaning | example |\n|---|---|---|---|---|---|\n");
    for (int i = 0; (o = pw_help_row(cmd, i)) != NULL; i++)
        put_option(o, out);
}

/* The words of a command that `help NAME WORD` explains, as completion offers them. */
struct words {
    const struct pw_command *cmd;
    struct pw_str *out;
};

static void put_word(void *arg, const char *word)
{
    struct words *w = arg;
    struct pw_str text = {0};
    struct pw_args args = {.n = 1, .words = {{.value = (char *)word}}};
    if (w->cmd->about(word, &text)) {
        pw_str_add(w->out, "\n## %s %s\n\n```\n%s```\n", w->cmd->name, word, pw_str_text(&text));
        pw_reference_options(
            &(struct pw_command){.opts = w->cmd->opts_for != NULL ? w->cmd->opts_for(&args) : NULL}, w->out);
    }
    pw_str_fini(&text);
}

static void put_command(const struct pw_commands *t, const struct pw_command *cmd, struct pw_str *out)
{
    pw_str_add(out, "<!-- page reference/commands/%s.md -->\n# %s\n\n", cmd->name, cmd->name);
    put_escaped(out, cmd->summary);
    pw_str_add(out, "\n\n```\n%s\n```\n", cmd->usage);
    for (const char *const *alias = cmd->aliases; alias != NULL && *alias != NULL; alias++)
        pw_str_add(out, "%s`%s`%s", alias == cmd->aliases ? "\nAlso " : ", ", *alias,
                   alias[1] == NULL ? "\n" : "");
    if (cmd->example != NULL)
        pw_str_add(out, "\nExample: `%s`\n", cmd->example);
    if (cmd->detail != NULL)
        pw_str_add(out, "\n```\n%s\n```\n", cmd->detail);
    pw_reference_options(cmd, out);
    if (strcmp(cmd->name, PW_REFERENCE_ENCODINGS) == 0) {
        pw_str_add(out, "\nEach [encoding](../index.md#encodings) has a page.\n");
    } else if (cmd->about != NULL) {
        char line[64];
        pw_text_copy(line, sizeof line, cmd->name);
        strcat(line, " ");
        pw_command_complete(t, NULL, line, strlen(line), put_word, &(struct words){cmd, out});
    }
}

void pw_command_reference(const struct pw_commands *t, struct pw_str *out)
{
    pw_str_add(
        out,
        "<!-- page reference/index.md -->\n# Reference\n\nThe program writes these pages from the tables "
        "that it reads commands by.\n\n## Commands\n\n| command | meaning |\n|---|---|\n");
    for (int i = 0; t->list[i] != NULL; i++) {
        pw_str_add(out, "| [%s](commands/%s.md) | ", t->list[i]->name, t->list[i]->name);
        put_escaped(out, t->list[i]->summary);
        pw_str_add(out, " |\n");
    }
}

void pw_command_reference_pages(const struct pw_commands *t, struct pw_str *out)
{
    for (int i = 0; t->list[i] != NULL; i++)
        put_command(t, t->list[i], out);
}
