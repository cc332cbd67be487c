/* encoding_preview.c - the curve of a formula that is typed at the prompt, beside that of the arm's present
 * encoding. The arm changes only when the line is run. */
#include "ui/panes/encoding_preview.h"

#include "ui/panes/encoding.h"

void pw_encoding_type(struct pw_ui *ui, const char *line)
{
    struct pw_encoding_state *e = &ui->encoding;
    e->typing = line != NULL && pw_preview_read(&e->preview, line, ui->snap);
    if (!e->typing)
        pw_preview_fini(&e->preview);
}

/* The present encoding's kernel, if it has as many distances as the formula's curve; else NULL. */
static const float *present_values(const struct pw_ui *ui, const struct pw_preview *p)
{
    const struct pw_ev_table *t = pw_table_drawn(ui->snap, p->arm);
    bool same = t != NULL && t->length == p->curve.length && t->heads == p->curve.heads;
    return same ? t->kernel : NULL;
}

void pw_enc_preview(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r)
{
    const struct pw_preview *p = &ui->encoding.preview;
    const struct pw_arm_view *arm = pw_find_arm(ui->snap, p->arm);
    struct pw_enc_areas areas = {0};
    struct pw_str title = {0};
    if (p->curve.length == 0) {
        static const char *const lines[] = {"a formula: its curve appears here", "bias = -slopes()[h] * d",
                                            "Tab completes names", NULL};
        pw_draw_invitation(c, r, lines);
        return;
    }
    const float *present = present_values(ui, p);
    int head = pw_within(pw_enc_at(ui, PW_ENC_HEAD), p->curve.heads);
    pw_str_add(&title, "%s, head %d: line the %sformula", p->shows, head,
               p->why[0] != '\0' ? "last valid " : "");
    if (present != NULL && arm != NULL)
        pw_str_add(&title, ", dotted the present %s", arm->info.name);
    pw_draw_cut(c, r, r.y, r.x, pw_style_dim(), pw_str_text(&title), r.w);
    pw_str_fini(&title);
    r.y++, r.h--;
    struct pw_enc_strips strips = {.values = p->curve.kernel};
    struct pw_rect top = r;
    if (r.h >= p->curve.heads + 2 + 9) {
        top.h = p->curve.heads + 2;
        int used = pw_enc_strips(ui, &p->curve, &strips, c, top, &areas) + 1;
        r.y += used, r.h -= used;
    }
    const struct pw_enc_curve curves[2] = {{p->curve.kernel, p->arm, PW_STROKE_LINE},
                                           {present, p->arm, PW_STROKE_DOTTED}};
    pw_enc_curves(ui, &p->curve, curves, c, r, &areas);
}
