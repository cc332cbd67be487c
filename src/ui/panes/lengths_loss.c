/* lengths_loss.c - running text: the loss by context length, and by position within the longest context.
 *
 * The y axis is in nats per token and starts at 0, so equal distances are equal factors of perplexity. A
 * curve that rises behind the line of the trained length shows an encoding that gives out. By position it
 * shows where: a model that only forgets stays level, and one that meets unseen positions rises at once. */
#include <limits.h>
#include <math.h>
#include <stdio.h>

#include "base/maths.h"
#include "ui/panes/lengths.h"

enum { LEFT = PW_LENGTHS_LEFT, PERPLEXITY_FROM = 16 };

/* Returns the largest finite loss of any arm by length or, with places, by position. */
static double most_of(const struct pw_ui *ui, const struct pw_lengths *v, bool places)
{
    double most = 0.1;

    for (int a = 1; a <= PW_MAX_ARMS; a++) {
        const struct pw_arm_view *arm = pw_find_arm(ui->snap, a);
        for (int r = 0; arm != NULL && r < arm->info.replicas; r++) {
            const struct pw_ev_eval *e = &arm->rep[r].eval;
            const struct pw_eval_row *longest = pw_lengths_longest(arm, r);
            for (int i = 0; i < e->n && !places; i++)
                if (e->rows[i].task == v->task && isfinite(e->rows[i].loss))
                    most = fmax(most, (double)e->rows[i].loss);
            for (int k = 0; places && longest != NULL && k < longest->n_losses; k++)
                if (isfinite(e->losses[longest->first_loss + k]))
                    most = fmax(most, (double)e->losses[longest->first_loss + k]);
        }
    }
    return 1.05 * most;
}

static struct pw_plot plot_of(const struct pw_ui *ui, struct pw_rect r, const struct pw_lengths *v)
{
    return (struct pw_plot){.box = {r.y, r.x, r.h - 1, r.w},
                            .x0 = v->lengths[0],
                            .x1 = v->lengths[v->n - 1],
                            .y1 = most_of(ui, v, false)};
}

/* Writes the names of the axes below the plot. */
static void name_axes(struct pw_canvas *c, struct pw_rect r, const struct pw_plot *p, const char *x_name)
{
    int y = p->box.y + p->box.h, at = r.x + r.w - pw_text_cells(x_name);

    int end = pw_draw_text(c, r, y, r.x, pw_style_dim(), "y: nats per token");
    if (end < at)
        pw_draw_text(c, r, y, at, pw_style_dim(), x_name);
}

/* Draws the line behind the trained lengths, and names what follows. */
static void draw_edge(struct pw_canvas *c, const struct pw_plot *p, const struct pw_lengths *v)
{
    int edge = v->range != NULL ? pw_plot_edge(p, c, v->range->train_hi) : -1;

    if (edge >= 0 && edge + 2 + pw_text_cells("beyond training") < p->field.x + p->field.w)
        pw_draw_text(c, p->field, p->field.y, edge + 1, pw_style_warn(), "beyond training");
}

/* Returns the points of a replica by length. */
static struct pw_points points_of(const struct pw_lengths *v, const struct pw_arm_view *arm, int r,
                                  int64_t *x, float *y)
{
    int n = 0;

    for (int i = 0; i < v->n; i++) {
        const struct pw_eval_row *row = pw_eval_find(&arm->rep[r].eval, v->task, v->lengths[i]);
        if (row != NULL && row->loss > 0)
            x[n] = v->lengths[i], y[n++] = row->loss;
    }
    return (struct pw_points){.x = x, .y = y, .n = n};
}

static void draw_arm_by_length(const struct pw_ui *ui, struct pw_canvas *c, const struct pw_plot *p,
                               const struct pw_lengths *v, const struct pw_arm_view *arm)
{
    struct pw_points rep[PW_MAX_REPLICAS];
    int64_t x[PW_MAX_REPLICAS][PW_MAX_LENGTHS];
    float y[PW_MAX_REPLICAS][PW_MAX_LENGTHS];

    for (int r = 0; r < arm->info.replicas; r++)
        rep[r] = points_of(v, arm, r, x[r], y[r]);
    if (arm->info.replicas > 1)
        pw_plot_band(p, ui, c, arm->info.id, rep, arm->info.replicas, PW_STROKE_LINE);
    else
        pw_plot_series(p, ui, c, arm->info.id, &rep[0], PW_STROKE_LINE);
}

static void draw_arm_by_place(const struct pw_ui *ui, struct pw_canvas *c, const struct pw_plot *p,
                              const struct pw_arm_view *arm)
{
    const struct pw_eval_row *row = pw_lengths_longest(arm, 0);
    static int64_t x[1 << 14];

    if (row == NULL)
        return;
    int n = row->n_losses < (int)(sizeof x / sizeof *x) ? row->n_losses : (int)(sizeof x / sizeof *x);
    for (int k = 0; k < n; k++)
        x[k] = k + 1;
    struct pw_points points = {.x = x, .y = arm->rep[0].eval.losses + row->first_loss, .n = n};
    pw_plot_series(p, ui, c, arm->info.id, &points, PW_STROKE_SMOOTH);
}

/* Draws the edge of the trained lengths and the arms, the current one last, over the others. */
static void draw_arms(const struct pw_ui *ui, struct pw_canvas *c, const struct pw_plot *p,
                      const struct pw_lengths *v, bool places)
{
    draw_edge(c, p, v);
    for (int pass = 0; pass < 2; pass++)
        for (int a = 1; a <= PW_MAX_ARMS; a++) {
            const struct pw_arm_view *arm = pw_find_arm(ui->snap, a);
            if (arm == NULL || (a == ui->snap->current) != pass)
                continue;
            if (places)
                draw_arm_by_place(ui, c, p, arm);
            else
                draw_arm_by_length(ui, c, p, v, arm);
        }
}

static void draw_plot(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r,
                      const struct pw_lengths *v)
{
    struct pw_plot p = plot_of(ui, r, v);

    if (!pw_plot_begin(&p, ui, c, ""))
        return;
    draw_arms(ui, c, &p, v, false);
    int cursor = pw_plot_column(&p, v->lengths[pw_lengths_cursor(ui, v)]);
    name_axes(c, r, &p, "context");
    if (cursor >= 0)
        pw_draw_cell(c, r, p.box.h >= 8 ? p.field.y + p.field.h : p.box.y + p.box.h, cursor, pw_style_bold(),
                     0x25b2);
}

/* ---- the table */

static void draw_cells(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r, int y, int shown, int w,
                       const struct pw_lengths *v, int length)
{
    int n = 0;

    for (int a = 1; a <= PW_MAX_ARMS && n < shown; a++) {
        const struct pw_arm_view *arm = pw_find_arm(ui->snap, a);
        if (arm == NULL)
            continue;
        struct pw_match m = pw_lengths_loss(arm, v->task, length);
        int x = r.x + LEFT + n++ * w;
        if (m.n == 0)
            pw_draw_text(c, r, y, x + 3, pw_style_dim(), "·");
        else if (w >= PERPLEXITY_FROM)
            pw_draw_fmt(c, r, y, x, pw_style_plain(), "%6.3f %8.2f", m.median, pw_exp(m.median));
        else
            pw_draw_fmt(c, r, y, x, pw_style_plain(), "%*.*f", w < 7 ? w - 1 : 6,
                        w < 6   ? 1
                        : w < 7 ? 2
                                : 3,
                        m.median);
    }
}

static void draw_readout(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r, int rows,
                         const struct pw_lengths *v)
{
    const struct pw_arm_view *a;
    const struct pw_eval_row *row = pw_lengths_row(ui, v, &a);
    int length = v->lengths[pw_lengths_cursor(ui, v)];
    struct pw_str s = {0};

    pw_str_add(&s, "context %d  ", length);
    if (a != NULL)
        pw_arm_short(ui, a, &s);
    if (row == NULL || !(row->loss > 0)) {
        pw_str_add(&s, "  not evaluated");
    } else {
        struct pw_match m = pw_lengths_loss(a, v->task, length);
        pw_str_add(&s, "  %.3f nats per token", m.median);
        if (a->info.replicas > 1)
            pw_str_add(&s, " (%.3f..%.3f), median of %d seeds%s", m.lo, m.hi, m.n, pw_batches_text(&a->info));
        pw_str_add(&s, "  perplexity %.2f", pw_exp(m.median));
        if (a->info.replicas == 1)
            pw_str_add(&s, "  95%% over windows: %.3f..%.3f", m.lo, m.hi);
        pw_str_add(&s, "  next token right %.1f%%", 100 * (double)row->tokens_right / (double)row->tokens);
        if (v->range != NULL && length > v->range->train_hi && a->info.step > 0)
            pw_str_add(&s, "  %.3g times the trained context", (double)length / v->range->train_hi);
    }
    pw_draw_parts(c, r, rows, pw_style_plain(), &s);
    pw_str_fini(&s);
}

/* Sets the rows of the table that is drawn into r. */
static void find_table(const struct pw_ui *ui, struct pw_rect r, int readout, const struct pw_lengths *v,
                       struct pw_lengths_areas *a)
{
    struct pw_rect rows = {r.y + 1, r.x, r.h - 1 - (r.h < 3 ? 0 : readout), r.w};

    pw_lengths_list(ui, pw_lengths_cursor(ui, v), v->n, rows, a);
}

static void draw_table(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r, int readout,
                       const struct pw_lengths *v)
{
    int shown, w = pw_lengths_columns(ui, r.w - LEFT, &shown);
    struct pw_lengths_areas a;

    find_table(ui, r, readout, v, &a);
    pw_lengths_head(ui, c, r, shown, w);
    for (int i = 0; i < a.table.h; i++) {
        int length = v->lengths[a.first + i], y = a.table.y + i;
        pw_lengths_label(c, r, y, length, pw_lengths_trained(v, length),
                         a.first + i == pw_lengths_cursor(ui, v));
        draw_cells(ui, c, r, y, shown, w, v, length);
    }
    if (readout > 0 && r.h >= 3)
        draw_readout(ui, c, r, readout, v);
}

/* ---- the pages */

/* Cuts the plot off the top of *r; h = 0: there is no room for it. */
static struct pw_rect cut_plot(struct pw_rect *r, int *readout, const struct pw_lengths *v)
{
    *readout = r->h >= 18 && r->w < 120 ? 2 : 1;
    int whole = v->n + 1 + *readout, table = whole < r->h * 55 / 100 ? whole : r->h * 55 / 100;
    struct pw_rect plot = {r->y, r->x, 0, r->w};

    if (r->w >= 40 && v->n > 1 && r->h >= 12) {
        plot.h = r->h - table;
        r->y += plot.h, r->h = table;
    }
    return plot;
}

void pw_lengths_loss_areas(const struct pw_ui *ui, struct pw_rect r, const struct pw_lengths *v,
                           struct pw_lengths_areas *a)
{
    int readout;
    struct pw_rect field = cut_plot(&r, &readout, v);
    struct pw_plot p = plot_of(ui, field, v);

    find_table(ui, r, readout, v, a);
    if (field.h > 0 && pw_plot_fit(&p, ui))
        a->plot = p.field;
}

void pw_lengths_loss_page(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r,
                          const struct pw_lengths *v)
{
    int readout;
    struct pw_rect plot = cut_plot(&r, &readout, v);

    if (plot.h > 0)
        draw_plot(ui, c, plot, v);
    draw_table(ui, c, r, readout, v);
}

void pw_lengths_places_page(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r,
                            const struct pw_lengths *v)
{
    struct pw_plot p = {.box = {r.y, r.x, r.h - 2, r.w}, .x0 = 1, .x1 = v->lengths[v->n - 1]};
    int shown, w = pw_lengths_columns(ui, r.w - LEFT, &shown);

    p.y1 = most_of(ui, v, true);
    if (r.h < 6 || !pw_plot_begin(&p, ui, c, ""))
        return;
    draw_arms(ui, c, &p, v, true);
    name_axes(c, r, &p, "position");
    pw_lengths_head(ui, c, (struct pw_rect){r.y + r.h - 1, r.x, 1, r.w}, shown, w);
}

/* ---- copies */

void pw_lengths_copy_loss(const struct pw_ui *ui, const struct pw_lengths *v, struct pw_str *out)
{
    pw_str_add(out, "arm\tpe\treplicate\tlength\tsamples\tloss\tperplexity\ttoken_accuracy\n");
    for (int a = 1; a <= PW_MAX_ARMS; a++) {
        const struct pw_arm_view *arm = pw_find_arm(ui->snap, a);
        for (int r = 0; arm != NULL && r < arm->info.replicas; r++)
            for (int i = 0; i < v->n; i++) {
                const struct pw_eval_row *row = pw_eval_find(&arm->rep[r].eval, v->task, v->lengths[i]);
                if (row == NULL || !(row->loss > 0))
                    continue;
                pw_str_add(out, "%d\t%s\t%d\t%d\t%d\t%.6g\t%.6g\t%.6g\n", a, arm->info.pe, r + 1, row->length,
                           row->samples, (double)row->loss, pw_exp((double)row->loss),
                           (double)row->tokens_right / (double)row->tokens);
            }
    }
}

/* Appends the mean loss at positions from..to - 1 of the longest context; nothing where an arm has none. */
static void add_places(const struct pw_arm_view *arm, int from, int to, struct pw_str *out)
{
    const struct pw_eval_row *row = pw_lengths_longest(arm, 0);
    double sum = 0;

    pw_str_add(out, "\t");
    if (row == NULL || to > row->n_losses)
        return;
    for (int k = from; k < to; k++)
        sum += (double)arm->rep[0].eval.losses[row->first_loss + k];
    pw_str_add(out, "%.4f", sum / (to - from));
}

void pw_lengths_add_places(const struct pw_ui *ui, const struct pw_lengths *v, int most, struct pw_str *out)
{
    int n = v->n > 0 ? v->lengths[v->n - 1] : 0, parts = n < most ? n : most;

    pw_str_add(out, "position");
    for (int a = 1; a <= PW_MAX_ARMS; a++)
        if (pw_find_arm(ui->snap, a) != NULL) {
            pw_str_add(out, "\t%d ", a);
            pw_encoding_name(out, pw_find_arm(ui->snap, a)->info.pe);
        }
    pw_str_add(out, "\n");
    for (int k = 0; k < parts; k++) {
        int from = (int)((int64_t)n * k / parts), to = (int)((int64_t)n * (k + 1) / parts);
        pw_str_add(out, to - from > 1 ? "%d..%d" : "%d", from + 1, to);
        for (int a = 1; a <= PW_MAX_ARMS; a++)
            if (pw_find_arm(ui->snap, a) != NULL)
                add_places(pw_find_arm(ui->snap, a), from, to, out);
        pw_str_add(out, "\n");
    }
}

void pw_lengths_copy_places(const struct pw_ui *ui, const struct pw_lengths *v, struct pw_str *out)
{
    pw_lengths_add_places(ui, v, INT_MAX, out);
}
