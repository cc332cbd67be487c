/* line.c - readline's callback interface, fed from a queue.
 *
 * Known traps: readline must not touch signals, LINES and COLUMNS, or the terminal's modes. Its own reader of
 * bracketed pastes never returns with such a queue, so the brackets must not reach it. A readline function
 * that needs a second key reads EOF from an empty queue instead of waiting. Tab calls pewter's own
 * completion, because the command language defines where a word begins. */
#include "ui/line.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/recall.h"
#include "lab/preview.h"
#include "ui/plot.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* stdio.h first: readline's headers use FILE */
#include <readline/history.h>
#include <readline/readline.h>

#define MAX_ROWS   8   /* of the list of candidates */
#define MAX_CHOICE 256 /* maximum number of candidates kept */
#define RECENT_S   1.0 /* Tab offers names of files that were read so long before it, or later */

struct pw_line {
    const struct pw_commands *commands;
    const struct pw_seen *seen;
    struct pw_history *history;
    bool open;
    enum pw_line_state state;
    char *accepted;
    char queue[64]; /* bytes of one key */
    size_t at, n;
    int n_choices;
    char *choices[MAX_CHOICE]; /* candidates of Tab; shown until the next key */
    bool tab_waits;            /* until the next key: Tab lacks names of files, which are being read */
    const char *note;          /* shown instead of the hint until the next key */
    struct pw_line_remark remark;
    int left; /* first column shown of a line longer than the screen */
};

static struct pw_line *the_line; /* readline's hooks have no argument */

/* ---- called by readline */

static int next_byte(FILE *unused)
{
    (void)unused;
    return the_line->at < the_line->n ? (unsigned char)the_line->queue[the_line->at++] : EOF;
}

static int bytes_there(void)
{
    return the_line->at < the_line->n;
}

static void draw_later(void)
{
}

/* Takes the line from readline: allocated by malloc, or NULL at end of file (Ctrl-D on an empty line). */
static void line_ended(char *text)
{
    rl_callback_handler_remove(); /* otherwise readline opens the next prompt at once */
    the_line->open = false;
    the_line->state = text != NULL ? PW_LINE_ACCEPTED : PW_LINE_CANCELLED;
    free(the_line->accepted);
    the_line->accepted = text;
}

static void forget_choices(struct pw_line *l)
{
    for (int i = 0; i < l->n_choices; i++)
        free(l->choices[i]);
    l->n_choices = 0;
    l->tab_waits = false;
}

static void add_choice(void *arg, const char *candidate)
{
    struct pw_line *l = arg;
    for (int i = 0; i < l->n_choices; i++)
        if (strcmp(l->choices[i], candidate) == 0)
            return; /* the same name from two sources */
    if (l->n_choices < MAX_CHOICE)
        l->choices[l->n_choices++] = pw_text_dup(candidate);
}

/* Returns the bytes of the candidates' common prefix, cut at a character. */
static size_t common_prefix(const struct pw_line *l)
{
    const char *first = l->choices[0];
    size_t n = strlen(first);
    for (int i = 1; i < l->n_choices; i++) {
        size_t k = 0;
        while (k < n && first[k] == l->choices[i][k])
            k++;
        n = k;
    }
    while (n > 0 && ((unsigned char)first[n] & 0xc0) == 0x80)
        n--;
    return n;
}

/* Tab: inserts the common prefix of the candidates, and lists them if there are several. */
static int complete(int count, int key)
{
    (void)count;
    (void)key;
    struct pw_line *l = the_line;
    size_t point = (size_t)rl_point;
    forget_choices(l);
    size_t begin = pw_preview_complete(rl_line_buffer, point, add_choice, l);
    if (begin == PW_NO_FORMULA)
        begin = pw_command_complete(l->commands, l->seen, rl_line_buffer, point, add_choice, l);
    if (pw_recall_missed()) {
        forget_choices(l);
        l->tab_waits = true;
    }
    if (l->n_choices == 0)
        return 0;
    size_t n = common_prefix(l);
    if (n >= point - begin) { /* never shorten the typed text */
        char *text = strndup(l->choices[0], n);
        rl_begin_undo_group();
        rl_delete_text((int)begin, rl_point);
        rl_point = (int)begin;
        rl_insert_text(text);
        if (l->n_choices == 1 &&
            (n == 0 || strchr("=/(", text[n - 1]) == NULL)) /* the word continues after these */
            rl_insert_text(" ");
        rl_end_undo_group();
        free(text);
    }
    if (l->n_choices == 1)
        forget_choices(l);
    return 0;
}

/* ---- suggestions from the history */

/* Returns the rest of the newest history line that begins with the typed text. NULL: there is none, or the
 * cursor is not at the end. */
static const char *ghost(const struct pw_line *l)
{
    if (rl_point != rl_end || rl_end == 0 || l->note != NULL ||
        RL_ISSTATE(RL_STATE_ISEARCH | RL_STATE_NSEARCH))
        return NULL;
    size_t n = (size_t)rl_end;
    for (int i = l->history->n; i-- > 0;)
        if (strlen(l->history->lines[i]) > n && memcmp(l->history->lines[i], rl_line_buffer, n) == 0)
            return l->history->lines[i] + n;
    return NULL;
}

/* Accepts the suggestion if the key moves right of the end: the right arrow, End, Ctrl-F, Ctrl-E. */
static bool accept_ghost(const struct pw_line *l, const char *bytes, size_t n)
{
    static const char *const keys[] = {"\033[C", "\033OC", "\033[F", "\033OF", "\006", "\005"};
    const char *rest = ghost(l);
    for (size_t i = 0; rest != NULL && i < sizeof keys / sizeof *keys; i++)
        if (strlen(keys[i]) == n && memcmp(keys[i], bytes, n) == 0) {
            rl_insert_text(rest);
            return true;
        }
    return false;
}

/* Home and Ctrl-A go to the beginning of a formula first; there, to that of the line. */
static bool go_home(const char *bytes, size_t n)
{
    static const char *const keys[] = {"\033[H", "\033OH", "\033[1~", "\001"};
    size_t begin = pw_preview_begin(rl_line_buffer);
    for (size_t i = 0; begin != PW_NO_FORMULA && (size_t)rl_point > begin && i < sizeof keys / sizeof *keys;
         i++)
        if (strlen(keys[i]) == n && memcmp(keys[i], bytes, n) == 0) {
            rl_point = (int)begin;
            return true;
        }
    return false;
}

/* ---- opening and closing */

struct pw_line *pw_line_new(const struct pw_commands *commands, const struct pw_seen *seen,
                            struct pw_history *history)
{
    struct pw_line *l = pw_alloc(1, sizeof *l);
    l->commands = commands;
    l->seen = seen;
    l->history = history;
    the_line = l;
    rl_readline_name = "pewter"; /* for $if in inputrc */
    rl_catch_signals = 0;
    rl_catch_sigwinch = 0;
    rl_change_environment = 0;
    rl_prep_term_function = NULL;
    rl_deprep_term_function = NULL;
    rl_getc_function = next_byte;
    rl_input_available_hook = bytes_there;
    rl_redisplay_function = draw_later;
    rl_initialize(); /* reads inputrc; pewter binds Tab after it */
    rl_variable_bind("enable-bracketed-paste", "off");
    rl_variable_bind("input-meta", "on"); /* lines are UTF-8, whatever the locale */
    rl_variable_bind("output-meta", "on");
    rl_variable_bind("convert-meta", "off");
    rl_add_defun("pewter-complete", complete, '\t');
    using_history();
    clear_history();
    stifle_history(PW_HISTORY_MAX);
    for (int i = 0; i < history->n; i++)
        add_history(history->lines[i]);
    return l;
}

/* Closes the prompt and drops the typed text. */
static void cancel(struct pw_line *l)
{
    forget_choices(l);
    if (!l->open)
        return;
    rl_callback_sigcleanup(); /* ends a search or a numeric argument in progress */
    rl_free_line_state();
    rl_replace_line("", 1);
    rl_point = rl_end = 0;
    rl_callback_handler_remove();
    l->open = false;
    l->state = PW_LINE_CANCELLED;
}

void pw_line_free(struct pw_line *l)
{
    if (l == NULL)
        return;
    cancel(l);
    clear_history();
    free(l->accepted);
    free(l);
    the_line = NULL;
}

void pw_line_open(struct pw_line *l, const char *initial, const char *note)
{
    cancel(l);
    l->note = note;
    l->remark = (struct pw_line_remark){0};
    l->left = 0;
    l->state = PW_LINE_OPEN;
    rl_callback_handler_install(":", line_ended);
    l->open = true;
    rl_insert_text(initial);
}

bool pw_line_is_open(const struct pw_line *l)
{
    return l->open;
}

/* Adds the line to readline's copy of the history too, without repeats. */
static void remember(struct pw_line *l)
{
    if (!pw_history_add(l->history, l->accepted))
        return;
    for (int i = history_length; i-- > 0;) {
        HIST_ENTRY *e = history_get(history_base + i);
        if (e != NULL && strcmp(e->line, l->accepted) == 0)
            free_history_entry(remove_history(i));
    }
    add_history(l->accepted);
}

/* In vi's insertion mode, ESC enters command mode; only a second ESC cancels. */
static bool escape_means_command_mode(void)
{
    return rl_editing_mode == 0 && rl_get_keymap() == vi_insertion_keymap;
}

enum pw_line_state pw_line_key(struct pw_line *l, const char *bytes, size_t n)
{
    if (!l->open || n == 0)
        return l->open ? PW_LINE_OPEN : PW_LINE_CANCELLED;
    forget_choices(l);
    pw_recall_since(pw_now() - RECENT_S);
    l->note = NULL;
    if (n == 1 && *bytes == ESC && escape_means_command_mode()) {
        rl_vi_movement_mode(1, ESC);
        return PW_LINE_OPEN;
    }
    if (n == 1 && (*bytes == ESC || *bytes == CTRL('C'))) {
        cancel(l);
        return PW_LINE_CANCELLED;
    }
    if (accept_ghost(l, bytes, n) || go_home(bytes, n))
        return PW_LINE_OPEN;
    l->n = n < sizeof l->queue ? n : sizeof l->queue;
    memcpy(l->queue, bytes, l->n);
    for (l->at = 0; l->at < l->n && l->open;)
        rl_callback_read_char();
    if (l->state == PW_LINE_ACCEPTED)
        remember(l);
    return l->state;
}

void pw_line_read(struct pw_line *l)
{
    if (!l->open || !l->tab_waits)
        return;
    pw_recall_again();
    complete(1, '\t');
}

static enum pw_code join(void *line, const char *command, int number)
{
    (void)number;
    struct pw_str *s = line;
    pw_str_add(s, "%s%s", s->len > 0 ? "; " : "", command);
    return PW_OK;
}

void pw_line_paste(struct pw_line *l, const char *text, size_t n)
{
    struct pw_str line = {0};
    struct pw_err err;
    char *clean = pw_alloc(n + 1, 1);
    forget_choices(l);
    while (n > 0 && (text[n - 1] == '\n' || text[n - 1] == '\r'))
        n--; /* a copied line includes its line end */
    size_t len = 0;
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '\n' && i > 0 && text[i - 1] == '\r')
            continue; /* CR LF is one line end */
        bool end = text[i] == '\n' || text[i] == '\r';
        clean[len++] = end ? '\n' : (unsigned char)text[i] < ' ' || text[i] == 127 ? ' ' : text[i];
    }
    clean[len] = '\0';
    bool lines = strchr(clean, '\n') != NULL;
    if (lines && pw_commands_split(clean, join, &line, &err) == PW_OK) {
        rl_insert_text(pw_str_text(&line));
    } else {
        for (char *c = clean; (c = strchr(c, '\n')) != NULL;)
            *c = ' ';
        rl_insert_text(clean);
    }
    pw_str_fini(&line);
    free(clean);
}

void pw_line_remark(struct pw_line *l, const struct pw_line_remark *r)
{
    l->remark = *r;
}

const char *pw_line_text(const struct pw_line *l)
{
    if (l->open)
        return rl_line_buffer;
    return l->accepted != NULL ? l->accepted : "";
}

/* ---- drawing */

/* Returns the columns of the first n bytes. */
static int columns(const char *s, size_t n)
{
    char *part = strndup(s, n);
    int cols = part != NULL ? pw_text_cells(part) : 0;
    free(part);
    return cols;
}

/* Draws the candidates in columns, row by row, above the prompt. */
static void draw_choices(const struct pw_line *l, struct pw_canvas *c, struct pw_rect prompt)
{
    int widest = 1;
    for (int i = 0; i < l->n_choices; i++) {
        int w = pw_text_cells(l->choices[i]);
        widest = w > widest ? w : widest;
    }
    int across = prompt.w / (widest + 2);
    across = across > 0 ? across : 1;
    int rows = (l->n_choices + across - 1) / across;
    int most = prompt.y < MAX_ROWS ? prompt.y : MAX_ROWS;
    bool more = rows > most;
    rows = more ? most : rows;
    struct pw_rect box = {prompt.y - rows, prompt.x, rows, prompt.w};
    struct pw_style s = {PW_DEFAULT, PW_DEFAULT, PW_REVERSE};
    pw_draw_fill(c, box, s, ' ');
    for (int i = 0; i < l->n_choices && i / across < rows; i++)
        pw_draw_text(c, box, box.y + i / across, box.x + i % across * (widest + 2) + 1, s, l->choices[i]);
    if (more && rows > 0)
        pw_draw_text(c, box, box.y + rows - 1, box.x + box.w - 4, s, " ...");
}

/* Draws the marked bytes again, red and underlined; one cell behind the end if the error is there. */
static void draw_mark(const struct pw_line *l, struct pw_canvas *c, struct pw_rect r, int x)
{
    struct pw_style bad = pw_style_bad();
    size_t end = (size_t)rl_end, from = l->remark.from < end ? l->remark.from : end;
    size_t to = l->remark.to < end ? l->remark.to : end;
    char *part = strndup(rl_line_buffer + from, to - from);
    bad.attr |= PW_UNDERLINE;
    x += columns(rl_line_buffer, from);
    pw_draw_text(c, r, r.y, x, bad, part != NULL && *part != '\0' ? part : " ");
    free(part);
}

void pw_line_draw(struct pw_line *l, struct pw_canvas *c, struct pw_rect r)
{
    struct pw_style plain = {PW_DEFAULT, PW_DEFAULT, 0};
    struct pw_style dim = {PW_DEFAULT, PW_DEFAULT, PW_DIM};
    if (!l->open || r.h < 1 || r.w < 1)
        return;
    r.h = 1;
    const char *prompt =
        rl_display_prompt != NULL ? rl_display_prompt : ":"; /* another one while searching */
    int start = pw_text_cells(prompt);
    int cursor = start + columns(rl_line_buffer, (size_t)rl_point);
    int end = start + columns(rl_line_buffer, (size_t)rl_end);

    /* Scrolls as little as possible, with some text in view on the side that the cursor came from. */
    int margin = r.w / 4;
    if (cursor - l->left >= r.w)
        l->left = cursor - r.w + 1 + margin;
    if (cursor < l->left)
        l->left = cursor > margin ? cursor - margin : 0;
    if (end < r.w)
        l->left = 0;

    pw_draw_fill(c, r, plain, ' ');
    pw_draw_text(c, r, r.y, r.x - l->left, plain, prompt);
    pw_draw_text(c, r, r.y, r.x - l->left + start, plain, rl_line_buffer);
    if (l->remark.why != NULL)
        draw_mark(l, c, r, r.x - l->left + start);
    if (l->left > 0)
        pw_draw_text(c, r, r.y, r.x, dim, "<");
    if (end - l->left > r.w)
        pw_draw_text(c, r, r.y, r.x + r.w - 1, dim, ">");
    if (rl_point == rl_end && l->n_choices == 0) {
        struct pw_str hint = {0};
        const char *rest = ghost(l);
        int x = r.x - l->left + end;
        if (rest != NULL)
            x = pw_draw_text(c, r, r.y, x, dim, rest);
        if (l->note != NULL)
            pw_str_add(&hint, " %s", l->note);
        else if (rest == NULL && l->remark.hint != NULL)
            pw_str_add(&hint, " %s", l->remark.hint);
        else if (rest == NULL)
            pw_command_hint(l->commands, rl_line_buffer, &hint);
        else if (r.x + r.w - x >= 16)
            pw_str_add(&hint, " (Right takes it)");
        x += rl_end > 0 ? 1 : 0;
        pw_draw_cut(c, r, r.y, x, dim, pw_str_text(&hint), r.x + r.w - x);
        pw_str_fini(&hint);
    }
    c->cursor_y = r.y;
    c->cursor_x = r.x + cursor - l->left;
    if (l->n_choices > 0)
        draw_choices(l, c, r);
    else if (l->remark.why != NULL && r.y > 0) { /* above the line, because a formula often fills it */
        int rows = pw_text_rows(l->remark.why, r.w - 1);
        rows = rows < 2 || r.y < 2 ? 1 : 2;
        struct pw_rect above = {r.y - rows, r.x, rows, r.w};
        pw_draw_fill(c, above, plain, ' ');
        above.x++, above.w--;
        pw_draw_wrapped(c, above, above.y, pw_style_bad(), l->remark.why, rows);
    }
}
