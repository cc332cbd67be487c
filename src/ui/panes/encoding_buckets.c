/* encoding_buckets.c - learned biases by distance and by bucket, and the bucket of each query and key.
 *
 * A bucket that was not seen in training keeps its initial bias, but a longer sequence reads it. Its row is
 * hatched and labelled. The mean gradients confirm it: there they are exactly 0. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "ui/panes/encoding.h"

#define HATCH 0x2591

static double mean_gradient(const struct pw_ev_table *t, int b)
{
    double sum = 0;

    for (int h = 0; h < t->heads; h++)
        sum += (double)t->grad[(size_t)b * t->heads + h];
    return sum / t->heads;
}

/* ---- bias by distance */

static void draw_matrix_in(const struct pw_ui *ui, const struct pw_ev_table *t, struct pw_canvas *c,
                           struct pw_rect r, struct pw_enc_areas *areas);

static void draw_bias(const struct pw_ui *ui, const struct pw_ev_table *t, struct pw_canvas *c,
                      struct pw_rect r, struct pw_enc_areas *areas)
{
    struct pw_enc_strips strips = {.values = t->bias, .buckets = t->bucket};
    struct pw_rect top = r;
    int fixed = 2 + (t->bucket != NULL) + t->heads;

    if (t->bucket != NULL && r.h >= fixed + 8)
        top.h = fixed;
    int used = pw_enc_strips(ui, t, &strips, c, top, areas);
    struct pw_rect rest = {r.y + used + 1, r.x, r.h - used - 1, r.w};
    if (t->bucket != NULL && rest.h >= 7)
        draw_matrix_in(ui, t, c, rest, areas);
    if (pw_table_bias_query(t) >= 0 && rest.h > 0)
        pw_draw_fmt(c, rest, rest.y, rest.x, pw_style_dim(),
                    "of the query at %d, the last one; the page queries has others", pw_table_bias_query(t));
}

static void read_gradient(const struct pw_ui *ui, const struct pw_ev_table *t, int b, struct pw_str *out)
{
    if (t->grad != NULL && b >= 0 && b < t->n_buckets)
        pw_str_add(out, ", mean |gradient| %.2g",
                   (double)t->grad[(size_t)b * t->heads + pw_enc_at(ui, PW_ENC_HEAD)]);
}

static void read_bias(const struct pw_ui *ui, const struct pw_ev_table *t, struct pw_str *out)
{
    int d = pw_enc_at(ui, PW_ENC_DISTANCE);

    pw_enc_read_distance(ui, t, out);
    pw_bias_query_text(t, out);
    pw_enc_read_head(ui, t, t->bias, out);
    pw_enc_read_seen(t, pw_enc_seen(t, t->met, d), "pairs", out);
    read_gradient(ui, t, t->bucket != NULL ? t->bucket[d] : -1, out);
    pw_enc_read_others(ui, t, t->bias, out);
}

const struct pw_enc_page pw_enc_bias = {
    "bias",    PW_ENCODING_BIAS, PW_ENC_DISTANCE,       PW_ENC_HEAD,
    draw_bias, read_bias,        pw_enc_copy_distances, PW_ENC_BY_DISTANCE};

/* ---- a row per bucket */

/* The start of each column; 0: no room for it. */
struct columns {
    int met, grad, heads, head_w, shown;
};

static struct columns columns_for(const struct pw_ev_table *t, struct pw_rect r)
{
    struct columns k = {.met = r.w >= 24 ? 15 : 0};
    int at = k.met ? 23 : 15;

    if (r.w >= 44 + t->heads) {
        k.grad = at;
        at += 9;
    }
    int room = r.w - at;
    k.heads = at;
    k.head_w = room / t->heads > 6 ? 6 : room / t->heads < 1 ? 1 : room / t->heads;
    k.shown = room / k.head_w < t->heads ? room / k.head_w : t->heads;
    return k;
}

static void draw_biases(const struct pw_ui *ui, const struct pw_ev_table *t, struct pw_canvas *c,
                        struct pw_rect r, int y, const struct columns *k, int b, float top)
{
    int head = pw_enc_at(ui, PW_ENC_HEAD), first = pw_enc_scroll(ui, PW_ENC_HEAD, t->heads, k->shown);

    for (int i = 0; i < k->shown; i++) {
        int h = first + i, x = r.x + k->heads + i * k->head_w;
        float v = t->bucket_bias[(size_t)b * t->heads + h];
        bool at = h == head && b == pw_enc_at(ui, PW_ENC_BUCKET);
        if (k->head_w < 6) {
            pw_heat_cell(&ui->look, c, r, y, x, k->head_w > 1 ? k->head_w - 1 : 1, v, -top, top, true);
            if (at && y < c->rows && x < c->cols)
                pw_draw_cell(c, r, y, x, c->cells[(size_t)y * (size_t)c->cols + x].style, PW_HEAT_CURSOR);
            continue;
        }
        struct pw_style s = pw_style_plain();
        if (ui->look.colors >= PW_COLORS_256 && isfinite(v))
            s = pw_style_value(v / top, true);
        s.attr = at ? PW_BOLD | PW_UNDERLINE : 0;
        pw_draw_fmt(c, r, y, x, s, "%+5.2f", (double)v);
    }
}

static void draw_list_row(const struct pw_ui *ui, const struct pw_ev_table *t, struct pw_canvas *c,
                          struct pw_rect r, int y, const struct columns *k, int b)
{
    int64_t met = pw_bucket_seen(t, b);
    bool here = b == pw_enc_at(ui, PW_ENC_BUCKET);
    struct pw_style s = here ? pw_style_bold() : met == 0 ? pw_style_warn() : pw_style_plain();
    char range[32], count[16] = "?";

    pw_bucket_range(t, b, range);
    pw_draw_fmt(c, r, y, r.x, s, "%s%3d %-9s", here ? "▸" : " ", b, range);
    if (met == 0) /* hatched */
        for (int x = r.x + 13; x < r.x + k->heads - 1; x++)
            pw_draw_cell(c, r, y, x, pw_style_warn(), HATCH);
    if (met >= 0)
        pw_count(count, sizeof count, (double)met);
    if (k->met)
        pw_draw_fmt(c, r, y, r.x + k->met, s, "%7s", met == 0 ? "never" : count);
    if (k->grad && t->grad != NULL)
        pw_draw_fmt(c, r, y, r.x + k->grad, s, "%8.2g", mean_gradient(t, b));
    else if (k->grad)
        pw_draw_text(c, r, y, r.x + k->grad, s, "       -");
}

static void draw_list(const struct pw_ui *ui, const struct pw_ev_table *t, struct pw_canvas *c,
                      struct pw_rect r, struct pw_enc_areas *areas)
{
    struct columns k = columns_for(t, r);
    float top = pw_enc_scale(t->bucket_bias, (size_t)t->n_buckets * t->heads);
    int y = r.y, end = r.y + r.h, head = pw_enc_scroll(ui, PW_ENC_HEAD, t->heads, k.shown);

    if (r.h >= 4) {
        struct pw_str text = {0};
        pw_bucket_untrained(t, &text);
        pw_draw_cut(c, r, --end, r.x, pw_style_warn(), text.s, r.w);
        pw_str_fini(&text);
    }
    if (r.h >= 3) {
        pw_draw_cut(c, r, y, r.x, pw_style_dim(), " bkt distance", r.w);
        if (k.met)
            pw_draw_text(c, r, y, r.x + k.met, pw_style_dim(), "  pairs");
        if (k.grad)
            pw_draw_text(c, r, y, r.x + k.grad, pw_style_dim(), "  |grad|");
        for (int i = 0; i < k.shown && k.head_w >= 3; i++)
            pw_draw_fmt(c, r, y, r.x + k.heads + i * k.head_w, pw_style_dim(), "h%d", head + i);
        if (k.head_w < 3)
            pw_draw_cut(c, r, y, r.x + k.heads, pw_style_dim(), "heads", r.w - k.heads);
        y++;
    }
    int first = pw_enc_list(ui, PW_ENC_BUCKET, t->n_buckets, (struct pw_rect){y, r.x, end - y, r.w}, areas);
    pw_enc_area(areas, (struct pw_enc_area){{r.y, r.x + k.heads, end - r.y, k.shown * k.head_w},
                                            PW_ENC_HEAD,
                                            PW_ENC_ACROSS,
                                            .first = head,
                                            .size = k.head_w});
    for (int b = first; b < t->n_buckets && y < end; b++, y++) {
        draw_list_row(ui, t, c, r, y, &k, b);
        draw_biases(ui, t, c, r, y, &k, b, top);
    }
}

static void read_list(const struct pw_ui *ui, const struct pw_ev_table *t, struct pw_str *out)
{
    int b = pw_enc_at(ui, PW_ENC_BUCKET), h = pw_enc_at(ui, PW_ENC_HEAD);
    char range[32];

    pw_bucket_range(t, b, range);
    pw_str_add(out, "bucket %d: distance %s  head %d %+.3f", b, range, h,
               (double)t->bucket_bias[(size_t)b * t->heads + h]);
    pw_enc_read_seen(t, pw_bucket_seen(t, b), "pairs", out);
    read_gradient(ui, t, b, out);
    if (t->grad != NULL)
        pw_str_add(out, " over %" PRId64 " steps", t->n_grad);
}

static void copy_list(const struct pw_ui *ui, const struct pw_ev_table *t, struct pw_str *out)
{
    char range[32];

    (void)ui;
    pw_str_add(out, "bucket\tdistances\tpairs_met\tmean_gradient");
    for (int h = 0; h < t->heads; h++)
        pw_str_add(out, "\tbias_%d", h);
    for (int b = 0; b < t->n_buckets; b++) {
        int64_t met = pw_bucket_seen(t, b);
        pw_bucket_range(t, b, range);
        pw_str_add(out, "\n%d\t%s\t", b, range);
        if (met >= 0)
            pw_str_add(out, "%" PRId64, met);
        pw_str_add(out, "\t");
        if (t->grad != NULL)
            pw_str_add(out, "%.3g", mean_gradient(t, b));
        for (int h = 0; h < t->heads; h++)
            pw_str_add(out, "\t%.6g", (double)t->bucket_bias[(size_t)b * t->heads + h]);
    }
    pw_str_add(out, "\n");
}

const struct pw_enc_page pw_enc_buckets = {
    "buckets", PW_ENCODING_BUCKETS, PW_ENC_HEAD, PW_ENC_BUCKET,
    draw_list, read_list,           copy_list,   "buckets; one with 0 pairs was never trained"};

/* ---- query by key */

static void draw_matrix_in(const struct pw_ui *ui, const struct pw_ev_table *t, struct pw_canvas *c,
                           struct pw_rect r, struct pw_enc_areas *areas)
{
    int w = t->n_buckets > 100 ? 4 : 3, x0 = r.x + 7, across = (r.w - 7) / w, down = r.h - 2;

    across = across < t->length ? across : t->length;
    down = down < across ? down : across;
    if (down < 1) {
        pw_draw_cut(c, r, r.y, r.x, pw_style_dim(), "too small for the matrix", r.w);
        return;
    }
    across = down; /* later keys are masked, or resemble the cells below */
    pw_enc_area(areas, (struct pw_enc_area){
                           {r.y + 2, x0, down, across * w}, PW_ENC_DISTANCE, PW_ENC_BETWEEN, .size = w});
    pw_draw_cut(c, r, r.y, r.x, pw_style_dim(),
                "bucket of query (down) and key (across); ░ never seen in training", r.w);
    for (int i = 0; i < across; i++)
        pw_draw_fmt(c, r, r.y + 1, x0 + i * w, pw_style_dim(), "%*d", w - 1, i);
    for (int q = 0; q < down; q++) {
        pw_draw_fmt(c, r, r.y + 2 + q, r.x, pw_style_dim(), "%6d", q);
        for (int key = 0; (key <= q || t->later > 0) && key < across; key++) {
            int d = q - key, b = pw_bucket_of(t, d);
            float f = t->n_buckets > 1 ? (float)b / (float)(t->n_buckets - 1) : 0;
            bool met = abs(d) <= t->trained && t->trained > 0;
            struct pw_style s = pw_style_dim();
            if (met && ui->look.utf8 && ui->look.colors >= PW_COLORS_256)
                s = pw_style_value(f, false);
            else if (met)
                s = pw_style_plain();
            if (d == pw_enc_at(ui, PW_ENC_DISTANCE))
                s.attr = PW_BOLD | PW_UNDERLINE;
            pw_draw_fmt(c, r, r.y + 2 + q, x0 + key * w, s, "%*d ", w - 1, b);
            if (!met)
                pw_draw_cell(c, r, r.y + 2 + q, x0 + key * w + w - 1, s, HATCH);
        }
    }
}

const struct pw_enc_page pw_enc_matrix = {
    "matrix",       PW_ENCODING_MATRIX, PW_ENC_DISTANCE,       PW_ENC_HEAD,
    draw_matrix_in, read_bias,          pw_enc_copy_distances, PW_ENC_BY_DISTANCE};
