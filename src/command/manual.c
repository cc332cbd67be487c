/* manual.c - the manual page (man(7)), made from the command tables and their `detail` texts.
 *
 * A detail is written for a terminal, with manual line breaks. It has table rows, examples and sentences. A
 * row begins with blanks; two or more blanks separate the term from its meaning, and a continuation line is
 * indented further. An example begins with a command. Each kind of line is converted to its own macro. troff
 * then breaks lines itself, so the page fits any width. */
#include <string.h>

#include "command/help.h"

#define TERM 16 /* columns reserved for a term beside its meaning */
#define FULL 85 /* a line at least this long is a sentence, even if it begins with a command's name */

/* Escape for troff: '\', and '.' or "'" at the start of a line, have a special meaning, and '-' would become
 * a hyphen. A list of choices may be broken after '|'. */
static void put_troff(struct pw_str *out, const char *s, size_t n)
{
    bool start = out->len == 0 || out->s[out->len - 1] == '\n';
    for (size_t i = 0; i < n; i++) {
        if (start && (s[i] == '.' || s[i] == '\''))
            pw_str_add(out, "\\&");
        if (s[i] == '\\')
            pw_str_add(out, "\\e");
        else if (s[i] == '-')
            pw_str_add(out, "\\-");
        else if (s[i] == '|' && i + 1 < n && s[i + 1] != ' ')
            pw_str_add(out, "|\\:");
        else
            pw_str_put(out, s + i, 1);
        start = s[i] == '\n';
    }
}

void pw_manual_text(struct pw_str *out, const char *text)
{
    put_troff(out, text, strlen(text));
}

/* ---- details */

struct detail {
    struct pw_str *out;
    const struct pw_commands *t;
    int row;       /* indentation of the rows of the current table; -1: no table */
    bool sentence; /* the last line was a sentence that continues */
};

static void end_table(struct detail *d)
{
    if (d->row >= 0)
        pw_str_add(d->out, ".PD\n.RE\n%s\n", d->t != NULL ? ".IP" : ".PP");
    d->row = -1;
}

/* The term ends before the last two blanks in a row. A row may have no meaning. */
static void put_row(struct detail *d, const char *s, size_t n)
{
    size_t term = n, meaning = n;
    for (size_t i = 0; i + 1 < n; i++)
        if (s[i] == ' ' && s[i + 1] == ' ') {
            term = i;
            while (i + 1 < n && s[i + 1] == ' ')
                i++;
            meaning = i + 1;
        }
    while (term > 0 && s[term - 1] == ' ')
        term--;
    pw_str_add(d->out, term < 60 ? ".TP %d\n" : ".PP\n", TERM);
    for (size_t i = 0; i < term; i++) /* column padding inside the term is removed */
        if (s[i] != ' ' || s[i + 1] != ' ')
            put_troff(d->out, s + i, 1);
    pw_str_add(d->out, "\n");
    if (meaning < n) {
        put_troff(d->out, s + meaning, n - meaning);
        pw_str_add(d->out, "\n");
    }
}

static void put_in_table(struct detail *d, const char *s, int indent, size_t n)
{
    d->sentence = false;
    if (d->row >= 0 && indent > d->row) { /* a continuation line */
        put_troff(d->out, s, n);
        pw_str_add(d->out, "\n");
        return;
    }
    if (d->row < 0)
        pw_str_add(d->out, ".RS\n.PD 0\n");
    d->row = indent;
    put_row(d, s, n);
}

/* Has the line two columns, like a row that begins with a command? */
static bool has_columns(const char *s, size_t n)
{
    for (size_t i = 0; i + 1 < n; i++)
        if (s[i] == ' ' && s[i + 1] == ' ')
            return true;
    return false;
}

static bool begins_with_command(const struct detail *d, const char *s, size_t n)
{
    char name[32];
    size_t len = strcspn(s, " \n");
    if (d->sentence || len >= sizeof name || len > n || d->t == NULL)
        return false;
    memcpy(name, s, len);
    name[len] = '\0';
    return pw_command_find(d->t, name) != NULL;
}

static void put_line(struct detail *d, const char *s, size_t n)
{
    size_t indent = strspn(s, " ");
    bool command = begins_with_command(d, s, n), example = command && n < FULL;
    if ((indent > 0 && indent < n) || (command && has_columns(s, n))) {
        put_in_table(d, s + indent, (int)indent, n - indent);
        return;
    }
    end_table(d);
    if (!d->sentence)
        pw_str_add(d->out, ".br\n");
    put_troff(d->out, s, n);
    pw_str_add(d->out, "\n");
    d->sentence = !example && n > 0 && strchr(".:", s[n - 1]) == NULL;
}

void pw_manual_detail(const struct pw_commands *t, const char *text, struct pw_str *out)
{
    struct detail d = {.out = out, .t = t, .row = -1};
    for (size_t n; n = strcspn(text, "\n"), *text != '\0'; text += n + (text[n] == '\n'))
        put_line(&d, text, n);
    end_table(&d);
}

/* ---- commands */

static void put_option(const struct pw_opt *o, struct pw_str *out)
{
    struct pw_str key = {0}, allowed = {0};
    pw_help_describe(o, &key, &allowed);
    pw_str_add(out, ".TP %d\n\\fB", TERM);
    pw_manual_text(out, key.s);
    pw_str_add(out, "\\fR\n");
    pw_manual_text(out, o->help);
    pw_str_add(out, " (");
    pw_manual_text(out, allowed.s);
    pw_str_add(out, ")\n");
    pw_str_fini(&key);
    pw_str_fini(&allowed);
}

void pw_command_manual(const struct pw_commands *t, struct pw_str *out)
{
    pw_str_add(out, ".SH COMMANDS\n");
    for (int i = 0; t->list[i] != NULL; i++) {
        const struct pw_command *cmd = t->list[i];
        const struct pw_opt *o;
        size_t name = strlen(cmd->name);
        bool named = strncmp(cmd->usage, cmd->name, name) == 0;
        pw_str_add(out, ".TP\n\\fB");
        pw_manual_text(out, cmd->name);
        pw_str_add(out, "\\fR");
        pw_manual_text(out, named ? cmd->usage + name : "");
        pw_str_add(out, "\n");
        pw_manual_text(out, cmd->summary);
        for (const char *const *alias = cmd->aliases; alias != NULL && *alias != NULL; alias++) {
            pw_str_add(out, "%s", alias == cmd->aliases ? "; also " : ", ");
            pw_manual_text(out, *alias);
        }
        pw_str_add(out, "\n");
        if (cmd->detail != NULL) {
            pw_str_add(out, ".IP\n");
            pw_manual_detail(t, cmd->detail, out);
        }
        if (pw_help_row(cmd, 0) == NULL)
            continue;
        pw_str_add(out, ".RS\n.PP\n.PD 0\n");
        for (int k = 0; (o = pw_help_row(cmd, k)) != NULL; k++)
            put_option(o, out);
        pw_str_add(out, ".PD\n.RE\n");
    }
}
