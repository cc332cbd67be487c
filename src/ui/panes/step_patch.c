/* step_patch.c - a page of the step pane: the result of `patch`, which share of the clean logits each
 * activation restores in the corrupt prompt.
 *
 * The page is a table in colours. For the stream it has a row per position, with the tokens of both prompts
 * if they differ. It has a column per layer's input, and the last column is the final output. For heads it
 * has a row per layer. Cells contain numbers while they are wide enough, because 0.3 and 0.5 are different
 * results in almost the same orange. A table larger than the pane scrolls with its cursor. The ramp covers -1
 * to 1: 0 restores nothing, 1 everything. Beyond these ends only the numbers differ. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ui/plot.h"

#define WIDE 6 /* minimum columns of a cell with its number */

static bool usable(const struct pw_ev_patch *p)
{
    bool resid = p->kind == PW_PATCH_RESID;

    return p->recovery != NULL && p->rows > 0 && p->cols > 0 &&
           (!resid || (p->clean != NULL && p->corrupt != NULL && p->cols == p->T));
}

static bool is_resid(const struct pw_ev_patch *p)
{
    return p->kind == PW_PATCH_RESID;
}

/* Rows and columns as drawn. */
static int rows_of(const struct pw_ev_patch *p)
{
    return is_resid(p) ? p->cols : p->rows;
}

static int cols_of(const struct pw_ev_patch *p)
{
    return is_resid(p) ? p->rows : p->cols;
}

static float value(const struct pw_ev_patch *p, int row, int col)
{
    return p->recovery[is_resid(p) ? col * p->cols + row : row * p->cols + col];
}

static void place_cursor(struct pw_ui *ui)
{
    const struct pw_ev_patch *p = &ui->snap->patch;

    ui->step.patch.row = pw_within(ui->step.patch.row, rows_of(p));
    ui->step.patch.col = pw_within(ui->step.patch.col, cols_of(p));
}

/* Writes "2 1 for 4" or "5 >": a position and its token; if the tokens differ, the clean one before the
 * corrupt one. */
static void name_row(const struct pw_ev_patch *p, int row, char *out, size_t size)
{
    if (!is_resid(p))
        snprintf(out, size, "layer %d", row);
    else if (strcmp(p->clean[row], p->corrupt[row]) == 0)
        snprintf(out, size, "%d %s", row, pw_label(p->clean[row]));
    else
        snprintf(out, size, "%d %s for %s", row, pw_label(p->clean[row]), pw_label(p->corrupt[row]));
}

/* Column l of the stream is the input of layer l. */
static void name_col(const struct pw_ev_patch *p, int col, int w, char *out, size_t size)
{
    if (is_resid(p) && col == p->rows - 1)
        snprintf(out, size, w > 3 ? "out" : "o");
    else
        snprintf(out, size, w >= WIDE && !is_resid(p) ? ".%d" : "%d", col);
}

/* ---- the table */

struct table {
    struct pw_rect body; /* area of the cells */
    int label_w, cell_w;
    int top, left; /* first row and column shown */
    int rows, cols;
};

static struct table fit(const struct pw_ui *ui, struct pw_rect r, bool header)
{
    const struct pw_ev_patch *p = &ui->snap->patch;
    struct table t = {.label_w = is_resid(p) ? 10 : 4}; /* columns of "into layer", "head" */
    int cols = cols_of(p);

    for (int i = 0; i < rows_of(p); i++) {
        char name[2 * PW_LABEL + 32];
        name_row(p, i, name, sizeof name);
        int w = pw_text_cells(name);
        t.label_w = w > t.label_w ? w : t.label_w;
    }
    t.label_w = t.label_w < r.w / 2 ? t.label_w : r.w / 2;
    t.body = (struct pw_rect){r.y + header, r.x + t.label_w + 1, r.h - header, r.w - t.label_w - 1};
    t.cell_w = cols * WIDE <= t.body.w ? WIDE : cols * 3 <= t.body.w ? 3 : t.body.w >= 2 * WIDE ? WIDE : 2;
    t.rows = t.body.h < rows_of(p) ? t.body.h : rows_of(p);
    t.cols = t.body.w / t.cell_w < cols ? t.body.w / t.cell_w : cols;
    t.top = pw_scroll(ui->step.patch.row, rows_of(p), t.rows);
    t.left = pw_scroll(ui->step.patch.col, cols, t.cols);
    return t;
}

static void draw_cell(const struct pw_ui *ui, struct pw_canvas *c, const struct table *t, int row, int col)
{
    float v = value(&ui->snap->patch, row, col);
    int y = t->body.y + row - t->top, x = t->body.x + (col - t->left) * t->cell_w;
    bool here = row == ui->step.patch.row && col == ui->step.patch.col;
    bool shades = !ui->look.utf8 || ui->look.colors <= PW_COLORS_16;
    float at = v > 1 ? 1 : v > -1 ? v : -1;

    if (!isfinite(v) || t->cell_w < WIDE) {
        pw_heat_cell(&ui->look, c, t->body, y, x, t->cell_w - 1, v, -1, 1, true);
    } else {
        struct pw_style s = !shades            ? pw_style_value(at, true)
                            : fabsf(v) >= 0.5f ? pw_style_bold()
                                               : pw_style_plain();
        if (here)
            s.attr |= PW_BOLD;
        pw_draw_fmt(c, t->body, y, x, s, fabsf(v) < 99.5f ? "%5.2f" : "%5.0f",
                    (double)(fabsf(v) < 9999 ? v
                             : v < 0         ? -999
                                             : 9999));
    }
    if (here)
        pw_draw_cell(c, t->body, y, x + t->cell_w - 1, pw_style_bold(), '<');
}

static void draw_table(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r, bool header)
{
    const struct pw_ev_patch *p = &ui->snap->patch;
    struct table t = fit(ui, r, header);
    char name[2 * PW_LABEL + 32];

    if (header)
        pw_draw_cut(c, r, r.y, r.x, pw_style_dim(), is_resid(p) ? "into layer" : "head", t.label_w);
    for (int col = t.left; header && col < t.left + t.cols; col++) {
        struct pw_style s = col == ui->step.patch.col ? pw_style_bold() : pw_style_dim();
        name_col(p, col, t.cell_w, name, sizeof name);
        int w = pw_text_cells(name), x = t.body.x + (col - t.left) * t.cell_w;
        if (w < t.cell_w || col % 5 == 0)
            pw_draw_text(c, r, r.y, x + (t.cell_w - 1 > w ? t.cell_w - 1 - w : 0), s, name);
    }
    for (int row = t.top; row < t.top + t.rows; row++) {
        bool differs = is_resid(p) && strcmp(p->clean[row], p->corrupt[row]) != 0;
        struct pw_style s = row == ui->step.patch.row || differs ? pw_style_bold() : pw_style_plain();
        name_row(p, row, name, sizeof name);
        pw_draw_cut(c, r, t.body.y + row - t.top, r.x, s, name, t.label_w);
        for (int col = t.left; col < t.left + t.cols; col++)
            draw_cell(ui, c, &t, row, col);
    }
}

/* ---- in words */

static void draw_what(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r)
{
    const struct pw_ev_patch *p = &ui->snap->patch;
    struct pw_str s = {0};

    pw_str_add(&s, "%s over %s after position %d: logits %+.2f clean, %+.2f corrupt%s",
               p->clean_token[0] ? pw_label(p->clean_token) : "?",
               p->corrupt_token[0] ? pw_label(p->corrupt_token) : "?", p->T - 1, (double)p->m_clean,
               (double)p->m_corrupt, p->greedy ? " (the model's answers)" : "");
    pw_draw_cut(c, r, r.y, r.x, pw_style_dim(), s.s, r.w);
    pw_str_fini(&s);
}

/* Draws both prompts, which the table of heads does not contain. */
static void draw_prompts(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r)
{
    const struct pw_ev_patch *p = &ui->snap->patch;

    for (int i = 0; i < 2; i++) {
        int x = pw_draw_text(c, r, r.y + i, r.x, pw_style_dim(), i ? "corrupt" : "clean  ");
        for (int t = 0; t < p->T && x < r.x + r.w - 2; t++) {
            bool differs = strcmp(p->clean[t], p->corrupt[t]) != 0;
            int w = pw_text_cells(pw_label(p->clean[t])), other = pw_text_cells(pw_label(p->corrupt[t]));
            pw_draw_cut(c, r, r.y + i, x + 1, differs ? pw_style_bold() : pw_style_plain(),
                        pw_label(i ? p->corrupt[t] : p->clean[t]), r.x + r.w - x - 1);
            x += (w > other ? w : other) + 1;
        }
    }
}

static void draw_legend(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r, int y)
{
    int x = pw_draw_text(c, r, y, r.x, pw_style_dim(), "recovery  0 nothing "), w = 10;

    if (x + w + 4 > r.x + r.w)
        return;
    for (int i = 0; i < w; i++)
        pw_heat_cell(&ui->look, c, r, y, x + i, 1, (float)i / (float)(w - 1), -1, 1, true);
    x = pw_draw_text(c, r, y, x + w + 1, pw_style_dim(), "1 all");
    if (x + 24 <= r.x + r.w) {
        pw_draw_text(c, r, y, x, pw_style_dim(), "   -1 ");
        for (int i = 0; i < 4; i++)
            pw_heat_cell(&ui->look, c, r, y, x + 6 + i, 1, -1 + (float)i / 4, -1, 1, true);
        pw_draw_cut(c, r, y, x + 11, pw_style_dim(), "the other way", r.x + r.w - x - 11);
    }
}

static void draw_readout(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r)
{
    const struct pw_ev_patch *p = &ui->snap->patch;
    int row = ui->step.patch.row, col = ui->step.patch.col;
    float v = value(p, row, col);
    struct pw_str s = {0};

    if (isfinite(v))
        pw_str_add(&s, "%.0f %% back: ", 100 * (double)v);
    else
        pw_str_add(&s, "not a number: ");
    if (is_resid(p) && col == p->rows - 1)
        pw_str_add(&s, "stream out of the last layer at position %d", row);
    else if (is_resid(p))
        pw_str_add(&s, "stream into layer %d at position %d", col, row);
    else
        pw_str_add(&s, "head " PW_HEAD, row, col);
    if (is_resid(p) && strcmp(p->clean[row], p->corrupt[row]) != 0)
        pw_str_add(&s, " (\"%s\" for \"%s\")", pw_label(p->clean[row]), pw_label(p->corrupt[row]));
    else if (is_resid(p))
        pw_str_add(&s, " (\"%s\")", pw_label(p->clean[row]));
    else if (p->pos >= 0)
        pw_str_add(&s, " at position %d", p->pos);
    else
        pw_str_add(&s, " at all positions");
    pw_draw_cut(c, r, r.y + r.h - 1, r.x, pw_style_bold(), s.s, r.w);
    pw_str_fini(&s);
}

/* The parts of the page that fit, and the table's area. */
struct page {
    bool what, prompts, header, legend, readout;
    struct pw_rect table; /* including its header */
};

static struct page lay_out(const struct pw_ui *ui, struct pw_rect r)
{
    const struct pw_ev_patch *p = &ui->snap->patch;
    struct page g = {.what = r.h >= 5,
                     .prompts = r.h >= 8 && !is_resid(p) && p->clean != NULL && p->corrupt != NULL,
                     .header = r.h >= 3,
                     .legend = r.h >= 8,
                     .readout = r.h >= 2};
    int above = g.what + 2 * g.prompts;

    g.table = (struct pw_rect){r.y + above, r.x, r.h - above - g.legend - g.readout, r.w};
    return g;
}

bool pw_step_patch_shown(const struct pw_ui *ui)
{
    return ui->step.patch.asked || (ui->snap->has_patch && ui->snap->patch_seq != ui->step.patch.left);
}

void pw_step_patch_leave(struct pw_ui *ui)
{
    ui->step.patch.asked = false;
    ui->step.patch.left = ui->snap->patch_seq;
}

void pw_step_patch_settle(struct pw_ui *ui)
{
    if (ui->snap->has_patch && usable(&ui->snap->patch))
        place_cursor(ui);
}

void pw_step_patch_draw(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r)
{
    static const char *const none[] = {"nothing patched yet: find what carries the answer",
                                       ":patch resid from=\"PROMPT\"",
                                       "a prompt of as many tokens; e and E start it", NULL};

    if (!ui->snap->has_patch || !usable(&ui->snap->patch)) {
        pw_draw_missing(ui, c, r, none);
        return;
    }
    struct page g = lay_out(ui, r);
    if (g.what)
        draw_what(ui, c, r);
    if (g.prompts)
        draw_prompts(ui, c, (struct pw_rect){r.y + 1, r.x, 2, r.w});
    if (g.readout)
        draw_readout(ui, c, r);
    if (g.legend)
        draw_legend(ui, c, r, r.y + r.h - 2);
    draw_table(ui, c, g.table, g.header);
}

bool pw_step_patch_click(struct pw_ui *ui, int y, int x, struct pw_rect r)
{
    if (!ui->snap->has_patch || !usable(&ui->snap->patch))
        return false;
    place_cursor(ui);
    struct page g = lay_out(ui, r);
    struct table t = fit(ui, g.table, g.header);
    int row = y - t.body.y, col = x < t.body.x ? -1 : (x - t.body.x) / t.cell_w;
    if (row < 0 || row >= t.rows || col < 0 || col >= t.cols)
        return false;
    ui->step.patch.row = t.top + row;
    ui->step.patch.col = t.left + col;
    return true;
}

void pw_step_patch_copy(const struct pw_ui *ui, struct pw_str *out)
{
    const struct pw_ev_patch *p = &ui->snap->patch;
    char name[16];

    if (!ui->snap->has_patch || !usable(p))
        return;
    pw_str_add(out, is_resid(p) ? "position\tclean\tcorrupt" : "layer");
    for (int col = 0; col < cols_of(p); col++) {
        name_col(p, col, WIDE, name, sizeof name);
        pw_str_add(out, "\t%s", name);
    }
    for (int row = 0; row < rows_of(p); row++) {
        pw_str_add(out, "\n%d", row);
        if (is_resid(p))
            pw_str_add(out, "\t%s\t%s", pw_label(p->clean[row]), pw_label(p->corrupt[row]));
        for (int col = 0; col < cols_of(p); col++)
            pw_str_add(out, "\t%.6g", (double)value(p, row, col));
    }
    pw_str_add(out, "\n");
}

bool pw_step_patch_key(struct pw_ui *ui, int k)
{
    const struct pw_snapshot *s = ui->snap;

    /* One replaced token of the prompt makes a corrupt prompt. */
    if (s->has_prompt && (k == 'e' || k == 'E')) {
        snprintf(ui->ask, sizeof ui->ask, "patch %s from=\"%.200s", k == 'e' ? "resid" : "heads",
                 s->prompt.text);
        return true;
    }
    if (!s->has_patch || !usable(&s->patch))
        return false;
    place_cursor(ui);
    switch (k) {
    case 'j':
    case PW_KEY_DOWN: ui->step.patch.row++; break;
    case 'k':
    case PW_KEY_UP: ui->step.patch.row--; break;
    case 'l':
    case PW_KEY_RIGHT: ui->step.patch.col++; break;
    case 'h':
    case PW_KEY_LEFT: ui->step.patch.col--; break;
    case 'g':
    case PW_KEY_HOME: ui->step.patch.row = ui->step.patch.col = 0; break;
    case 'G':
    case PW_KEY_END: ui->step.patch.row = rows_of(&ui->snap->patch) - 1; break;
    default: return false;
    }
    place_cursor(ui);
    return true;
}
