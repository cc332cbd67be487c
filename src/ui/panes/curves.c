/* curves.c - how training goes: one metric over steps, every arm in one plot.
 *
 * Arms share data and batches, so that curves differ by the encoding alone; a swap of an encoding is a dotted
 * line where it happened. Exact match has two curves an arm: trained lengths drawn through, longer ones
 * dotted. An arm of several replicates is the line of their median in the band between the least and the
 * greatest; n stands beside its number. */
#include <math.h>
#include <stdio.h>

#include "ui/plot.h"

enum { EXACT = PW_METRICS, CHOICES = PW_METRICS + 1 };

static const struct {
    const char *name;
    bool percent;
} metrics[CHOICES] = {
    [PW_M_LOSS] = {"loss, nats", false},  [PW_M_ACCURACY] = {"token accuracy", true},
    [PW_M_LR] = {"learning rate", false}, [PW_M_GRAD_NORM] = {"gradient norm", false},
    [EXACT] = {"exact match", true},
};

/* The order of the key m: what matters most first. */
static const int next_metric[CHOICES] = {
    [PW_M_LOSS] = EXACT,        [EXACT] = PW_M_ACCURACY, [PW_M_ACCURACY] = PW_M_GRAD_NORM,
    [PW_M_GRAD_NORM] = PW_M_LR, [PW_M_LR] = PW_M_LOSS,
};

static int metric_of(const struct pw_ui *ui)
{
    return ui->curves.metric >= 0 && ui->curves.metric < CHOICES ? ui->curves.metric : PW_M_LOSS;
}

static bool is_log(const struct pw_ui *ui)
{
    return ui->curves.log && !metrics[metric_of(ui)].percent;
}

/* One curve of an arm, of each of its replicates. */
struct curve {
    int arm, n; /* replicates */
    struct pw_points rep[PW_MAX_REPLICATES];
    bool dotted;
};

static struct curve curve_of(const struct pw_arm_view *a, int metric, bool beyond)
{
    struct curve k = {.arm = a->info.id, .n = a->info.replicates, .dotted = beyond};

    for (int r = 0; r < k.n; r++) {
        const struct pw_series *s = &a->rep[r].series;
        const struct pw_track *t = &a->rep[r].track;
        if (metric == EXACT)
            k.rep[r] = (struct pw_points){t->step, beyond ? t->beyond : t->in_range, t->n};
        else
            k.rep[r] = (struct pw_points){s->step, s->v[metric], s->n};
    }
    return k;
}

static int curves_of(const struct pw_ui *ui, struct curve *out)
{
    int n = 0, metric = metric_of(ui);

    for (int i = 0; i < PW_MAX_ARMS; i++) {
        const struct pw_arm_view *a = pw_find_arm(ui->snap, i + 1);
        if (!a)
            continue;
        if (metric == EXACT)
            out[n++] = curve_of(a, metric, true);
        out[n++] = curve_of(a, metric, false);
    }
    return n;
}

/* The last value of each replicate that is a number. */
static struct pw_spread last_values(const struct curve *k)
{
    float v[PW_MAX_REPLICATES];

    for (int r = 0; r < k->n; r++) {
        const struct pw_points *p = &k->rep[r];
        v[r] = NAN;
        for (int i = p->n - 1; i >= 0 && i >= p->n - 1000 && !isfinite(v[r]); i--)
            v[r] = p->y[i];
    }
    return pw_spread_of(v, k->n);
}

/* The axes' ends: all steps, and all values that can be shown. */
static bool find_range(const struct pw_ui *ui, struct pw_plot *p, const struct curve *k, int n)
{
    float lo = INFINITY, hi = -INFINITY;
    int64_t first = INT64_MAX, last = INT64_MIN;

    for (int i = 0; i < n; i++)
        for (int r = 0; r < k[i].n; r++) {
            const struct pw_points *v = &k[i].rep[r];
            if (v->n == 0)
                continue;
            first = v->x[0] < first ? v->x[0] : first;
            last = v->x[v->n - 1] > last ? v->x[v->n - 1] : last;
            pw_plot_extent(v->y, v->n, p->log, &lo, &hi);
        }
    if (first > last)
        return false;
    p->x0 = first <= last / 4 ? 0 : (double)first;
    p->x1 = (double)last;
    if (metrics[metric_of(ui)].percent) {
        p->y0 = 0, p->y1 = 1;
        return true;
    }
    if (lo > hi)
        lo = p->log ? 0.1f : 0, hi = 1;
    p->y0 = p->log ? lo : lo < 0 ? lo : 0;
    p->y1 = hi > p->y0 ? hi : p->y0 + 1;
    return true;
}

static void draw_mark(const struct pw_ui *ui, struct pw_canvas *c, const struct pw_plot *p, int arm,
                      int64_t step, const char *text)
{
    struct pw_style s = pw_style_arm(ui, arm);
    int x = pw_plot_column(p, (double)step);

    if (x < 0)
        return;
    for (int y = 0; y < p->field.h; y++)
        pw_draw_cell(c, p->field, p->field.y + y, x, s, 0x250a);
    pw_draw_text(c, p->field, p->field.y, x + 1, s, text);
}

/* Swaps of encodings, and where a forked arm left its parent. */
static void draw_marks(const struct pw_ui *ui, struct pw_canvas *c, const struct pw_plot *p)
{
    char text[24];

    for (int i = 0; i < PW_MAX_ARMS; i++) {
        const struct pw_arm_view *a = pw_find_arm(ui->snap, i + 1);
        for (int j = 0; a && j < a->n_marks; j++)
            if (a->info.parent == 0 || a->marks[j] != a->info.parent_step) /* else the fork says it */
                draw_mark(ui, c, p, i + 1, a->marks[j], "swap");
        if (a && a->info.parent > 0) {
            snprintf(text, sizeof text, "fork of %d", a->info.parent);
            draw_mark(ui, c, p, i + 1, a->info.parent_step, text);
        }
    }
}

/* ---- names at the right end, each beside its curve as far as there is room */

struct end_label {
    int arm, row;
    char text[48];
    char name[32]; /* where there is no room for more */
};

static void describe_end(const struct pw_ui *ui, struct end_label *l, const struct curve *k)
{
    struct pw_spread v = last_values(k);
    char value[24] = "", of[16] = "";

    if (k->n > 1)
        snprintf(of, sizeof of, " n=%d", v.n);
    if (v.n > 0)
        snprintf(value, sizeof value, metrics[metric_of(ui)].percent ? "%.0f%%%s" : "%.3g%s",
                 (double)(metrics[metric_of(ui)].percent ? v.median * 100 : v.median), of);
    const struct pw_ev_arm *info = &ui->snap->arms[k->arm - 1].info;
    snprintf(l->name, sizeof l->name, "%s%s%s", pw_arm_mark(ui, k->arm), info->name,
             info->swaps > 0 ? PW_SWAPPED : "");
    snprintf(l->text, sizeof l->text, "%s%d %s%s %s", pw_arm_mark(ui, k->arm), k->arm, info->name,
             info->swaps > 0 ? PW_SWAPPED : "", value);
}

static void draw_ends(const struct pw_ui *ui, struct pw_canvas *c, const struct pw_plot *p,
                      struct end_label *l, int n)
{
    int top = p->field.y, bottom = p->field.y + p->field.h - 1, x = p->field.x + p->field.w + 1;

    for (int i = 1; i < n; i++) /* by row, stable: few labels */
        for (int j = i; j > 0 && l[j - 1].row > l[j].row; j--) {
            struct end_label t = l[j];
            l[j] = l[j - 1], l[j - 1] = t;
        }
    for (int i = 0; i < n; i++) /* push down what overlaps, then up what fell out */
        if (i > 0 && l[i].row <= l[i - 1].row)
            l[i].row = l[i - 1].row + 1;
    for (int i = n - 1; i >= 0; i--) {
        int limit = i == n - 1 ? bottom : l[i + 1].row - 1;
        if (l[i].row > limit)
            l[i].row = limit;
    }
    for (int i = 0; i < n; i++) {
        struct pw_style s = pw_style_arm(ui, l[i].arm);
        if (l[i].arm == ui->snap->current)
            s.attr |= PW_BOLD;
        if (l[i].row >= top)
            pw_draw_text(c, p->box, l[i].row, x, s, l[i].text);
    }
}

/* Above the plot where it is too narrow for them beside it: with values if they fit, else the names. */
static void draw_legend(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r,
                        const struct end_label *l, int n)
{
    int x = r.x, width = -2;

    for (int i = 0; i < n; i++)
        width += pw_text_cells(l[i].text) + 2;
    for (int i = 0; i < n; i++) {
        struct pw_style s = pw_style_arm(ui, l[i].arm);
        if (l[i].arm == ui->snap->current)
            s.attr |= PW_BOLD;
        x = pw_draw_text(c, r, r.y, x, s, width <= r.w ? l[i].text : l[i].name) + (width <= r.w ? 2 : 1);
    }
}

static void draw_curve(const struct pw_ui *ui, struct pw_canvas *c, const struct pw_plot *p,
                       const struct curve *k, enum pw_stroke stroke)
{
    if (k->n > 1)
        pw_plot_band(p, ui, c, k->arm, k->rep, k->n, stroke);
    else
        pw_plot_series(p, ui, c, k->arm, k->rep[0].x, k->rep[0].y, k->rep[0].n, stroke);
}

/* The current arm last: it stays on top. */
static void draw_curves(const struct pw_ui *ui, struct pw_canvas *c, const struct pw_plot *p,
                        const struct curve *k, int n)
{
    bool smooth = !ui->curves.raw && metric_of(ui) != EXACT;

    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < n; i++)
            if ((k[i].arm == ui->snap->current) == pass)
                draw_curve(ui, c, p, &k[i],
                           k[i].dotted ? PW_STROKE_DOTTED
                           : smooth    ? PW_STROKE_SMOOTH
                                       : PW_STROKE_LINE);
}

static void draw(struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r)
{
    struct curve k[2 * PW_MAX_ARMS];
    struct end_label ends[PW_MAX_ARMS];
    int n = curves_of(ui, k), n_ends = 0, label_w = 0;
    struct pw_plot p = {.box = r, .log = is_log(ui), .percent = metrics[metric_of(ui)].percent};

    if (!find_range(ui, &p, k, n)) {
        static const char *const train[] = {"nothing trained yet", ":train 500", "or press Space",
                                            ":race none,alibi,t5  compares encodings", NULL};
        static const char *const evaluate[] = {"no evaluation yet", ":eval",
                                               "or train on: small ones come by themselves", NULL};
        pw_draw_invitation(c, r, metric_of(ui) == EXACT && n > 0 ? evaluate : train);
        return;
    }
    for (int i = 0; i < n; i++)
        if (!k[i].dotted && k[i].rep[0].n > 0) {
            ends[n_ends].arm = k[i].arm;
            describe_end(ui, &ends[n_ends], &k[i]);
            int w = pw_text_cells(ends[n_ends++].text);
            label_w = w > label_w ? w : label_w;
        }
    bool beside = r.w >= 2 * label_w + 20 && r.h >= n_ends + 2;
    if (beside) {
        p.box.w -= label_w + 1;
    } else if (r.h >= 5) {
        draw_legend(ui, c, r, ends, n_ends);
        p.box.y++, p.box.h--;
    }
    if (!pw_plot_begin(&p, ui, c, "step"))
        return;
    draw_marks(ui, c, &p);
    draw_curves(ui, c, &p, k, n);
    if (!beside)
        return;
    for (int i = 0, e = 0; i < n; i++)
        if (!k[i].dotted && k[i].rep[0].n > 0) {
            struct pw_spread v = last_values(&k[i]);
            ends[e++].row = pw_plot_row(&p, v.n > 0 ? (double)v.median : p.y0);
        }
    p.box = r;
    draw_ends(ui, c, &p, ends, n_ends);
}

static void status(const struct pw_ui *ui, struct pw_str *out)
{
    pw_str_add(out, "%s%s", metrics[metric_of(ui)].name, is_log(ui) ? ", log" : "");
    if (metric_of(ui) == EXACT)
        pw_str_add(out, "  dotted: beyond training");
}

static bool key(struct pw_ui *ui, int k, struct pw_str *line)
{
    (void)line;
    switch (k) {
    case 'm': ui->curves.metric = next_metric[metric_of(ui)]; return true;
    case 'y': ui->curves.log = !ui->curves.log; return true;
    case 's': ui->curves.raw = !ui->curves.raw; return true;
    default: return false;
    }
}

static const char *const keys[] = {
    "m", "next metric: loss, exact match, token accuracy, gradient norm, learning rate",
    "y", "linear or logarithmic axis",
    "s", "smooth line over every point, or every point alone",
    NULL};

const struct pw_pane pw_pane_curves = {
    .name = "curves",
    .title = "Curves",
    .hints = "m metric  y log  s smooth",
    .status = status,
    .draw = draw,
    .key = key,
    .keys = keys,
};
