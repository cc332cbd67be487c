/* encoding.c - the encoding by distance: biases, slopes, the kernel, the decay of a rotation. The pages are
 * the views that a table has (plot/encoding.h). */
#include "figure/panes/encoding.h"
#include "figure/axes.h"
#include <math.h>
#include <stdio.h>

#define MOST   1024 /* distances of a curve */
#define ACROSS 4    /* plots per row */
#define BESIDE 86.0 /* points right of a map */

const struct pw_ev_table *pw_figure_table(const struct pw_figure *f)
{
    return f->arm != NULL ? pw_table_drawn(f->snap, f->arm->info.id) : NULL;
}

void pw_figure_caption_table(struct pw_figure *f, const struct pw_ev_table *t, const char *what, bool marked)
{
    pw_str_add(&f->title, "%s: ", what);
    pw_figure_arm(f, f->arm, &f->title);
    pw_str_add(&f->caption, "Encoding ");
    pw_encoding_text(&f->caption, t->pe);
    if (t->by_layer)
        pw_str_add(&f->caption, " (layer %d of %d)", t->layer, t->layers);
    pw_replica_text(f->arm, f->arm->table_replica, &f->caption);
    pw_str_add(&f->caption, " at step %lld.", (long long)f->arm->table_step);
    if (t->trained > 0)
        pw_str_add(&f->caption, " Distances up to %d%s were seen in training.", t->trained,
                   marked ? " (dotted line)" : "");
    else
        pw_str_add(&f->caption, " Not trained yet.");
}

void pw_figure_table_map(struct pw_figure *f, const struct pw_map *m, struct pw_box b,
                         const struct pw_enc_sides *sides, enum pw_enc_line line)
{
    static const struct pw_font number = {.size = 7, .color = 0x4a4a4a, .anchor = PW_MIDDLE};
    static const struct pw_font name = {.size = 7.5, .color = PW_INK, .anchor = PW_MIDDLE};
    struct pw_font left = number, turned = name;
    double w = b.w / m->data.cols, h = b.h / m->data.rows;
    int across = (int)ceil(18 / w), down = (int)ceil(9 / h);

    left.anchor = PW_END, turned.turned = true;
    pw_map_draw(m, &f->svg, b);
    pw_svg_frame(&f->svg, b, (struct pw_pen){.color = 0x808080, .width = 0.5});
    for (int i = 0; i < m->data.cols; i += across)
        pw_svg_fmt(&f->svg, b.x + (i + 0.5) * w, b.y + b.h + 9, &number, "%d", i * sides->every);
    for (int i = 0; i < m->data.rows; i += down)
        pw_svg_fmt(&f->svg, b.x - 3, b.y + (i + 0.5) * h + 2.5, &left, "%d",
                   line == PW_ENC_DOWN ? i : i * sides->every);
    pw_svg_text(&f->svg, b.x + b.w / 2, b.y + b.h + 19, &name, sides->x_name);
    pw_svg_text(&f->svg, b.x - 22, b.y + b.h / 2, &turned, sides->y_name);
    double at = (double)(sides->trained + 1) / sides->every;
    struct pw_pen pen = {.color = PW_INK, .width = 1, .dash = "1.5 2"};
    if (sides->trained > 0 && line == PW_ENC_ACROSS && at < m->data.rows)
        pw_svg_line(&f->svg, b.x, b.y + at * h, b.x + b.w, b.y + at * h, pen);
    else if (sides->trained > 0 && line == PW_ENC_ALONG && at < m->data.rows)
        pw_svg_line(&f->svg, b.x, b.y + at * h, b.x + (m->data.rows - at) * w, b.y + b.h, pen);
    else if (sides->trained > 0 && line == PW_ENC_DOWN && at < m->data.cols)
        pw_svg_line(&f->svg, b.x + at * w, b.y, b.x + at * w, b.y + b.h, pen);
}

/* ---- values [heads,length] by distance */

static const float *values_of(const struct pw_ev_table *t, const struct pw_figure *f)
{
    return pw_table_by_distance(t, (enum pw_encoding_view)f->kind);
}

double pw_figure_strips_height(const struct pw_ev_table *t)
{
    return fmin(14.0 * t->heads, 140) + 34;
}

double pw_figure_apart_height(const struct pw_ev_table *t, double each)
{
    return each * ((t->heads + ACROSS - 1) / ACROSS);
}

static enum pw_code prepare(struct pw_figure *f, struct pw_err *err)
{
    static const char *const missing[] = {
        [PW_ENCODING_BIAS] = "this encoding has no learned bias by distance",
        [PW_ENCODING_SLOPES] = "this encoding has no slopes",
        [PW_ENCODING_KERNEL] = "the score by distance was not measured; run 'table' first",
    };
    const struct pw_ev_table *t = pw_figure_table(f);

    if (f->n_lines > 0)
        return pw_figure_encodings_prepare(f, err);
    if (t == NULL)
        return pw_figure_nothing(err, "the encoding's table is missing; run 'table' first");
    if (values_of(t, f) == NULL)
        return pw_figure_nothing(err, missing[f->kind]);
    f->asks = pw_figure_tables;
    pw_figure_caption_table(f, t,
                            f->kind == PW_ENCODING_KERNEL   ? "Score by distance"
                            : f->kind == PW_ENCODING_SLOPES ? "Slopes and their ramps"
                                                            : "Bias by distance",
                            t->trained + 1 < t->length);
    if (f->kind == PW_ENCODING_KERNEL) {
        pw_str_add(&f->caption, " Layer %d of %d; %s.", t->layer, t->layers, pw_kernel_how(t));
        if (t->kernel != NULL && t->score != NULL)
            pw_str_add(
                &f->caption,
                " Below, head by head: solid that part, dotted black the whole score, mean of %d samples.",
                t->n_kernel);
    }
    if (f->kind == PW_ENCODING_BIAS && pw_table_bias_query(t) >= 0)
        pw_str_add(&f->caption, " The bias is that of the query at position %d; other queries have others.",
                   pw_table_bias_query(t));
    if (f->kind == PW_ENCODING_SLOPES)
        pw_str_add(&f->caption, " Each head adds to the score of a key at that distance: minus slope times "
                                "distance.");
    double plots = f->box.w * 0.38;
    if (f->kind == PW_ENCODING_KERNEL)
        plots = pw_figure_apart_height(t, 84);
    f->box.h = pw_figure_strips_height(t) + plots;
    f->least = pw_figure_strips_height(t) + fmin(plots, pw_figure_apart_height(t, 60));
    return PW_OK;
}

struct strips {
    const struct pw_ev_table *t;
    const float *values;
};

static float strip_value(const void *arg, int row, int col)
{
    const struct strips *s = arg;
    float v = s->values[(size_t)row * s->t->length + col];

    return isnan(v) ? -INFINITY : v; /* not measured at this distance */
}

static uint32_t head_color(const struct pw_ev_table *t, int h)
{
    return pw_ramp_up(PW_VIRIDIS, t->heads > 1 ? 0.85f * (float)h / (float)(t->heads - 1) : 0);
}

/* Draws the values of one head by distance. */
static void draw_head(struct pw_figure *f, const struct pw_axes *a, const struct pw_ev_table *t,
                      const float *values, int h, struct pw_pen pen)
{
    double x[MOST];
    int n = t->length < MOST ? t->length : MOST;

    for (int i = 0; i < n; i++)
        x[i] = i;
    pw_axes_line(a, &f->svg, pen, x, values + (size_t)h * t->length, n);
}

static void draw_edge(struct pw_figure *f, const struct pw_axes *a, const struct pw_ev_table *t,
                      const char *text, int row)
{
    if (t->trained > 0 && t->trained + 0.5 < a->x1)
        pw_axes_mark(a, &f->svg, t->trained + 0.5, 0xd55e00, text, row);
}

static void draw_legend(struct pw_figure *f, const struct pw_ev_table *t, double x, double y, double end)
{
    static const struct pw_font font = {.size = 7.5, .color = PW_INK};

    for (int h = 0; h < t->heads && y < end; h++, y += 10) {
        pw_svg_line(&f->svg, x, y - 2.5, x + 12, y - 2.5,
                    (struct pw_pen){.color = head_color(t, h), .width = 1.6});
        if (t->slopes != NULL)
            pw_svg_fmt(&f->svg, x + 16, y, &font, "head %d, %.4g", h, (double)t->slopes[h]);
        else
            pw_svg_fmt(&f->svg, x + 16, y, &font, "head %d", h);
    }
}

static void widen(const float *v, size_t n, float *lo, float *hi)
{
    for (size_t i = 0; v != NULL && i < n; i++)
        if (isfinite(v[i]))
            *lo = fminf(*lo, v[i]), *hi = fmaxf(*hi, v[i]);
}

static struct pw_axes axes_of(const struct pw_ev_table *t, const float *values, const float *more)
{
    float lo = INFINITY, hi = -INFINITY;

    widen(values, (size_t)t->heads * t->length, &lo, &hi);
    widen(more, (size_t)t->heads * t->length, &lo, &hi);
    return (struct pw_axes){.x1 = t->length > 1 ? t->length - 1 : 1,
                            .y0 = lo <= hi ? (double)lo : 0,
                            .y1 = lo <= hi ? (double)hi : 1};
}

/* Draws all heads in one plot. */
static void draw_together(struct pw_figure *f, const struct pw_ev_table *t, const float *values,
                          struct pw_box b)
{
    struct pw_axes a = axes_of(t, values, NULL);

    a.box = b, a.x_name = "distance of key from query", a.y_name = "bias";
    pw_figure_axes(f, &a);
    draw_edge(f, &a, t, "beyond training",
              t->slopes != NULL ? (int)(a.field.h / 9) - 2 : 0); /* a row where the lines are far apart */
    for (int h = 0; h < t->heads; h++)
        draw_head(f, &a, t, values, h, (struct pw_pen){.color = head_color(t, h), .width = 1.2});
    draw_legend(f, t, b.x + b.w + 2, a.field.y + 8, b.y + b.h);
}

void pw_figure_apart(struct pw_figure *f, const struct pw_ev_table *t, const float *values,
                     const float *others, struct pw_pen pen, struct pw_box b)
{
    static const struct pw_font name = {.size = 7.5, .color = PW_INK};
    int across = t->heads < ACROSS ? t->heads : ACROSS, rows = (t->heads + across - 1) / across;
    double w = b.w / across, h = b.h / rows;

    for (int i = 0; i < t->heads; i++) {
        struct pw_axes a = axes_of(t, values, others);
        a.box = (struct pw_box){b.x + w * (i % across), b.y + h * (i / across) + 8, w, h - 8};
        pw_figure_axes(f, &a);
        pw_svg_fmt(&f->svg, a.field.x, a.field.y - 2, &name, "head %d", i);
        draw_edge(f, &a, t, "", 0);
        if (others != NULL)
            draw_head(f, &a, t, others, i, pen);
        draw_head(f, &a, t, values, i, (struct pw_pen){.color = pw_svg_arm(f->arm->info.id), .width = 1.2});
    }
}

struct pw_box pw_figure_strips(struct pw_figure *f, const struct pw_ev_table *t, const float *values,
                               const char *what)
{
    double map_h = pw_figure_strips_height(t);
    struct strips s = {t, values};
    struct pw_map m = {.data = {.rows = t->heads,
                                .cols = t->length,
                                .value = strip_value,
                                .arg = &s,
                                .hi = pw_enc_scale(values, (size_t)t->heads * t->length),
                                .is_signed = true}};
    struct pw_box b = {f->box.x + 40, f->box.y + 4, f->box.w - 40 - BESIDE, map_h - 34};

    m.most = m.data.cols > 512 ? 512 : 0;
    pw_figure_table_map(f, &m, b, &(struct pw_enc_sides){"distance", "head", 1, t->trained}, PW_ENC_DOWN);
    pw_map_bar(&m, &f->svg, (struct pw_box){b.x + b.w + 10, b.y, 8, b.h < 30 ? 30 : b.h}, false, what);
    return (struct pw_box){f->box.x, f->box.y + map_h, f->box.w, f->box.h - map_h};
}

static void draw_encoding(struct pw_figure *f)
{
    if (f->n_lines > 0) {
        pw_figure_encodings_draw(f);
        return;
    }

    const struct pw_ev_table *t = pw_figure_table(f);
    const float *values = values_of(t, f);
    struct pw_box below = pw_figure_strips(f, t, values, f->kind == PW_ENCODING_KERNEL ? "score" : "bias");

    if (f->kind == PW_ENCODING_KERNEL) {
        pw_figure_apart(f, t, values, t->kernel != NULL ? t->score : NULL,
                        (struct pw_pen){.color = PW_INK, .width = 0.9, .dash = "1 2"}, below);
    } else {
        below.w -= BESIDE - 6;
        draw_together(f, t, values, below);
    }
}

/* ---- the cosine between a vector and its rotated copy */

static enum pw_code prepare_decay(struct pw_figure *f, struct pw_err *err)
{
    const struct pw_ev_table *t = pw_figure_table(f);

    if (f->n_lines > 0)
        return pw_figure_encodings_prepare(f, err);
    if (t == NULL || !pw_table_has(t, PW_ENCODING_DECAY))
        return pw_figure_nothing(err, t != NULL ? "this encoding rotates nothing"
                                                : "the encoding's table is missing; run 'table' first");
    f->asks = pw_figure_tables;
    pw_figure_caption_table(f, t, "Similarity of a vector to itself by distance", t->trained + 1 < t->length);
    pw_str_add(&f->caption,
               " Solid: mean of cos(distance x frequency) over %d pairs; dashed: |sum of e^(i distance x "
               "frequency)| / pairs, which no vectors of that length can exceed.",
               t->pairs);
    f->box.h = f->box.w * 0.45;
    return PW_OK;
}

static void draw_decay(struct pw_figure *f)
{
    if (f->n_lines > 0) {
        pw_figure_encodings_draw(f);
        return;
    }

    const struct pw_ev_table *t = pw_figure_table(f);
    double x[MOST];
    float cosine[MOST], bound[MOST];
    struct pw_axes a = {.box = f->box, .y1 = 1, .x_name = "distance", .y_name = "likeness"};
    struct pw_pen pen = {.color = pw_svg_arm(f->arm->info.id), .width = 1.3};
    int n = pw_rotary_decay(t, MOST, cosine, bound, &a.y0);

    a.x1 = n > 1 ? n - 1 : 1;
    for (int d = 0; d < n; d++)
        x[d] = d;
    pw_figure_axes(f, &a);
    draw_edge(f, &a, t, "beyond training", 0);
    pw_axes_line(&a, &f->svg, pen, x, cosine, n);
    pen.dash = "3 2";
    pw_axes_line(&a, &f->svg, pen, x, bound, n);
}

#define SEVERAL(what)                                                                                        \
    {                                                                                                        \
        .if_asked = true, .has = pw_figure_has_values, .lacks = what                                         \
    }
static const struct pw_figure_several slopes = SEVERAL("no slopes"), biases = SEVERAL("no bias by distance"),
                                      decays = SEVERAL("nothing that rotates"),
                                      kernels = SEVERAL("no score by distance");

static const struct pw_figure_page pages[] = {
    {"slopes", PW_ENCODING_SLOPES, prepare, draw_encoding, &slopes},
    {"bias", PW_ENCODING_BIAS, prepare, draw_encoding, &biases},
    {"buckets", 0, pw_figure_buckets_prepare, pw_figure_buckets_draw, NULL},
    {"matrix", PW_ENCODING_MATRIX, pw_figure_rows_prepare, pw_figure_rows_draw, NULL},
    {"frequencies", PW_ENCODING_FREQUENCIES, pw_figure_rows_prepare, pw_figure_rows_draw, NULL},
    {"decay", PW_ENCODING_DECAY, prepare_decay, draw_decay, &decays},
    {"params", 0, pw_figure_params_prepare, pw_figure_params_draw, NULL},
    {"rows", PW_ENCODING_ROWS, pw_figure_rows_prepare, pw_figure_rows_draw, NULL},
    {"cosine", PW_ENCODING_COSINE, pw_figure_rows_prepare, pw_figure_rows_draw, NULL},
    {"keys", PW_ENCODING_KEYS, pw_figure_rows_prepare, pw_figure_rows_draw, NULL},
    {"queries", 0, pw_figure_queries_prepare, pw_figure_queries_draw, NULL},
    {"kernel", PW_ENCODING_KERNEL, prepare, draw_encoding, &kernels},
    {"difference", 0, pw_figure_difference_prepare, pw_figure_difference_draw, NULL},
    {NULL, 0, NULL, NULL, NULL},
};

const struct pw_figure_pane pw_figure_encoding = {.name = "encoding", .pages = pages};
