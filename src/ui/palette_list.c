/* palette_list.c - collects the entries of the list behind `?`. Every frame and every key collect them again,
 * so they are never out of date. */
#include <stdio.h>
#include <string.h>

#include "ui/palette_int.h"

/* One pass for each value, best match first. */
enum fit { FIT_NAMED, FIT_ABOUT, FIT_MENTIONED, FIT_NONE };

static bool has(const char *text, const char *word)
{
    return strcasestr(text, word) != NULL;
}

/* text: what the entry does, with its search words. */
static enum fit fit_word(const struct pw_palette_entry *e, const char *text, const char *word, size_t n)
{
    char part[sizeof((struct pw_ui *)0)->palette.filter];
    memcpy(part, word, n);
    part[n] = '\0';
    if (has(text, part) || has(e->keys, part) || has(e->heading, part))
        return FIT_ABOUT;
    enum pw_about about = e->command != NULL ? pw_command_about(e->command, part) : PW_ABOUT_NOT;
    return about == PW_ABOUT_IT ? FIT_ABOUT : about == PW_ABOUT_MENTIONS ? FIT_MENTIONED : FIT_NONE;
}

/* Returns true if the filter is the name of a key or command. */
static bool is_named(const struct pw_palette_entry *e, const char *filter)
{
    size_t n = strlen(filter);
    for (const char *at = e->keys; n > 0 && (at = strstr(at, filter)) != NULL; at++)
        if ((at == e->keys || at[-1] == ' ') && (at[n] == '\0' || at[n] == ' '))
            return true;
    return false;
}

/* A name matches best; otherwise the worst match among the filter's words decides. */
static enum fit fit_filter(const struct pw_palette_entry *e, const char *text, const char *filter)
{
    enum fit fit = FIT_ABOUT;
    if (is_named(e, filter))
        return FIT_NAMED;
    for (size_t n; filter += strspn(filter, " "), (n = strcspn(filter, " ")) > 0; filter += n) {
        enum fit word = fit_word(e, text, filter, n);
        fit = word > fit ? word : fit;
    }
    return fit;
}

/* Adds an entry that matches in this pass. text: what it does; after a tab, more words to find it by. */
static void add_entry(struct pw_palette_list *l, enum fit pass, struct pw_palette_entry e, const char *text)
{
    const char *filter = l->ui->palette.filter;
    if (l->n == PW_PALETTE_MAX || fit_filter(&e, text, filter) != pass)
        return;
    if (pass == FIT_NAMED)
        e.heading = filter;
    else if (pass == FIT_MENTIONED)
        e.heading = "Mentioned in the help of";
    snprintf(e.what, sizeof e.what, "%.*s", (int)strcspn(text, "\t"), text);
    l->entries[l->n++] = e;
}

static void add_keys(struct pw_palette_list *l, enum fit pass, const char *heading, const char *const *keys,
                     int pane)
{
    for (int i = 0; keys != NULL && keys[i] != NULL && keys[i + 1] != NULL; i += 2)
        add_entry(l, pass, (struct pw_palette_entry){.heading = heading, .keys = keys[i], .pane = pane},
                  keys[i + 1]);
}

static void collect_pass(struct pw_palette_list *l, enum fit pass)
{
    const struct pw_ui *ui = l->ui;
    add_keys(l, pass, pw_panes[ui->focus]->title, pw_panes[ui->focus]->keys, ui->focus);
    if (pw_time_in_recording(ui))
        add_keys(l, pass, "In a recording", pw_help_time_keys, -1);
    add_keys(l, pass, "Everywhere", pw_help_keys, -1);
    for (int i = 0; i < ui->bindings.n; i++) {
        pw_key_name(ui->bindings.list[i].key, l->names[i]);
        add_entry(l, pass, (struct pw_palette_entry){.heading = "Bound", .keys = l->names[i], .pane = -1},
                  ui->bindings.list[i].line);
    }
    for (int i = 0; ui->commands != NULL && ui->commands->list[i] != NULL; i++) {
        const struct pw_command *c = ui->commands->list[i];
        add_entry(l, pass,
                  (struct pw_palette_entry){.heading = "Commands", .keys = c->name, .command = c, .pane = -1},
                  c->summary);
    }
    for (int i = 0; i < PW_PANES; i++)
        if (i != ui->focus)
            add_keys(l, pass, pw_panes[i]->title, pw_panes[i]->keys, i);
}

void pw_palette_collect(struct pw_palette_list *l, const struct pw_ui *ui)
{
    l->ui = ui;
    l->n = 0;
    for (enum fit pass = FIT_NAMED; pass < FIT_NONE; pass++)
        collect_pass(l, pass);
}
