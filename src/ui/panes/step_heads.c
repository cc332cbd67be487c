/* step_heads.c - step inspector: where each head attends in the row that predicts the token. A strip of keys
 * per head, from the maps of the attention pane. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ui/panes/step_int.h"

#define NAME   7
#define BEST   16     /* columns for the strongest key */
#define HIDDEN 0xfc00 /* minus infinity as a half-precision score */

/* Returns the maps if they are of this prompt and contain the row. */
static const struct pw_ev_attention *maps(const struct pw_ui *ui, const struct pw_step_view *v)
{
    const struct pw_snapshot *s = ui->snap;
    const struct pw_ev_attention *a = &s->attention;

    return pw_att_usable(s) && a->prompt == s->prompt.id && v->pos >= 1 && v->pos <= a->T ? a : NULL;
}

static float prob(const struct pw_ev_attention *a, int head, int q, int k)
{
    return pw_att_prob_of(a, head / a->heads, head % a->heads, q, k);
}

static int rows(const struct pw_ui *ui, const struct pw_step_view *v)
{
    const struct pw_ev_attention *a = maps(ui, v);

    return a != NULL ? a->layers * a->heads : 0;
}

/* Returns the key with the largest weight of a head, except `but` (-1: none). */
static int strongest(const struct pw_ev_attention *a, int head, int q, int n, int but)
{
    int best = but == 0 && n > 1 ? 1 : 0;

    for (int k = 0; k < n; k++)
        if (k != but && prob(a, head, q, k) > prob(a, head, q, best))
            best = k;
    return best;
}

static void draw_step_heads(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r,
                            const struct pw_step_view *v)
{
    const struct pw_ev_attention *a = maps(ui, v);
    int n = a->layers * a->heads, row = pw_step_row(ui, PW_STEP_HEADS, n), h = r.h - 1, q = v->pos - 1;
    int first = pw_step_first(row, n, h), keys = q + 1, room = r.w - NAME - BEST;
    int w = room / keys < 1 ? 1 : room / keys > 4 ? 4 : room / keys;
    int pool = room < 1 ? keys : (keys * w + room - 1) / room;
    struct pw_rect strip = {r.y, r.x + NAME, r.h, room > 0 ? room : 0};

    pw_draw_text(c, r, r.y, r.x, pw_style_dim(), "head");
    for (int k = 0; k < keys && strip.w > 0; k += pool)
        pw_draw_cut(c, strip, r.y, strip.x + k / pool * w,
                    k >= a->n_prompt ? pw_style_bold() : pw_style_dim(), pw_label(a->labels[k]), w);
    pw_draw_cut(c, r, r.y, r.x + r.w - BEST + 1, pw_style_dim(),
                pool > 1 || pw_att_pool(a) > 1 ? "pooled; top key" : "top key", BEST - 1);
    for (int i = first; i < n && i < first + h; i++) {
        int y = r.y + 1 + i - first, best = strongest(a, i, q, keys, -1);
        char name[24];
        snprintf(name, sizeof name, PW_HEAD, i / a->heads, i % a->heads);
        pw_draw_cut(c, r, y, r.x, pw_step_mark(ui, pw_style_plain(), i == row), name, NAME - 1);
        for (int k = 0; k < keys && strip.w > 0; k += pool) {
            float most = -INFINITY;
            for (int j = k; j < k + pool && j < keys; j++)
                most = prob(a, i, q, j) > most ? prob(a, i, q, j) : most;
            pw_heat_cell(&ui->look, c, strip, y, strip.x + k / pool * w, w, most, 0, 1, false);
        }
        int x = pw_draw_fmt(c, r, y, r.x + r.w - BEST + 1, pw_style_plain(), "%.2f ",
                            (double)prob(a, i, q, best));
        x = pw_draw_fmt(c, r, y, x, pw_style_dim(), "%d ", best);
        pw_draw_cut(c, r, y, x, pw_style_bold(), pw_label(a->labels[best]), r.x + r.w - x);
    }
}

/* Returns true if the maps have no causal mask and show this row with later tokens, which did not exist at
 * that time. */
static bool sees_more(const struct pw_ev_attention *a, int q)
{
    return q + 1 < a->T && a->score != NULL && a->score[(size_t)q * a->T + q + 1] != HIDDEN;
}

static void print_step_heads(const struct pw_ui *ui, const struct pw_step_view *v, struct pw_str *out)
{
    const struct pw_ev_attention *a = maps(ui, v);
    int head = pw_step_row(ui, PW_STEP_HEADS, a->layers * a->heads), q = v->pos - 1;
    int best = strongest(a, head, q, q + 1, -1);

    if (sees_more(a, q))
        pw_str_add(out, "with all later tokens: ");
    pw_str_add(out, "head " PW_HEAD " of \"%s\" attends to %d \"%s\" (%.2f)", head / a->heads,
               head % a->heads, pw_label(a->labels[q]), best, pw_label(a->labels[best]),
               (double)prob(a, head, q, best));
    if (q > 0) {
        int next = strongest(a, head, q, q + 1, best);
        pw_str_add(out, ", then %d \"%s\" (%.2f)", next, pw_label(a->labels[next]),
                   (double)prob(a, head, q, next));
    }
}

static void copy(const struct pw_ui *ui, const struct pw_step_view *v, struct pw_str *out)
{
    const struct pw_ev_attention *a = maps(ui, v);
    int n = rows(ui, v), q = v->pos - 1;

    pw_str_add(out, "head");
    for (int k = 0; n > 0 && k <= q; k++)
        pw_str_add(out, "\t%d %s", k, pw_label(a->labels[k]));
    for (int i = 0; i < n; i++) {
        pw_str_add(out, "\n" PW_HEAD, i / a->heads, i % a->heads);
        for (int k = 0; k <= q; k++)
            pw_str_add(out, "\t%.4g", (double)prob(a, i, q, k));
    }
    pw_str_add(out, "\n");
}

static void title(const struct pw_ui *ui, const struct pw_step_view *v, struct pw_str *out)
{
    const struct pw_ev_attention *a = maps(ui, v);

    pw_str_add(out, "attention of the row that predicts it, '%s', in every head%s",
               pw_label(a->labels[v->pos - 1]), sees_more(a, v->pos - 1) ? ", with all later tokens" : "");
}

const struct pw_step_section pw_step_heads = {"attention",      5,    rows,  1,   draw_step_heads,
                                              print_step_heads, copy, title, NULL};
