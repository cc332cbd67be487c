/* curves.c - training curves: one metric of every arm in one plot.
 *
 * The curve of one model is a moving average, drawn over a band between each column's minimum and maximum.
 * The curve of several replicas is their median, drawn over the band of their minimum and maximum. */
#include "plot/curves.h"
#include "figure/axes.h"
#include "figure/figure_int.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define COLUMNS 240  /* of a curve; fewer if there are many curves, so that the file stays small */
#define ALL     2000 /* columns of all curves together */
#define FEW     40   /* a curve with at most this many points gets marks */
#define REACH   60   /* the moving average reaches 1/REACH of the width to either side */

/* ---- data */

#define MOST (2 * PW_FIGURE_LINES)

/* Collects the curves of all lines; `arm` of each is the index of its line, from 0. */
static int find(const struct pw_figure *f, int metric, struct pw_curve k[MOST], int64_t *first, int64_t *last)
{
    int n = 0;

    for (int i = 0; i < f->n_lines; i++) {
        int more = pw_curves_of(k + n, f->line[i].arm, metric, (enum pw_curves_axis)f->o->x);
        for (int j = 0; j < more; j++)
            k[n++].arm = i;
    }
    return n > 0 && pw_curves_extent(k, n, first, last) ? n : 0;
}

static bool has_points(const struct pw_figure *f, const struct pw_figure_line *l, int metric)
{
    struct pw_curve k[2];
    int64_t first, last;

    return pw_curves_extent(k, pw_curves_of(k, l->arm, metric, (enum pw_curves_axis)f->o->x), &first, &last);
}

static bool was_trained(const struct pw_figure *f, const struct pw_figure_line *l)
{
    return has_points(f, l, PW_M_LOSS);
}

static bool was_evaluated(const struct pw_figure *f, const struct pw_figure_line *l)
{
    return has_points(f, l, PW_METRIC_EXACT);
}

/* Names the tasks in the caption if the sessions' tasks differ. */
static void say_tasks(struct pw_figure *f)
{
    const struct pw_figure_line *first = &f->line[0];
    bool differ = false;

    for (int i = 0; i < f->n_lines; i++)
        differ |= f->line[i].snap->lab.n_tasks != first->snap->lab.n_tasks ||
                  strcmp(f->line[i].snap->lab.tasks[0].name, first->snap->lab.tasks[0].name) != 0;
    for (int i = 0; i < f->n_lines && differ; i++) {
        const struct pw_figure_line *l = &f->line[i];
        if (i > 0 && l->snap == l[-1].snap)
            continue;
        pw_str_add(&f->caption, "%s%s: %s", i == 0 ? " Tasks differ: " : ", ",
                   l->session != NULL ? l->session : "this lab", l->snap->lab.tasks[0].name);
        for (int t = 1; t < l->snap->lab.n_tasks; t++)
            pw_str_add(&f->caption, " + %s", l->snap->lab.tasks[t].name);
    }
    if (differ)
        pw_str_add(&f->caption, ".");
}

static bool is_log(const struct pw_figure *f, int metric)
{
    return f->o->log && !pw_metric_views[metric].percent;
}

/* ---- drawing */

/* Computes a curve's values on the given number of columns. */
static void shape_of(const struct pw_curve *k, const struct pw_axes *a, int columns, int reach, double *x,
                     float *lo, float *hi, float *mid)
{
    struct pw_summary c[COLUMNS];
    float mean[PW_MAX_REPLICAS][COLUMNS];
    bool broken[COLUMNS] = {false};
    int part[COLUMNS];

    for (int r = 0; r < k->n; r++) {
        pw_columns_find(c, part, columns, &k->rep[r], a->x0, a->x1);
        pw_columns_means(c, part, columns, reach, mean[r]);
        for (int i = 0; i < columns; i++)
            broken[i] |= c[i].broken && c[i].n == 0;
    }
    for (int i = 0; i < columns; i++) {
        float v[PW_MAX_REPLICAS];
        for (int r = 0; r < k->n; r++)
            v[r] = mean[r][i];
        struct pw_spread s = pw_spread_of(v, k->n);
        x[i] = a->x0 + (a->x1 - a->x0) * i / (columns - 1);
        mid[i] = s.median, lo[i] = s.lo, hi[i] = s.hi;
        if (k->n == 1 && c[i].n > 0)
            lo[i] = c[i].lo, hi[i] = c[i].hi;
        if (broken[i])
            mid[i] = lo[i] = hi[i] = INFINITY;
    }
}

static void draw_curve(struct pw_figure *f, const struct pw_axes *a, const struct pw_curve *k, int columns,
                       bool smooth, bool bands)
{
    double x[COLUMNS];
    float lo[COLUMNS], hi[COLUMNS], mid[COLUMNS];
    int place = f->line[k->arm].place;

    shape_of(k, a, columns, smooth ? columns / REACH : 0, x, lo, hi, mid);
    if (bands && (smooth || k->n > 1))
        pw_axes_band(a, &f->svg, pw_svg_arm(place), k->n > 1 ? 0.22 : 0.16, x, lo, hi, columns);
    if (!bands)
        pw_figure_curve(f, a, place, (struct pw_pen){.width = 1.3, .dash = k->dotted ? "3 2" : NULL}, x, mid,
                        columns);
}

/* Draws the arm's marks on the points if they are far enough apart. */
static void draw_points(struct pw_figure *f, const struct pw_axes *a, const struct pw_curve *k)
{
    const struct pw_points *p = &k->rep[0];

    for (int i = 0; i < p->n && p->n <= FEW; i++) {
        struct pw_spread s = pw_curves_at(k, p->x[i]);
        if (s.n > 0)
            pw_svg_mark(&f->svg, f->line[k->arm].place, pw_axes_x(a, (double)p->x[i]),
                        pw_axes_y(a, (double)s.median), 2);
    }
}

/* Draws marks for swaps of encodings, and for the steps at which arms were forked. Labels that would overlap
 * go into separate rows. */
static void draw_marks(struct pw_figure *f, const struct pw_axes *a)
{
    int row = 0;

    for (int i = 0; i < f->n_lines; i++) {
        const struct pw_figure_line *l = &f->line[i];
        const struct pw_arm_view *arm = l->arm;
        const char *of = l->session != NULL ? l->session : "";
        uint32_t color = pw_svg_arm(l->place);
        char text[96];
        for (int k = 0; k < arm->n_marks; k++) {
            double x = pw_curves_x(arm, (enum pw_curves_axis)f->o->x, arm->marks[k]);
            if (arm->info.parent > 0 && arm->marks[k] == arm->info.parent_step)
                continue; /* the fork has its own mark */
            snprintf(text, sizeof text, "%s%s%d swapped", of, l->session != NULL ? ": " : "", arm->info.id);
            pw_axes_mark(a, &f->svg, x, color, text, row++ % 6);
        }
        if (arm->info.parent > 0) {
            snprintf(text, sizeof text, "%s%s%d is a fork of %d", of, l->session != NULL ? ": " : "",
                     arm->info.id, arm->info.parent);
            pw_axes_mark(a, &f->svg, pw_curves_x(arm, (enum pw_curves_axis)f->o->x, arm->info.parent_step),
                         color, text, row++ % 6);
        }
    }
}

static void value_text(char *dst, size_t size, const struct pw_curve *k, bool percent)
{
    struct pw_spread v = pw_curves_at(k, INT64_MAX);
    char of[16] = "";

    if (k->n > 1)
        snprintf(of, sizeof of, " (n=%d)", v.n);
    if (v.n == 0)
        dst[0] = '\0';
    else if (percent)
        snprintf(dst, size, "  %.0f%%%s", 100 * (double)v.median, of);
    else
        snprintf(dst, size, "  %.3g%s", (double)v.median, of);
}

/* Draws one key per arm from y downwards, for exact match with a second line. Returns the width, and in *h
 * the height. Only measures if drawn is false. */
static double legend(struct pw_figure *f, const struct pw_curve *k, int n, double x, bool drawn, double *h)
{
    static const struct pw_font small = {.size = 7, .color = 0x5a5a5a}, font = {.size = 8, .color = PW_INK};
    bool percent = pw_metric_views[f->kind].percent;
    double y = f->box.y + 12, most = 0;

    for (int i = 0; i < n; i++) {
        char more[64], beyond[64] = "";
        if (k[i].dotted)
            continue;
        const struct pw_figure_line *l = &f->line[k[i].arm];
        struct pw_str name = {0};
        value_text(more, sizeof more, &k[i], percent);
        pw_figure_name(f, l, &name);
        pw_str_add(&name, "%s", more);
        most = fmax(most, 20 + pw_svg_width(&font, name.s));
        pw_str_fini(&name);
        if (drawn)
            pw_figure_key(f, x, y, l, more);
        if (i + 1 < n && k[i + 1].dotted)
            value_text(beyond, sizeof beyond, &k[i + 1], percent);
        if (beyond[0]) {
            y += 10;
            if (drawn)
                pw_svg_fmt(&f->svg, x + 20, y, &small, "%s%s",
                           f->kind == PW_METRIC_EXACT ? "beyond" : "held-out", beyond);
        }
        y += 13;
    }
    *h = y - f->box.y;
    return most;
}

static enum pw_code prepare(struct pw_figure *f, struct pw_err *err)
{
    int metric = f->kind, named = (int)strcspn(pw_metric_views[metric].title, ",");
    struct pw_curve k[MOST];
    const struct pw_metric_view *m = &pw_metric_views[metric];
    int64_t first, last;
    int n = find(f, metric, k, &first, &last), most = 1;

    if (n == 0)
        return metric == PW_METRIC_EXACT
                   ? pw_figure_lacks(f, err, "no evaluation; run 'eval' first", "eval")
                   : pw_figure_nothing(err, "nothing was trained; run 'train 500' first");
    for (int i = 0; i < n; i++)
        most = k[i].n > most ? k[i].n : most;
    pw_str_add(&f->title, "%c%.*s over training", m->title[0] - 'a' + 'A', named - 1, m->title + 1);
    pw_str_add(&f->caption, "Each arm's %.*s%s by %s.", named, m->title,
               is_log(f, metric) ? " (logarithmic)" : "",
               f->o->x == PW_AXIS_STEP    ? "optimiser step"
               : f->o->x == PW_AXIS_FLOPS ? "operations spent"
                                          : "seconds since the session began");
    pw_figure_caption_sessions(f);
    say_tasks(f);
    if (metric == PW_METRIC_EXACT)
        pw_str_add(&f->caption, " Solid: the mean over trained lengths; dashed: over longer ones.");
    for (int i = 0; i < n && metric == PW_M_LOSS; i++)
        if (k[i].dotted) {
            pw_str_add(&f->caption, " Solid: in training; dashed: on held-out text, over trained lengths.");
            break;
        }
    if (most > 1)
        pw_str_add(&f->caption,
                   " Lines: median of n initialisations%s; bands: from the least to the greatest of them.",
                   pw_figure_own_batches(f) ? ", each with an order of training samples of its own" : "");
    else if (metric != PW_METRIC_EXACT)
        pw_str_add(&f->caption,
                   " Lines: mean over a %dth of the width to either side; bands: the least and the "
                   "greatest value there. One initialisation (n = 1).",
                   REACH);
    if (most > 1 && metric != PW_METRIC_EXACT)
        pw_str_add(&f->caption, " Each is smoothed over a %dth of the width to either side.", REACH);
    double keys;
    legend(f, k, n, 0, false, &keys);
    f->box.h = fmax(f->box.w * 0.52, keys);
    f->least = fmax(f->least, keys);
    return PW_OK;
}

static void draw_curves(struct pw_figure *f)
{
    int metric = f->kind;
    struct pw_curve k[MOST];
    const struct pw_metric_view *m = &pw_metric_views[metric];
    const struct pw_axis_view *axis = &pw_axis_views[f->o->x];
    bool smooth = metric != PW_METRIC_EXACT;
    int64_t first, last;
    int n = find(f, metric, k, &first, &last), columns = ALL / (n > 0 ? n : 1);
    double high, keys = fmin(legend(f, k, n, 0, false, &high) + 8, f->box.w * 0.45);
    struct pw_axes a = {.box = {f->box.x, f->box.y, f->box.w - keys, f->box.h},
                        .x0 = first < last ? (double)first : 0, /* a single point is drawn at the right end */
                        .x1 = (double)last,
                        .log = is_log(f, metric),
                        .percent = m->percent,
                        .x_unit = axis->unit,
                        .x_name = f->o->x == PW_AXIS_STEP ? "optimiser step" : axis->name,
                        .y_name = m->title};

    columns = columns < COLUMNS ? columns : COLUMNS;
    pw_curves_range(k, n, a.percent, &a.log, &a.y0, &a.y1);
    pw_figure_axes(f, &a);
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < n; i++)
            draw_curve(f, &a, &k[i], columns, smooth && !k[i].dotted, pass == 0);
    for (int i = 0; i < n && !smooth; i++)
        draw_points(f, &a, &k[i]);
    draw_marks(f, &a);
    legend(f, k, n, a.box.x + a.box.w + 6, true, &high);
}

static const struct pw_figure_several trained = {
    .sessions = true, .has = was_trained, .lacks = "no training steps", .make = NULL};
static const struct pw_figure_several evaluated = {
    .sessions = true, .has = was_evaluated, .lacks = "no evaluation", .make = "eval"};

static const struct pw_figure_page pages[] = {
    {"loss", PW_M_LOSS, prepare, draw_curves, &trained},
    {"exact", PW_METRIC_EXACT, prepare, draw_curves, &evaluated},
    {"accuracy", PW_M_ACCURACY, prepare, draw_curves, &trained},
    {"grad_norm", PW_M_GRAD_NORM, prepare, draw_curves, &trained},
    {"lr", PW_M_LR, prepare, draw_curves, &trained},
    {NULL, 0, NULL, NULL, NULL},
};

const struct pw_figure_pane pw_figure_curves = {.name = "curves", .pages = pages};
