/* search.c - searches the drawn cells, so every pane can be searched without code of its own. */
#include "ui/search.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static bool is_exact(const char *text)
{
    for (; *text; text++)
        if (isupper((unsigned char)*text))
            return true;
    return false;
}

const char *pw_search_in(const char *s, const char *text)
{
    if (*text == '\0')
        return NULL;
    return is_exact(text) ? strstr(s, text) : strcasestr(s, text);
}

static void report_matches(struct pw_ui *ui)
{
    if (ui->find.n == 0)
        snprintf(ui->message, sizeof ui->message, "'%s' is not in this pane", ui->find.text);
    else
        snprintf(ui->message, sizeof ui->message, "'%s': %d of %d; n next, N previous, Esc ends",
                 ui->find.text, ui->find.at + 1, ui->find.n);
    ui->message_is_error = false;
}

static void scroll(struct pw_ui *ui, int direction)
{
    const struct pw_pane *pane = pw_panes[ui->focus];
    if (pane->find == NULL) {
        ui->find.at += direction;
        ui->find.fresh = true; /* pw_search_settle counts the matches */
        return;
    }
    int n = pane->find(ui, ui->find.text, direction);
    ui->find.at = direction == 0 || n == 0 ? 0 : (ui->find.at + direction + n) % n;
    ui->find.n = n;
    report_matches(ui);
}

void pw_search_begin(struct pw_ui *ui, const char *text)
{
    snprintf(ui->find.text, sizeof ui->find.text, "%s", text);
    ui->find.at = 0;
    if (*text)
        scroll(ui, 0);
}

void pw_search_try(struct pw_ui *ui, const char *line)
{
    bool is_find = line != NULL && strncmp(line, "find ", 5) == 0;
    const char *text = is_find ? line + 5 + strspn(line + 5, " ") : "";

    if (is_find && !ui->find.trying) {
        ui->find.trying = true;
        ui->find.up = ui->log.up;
        pw_text_copy(ui->find.before, sizeof ui->find.before, ui->find.text);
    }
    if (is_find && strcmp(text, ui->find.text) != 0) {
        pw_search_begin(ui, text);
    } else if (!is_find && ui->find.trying) {
        ui->find.trying = ui->find.fresh = false;
        ui->log.up = ui->find.up;
        pw_text_copy(ui->find.text, sizeof ui->find.text, ui->find.before);
        ui->message[0] = '\0';
    }
}

void pw_search_next(struct pw_ui *ui, int direction)
{
    if (ui->find.text[0]) {
        scroll(ui, direction);
    } else {
        pw_ui_message(ui, "no search is active; / starts one");
    }
}

/* ---- drawn cells */

/* A row as text, and the column of each byte. */
struct row {
    struct pw_str text;
    int column[4096];
};

static void read_row(const struct pw_canvas *c, struct pw_rect r, int y, struct row *row)
{
    pw_str_clear(&row->text);
    for (int x = r.x; x < r.x + r.w; x++) {
        char bytes[4];
        uint32_t cp = c->cells[y * c->cols + x].cp;
        size_t n = cp ? pw_utf8_put(bytes, cp) : 0; /* 0: the right half of a wide character */
        if (row->text.len + n >= sizeof row->column / sizeof *row->column)
            break;
        for (size_t i = 0; i < n; i++)
            row->column[row->text.len + i] = x;
        pw_str_put(&row->text, bytes, n);
    }
}

/* Marks the matches of a row, the current one stronger (current < 0: none). Returns the number of matches. */
static int mark_row(struct pw_canvas *c, const struct row *row, int y, const char *text, int current)
{
    int n = 0;
    const char *s = pw_str_text(&row->text), *at = s;
    for (size_t len = strlen(text); (at = pw_search_in(at, text)) != NULL; at += len, n++) {
        int from = row->column[at - s], to = row->column[at - s + (ptrdiff_t)len - 1];
        for (int x = from; x <= to; x++) {
            struct pw_style *style = &c->cells[y * c->cols + x].style;
            style->attr ^= PW_REVERSE;
            if (n == current)
                style->attr |= PW_BOLD | PW_UNDERLINE;
        }
    }
    return n;
}

static _Thread_local struct row row; /* too large for the stack */

/* Returns the number of matches in the drawn cells. */
static int count(const struct pw_canvas *c, struct pw_rect r, const char *text)
{
    int n = 0;

    for (int y = r.y; y < r.y + r.h; y++) {
        read_row(c, r, y, &row);
        for (const char *s = pw_str_text(&row.text); (s = pw_search_in(s, text)) != NULL; s += strlen(text))
            n++;
    }
    pw_str_fini(&row.text);
    return n;
}

/* Returns which of n matches is the current one. */
static int current(const struct pw_ui *ui, int n)
{
    return n > 0 ? (ui->find.at % n + n) % n : 0;
}

void pw_search_settle(struct pw_ui *ui, struct pw_rect r)
{
    struct pw_canvas c;

    if (!ui->find.fresh || ui->help || ui->page.text.len > 0 || r.h <= 0 || r.w <= 0)
        return;
    ui->find.fresh = false;
    if (ui->find.text[0] == '\0')
        return;
    pw_canvas_init(&c);
    pw_canvas_resize(&c, ui->rows, ui->cols);
    pw_ui_draw_pane(ui, &c, r, ui->focus);
    ui->find.n = count(&c, r, ui->find.text);
    pw_canvas_fini(&c);
    ui->find.at = current(ui, ui->find.n);
    report_matches(ui);
}

void pw_search_draw(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r)
{
    bool drawn_only = pw_panes[ui->focus]->find == NULL;

    if (ui->find.text[0] == '\0')
        return;
    int at = drawn_only ? current(ui, count(c, r, ui->find.text)) : -1;
    for (int y = r.y, before = 0; y < r.y + r.h; y++) {
        read_row(c, r, y, &row);
        before += mark_row(c, &row, y, ui->find.text, drawn_only ? at - before : -1);
    }
    pw_str_fini(&row.text);
}
