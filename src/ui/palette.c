/* palette.c - the list that `?` opens: its keys and its drawing. palette_list.c collects the entries. */
#include "ui/palette_int.h"

#include <stdio.h>
#include <string.h>

#include "ui/plot.h"

#define KEY_COLUMNS 15
#define PAGE        10

const char *const pw_help_keys[] = {
    ":",
    "type a command; `help` lists them, Tab completes",
    "Tab S-Tab 1-8",
    "focus a pane; its number again zooms (in the prompt pane a digit is text)\tattention heatmap window "
    "view",
    "z",
    "zoom the focused pane, and back\tmaximise fullscreen",
    "+ _",
    "more and less screen for the focused pane: normal, half, all",
    "0",
    "reset borders and zoom",
    "Space",
    "pause, resume, or train when idle",
    ". ,",
    "next and previous token of the answer",
    "S",
    "one optimiser step of every arm",
    "< >",
    "previous and next arm as the current one",
    "( )",
    "previous and next replica of the arm as the one that is inspected\tseed",
    "S-Left S-Right",
    "show an earlier moment of training, a later one\trewind replay history scrub",
    "L",
    "back to live",
    "=",
    "a mark at this moment, with a text\tnote bookmark annotate",
    "p",
    "type a prompt for this task",
    "/ n N",
    "search in the pane; next and previous match\tfind",
    "&",
    "only lines of the log that contain a text",
    "u Ctrl-R",
    "undo and redo a setting, a binding, a moved border\trevert",
    "y",
    "copy the pane's values: clipboard and file\tyank csv",
    "Y",
    "a picture of the screen\tscreenshot svg",
    "Ctrl-C",
    "cancel a job, or pause training\tstop abort interrupt kill",
    "Ctrl-L",
    "redraw the screen",
    "Ctrl-Z",
    "suspend; `fg` in the shell comes back",
    "↻",
    "marks an arm whose encoding was swapped in place",
    "Esc",
    "leave help, time, search or zoom",
    "? F1",
    "this list\thelp manual",
    "q Q F10",
    "quit; Q doesn't ask while training\texit leave close",
    NULL,
};

const char *const pw_help_time_keys[] = {
    "Space",
    "play, and stop",
    "< >",
    "play slower and faster",
    ", . Left Right",
    "a step back, a step on",
    "( )",
    "an event back, an event on",
    NULL,
};

/* ---- the names of keys */

/* Returns the next key of *s and advances *s. Returns 0 at the end, and -1 for words that are no keys ("left
 * column"). *range_left is the offset in a range such as "1-8". */
static int next_key(const char **s, int *range_left)
{
    char word[32];
    *s += strspn(*s, " ");
    size_t n = strcspn(*s, " ");
    if (n == 0)
        return 0;
    if (n >= sizeof word)
        return -1;
    memcpy(word, *s, n);
    word[n] = '\0';
    if (n == 3 && word[1] == '-' && word[0] < word[2]) { /* "1-8" */
        int key = word[0] + *range_left;
        if (key < word[2])
            ++*range_left;
        else
            *range_left = 0, *s += n;
        return key;
    }
    int key = pw_key_named(word);
    *s += n;
    return key > 0 && (key < 0x80 || key >= PW_KEY_UP) ? key : -1; /* signs such as ↻ also have entries */
}

int pw_palette_nth_key(const char *keys, int n)
{
    int range = 0, key = 0;
    for (int i = 0; i <= n; i++)
        if ((key = next_key(&keys, &range)) <= 0)
            return 0;
    return key;
}

/* Returns why an entry has no effect now; NULL: it has one. */
static const char *reason(const struct pw_ui *ui, const struct pw_palette_entry *e, int key)
{
    if (e->command != NULL)
        return NULL;
    if (key <= 0)
        return "an explanation: not a command";
    if (e->pane >= 0 || pw_bindings_find(&ui->bindings, key) != NULL)
        return NULL;
    int arms = 0;
    for (int i = 0; i < PW_MAX_ARMS; i++)
        arms += ui->snap->arms[i].used;
    if ((key == '<' || key == '>') && arms < 2)
        return "there is no other arm; `arm add PE` makes one";
    const struct pw_arm_view *arm = pw_find_arm(ui->snap, ui->snap->current);
    if ((key == '(' || key == ')') && (arm == NULL || arm->info.replicas < 2))
        return "the arm has one replica; `race PE,... seeds=N` makes N of each";
    if ((key == 'n' || key == 'N') && !ui->find.text[0])
        return "no search is active; / starts one";
    if (key == 'L' && !pw_time_is_past(ui))
        return "the present is already shown";
    return NULL;
}

/* ---- keys */

void pw_palette_open(struct pw_ui *ui)
{
    ui->help = true;
    ui->help_top = 0;
    memset(&ui->palette, 0, sizeof ui->palette);
}

static void choose(struct pw_ui *ui, const struct pw_palette_entry *e)
{
    int key = e->command != NULL ? 0 : pw_palette_nth_key(e->keys, ui->palette.nth);
    const char *why = reason(ui, e, key);
    if (why != NULL) {
        snprintf(ui->message, sizeof ui->message, "%s: %s", e->keys, why);
        ui->message_is_error = false;
        return;
    }
    ui->help = false;
    if (e->command != NULL) {
        bool more = strlen(e->command->usage) > strlen(e->command->name);
        snprintf(ui->ask, sizeof ui->ask, "%s%s", e->command->name, more ? " " : "");
        return;
    }
    if (e->pane >= 0)
        pw_ui_focus(ui, e->pane);
    ui->press = key;
}

static void type(struct pw_ui *ui, int key)
{
    char *filter = ui->palette.filter, bytes[4];
    size_t n = strlen(filter), more = pw_utf8_put(bytes, (uint32_t)key);
    if (n + more >= sizeof ui->palette.filter)
        return;
    memcpy(filter + n, bytes, more);
    filter[n + more] = '\0';
}

static void erase(char *filter)
{
    size_t n = strlen(filter);
    while (n > 0 && ((unsigned char)filter[n - 1] & 0xc0) == 0x80)
        n--;
    filter[n > 0 ? n - 1 : 0] = '\0';
}

/* Returns by how many entries a key moves the selection; 0: not at all. */
static int moves(int key)
{
    switch (key) {
    case PW_KEY_UP: return -1;
    case PW_KEY_DOWN: return 1;
    case PW_KEY_PAGE_UP: return -PAGE;
    case PW_KEY_PAGE_DOWN: return PAGE;
    case PW_KEY_HOME: return -PW_PALETTE_MAX;
    case PW_KEY_END: return PW_PALETTE_MAX;
    default: return 0;
    }
}

void pw_palette_key(struct pw_ui *ui, int key)
{
    static struct pw_palette_list l; /* owned by the UI thread; too large for the stack */
    pw_palette_collect(&l, ui);
    int at = ui->palette.at + moves(key);
    char *filter = ui->palette.filter;

    if (moves(key) != 0) {
        ui->palette.at = at < 0 ? 0 : at < l.n ? at : l.n > 0 ? l.n - 1 : 0;
        ui->palette.nth = 0;
    } else if (key == PW_KEY_ESCAPE || key == PW_KEY_F1 || (key == '?' && !*filter)) {
        ui->help = false;
    } else if (key == '\n' && ui->palette.at < l.n) {
        choose(ui, &l.entries[ui->palette.at]);
    } else if (key == PW_KEY_RIGHT && ui->palette.at < l.n) {
        ui->palette.nth += pw_palette_nth_key(l.entries[ui->palette.at].keys, ui->palette.nth + 1) > 0;
    } else if (key == PW_KEY_LEFT) {
        ui->palette.nth -= ui->palette.nth > 0;
    } else if (key == 127 || key == '\b' || (key >= ' ' && key < PW_KEY_UP)) {
        if (key == 127 || key == '\b')
            erase(filter);
        else
            type(ui, key);
        ui->palette.at = ui->palette.nth = 0;
    }
}

/* ---- drawing */

/* Draws the keys of the selected entry and marks the one that Enter presses. */
static void draw_chosen_keys(struct pw_canvas *c, struct pw_rect r, int y, const struct pw_palette_entry *e,
                             int nth)
{
    const char *from = e->keys, *s = from;
    int range = 0;
    for (int i = 0; i < nth; i++)
        next_key(&s, &range);
    s += strspn(s, " ");
    size_t n = strcspn(s, " ");
    char before[64], key[32];
    snprintf(before, sizeof before, "%.*s", (int)(s - from), from);
    snprintf(key, sizeof key, "%.*s", (int)n, s);
    struct pw_style s_key = pw_style_bold();
    s_key.attr |= PW_UNDERLINE;
    if (e->command == NULL && pw_palette_nth_key(e->keys, 1) > 0)
        pw_draw_text(c, r, y, r.x + 3 + pw_text_cells(before), s_key, key);
}

static void draw_entry(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r, int y,
                       const struct pw_palette_entry *e, bool chosen)
{
    int key = e->command != NULL ? 0 : pw_palette_nth_key(e->keys, chosen ? ui->palette.nth : 0);
    const char *why = reason(ui, e, key);
    struct pw_style text = why != NULL ? pw_style_dim() : pw_style_plain();
    int x = pw_draw_cut(c, r, y, r.x + 3, why != NULL ? pw_style_dim() : pw_style_bold(), e->keys,
                        KEY_COLUMNS - 1);
    int from = r.x + 3 + KEY_COLUMNS;
    char note[96];

    snprintf(note, sizeof note, "  (%s)", why != NULL ? why : "");
    from = x >= from ? x + 1 : from;
    x = pw_draw_cut(c, r, y, from, text, e->what, r.x + r.w - 1 - from);
    if (why != NULL && key > 0)
        pw_draw_cut(c, r, y, x, pw_style_dim(), note, r.x + r.w - 1 - x);
    if (!chosen)
        return;
    draw_chosen_keys(c, r, y, e, ui->palette.nth);
    pw_draw_text(c, r, y, r.x + 1, pw_style_bold(), "▸");
}

/* Returns the number of lines above an entry. An entry takes one line; a new heading takes an empty line and
 * its own. */
static int lines_before(const struct pw_palette_list *l, int entry)
{
    int n = 0;
    for (int i = 0; i <= entry && i < l->n; i++) {
        if (i == 0 || l->entries[i].heading != l->entries[i - 1].heading)
            n += i > 0 ? 2 : 1;
        n += i < entry;
    }
    return n;
}

/* Draws the parts of the selected entry that its row cuts off, in full at the bottom. Returns the number of
 * rows. */
static int draw_in_full(struct pw_canvas *c, struct pw_rect in, const struct pw_palette_entry *e)
{
    int keys = pw_text_cells(e->keys) < KEY_COLUMNS ? KEY_COLUMNS : KEY_COLUMNS + 1, w = in.w - 2;
    if (in.h < 8 || w < KEY_COLUMNS || 3 + keys + pw_text_cells(e->what) < in.w)
        return 0;
    int rows = pw_text_rows(e->what, w);
    rows = rows < 3 ? rows : 3;
    struct pw_rect at = {in.y + in.h - rows, in.x + 1, rows, w};
    pw_draw_wrapped(c, at, at.y, pw_style_bold(), e->what, rows);
    return rows;
}

/* Returns the rows of the list: the inside of the frame below the filter. The entry in full follows below. */
static struct pw_rect list_area(struct pw_rect in)
{
    return (struct pw_rect){in.y + 1, in.x, in.h - 1, in.w};
}

static struct pw_palette_list *collect(const struct pw_ui *ui)
{
    static struct pw_palette_list l; /* owned by the UI thread; too large for the stack */
    pw_palette_collect(&l, ui);
    return &l;
}

void pw_palette_settle(struct pw_ui *ui, struct pw_rect r)
{
    const struct pw_palette_list *l = collect(ui);
    struct pw_rect in = pw_frame_inside(r);
    struct pw_canvas nowhere = {0}; /* nothing is drawn: only the rows are counted */

    if (ui->palette.at >= l->n)
        ui->palette.at = l->n > 0 ? l->n - 1 : 0;
    if (in.h < 1 || in.w < 1)
        return;
    in = list_area(in);
    if (l->n > 0)
        in.h -= draw_in_full(&nowhere, in, &l->entries[ui->palette.at]);
    int chosen = lines_before(l, ui->palette.at);
    int total = lines_before(l, l->n - 1) + 1, last = total > in.h ? total - in.h : 0;
    if (ui->help_top > chosen - 1)
        ui->help_top = chosen - 1; /* including the heading directly above */
    if (ui->help_top < chosen - in.h + 1)
        ui->help_top = chosen - in.h + 1;
    ui->help_top = ui->help_top > last ? last : ui->help_top < 0 ? 0 : ui->help_top;
}

void pw_palette_draw(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r)
{
    const struct pw_palette_list *l = collect(ui);

    pw_draw_fill(c, r, pw_style_plain(), ' ');
    struct pw_rect in =
        pw_draw_frame(c, r, &ui->look, true, "Keys and commands", "↑↓ choose  Enter runs  Esc back");
    if (in.h < 1 || in.w < 1)
        return;
    int x = pw_draw_text(c, in, in.y, in.x + 1, pw_style_dim(), "find: ");
    x = pw_draw_text(c, in, in.y, x, pw_style_bold(), ui->palette.filter);
    pw_draw_text(c, in, in.y, x, pw_style_dim(), ui->palette.filter[0] ? "_" : "_  type to narrow the list");
    in = list_area(in);
    if (l->n > 0)
        in.h -= draw_in_full(c, in, &l->entries[ui->palette.at]);
    if (l->n == 0)
        pw_draw_cut(c, in, in.y, in.x + 3, pw_style_dim(), "no key and no command matches", in.w - 4);
    for (int i = 0; i < l->n; i++) {
        int y = in.y + lines_before(l, i) - ui->help_top;
        if (i == 0 || l->entries[i].heading != l->entries[i - 1].heading) {
            if (y - 1 >= in.y)
                pw_draw_text(c, in, y - 1, in.x + 1, pw_style_bold(), l->entries[i].heading);
        }
        if (y >= in.y && y < in.y + in.h)
            draw_entry(ui, c, in, y, &l->entries[i], i == ui->palette.at);
    }
}
