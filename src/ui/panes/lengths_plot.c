/* lengths_plot.c - length generalisation: x is the length, y is exact match, one curve per arm.
 *
 * The current arm has a band. With one replica it is the 95 % Wilson interval of its samples (Wilson 1927),
 * which says nothing about another initialisation. With several replicas it is their minimum and maximum,
 * which does. Below the axis is the frequency of each length in training. */
#include <math.h>
#include <stdio.h>

#include "ui/panes/lengths.h"

/* Writes text from column x on in the first row without a curve, from the top or the bottom. Returns false if
 * there is none. */
static bool name_free(struct pw_canvas *c, struct pw_rect field, int x, struct pw_style s, const char *text,
                      bool from_bottom)
{
    int w = pw_text_cells(text);

    for (int i = 0; i < field.h && x + w < field.x + field.w; i++) {
        int y = field.y + (from_bottom ? field.h - 1 - i : i), free_cells = 0;
        while (free_cells <= w && c->cells[(size_t)y * (size_t)c->cols + x + free_cells].cp == ' ')
            free_cells++;
        if (free_cells > w) {
            pw_draw_text(c, field, y, x, s, text);
            return true;
        }
    }
    return false;
}

/* Returns the points of replica r at lengths lo..hi. */
static struct pw_points points_of(const struct pw_lengths *v, const struct pw_arm_view *arm, int r, int lo,
                                  int hi, int64_t *x, float *y)
{
    int n = 0;

    for (int i = 0; i < v->n; i++) {
        const struct pw_eval_row *row = pw_eval_find(&arm->rep[r].eval, v->task, v->lengths[i]);
        if (row != NULL && row->samples > 0 && v->lengths[i] >= lo && v->lengths[i] <= hi)
            x[n] = v->lengths[i], y[n++] = (float)row->exact / (float)row->samples;
    }
    return (struct pw_points){.x = x, .y = y, .n = n};
}

/* Draws a curve in the band between the ends of its interval. */
static void draw_interval(const struct pw_ui *ui, struct pw_canvas *c, const struct pw_plot *p,
                          const struct pw_arm_view *arm, const struct pw_lengths *v, struct pw_points at,
                          enum pw_stroke stroke)
{
    float ends[2][PW_MAX_LENGTHS];

    for (int i = 0; i < at.n; i++) {
        struct pw_match m = pw_lengths_match(arm, v->task, (int)at.x[i]);
        ends[0][i] = (float)m.lo, ends[1][i] = (float)m.hi;
    }
    struct pw_points three[] = {at, at, at};
    three[0].y = ends[0], three[2].y = ends[1];
    pw_plot_band(p, ui, c, arm->info.id, three, 3, stroke);
}

static void draw_part(const struct pw_ui *ui, struct pw_canvas *c, const struct pw_plot *p,
                      const struct pw_lengths *v, const struct pw_arm_view *arm, int lo, int hi,
                      enum pw_stroke stroke)
{
    struct pw_points rep[PW_MAX_REPLICAS];
    int64_t x[PW_MAX_REPLICAS][PW_MAX_LENGTHS];
    float y[PW_MAX_REPLICAS][PW_MAX_LENGTHS];

    for (int r = 0; r < arm->info.replicas; r++)
        rep[r] = points_of(v, arm, r, lo, hi, x[r], y[r]);
    if (arm->info.replicas > 1)
        pw_plot_band(p, ui, c, arm->info.id, rep, arm->info.replicas, stroke);
    else if (arm->info.id == ui->snap->current)
        draw_interval(ui, c, p, arm, v, rep[0], stroke);
    else
        pw_plot_series(p, ui, c, arm->info.id, &rep[0], stroke);
}

/* Draws an arm; curves beyond the trained lengths are grey until the trained lengths are learned. */
static void draw_arm(const struct pw_ui *ui, struct pw_canvas *c, const struct pw_plot *p,
                     const struct pw_lengths *v, const struct pw_arm_view *arm)
{
    int first = v->lengths[0], last = v->lengths[v->n - 1],
        edge = v->range != NULL ? v->range->train_hi : last;

    if (pw_lengths_learned(&ui->snap->lab, arm, v->task)) {
        draw_part(ui, c, p, v, arm, first, last, PW_STROKE_LINE);
        return;
    }
    draw_part(ui, c, p, v, arm, edge, last, PW_STROKE_GREY);
    draw_part(ui, c, p, v, arm, first, edge, PW_STROKE_LINE);
}

/* Draws the curve from before heads were switched off or on, dim; its distance to the present curve is the
 * effect. */
static void draw_before(const struct pw_ui *ui, struct pw_canvas *c, const struct pw_plot *p,
                        const struct pw_lengths *v, const struct pw_arm_view *arm)
{
    int64_t x[PW_MAX_LENGTHS];
    float y[PW_MAX_LENGTHS];
    int n = 0;

    for (int i = 0; i < v->n; i++) {
        float e = pw_lengths_before(arm, v->task, v->lengths[i]);
        if (isfinite(e))
            x[n] = v->lengths[i], y[n++] = e;
    }
    pw_plot_series(p, ui, c, arm->info.id, &(struct pw_points){.x = x, .y = y, .n = n}, PW_STROKE_GREY);
}

/* Draws a line at the exact match of a guesser if it is visible, and returns the value. */
static float draw_chance(const struct pw_ui *ui, struct pw_canvas *c, const struct pw_plot *p,
                         const struct pw_lengths *v)
{
    float chance = 0;

    for (int i = 0; i < v->n; i++) {
        const struct pw_eval_row *row = NULL;
        for (int a = 1; a <= PW_MAX_ARMS && row == NULL; a++) {
            const struct pw_arm_view *arm = pw_find_arm(ui->snap, a);
            row = arm != NULL ? pw_eval_find(&arm->rep[0].eval, v->task, v->lengths[i]) : NULL;
        }
        if (row == NULL || !(row->chance > 0))
            continue;
        int from = pw_plot_column(p, v->lengths[i]);
        int to = pw_plot_column(p, v->lengths[i + 1 < v->n ? i + 1 : i]);
        for (int x = from; x >= 0 && x <= to; x++)
            pw_draw_cell(c, p->field, pw_plot_row(p, (double)row->chance), x, pw_style_warn(), 0x254c);
        chance = row->chance;
    }
    return chance;
}

/* Labels the line of chance, above or below it, as close as there is room. */
static void name_chance(struct pw_canvas *c, const struct pw_plot *p, float chance)
{
    struct pw_rect above = p->field, below = p->field;
    int y = pw_plot_row(p, (double)chance);
    char text[32];

    snprintf(text, sizeof text, "chance %.0f%%", 100 * (double)chance);
    above.h = y - above.y;
    below.y = y + 1, below.h -= y + 1 - p->field.y;
    if (!name_free(c, above, p->field.x + 1, pw_style_warn(), text, true))
        name_free(c, below, p->field.x + 1, pw_style_warn(), text, false);
}

/* Labels the band, and the line if there is room. */
static void name_band(struct pw_canvas *c, const struct pw_plot *p, bool several)
{
    const char *band = several ? "band: least..greatest seed" : "band: 95%, samples only";
    struct pw_style s = pw_style_dim();
    int x = p->field.x + 1;

    if (!several || !name_free(c, p->field, x, s, "line: median, band: least..greatest seed", true))
        name_free(c, p->field, x, s, band, true);
}

/* Draws the frequency of each length in training below the axis; the most frequent fills a cell. Also names
 * the axis, because the label of the longest length has priority in the axis' own row. */
static void draw_shares(struct pw_canvas *c, struct pw_rect r, const struct pw_plot *p,
                        const struct pw_lengths *v, int cursor)
{
    static const char note[] = "▇ trained: how often", name[] = "length";
    const struct pw_task_view *t = v->range;
    int y = p->box.y + p->box.h, end = p->field.x, name_at = r.x + r.w - pw_text_cells(name);
    float most = 0;

    for (int i = 0; t != NULL && i < t->n_share && i < 128; i++)
        most = t->share[i] > most ? t->share[i] : most;
    for (int x = p->field.x; t != NULL && x < p->field.x + p->field.w; x++) {
        double length = p->x0 + (p->x1 - p->x0) * (x - p->field.x + 0.5) / p->field.w;
        int i = (int)lrint(length) - t->train_lo;
        if (i < 0 || i > t->train_hi - t->train_lo)
            continue;
        int level = most > 0 && i < t->n_share && i < 128 ? (int)ceilf(7 * t->share[i] / most) : 0;
        if (t->n_share == 0)
            level = 7; /* trained; the frequencies are unknown */
        if (level > 0)
            pw_draw_cell(c, r, y, x, pw_style_ok(), 0x2580 + (uint32_t)(level < 7 ? level : 7));
        end = x + 1;
    }
    if (cursor >= end && cursor < end + 2 + pw_text_cells(note)) /* its mark is possibly in this row */
        end = cursor + 1;
    if (t != NULL && end + 2 + pw_text_cells(note) <= r.x + r.w)
        end = pw_draw_text(c, r, y, end + 1, pw_style_ok(), note);
    if (end < name_at && cursor < name_at)
        pw_draw_text(c, r, y, name_at, pw_style_dim(), name);
}

static struct pw_plot plot_of(struct pw_rect r, const struct pw_lengths *v)
{
    return (struct pw_plot){.box = {r.y, r.x, r.h - 1, r.w},
                            .x0 = v->lengths[0],
                            .x1 = v->lengths[v->n - 1],
                            .y0 = 0,
                            .y1 = 1,
                            .percent = true};
}

struct pw_rect pw_lengths_plot_field(const struct pw_ui *ui, struct pw_rect r, const struct pw_lengths *v)
{
    struct pw_plot p = plot_of(r, v);

    return pw_plot_fit(&p, ui) ? p.field : (struct pw_rect){0};
}

void pw_lengths_plot(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r,
                     const struct pw_lengths *v)
{
    const struct pw_arm_view *current = pw_find_arm(ui->snap, ui->snap->current);
    struct pw_plot p = plot_of(r, v);

    if (!pw_plot_begin(&p, ui, c, ""))
        return;
    int edge = v->range != NULL ? pw_plot_edge(&p, c, v->range->train_hi) : -1;
    float chance = draw_chance(ui, c, &p, v);
    for (int a = 1; a <= PW_MAX_ARMS; a++) {
        const struct pw_arm_view *arm = pw_find_arm(ui->snap, a);
        if (arm != NULL)
            draw_before(ui, c, &p, v, arm);
    }
    for (int pass = 0; pass < 2; pass++)
        for (int a = 1; a <= PW_MAX_ARMS; a++) {
            const struct pw_arm_view *arm = pw_find_arm(ui->snap, a);
            if (arm != NULL && (a == ui->snap->current) == pass)
                draw_arm(ui, c, &p, v, arm);
        }
    if (edge >= 0)
        name_free(c, p.field, edge + 1, pw_style_warn(), "beyond training", false);
    if (chance > 0)
        name_chance(c, &p, chance);
    if (current != NULL && current->rep[0].eval.n > 0)
        name_band(c, &p, current->info.replicas > 1);
    int cursor = pw_plot_column(&p, v->lengths[pw_lengths_cursor(ui, v)]);
    draw_shares(c, r, &p, v, cursor);
    if (cursor >= 0) /* on the axis; below the plot if there is no axis line */
        pw_draw_cell(c, r, p.box.h >= 8 ? p.field.y + p.field.h : p.box.y + p.box.h, cursor, pw_style_bold(),
                     0x25b2);
}
