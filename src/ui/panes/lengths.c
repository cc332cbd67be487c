/* lengths.c - length generalisation: exact match by length, every arm, trained lengths and beyond.
 *
 * A table says the numbers; where there is room a plot above it shows the shape. What lies beyond the trained
 * lengths is marked in both, since that is the question. The read-out under the cursor gives Wilson's 95 %
 * interval (Wilson 1927), because 64 samples are few: 58 of 64 is 81 to 96 %. An arm of several replicates is
 * their median, in a band from the least to the greatest, and the read-out gives these: replicates differ by
 * more than samples do. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ui/plot.h"

#define MAX_LENGTHS 512

/* What is shown: one task's lengths, ascending, over all arms. */
struct view {
    int task, n;
    int lengths[MAX_LENGTHS];
    const struct pw_task_view *range; /* NULL: no such task in the lab */
};

static int by_value(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static bool has(const struct view *v, int length)
{
    for (int i = v->n - 1; i >= 0; i--)
        if (v->lengths[i] == length)
            return true;
    return false;
}

static void find_lengths(struct pw_ui *ui, struct view *v)
{
    const struct pw_ev_lab *lab = &ui->snap->lab;

    if (ui->lengths.task < 0 || ui->lengths.task >= lab->n_tasks)
        ui->lengths.task = 0;
    v->task = ui->lengths.task, v->n = 0;
    v->range = v->task < lab->n_tasks ? &lab->tasks[v->task] : NULL;
    for (int a = 0; a < PW_MAX_ARMS; a++) {
        const struct pw_arm_view *arm = pw_find_arm(ui->snap, a + 1);
        for (int i = 0; arm && i < arm->rep[0].eval.n && v->n < MAX_LENGTHS; i++)
            if (arm->rep[0].eval.rows[i].task == v->task && !has(v, arm->rep[0].eval.rows[i].length))
                v->lengths[v->n++] = arm->rep[0].eval.rows[i].length;
    }
    qsort(v->lengths, (size_t)v->n, sizeof *v->lengths, by_value);
}

static bool is_trained(const struct view *v, int length)
{
    return v->range && length >= v->range->train_lo && length <= v->range->train_hi;
}

/* ---- the plot: x = length, y = exact match */

/* Writes it beside the edge, in the first row where no curve passes. */
static void name_beyond(struct pw_canvas *c, struct pw_rect field, int x)
{
    static const char text[] = "beyond training";
    int w = pw_text_cells(text);

    for (int y = field.y; y < field.y + field.h && x + w < field.x + field.w; y++) {
        int free_cells = 0;
        while (free_cells <= w && c->cells[(size_t)y * (size_t)c->cols + x + free_cells].cp == ' ')
            free_cells++;
        if (free_cells > w) {
            pw_draw_text(c, field, y, x, pw_style_warn(), text);
            return;
        }
    }
}

static void draw_arm(const struct pw_ui *ui, struct pw_canvas *c, const struct pw_plot *p,
                     const struct view *v, const struct pw_arm_view *arm)
{
    struct pw_points rep[PW_MAX_REPLICATES];
    int64_t x[PW_MAX_REPLICATES][MAX_LENGTHS];
    float y[PW_MAX_REPLICATES][MAX_LENGTHS];

    for (int r = 0; r < arm->info.replicates; r++) {
        int n = 0;
        for (int i = 0; i < v->n; i++) {
            const struct pw_eval_row *row = pw_eval_find(&arm->rep[r].eval, v->task, v->lengths[i]);
            if (row && row->samples > 0)
                x[r][n] = v->lengths[i], y[r][n++] = (float)row->exact / (float)row->samples;
        }
        rep[r] = (struct pw_points){x[r], y[r], n};
    }
    if (arm->info.replicates > 1)
        pw_plot_band(p, ui, c, arm->info.id, rep, arm->info.replicates, PW_STROKE_LINE);
    else
        pw_plot_series(p, ui, c, arm->info.id, x[0], y[0], rep[0].n, PW_STROKE_LINE);
}

static void draw_plot(struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r, const struct view *v)
{
    struct pw_plot p = {
        .box = r, .x0 = v->lengths[0], .x1 = v->lengths[v->n - 1], .y0 = 0, .y1 = 1, .percent = true};

    if (!pw_plot_begin(&p, ui, c, "length"))
        return;
    int edge = v->range ? pw_plot_column(&p, v->range->train_hi + 0.5) : -1;
    if (edge >= 0) {
        for (int row = 0; row < p.field.h; row++)
            pw_draw_cell(c, p.field, p.field.y + row, edge, pw_style_warn(), 0x250a);
    }
    for (int pass = 0; pass < 2; pass++)
        for (int a = 1; a <= PW_MAX_ARMS; a++) {
            const struct pw_arm_view *arm = pw_find_arm(ui->snap, a);
            if (arm && (a == ui->snap->current) == pass)
                draw_arm(ui, c, &p, v, arm);
        }
    if (edge >= 0)
        name_beyond(c, p.field, edge + 1);
}

/* ---- the table: rows are lengths, columns arms */

/* Columns of an arm: mark and name above, "100%" and a bar below. */
static int arm_width(const struct pw_ui *ui, int room, int *shown)
{
    int n = 0;

    for (int a = 1; a <= PW_MAX_ARMS; a++)
        n += pw_find_arm(ui->snap, a) != NULL;
    int w = n > 0 ? room / n : room;
    w = w > 18 ? 18 : w < 5 ? 5 : w;
    *shown = room / w < n ? room / w : n;
    return w;
}

static void draw_cell(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r, int y, int x, int w,
                      int arm, float e, bool trained)
{
    struct pw_style s = trained || !(e < 0.5f) ? pw_style_plain() : pw_style_dim();

    if (!isfinite(e)) {
        pw_draw_text(c, r, y, x + 3, pw_style_dim(), "·");
        return;
    }
    if (e >= 0.995f)
        s.attr |= PW_BOLD;
    pw_draw_fmt(c, r, y, x, s, "%3d%%", (int)lrintf(e * 100));
    if (w >= 9)
        pw_draw_bar(c, r, y, x + 5, pw_style_arm(ui, arm), w - 6, (double)e);
}

/* "12 ┊": the length, and whether it was trained. */
static void draw_length(struct pw_canvas *c, struct pw_rect r, int y, int length, bool trained, bool cursor)
{
    struct pw_style s = trained ? pw_style_ok() : pw_style_warn();

    if (cursor)
        s.attr |= PW_REVERSE;
    pw_draw_fmt(c, r, y, r.x, s, "%4d", length);
    pw_draw_cell(c, r, y, r.x + 5, trained ? pw_style_ok() : pw_style_warn(), trained ? 0x2503 : 0x250a);
}

static void draw_readout(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r, int y,
                         const struct view *v)
{
    const struct pw_arm_view *a = pw_find_arm(ui->snap, ui->snap->current);
    int length = v->lengths[ui->lengths.cursor];
    const struct pw_eval_row *row = a ? pw_eval_find(&a->rep[0].eval, v->task, length) : NULL;
    struct pw_str s = {0};

    pw_str_add(&s, "length %d", length);
    if (a && a->info.replicates > 1) {
        struct pw_spread x = pw_spread_at(a, v->task, length);
        if (x.n > 0)
            pw_str_add(&s, "  %s%d %s  %.0f%% n=%d  %.0f..%.0f%%", pw_arm_mark(ui, a->info.id), a->info.id,
                       a->info.name, 100 * (double)x.median, x.n, 100 * (double)x.lo, 100 * (double)x.hi);
    } else if (row && row->samples > 0) {
        double lo, hi;
        pw_eval_wilson(row->exact, row->samples, &lo, &hi);
        pw_str_add(&s, "  %s%d %s  %d of %d exact, %.0f..%.0f%%", pw_arm_mark(ui, a->info.id), a->info.id,
                   a->info.name, row->exact, row->samples, 100 * lo, 100 * hi);
        if (row->tokens > 0)
            pw_str_add(&s, "  tokens %.1f%%", 100.0 * (double)row->tokens_right / (double)row->tokens);
        if (row->seen)
            pw_str_add(&s, "  inputs seen in training");
    }
    pw_draw_cut(c, r, y, r.x, pw_style_plain(), s.s, r.w);
    pw_str_fini(&s);
}

static void draw_table(struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r, const struct view *v)
{
    int shown, w = arm_width(ui, r.w - 7, &shown), n = 0;
    int readout = r.h >= 5, rows = r.h - 1 - readout;
    int cursor = ui->lengths.cursor;

    for (int a = 1; a <= PW_MAX_ARMS && n < shown; a++) {
        const struct pw_arm_view *arm = pw_find_arm(ui->snap, a);
        if (!arm)
            continue;
        struct pw_style s = pw_style_arm(ui, a);
        char head[40], id[16] = "";
        s.attr |= a == ui->snap->current ? PW_BOLD : 0;
        if (w >= 9)
            snprintf(id, sizeof id, "%d ", a);
        else if (!ui->look.utf8)
            strcpy(id, " "); /* a letter as mark would read as part of the name */
        snprintf(head, sizeof head, "%s%s%s%s", pw_arm_mark(ui, a), id, arm->info.name,
                 arm->info.swaps > 0 ? PW_SWAPPED : "");
        if (arm->info.replicates > 1) {
            size_t end = strlen(head);
            snprintf(head + end, sizeof head - end, " n=%d", arm->info.replicates);
            if (pw_text_cells(head) > w - 1)
                head[end] = '\0'; /* the frame says it too */
        }
        pw_draw_cut(c, r, r.y, r.x + 7 + n++ * w, s, head, w - 1);
    }
    pw_draw_text(c, r, r.y, r.x, pw_style_dim(), "length");
    int top = v->n <= rows || cursor < rows / 2 ? 0 : cursor - rows / 2;
    if (top > v->n - rows)
        top = v->n > rows ? v->n - rows : 0;
    for (int i = 0; i < rows && top + i < v->n; i++) {
        int length = v->lengths[top + i], y = r.y + 1 + i;
        bool trained = is_trained(v, length);
        draw_length(c, r, y, length, trained, top + i == cursor);
        n = 0;
        for (int a = 1; a <= PW_MAX_ARMS && n < shown; a++) {
            const struct pw_arm_view *arm = pw_find_arm(ui->snap, a);
            if (arm)
                draw_cell(ui, c, r, y, r.x + 7 + n++ * w, w, a, pw_spread_at(arm, v->task, length).median,
                          trained);
        }
    }
    if (readout)
        draw_readout(ui, c, r, r.y + r.h - 1, v);
}

static void draw(struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r)
{
    struct view v;

    find_lengths(ui, &v);
    if (v.n == 0) {
        static const char *const lines[] = {"no evaluation yet", ":eval", "or e here: exact match by length,",
                                            "trained and beyond", NULL};
        pw_draw_invitation(c, r, lines);
        return;
    }
    if (ui->lengths.cursor >= v.n)
        ui->lengths.cursor = v.n - 1;
    if (ui->lengths.cursor < 0)
        ui->lengths.cursor = 0;
    /* The shape matters more than the numbers: a table that can't show all lengths gives way to the plot. */
    bool all = v.n + 2 <= r.h;
    if (r.w >= 40 && v.n > 1 && (r.h >= 18 || (r.h >= 9 && !all))) {
        int table = r.h < 18 ? 3 : v.n + 2 < r.h * 55 / 100 ? v.n + 2 : r.h * 55 / 100;
        struct pw_rect plot = {r.y, r.x, r.h - table - 1, r.w};
        draw_plot(ui, c, plot, &v);
        r.y += plot.h + 1, r.h = table;
    }
    draw_table(ui, c, r, &v);
}

static void status(const struct pw_ui *ui, struct pw_str *out)
{
    const struct pw_ev_lab *lab = &ui->snap->lab;
    int i = ui->lengths.task >= 0 && ui->lengths.task < lab->n_tasks ? ui->lengths.task : 0;
    const struct pw_arm_view *a = pw_find_arm(ui->snap, ui->snap->current);

    if (lab->n_tasks == 0)
        return;
    pw_str_add(out, "%s, trained %d..%d", lab->tasks[i].name, lab->tasks[i].train_lo, lab->tasks[i].train_hi);
    if (a && a->info.replicates > 1 && a->rep[0].eval.n > 0)
        pw_str_add(out, ", n=%d", a->info.replicates);
    for (int k = 0; a && k < a->rep[0].eval.n; k++)
        if (a->rep[0].eval.rows[k].task == i) {
            pw_str_add(out, "  %d samples%s", a->rep[0].eval.rows[k].samples,
                       a->rep[0].eval.live ? ", live" : "");
            break;
        }
    if (a && a->rep[0].eval.n > 0)
        pw_str_add(out, "  step %lld", (long long)a->rep[0].eval_step);
}

static bool key(struct pw_ui *ui, int k, struct pw_str *line)
{
    switch (k) {
    case 'j':
    case PW_KEY_DOWN: ui->lengths.cursor++; return true;
    case 'k':
    case PW_KEY_UP: ui->lengths.cursor -= ui->lengths.cursor > 0; return true;
    case 'g':
    case PW_KEY_HOME: ui->lengths.cursor = 0; return true;
    case 'G':
    case PW_KEY_END: ui->lengths.cursor = MAX_LENGTHS; return true;
    case 't':
        ui->lengths.task = ui->snap->lab.n_tasks > 0 ? (ui->lengths.task + 1) % ui->snap->lab.n_tasks : 0;
        return true;
    case 'e': pw_str_add(line, "eval"); return true;
    default: return false;
    }
}

static const char *const keys[] = {"j k", "cursor: the length that is read out below",
                                   "g G", "shortest and longest",
                                   "e",   "evaluate all arms now",
                                   "t",   "next task of a mixture",
                                   NULL};

const struct pw_pane pw_pane_lengths = {
    .name = "lengths",
    .title = "Lengths",
    .hints = "jk length  e evaluate  t task",
    .status = status,
    .draw = draw,
    .key = key,
    .keys = keys,
};
