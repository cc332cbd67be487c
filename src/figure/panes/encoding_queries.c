/* encoding_queries.c - a bias that depends on the query. Each head has a plot with a curve per query in the
 * table; later queries are lighter. */
#include "figure/axes.h"
#include "figure/panes/encoding.h"
#include <math.h>

#define LEGEND 62.0 /* points at the right */
#define EACH   110.0

enum { ACROSS = 3, MOST = 1024 };

static uint32_t color_of(const struct pw_ev_table *t, int k)
{
    return pw_ramp_up(PW_VIRIDIS, t->n_queries > 1 ? 0.85f * (float)k / (float)(t->n_queries - 1) : 0);
}

static int across(const struct pw_ev_table *t)
{
    return t->heads < ACROSS ? t->heads : ACROSS;
}

enum pw_code pw_figure_queries_prepare(struct pw_figure *f, struct pw_err *err)
{
    const struct pw_ev_table *t = pw_figure_table(f);

    if (t == NULL || !pw_table_has(t, PW_ENCODING_QUERIES))
        return pw_figure_nothing(err, t != NULL ? "this encoding's bias is the same for all queries"
                                                : "the encoding's table is missing; run 'table' first");
    f->asks = pw_figure_tables;
    pw_figure_caption_table(f, t, "Bias by distance of some queries", t->trained + 1 < t->length);
    if (t->fire_threshold > 0) {
        pw_str_add(&f->caption, " ");
        pw_fire_text(t, &f->caption);
        pw_str_add(&f->caption, "; distance d of query i is ln(c d + 1) / ln(c max(i,L) + 1).");
    }
    f->box.h = EACH * ((t->heads + across(t) - 1) / across(t));
    f->least = f->box.h * 0.6;
    return PW_OK;
}

static void draw_head(struct pw_figure *f, const struct pw_ev_table *t, int h, struct pw_box b)
{
    static const struct pw_font name = {.size = 7.5, .color = PW_INK};
    struct pw_axes a = {.box = b, .x1 = t->length > 1 ? t->length - 1 : 1, .y0 = INFINITY, .y1 = -INFINITY};
    const float *rows = t->query_bias + (size_t)h * t->n_queries * t->length;
    double x[MOST];
    int n = t->length < MOST ? t->length : MOST;

    for (int i = 0; i < t->n_queries * t->length; i++)
        if (isfinite(rows[i]))
            a.y0 = fmin(a.y0, (double)rows[i]), a.y1 = fmax(a.y1, (double)rows[i]);
    if (!(a.y0 <= a.y1))
        a.y0 = 0, a.y1 = 1;
    for (int i = 0; i < n; i++)
        x[i] = i;
    pw_figure_axes(f, &a);
    pw_svg_fmt(&f->svg, a.field.x, a.field.y - 2, &name, "head %d", h);
    if (t->trained > 0 && t->trained + 0.5 < a.x1)
        pw_axes_mark(&a, &f->svg, t->trained + 0.5, 0xd55e00, "", 0);
    for (int k = 0; k < t->n_queries; k++)
        pw_axes_line(&a, &f->svg, (struct pw_pen){.color = color_of(t, k), .width = 1.1}, x,
                     rows + (size_t)k * t->length, n);
}

void pw_figure_queries_draw(struct pw_figure *f)
{
    static const struct pw_font font = {.size = 7.5, .color = PW_INK};
    const struct pw_ev_table *t = pw_figure_table(f);
    int lines = (t->heads + across(t) - 1) / across(t);
    double w = (f->box.w - LEGEND) / across(t), h = f->box.h / lines, x = f->box.x + f->box.w - LEGEND + 6;

    for (int i = 0; i < t->heads; i++)
        draw_head(
            f, t, i,
            (struct pw_box){f->box.x + w * (i % across(t)), f->box.y + h * (i / across(t)) + 8, w, h - 8});
    for (int k = 0; k < t->n_queries; k++) {
        double y = f->box.y + 14 + fmin(10, (f->box.h - 14) / t->n_queries) * k;
        pw_svg_line(&f->svg, x, y - 2.5, x + 12, y - 2.5,
                    (struct pw_pen){.color = color_of(t, k), .width = 1.6});
        pw_svg_fmt(&f->svg, x + 16, y, &font, "query %d", t->queries[k]);
    }
}
