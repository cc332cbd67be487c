/* lengths_loss.c - running text: the loss by context length, and by position in the longest context, one
 * curve per arm; the trained contexts are shaded.
 *
 * A band around one model is the 95 % interval of the mean over its windows, and says nothing about another
 * initialisation. A band around several is their minimum and maximum. */
#include <math.h>
#include <stdio.h>

#include "figure/axes.h"
#include "figure/panes/lengths.h"
#include "plot/palette.h"

enum { PLACES_MOST = 64 }; /* points of a curve by position; neighbours share one */

bool pw_figure_has_loss(const struct pw_figure *f, const struct pw_figure_line *l)
{
    (void)f;
    return pw_eval_runs(&l->arm->rep[0].eval);
}

static void lengths_of(const struct pw_figure *f, struct pw_lengths *v)
{
    pw_lengths_begin(v, f->snap, 0);
    for (int i = 0; i < f->n_lines; i++)
        pw_lengths_add(v, f->line[i].arm, 0);
}

/* Writes the text after an arm's name in the legend. */
static void key_text(const struct pw_figure *f, const struct pw_figure_line *l, char *dst, size_t size)
{
    (void)f;
    snprintf(dst, size, "  n=%d%s, beyond %.3f", l->arm->info.replicas, pw_batches_text(&l->arm->info),
             (double)pw_eval_loss(&l->snap->lab, &l->arm->rep[0].eval, true));
}

static double legend(struct pw_figure *f, double y, bool drawn)
{
    return pw_figure_keys(f, y, drawn, key_text);
}

enum pw_code pw_figure_loss_prepare(struct pw_figure *f, struct pw_err *err)
{
    struct pw_lengths v;
    bool one = false, several = false;

    lengths_of(f, &v);
    enum pw_code code = pw_figure_one_task(f, err);
    if (code != PW_OK || !v.runs)
        return code != PW_OK ? code
                             : pw_figure_lacks(f, err,
                                               "no evaluation of running text; run 'task text', 'train' "
                                               "and 'eval' first",
                                               "eval");
    if (f->kind == 0)
        pw_str_add(&f->title, "Loss by context length");
    else
        pw_str_add(&f->title, "Loss by position in contexts of %d", v.lengths[v.n - 1]);
    pw_figure_caption_task(f, &v);
    pw_str_add(&f->caption, " Nats per token of the held-out text.");
    for (int i = 0; i < f->n_lines; i++) {
        one |= f->line[i].arm->info.replicas == 1;
        several |= f->line[i].arm->info.replicas > 1;
    }
    if (f->kind != 0)
        pw_str_add(&f->caption, " Position k has k tokens of context; %s",
                   several ? "the first initialisation of each."
                           : "means over windows and neighbouring positions.");
    else if (several)
        pw_str_add(&f->caption,
                   " Lines of several initialisations (n): their median; bands: from the least to "
                   "the greatest of them.");
    if (f->kind == 0 && one)
        pw_str_add(&f->caption,
                   " Lines of one initialisation (n = 1): bands are the 95%% interval of the mean "
                   "over windows, and say nothing about another initialisation.");
    f->box.h = f->box.w * 0.5 + fmax(legend(f, 0, false) - 36, 0);
    return PW_OK;
}

/* Writes the points of a line by context length. Returns their number. */
static int by_length(const struct pw_lengths *v, const struct pw_figure_line *l, double *x, float *mid,
                     float *lo, float *hi)
{
    int n = 0;

    for (int i = 0; i < v->n; i++) {
        struct pw_match m = pw_lengths_loss(l->arm, 0, v->lengths[i]);
        if (m.n > 0)
            x[n] = v->lengths[i], mid[n] = (float)m.median, lo[n] = (float)m.lo, hi[n++] = (float)m.hi;
    }
    return n;
}

/* Writes the points of a line by position; neighbours share a point where there are many. */
static int by_place(const struct pw_figure_line *l, double *x, float *y)
{
    const struct pw_eval_row *row = pw_lengths_longest(l->arm, 0);
    const float *loss = row != NULL ? l->arm->rep[0].eval.losses + row->first_loss : NULL;
    int n = row == NULL ? 0 : row->n_losses < PLACES_MOST ? row->n_losses : PLACES_MOST;

    for (int i = 0; i < n; i++) {
        int from = (int)((int64_t)row->n_losses * i / n), to = (int)((int64_t)row->n_losses * (i + 1) / n);
        double sum = 0;
        for (int k = from; k < to; k++)
            sum += (double)loss[k];
        x[i] = (from + to + 1) / 2.0;
        y[i] = (float)(sum / (to - from));
    }
    return n;
}

static void draw_line(struct pw_figure *f, const struct pw_axes *a, const struct pw_lengths *v,
                      const struct pw_figure_line *l, bool band)
{
    static double x[PW_MAX_LENGTHS];
    static float mid[PW_MAX_LENGTHS], lo[PW_MAX_LENGTHS], hi[PW_MAX_LENGTHS];
    int n = f->kind == 0 ? by_length(v, l, x, mid, lo, hi) : by_place(l, x, mid);

    if (band && f->kind == 0)
        pw_axes_band(a, &f->svg, pw_svg_arm(l->place), 0.18, x, lo, hi, n);
    if (band)
        return;
    pw_figure_curve(f, a, l->place, (struct pw_pen){.width = f->kind == 0 ? 1.4 : 1.0}, x, mid, n);
    for (int i = 0; i < n && f->kind == 0; i++)
        pw_svg_mark(&f->svg, l->place, pw_axes_x(a, x[i]), pw_axes_y(a, (double)mid[i]), 2.2);
}

/* Returns the largest value of any line. */
static double most_of(struct pw_figure *f, const struct pw_lengths *v)
{
    static double x[PW_MAX_LENGTHS];
    static float y[PW_MAX_LENGTHS], lo[PW_MAX_LENGTHS], hi[PW_MAX_LENGTHS];
    double most = 0.1;

    for (int i = 0; i < f->n_lines; i++) {
        int n = f->kind == 0 ? by_length(v, &f->line[i], x, y, lo, hi) : by_place(&f->line[i], x, y);
        for (int k = 0; k < n; k++)
            most = isfinite(y[k]) ? fmax(most, (double)y[k]) : most;
    }
    return 1.05 * most;
}

void pw_figure_loss_draw(struct pw_figure *f)
{
    static const struct pw_font small = {.size = 7, .color = 0x5a5a5a, .anchor = PW_MIDDLE};
    struct pw_lengths v;
    double keys = legend(f, 0, false) + 4;

    lengths_of(f, &v);
    struct pw_axes a = {.box = {f->box.x, f->box.y, f->box.w, f->box.h - keys},
                        .x0 = f->kind == 0 ? v.lengths[0] - 0.5 : 0.5,
                        .x1 = v.lengths[v.n - 1] + 0.5,
                        .y1 = most_of(f, &v),
                        .x_name = f->kind == 0 ? "context, tokens" : "position",
                        .y_name = "nats per token"};
    pw_figure_axes(f, &a);
    if (v.range != NULL && v.range->train_hi < a.x1) {
        double x = pw_axes_x(&a, v.range->train_hi + 0.5);
        pw_svg_rect(&f->svg, (struct pw_box){a.field.x, a.field.y, x - a.field.x, a.field.h}, 0xdfe6ee, 0.6);
        if (x - a.field.x > pw_svg_width(&small, "trained") + 4)
            pw_svg_text(&f->svg, (x + a.field.x) / 2, a.field.y + a.field.h - 4, &small, "trained");
    }
    for (int i = 0; i < f->n_lines; i++)
        draw_line(f, &a, &v, &f->line[i], true);
    for (int i = 0; i < f->n_lines; i++)
        draw_line(f, &a, &v, &f->line[i], false);
    legend(f, f->box.y + f->box.h - keys + 11, true);
}
