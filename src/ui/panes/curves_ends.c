/* curves_ends.c - labels of the curves with their last values: at the right end beside each curve if there is
 * room, else above the plot. */
#include <math.h>
#include <stdio.h>

#include "ui/panes/curves.h"

void pw_curves_describe_end(const struct pw_ui *ui, struct pw_curve_end *l, const struct pw_curve *k)
{
    struct pw_spread v = pw_curves_at(k, INT64_MAX);
    char value[24] = "", of[16] = "";

    if (v.n > 0)
        pw_curves_value(ui, value, sizeof value, v.median);
    if (k->n > 1)
        snprintf(of, sizeof of, " n=%d", v.n);
    const struct pw_ev_arm *info = &ui->snap->arms[k->arm - 1].info;
    struct pw_str name = {0};
    pw_encoding_name(&name, info->pe);
    pw_str_add(&name, "%s", info->swaps > 0 ? PW_SWAPPED : "");
    snprintf(l->name, sizeof l->name, "%s%s%s", pw_arm_mark(ui, k->arm), info->name,
             info->swaps > 0 ? PW_SWAPPED : "");
    snprintf(l->text, sizeof l->text, "%s%d %s %s%s", pw_arm_mark(ui, k->arm), k->arm, pw_str_text(&name),
             value, of);
    pw_str_fini(&name);
}

void pw_curves_draw_ends(const struct pw_ui *ui, struct pw_canvas *c, const struct pw_plot *p,
                         struct pw_curve_end *l, int n)
{
    int top = p->field.y, bottom = p->field.y + p->field.h - 1, x = p->field.x + p->field.w + 1;

    for (int i = 1; i < n; i++) /* insertion sort by row, stable; there are few labels */
        for (int j = i; j > 0 && l[j - 1].row > l[j].row; j--) {
            struct pw_curve_end t = l[j];
            l[j] = l[j - 1], l[j - 1] = t;
        }
    for (int i = 0; i < n; i++) /* push overlapping labels down, then those outside up */
        if (i > 0 && l[i].row <= l[i - 1].row)
            l[i].row = l[i - 1].row + 1;
    for (int i = n - 1; i >= 0; i--) {
        int limit = i == n - 1 ? bottom : l[i + 1].row - 1;
        if (l[i].row > limit)
            l[i].row = limit;
    }
    for (int i = 0; i < n; i++) {
        struct pw_style s = pw_style_arm(ui, l[i].arm);
        if (l[i].arm == ui->snap->current)
            s.attr |= PW_BOLD;
        if (l[i].row >= top)
            pw_draw_text(c, p->box, l[i].row, x, s, l[i].text);
    }
}

void pw_curves_draw_legend(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r,
                           const struct pw_curve_end *l, int n)
{
    int x = r.x, width = -2;

    for (int i = 0; i < n; i++)
        width += pw_text_cells(l[i].text) + 2;
    for (int i = 0; i < n; i++) {
        struct pw_style s = pw_style_arm(ui, l[i].arm);
        if (l[i].arm == ui->snap->current)
            s.attr |= PW_BOLD;
        x = pw_draw_text(c, r, r.y, x, s, width <= r.w ? l[i].text : l[i].name) + (width <= r.w ? 2 : 1);
    }
}
