/* encoding_kernel.c - the score by distance between query and key, for any encoding; and the comparison of
 * two encodings.
 *
 * The kernel is the encoding's own part of the score. The mean score is measured in the whole model
 * (src/probe/kernel.c). */
#include <math.h>
#include <stdio.h>

#include "ui/panes/encoding.h"

/* Returns the number of measured distances; distances beyond the samples are not an error. */
static int measured(const float *row, int n)
{
    while (n > 0 && isnan(row[n - 1]))
        n--;
    return n;
}

void pw_enc_curves(const struct pw_ui *ui, const struct pw_ev_table *t, const struct pw_enc_curve curves[2],
                   struct pw_canvas *c, struct pw_rect r, struct pw_enc_areas *areas)
{
    enum { MOST = 1024 };
    int64_t x[MOST];
    int n = t->length < MOST ? t->length : MOST, d = pw_enc_at(ui, PW_ENC_DISTANCE);
    size_t row = (size_t)pw_enc_at(ui, PW_ENC_HEAD) * t->length;
    float lo = INFINITY, hi = -INFINITY;
    struct pw_plot p = {.box = r, .x1 = n > 1 ? n - 1 : 1};

    for (int i = 0; i < n; i++)
        x[i] = i;
    for (int i = 0; i < 2; i++)
        if (curves[i].values != NULL)
            pw_plot_extent(&(struct pw_points){.y = curves[i].values + row, .n = n}, false, &lo, &hi);
    if (!(hi >= lo))
        return;
    p.y0 = (double)lo, p.y1 = hi > lo ? (double)hi : (double)lo + 1;
    if (!pw_plot_begin(&p, ui, c, "distance"))
        return;
    pw_enc_area_plot(areas, &p, n);
    if (t->trained > 0)
        pw_plot_edge(&p, c, t->trained);
    for (int i = 1; i >= 0; i--)
        if (curves[i].values != NULL)
            pw_plot_series(&p, ui, c, curves[i].arm,
                           &(struct pw_points){
                               .x = x, .y = curves[i].values + row, .n = measured(curves[i].values + row, n)},
                           curves[i].stroke);
    const float *top = curves[curves[0].values != NULL ? 0 : 1].values;
    int at = pw_plot_column(&p, d);
    if (at >= 0 && isfinite(top[row + (size_t)d]))
        pw_draw_cell(c, p.field, pw_plot_row(&p, (double)top[row + (size_t)d]), at, pw_style_bold(), 0x25cf);
}

static void draw_encoding_kernel(const struct pw_ui *ui, const struct pw_ev_table *t, struct pw_canvas *c,
                                 struct pw_rect r, struct pw_enc_areas *areas)
{
    const float *values = pw_table_by_distance(t, PW_ENCODING_KERNEL);
    bool nothing = pw_table_empty(t);

    if (nothing && (r.h >= 6 || values == NULL)) {
        pw_draw_fmt(c, r, r.y, r.x, pw_style_plain(), "no positional term: order enters through %s",
                    pw_table_order(t));
        r.y++, r.h--;
    }
    if (r.h >= 4 || values == NULL) {
        char text[128];
        snprintf(text, sizeof text, "layer %d of %d  %s", t->layer, t->layers, pw_kernel_how(t));
        pw_draw_cut(c, r, r.y, r.x, pw_style_dim(), text, r.w);
        r.y++, r.h--;
    }
    if (values == NULL)
        return;
    struct pw_enc_strips strips = {.values = values};
    struct pw_rect top = r;
    if (r.h >= t->heads + 2 + 9)
        top.h = t->heads + 2;
    int used = pw_enc_strips(ui, t, &strips, c, top, areas);
    struct pw_rect rest = {r.y + used + 1, r.x, r.h - used - 1, r.w};
    if (rest.h < 7)
        return;
    char text[96];
    snprintf(text, sizeof text,
             t->kernel != NULL ? "head %d: line kernel, dotted mean score of %d samples"
                               : "head %d: mean score of %d samples",
             pw_enc_at(ui, PW_ENC_HEAD), t->n_kernel);
    pw_draw_cut(c, rest, rest.y, rest.x, pw_style_dim(), text, rest.w);
    const struct pw_enc_curve curves[2] = {
        {t->kernel, ui->snap->current, PW_STROKE_LINE},
        {t->score, ui->snap->current, t->kernel != NULL ? PW_STROKE_DOTTED : PW_STROKE_LINE}};
    pw_enc_curves(ui, t, curves, c, (struct pw_rect){rest.y + 1, rest.x, rest.h - 1, rest.w}, areas);
}

static void read(const struct pw_ui *ui, const struct pw_ev_table *t, struct pw_str *out)
{
    int d = pw_enc_at(ui, PW_ENC_DISTANCE);
    size_t i = (size_t)pw_enc_at(ui, PW_ENC_HEAD) * t->length + (size_t)d;

    pw_enc_read_distance(ui, t, out);
    pw_str_add(out, "  head %d", pw_enc_at(ui, PW_ENC_HEAD));
    if (t->kernel != NULL)
        pw_str_add(out, ": kernel %+.3f", (double)t->kernel[i]);
    if (t->score != NULL && isnan(t->score[i]))
        pw_str_add(out, "%s no sample has this distance", t->kernel != NULL ? "," : ":");
    else if (t->score != NULL)
        pw_str_add(out, "%s mean score %+.3f", t->kernel != NULL ? "," : ":", (double)t->score[i]);
    pw_enc_read_seen(t, pw_enc_seen(t, t->met, d), "pairs", out);
    if (t->kernel != NULL || t->score != NULL)
        pw_enc_read_others(ui, t, pw_table_by_distance(t, PW_ENCODING_KERNEL), out);
}

const struct pw_enc_page pw_enc_kernel = {
    "kernel", PW_ENCODING_KERNEL,    PW_ENC_DISTANCE,   PW_ENC_HEAD, draw_encoding_kernel,
    read,     pw_enc_copy_distances, PW_ENC_BY_DISTANCE};

/* ---- two encodings */

static void draw_difference(const struct pw_ui *ui, const struct pw_ev_table *t, struct pw_canvas *c,
                            struct pw_rect r, struct pw_enc_areas *areas)
{
    struct pw_enc_pair p;
    struct pw_str text = {0};
    int ref = ui->encoding.reference;

    pw_enc_pair_init(&p, t, pw_enc_reference(ui));
    if (r.h >= 4) {
        pw_str_add(&text, "%s of %s %d layer %d minus %s %d layer %d, relative to distance 0",
                   p.kernels ? "kernel" : "mean score", pw_arm_mark(ui, ui->snap->current), ui->snap->current,
                   t->layer, pw_arm_mark(ui, ref), ref, p.b->layer);
        pw_draw_cut(c, r, r.y, r.x, pw_style_dim(), text.s, r.w);
        pw_str_clear(&text);
        pw_enc_pair_parameters(&p, &text);
        pw_draw_cut(c, r, r.y + r.h - 1, r.x, pw_style_dim(), text.s, r.w);
        r.y++, r.h -= 2;
    }
    pw_str_fini(&text);
    if (p.minus == NULL) {
        pw_draw_cut(c, r, r.y, r.x, pw_style_warn(), "not measured: Enter measures it", r.w);
        return;
    }
    struct pw_enc_strips strips = {.values = p.minus};
    struct pw_rect top = r;
    if (r.h >= p.heads + 2 + 9)
        top.h = p.heads + 2;
    int used = pw_enc_strips(ui, &p.common, &strips, c, top, areas);
    struct pw_rect rest = {r.y + used + 1, r.x, r.h - used - 1, r.w};
    if (rest.h >= 7) {
        pw_str_add(&text, "head %d: line arm %d, dotted arm %d", pw_enc_at(ui, PW_ENC_HEAD),
                   ui->snap->current, ref);
        pw_draw_cut(c, rest, rest.y, rest.x, pw_style_dim(), text.s, rest.w);
        const struct pw_enc_curve curves[2] = {{p.from, ui->snap->current, PW_STROKE_LINE},
                                               {p.to, ref, PW_STROKE_DOTTED}};
        pw_enc_curves(ui, &p.common, curves, c, (struct pw_rect){rest.y + 1, rest.x, rest.h - 1, rest.w},
                      areas);
        pw_str_fini(&text);
    }
    pw_enc_pair_fini(&p);
}

static void read_difference(const struct pw_ui *ui, const struct pw_ev_table *t, struct pw_str *out)
{
    struct pw_enc_pair p;
    int h = pw_enc_at(ui, PW_ENC_HEAD), d = pw_enc_at(ui, PW_ENC_DISTANCE);

    pw_enc_pair_init(&p, t, pw_enc_reference(ui));
    if (p.minus == NULL) {
        pw_str_add(out, "nothing measured to compare");
        return;
    }
    size_t i = (size_t)h * p.length + d;
    pw_str_add(out, "distance %d  head %d", d, h);
    if (isnan(p.minus[i]))
        pw_str_add(out, "  not measured in both arms at this distance");
    else
        pw_str_add(out, "  arm %d %+.3f  arm %d %+.3f  difference %+.3f", ui->snap->current,
                   (double)p.from[i], ui->encoding.reference, (double)p.to[i], (double)p.minus[i]);
    pw_enc_read_seen(t, pw_enc_seen(t, t->met, d), "pairs", out);
    pw_enc_pair_fini(&p);
}

static void copy_difference(const struct pw_ui *ui, const struct pw_ev_table *t, struct pw_str *out)
{
    struct pw_enc_pair p;

    pw_enc_pair_init(&p, t, pw_enc_reference(ui));
    pw_str_add(out, "distance");
    for (int h = 0; p.minus != NULL && h < p.heads; h++)
        pw_str_add(out, "\tthis_%d\tother_%d\tdifference_%d", h, h, h);
    for (int d = 0; p.minus != NULL && d < p.length; d++) {
        pw_str_add(out, "\n%d", d);
        for (int h = 0; h < p.heads; h++) {
            size_t i = (size_t)h * p.length + d;
            pw_str_add(out, "\t%.6g\t%.6g\t%.6g", (double)p.from[i], (double)p.to[i], (double)p.minus[i]);
        }
    }
    pw_str_add(out, "\n");
    pw_enc_pair_fini(&p);
}

const struct pw_enc_page pw_enc_difference = {
    "difference",
    PW_ENCODING_DIFFERENCE,
    PW_ENC_DISTANCE,
    PW_ENC_HEAD,
    draw_difference,
    read_difference,
    copy_difference,
    "by distance, for each head: this arm, the reference, their difference, relative to distance 0"};
