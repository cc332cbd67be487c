/* lengths_maps.c - exact match by both numbers of a length that is a pair, one map per arm; and, for one arm,
 * place and kind of the first error in answers. */
#include "base/alloc.h"
#include "figure/axes.h"
#include "figure/map.h"
#include "figure/panes/lengths.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const struct pw_font small = {.size = 7.5, .color = PW_INK, .anchor = PW_MIDDLE};
static const struct pw_font number = {.size = 7, .color = 0x4a4a4a, .anchor = PW_MIDDLE};

/* Draws numbers from lo on along a side of n cells, as many as fit; down: at the left, otherwise below. */
static void draw_numbers(struct pw_svg *s, struct pw_box b, int lo, int n, bool down)
{
    struct pw_font f = number;
    double cell = (down ? b.h : b.w) / n;
    char text[16];

    snprintf(text, sizeof text, "%d", lo + n - 1);
    int every = (int)ceil((down ? 8 : pw_svg_width(&f, text) + 3) / cell);
    f.anchor = down ? PW_END : PW_MIDDLE;
    for (int i = 0; i < n; i += every) {
        double at = (i + 0.5) * cell;
        snprintf(text, sizeof text, "%d", lo + i);
        pw_svg_text(s, down ? b.x - 3 : b.x + at, down ? b.y + at + 2.5 : b.y + b.h + 9, &f, text);
    }
}

/* ---- pairs */

enum { ACROSS = 3 }; /* maps per row */

bool pw_figure_has_pairs(const struct pw_figure *f, const struct pw_figure_line *l)
{
    struct pw_grid *g = pw_alloc(1, sizeof *g);
    bool any = (f->o->arm == 0 || f->o->arm == l->arm->info.id) &&
               pw_grid_collect(g, l->arm, pw_figure_task_of(f, l));

    free(g);
    return any;
}

/* Returns the side of a map with its numbers; *across receives the maps per row. */
static double layout(const struct pw_figure *f, int n, int *across)
{
    *across = n < ACROSS ? n : ACROSS;
    double side = (f->box.w - 50) / *across;
    return side < 220 ? side : 220;
}

enum pw_code pw_figure_grid_prepare(struct pw_figure *f, struct pw_err *err)
{
    struct pw_grid *g = pw_alloc(1, sizeof *g);
    struct pw_lengths v;
    int n = f->n_lines, across;
    bool cut = false;

    for (int i = 0; i < n; i++) {
        pw_grid_collect(g, f->line[i].arm, pw_figure_task_of(f, &f->line[i]));
        cut |= g->cut;
    }
    free(g);
    pw_lengths_of(&v, f->snap, pw_figure_task(f));
    if (v.n == 0)
        return pw_figure_lacks(f, err, "no evaluation; run 'eval' first", "eval");
    enum pw_code code = pw_figure_one_task(f, err);
    if (code != PW_OK)
        return code;
    if (n == 0)
        return pw_figure_nothing(
            err, "no evaluation by pairs: only a task whose lengths are pairs has one, such as addition");
    pw_str_add(&f->title, "Exact match by both numbers of a length");
    pw_str_add(&f->caption, "Across: %s; down: %s. The frame encloses the trained lengths. ",
               v.range->axis[0], v.range->axis[1]);
    pw_figure_caption_task(f, &v);
    pw_str_add(&f->caption, " Replicas%s are counted together.",
               pw_figure_own_batches(f) ? ", each with batches of its own," : "");
    if (cut)
        pw_str_add(&f->caption, " Numbers above %d are not shown.", PW_GRID_MOST);
    double side = layout(f, n, &across);
    f->box.h = side * ((n + across - 1) / across);
    return PW_OK;
}

static void draw_grid(struct pw_figure *f, const struct pw_grid *g, const struct pw_figure_line *l,
                      struct pw_box b)
{
    const struct pw_task_view *t = &l->snap->lab.tasks[pw_figure_task_of(f, l)];
    struct pw_map m = {.data = pw_grid_matrix(g), .map = (enum pw_colormap)f->o->map};
    struct pw_box in = {b.x + 18, b.y + 16, b.w - 26, b.h - 32};
    double cw = in.w / m.data.cols, ch = in.h / m.data.rows;

    pw_figure_key(f, in.x, b.y + 11, l, "");
    pw_map_draw(&m, &f->svg, in);
    pw_svg_frame(&f->svg, in, (struct pw_pen){.color = 0x808080, .width = 0.5});
    struct pw_box box = {in.x + cw * (t->box_lo[0] - g->lo[0]), in.y + ch * (t->box_lo[1] - g->lo[1]),
                         cw * (t->box_hi[0] - t->box_lo[0] + 1), ch * (t->box_hi[1] - t->box_lo[1] + 1)};
    pw_svg_frame(&f->svg, box, (struct pw_pen){.color = 0xd55e00, .width = 1.4});
    draw_numbers(&f->svg, in, g->lo[0], m.data.cols, false);
    draw_numbers(&f->svg, in, g->lo[1], m.data.rows, true);
}

void pw_figure_grid_draw(struct pw_figure *f)
{
    struct pw_grid *g = pw_alloc(1, sizeof *g);
    int n = f->n_lines, across;
    double side = layout(f, n, &across), h = f->box.h / ((n + across - 1) / across);

    for (int i = 0; i < n; i++) {
        pw_grid_collect(g, f->line[i].arm, pw_figure_task_of(f, &f->line[i]));
        draw_grid(f, g, &f->line[i],
                  (struct pw_box){f->box.x + side * (i % across), f->box.y + h * (i / across), side, h});
    }
    const struct pw_map bar = {.data = {.hi = 1}, .map = (enum pw_colormap)f->o->map};
    double top = h - 32 < 120 ? h - 32 : 120;
    pw_map_bar(&bar, &f->svg, (struct pw_box){f->box.x + side * across + 2, f->box.y + 16, 8, top}, true,
               "exact match");
    free(g);
}

/* ---- errors */

/* The classes of answers, from the bottom of a bar to its top. */
static const struct {
    const char *name;
    uint32_t color;
} parts[] = {
    {"exact", 0x009e73}, {"no end mark", 0xe6c229}, {"wrong token", 0xd55e00}, {"ends early", 0x8a8a8a}};

enum { PARTS = sizeof parts / sizeof *parts };

#define NARROW 380.0 /* in points; in narrower pictures the two parts are stacked */

enum pw_code pw_figure_errors_prepare(struct pw_figure *f, struct pw_err *err)
{
    struct pw_lengths v;

    pw_lengths_of(&v, f->snap, pw_figure_task(f));
    if (v.n == 0 || f->arm == NULL || f->arm->rep[0].eval.n == 0)
        return pw_figure_lacks(f, err, "the arm was not evaluated; run 'eval' first", "eval");
    pw_str_add(&f->title, "First errors of answers: ");
    pw_figure_arm(f, f->arm, &f->title);
    pw_figure_caption_task(f, &v);
    pw_str_add(&f->caption, " First: outcomes of the answers by length; dotted: the longest trained length. "
                            "Second: the share of answers whose first wrong token is at that place.");
    if (f->arm->info.replicas > 1)
        pw_str_add(&f->caption, " %d initialisations%s are counted together.", f->arm->info.replicas,
                   f->arm->info.own_batches ? ", each with batches of its own," : "");
    f->box.h = f->box.w < NARROW ? f->box.w * 1.5 : f->box.w * 0.46;
    return PW_OK;
}

static void draw_bars(struct pw_figure *f, const struct pw_lengths *v, struct pw_box b)
{
    struct pw_axes a = {.box = {b.x, b.y + 14, b.w, b.h - 14},
                        .x0 = v->lengths[0] - 0.5,
                        .x1 = v->lengths[v->n - 1] + 0.5,
                        .y1 = 1,
                        .percent = true,
                        .x_name = "length",
                        .y_name = "share of answers"};
    static const struct pw_font key = {.size = 7.5, .color = PW_INK};
    double x = b.x + (b.w > 225 ? 20 : 0);

    pw_figure_axes(f, &a);
    for (int k = 0; k < PARTS; k++) {
        pw_svg_rect(&f->svg, (struct pw_box){x, b.y + 3, 7, 7}, parts[k].color, 1);
        pw_svg_text(&f->svg, x + 9, b.y + 9.5, &key, parts[k].name);
        x += 14 + pw_svg_width(&key, parts[k].name);
    }
    for (int i = 0; i < v->n; i++) {
        struct pw_error_sum s = pw_error_sum_at(f->arm, v->task, v->lengths[i]);
        const int64_t n[PARTS] = {s.exact, s.errors[PW_ERROR_LATE], s.errors[PW_ERROR_WRONG],
                                  s.errors[PW_ERROR_EARLY]};
        double left = pw_axes_x(&a, v->lengths[i] - 0.42), right = pw_axes_x(&a, v->lengths[i] + 0.42),
               from = 0;
        for (int k = 0; k < PARTS; k++) {
            double to = from + pw_error_share(n[k], &s), top = pw_axes_y(&a, to);
            if (n[k] > 0)
                pw_svg_rect(&f->svg, (struct pw_box){left, top, right - left, pw_axes_y(&a, from) - top},
                            parts[k].color, 1);
            from = to;
        }
    }
    if (v->range != NULL && v->range->train_hi < v->lengths[v->n - 1])
        pw_axes_mark(&a, &f->svg, v->range->train_hi + 0.5, PW_INK, "", 0);
}

struct places {
    const struct pw_lengths *v;
    const struct pw_arm_view *arm;
};

static float place_value(const void *arg, int row, int col)
{
    const struct places *p = arg;
    struct pw_error_sum s = pw_error_sum_at(p->arm, p->v->task, p->v->lengths[row]);

    return s.samples == 0 || pw_error_beyond(&s, col, s.places[col])
               ? -INFINITY
               : (float)pw_error_share(s.places[col], &s);
}

static void draw_places(struct pw_figure *f, const struct pw_lengths *v, struct pw_box b)
{
    struct places p = {v, f->arm};
    float most = 0;
    struct pw_map m = {.data = {.rows = v->n, .value = place_value, .arg = &p},
                       .map = (enum pw_colormap)f->o->map};
    struct pw_box in = {b.x + 26, b.y + 14, b.w - 76, b.h - 40};
    struct pw_font turned = small;

    turned.turned = true;
    m.data.cols = pw_error_places(f->arm, v, &most);
    m.data.hi = most > 0 ? most : 1;
    pw_map_draw(&m, &f->svg, in);
    pw_svg_frame(&f->svg, in, (struct pw_pen){.color = 0x808080, .width = 0.5});
    draw_numbers(&f->svg, in, 1, m.data.cols, false);
    for (int i = 0, step = (int)ceil(v->n * 9 / in.h); i < v->n; i += step) {
        struct pw_font right = number;
        right.anchor = PW_END;
        pw_svg_fmt(&f->svg, in.x - 3, in.y + (i + 0.5) * in.h / v->n + 2.5, &right, "%d", v->lengths[i]);
    }
    pw_svg_text(&f->svg, in.x + in.w / 2, in.y + in.h + 20, &small, "token of the answer");
    pw_svg_text(&f->svg, b.x + 8, in.y + in.h / 2, &turned, "length");
    pw_map_bar(&m, &f->svg, (struct pw_box){in.x + in.w + 6, in.y, 7, in.h < 100 ? in.h : 100}, true,
               "first wrong there");
}

void pw_figure_errors_draw(struct pw_figure *f)
{
    struct pw_lengths v;
    struct pw_box first = f->box, second;

    if (f->box.w < NARROW)
        first.h /= 2, second = first, second.y += first.h;
    else
        first.w /= 2, second = first, second.x += first.w;
    pw_lengths_of(&v, f->snap, pw_figure_task(f));
    draw_bars(f, &v, first);
    draw_places(f, &v, second);
}
