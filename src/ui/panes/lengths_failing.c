/* lengths_failing.c - failing examples: a list, and the selected one in full below. Enter pins it. */
#include <stdio.h>

#include "ui/panes/lengths.h"

static void draw_line(struct pw_canvas *c, struct pw_rect r, int y, const struct pw_failing *x, bool chosen)
{
    struct pw_str s = {0};
    struct pw_style style = chosen ? pw_style_bold() : pw_style_plain();

    style.attr |= chosen ? PW_REVERSE : 0;
    if (x->place < 0)
        pw_str_add(&s, "#%-4d right by now         ", x->index);
    else
        pw_str_add(&s, "#%-4d %-11s %2d of %-2d  %s for %s", x->index, pw_error_name(x->kind), x->place + 1,
                   x->n_answer, pw_label(x->got), pw_label(x->want));
    int end = pw_draw_cut(c, r, y, r.x, style, s.s, r.w);
    end = end < r.x + 42 ? r.x + 42 : end + 2;
    pw_draw_cut(c, r, y, end, pw_style_dim(), x->prompt, r.x + r.w - end);
    pw_str_fini(&s);
}

static void draw_text(struct pw_canvas *c, struct pw_rect r, int y, const char *name, const char *text,
                      struct pw_style s)
{
    int x = pw_draw_text(c, r, y, r.x, pw_style_dim(), name);

    pw_draw_cut(c, r, y, x, s, text, r.x + r.w - x);
}

static void invite(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r, const struct pw_lengths *v)
{
    char ask[64];
    const char *lines[] = {"no failing examples listed yet", ask, "or f here: what the current arm got wrong",
                           "at the cursor's length; Enter pins one", NULL};

    snprintf(ask, sizeof ask, ":failing length=%d", v->lengths[pw_lengths_cursor(ui, v)]);
    pw_draw_missing(ui, c, r, lines);
}

bool pw_lengths_failing_shown(const struct pw_snapshot *s)
{
    const struct pw_arm_view *a = pw_find_arm(s, s->failing_arm);

    return a != NULL && s->failing_arm == s->current && s->failing_replica == pw_inspected(s, a);
}

/* Returns true if the list of failing examples belongs to what the page shows. */
static bool is_listed(const struct pw_ui *ui, const struct pw_lengths *v)
{
    const struct pw_ev_failing *f = &ui->snap->failing;

    return pw_lengths_failing_shown(ui->snap) && f->task == v->task && f->samples > 0;
}

/* Returns the rows below the list, for the selected example in full. */
static int rows_below(const struct pw_ev_failing *f, struct pw_rect r)
{
    return f->n == 0 || r.h < 6 ? 0 : 4;
}

void pw_lengths_failing_areas(const struct pw_ui *ui, struct pw_rect r, const struct pw_lengths *v,
                              struct pw_lengths_areas *a)
{
    const struct pw_ev_failing *f = &ui->snap->failing;

    if (is_listed(ui, v))
        pw_lengths_list(ui, ui->lengths.chosen, f->n,
                        (struct pw_rect){r.y + 1, r.x, r.h - 1 - rows_below(f, r), r.w}, a);
}

void pw_lengths_failing(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r,
                        const struct pw_lengths *v)
{
    const struct pw_ev_failing *f = &ui->snap->failing;
    struct pw_lengths_areas areas;
    const struct pw_arm_view *a = pw_find_arm(ui->snap, ui->snap->failing_arm);
    struct pw_str head = {0};

    if (!is_listed(ui, v)) {
        invite(ui, c, r, v);
        return;
    }
    pw_arm_short(ui, a, &head);
    pw_replica_text(a, ui->snap->failing_replica, &head);
    if (f->n == 0)
        pw_str_add(&head, "  length %d: none of %d failed at step %lld", f->length, f->samples,
                   (long long)f->eval_step);
    else
        pw_str_add(&head, "  length %d: %d of %d failed at step %lld, the first %d", f->length, f->failed,
                   f->samples, (long long)f->eval_step, f->n);
    if (ui->snap->failing_step != f->eval_step)
        pw_str_add(&head, ", as of step %lld", (long long)ui->snap->failing_step);
    pw_draw_cut(c, r, r.y, r.x, pw_style_dim(), head.s, r.w);
    pw_str_fini(&head);
    pw_lengths_failing_areas(ui, r, v, &areas);
    for (int i = 0, at = areas.first; i < areas.table.h; i++, at++)
        draw_line(c, r, areas.table.y + i, &f->list[at], at == ui->lengths.chosen);
    if (rows_below(f, r) == 0)
        return;
    const struct pw_failing *x = &f->list[ui->lengths.chosen];
    int y = r.y + r.h - 3;
    draw_text(c, r, y, "prompt ", x->prompt, pw_style_plain());
    draw_text(c, r, y + 1, "right  ", x->right, pw_style_ok());
    draw_text(c, r, y + 2, "model  ", x->model, x->place < 0 ? pw_style_ok() : pw_style_bad());
}
