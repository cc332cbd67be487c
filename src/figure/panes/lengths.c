/* lengths.c - length generalisation: exact match by length, one curve per arm, trained lengths shaded.
 *
 * A band around one model is the 95 % interval of its samples (Wilson 1927). It does not cover another
 * initialisation. A band around several models is their minimum and maximum, which does. */
#include "figure/panes/lengths.h"
#include "figure/axes.h"
#include "plot/palette.h"
#include <math.h>
#include <stdio.h>

#define MARKS 48 /* with more lengths, no length has its own mark */

/* Returns the row of the first arm that evaluated this length, or NULL. */
static const struct pw_eval_row *row_of(const struct pw_figure *f, int length)
{
    const struct pw_eval_row *row = NULL;

    for (int i = 0; i < f->n_lines && row == NULL; i++)
        row = pw_eval_find(&f->line[i].arm->rep[0].eval, pw_figure_task_of(f, &f->line[i]), length);
    return row;
}

static bool has_evaluation(const struct pw_figure *f, const struct pw_figure_line *l)
{
    (void)f;
    return l->arm->rep[0].eval.n > 0;
}

/* Collects the evaluated lengths of the lines of f. */
static void lengths_of(const struct pw_figure *f, struct pw_lengths *v)
{
    pw_lengths_begin(v, f->snap, pw_figure_task(f));
    for (int i = 0; i < f->n_lines; i++)
        pw_lengths_add(v, f->line[i].arm, pw_figure_task_of(f, &f->line[i]));
}

enum pw_code pw_figure_one_task(const struct pw_figure *f, struct pw_err *err)
{
    for (int i = 0; i < f->n_lines; i++) {
        const struct pw_figure_line *l = &f->line[i];
        if (pw_figure_task_of(f, l) < 0 && l->snap->lab.n_tasks > 0)
            return pw_fail(err, PW_EUSER,
                           "export figure: session '%s' is of task %s, and %s of task %s: a figure of "
                           "lengths is of one task",
                           l->session, l->snap->lab.tasks[0].name,
                           f->line[0].session != NULL ? f->line[0].session : "the lab",
                           f->snap->lab.tasks[pw_figure_task(f)].name);
    }
    return PW_OK;
}

/* Returns the task of the line's own lab. */
static const struct pw_task_view *range_of(const struct pw_figure *f, const struct pw_figure_line *l)
{
    int task = pw_figure_task_of(f, l);

    return task >= 0 && task < l->snap->lab.n_tasks ? &l->snap->lab.tasks[task] : NULL;
}

static bool same_range(const struct pw_task_view *a, const struct pw_task_view *b)
{
    return a != NULL && b != NULL && a->train_lo == b->train_lo && a->train_hi == b->train_hi;
}

/* Returns true if line i is the first one with its trained range. */
static bool is_first_range(const struct pw_figure *f, int i)
{
    int k = 0;

    while (k < i && !same_range(range_of(f, &f->line[k]), range_of(f, &f->line[i])))
        k++;
    return k == i && range_of(f, &f->line[i]) != NULL;
}

/* Returns the number of different trained ranges. */
static int ranges(const struct pw_figure *f)
{
    int n = 0;

    for (int i = 0; i < f->n_lines; i++)
        n += is_first_range(f, i);
    return n;
}

/* Appends the sessions with the trained range of line i: "A, B". */
static void name_range(const struct pw_figure *f, int i, struct pw_str *out)
{
    const struct pw_snapshot *last = NULL;
    size_t before = out->len;

    for (int k = i; k < f->n_lines; k++) {
        const struct pw_figure_line *l = &f->line[k];
        if (l->snap != last && same_range(range_of(f, l), range_of(f, &f->line[i])))
            pw_str_add(out, "%s%s", out->len > before ? ", " : "",
                       l->session != NULL ? l->session : "this lab");
        last = l->snap;
    }
}

static void say_ranges(struct pw_figure *f)
{
    for (int i = 0; i < f->n_lines; i++) {
        if (!is_first_range(f, i))
            continue;
        const struct pw_task_view *t = range_of(f, &f->line[i]);
        if (i == 0)
            pw_str_add(&f->caption, "Task: %s", t->name);
        pw_str_add(&f->caption, i == 0 ? ", trained on lengths %d to %d" : "; %d to %d", t->train_lo,
                   t->train_hi);
        if (ranges(f) > 1) {
            pw_str_add(&f->caption, " (");
            name_range(f, i, &f->caption);
            pw_str_add(&f->caption, ")");
        }
    }
    pw_str_add(&f->caption, ".");
}

/* Appends the samples per length: of arms by their numbers, of sessions by their names. */
static void say_samples(struct pw_figure *f, int task)
{
    struct pw_lengths_arm list[PW_FIGURE_LINES];
    struct pw_str names[PW_FIGURE_LINES] = {{0}};

    if (f->n_lines == 0)
        pw_lengths_samples(&f->caption, f->snap, task);
    for (int i = 0; i < f->n_lines; i++) {
        if (f->recorded)
            pw_figure_name(f, &f->line[i], &names[i]);
        else
            pw_str_add(&names[i], "%d", f->line[i].arm->info.id);
        list[i] = (struct pw_lengths_arm){f->line[i].arm, pw_figure_task_of(f, &f->line[i]), names[i].s};
    }
    pw_lengths_samples_of(&f->caption, list, f->n_lines, f->recorded ? NULL : "arm");
    for (int i = 0; i < f->n_lines; i++)
        pw_str_fini(&names[i]);
}

void pw_figure_caption_task(struct pw_figure *f, const struct pw_lengths *v)
{
    enum pw_judge judge = PW_JUDGE_EXACT;

    for (int id = 1; id <= PW_MAX_ARMS && f->n_lines == 0; id++) {
        const struct pw_arm_view *arm = pw_find_arm(f->snap, id);
        enum pw_judge its = arm != NULL ? pw_eval_judge(&arm->rep[0].eval, v->task) : PW_JUDGE_EXACT;
        judge = its > judge ? its : judge;
    }
    for (int i = 0; i < f->n_lines; i++) {
        enum pw_judge its = pw_eval_judge(&f->line[i].arm->rep[0].eval, pw_figure_task_of(f, &f->line[i]));
        judge = its > judge ? its : judge;
    }
    if (f->n_lines > 0)
        say_ranges(f);
    else if (v->range != NULL)
        pw_str_add(&f->caption, "Task: %s, trained on lengths %d to %d.", v->range->name, v->range->train_lo,
                   v->range->train_hi);
    pw_figure_caption_sessions(f);
    if (judge == PW_JUDGE_DECODED)
        pw_str_add(&f->caption, " Answers were decoded to their end.");
    if (judge == PW_JUDGE_TAUGHT)
        pw_str_add(&f->caption, " Teacher-forced: decoding may give other results.");
    pw_str_add(&f->caption, " ");
    say_samples(f, v->task);
    pw_str_add(&f->caption, " a length and model.");
}

static bool is_learned(const struct pw_figure *f, const struct pw_figure_line *l)
{
    return pw_lengths_learned(&l->snap->lab, l->arm, pw_figure_task_of(f, l));
}

/* Writes the text after an arm's name in the legend: "  n=3, own batches, beyond 98%". */
static void key_text(const struct pw_figure *f, const struct pw_figure_line *l, char *dst, size_t size)
{
    struct pw_match beyond = pw_lengths_mean(&l->snap->lab, l->arm, pw_figure_task_of(f, l), true);

    if (beyond.n > 0)
        snprintf(dst, size, "  n=%d%s, beyond %.0f%%", l->arm->info.replicas, pw_batches_text(&l->arm->info),
                 100 * beyond.median);
    else
        snprintf(dst, size, "  n=%d%s", l->arm->info.replicas, pw_batches_text(&l->arm->info));
}

/* Draws the legend below the axes in rows and returns the height. Only measures if drawn is false. */
static double legend(struct pw_figure *f, double y, bool drawn)
{
    return pw_figure_keys(f, y, drawn, key_text);
}

static enum pw_code prepare(struct pw_figure *f, struct pw_err *err)
{
    struct pw_lengths v;
    bool one = false, several = false, dashed = false, seen = false;

    lengths_of(f, &v);
    enum pw_code code = pw_figure_one_task(f, err);
    if (code != PW_OK || v.n == 0)
        return code != PW_OK ? code : pw_figure_lacks(f, err, "no evaluation; run 'eval' first", "eval");
    pw_str_add(&f->title, "Exact match by length");
    pw_figure_caption_task(f, &v);
    for (int i = 0; i < f->n_lines; i++) {
        const struct pw_arm_view *arm = f->line[i].arm;
        one |= arm->info.replicas == 1, several |= arm->info.replicas > 1;
        dashed |= !is_learned(f, &f->line[i]);
    }
    if (several)
        pw_str_add(&f->caption,
                   " Lines of several initialisations (n)%s: their median; bands: from the least to the "
                   "greatest of them.",
                   pw_figure_own_batches(f) ? ", each with an order of training samples of its own" : "");
    if (one)
        pw_str_add(&f->caption,
                   " Lines of one initialisation (n = 1): bands are Wilson's 95%% interval over its "
                   "samples, and say nothing about another initialisation.");
    if (dashed)
        pw_str_add(&f->caption,
                   " Dashed: below 99%% on trained lengths, so results beyond them are not reliable.");
    for (int i = 0; i < v.n; i++) {
        const struct pw_eval_row *row = row_of(f, v.lengths[i]);
        seen |= row != NULL && row->seen;
    }
    if (seen)
        pw_str_add(&f->caption,
                   " At the shortest lengths there are so few inputs that training has seen them.");
    if (ranges(f) > 1)
        pw_str_add(&f->caption, " Grey: the trained lengths of each.");
    f->box.h = f->box.w * 0.5 + fmax(legend(f, 0, false) - 36, 0);
    return PW_OK;
}

/* ---- drawing */

/* Writes per length the middle of the curve and the ends of its band. Returns the number of lengths. */
static int values_of(const struct pw_lengths *v, const struct pw_arm_view *arm, int task, double *x,
                     float *mid, float *lo, float *hi)
{
    int n = 0;

    for (int i = 0; i < v->n; i++) {
        struct pw_match m = pw_lengths_match(arm, task, v->lengths[i]);
        if (m.n > 0)
            x[n] = v->lengths[i], mid[n] = (float)m.median, lo[n] = (float)m.lo, hi[n++] = (float)m.hi;
    }
    return n;
}

static void draw_line(struct pw_figure *f, const struct pw_axes *a, const struct pw_lengths *v,
                      const struct pw_figure_line *l, bool band)
{
    static double x[PW_MAX_LENGTHS];
    static float mid[PW_MAX_LENGTHS], lo[PW_MAX_LENGTHS], hi[PW_MAX_LENGTHS];
    const struct pw_task_view *range = range_of(f, l);
    int n = values_of(v, l->arm, pw_figure_task_of(f, l), x, mid, lo, hi), inside = 0;

    if (band) {
        pw_axes_band(a, &f->svg, pw_svg_arm(l->place), 0.18, x, lo, hi, n);
        return;
    }
    while (inside < n && (range == NULL || x[inside] <= range->train_hi))
        inside++;
    if (inside == n || is_learned(f, l))
        inside = n;
    struct pw_pen pen = {.width = 1.4};
    pw_figure_curve(f, a, l->place, pen, x, mid, inside);
    if (inside < n) {
        int from = inside > 0 ? inside - 1 : 0;
        pen.dash = "3 2";
        pw_figure_curve(f, a, l->place, pen, x + from, mid + from, n - from);
    }
    for (int i = 0; i < n && n <= MARKS; i++)
        pw_svg_mark(&f->svg, l->place, pw_axes_x(a, x[i]), pw_axes_y(a, (double)mid[i]), 2.2);
}

static const struct pw_font small = {.size = 7, .color = 0x5a5a5a, .anchor = PW_MIDDLE};

static struct pw_box trained_box(const struct pw_axes *a, const struct pw_task_view *t)
{
    struct pw_box b = a->field;

    b.x = pw_axes_x(a, t->train_lo - 0.5), b.w = pw_axes_x(a, t->train_hi + 0.5) - b.x;
    return b;
}

/* Shades the trained lengths if all lines have the same range. */
static void draw_trained(struct pw_figure *f, const struct pw_axes *a, const struct pw_task_view *t)
{
    struct pw_box b = trained_box(a, t);

    if (b.w <= 0)
        return;
    pw_svg_rect(&f->svg, b, 0xdfe6ee, 0.6);
    if (b.w > pw_svg_width(&small, "trained") + 4)
        pw_svg_text(&f->svg, b.x + b.w / 2, b.y + b.h - 4, &small, "trained");
}

/* Otherwise, draws each range as a strip with the names of its sessions and a line at its end, the first one
 * lowest. */
static void draw_trained_strips(struct pw_figure *f, const struct pw_axes *a)
{
    struct pw_font name = small;
    int row = 0;

    name.anchor = PW_START;
    for (int i = 0; i < f->n_lines; i++) {
        if (!is_first_range(f, i))
            continue;
        struct pw_str text = {0};
        struct pw_box b = trained_box(a, range_of(f, &f->line[i]));
        double end = b.x + b.w, right = a->field.x + a->field.w;
        b.y += b.h - 10 * ++row, b.h = 9;
        pw_str_add(&text, "trained: ");
        name_range(f, i, &text);
        if (b.w > 0)
            pw_svg_rect(&f->svg, b, 0xdfe6ee, 1);
        pw_svg_line(&f->svg, end, a->field.y, end, b.y + b.h,
                    (struct pw_pen){.color = 0x9aa4b0, .width = 0.8, .dash = "1.5 2"});
        pw_svg_cut(&f->svg, b.x + 3, b.y + 7, &name, text.s, right - b.x - 4);
        pw_str_fini(&text);
    }
}

/* Draws the exact match of a guesser that uses only the answers' format, if it is above zero. */
static void draw_chance(struct pw_figure *f, const struct pw_axes *a, const struct pw_lengths *v)
{
    static const struct pw_font chance = {.size = 7, .color = 0x8e6900, .anchor = PW_END};
    double x[PW_MAX_LENGTHS];
    float y[PW_MAX_LENGTHS], most = 0;
    int n = 0;

    for (int i = 0; i < v->n; i++) {
        const struct pw_eval_row *row = row_of(f, v->lengths[i]);
        if (row == NULL || !(row->chance > 0))
            continue;
        x[n] = v->lengths[i], y[n++] = row->chance;
        most = row->chance > most ? row->chance : most;
    }
    if (most < 0.005f)
        return;
    pw_axes_line(a, &f->svg, (struct pw_pen){.color = 0x8e6900, .dash = "1 2"}, x, y, n);
    pw_svg_fmt(&f->svg, a->field.x + a->field.w - 3, pw_axes_y(a, (double)y[n - 1]) - 3, &chance,
               "chance %.0f%%", 100 * (double)y[n - 1]);
}

static void draw_lengths(struct pw_figure *f)
{
    struct pw_lengths v;
    double keys = legend(f, 0, false) + 4;

    lengths_of(f, &v);
    struct pw_axes a = {.box = {f->box.x, f->box.y, f->box.w, f->box.h - keys},
                        .x0 = v.lengths[0] - 0.5,
                        .x1 = v.lengths[v.n - 1] + 0.5,
                        .y1 = 1,
                        .percent = true,
                        .x_name = "length",
                        .y_name = "exact match"};
    pw_figure_axes(f, &a);
    if (ranges(f) == 1)
        draw_trained(f, &a, v.range);
    draw_chance(f, &a, &v);
    for (int i = 0; i < f->n_lines; i++)
        draw_line(f, &a, &v, &f->line[i], true);
    if (ranges(f) > 1) /* over the bands, to stay readable */
        draw_trained_strips(f, &a);
    for (int i = 0; i < f->n_lines; i++)
        draw_line(f, &a, &v, &f->line[i], false);
    legend(f, f->box.y + f->box.h - keys + 11, true);
}

static const struct pw_figure_several curves = {
    .sessions = true, .has = has_evaluation, .lacks = "no evaluation", .make = "eval"};
static const struct pw_figure_several grids = {
    .sessions = true, .has = pw_figure_has_pairs, .lacks = "no evaluation by pairs", .make = "eval"};
static const struct pw_figure_several tests = {
    .has = has_evaluation, .lacks = "no evaluation", .make = "eval"};

static const struct pw_figure_several losses = {
    .has = pw_figure_has_loss, .lacks = "no evaluation of running text", .make = "eval"};

static const struct pw_figure_page pages[] = {
    {"curve", 0, prepare, draw_lengths, &curves},
    {"loss", 0, pw_figure_loss_prepare, pw_figure_loss_draw, &losses},
    {"positions", 1, pw_figure_loss_prepare, pw_figure_loss_draw, &losses},
    {"grid", 0, pw_figure_grid_prepare, pw_figure_grid_draw, &grids},
    {"errors", 0, pw_figure_errors_prepare, pw_figure_errors_draw, NULL},
    {"tests", 0, pw_figure_tests_prepare, pw_figure_tests_draw, &tests},
    {"failing", 0, pw_figure_failing_prepare, pw_figure_failing_draw, NULL},
    {NULL, 0, NULL, NULL, NULL},
};

const struct pw_figure_pane pw_figure_lengths = {.name = "lengths", .pages = pages};
