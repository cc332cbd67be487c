/* lengths_table.c - the table of length generalisation: rows are lengths, columns are arms.
 *
 * If it fits, each value has its interval. For one model it is Wilson's, because 64 samples are few (58 of 64
 * is 81 to 96 %). For several replicas it is their range, because they differ more than samples do. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ui/panes/lengths.h"

enum { LEFT = PW_LENGTHS_LEFT, BAR_FROM = 9, INTERVAL_FROM = 14, WIDEST = 24, BEYOND = -1 };

/* Returns the columns of an arm: mark and name above, "100%" with interval or bar below. */
int pw_lengths_columns(const struct pw_ui *ui, int room, int *shown)
{
    int n = 0;

    for (int a = 1; a <= PW_MAX_ARMS; a++)
        n += pw_find_arm(ui->snap, a) != NULL;
    int w = n > 0 ? room / n : room;
    w = w > WIDEST ? WIDEST : w < 5 ? 5 : w;
    *shown = room / w < n ? room / w : n;
    return w;
}

/* Draws the value at a length; BEYOND: the mean over all lengths that were not trained. */
static void draw_cell(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r, int y, int x, int w,
                      const struct pw_arm_view *arm, int task, int length, bool grey)
{
    struct pw_match e = length == BEYOND ? pw_lengths_mean(&ui->snap->lab, arm, task, true)
                                         : pw_lengths_match(arm, task, length);
    struct pw_style s = grey ? pw_style_dim() : pw_style_plain(), bar = pw_style_arm(ui, arm->info.id);

    if (e.n == 0) {
        pw_draw_text(c, r, y, x + 3, pw_style_dim(), "·");
        return;
    }
    s.attr |= e.median >= (double)0.995f ? PW_BOLD : 0;
    bar.attr |= grey ? PW_DIM : 0;
    pw_draw_fmt(c, r, y, x, s, "%3d%%", (int)lrintf((float)e.median * 100));
    if (w < INTERVAL_FROM) {
        if (w >= BAR_FROM)
            pw_draw_bar(c, r, y, x + 5, bar, w - 6, e.median);
        return;
    }
    if (length != BEYOND || e.n > 1) /* lengths are not a sample, replicas are */
        pw_draw_fmt(c, r, y, x + 5, pw_style_dim(), "%.0f..%.0f", 100 * e.lo, 100 * e.hi);
    if (w >= INTERVAL_FROM + 4)
        pw_draw_bar(c, r, y, x + INTERVAL_FROM, bar, w - INTERVAL_FROM - 1, e.median);
}

static float right_tokens(const struct pw_eval_row *row)
{
    return row->tokens > 0 ? (float)((double)row->tokens_right / (double)row->tokens) : NAN;
}

static float all_tokens_right(const struct pw_eval_row *row)
{
    return row->judge == PW_JUDGE_DECODED ? pw_eval_taught(row) : NAN;
}

static void add_interval(const struct pw_arm_view *a, const struct pw_lengths *v, int length,
                         const struct pw_eval_row *row, struct pw_str *s)
{
    struct pw_match x = pw_lengths_match(a, v->task, length);

    if (x.n == 0)
        return;
    if (a->info.replicas > 1) {
        pw_str_add(s, "  %.0f%% (%.0f..%.0f), medians of %d seeds%s", 100 * x.median, 100 * x.lo, 100 * x.hi,
                   x.n, pw_batches_text(&a->info));
    } else {
        pw_str_add(s, "  %d of %d %s, %.0f..%.0f%%  (95%%, samples only)", row->exact, row->samples,
                   row->judge == PW_JUDGE_DECODED ? "right" : pw_judge_name(row->judge), 100 * x.lo,
                   100 * x.hi);
    }
}

/* Appends the row's other values. With several replicas these are medians like the exact match before them: a
 * single seed's value would contradict it. */
static void add_others(const struct pw_arm_view *a, const struct pw_lengths *v, int length,
                       const struct pw_eval_row *row, struct pw_str *s)
{
    struct pw_spread taught = pw_spread_by(a, v->task, length, all_tokens_right),
                     tokens = pw_spread_by(a, v->task, length, right_tokens),
                     forced = pw_spread_by(a, v->task, length, pw_eval_forced);

    if (taught.n > 0)
        pw_str_add(s, "  teacher-forced, every token %.0f%%", 100 * (double)taught.median);
    if (row->chance > 0)
        pw_str_add(s, "  chance %.0f%%", 100 * (double)row->chance);
    if (row->seen)
        pw_str_add(s, "  inputs seen");
    if (tokens.n > 0)
        pw_str_add(s, "  tokens %.1f%%", 100 * (double)tokens.median);
    if (forced.n > 0)
        pw_str_add(s, "  forced %.0f%%", 100 * (double)forced.median);
}

static void draw_readout(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r, int rows,
                         const struct pw_lengths *v)
{
    const struct pw_arm_view *a;
    const struct pw_eval_row *row = pw_lengths_row(ui, v, &a);
    int length = v->lengths[pw_lengths_cursor(ui, v)];
    struct pw_str s = {0};

    pw_str_add(&s, "length %d  ", length);
    if (a != NULL)
        pw_arm_short(ui, a, &s);
    if (row != NULL && row->samples > 0) {
        float before = pw_lengths_before(a, v->task, length);
        if (pw_arm_heads_changed(a))
            pw_str_add(&s, "  heads changed since, e evaluates: ");
        else if (isfinite(before))
            pw_str_add(&s, "  %s: %.0f%%, now:", pw_lengths_before_name(a), 100 * (double)before);
        add_interval(a, v, length, row, &s);
        add_others(a, v, length, row, &s);
    } else {
        pw_str_add(&s, "  not evaluated");
    }
    pw_draw_parts(c, r, rows, pw_style_plain(), &s);
    pw_str_fini(&s);
}

void pw_lengths_head(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r, int shown, int w)
{
    int n = 0;

    pw_draw_text(c, r, r.y, r.x, pw_style_dim(), "length");
    for (int a = 1; a <= PW_MAX_ARMS && n < shown; a++) {
        const struct pw_arm_view *arm = pw_find_arm(ui->snap, a);
        if (arm == NULL)
            continue;
        struct pw_style s = pw_style_arm(ui, a);
        struct pw_str head = {0};
        char id[16] = "";
        s.attr |= a == ui->snap->current ? PW_BOLD : 0;
        if (w >= BAR_FROM)
            snprintf(id, sizeof id, "%d ", a);
        else if (!ui->look.utf8)
            strcpy(id, " "); /* a letter as mark would read as part of the name */
        const char *swapped = arm->info.swaps > 0 ? PW_SWAPPED : "";
        pw_str_add(&head, "%s%s", pw_arm_mark(ui, a), id);
        pw_encoding_name(&head, arm->info.pe);
        pw_str_add(&head, "%s", swapped);
        bool typed = strcmp(arm->info.name, "expr") == 0; /* all formulas without a file share this name */
        if (pw_text_cells(head.s) > w - 1 && !typed) {    /* the bare name; the line below has it in full */
            pw_str_clear(&head);
            pw_str_add(&head, "%s%s%s%s", pw_arm_mark(ui, a), id, arm->info.name, swapped);
        }
        size_t end = head.len;
        if (arm->info.replicas > 1) {
            pw_str_add(&head, " n=%d", arm->info.replicas);
            if (pw_text_cells(head.s) > w - 1)
                head.s[end] = '\0'; /* the frame shows it too */
        }
        pw_draw_cut(c, r, r.y, r.x + LEFT + n++ * w, s, head.s, w - 1);
        pw_str_fini(&head);
    }
}

/* Draws a row's cells, one per arm. */
static void draw_row(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r, int y, int shown, int w,
                     const struct pw_lengths *v, int length)
{
    bool trained = length != BEYOND && pw_lengths_trained(v, length);
    int n = 0;

    for (int a = 1; a <= PW_MAX_ARMS && n < shown; a++) {
        const struct pw_arm_view *arm = pw_find_arm(ui->snap, a);
        if (arm != NULL)
            draw_cell(ui, c, r, y, r.x + LEFT + n++ * w, w, arm, v->task, length,
                      !trained && !pw_lengths_learned(&ui->snap->lab, arm, v->task));
    }
}

static bool has_mean(struct pw_rect r, const struct pw_lengths *v)
{
    return r.h >= 4 && v->range != NULL && v->lengths[v->n - 1] > v->range->train_hi;
}

void pw_lengths_table_areas(const struct pw_ui *ui, struct pw_rect r, int readout, const struct pw_lengths *v,
                            struct pw_lengths_areas *a)
{
    int head = 1 + has_mean(r, v);
    struct pw_rect rows = {r.y + head, r.x, r.h - head - (r.h < 3 ? 0 : readout), r.w};

    pw_lengths_list(ui, pw_lengths_cursor(ui, v), v->n, rows, a);
}

void pw_lengths_table(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r, int readout,
                      const struct pw_lengths *v)
{
    int shown, w = pw_lengths_columns(ui, r.w - LEFT, &shown);
    struct pw_lengths_areas a;

    pw_lengths_table_areas(ui, r, readout, v, &a);
    pw_lengths_head(ui, c, r, shown, w);
    if (has_mean(r, v)) { /* the most important number: all longer lengths */
        char label[16];
        snprintf(label, sizeof label, ">%d", v->range->train_hi);
        pw_draw_fmt(c, r, r.y + 1, r.x, pw_style_warn(), "%4s ┊", label);
        draw_row(ui, c, r, r.y + 1, shown, w, v, BEYOND);
    }
    for (int i = 0; i < a.table.h; i++) {
        int length = v->lengths[a.first + i], y = a.table.y + i;
        pw_lengths_label(c, r, y, length, pw_lengths_trained(v, length),
                         a.first + i == pw_lengths_cursor(ui, v));
        draw_row(ui, c, r, y, shown, w, v, length);
    }
    if (readout > 0 && r.h >= 3)
        draw_readout(ui, c, r, readout, v);
}

void pw_lengths_copy_table(const struct pw_ui *ui, const struct pw_lengths *v, struct pw_str *out)
{
    pw_str_add(
        out, "arm\tpe\treplicate\tlength\tsamples\texact\texact_low\texact_high\tforced\tearly\tlate\twrong");
    pw_str_add(out, v->judged ? "\tjudged\tteacher_forced\n" : "\n");
    for (int a = 1; a <= PW_MAX_ARMS; a++) {
        const struct pw_arm_view *arm = pw_find_arm(ui->snap, a);
        for (int r = 0; arm != NULL && r < arm->info.replicas; r++)
            for (int i = 0; i < v->n; i++) {
                const struct pw_eval_row *row = pw_eval_find(&arm->rep[r].eval, v->task, v->lengths[i]);
                double lo, hi;
                if (row == NULL || row->samples <= 0)
                    continue;
                pw_eval_wilson(row->exact, row->samples, &lo, &hi);
                pw_str_add(out, "%d\t%s\t%d\t%d\t%d\t%.9g\t%.9g\t%.9g\t%.9g\t%d\t%d\t%d", a, arm->info.pe,
                           r + 1, row->length, row->samples, (double)row->exact / row->samples, lo, hi,
                           (double)pw_eval_forced(row), row->errors[PW_ERROR_EARLY],
                           row->errors[PW_ERROR_LATE], row->errors[PW_ERROR_WRONG]);
                if (v->judged)
                    pw_str_add(out, "\t%s\t%.9g", pw_judge_name(row->judge), (double)pw_eval_taught(row));
                pw_str_add(out, "\n");
            }
    }
}
