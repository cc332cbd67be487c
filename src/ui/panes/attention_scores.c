/* attention_scores.c - numbers beside the map: each score of the head, compared with chance and with the head
 * that has the highest value; and the keys that the query under the cursor attends to. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ui/panes/attention.h"

/* Returns the score of the head, or the mean over the layer's heads. */
static float score_of(const struct pw_att *w, int k)
{
    float sum = 0;

    if (!w->mean)
        return pw_att_score(w->a, w->layer, w->head, k);
    for (int h = 0; h < w->a->heads; h++)
        sum += pw_att_score(w->a, w->layer, h, k);
    return sum / (float)w->a->heads;
}

/* Returns the position between chance (0) and the maximum (1). For a score with a unit, returns the multiple
 * of chance. */
static double beyond_chance(const struct pw_score_kind *kind, float v)
{
    double chance = (double)kind->chance;

    if (!isfinite(chance))
        return (double)v;
    if (kind->unit[0])
        return chance > 0 ? (double)v / chance : 0;
    return chance < 1 ? ((double)v - chance) / (1 - chance) : (double)v;
}

int pw_att_draw_scores(const struct pw_ui *ui, const struct pw_att *w, struct pw_canvas *c, struct pw_rect r)
{
    const struct pw_ev_attention *a = w->a;
    int n = pw_att_n_scores(a),
        name_w = r.w >= 40   ? 16
                 : r.w >= 31 ? r.w - 24
                 : r.w >= 24 ? 9
                             : 6,
        bar = r.w - name_w - 25;
    bool others = r.w >= name_w + 24; /* room for the head with the highest value */
    struct pw_style own = pw_style_arm(ui, w->arm);

    if (n == 0) {
        pw_draw_text(c, r, r.y, r.x, pw_style_dim(), "no scores were recorded");
        return 1;
    }
    if (w->mean)
        pw_draw_fmt(c, r, r.y, r.x, pw_style_dim(), "layer %d mean", w->layer);
    else
        pw_draw_fmt(c, r, r.y, r.x, pw_style_dim(), "head " PW_HEAD, w->layer, w->head);
    pw_draw_cut(c, r, r.y, r.x + name_w, pw_style_dim(), others ? "  head chance  most" : "  head chance",
                r.w - name_w);
    for (int i = 0; i < n && i < r.h - 1; i++) {
        int k = pw_att_score_at(a, i);
        const struct pw_score_kind *kind = &a->kinds[k];
        float v = score_of(w, k);
        int y = r.y + 1 + i, x = r.x + name_w, most = -1;
        for (int h = 0; h < a->layers * a->heads; h++) {
            float other = pw_att_score(a, h / a->heads, h % a->heads, k);
            if (isfinite(other) && (most < 0 || other > pw_att_score(a, most / a->heads, most % a->heads, k)))
                most = h;
        }
        pw_draw_cut(c, r, y, r.x, pw_style_plain(), kind->name, name_w - 1);
        if (!isfinite(v) || most < 0) {
            pw_draw_cut(c, r, y, x, pw_style_dim(), " not defined here", r.w - name_w);
            continue;
        }
        bool much = !kind->unit[0] && beyond_chance(kind, v) > 0.25;
        pw_draw_fmt(c, r, y, x, much ? pw_style_bold() : pw_style_plain(), "%6.2f", (double)v);
        if (isfinite(kind->chance))
            pw_draw_fmt(c, r, y, x + 6, pw_style_dim(), "%7.2f", (double)kind->chance);
        if (others)
            pw_draw_fmt(c, r, y, x + 14, pw_style_dim(), PW_HEAD " %.2f", most / a->heads, most % a->heads,
                        (double)pw_att_score(a, most / a->heads, most % a->heads, k));
        if (bar >= 4)
            pw_draw_bar(c, r, y, x + 25, own, bar < 24 ? bar : 24, beyond_chance(kind, v));
    }
    return n + 1 < r.h ? n + 1 : r.h;
}

void pw_att_copy_scores(const struct pw_att *w, struct pw_str *out)
{
    const struct pw_ev_attention *a = w->a;
    int n = pw_att_n_scores(a);

    pw_str_add(out, "layer\thead");
    for (int k = 0; k < n; k++)
        pw_str_add(out, "\t%s", a->kinds[k].name);
    for (int h = -1; h < a->layers * a->heads; h++) { /* the first row is chance */
        if (h < 0)
            pw_str_add(out, "\nchance\t");
        else
            pw_str_add(out, "\n%d\t%d", h / a->heads, h % a->heads);
        for (int k = 0; k < n; k++)
            pw_str_add(out, "\t%.4g",
                       (double)(h < 0 ? a->kinds[k].chance : pw_att_score(a, h / a->heads, h % a->heads, k)));
    }
    pw_str_add(out, "\n");
}

int pw_att_draw_profile(const struct pw_ui *ui, const struct pw_att *w, struct pw_canvas *c, struct pw_rect r)
{
    const struct pw_ev_attention *a = w->a;
    int q = ui->attention.query, shown[16], n = 0, most = r.h - 1 < 16 ? r.h - 1 : 16;
    double sum = 0, entropy = 0;

    if (most < 1)
        return 0;
    for (int k = 0; k < a->T; k++) { /* the largest, in order: insertion into a short list */
        float p = pw_att_prob(w, q, k);
        if (pw_att_hidden(a, q, k) || !(p > 0))
            continue;
        entropy -= (double)p * log2((double)p);
        int i = n < most ? n++ : most;
        for (; i > 0 && pw_att_prob(w, q, shown[i - 1]) < p; i--)
            if (i < most)
                shown[i] = shown[i - 1];
        if (i < most)
            shown[i] = k;
    }
    int named = pw_draw_fmt(c, r, r.y, r.x, pw_style_dim(), "\"%s\" attends to", pw_att_label(a, q));
    if (named + 11 <= r.x + r.w)
        pw_draw_fmt(c, r, r.y, named + 2, pw_style_dim(), "%.2f bits", entropy);
    struct pw_style bar = pw_style_arm(ui, w->arm);
    for (int i = 0; i < n; i++) {
        int y = r.y + 1 + i, k = shown[i];
        float p = pw_att_prob(w, q, k);
        sum += (double)p;
        int x = pw_draw_fmt(c, r, y, r.x, pw_style_dim(), "%3d ", k), label_w = r.w >= 30 ? 7 : 4;
        pw_draw_cut(c, r, y, x, pw_att_label_style(a, k, ui->attention.key), pw_att_label(a, k), label_w);
        x += label_w + 1;
        pw_draw_fmt(c, r, y, x, pw_style_plain(), "%.2f", (double)p);
        x += 5;
        pw_draw_bar(c, r, y, x, bar, r.x + r.w - x < 24 ? r.x + r.w - x : 24, (double)p);
        if (sum > 0.995)
            return i + 2; /* the rest is negligible */
    }
    return n + 1;
}
