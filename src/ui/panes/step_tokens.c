/* step_tokens.c - step inspector: the sequence with its cursor, and the table of candidates for the next
 * token. */
#include <math.h>
#include <string.h>

#include "ui/panes/step_int.h"

/* ---- the sequence */

/* Returns the token at a position: the prompt's, the decoded one, or NULL. */
static const char *label_at(const struct pw_snapshot *s, int pos, bool *edited)
{
    *edited = pos < s->prompt.n_prompt && s->prompt.edited != NULL && s->prompt.edited[pos];
    if (pos < s->prompt.n_prompt)
        return pw_label(s->prompt.labels[pos]);
    const struct pw_ev_token *t = pw_token_at(s, pos);
    *edited = t != NULL && t->edited;
    return t != NULL ? pw_label(t->label) : NULL;
}

static int cells_at(const struct pw_snapshot *s, int pos)
{
    bool edited;
    const char *label = label_at(s, pos, &edited);

    return (label != NULL ? pw_text_cells(label) : 1) + edited + 1;
}

/* Sets the positions to show in `width` columns, *first to *end - 1. If not all fit, the cursor stays in the
 * first three quarters. */
static void shown(const struct pw_snapshot *s, int pos, int width, int *first, int *end)
{
    int total = 0, used = cells_at(s, pos);

    *end = s->prompt.n_prompt + s->n_tokens;
    *end = pos >= *end ? pos + 1 : *end;
    for (int i = 0; i < *end; i++)
        total += cells_at(s, i);
    *first = total - 1 <= width ? 0 : pos;
    while (*first > 0 && used + cells_at(s, *first - 1) <= width * 3 / 4)
        used += cells_at(s, --*first);
}

int pw_step_hit(const struct pw_ui *ui, const struct pw_step_view *v, struct pw_rect r, int x)
{
    int first, end;

    shown(ui->snap, v->pos, r.w, &first, &end);
    x -= r.x + (first > 0);
    for (int i = first; i < end; i++) {
        x -= cells_at(ui->snap, i);
        if (x < 0)
            return i;
    }
    return -1;
}

int pw_step_sequence(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r,
                     const struct pw_step_view *v, int rows)
{
    const struct pw_snapshot *s = ui->snap;
    int first, end, x = r.x, under = r.x, width = 1;

    shown(s, v->pos, r.w, &first, &end);
    if (first > 0)
        x = pw_draw_text(c, r, r.y, x, pw_style_dim(), "…");
    for (int i = first; i < end && x < r.x + r.w; i++) {
        bool edited, answer = i >= s->prompt.n_prompt;
        const char *label = label_at(s, i, &edited);
        struct pw_style st = i > v->pos ? pw_style_dim() : answer ? pw_style_bold() : pw_style_plain();
        int from = x;
        if (i == v->pos)
            st = (struct pw_style){PW_DEFAULT, PW_DEFAULT, PW_BOLD | PW_REVERSE};
        x = pw_draw_text(c, r, r.y, x, st, label != NULL ? label : "·");
        if (edited)
            x = pw_draw_text(c, r, r.y, x, pw_style_warn(), "*");
        if (i == v->pos)
            under = from, width = x - from;
        x++;
    }
    if (x > r.x + r.w)
        pw_draw_cell(c, r, r.y, r.x + r.w - 1, pw_style_dim(), 0x2026);
    if (rows < 2)
        return 1;
    for (int i = r.x; i < under; i++)
        pw_draw_cell(c, r, r.y + 1, i, pw_style_dim(), 0x2594);
    x = pw_draw_text(c, r, r.y + 1, under + (width - 1) / 2, pw_style_plain(), "▲");
    const char *what = v->t != NULL && v->t->edited ? "edited: the model's own candidates" : "predicting";
    struct pw_str note = {0};
    pw_str_add(&note, " %s, position %d", what, v->pos);
    int cells = pw_text_cells(note.s);
    if (x + cells > r.x + r.w && under - cells > r.x) /* then to the left of it */
        x = under - cells - 1;
    pw_draw_cut(c, r, r.y + 1, x, pw_style_dim(), note.s, r.x + r.w - x);
    pw_str_fini(&note);
    return 2;
}

/* ---- the table of candidates */

static int rows(const struct pw_ui *ui, const struct pw_step_view *v)
{
    (void)ui;
    return v->look->n;
}

static int label_width(const struct pw_ev_inspection *k, int most)
{
    int w = 5;

    for (int i = 0; i < k->n; i++) {
        int n = pw_text_cells(pw_label(k->token[i].label));
        w = n > w ? n : w;
    }
    return w < most ? w : most;
}

/* Returns the mark beside a token, for the right one. */
static const char *mark_of(const struct pw_ev_inspection *k, int i, bool brief)
{
    return i != k->target ? "" : i == k->said ? "✓" : brief ? "←" : "← right";
}

static void draw_step_tokens(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r,
                             const struct pw_step_view *v)
{
    const struct pw_ev_inspection *k = v->look;
    int row = pw_step_row(ui, PW_STEP_TOKENS, k->n), h = r.h - 1, first = pw_step_first(row, k->n, h);
    int w = label_width(k, r.w >= 44 ? 12 : 6);
    bool gap = r.w >= 36 + w;
    int at_p = r.x + 6 + w, at_logit = at_p + 6, at_gap = at_logit + 8,
        at_bar = (gap ? at_gap + 8 : at_logit + 8) + 1, bar = r.x + r.w - at_bar - (gap ? 8 : 3);
    struct pw_style color = pw_style_arm(ui, ui->snap->prompt_arm);

    pw_draw_text(c, r, r.y, r.x, pw_style_dim(), "rank");
    pw_draw_cut(c, r, r.y, r.x + 5, pw_style_dim(), "token", w);
    pw_draw_text(c, r, r.y, at_p + 4, pw_style_dim(), "p");
    pw_draw_text(c, r, r.y, at_logit + 2, pw_style_dim(), "logit");
    if (gap)
        pw_draw_text(c, r, r.y, at_gap, pw_style_dim(), "to best");
    for (int i = first; i < k->n && i < first + h; i++) {
        const struct pw_inspection_token *t = &k->token[i];
        int y = r.y + 1 + i - first;
        struct pw_style st = i == k->said ? pw_style_bold() : pw_style_plain();
        pw_draw_fmt(c, r, y, r.x, pw_style_dim(), "%3lld", pw_step_rank(t->rank));
        pw_draw_text(c, r, y, r.x + 3, st, i == k->said ? "▸" : "");
        pw_draw_cut(c, r, y, r.x + 5, pw_step_mark(ui, st, i == row), pw_label(t->label), w);
        pw_draw_fmt(c, r, y, at_p, st, "%.3f", (double)t->prob);
        pw_draw_fmt(c, r, y, at_logit, st, "%7.2f", (double)t->logit);
        if (gap)
            pw_draw_fmt(c, r, y, at_gap, pw_style_dim(), "%7.2f",
                        (double)t->logit - (double)k->token[0].logit);
        if (bar > 3)
            pw_draw_bar(c, r, y, at_bar, color, bar < 40 ? bar : 40, (double)t->prob);
        int x = at_bar +
                (bar > 3 ? (int)lrint(fmin(fmax((double)t->prob, 0), 1) * (bar < 40 ? bar : 40)) + 2 : 0);
        pw_draw_text(c, r, y, x, pw_style_ok(), mark_of(k, i, !gap));
    }
}

static void print_step_tokens(const struct pw_ui *ui, const struct pw_step_view *v, struct pw_str *out)
{
    const struct pw_ev_inspection *k = v->look;
    const struct pw_inspection_token *t = &k->token[pw_step_row(ui, PW_STEP_TOKENS, k->n)];
    double below = (double)k->token[0].logit - (double)t->logit;

    pw_str_add(out, "\"%s\" p %.4f  rank %lld of %d", pw_label(t->label), (double)t->prob,
               pw_step_rank(t->rank), k->vocab);
    if (below > 0)
        pw_str_add(out, "  logit %.3f below the best", below);
    else
        pw_str_add(out, "  logit %.3f: the best", (double)t->logit);
}

static void copy(const struct pw_ui *ui, const struct pw_step_view *v, struct pw_str *out)
{
    (void)ui;
    pw_str_add(out, "rank\ttoken\tp\tlogit\tis\n");
    for (int i = 0; i < v->look->n; i++) {
        const struct pw_inspection_token *t = &v->look->token[i];
        pw_str_add(out, "%lld\t%s\t%.6g\t%.6g\t%s%s%s\n", pw_step_rank(t->rank), pw_label(t->label),
                   (double)t->prob, (double)t->logit, i == v->look->said ? "said" : "",
                   i == v->look->said && i == v->look->target ? ", " : "",
                   i == v->look->target ? "right" : "");
    }
}

static void title(const struct pw_ui *ui, const struct pw_step_view *v, struct pw_str *out)
{
    (void)ui;
    pw_str_add(out, "candidates for the next token, of %d", v->look->vocab);
}

const struct pw_step_section pw_step_tokens = {"next token",      5,    rows,  1,   draw_step_tokens,
                                               print_step_tokens, copy, title, NULL};
