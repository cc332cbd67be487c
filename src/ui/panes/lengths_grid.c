/* lengths_grid.c - exact match of the current arm over both numbers of a length that is a pair. Such pairs
 * are the digits of two numbers, or the number of clauses and the index of the requested one. A box encloses
 * the trained range.
 *
 * A curve over the larger of two lengths mixes different pairs: 7 by 7 digits and 7 by 1. Replicas are
 * summed. */
#include <math.h>
#include <stdio.h>

#include "ui/panes/lengths.h"

enum { LEFT = 4 };

static bool in_box(const struct pw_task_view *t, int k, int x)
{
    return t != NULL && x >= t->box_lo[k] && x <= t->box_hi[k];
}

static void clamp(int *x, int lo, int hi)
{
    *x = *x < lo ? lo : *x > hi ? hi : *x;
}

/* Draws the numbers next to the map; trained ones have their own colour. */
static void draw_axes(struct pw_canvas *c, struct pw_rect r, const struct pw_heat *m, const struct pw_grid *g,
                      const struct pw_task_view *t, int y, int x)
{
    int free_from = x, last = -1;

    for (int i = 0; i < m->data.cols; i += m->pool_c) {
        char text[16];
        int at = x + pw_heat_column(m, i), a = g->lo[0] + i;
        snprintf(text, sizeof text, "%d", a);
        at += m->sx > pw_text_cells(text) ? (m->sx - pw_text_cells(text)) / 2 : 0;
        if (at < free_from)
            continue;
        free_from =
            pw_draw_text(c, r, y - 1, at, in_box(t, 0, a) ? pw_style_ok() : pw_style_warn(), text) + 1;
    }
    for (int i = 0; i < m->data.rows; i += m->pool_r) {
        int row = pw_heat_half_row(m, i) / 2 + (m->sy > 2 ? (m->sy / 2 - 1) / 2 : 0), b = g->lo[1] + i;
        if (row > last)
            pw_draw_fmt(c, r, y + row, r.x, in_box(t, 1, b) ? pw_style_ok() : pw_style_warn(), "%3d", b);
        last = row > last ? row : last;
    }
}

/* Draws lines in the gaps after the trained numbers; with the axes they enclose the trained range. */
static void draw_box(struct pw_canvas *c, struct pw_rect r, const struct pw_heat *m, int y, int x)
{
    int right = m->gap_c > 0 ? pw_heat_column(m, m->split_col) - m->gap_c : m->w;
    int below = m->gap_r > 1 ? pw_heat_half_row(m, m->split_row) / 2 - 1 : m->h;

    for (int i = 0; m->gap_c > 0 && i < below; i++)
        pw_draw_cell(c, r, y + i, x + right, pw_style_ok(), 0x2503);
    for (int i = 0; m->gap_r > 1 && i < right; i++)
        pw_draw_cell(c, r, y + below, x + i, pw_style_ok(), 0x2501);
    if (m->gap_c > 0 && m->gap_r > 1)
        pw_draw_cell(c, r, y + below, x + right, pw_style_ok(), 0x251b);
}

static void draw_readout(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r,
                         const struct pw_arm_view *arm, const struct pw_grid *g, const struct pw_task_view *t)
{
    int a = ui->lengths.a, b = ui->lengths.b, n = g->samples[b][a];
    struct pw_str s = {0};

    pw_arm_short(ui, arm, &s);
    pw_str_add(&s, "  %d by %d, %s", a, b,
               in_box(t, 0, a) && in_box(t, 1, b) ? "trained" : "beyond training");
    if (n > 0) {
        double lo, hi;
        pw_eval_wilson(g->exact[b][a] <= n ? g->exact[b][a] : n, n, &lo, &hi);
        pw_str_add(&s, "  %d of %d exact, %.0f..%.0f%%  (95%%, samples only)", g->exact[b][a], n, 100 * lo,
                   100 * hi);
    } else {
        pw_str_add(&s, "  no samples");
    }
    if (g->cut)
        pw_str_add(&s, "  numbers above %d are not shown", PW_GRID_MOST);
    pw_draw_parts(c, r, 1, pw_style_plain(), &s);
    pw_str_fini(&s);
}

void pw_lengths_grid_settle(struct pw_ui *ui, const struct pw_lengths *v)
{
    const struct pw_arm_view *arm = pw_find_arm(ui->snap, ui->snap->current);
    struct pw_grid g;

    if (arm == NULL || v->range == NULL || !pw_grid_collect(&g, arm, v->task))
        return;
    clamp(&ui->lengths.a, g.lo[0], g.hi[0]);
    clamp(&ui->lengths.b, g.lo[1], g.hi[1]);
}

/* Fits the map and finds its place in r; false: it does not fit. */
static bool place(const struct pw_ui *ui, const struct pw_grid *g, const struct pw_task_view *t,
                  struct pw_rect r, struct pw_heat *m, int *y, int *x)
{
    int names = r.h >= 8;

    *m = (struct pw_heat){.data = pw_grid_matrix(g),
                          .split_row = t->box_hi[1] + 1 - g->lo[1],
                          .split_col = t->box_hi[0] + 1 - g->lo[0],
                          .cursor_row = ui->lengths.b - g->lo[1],
                          .cursor_col = ui->lengths.a - g->lo[0]};
    *y = r.y + names + 1, *x = r.x + LEFT;
    return pw_heat_fit(m, &ui->look, r.w - LEFT, r.h - names - 2);
}

void pw_lengths_grid(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r,
                     const struct pw_lengths *v)
{
    const struct pw_arm_view *arm = pw_find_arm(ui->snap, ui->snap->current);
    const struct pw_task_view *t = v->range;
    struct pw_grid g;

    if (arm == NULL || t == NULL || !pw_grid_collect(&g, arm, v->task)) {
        static const char *const lines[] = {"no evaluation by pairs yet", ":eval",
                                            "of the current arm: exact match over both numbers", NULL};
        pw_draw_missing(ui, c, r, lines);
        return;
    }
    struct pw_heat m;
    int y, x;
    if (r.h >= 8)
        pw_draw_fmt(c, r, r.y, r.x, pw_style_dim(), "across: %s  down: %s", t->axis[0], t->axis[1]);
    if (place(ui, &g, t, r, &m, &y, &x)) {
        draw_axes(c, r, &m, &g, t, y, x);
        pw_heat_draw(&m, &ui->look, c, r, y, x);
        draw_box(c, r, &m, y, x);
    }
    draw_readout(ui, c, r, arm, &g, t);
}

bool pw_lengths_grid_click(struct pw_ui *ui, const struct pw_lengths *v, struct pw_rect r, int y, int x)
{
    const struct pw_arm_view *arm = pw_find_arm(ui->snap, ui->snap->current);
    struct pw_heat m;
    struct pw_grid g;
    int top, left, row, col;

    if (arm == NULL || v->range == NULL || !pw_grid_collect(&g, arm, v->task) ||
        !place(ui, &g, v->range, r, &m, &top, &left) || !pw_heat_at(&m, y - top, x - left, &row, &col))
        return false;
    ui->lengths.a = g.lo[0] + col, ui->lengths.b = g.lo[1] + row;
    return true;
}

int pw_lengths_grid_sample(const struct pw_ui *ui, const struct pw_lengths *v, int *length)
{
    const struct pw_arm_view *arm = pw_find_arm(ui->snap, ui->snap->current);
    const struct pw_ev_eval *e = arm != NULL ? &pw_inspected_view(ui->snap, arm)->eval : NULL;

    for (int i = 0; e != NULL && i < e->n; i++) {
        const struct pw_eval_row *row = &e->rows[i];
        for (int k = 0; row->task == v->task && k < row->n_pairs && row->first_pair + k < e->n_pairs; k++) {
            const struct pw_eval_pair *p = &e->pairs[row->first_pair + k];
            if (p->a != ui->lengths.a || p->b != ui->lengths.b)
                continue;
            *length = row->length;
            for (int n = pw_eval_failing(e, row, 0); n >= 0; n = pw_eval_failing(e, row, n + 1))
                if (n % row->n_pairs == k) /* samples cycle through the pairs */
                    return n;
            return -1;
        }
    }
    return -1;
}

void pw_lengths_copy_grid(const struct pw_ui *ui, const struct pw_lengths *v, struct pw_str *out)
{
    const struct pw_arm_view *arm = pw_find_arm(ui->snap, ui->snap->current);
    struct pw_grid g;

    if (arm == NULL || v->range == NULL || !pw_grid_collect(&g, arm, v->task))
        return;
    pw_str_add(out, "%s", v->range->axis[1]);
    for (int a = g.lo[0]; a <= g.hi[0]; a++)
        pw_str_add(out, "\t%d", a);
    for (int b = g.lo[1]; b <= g.hi[1]; b++) {
        pw_str_add(out, "\n%d", b);
        for (int a = g.lo[0]; a <= g.hi[0]; a++)
            if (g.samples[b][a] > 0)
                pw_str_add(out, "\t%.4g", (double)g.exact[b][a] / g.samples[b][a]);
            else
                pw_str_add(out, "\t");
    }
    pw_str_add(out, "\n");
}
