/* step_lens.c - step inspector: the logit lens. It shows the model's prediction if it stopped after each
 * layer, and the ranks of the chosen and the right token there. */
#include <string.h>

#include "ui/panes/step_int.h"

static int rows(const struct pw_ui *ui, const struct pw_step_view *v)
{
    (void)ui;
    return v->look->layers + 1;
}

static void name_row(int l, struct pw_str *out)
{
    if (l == 0)
        pw_str_add(out, "embed");
    else
        pw_str_add(out, "L%d", l - 1);
}

static int draw_token(struct pw_canvas *c, struct pw_rect r, int y, int x, const struct pw_ev_inspection *k,
                      int l, int token, struct pw_style s)
{
    size_t at = (size_t)l * k->n + token;

    return pw_draw_fmt(c, r, y, x, k->lens_rank[at] == 0 ? pw_style_bold() : s, "%.3f %3lld.",
                       (double)k->lens_prob[at], pw_step_rank(k->lens_rank[at]));
}

static void draw_step_lens(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r,
                           const struct pw_step_view *v)
{
    const struct pw_ev_inspection *k = v->look;
    int n = k->layers + 1, row = pw_step_row(ui, PW_STEP_LENS, n), h = r.h - 1;
    int first = pw_step_first(row, n, h), chosen = pw_step_chosen(ui, k);
    bool right = k->target >= 0 && k->target != chosen && r.w >= 44, bits = r.w >= (right ? 52 : 40);
    int at_top = r.x + 6, at_said = at_top + 15, at_right = at_said + 12,
        at_bits = (right ? at_right : at_said) + 12;

    pw_draw_text(c, r, r.y, r.x, pw_style_dim(), "after");
    pw_draw_text(c, r, r.y, at_top, pw_style_dim(), "top      p");
    if (at_said + 9 <= r.x + r.w)
        pw_draw_cut(c, r, r.y, at_said, pw_style_dim(), pw_label(k->token[chosen].label), 5);
    if (at_said + 10 <= r.x + r.w)
        pw_draw_text(c, r, r.y, at_said + 6, pw_style_dim(), "rank");
    if (right) {
        pw_draw_cut(c, r, r.y, at_right, pw_style_ok(), pw_label(k->token[k->target].label), 5);
        pw_draw_text(c, r, r.y, at_right + 6, pw_style_ok(), "right");
    }
    if (bits)
        pw_draw_text(c, r, r.y, at_bits, pw_style_dim(), "bits");
    for (int l = first; l < n && l < first + h; l++) {
        const struct pw_inspection_lens *x = &k->lens[l];
        int y = r.y + 1 + l - first;
        struct pw_str name = {0};
        name_row(l, &name);
        pw_draw_cut(c, r, y, r.x, pw_step_mark(ui, pw_style_plain(), l == row), name.s, 5);
        pw_str_fini(&name);
        pw_draw_cut(c, r, y, at_top, pw_style_bold(), pw_label(x->label), 7);
        pw_draw_fmt(c, r, y, at_top + 8, pw_style_plain(), "%.3f", (double)x->prob);
        if (at_said + 10 <= r.x + r.w)
            draw_token(c, r, y, at_said, k, l, chosen, pw_style_plain());
        if (right)
            draw_token(c, r, y, at_right, k, l, k->target, pw_style_plain());
        if (bits)
            pw_draw_fmt(c, r, y, at_bits, pw_style_dim(), "%.2f", (double)x->entropy);
    }
}

static void print_step_lens(const struct pw_ui *ui, const struct pw_step_view *v, struct pw_str *out)
{
    const struct pw_ev_inspection *k = v->look;
    int l = pw_step_row(ui, PW_STEP_LENS, k->layers + 1), chosen = pw_step_chosen(ui, k);

    if (l == 0)
        pw_str_add(out, "the embedding alone predicts");
    else
        pw_str_add(out, "after layer %d it predicts", l - 1);
    pw_str_add(out, " \"%s\" (%.2f); \"%s\" has rank %lld", pw_label(k->lens[l].label),
               (double)k->lens[l].prob, pw_label(k->token[chosen].label),
               pw_step_rank(k->lens_rank[(size_t)l * k->n + chosen]));
}

static void copy(const struct pw_ui *ui, const struct pw_step_view *v, struct pw_str *out)
{
    const struct pw_ev_inspection *k = v->look;
    int chosen = pw_step_chosen(ui, k);

    const int shown[2] = {chosen, k->target}, n = k->target >= 0 && k->target != chosen ? 2 : 1;

    pw_str_add(out, "after\ttop\tp\tentropy_bits\ttoken\tp\trank%s\n", n > 1 ? "\tright\tp\trank" : "");
    for (int l = 0; l <= k->layers; l++) {
        name_row(l, out);
        pw_str_add(out, "\t%s\t%.6g\t%.6g", pw_label(k->lens[l].label), (double)k->lens[l].prob,
                   (double)k->lens[l].entropy);
        for (int i = 0; i < n; i++) {
            size_t at = (size_t)l * k->n + shown[i];
            pw_str_add(out, "\t%s\t%.6g\t%lld", pw_label(k->token[shown[i]].label), (double)k->lens_prob[at],
                       pw_step_rank(k->lens_rank[at]));
        }
        pw_str_add(out, "\n");
    }
}

static void title(const struct pw_ui *ui, const struct pw_step_view *v, struct pw_str *out)
{
    (void)ui;
    (void)v;
    pw_str_add(out, "logit lens: the prediction if the model ended after each layer");
}

const struct pw_step_section pw_step_lens = {"lens",          4,    rows,  1,   draw_step_lens,
                                             print_step_lens, copy, title, NULL};
