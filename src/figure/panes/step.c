/* step.c - one step of decoding: the candidates, the contribution of every part of the model to the decoded
 * token's logit, the prediction after each layer, and the results of patching. */
#include "plot/step.h"
#include "base/alloc.h"
#include "figure/figure_int.h"
#include "figure/map.h"
#include "figure/sheet.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { CANDIDATES = 12, PARTS = 24, BARS = 66 };

/* ---- candidates */

static const struct pw_sheet_column candidate_columns[] = {
    {"rank", 20, true}, {"token", 0, false}, {"p", 28, true}, {"logit", 34, true}, {"", BARS, false}};

static void candidate_cell(const void *arg, int row, int column, char *dst, size_t size, struct pw_font *font)
{
    const struct pw_ev_inspection *k = arg;
    const struct pw_inspection_token *t = &k->token[row];

    font->bold = row == k->said && column == 1;
    switch (column) {
    case 0: snprintf(dst, size, "%lld", pw_step_rank(t->rank)); break;
    case 1: pw_text_copy(dst, size, pw_label(t->label)); break;
    case 2: snprintf(dst, size, "%.3f", (double)t->prob); break;
    case 3: snprintf(dst, size, "%.2f", (double)t->logit); break;
    default: break;
    }
}

static struct pw_sheet candidate_sheet(const struct pw_ev_inspection *k)
{
    return (struct pw_sheet){.columns = candidate_columns,
                             .n_columns = sizeof candidate_columns / sizeof *candidate_columns,
                             .n_rows = k->n < CANDIDATES ? k->n : CANDIDATES,
                             .cell = candidate_cell,
                             .arg = k};
}

static double candidates_height(const struct pw_ev_inspection *k)
{
    struct pw_sheet t = candidate_sheet(k);
    return pw_sheet_height(&t);
}

static void draw_candidates(struct pw_figure *f, const struct pw_ev_inspection *k, struct pw_box b)
{
    struct pw_sheet t = candidate_sheet(k);

    pw_sheet_draw(&t, &f->svg, b);
    for (int i = 0; i < t.n_rows; i++)
        pw_svg_rect(&f->svg,
                    (struct pw_box){b.x + b.w - BARS,
                                    b.y + 17.25 + PW_SHEET_ROW * i, /* in the middle of its row */
                                    BARS * fmin(1, (double)k->token[i].prob), 7},
                    i == k->target ? 0x009e73 : pw_svg_arm(f->snap->prompt_arm), 0.85);
}

/* ---- contributions */

static double parts_height(const struct pw_ev_inspection *k)
{
    return 22 + 11.0 * (k->n_parts < PARTS ? k->n_parts : PARTS) + 14;
}

static void draw_parts(struct pw_figure *f, const struct pw_ev_inspection *k, struct pw_box b)
{
    static const struct pw_font font = {.size = 7.5, .color = PW_INK}, dim = {.size = 7.5, .color = 0x5a5a5a};
    struct pw_contrast c = pw_contrast_of(k, k->said, false);
    struct pw_contrast_part *e = pw_contrast_parts(&c, false);
    struct pw_font right = font;
    struct pw_str head = {0};
    int n = k->n_parts < PARTS ? k->n_parts : PARTS;
    double top = 1e-12, mid = b.x + 62 + 34 + (b.w - 96) / 2, half = (b.w - 96) / 2 - 2, y = b.y + 9;

    right.anchor = PW_END;
    pw_str_add(&head, "logit of \"%s\" − ", pw_label(k->token[c.chosen].label));
    if (c.against < 0)
        pw_str_add(&head, "mean of %d tokens", k->vocab);
    else
        pw_str_add(&head, "\"%s\"", pw_label(k->token[c.against].label));
    if (n < k->n_parts)
        pw_str_add(&head, ": the %d largest of %d parts", n, k->n_parts);
    pw_svg_cut(&f->svg, b.x, y, &dim, head.s, b.w);
    pw_str_fini(&head);
    pw_svg_line(&f->svg, b.x, y + 3.5, b.x + b.w, y + 3.5, (struct pw_pen){.color = 0x808080, .width = 0.6});
    for (int i = 0; i < n; i++)
        top = fmax(top, fabs(e[i].value));
    for (int i = 0; i < n; i++) {
        double w = half * fabs(e[i].value) / top;
        char name[24];
        y = b.y + 23.5 + 11 * i;
        pw_step_part_name(&k->parts[e[i].part], name);
        pw_svg_cut(&f->svg, b.x, y, &font, name, 60);
        pw_svg_fmt(&f->svg, b.x + 92, y, &right, "%+.3f", e[i].value);
        pw_svg_rect(&f->svg, (struct pw_box){e[i].value < 0 ? mid - w : mid, y - 6.5, w, 7.5},
                    e[i].value < 0 ? 0xd55e00 : 0x0072b2, 0.85);
    }
    pw_svg_line(&f->svg, mid, b.y + 15, mid, b.y + 17 + 11 * n,
                (struct pw_pen){.color = 0x808080, .width = 0.6});
    pw_svg_fmt(&f->svg, b.x, b.y + 27 + 11 * n, &dim, "sum of all parts %+.3f, logits %+.3f",
               pw_contrast_sum(&c), pw_contrast_logits(&c));
    free(e);
}

/* ---- lens */

static const struct pw_sheet_column lens_columns[] = {
    {"after", 50, false}, {"predicts", 0, false}, {"p", 36, true},    {"said: p", 44, true},
    {"rank", 28, true},   {"right: p", 44, true}, {"rank", 28, true}, {"entropy, bits", 60, true}};

static void lens_cell(const void *arg, int row, int column, char *dst, size_t size, struct pw_font *font)
{
    const struct pw_ev_inspection *k = arg;
    const struct pw_inspection_lens *l = &k->lens[row];
    int token = column < 5 ? k->said : k->target;
    size_t at = (size_t)row * k->n + (size_t)(token < 0 ? 0 : token);

    font->bold = column == 1;
    switch (column) {
    case 0: snprintf(dst, size, row == 0 ? "embedding" : "layer %d", row - 1); break;
    case 1: pw_text_copy(dst, size, pw_label(l->label)); break;
    case 2: snprintf(dst, size, "%.3f", (double)l->prob); break;
    case 7: snprintf(dst, size, "%.2f", (double)l->entropy); break;
    default:
        if (token >= 0 && (column == 3 || column == 5))
            snprintf(dst, size, "%.3f", (double)k->lens_prob[at]);
        else if (token >= 0)
            snprintf(dst, size, "%lld", pw_step_rank(k->lens_rank[at]));
    }
}

static struct pw_sheet lens_sheet(const struct pw_ev_inspection *k)
{
    return (struct pw_sheet){.columns = lens_columns,
                             .n_columns = sizeof lens_columns / sizeof *lens_columns,
                             .n_rows = k->layers + 1,
                             .cell = lens_cell,
                             .arg = k};
}

/* ---- pages: all sections, or one of them */

enum { ALL, TOKENS, CONTRIBUTIONS, LENS };

static enum pw_code prepare(struct pw_figure *f, struct pw_err *err)
{
    struct pw_step_view v;

    if (!pw_step_select(f->snap, &v) || v.look == NULL)
        return pw_figure_no_prompt(f, err, "no answer to inspect", ", then 'next' or 'back'");
    const struct pw_ev_inspection *k = v.look;
    const struct pw_arm_view *arm = pw_find_arm(f->snap, f->snap->prompt_arm);
    struct pw_sheet lens = lens_sheet(k);
    f->asks = pw_figure_prompts;
    pw_str_add(&f->title, "How \"%s\" was chosen", pw_label(k->token[k->said].label));
    pw_str_add(&f->caption, "Prompt \"%s\", token %d of the answer", f->snap->prompt.text,
               v.pos - f->snap->prompt.n_prompt + 1);
    if (arm != NULL) {
        pw_str_add(&f->caption, ", arm ");
        pw_figure_arm(f, arm, &f->caption);
        pw_replica_text(arm, f->snap->prompt_replica, &f->caption);
        pw_str_add(&f->caption, " at step %lld", (long long)f->snap->prompt_step);
    }
    pw_str_add(&f->caption, ". Entropy %.2f bits over %d tokens.", (double)k->entropy, k->vocab);
    if (f->kind == ALL || f->kind == TOKENS)
        pw_str_add(&f->caption, " Bold: the chosen token; green: the right one.");
    if (f->kind == ALL || f->kind == CONTRIBUTIONS)
        pw_str_add(&f->caption,
                   " Contributions: what each part of the residual stream adds to the difference of the "
                   "two logits, norms frozen.");
    if (f->kind == ALL || f->kind == LENS)
        pw_str_add(&f->caption, " Logit lens: the prediction if the model ended after that layer.");
    f->box.h = f->kind == TOKENS          ? candidates_height(k)
               : f->kind == CONTRIBUTIONS ? parts_height(k)
               : f->kind == LENS          ? pw_sheet_height(&lens)
                                 : fmax(candidates_height(k), parts_height(k)) + 12 + pw_sheet_height(&lens);
    f->least = f->box.h;
    f->narrowest = f->kind == ALL ? 410 : f->kind == LENS ? 380 : 220;
    return PW_OK;
}

static void draw_step(struct pw_figure *f)
{
    struct pw_step_view v;
    struct pw_box b = f->box;

    pw_step_select(f->snap, &v);
    struct pw_sheet lens = lens_sheet(v.look);
    double half = (b.w - 16) / 2, upper = fmax(candidates_height(v.look), parts_height(v.look));
    if (f->kind == TOKENS)
        draw_candidates(f, v.look, b);
    else if (f->kind == CONTRIBUTIONS)
        draw_parts(f, v.look, b);
    if (f->kind == LENS)
        pw_sheet_draw(&lens, &f->svg, b);
    if (f->kind != ALL)
        return;
    draw_candidates(f, v.look, (struct pw_box){b.x, b.y, half, upper});
    draw_parts(f, v.look, (struct pw_box){b.x + half + 16, b.y, half, upper});
    pw_sheet_draw(&lens, &f->svg, (struct pw_box){b.x, b.y + upper + 12, b.w, b.h - upper - 12});
}

/* ---- patching */

static float recovery(const void *arg, int row, int col)
{
    const struct pw_ev_patch *p = arg;

    return p->recovery[(size_t)row * p->cols + col];
}

static enum pw_code prepare_patch(struct pw_figure *f, struct pw_err *err)
{
    const struct pw_ev_patch *p = &f->snap->patch;

    if (!f->snap->has_patch || p->recovery == NULL || p->rows < 1 || p->cols < 1)
        return pw_figure_nothing(err, "no patching; run 'patch heads from=\"...\"' after a prompt");
    f->asks = pw_figure_prompts;
    pw_str_add(&f->title, p->kind == PW_PATCH_HEADS ? "Recovery by the output of each head"
                                                    : "Recovery by the residual stream");
    pw_str_add(&f->caption,
               "%s: activations of the clean prompt put into the corrupt one. Recovery of logit(%s) − "
               "logit(%s): 0: none, 1: full (%+.2f corrupt, %+.2f clean).",
               p->kind == PW_PATCH_HEADS ? "Layers down, heads across"
                                         : "Down: into which layer; across: at which token",
               pw_label(p->clean_token), pw_label(p->corrupt_token), (double)p->m_corrupt,
               (double)p->m_clean);
    f->box.h = fmin(26.0 * p->rows + 30, f->box.w * 0.6);
    return PW_OK;
}

static void draw_patch(struct pw_figure *f)
{
    const struct pw_ev_patch *p = &f->snap->patch;
    static const struct pw_font font = {.size = 7.5, .color = PW_INK, .anchor = PW_MIDDLE};
    struct pw_font left = font;
    struct pw_box b = {f->box.x + 44, f->box.y + 4, f->box.w - 104, f->box.h - 22};
    struct pw_map m = {
        .data = {.rows = p->rows, .cols = p->cols, .value = recovery, .arg = p, .hi = 1, .is_signed = true}};
    double w = b.w / p->cols, h = b.h / p->rows;
    int every = (int)ceil(12 / w);

    left.anchor = PW_END;
    pw_map_draw(&m, &f->svg, b);
    pw_svg_frame(&f->svg, b, (struct pw_pen){.color = 0x808080, .width = 0.5});
    for (int i = 0; i < p->rows; i++)
        pw_svg_fmt(&f->svg, b.x - 3, b.y + (i + 0.5) * h + 2.6, &left,
                   p->kind == PW_PATCH_RESID && i == p->rows - 1 ? "end" : "layer %d", i);
    for (int i = 0; i < p->cols; i += every) {
        char text[PW_LABEL];
        if (p->kind == PW_PATCH_RESID && p->corrupt != NULL && i < p->T)
            pw_text_copy(text, sizeof text, pw_label(p->corrupt[i]));
        else
            snprintf(text, sizeof text, "%d", i);
        pw_svg_cut(&f->svg, b.x + (i + 0.5) * w, b.y + b.h + 9, &font, text, w * every);
    }
    for (int i = 0; i < p->rows * p->cols && w >= 26; i++) {
        struct pw_font in = {
            .size = 7, .color = pw_ramp_text_on(pw_map_color(&m, p->recovery[i])), .anchor = PW_MIDDLE};
        pw_svg_fmt(&f->svg, b.x + (i % p->cols + 0.5) * w, b.y + (i / p->cols + 0.5) * h + 2.6, &in, "%.2f",
                   (double)p->recovery[i]);
    }
    pw_map_bar(&m, &f->svg, (struct pw_box){b.x + b.w + 8, b.y, 8, fmin(b.h, 110)}, false, "recovery");
}

static const struct pw_figure_page pages[] = {
    {"all", ALL, prepare, draw_step, NULL},
    {"tokens", TOKENS, prepare, draw_step, NULL},
    {"contributions", CONTRIBUTIONS, prepare, draw_step, NULL},
    {"lens", LENS, prepare, draw_step, NULL},
    {"patch", 0, prepare_patch, draw_patch, NULL},
    {NULL, 0, NULL, NULL, NULL},
};

const struct pw_figure_pane pw_figure_step = {.name = "step", .pages = pages};
