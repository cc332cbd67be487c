/* help.c - the list of keys, made from the same tables that the hints come from. */
#include "ui/plot.h"

const char *const pw_help_keys[] = {
    ":",       "type a command; `help` lists them, Tab completes",
    "Tab 1-7", "focus a pane; its number again zooms",
    "z",       "zoom the focused pane, and back",
    "Space",   "pause, resume, or train when idle",
    ".",       "one optimiser step",
    "< >",     "previous and next arm as the current one",
    "p",       "how to type a prompt for this task",
    "Ctrl-C",  "cancel a job, or pause training",
    "↻",       "marks an arm whose encoding was swapped in place",
    "Esc",     "leave help or zoom",
    "? F1",    "these keys",
    "q",       "quit",
    NULL,
};

/* One line of the list: heading, or key and meaning. Counts lines and draws the one that falls on the screen.
 */
struct list {
    const struct pw_ui *ui;
    struct pw_canvas *c;
    struct pw_rect r;
    int line;
};

static void add_line(struct list *l, const char *key, const char *meaning, bool heading)
{
    int y = l->r.y + l->line++ - l->ui->help_top;

    if (y < l->r.y)
        return;
    if (heading) {
        pw_draw_text(l->c, l->r, y, l->r.x + 1, pw_style_bold(), key);
        return;
    }
    pw_draw_text(l->c, l->r, y, l->r.x + 3, pw_style_bold(), key);
    pw_draw_cut(l->c, l->r, y, l->r.x + 15, pw_style_plain(), meaning, l->r.w - 16);
}

static void add_keys(struct list *l, const char *title, const char *const *keys)
{
    if (l->line > 0)
        add_line(l, "", "", true);
    add_line(l, title, "", true);
    for (int i = 0; keys && keys[i] && keys[i + 1]; i += 2)
        add_line(l, keys[i], keys[i + 1], false);
}

void pw_help_draw(struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r)
{
    pw_draw_fill(c, r, pw_style_plain(), ' ');
    struct pw_rect in = pw_draw_frame(c, r, &ui->look, true, "Keys", "j k scroll  Esc back");
    struct list l = {ui, NULL, {0, 0, 0, 0}, 0};
    struct pw_canvas none = {0};

    for (int pass = 0; pass < 2; pass++) { /* the first only counts, so that scrolling stops at the end */
        l.c = pass ? c : &none;
        l.r = in;
        l.line = 0;
        add_keys(&l, "Everywhere", pw_help_keys);
        for (int i = 0; i < PW_PANES; i++)
            add_keys(&l, pw_panes[i]->title, pw_panes[i]->keys);
        int last = l.line > in.h ? l.line - in.h : 0;
        if (ui->help_top > last)
            ui->help_top = last;
        if (ui->help_top < 0)
            ui->help_top = 0;
    }
}
