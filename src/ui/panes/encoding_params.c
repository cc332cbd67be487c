/* encoding_params.c - the learned parameters of a formula: a row for each value or table that a layer or head
 * has, with its mean gradient, the entries of a table, and its course over training.
 *
 * The colours of a row of entries start at 0, and the course of a row takes its whole height: the rows have
 * different units. The plot below has one scale for all parts of the parameter under the cursor. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "ui/panes/encoding.h"

enum { NAME_W = 15, PART_W = 8, VALUE_W = 10, GRAD_W = 9 };
enum { COURSE_LEAST = 14, COURSE_MOST = 32, ENTRIES_LEAST = 8, LEAST_PLOT = 7 };

/* The columns of the page; 0: no room, or no parameter has it. */
struct columns {
    int grad, course, course_w, entries, entries_w;
};

static const struct pw_arm_view *arm_of(const struct pw_ui *ui)
{
    return &ui->snap->arms[ui->snap->current - 1];
}

static bool has_tables(const struct pw_ev_table *t)
{
    return t->n_entries > 0;
}

static struct columns columns_for(const struct pw_ev_table *t, struct pw_rect r)
{
    struct columns k = {0};
    int at = NAME_W + PART_W + VALUE_W;

    if (r.w >= at + GRAD_W) {
        k.grad = r.x + at;
        at += GRAD_W;
    }
    int room = r.w - at - 1;
    if (room < 6)
        return k;
    k.course = r.x + at + 1;
    k.course_w = room;
    if (!has_tables(t) || room < COURSE_LEAST + 1 + ENTRIES_LEAST)
        return k;
    k.course_w = room / 3 < COURSE_LEAST ? COURSE_LEAST : room / 3 < COURSE_MOST ? room / 3 : COURSE_MOST;
    k.entries = k.course + k.course_w + 1;
    k.entries_w = room - k.course_w - 1;
    return k;
}

/* ---- one row */

/* Draws a value over training, from its smallest to its largest, one column for each point or several. */
static void draw_course(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r, int y,
                        const struct columns *k, int part)
{
    int64_t step[PW_MAX_COURSE];
    float v[PW_MAX_COURSE], lo = INFINITY, hi = -INFINITY;
    int n = pw_param_course(arm_of(ui), part, step, v), w = k->course_w < n ? k->course_w : n;

    for (int i = 0; i < n; i++)
        if (isfinite(v[i]))
            lo = fminf(lo, v[i]), hi = fmaxf(hi, v[i]);
    for (int x = 0; x < w; x++) {
        float at = v[w > 1 ? x * (n - 1) / (w - 1) : n - 1];
        int level = hi > lo ? (int)lrintf((at - lo) / (hi - lo) * 7) : 3;
        if (isfinite(at))
            pw_draw_cell(c, r, y, k->course + x, pw_style_ok(), 0x2581 + (uint32_t)level);
        else
            pw_draw_cell(c, r, y, k->course + x, pw_style_bad(), '!');
    }
}

/* Returns the entry with the largest absolute value of those that share a column. */
static float largest(const float *v, int from, int n, int size)
{
    float best = v[from];

    for (int i = from + 1; i < from + n && i < size; i++)
        if (!isfinite(v[i]) || fabsf(v[i]) > fabsf(best))
            best = v[i];
    return best;
}

static void draw_entries(const struct pw_ui *ui, const struct pw_ev_table *t, struct pw_canvas *c,
                         struct pw_rect r, int y, const struct columns *k, int part)
{
    const struct pw_table_param *p = pw_param_of(t, part);
    const float *v = pw_param_entries(t, part);
    struct pw_enc_ruler ruler = pw_enc_ruler(p->size, k->entries, k->entries_w);
    int place = pw_enc_at(ui, PW_ENC_PLACE);

    if (v == NULL && p->size > 1)
        pw_draw_cut(c, r, y, k->entries, pw_style_dim(), "too many entries", k->entries_w);
    if (v == NULL)
        return;
    float top = pw_enc_scale(t->entries + p->entry, (size_t)p->layers * p->heads * p->size);
    for (int i = 0; i < p->size; i += ruler.pool) {
        int x = ruler.x + i / ruler.pool * ruler.w;
        pw_heat_cell(&ui->look, c, r, y, x, ruler.w, largest(v, i, ruler.pool, p->size), -top, top, true);
        if (part == pw_enc_at(ui, PW_ENC_PART) && place / ruler.pool == i / ruler.pool && y < c->rows &&
            x < c->cols)
            pw_draw_cell(c, r, y, x, c->cells[(size_t)y * (size_t)c->cols + x].style, PW_HEAT_CURSOR);
    }
}

static void draw_part(const struct pw_ui *ui, const struct pw_ev_table *t, struct pw_canvas *c,
                      struct pw_rect r, int y, const struct columns *k, int part, bool named)
{
    const struct pw_table_param *p = pw_param_of(t, part);
    bool here = part == pw_enc_at(ui, PW_ENC_PART);
    struct pw_style s = here ? pw_style_bold() : pw_style_plain();
    int x = r.x + NAME_W;
    char text[32];

    pw_draw_text(c, r, y, r.x, s, here ? "▸" : " ");
    if (named)
        pw_draw_cut(c, r, y, r.x + 1, s, p->name, NAME_W - 2);
    pw_param_part_text(p, part, text);
    pw_draw_cut(c, r, y, x, s, text, PART_W - 1);
    pw_draw_fmt(c, r, y, x + PART_W, s, "%*.4g", VALUE_W - 1, (double)t->learned[part]);
    if (k->grad > 0 && t->learned_grads != NULL)
        pw_draw_fmt(c, r, y, k->grad, s, "%*.2g", GRAD_W - 1, (double)t->learned_grads[part]);
    else if (k->grad > 0)
        pw_draw_fmt(c, r, y, k->grad, s, "%*s", GRAD_W - 1, "-");
    if (k->course > 0)
        draw_course(ui, c, r, y, k, part);
    if (k->entries > 0)
        draw_entries(ui, t, c, r, y, k, part);
}

/* ---- the page */

static void draw_head(const struct pw_ui *ui, const struct pw_ev_table *t, struct pw_canvas *c,
                      struct pw_rect r, const struct columns *k)
{
    const struct pw_course *course = &arm_of(ui)->course;
    struct pw_style s = pw_style_dim();
    char text[64];

    pw_draw_cut(c, r, r.y, r.x, s, " parameter", NAME_W);
    pw_draw_fmt(c, r, r.y, r.x + NAME_W + PART_W, s, "%*s", VALUE_W - 1,
                has_tables(t) ? "value/rms" : "value");
    if (k->grad > 0)
        pw_draw_fmt(c, r, r.y, k->grad, s, "%*s", GRAD_W - 1, "|grad|");
    if (k->course > 0 && course->n > 0) {
        snprintf(text, sizeof text, "steps %" PRId64 "..%" PRId64, course->point[0].step,
                 course->point[course->n - 1].step);
        pw_draw_cut(c, r, r.y, k->course, s, text, k->course_w);
    }
    if (k->entries > 0)
        pw_draw_cut(c, r, r.y, k->entries, s, "entries", k->entries_w);
}

/* Draws the course of all parts of the cursor's parameter. */
static void draw_plot(const struct pw_ui *ui, const struct pw_ev_table *t, struct pw_canvas *c,
                      struct pw_rect r)
{
    int64_t step[PW_MAX_COURSE];
    float v[PW_MAX_COURSE], lo = INFINITY, hi = -INFINITY;
    int at = pw_enc_at(ui, PW_ENC_PART), n = 0;
    const struct pw_table_param *p = pw_param_of(t, at);
    struct pw_points points = {.x = step, .y = v};
    char part[32], text[128];

    for (int i = 0; i < p->layers * p->heads; i++) {
        points.n = n = pw_param_course(arm_of(ui), p->part + i, step, v);
        pw_plot_extent(&points, false, &lo, &hi);
    }
    pw_param_part_text(p, at, part);
    snprintf(text, sizeof text, "%s %s%sover training%s", p->name, part, part[0] != '\0' ? " " : "",
             part[0] != '\0' ? "; grey: its other parts" : "");
    pw_draw_cut(c, r, r.y, r.x, pw_style_dim(), n > 1 ? text : "its course over training begins with steps",
                r.w);
    if (n < 2 || !(hi >= lo))
        return;
    struct pw_plot plot = {.box = {r.y + 1, r.x, r.h - 1, r.w},
                           .x0 = (double)step[0],
                           .x1 = (double)step[n - 1],
                           .y0 = (double)lo,
                           .y1 = hi > lo ? (double)hi : (double)lo + 1};
    if (!pw_plot_begin(&plot, ui, c, "step"))
        return;
    for (int i = 0; i < p->layers * p->heads; i++)
        if (p->part + i != at) {
            pw_param_course(arm_of(ui), p->part + i, step, v);
            pw_plot_series(&plot, ui, c, ui->snap->current, &points, PW_STROKE_GREY);
        }
    pw_param_course(arm_of(ui), at, step, v);
    pw_plot_series(&plot, ui, c, ui->snap->current, &points, PW_STROKE_LINE);
}

/* Draws the list of parts; returns the rows taken. */
static int draw_list(const struct pw_ui *ui, const struct pw_ev_table *t, struct pw_canvas *c,
                     struct pw_rect r, const struct columns *k, struct pw_enc_areas *areas)
{
    int first = pw_enc_list(ui, PW_ENC_PART, t->n_learned, r, areas), rows = 0;
    int at = pw_enc_at(ui, PW_ENC_PART);

    for (int part = first; part < t->n_learned && rows < r.h; part++, rows++)
        draw_part(ui, t, c, r, r.y + rows, k, part, part == first || part == pw_param_of(t, part)->part);
    if (k->entries > 0 && pw_param_entries(t, at) != NULL) {
        struct pw_enc_ruler ruler = pw_enc_ruler(pw_param_of(t, at)->size, k->entries, k->entries_w);
        pw_enc_area(areas, (struct pw_enc_area){{r.y + at - first, ruler.x, 1, ruler.columns},
                                                PW_ENC_PLACE,
                                                PW_ENC_ACROSS,
                                                .size = ruler.w,
                                                .pool = ruler.pool});
    }
    return rows;
}

static void draw_params(const struct pw_ui *ui, const struct pw_ev_table *t, struct pw_canvas *c,
                        struct pw_rect r, struct pw_enc_areas *areas)
{
    struct columns k = columns_for(t, r);

    if (t->params_left > 0 && r.h >= 4) {
        pw_draw_fmt(c, r, r.y + r.h - 1, r.x, pw_style_warn(),
                    "%d more parameters have too many values to be shown", t->params_left);
        r.h--;
    }
    if (r.h >= 3) {
        draw_head(ui, t, c, r, &k);
        r.y++, r.h--;
    }
    struct pw_rect list = r;
    if (r.h >= 4 + LEAST_PLOT) { /* a long list leaves a third of the rows to the plot */
        int plot = r.h / 3 > LEAST_PLOT ? r.h / 3 : LEAST_PLOT;
        list.h = t->n_learned < r.h - plot - 1 ? t->n_learned : r.h - plot - 1;
    }
    int used = draw_list(ui, t, c, list, &k, areas);
    struct pw_rect rest = {r.y + used + 1, r.x, r.h - used - 1, r.w};
    if (rest.h >= LEAST_PLOT)
        draw_plot(ui, t, c, rest);
}

static void read(const struct pw_ui *ui, const struct pw_ev_table *t, struct pw_str *out)
{
    int part = pw_enc_at(ui, PW_ENC_PART), place = pw_enc_at(ui, PW_ENC_PLACE);
    const struct pw_table_param *p = pw_param_of(t, part);
    const float *entries = pw_param_entries(t, part), *grads = pw_param_entry_grads(t, part);
    int64_t step[PW_MAX_COURSE];
    float v[PW_MAX_COURSE];
    char text[32];

    pw_param_part_text(p, part, text);
    pw_str_add(out, "%s %s%s", p->name, text, text[0] != '\0' ? " " : "");
    pw_str_add(out, p->size > 1 ? "rms %.4g" : "%.6g", (double)t->learned[part]);
    if (entries != NULL)
        pw_str_add(out, "  entry %d %+.4g", place, (double)entries[place]);
    if (t->learned_grads != NULL)
        pw_str_add(out, "  mean |gradient| %.2g over %" PRId64 " steps",
                   (double)(grads != NULL ? grads[place] : t->learned_grads[part]), t->param_steps);
    if (pw_param_course(arm_of(ui), part, step, v) > 1)
        pw_str_add(out, "  was %.4g at step %" PRId64, (double)v[0], step[0]);
    pw_str_add(out, "  (");
    pw_param_scope_text(p, out);
    pw_str_add(out, ")");
}

static void copy_value(const struct pw_table_param *p, const char *part, int entry, float value,
                       const float *grad, struct pw_str *out)
{
    pw_str_add(out, "%s\t%s\t", p->name, part);
    if (entry >= 0)
        pw_str_add(out, "%d", entry);
    pw_str_add(out, "\t%.9g\t", (double)value);
    if (grad != NULL)
        pw_str_add(out, "%.3g", (double)*grad);
    pw_str_add(out, "\n");
}

/* Appends a line for each number and each entry of a table; of a table without entries one for its rms. */
static void copy(const struct pw_ui *ui, const struct pw_ev_table *t, struct pw_str *out)
{
    (void)ui;
    pw_str_add(out, "parameter\tof\tentry\tvalue\tmean_gradient\n");
    for (int part = 0; part < t->n_learned; part++) {
        const struct pw_table_param *p = pw_param_of(t, part);
        const float *entries = pw_param_entries(t, part), *grads = pw_param_entry_grads(t, part);
        char text[32];
        pw_param_part_text(p, part, text);
        for (int i = 0; entries != NULL && i < p->size; i++)
            copy_value(p, text, i, entries[i], grads != NULL ? &grads[i] : NULL, out);
        if (entries == NULL)
            copy_value(p, text, -1, t->learned[part],
                       t->learned_grads != NULL ? &t->learned_grads[part] : NULL, out);
    }
}

void pw_enc_params_follow(struct pw_ui *ui, const struct pw_ev_table *t, enum pw_enc_cursor moved)
{
    int *part = &ui->encoding.cursor[PW_ENC_PART], *head = &ui->encoding.cursor[PW_ENC_HEAD];
    const struct pw_table_param *p = pw_param_of(t, *part);
    int now = (*part - p->part) % p->heads;

    if (p->heads == 1)
        return;
    if (moved == PW_ENC_PART)
        *head = now;
    else if (moved == PW_ENC_HEAD && *head < p->heads)
        *part += *head - now;
}

const struct pw_enc_page pw_enc_params = {
    "params",     PW_ENCODING_PARAMS,
    PW_ENC_PLACE, PW_ENC_PART,
    draw_params,  read,
    copy,         "learned parameters; of a table too large to be listed the root mean square"};
