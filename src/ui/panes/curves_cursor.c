/* curves_cursor.c - marks at moments: swaps of encodings and forks as dotted lines, the cursor, the time
 * cursor, and the value of every arm there. */
#include <stdio.h>

#include "ui/panes/curves.h"

/* Draws a mark's line, or its label on the side with enough room. */
static void draw_mark(struct pw_canvas *c, const struct pw_plot *p, bool name, struct pw_style s, double at,
                      uint32_t glyph, const char *text)
{
    int x = pw_plot_column(p, at), w = pw_text_cells(text);

    if (x < 0)
        return;
    for (int y = 0; !name && y < p->field.h; y++)
        pw_draw_cell(c, p->field, p->field.y + y, x, s, glyph);
    if (name)
        pw_draw_text(c, p->field, p->field.y, x + w < p->field.x + p->field.w ? x + 1 : x - w, s, text);
}

int64_t pw_curves_moment(const struct pw_ui *ui)
{
    const struct pw_arm_view *a = pw_find_arm(ui->snap, ui->snap->current);
    enum pw_curves_axis axis = (enum pw_curves_axis)ui->curves.axis;

    if (ui->curves.cursor >= 0)
        return ui->curves.cursor;
    return ui->time >= 0 && a != NULL ? (int64_t)pw_curves_x(a, axis, ui->time) : -1;
}

void pw_curves_draw_marks(const struct pw_ui *ui, struct pw_canvas *c, const struct pw_plot *p, bool names)
{
    const struct pw_arm_view *current = pw_find_arm(ui->snap, ui->snap->current);
    enum pw_curves_axis axis = (enum pw_curves_axis)ui->curves.axis;
    char text[24];

    for (int i = 0; i < PW_MAX_ARMS; i++) {
        const struct pw_arm_view *a = pw_find_arm(ui->snap, i + 1);
        for (int j = 0; a != NULL && j < a->n_marks; j++)
            if (a->info.parent == 0 || a->marks[j] != a->info.parent_step) /* else it is the fork itself */
                draw_mark(c, p, names, pw_style_arm(ui, i + 1), pw_curves_x(a, axis, a->marks[j]), 0x250a,
                          "swap");
        if (a != NULL && a->info.parent > 0) {
            snprintf(text, sizeof text, "fork of %d", a->info.parent);
            draw_mark(c, p, names, pw_style_arm(ui, i + 1), pw_curves_x(a, axis, a->info.parent_step), 0x250a,
                      text);
        }
    }
    if (ui->time >= 0 && current != NULL)
        draw_mark(c, p, names, pw_style_warn(), pw_curves_x(current, axis, ui->time), 0x2506, "time");
    if (ui->curves.cursor >= 0)
        draw_mark(c, p, names, pw_style_bold(), (double)ui->curves.cursor, 0x2502, "");
}

static void add_moment(const struct pw_ui *ui, int64_t x, struct pw_str *s)
{
    if (ui->curves.axis == PW_AXIS_FLOPS)
        pw_str_add(s, "%.3g FLOP", (double)x);
    else if (ui->curves.axis == PW_AXIS_TIME)
        pw_str_add(s, "%.1f s", (double)x / 1000);
    else
        pw_str_add(s, "step %lld", (long long)x);
}

void pw_curves_draw_readout(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r, int y,
                            const struct pw_curve *k, int n)
{
    int64_t at = pw_curves_moment(ui);
    struct pw_str head = {0};

    add_moment(ui, at, &head);
    int x = pw_draw_cut(c, r, y, r.x, pw_style_bold(), head.s, r.w) + 2;
    pw_str_fini(&head);
    for (int i = 0; i < n && x < r.x + r.w; i++) {
        struct pw_spread v = pw_curves_at(&k[i], at);
        char value[24] = "-";
        if (v.n > 0)
            pw_curves_value(ui, value, sizeof value, v.median);
        if (!k[i].dotted)
            x = pw_draw_cut(c, r, y, x, pw_style_arm(ui, k[i].arm), pw_arm_mark(ui, k[i].arm), r.x + r.w - x);
        x = pw_draw_cut(c, r, y, x, pw_style_plain(), value, r.x + r.w - x);
        if (!k[i].dotted && i + 1 < n && k[i + 1].dotted) /* the arm's second value follows */
            x = pw_draw_cut(c, r, y, x, pw_style_dim(),
                            ui->curves.metric == PW_METRIC_EXACT ? ", beyond " : ", held-out ",
                            r.x + r.w - x);
        else
            x += 2;
    }
}
