/* encoding_slopes.c - ALiBi: a slope per head, and the resulting ramp (Press et al. 2022, section 3).
 *
 * With the ramp alone, a head halves the weight of a key every ln 2 / slope positions. This number summarises
 * the head's range. */
#include <math.h>
#include <stdio.h>

#include "ui/panes/encoding.h"

static double half_distance(const struct pw_ev_table *t, int head)
{
    return log(2) / (double)t->slopes[head];
}

static void note(const struct pw_ev_table *t, int head, char text[32])
{
    char half[12];
    pw_count(half, sizeof half, half_distance(t, head));
    snprintf(text, 32, "%.5f %6s", (double)t->slopes[head], half);
}

static void draw_encoding_slopes(const struct pw_ui *ui, const struct pw_ev_table *t, struct pw_canvas *c,
                                 struct pw_rect r, struct pw_enc_areas *areas)
{
    struct pw_enc_strips strips = {
        .values = t->bias, .note = note, .note_head = "slope   halves", .note_w = 16};

    int used = pw_enc_strips(ui, t, &strips, c, r, areas);
    struct pw_rect rest = {r.y + used + 1, r.x, r.h - used - 1, r.w};
    if (rest.h < 6)
        return;
    int head = pw_enc_at(ui, PW_ENC_HEAD);
    struct pw_enc_ruler k = pw_enc_ruler(t->length, r.x + 8, r.w - 8);
    char text[96];
    snprintf(text, sizeof text, "the ramp alone: weight of a key, e^(-slope x distance), head %d", head);
    pw_draw_cut(c, rest, rest.y, rest.x, pw_style_dim(), text, rest.w);
    int most = rest.h - 1 < 12 ? rest.h - 1 : 12, every = (t->length + most - 1) / most;
    most = (t->length + every - 1) / every;
    pw_enc_area(
        areas,
        (struct pw_enc_area){
            {rest.y + 1, rest.x, most, rest.w}, PW_ENC_DISTANCE, PW_ENC_DOWN, .size = 1, .pool = every});
    for (int i = 0; i < most; i++) {
        int d = i * every;
        double weight = exp(-(double)t->slopes[head] * d);
        bool here = pw_enc_at(ui, PW_ENC_DISTANCE) / every == i;
        pw_draw_fmt(c, rest, rest.y + 1 + i, rest.x, here ? pw_style_bold() : pw_style_plain(), "%sd %4d",
                    here ? "▸" : " ", d);
        pw_draw_fmt(c, rest, rest.y + 1 + i, rest.x + 8, pw_style_plain(), "%5.1f%%", weight * 100);
        if (isfinite(weight))
            pw_draw_bar(c, rest, rest.y + 1 + i, rest.x + 16,
                        d <= t->trained ? pw_style_ok() : pw_style_warn(),
                        k.columns > 48 ? 48 : k.columns / 2, weight);
    }
}

static void read(const struct pw_ui *ui, const struct pw_ev_table *t, struct pw_str *out)
{
    int h = pw_enc_at(ui, PW_ENC_HEAD), d = pw_enc_at(ui, PW_ENC_DISTANCE);

    pw_enc_read_distance(ui, t, out);
    pw_enc_read_head(ui, t, t->bias, out);
    pw_str_add(out, "  slope %.5g, a weight halves every %.3g positions", (double)t->slopes[h],
               half_distance(t, h));
    pw_enc_read_seen(t, pw_enc_seen(t, t->met, d), "pairs", out);
    pw_enc_read_others(ui, t, t->bias, out);
}

static void copy(const struct pw_ui *ui, const struct pw_ev_table *t, struct pw_str *out)
{
    (void)ui;
    pw_str_add(out, "head\tslope\thalves every\n");
    for (int h = 0; h < t->heads; h++)
        pw_str_add(out, "%d\t%.6g\t%.4g\n", h, (double)t->slopes[h], half_distance(t, h));
}

const struct pw_enc_page pw_enc_slopes = {"slopes",
                                          PW_ENCODING_SLOPES,
                                          PW_ENC_DISTANCE,
                                          PW_ENC_HEAD,
                                          draw_encoding_slopes,
                                          read,
                                          copy,
                                          "slopes, and the positions after which a weight halves"};
