/* encoding_rotary.c - the frequencies of a rotation: how fast each pair turns, and the share of a turn that
 * was seen in training.
 *
 * A pair without a full turn within the trained distances has unseen angles beyond them (phase coverage:
 * trained distance / wavelength, at most 1). */
#include <math.h>
#include <stdio.h>

#include "ui/panes/encoding.h"

#define TURN 6.283185307179586

static double degrees(const struct pw_ev_table *t, int pair, int d)
{
    double turns = d * (double)t->frequencies[pair] / TURN;
    return 360 * (turns - floor(turns));
}

static void draw_dial(struct pw_canvas *c, struct pw_rect r, int y, int x, double angle)
{
    static const uint32_t hands[8] = {0x2192, 0x2197, 0x2191, 0x2196, 0x2190, 0x2199, 0x2193, 0x2198};

    if (!isfinite(angle))
        return;
    pw_draw_cell(c, r, y, x, pw_style_bold(), hands[(int)lrint(angle / 45) % 8]);
    pw_draw_fmt(c, r, y, x + 2, pw_style_plain(), "%3.0f°", angle);
}

static void draw_pair(const struct pw_ui *ui, const struct pw_ev_table *t, struct pw_canvas *c,
                      struct pw_rect r, int y, int pair)
{
    bool here = pair == pw_enc_at(ui, PW_ENC_PAIR), wide = r.w >= 64;
    struct pw_style s = here ? pw_style_bold() : pw_style_plain();
    int x = r.x + (wide ? 15 : 5), bar = r.x + r.w - x - 25;
    double share = pw_rotary_coverage(t, pair);
    struct pw_style seen = share >= 1 ? pw_style_ok() : pw_style_warn();
    char text[16];

    pw_draw_fmt(c, r, y, r.x, s, "%s%3d", here ? "▸" : " ", pair);
    if (wide)
        pw_draw_fmt(c, r, y, r.x + 5, s, "%9.6f", (double)t->frequencies[pair]);
    pw_count(text, sizeof text, pw_rotary_wavelength(t, pair));
    pw_draw_fmt(c, r, y, x, s, "%9s", text);
    draw_dial(c, r, y, x + 11, degrees(t, pair, pw_enc_at(ui, PW_ENC_DISTANCE)));
    if (t->trained <= 0)
        return;
    pw_draw_fmt(c, r, y, x + 19, seen, "%3.0f%%", share * 100);
    if (bar > 0)
        pw_draw_bar(c, r, y, x + 24, seen, bar > 40 ? 40 : bar, share);
}

/* Returns the number of pairs of which every angle was seen in training. */
static int complete(const struct pw_ev_table *t)
{
    int n = 0;

    for (int i = 0; i < t->pairs; i++)
        n += pw_rotary_coverage(t, i) >= 1;
    return n;
}

static void draw_decay(const struct pw_ui *ui, const struct pw_ev_table *t, struct pw_canvas *c,
                       struct pw_rect r, struct pw_enc_areas *areas);

static void draw_encoding_rotary(const struct pw_ui *ui, const struct pw_ev_table *t, struct pw_canvas *c,
                                 struct pw_rect r, struct pw_enc_areas *areas)
{
    int y = r.y, end = r.y + r.h, x = r.x + (r.w >= 64 ? 15 : 5);
    char text[96];

    if (r.h >= t->pairs + 11) { /* room for the other page too */
        struct pw_rect rest = {r.y + t->pairs + 3, r.x, r.h - t->pairs - 3, r.w};
        draw_decay(ui, t, c, rest, areas);
        end = rest.y - 1;
    }
    if (r.h >= 5) {
        if (t->trained > 0)
            snprintf(text, sizeof text, "%d of %d pairs complete a turn within the trained distances 0..%d",
                     complete(t), t->pairs, t->trained);
        else
            snprintf(text, sizeof text, "not trained yet");
        pw_draw_cut(c, r, --end, r.x, pw_style_dim(), text, r.w);
    }
    if (r.h >= 2) {
        pw_draw_text(c, r, y, r.x, pw_style_dim(), "pair");
        if (r.w >= 64)
            pw_draw_text(c, r, y, r.x + 5, pw_style_dim(), "rad/pos");
        pw_draw_text(c, r, y, x, pw_style_dim(), "wavelength");
        pw_draw_fmt(c, r, y, x + 11, pw_style_dim(), "at %d", pw_enc_at(ui, PW_ENC_DISTANCE));
        pw_draw_cut(c, r, y++, x + 18, pw_style_dim(), "of a turn seen in training", r.x + r.w - x - 18);
    }
    int first = pw_enc_list(ui, PW_ENC_PAIR, t->pairs, (struct pw_rect){y, r.x, end - y, r.w}, areas);
    for (int i = first; i < t->pairs && y < end; i++, y++)
        draw_pair(ui, t, c, r, y, i);
}

static void read(const struct pw_ui *ui, const struct pw_ev_table *t, struct pw_str *out)
{
    int pair = pw_enc_at(ui, PW_ENC_PAIR), d = pw_enc_at(ui, PW_ENC_DISTANCE);

    pw_enc_read_distance(ui, t, out);
    pw_str_add(out, ": pair %d has turned %.4g times, now at %.1f°", pair, d / pw_rotary_wavelength(t, pair),
               degrees(t, pair, d));
    if (t->trained > 0)
        pw_str_add(out, "  %.3g%% of its turn seen", 100 * pw_rotary_coverage(t, pair));
    if (t->parts != NULL) {
        int h = pw_enc_at(ui, PW_ENC_HEAD);
        const float *ab = t->parts + 2 * ((size_t)h * t->pairs + pair);
        double angle = d * (double)t->frequencies[pair];
        pw_str_add(out, "  unscaled share of head " PW_HEAD " %+.3f", t->layer, h,
                   (double)ab[0] * cos(angle) + (double)ab[1] * sin(angle));
    }
    pw_enc_read_seen(t, pw_enc_seen(t, t->met, d), "pairs", out);
}

static void copy(const struct pw_ui *ui, const struct pw_ev_table *t, struct pw_str *out)
{
    int d = pw_enc_at(ui, PW_ENC_DISTANCE);

    pw_str_add(out, "pair\tradians\twavelength\tturn_seen\tdegrees_at_%d\n", d);
    for (int i = 0; i < t->pairs; i++)
        pw_str_add(out, "%d\t%.6g\t%.4g\t%.3g\t%.1f\n", i, (double)t->frequencies[i],
                   pw_rotary_wavelength(t, i), pw_rotary_coverage(t, i), degrees(t, i, d));
}

const struct pw_enc_page pw_enc_frequencies = {
    "frequencies",
    PW_ENCODING_FREQUENCIES,
    PW_ENC_DISTANCE,
    PW_ENC_PAIR,
    draw_encoding_rotary,
    read,
    copy,
    "pairs, radians per position, and the share of a full turn seen in training"};

/* ---- how rotation changes a vector's similarity to itself */

static void draw_decay(const struct pw_ui *ui, const struct pw_ev_table *t, struct pw_canvas *c,
                       struct pw_rect r, struct pw_enc_areas *areas)
{
    enum { MOST = 512 };
    int64_t x[MOST];
    float cosine[MOST], sum[MOST];
    int head = r.h > 6 ? 1 : 0;
    struct pw_plot p = {.box = {r.y + head, r.x, r.h - head, r.w}, .y1 = 1};
    int n = pw_rotary_decay(t, MOST, cosine, sum, &p.y0);

    p.x1 = n > 1 ? n - 1 : 1;
    for (int d = 0; d < n; d++)
        x[d] = d;
    if (head)
        pw_draw_cut(
            c, r, r.y, r.x, pw_style_dim(),
            "similarity of a vector to itself: line mean cos(d theta), dotted |sum e^(i d theta)| / pairs",
            r.w);
    if (!pw_plot_begin(&p, ui, c, "distance"))
        return;
    pw_enc_area_plot(areas, &p, n);
    if (t->trained > 0)
        pw_plot_edge(&p, c, t->trained);
    pw_plot_series(&p, ui, c, ui->snap->current, &(struct pw_points){.x = x, .y = sum, .n = n},
                   PW_STROKE_DOTTED);
    pw_plot_series(&p, ui, c, ui->snap->current, &(struct pw_points){.x = x, .y = cosine, .n = n},
                   PW_STROKE_LINE);
    int at = pw_plot_column(&p, pw_enc_at(ui, PW_ENC_DISTANCE));
    if (at >= 0)
        pw_draw_cell(c, p.field, pw_plot_row(&p, pw_rotary_cosine(t, pw_enc_at(ui, PW_ENC_DISTANCE))), at,
                     pw_style_bold(), 0x25cf);
}

static void read_decay(const struct pw_ui *ui, const struct pw_ev_table *t, struct pw_str *out)
{
    int d = pw_enc_at(ui, PW_ENC_DISTANCE);

    pw_enc_read_distance(ui, t, out);
    pw_str_add(out, ": mean cosine %+.3f, at most %.3f  from the frequencies alone, without weights",
               pw_rotary_cosine(t, d), pw_rotary_bound(t, d));
    pw_enc_read_seen(t, pw_enc_seen(t, t->met, d), "pairs", out);
}

static void copy_decay(const struct pw_ui *ui, const struct pw_ev_table *t, struct pw_str *out)
{
    (void)ui;
    pw_str_add(out, "distance\tmean_cosine\tbound\n");
    for (int d = 0; d < t->length; d++)
        pw_str_add(out, "%d\t%.4g\t%.4g\n", d, pw_rotary_cosine(t, d), pw_rotary_bound(t, d));
}

const struct pw_enc_page pw_enc_decay = {
    "decay",         PW_ENCODING_DECAY,
    PW_ENC_DISTANCE, PW_ENC_PAIR,
    draw_decay,      read_decay,
    copy_decay,      "similarity of a vector to itself at a distance, from the frequencies alone"};
