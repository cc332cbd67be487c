/* step_parts.c - step inspector: the contribution of every head, MLP and row to the chosen token's logit,
 * relative to the runner-up or to the vocabulary's mean. The last row shows their sum beside the logit of the
 * forward pass, as proof that the parts are complete. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ui/panes/step_int.h"

#define NAME 11

int pw_step_chosen(const struct pw_ui *ui, const struct pw_ev_inspection *k)
{
    if (ui->step.chosen == PW_STEP_TARGET && k->target >= 0)
        return k->target;
    return ui->step.chosen == PW_STEP_ROW ? pw_step_row(ui, PW_STEP_TOKENS, k->n) : k->said;
}

static struct pw_contrast contrast_of(const struct pw_ui *ui, const struct pw_ev_inspection *k)
{
    return pw_contrast_of(k, pw_step_chosen(ui, k), ui->step.mean);
}

/* Returns all parts in the listed order; the caller frees them. */
static struct pw_contrast_part *entries(const struct pw_ui *ui, const struct pw_ev_inspection *k)
{
    struct pw_contrast c = contrast_of(ui, k);
    return pw_contrast_parts(&c, ui->step.order);
}

static int rows(const struct pw_ui *ui, const struct pw_step_view *v)
{
    (void)ui;
    return v->look->n_parts;
}

/* Appends "4" over "5". */
static void name_contrast(const struct pw_ui *ui, const struct pw_ev_inspection *k, struct pw_str *out)
{
    static const char *const who[] = {
        [PW_STEP_SAID] = "said", [PW_STEP_TARGET] = "right", [PW_STEP_ROW] = "row"};
    int against = contrast_of(ui, k).against, chosen = ui->step.chosen;

    chosen = chosen == PW_STEP_TARGET && k->target < 0 ? PW_STEP_SAID : chosen;
    pw_str_add(out, "logit \"%s\" (%s)", pw_label(k->token[pw_step_chosen(ui, k)].label),
               chosen >= 0 && chosen < PW_STEP_CHOICES ? who[chosen] : "said");
    if (against < 0)
        pw_str_add(out, " − mean of %d tokens", k->vocab);
    else
        pw_str_add(out, " − \"%s\" (%s)", pw_label(k->token[against].label),
                   against == 0 ? "best" : "runner-up");
}

/* Draws a bar to the right or to the left of the middle. */
static void draw_bar(struct pw_canvas *c, struct pw_rect r, int y, int x, int half, double fraction,
                     struct pw_style right, struct pw_style left)
{
    int halves = (int)lrint(fmin(fabs(fraction), 1) * half * 2);

    pw_draw_cell(c, r, y, x + half, pw_style_dim(), 0x2502);
    if (fraction > 0) {
        pw_draw_bar(c, r, y, x + half + 1, right, half, fraction);
        return;
    }
    for (int i = 0; i < halves; i += 2)
        pw_draw_cell(c, r, y, x + half - 1 - i / 2, left, halves - i >= 2 ? 0x2588 : 0x2590);
}

static void draw_sum(const struct pw_ui *ui, struct pw_canvas *canvas, struct pw_rect r, int y,
                     const struct pw_ev_inspection *k)
{
    struct pw_contrast c = contrast_of(ui, k);
    double sum = pw_contrast_sum(&c), want = pw_contrast_logits(&c);
    double off = fabs(sum - want);
    bool fine = off < 1e-4 * fmax(1, fabs(want));
    struct pw_str s = {0};

    pw_str_add(
        &s, r.w < 46 ? "sum %+.3f logits %+.3f off %.0e %s" : "sum %+.3f  logits %+.3f  difference %.0e %s",
        sum, want, off, fine ? "✓" : "✗ rounding (bf16?)");
    pw_draw_cut(canvas, r, y, r.x, fine ? pw_style_ok() : pw_style_warn(), s.s, r.w);
    pw_str_fini(&s);
}

static void draw_step_parts(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r,
                            const struct pw_step_view *v)
{
    const struct pw_ev_inspection *k = v->look;
    struct pw_contrast_part *e = entries(ui, k);
    int row = pw_step_row(ui, PW_STEP_PARTS, k->n_parts), h = r.h - 2;
    int first = pw_step_first(row, k->n_parts, h), half = (r.w - NAME - 9 - 2) / 2;
    double top = 1e-12;
    struct pw_str title = {0};

    name_contrast(ui, k, &title);
    if (h < k->n_parts)
        pw_str_add(&title, ": %d of %d", h, k->n_parts);
    pw_draw_cut(c, r, r.y, r.x, pw_style_dim(), title.s, r.w);
    pw_str_fini(&title);
    half = half < 24 ? half : 24;
    for (int i = 0; i < k->n_parts; i++)
        if (fabs(e[i].value) > top)
            top = fabs(e[i].value);
    for (int i = first; i < k->n_parts && i < first + h; i++) {
        int y = r.y + 1 + i - first;
        char name[24];
        pw_step_part_name(&k->parts[e[i].part], name);
        pw_draw_cut(c, r, y, r.x, pw_step_mark(ui, pw_style_plain(), i == row), name, NAME - 1);
        pw_draw_fmt(c, r, y, r.x + NAME, pw_style_plain(), "%+8.3f", e[i].value);
        if (half >= 3)
            draw_bar(c, r, y, r.x + NAME + 9, half, e[i].value / top, pw_style_arm(ui, ui->snap->prompt_arm),
                     pw_style_bad());
    }
    free(e);
    draw_sum(ui, c, r, r.y + r.h - 1, k);
}

static void print_step_parts(const struct pw_ui *ui, const struct pw_step_view *v, struct pw_str *out)
{
    const struct pw_ev_inspection *k = v->look;
    struct pw_contrast_part *e = entries(ui, k);
    int row = pw_step_row(ui, PW_STEP_PARTS, k->n_parts);
    struct pw_contrast c = contrast_of(ui, k);
    double want = pw_contrast_logits(&c);

    char name[24];
    pw_step_part_name(&k->parts[e[row].part], name);
    pw_str_add(out, "%s %s %.3f", name, e[row].value < 0 ? "takes" : "adds", fabs(e[row].value));
    if (fabs(want) > 1e-6)
        pw_str_add(out, "  %.0f%% of the difference", 100 * e[row].value / want);
    pw_str_add(out, "  directly, norms frozen");
    free(e);
}

static void copy(const struct pw_ui *ui, const struct pw_step_view *v, struct pw_str *out)
{
    const struct pw_ev_inspection *k = v->look;
    struct pw_contrast_part *e = entries(ui, k);

    pw_str_add(out, "part\tadds\n");
    for (int i = 0; i < k->n_parts; i++) {
        char name[24];
        pw_step_part_name(&k->parts[e[i].part], name);
        pw_str_add(out, "%s\t%.6g\n", name, e[i].value);
    }
    free(e);
}

static void title(const struct pw_ui *ui, const struct pw_step_view *v, struct pw_str *out)
{
    pw_str_add(out, "contributions to ");
    name_contrast(ui, v->look, out);
    pw_str_add(out, ", norms frozen");
}

static void foot(const struct pw_ui *ui, const struct pw_step_view *v, struct pw_str *out)
{
    struct pw_contrast c = contrast_of(ui, v->look);
    double sum = pw_contrast_sum(&c), want = pw_contrast_logits(&c);

    pw_str_add(out, "sum %+.4f, logits of the forward pass %+.4f, off by %.0e", sum, want, fabs(sum - want));
}

const struct pw_step_section pw_step_parts = {"contributions",  6,    rows,  2,   draw_step_parts,
                                              print_step_parts, copy, title, foot};
