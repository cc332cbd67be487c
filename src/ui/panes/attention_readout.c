/* attention_readout.c - the pair of tokens under the cursor as text, below the map: its probability, its
 * score with the parts, and how much of the head each part explains. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ui/panes/attention.h"

enum { MOST_PIECES = 10 };

/* Returns a part's share of the variation of the head's scores over keys; NaN: unknown. */
static float share_of(const struct pw_att *w, const char *part)
{
    for (int k = 0; k < pw_att_n_scores(w->a) && !w->mean; k++)
        if (strcmp(w->a->kinds[k].name, part) == 0)
            return pw_att_score(w->a, w->layer, w->head, k);
    return NAN;
}

/* Adds the score of a pair as the sum of its parts, as far as the event has them. */
static void add_score(struct pw_str *piece, const struct pw_att *w, size_t at)
{
    const struct pw_ev_attention *a = w->a;

    pw_str_add(piece, "score %+.2f", (double)pw_from_half(a->score[at]));
    if (!a->biases && !a->rotates && !a->gates) {
        pw_str_add(piece, ", all content");
        return;
    }
    if (a->content == NULL || a->bias == NULL || (a->gates && a->gate == NULL))
        return;
    pw_str_add(piece, " = %+.2f content", (double)pw_from_half(a->content[at]));
    if (a->biases || a->rotates)
        pw_str_add(piece, " %+.2f %s", (double)pw_from_half(a->bias[at]),
                   pw_att_reflects(a)                    ? "reflections"
                   : a->rotates                          ? "rotation"
                   : a->gate_values != NULL && !a->gates ? "fading"
                                                         : "bias");
    if (a->gates)
        pw_str_add(piece, " %+.2f gate", (double)pw_from_half(a->gate[at]));
}

/* Adds which parts of the scores the head attends by. */
static void add_shares(struct pw_str *piece, const struct pw_att *w)
{
    double position = (double)share_of(w, "position's part"), gate = (double)share_of(w, "gate's part");
    double content = 1 - position;

    pw_str_add(piece, "head " PW_HEAD " attends", w->layer, w->head);
    if (isfinite(gate))
        pw_str_add(piece, " %.0f%% by gate,", 100 * gate), content -= gate;
    if (!w->a->gates || w->a->biases || w->a->rotates)
        pw_str_add(piece, " %.0f%% by position,", 100 * position);
    pw_str_add(piece, " %.0f%% by content", 100 * content);
}

/* Describes the pair and the head, the most important facts first. Returns the number of pieces. */
static int describe(const struct pw_ui *ui, const struct pw_att *w, struct pw_str pieces[MOST_PIECES])
{
    const struct pw_ev_attention *a = w->a;
    int q = ui->attention.query, k = ui->attention.key, n = 0, seen = a->sees_all ? a->T : q + 1;
    size_t at = (size_t)q * a->T + k;
    float v = pw_att_value(w, q, k);

    pw_str_add(&pieces[n++], "q=%d \"%s\"  k=%d \"%s\"", q, pw_att_label(a, q), k, pw_att_label(a, k));
    if (pw_att_hidden(a, q, k)) {
        pw_str_add(&pieces[n++], "hidden from this query");
        return n;
    }
    pw_str_add(&pieces[n++], "p=%.3f, %.3f by chance", (double)pw_att_prob(w, q, k), 1.0 / seen);
    if (!w->mean && a->positions != NULL)
        pw_str_add(&pieces[n++], "contextual position %.2f", (double)pw_from_half(a->positions[at]));
    if (a->rests)
        pw_str_add(&pieces[n++], "rest %.3f, for the query's own value", (double)pw_att_prob(w, q, q));
    if (w->ref != NULL)
        pw_str_add(&pieces[n++], "difference %+.3f", (double)v);
    else if (ui->attention.first_hidden && isfinite(v) && w->view == PW_VIEW_PROBS)
        pw_str_add(&pieces[n++], "%.3f of the rest", (double)v);
    pw_str_add(&pieces[n++], "distance %d%s%s%s", q - k, pw_att_untrained(w, q, k) ? ", " : "",
               pw_att_untrained(w, q, k) ? w->hatch : "", pw_att_untrained(w, q, k) ? " never trained" : "");
    if (pw_att_gold(w, q, k))
        pw_str_add(&pieces[n++], "gold");
    if (!w->mean && a->score != NULL)
        add_score(&pieces[n++], w, at);
    else if (!w->mean && a->all_scores != NULL)
        pw_str_add(
            &pieces[n++], "score %+.2f",
            (double)pw_from_half(a->all_scores[((size_t)w->layer * a->heads + w->head) * a->T * a->T + at]));
    float gate = pw_att_gate(a, w->layer, w->head, k);
    if (!w->mean && isfinite(gate))
        pw_str_add(&pieces[n++],
                   pw_att_reflects(a) ? "\"%s\" reflects with factor %.3f" : "gate of \"%s\" keeps %.3f",
                   pw_att_label(a, k), (double)gate);
    if (!w->mean && a->terms != NULL) {
        const char *sep = "content =";
        for (int term = 0; term < 4; term++, sep = "")
            pw_str_add(&pieces[n], "%s %+.2f %s", sep,
                       (double)pw_from_half(a->terms[(size_t)term * a->T * a->T + at]),
                       pw_view_names[PW_VIEW_CC + term]);
        n++;
    }
    if (isfinite(share_of(w, "position's part")))
        add_shares(&pieces[n++], w);
    return n;
}

/* Lays out the pieces in lines of the rectangle's width and draws them unless c is NULL. Returns the number
 * of lines. */
static int lay_out(const struct pw_str *pieces, int n, struct pw_canvas *c, struct pw_rect r)
{
    int x = 0, line = 0;

    for (int i = 0; i < n; i++) {
        int w = pw_text_cells(pieces[i].s);
        if (x > 0 && x + 2 + w > r.w && (c == NULL || line + 1 < r.h))
            line++, x = 0;
        x += x > 0 ? 2 : 0;
        if (c != NULL)
            pw_draw_cut(c, r, r.y + line, r.x + x, pw_style_bold(), pieces[i].s, r.w - x);
        x += w;
    }
    return line + 1;
}

int pw_att_draw_readout(const struct pw_ui *ui, const struct pw_att *w, struct pw_canvas *c, struct pw_rect r)
{
    struct pw_str pieces[MOST_PIECES] = {{0}};
    int n = describe(ui, w, pieces), lines = lay_out(pieces, n, c, r);

    for (int i = 0; i < n; i++)
        pw_str_fini(&pieces[i]);
    return lines;
}
