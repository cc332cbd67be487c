/* lengths.c - length generalisation: exact match by length, a curve an arm, trained lengths shaded.
 *
 * A band around one model is Wilson's 95 % interval (Wilson 1927) of its samples, which says nothing about
 * another initialisation; around several the least and the greatest of them, which does. */
#include "figure/panes/lengths.h"
#include "figure/axes.h"
#include "plot/palette.h"
#include <math.h>
#include <stdio.h>

#define MARKS 48 /* more lengths than that have no signs of their own */

/* The first row of an arm at this length; NULL: none. */
static const struct pw_eval_row *row_of(const struct pw_snapshot *s, const struct pw_lengths *v, int length)
{
    const struct pw_eval_row *row = NULL;

    for (int a = 1; a <= PW_MAX_ARMS && !row; a++) {
        const struct pw_arm_view *arm = pw_find_arm(s, a);
        row = arm ? pw_eval_find(&arm->rep[0].eval, v->task, length) : NULL;
    }
    return row;
}

void pw_figure_say_task(struct pw_figure *f, const struct pw_lengths *v)
{
    enum pw_judge judge = PW_JUDGE_EXACT;

    for (int a = 1; a <= PW_MAX_ARMS; a++) {
        const struct pw_arm_view *arm = pw_find_arm(f->snap, a);
        enum pw_judge its = arm ? pw_eval_judge(&arm->rep[0].eval, v->task) : PW_JUDGE_EXACT;
        judge = its > judge ? its : judge;
    }
    if (v->range)
        pw_str_add(&f->caption, "Task: %s, trained on lengths %d to %d.", v->range->name, v->range->train_lo,
                   v->range->train_hi);
    if (judge == PW_JUDGE_DECODED)
        pw_str_add(&f->caption, " Answers were decoded to their end.");
    if (judge == PW_JUDGE_TAUGHT)
        pw_str_add(&f->caption, " Teacher-forced: decoding may say otherwise.");
    pw_str_add(&f->caption, " ");
    pw_lengths_samples(&f->caption, f->snap, v->task);
    pw_str_add(&f->caption, " a length and model.");
}

static enum pw_code prepare(struct pw_figure *f, struct pw_err *err)
{
    struct pw_lengths v;
    bool one = false, several = false, own = false, dashed = false, seen = false;

    pw_lengths_of(&v, f->snap, pw_figure_task(f));
    if (v.n == 0)
        return pw_figure_lacks(f, err, "no evaluation; 'eval' makes one", "eval");
    pw_str_add(&f->title, "Exact match by length");
    pw_figure_say_task(f, &v);
    for (int a = 1; a <= PW_MAX_ARMS; a++) {
        const struct pw_arm_view *arm = pw_find_arm(f->snap, a);
        if (!arm || arm->rep[0].eval.n == 0)
            continue;
        one |= arm->info.replicates == 1, several |= arm->info.replicates > 1;
        own |= arm->info.own_batches;
        dashed |= !pw_lengths_learned(&f->snap->lab, arm, v.task);
    }
    if (several)
        pw_str_add(&f->caption,
                   " Lines of several initialisations (n)%s: their median; bands: from the least to the "
                   "greatest of them.",
                   own ? ", each with an order of training samples of its own" : "");
    if (one)
        pw_str_add(&f->caption,
                   " Lines of one initialisation (n = 1): bands are Wilson's 95%% interval over its "
                   "samples, and say nothing about another initialisation.");
    if (dashed)
        pw_str_add(&f->caption, " Dashed: below 99%% on trained lengths, so not to be relied on beyond.");
    for (int i = 0; i < v.n; i++) {
        const struct pw_eval_row *row = row_of(f->snap, &v, v.lengths[i]);
        seen |= row && row->seen;
    }
    if (seen)
        pw_str_add(&f->caption,
                   " At the shortest lengths there are so few inputs that training has met them.");
    f->box.h = f->box.w * 0.5;
    return PW_OK;
}

/* ---- drawing */

/* Of each length the curve's middle and the ends of its band; returns how many lengths the arm has. */
static int values_of(const struct pw_lengths *v, const struct pw_arm_view *arm, double *x, float *mid,
                     float *lo, float *hi)
{
    int n = 0;

    for (int i = 0; i < v->n; i++) {
        struct pw_spread s = pw_spread_at(arm, v->task, v->lengths[i]);
        const struct pw_eval_row *row = pw_eval_find(&arm->rep[0].eval, v->task, v->lengths[i]);
        if (s.n == 0)
            continue;
        x[n] = v->lengths[i], mid[n] = s.median, lo[n] = s.lo, hi[n] = s.hi;
        if (arm->info.replicates == 1 && row) {
            double least, most;
            pw_eval_wilson(row->exact, row->samples, &least, &most);
            lo[n] = (float)least, hi[n] = (float)most;
        }
        n++;
    }
    return n;
}

static void draw_arm(struct pw_figure *f, const struct pw_axes *a, const struct pw_lengths *v,
                     const struct pw_arm_view *arm, bool band)
{
    static double x[PW_MAX_LENGTHS];
    static float mid[PW_MAX_LENGTHS], lo[PW_MAX_LENGTHS], hi[PW_MAX_LENGTHS];
    uint32_t color = pw_svg_arm(arm->info.id);
    int n = values_of(v, arm, x, mid, lo, hi), inside = 0;

    if (band) {
        pw_axes_band(a, &f->svg, color, 0.18, x, lo, hi, n);
        return;
    }
    while (inside < n && (!v->range || x[inside] <= v->range->train_hi))
        inside++;
    if (inside == n || pw_lengths_learned(&f->snap->lab, arm, v->task))
        inside = n;
    struct pw_pen pen = {.color = color, .width = 1.4};
    pw_axes_line(a, &f->svg, pen, x, mid, inside);
    if (inside < n) {
        int from = inside > 0 ? inside - 1 : 0;
        pen.dash = "3 2";
        pw_axes_line(a, &f->svg, pen, x + from, mid + from, n - from);
    }
    for (int i = 0; i < n && n <= MARKS; i++)
        pw_svg_mark(&f->svg, arm->info.id, pw_axes_x(a, x[i]), pw_axes_y(a, (double)mid[i]), 2.2);
}

static void draw_trained(struct pw_figure *f, const struct pw_axes *a, const struct pw_lengths *v)
{
    static const struct pw_font small = {.size = 7, .color = 0x5a5a5a, .anchor = PW_MIDDLE};
    struct pw_box b = a->field;

    if (!v->range)
        return;
    double lo = v->range->train_lo - 0.5, hi = v->range->train_hi + 0.5;
    b.x = pw_axes_x(a, lo), b.w = pw_axes_x(a, hi) - b.x;
    if (b.w <= 0)
        return;
    pw_svg_rect(&f->svg, b, 0xdfe6ee, 0.6);
    if (b.w > pw_svg_width(&small, "trained") + 4)
        pw_svg_text(&f->svg, b.x + b.w / 2, b.y + b.h - 4, &small, "trained");
}

/* A line at the exact match of a guesser who knows the answers' format, where that is more than nothing. */
static void draw_chance(struct pw_figure *f, const struct pw_axes *a, const struct pw_lengths *v)
{
    static const struct pw_font small = {.size = 7, .color = 0x8e6900, .anchor = PW_END};
    double x[PW_MAX_LENGTHS];
    float y[PW_MAX_LENGTHS], most = 0;
    int n = 0;

    for (int i = 0; i < v->n; i++) {
        const struct pw_eval_row *row = row_of(f->snap, v, v->lengths[i]);
        if (!row || !(row->chance > 0))
            continue;
        x[n] = v->lengths[i], y[n++] = row->chance;
        most = row->chance > most ? row->chance : most;
    }
    if (most < 0.005f)
        return;
    pw_axes_line(a, &f->svg, (struct pw_pen){.color = 0x8e6900, .dash = "1 2"}, x, y, n);
    pw_svg_fmt(&f->svg, a->field.x + a->field.w - 3, pw_axes_y(a, (double)y[n - 1]) - 3, &small,
               "chance %.0f%%", 100 * (double)y[n - 1]);
}

/* "  n=3, own batches, beyond 98%" */
static void key_text(char *dst, size_t size, const struct pw_snapshot *s, const struct pw_arm_view *arm)
{
    struct pw_spread beyond = pw_spread_mean(&s->lab, arm, true);

    if (beyond.n > 0)
        snprintf(dst, size, "  n=%d%s, beyond %.0f%%", arm->info.replicates, pw_batches_text(&arm->info),
                 100 * (double)beyond.median);
    else
        snprintf(dst, size, "  n=%d%s", arm->info.replicates, pw_batches_text(&arm->info));
}

/* Under the axes, in as many rows as they take; returns the height. svg is left alone where not drawn. */
static double legend(struct pw_figure *f, double y, bool drawn)
{
    static const struct pw_font font = {.size = 8, .color = PW_INK};
    double x = f->box.x + 8, rows = 1;

    for (int a = 1; a <= PW_MAX_ARMS; a++) {
        const struct pw_arm_view *arm = pw_find_arm(f->snap, a);
        struct pw_str name = {0};
        char more[48];
        if (!arm || arm->rep[0].eval.n == 0)
            continue;
        key_text(more, sizeof more, f->snap, arm);
        pw_figure_arm(f, arm, &name);
        pw_str_add(&name, "%s", more);
        double w = 20 + pw_svg_width(&font, name.s) + 14;
        pw_str_fini(&name);
        if (x + w > f->box.x + f->box.w + 14 && x > f->box.x + 8)
            x = f->box.x + 8, y += 12, rows++;
        if (drawn)
            pw_figure_key(f, x, y, arm, more);
        x += w;
    }
    return rows * 12;
}

static void draw(struct pw_figure *f)
{
    struct pw_lengths v;
    double keys = legend(f, 0, false) + 4;

    pw_lengths_of(&v, f->snap, pw_figure_task(f));
    struct pw_axes a = {.box = {f->box.x, f->box.y, f->box.w, f->box.h - keys},
                        .x0 = v.lengths[0] - 0.5,
                        .x1 = v.lengths[v.n - 1] + 0.5,
                        .y1 = 1,
                        .percent = true,
                        .x_name = "length",
                        .y_name = "exact match"};
    pw_figure_axes(f, &a);
    draw_trained(f, &a, &v);
    draw_chance(f, &a, &v);
    for (int pass = 0; pass < 2; pass++)
        for (int id = 1; id <= PW_MAX_ARMS; id++) {
            const struct pw_arm_view *arm = pw_find_arm(f->snap, id);
            if (arm && arm->rep[0].eval.n > 0)
                draw_arm(f, &a, &v, arm, pass == 0);
        }
    legend(f, f->box.y + f->box.h - keys + 11, true);
}

static const struct pw_figure_page pages[] = {
    {"curve", 0, prepare, draw},
    {"grid", 0, pw_figure_grid_prepare, pw_figure_grid_draw},
    {"errors", 0, pw_figure_errors_prepare, pw_figure_errors_draw},
    {"tests", 0, pw_figure_tests_prepare, pw_figure_tests_draw},
    {"failing", 0, pw_figure_failing_prepare, pw_figure_failing_draw},
    {NULL, 0, NULL, NULL},
};

const struct pw_figure_pane pw_figure_lengths = {.name = "lengths", .pages = pages};
