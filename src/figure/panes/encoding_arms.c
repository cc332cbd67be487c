/* encoding_arms.c - encodings of several arms in the same plots by distance: per head their addition to the
 * scores, or the cosine between a vector and its rotated copy.
 *
 * Arms can differ in heads and lengths. Each curve ends with its table; a head that only some arms have is
 * drawn for these alone. */
#include "figure/panes/encoding.h"
#include <math.h>

#define MOST   1024 /* distances of a curve */
#define ACROSS 4    /* plots per row */
#define EACH   96.0 /* points of a plot's height; half as much again if there is one row */

static const struct pw_ev_table *table_of(const struct pw_figure_line *l)
{
    return pw_table_drawn(l->snap, l->arm->info.id);
}

/* Beside other biases, the bias of slopes is drawn, too. */
bool pw_figure_has_values(const struct pw_figure *f, const struct pw_figure_line *l)
{
    const struct pw_ev_table *t = table_of(l);

    return t != NULL &&
           (f->kind == PW_ENCODING_BIAS ? t->bias != NULL : pw_table_has(t, (enum pw_encoding_view)f->kind));
}

/* True if every line has a kernel (the positional part of the score). Otherwise the whole score is drawn for
 * all lines. */
static bool all_have_kernels(const struct pw_figure *f)
{
    bool all = true;

    for (int i = 0; i < f->n_lines; i++)
        all &= table_of(&f->line[i])->kernel != NULL;
    return all;
}

static const float *values_of(const struct pw_figure *f, const struct pw_ev_table *t)
{
    if (f->kind != PW_ENCODING_KERNEL)
        return t->bias;
    return all_have_kernels(f) || t->score == NULL ? t->kernel : t->score;
}

static int heads_of(const struct pw_figure *f)
{
    int most = 1;

    for (int i = 0; i < f->n_lines; i++)
        most = table_of(&f->line[i])->heads > most ? table_of(&f->line[i])->heads : most;
    return f->kind == PW_ENCODING_DECAY ? 1 : most;
}

static float value_at(const struct pw_figure *f, const struct pw_ev_table *t, int head, int d)
{
    return f->kind == PW_ENCODING_DECAY ? (float)pw_rotary_cosine(t, d)
                                        : values_of(f, t)[(size_t)head * t->length + d];
}

/* ---- caption */

static void say_trained(struct pw_figure *f)
{
    int met = table_of(&f->line[0])->trained;
    bool differ = false;

    for (int i = 1; i < f->n_lines; i++)
        differ |= table_of(&f->line[i])->trained != met;
    for (int i = 0; i < f->n_lines && differ; i++) {
        pw_str_add(&f->caption, i == 0 ? " Largest distance seen in training (dotted lines): " : ", ");
        pw_figure_name(f, &f->line[i], &f->caption);
        pw_str_add(&f->caption, " %d", table_of(&f->line[i])->trained);
    }
    if (!differ && met > 0)
        pw_str_add(&f->caption, " Distances up to %d (dotted line) were seen in training", met);
    pw_str_add(&f->caption, !differ && met == 0 ? " Not trained yet." : ".");
}

static void say_layers(struct pw_figure *f)
{
    const struct pw_ev_table *first = table_of(&f->line[0]);
    bool differ = false;

    for (int i = 1; i < f->n_lines; i++)
        differ |= table_of(&f->line[i])->layer != first->layer;
    pw_str_add(&f->caption, " Layer ");
    for (int i = 0; i < (differ ? f->n_lines : 1); i++)
        pw_str_add(&f->caption, "%s%d", i > 0 ? ", " : "", table_of(&f->line[i])->layer);
    pw_str_add(&f->caption,
               all_have_kernels(f) ? "; %s."
                                   : "; the whole score, as not all of them have a part "
                                     "of position alone.",
               pw_kernel_how(first));
}

static void say_queries(struct pw_figure *f)
{
    for (int i = 0; i < f->n_lines; i++) {
        int query = pw_table_bias_query(table_of(&f->line[i]));
        if (query < 0)
            continue;
        pw_str_add(&f->caption, " ");
        pw_figure_name(f, &f->line[i], &f->caption);
        pw_str_add(&f->caption, ": of the query at position %d.", query);
    }
}

static void print_encoding_arms(struct pw_figure *f)
{
    static const char *const titles[] = {[PW_ENCODING_BIAS] = "Bias by distance",
                                         [PW_ENCODING_SLOPES] = "Slopes' ramps by distance",
                                         [PW_ENCODING_KERNEL] = "Score by distance",
                                         [PW_ENCODING_DECAY] =
                                             "Similarity of a vector to itself by distance"};
    int64_t step[PW_FIGURE_LINES];

    pw_str_add(&f->title, "%s", titles[f->kind]);
    for (int i = 0; i < f->n_lines; i++)
        step[i] = f->line[i].arm->table_step;
    pw_str_add(&f->caption, f->kind == PW_ENCODING_DECAY ? "Encoding%s " : "Head by head, encoding%s ",
               f->n_lines > 1 ? "s" : "");
    pw_figure_caption_lines(f, step);
    pw_str_add(&f->caption, ".");
    if (f->kind == PW_ENCODING_KERNEL)
        say_layers(f);
    if (f->kind == PW_ENCODING_BIAS)
        say_queries(f);
    if (f->kind == PW_ENCODING_DECAY)
        pw_str_add(&f->caption,
                   " Solid: mean of cos(distance x frequency) over an encoding's pairs; dashed: |sum of e^(i "
                   "distance x frequency)| / pairs, which no vectors of that length can exceed.");
    say_trained(f);
    pw_figure_caption_left(f);
}

enum pw_code pw_figure_encodings_prepare(struct pw_figure *f, struct pw_err *err)
{
    int heads = heads_of(f), rows = (heads + ACROSS - 1) / ACROSS;
    double keys = pw_figure_keys(f, 0, false, NULL) + 4;

    (void)err;
    f->asks = pw_figure_tables;
    print_encoding_arms(f);
    f->box.h = keys + (f->kind == PW_ENCODING_DECAY ? f->box.w * 0.45
                       : heads == 1                 ? f->box.w * 0.4
                       : rows == 1                  ? EACH * 1.5
                                                    : EACH * rows);
    f->least = keys + 60 * rows;
    return PW_OK;
}

/* ---- drawing */

static void widen(struct pw_axes *a, double v)
{
    if (!isfinite(v))
        return;
    a->y0 = isnan(a->y0) ? v : fmin(a->y0, v);
    a->y1 = isnan(a->y1) ? v : fmax(a->y1, v);
}

/* Returns axes that fit all heads and arms. */
static struct pw_axes axes_of(const struct pw_figure *f)
{
    bool decay = f->kind == PW_ENCODING_DECAY;
    struct pw_axes a = {
        .x1 = 1, .y0 = decay ? 0 : NAN, .y1 = decay ? 1 : NAN, .x_name = NULL, .y_name = NULL};

    for (int i = 0; i < f->n_lines; i++) {
        const struct pw_ev_table *t = table_of(&f->line[i]);
        a.x1 = fmax(a.x1, t->length - 1);
        for (int h = 0; h < (decay ? 1 : t->heads); h++)
            for (int d = 0; d < t->length && d < MOST; d++)
                widen(&a, (double)value_at(f, t, h, d));
    }
    if (isnan(a.y0))
        a.y0 = 0, a.y1 = 1;
    return a;
}

static void draw_line(struct pw_figure *f, const struct pw_axes *a, const struct pw_figure_line *l, int head)
{
    const struct pw_ev_table *t = table_of(l);
    int n = t->length < MOST ? t->length : MOST;
    double x[MOST];
    float y[MOST];

    for (int d = 0; d < n; d++)
        x[d] = d, y[d] = value_at(f, t, head, d);
    pw_figure_curve(f, a, l->place, (struct pw_pen){.width = 1.2}, x, y, n);
    for (int d = 0; d < n && f->kind == PW_ENCODING_DECAY; d++)
        y[d] = (float)pw_rotary_bound(t, d);
    if (f->kind == PW_ENCODING_DECAY)
        pw_figure_curve(f, a, l->place, (struct pw_pen){.width = 1.2, .dash = "3 2"}, x, y, n);
}

/* Marks the end of the distances seen in training, once for arms with the same end. */
static void draw_edges(struct pw_figure *f, const struct pw_axes *a)
{
    for (int i = 0; i < f->n_lines; i++) {
        int met = table_of(&f->line[i])->trained, k = 0;
        while (k < i && table_of(&f->line[k])->trained != met)
            k++;
        if (k == i && met > 0 && met + 0.5 < a->x1)
            pw_axes_mark(a, &f->svg, met + 0.5, 0xd55e00, "", 0);
    }
}

void pw_figure_encodings_draw(struct pw_figure *f)
{
    static const struct pw_font name = {.size = 7.5, .color = PW_INK};
    double keys = pw_figure_keys(f, f->box.y + 8, true, NULL) + 4;
    int heads = heads_of(f), across = heads < ACROSS ? heads : ACROSS, rows = (heads + across - 1) / across;
    double w = f->box.w / across, h = (f->box.h - keys) / rows;
    const struct pw_axes all = axes_of(f);

    for (int i = 0; i < heads; i++) {
        struct pw_axes a = all;
        double above = heads > 1 ? 8 : 0;
        a.box = (struct pw_box){f->box.x + w * (i % across), f->box.y + keys + h * (i / across) + above, w,
                                h - above};
        if (heads == 1) {
            a.x_name = f->kind == PW_ENCODING_DECAY ? "distance" : "distance of key from query";
            a.y_name = f->kind == PW_ENCODING_DECAY    ? "likeness"
                       : f->kind == PW_ENCODING_KERNEL ? "score"
                                                       : "bias";
        }
        pw_figure_axes(f, &a);
        if (heads > 1)
            pw_svg_fmt(&f->svg, a.field.x, a.field.y - 2, &name, "head %d", i);
        draw_edges(f, &a);
        for (int k = 0; k < f->n_lines; k++)
            if (i < table_of(&f->line[k])->heads)
                draw_line(f, &a, &f->line[k], i);
    }
}
