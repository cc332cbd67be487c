/* findings_plot.c - a plot of a finding: its curves with bands, reference curves (theory) dotted below them,
 * and the value of every curve at the cursor.
 *
 * The plot widget needs integers along x. So points are on a fine grid between the axis' ends, which also
 * serves logarithmic axes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "ui/panes/findings.h"

#define GRID 1000000.0

/* Returns a point's grid position, never below `before`, so that positions ascend. */
static int64_t grid_at(const struct pw_block_axes *a, double x, int64_t before)
{
    double f = a->log_x ? log(x / a->x0) / log(a->x1 / a->x0) : (x - a->x0) / (a->x1 - a->x0);
    int64_t at = f >= 0 && f <= 1 ? (int64_t)(f * GRID + 0.5) : f > 1 ? (int64_t)GRID : 0;

    return at > before ? at : before;
}

struct chart {
    struct pw_plot p;
    struct pw_block_axes a;
    int legend; /* rows */
};

static void fit(struct chart *t, const struct pw_block_of *k, struct pw_rect r)
{
    *t = (struct chart){.legend = r.h >= 6};
    pw_block_axes(k, &t->a);
    t->p = (struct pw_plot){.box = {r.y + t->legend, r.x, r.h - t->legend, r.w},
                            .x1 = GRID,
                            .y0 = t->a.y0,
                            .y1 = t->a.y1,
                            .log = t->a.log_y,
                            .x_lo = t->a.x0,
                            .x_hi = t->a.x1,
                            .x_log = t->a.log_x};
}

/* Returns the sign before a curve's name; for a reference curve a dotted line. */
static const char *sign_of(const struct pw_ui *ui, const struct pw_block *b, int curve)
{
    return pw_block_is_reference(b, curve) ? "┄" : pw_arm_mark(ui, pw_block_color(curve));
}

static struct pw_style style_of(const struct pw_ui *ui, const struct pw_block *b, int curve)
{
    struct pw_style s =
        pw_block_is_reference(b, curve) ? pw_style_dim() : pw_style_arm(ui, pw_block_color(curve));

    s.attr |= curve == ui->findings.down ? PW_BOLD : 0;
    return s;
}

static void draw_legend(const struct pw_ui *ui, const struct pw_block_of *k, struct pw_canvas *c,
                        struct pw_rect r)
{
    int x = pw_draw_cut(c, r, r.y, r.x, pw_style_dim(), k->b->y, r.w / 2), end = r.x + r.w;

    for (int i = 0; i < k->b->cols; i++) {
        char text[PW_FINDING_LABEL + 8];
        snprintf(text, sizeof text, "%s %s", sign_of(ui, k->b, i), pw_finding_col_name(k->f, k->b, i));
        if (x + 2 + pw_text_cells(text) > end - (i + 1 < k->b->cols ? 2 : 0)) {
            pw_draw_cell(c, r, r.y, x + 1, pw_style_warn(), 0x2026);
            return;
        }
        x = pw_draw_text(c, r, r.y, x > r.x ? x + 2 : x, style_of(ui, k->b, i), text);
    }
}

/* A run of consecutive valid points of one curve, with the ends of the band if there is one. */
struct run {
    int64_t *x;
    float *y[3];
    int n;
};

static void flush(struct run *run, const struct pw_ui *ui, const struct chart *t, const struct pw_block *b,
                  struct pw_canvas *c, int curve)
{
    struct pw_points points[3];
    bool reference = pw_block_is_reference(b, curve);

    for (int i = 0; i < 3; i++)
        points[i] = (struct pw_points){.x = run->x, .y = run->y[i], .n = run->n};
    if (run->n > 0 && b->band && !reference)
        pw_plot_band(&t->p, ui, c, pw_block_color(curve), points, 3, PW_STROKE_LINE);
    else if (run->n > 0)
        pw_plot_series(&t->p, ui, c, reference ? 0 : pw_block_color(curve), points,
                       reference ? PW_STROKE_GREY : PW_STROKE_LINE);
    run->n = 0;
}

/* Draws one curve; a missing number is a gap. */
static void draw_curve(const struct pw_ui *ui, const struct pw_block_of *k, const struct chart *t,
                       struct pw_canvas *c, int curve)
{
    size_t n = (size_t)k->b->rows;
    struct run run = {.x = pw_alloc(n, sizeof *run.x)};
    int64_t at = 0;

    for (int i = 0; i < 3; i++)
        run.y[i] = pw_alloc(n, sizeof *run.y[i]);
    for (int row = 0; row < k->b->rows; row++) {
        double y = pw_finding_y_at(k->f, k->b, row, curve, 0);
        at = grid_at(&t->a, pw_finding_x_at(k->f, k->b, row), at);
        if (!isfinite(y)) {
            flush(&run, ui, t, k->b, c, curve);
            continue;
        }
        run.x[run.n] = at;
        for (int i = 0; i < 3; i++) {
            double end = pw_finding_y_at(k->f, k->b, row, curve, i);
            run.y[i][run.n] = (float)(isfinite(end) ? end : y);
        }
        run.n++;
    }
    flush(&run, ui, t, k->b, c, curve);
    free(run.x);
    for (int i = 0; i < 3; i++)
        free(run.y[i]);
}

static void draw_cursor(const struct pw_ui *ui, const struct pw_block_of *k, const struct chart *t,
                        struct pw_canvas *c)
{
    const struct pw_plot *p = &t->p;
    double y = pw_finding_y_at(k->f, k->b, ui->findings.across, ui->findings.down, 0);
    int x = pw_plot_column(p, (double)grid_at(&t->a, pw_finding_x_at(k->f, k->b, ui->findings.across), 0));

    for (int i = 0; x >= 0 && i < p->field.h; i++)
        if (c->cells[(p->field.y + i) * c->cols + x].cp == ' ')
            pw_draw_cell(c, p->field, p->field.y + i, x, pw_style_dim(), 0x250a);
    if (x >= 0 && isfinite(y))
        pw_draw_cell(c, p->field, pw_plot_row(p, y), x, pw_style_bold(), 0x25cf);
}

/* Draws reference curves first and the cursor's curve last, on top. */
static void draw_findings_plot(const struct pw_ui *ui, const struct pw_block_of *k, struct pw_canvas *c,
                               struct pw_rect r)
{
    struct chart t;

    fit(&t, k, r);
    if (t.legend)
        draw_legend(ui, k, c, r);
    if (!pw_plot_begin(&t.p, ui, c, k->b->x))
        return;
    for (int pass = 0; pass < 3; pass++)
        for (int i = 0; i < k->b->cols; i++) {
            bool here = i == ui->findings.down, theory = pw_block_is_reference(k->b, i);
            if (pass == (here ? 2 : theory ? 0 : 1))
                draw_curve(ui, k, &t, c, i);
        }
    draw_cursor(ui, k, &t, c);
}

static void add_value(const struct pw_block_of *k, int point, int curve, struct pw_str *out)
{
    double y = pw_finding_y_at(k->f, k->b, point, curve, 0);

    if (!isfinite(y)) {
        pw_str_add(out, " -");
        return;
    }
    pw_str_add(out, " %.4g", y);
    if (k->b->band && !pw_block_is_reference(k->b, curve))
        pw_str_add(out, " (%.4g..%.4g)", pw_finding_y_at(k->f, k->b, point, curve, 1),
                   pw_finding_y_at(k->f, k->b, point, curve, 2));
}

/* Reads out the cursor's curve first, then the others. */
static void read(const struct pw_ui *ui, const struct pw_block_of *k, struct pw_str *out)
{
    int point = ui->findings.across;

    pw_str_add(out, "%s %.5g ", k->b->x, pw_finding_x_at(k->f, k->b, point));
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < k->b->cols; i++) {
            if ((i == ui->findings.down) != (pass == 0))
                continue;
            pw_str_add(out, " %s %s", sign_of(ui, k->b, i), pw_finding_col_name(k->f, k->b, i));
            add_value(k, point, i, out);
            pw_str_add(out, " ");
        }
}

/* Finds the point nearest to a column. */
static bool plot_cell_at(const struct pw_ui *ui, const struct pw_block_of *k, struct pw_rect r, int y, int x,
                         int *down, int *across)
{
    struct chart t;
    int best = -1, off = 0;

    (void)down;
    fit(&t, k, r);
    if (!pw_plot_fit(&t.p, ui) || !pw_rect_has(t.p.field, y, x))
        return false;
    for (int i = 0; i < k->b->rows; i++) {
        int to = pw_plot_column(&t.p, (double)grid_at(&t.a, pw_finding_x_at(k->f, k->b, i), 0)) - x;
        if (best < 0 || abs(to) < off)
            best = i, off = abs(to);
    }
    *across = best;
    return best >= 0;
}

static void copy(const struct pw_block_of *k, struct pw_str *out)
{
    pw_str_add(out, "%s", k->b->x);
    for (int i = 0; i < k->b->cols; i++) {
        const char *name = pw_finding_col_name(k->f, k->b, i);
        pw_str_add(out, k->b->band ? "\t%s\t%s low\t%s high" : "\t%s", name, name, name);
    }
    for (int row = 0; row < k->b->rows; row++) {
        pw_str_add(out, "\n%.9g", pw_finding_x_at(k->f, k->b, row));
        for (int i = 0; i < k->b->cols; i++)
            for (int which = 0; which < (k->b->band ? 3 : 1); which++)
                pw_str_add(out, "\t%.9g", pw_finding_y_at(k->f, k->b, row, i, which));
    }
    pw_str_add(out, "\n");
}

const struct pw_fnd_kind pw_fnd_plot = {draw_findings_plot, read, plot_cell_at, copy};
