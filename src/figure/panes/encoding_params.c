/* encoding_params.c - the learned parameters of a formula. Each has a plot of its values over training, a
 * line for each layer and head, and beside it the present values, or for tables a map of the entries. */
#include "figure/axes.h"
#include "figure/panes/encoding.h"
#include <math.h>

#define EACH   110.0
#define LEGEND 70.0 /* points beside the map of a table */

enum { MOST_NAMED = 9 }; /* parts with a row in the legend */

static int parts_of(const struct pw_table_param *p)
{
    return p->layers * p->heads;
}

static uint32_t color_of(const struct pw_table_param *p, int i)
{
    int n = parts_of(p);

    return pw_ramp_up(PW_VIRIDIS, n > 1 ? 0.85f * (float)i / (float)(n - 1) : 0);
}

enum pw_code pw_figure_params_prepare(struct pw_figure *f, struct pw_err *err)
{
    const struct pw_ev_table *t = pw_figure_table(f);

    if (t == NULL || !pw_table_has(t, PW_ENCODING_PARAMS))
        return pw_figure_nothing(err, t != NULL ? "this encoding is no formula with learned parameters"
                                                : "the encoding's table is missing; run 'table' first");
    f->asks = pw_figure_tables;
    pw_figure_caption_table(f, t, "Learned parameters", false);
    pw_str_add(&f->caption, " Left: values over training, as far as tables of the encoding were read");
    if (t->n_entries > 0)
        pw_str_add(&f->caption,
                   "; of a table the root mean square. Right: present values, and the entries of "
                   "tables, a row for each layer and head");
    else
        pw_str_add(&f->caption, ". Right: present values");
    pw_str_add(&f->caption, ". Light lines: later layers and heads.");
    f->box.h = EACH * t->n_params;
    f->least = f->box.h * 0.6;
    f->narrowest = 260;
    return PW_OK;
}

static void draw_course(struct pw_figure *f, const struct pw_table_param *p, struct pw_box b)
{
    struct pw_axes a = {.box = b, .x0 = 0, .x1 = 1, .y0 = INFINITY, .y1 = -INFINITY, .x_name = "step"};
    int64_t step[PW_MAX_COURSE];
    double x[PW_MAX_COURSE];
    float v[PW_MAX_COURSE];
    int n = 0;

    for (int i = 0; i < parts_of(p); i++) {
        n = pw_param_course(f->arm, p->part + i, step, v);
        for (int k = 0; k < n; k++)
            if (isfinite(v[k]))
                a.y0 = fmin(a.y0, (double)v[k]), a.y1 = fmax(a.y1, (double)v[k]);
    }
    for (int k = 0; k < n; k++)
        x[k] = (double)step[k];
    if (!(a.y0 <= a.y1))
        a.y0 = 0, a.y1 = 1;
    if (n > 0)
        a.x0 = x[0], a.x1 = n > 1 ? x[n - 1] : x[0] + 1;
    pw_figure_axes(f, &a);
    for (int i = 0; i < parts_of(p); i++) {
        n = pw_param_course(f->arm, p->part + i, step, v);
        pw_axes_line(&a, &f->svg, (struct pw_pen){.color = color_of(p, i), .width = 1.1}, x, v, n);
    }
}

static void draw_values(struct pw_figure *f, const struct pw_ev_table *t, const struct pw_table_param *p,
                        struct pw_box b)
{
    static const struct pw_font font = {.size = 7.5, .color = PW_INK};
    int n = parts_of(p), shown = (int)(b.h / 10) < MOST_NAMED ? (int)(b.h / 10) : MOST_NAMED;
    double y = b.y + 8;

    for (int i = 0; i < n && i < shown; i++, y += 10) {
        char name[32];
        if (i + 1 == shown && n > shown) {
            pw_svg_fmt(&f->svg, b.x + 16, y, &font, "and %d more", n - i);
            break;
        }
        pw_param_part_text(p, p->part + i, name);
        pw_svg_line(&f->svg, b.x, y - 2.5, b.x + 12, y - 2.5,
                    (struct pw_pen){.color = color_of(p, i), .width = 1.6});
        pw_svg_fmt(&f->svg, b.x + 16, y, &font, "%s%s%.4g", name, name[0] != '\0' ? " " : "",
                   (double)t->learned[p->part + i]);
    }
}

struct entries {
    const float *v;
    int size;
};

static float entry(const void *arg, int row, int col)
{
    const struct entries *e = arg;

    return e->v[(size_t)row * e->size + col];
}

static void draw_entries(struct pw_figure *f, const struct pw_ev_table *t, const struct pw_table_param *p,
                         struct pw_box b)
{
    struct entries e = {t->entries + p->entry, p->size};
    struct pw_map m = {.data = {.rows = parts_of(p),
                                .cols = p->size,
                                .value = entry,
                                .arg = &e,
                                .hi = pw_enc_scale(e.v, (size_t)parts_of(p) * p->size),
                                .is_signed = true},
                       .map = (enum pw_colormap)f->o->map,
                       .most = p->size > 512 || parts_of(p) > 512 ? 512 : 0};
    struct pw_box map = {b.x + 30, b.y, b.w - 30 - LEGEND, b.h - 24};

    pw_figure_table_map(f, &m, map, &(struct pw_enc_sides){"entry", "part", 1, 0}, PW_ENC_ACROSS);
    pw_map_bar(&m, &f->svg, (struct pw_box){map.x + map.w + 10, b.y, 8, fmax(map.h, 30)}, false, "value");
}

void pw_figure_params_draw(struct pw_figure *f)
{
    static const struct pw_font name = {.size = 8, .color = PW_INK};
    const struct pw_ev_table *t = pw_figure_table(f);
    double h = f->box.h / t->n_params, w = f->box.w / 2;

    for (int i = 0; i < t->n_params; i++) {
        const struct pw_table_param *p = &t->params[i];
        struct pw_box left = {f->box.x, f->box.y + i * h + 11, w, h - 13},
                      right = {f->box.x + w + 10, left.y, f->box.w - w - 10, left.h};
        struct pw_str text = {0};
        pw_str_add(&text, "%s, ", p->name);
        pw_param_scope_text(p, &text);
        pw_svg_cut(&f->svg, f->box.x, f->box.y + i * h + 7, &name, text.s, f->box.w);
        pw_str_fini(&text);
        draw_course(f, p, left);
        if (p->entry >= 0)
            draw_entries(f, t, p, right);
        else
            draw_values(f, t, p, right);
    }
}
