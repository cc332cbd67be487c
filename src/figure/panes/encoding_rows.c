/* encoding_rows.c - the encoding itself as maps: the bucket of each query and key, the turn of each rotation
 * pair, the added rows and their cosines; and the list of buckets. */
#include "figure/panes/encoding.h"
#include "plot/ticks.h"
#include <math.h>
#include <stdio.h>

#define MOST 160 /* maximum number of rows of a map; with more positions every n-th is shown */

/* ---- maps */

static struct pw_table_cells cells_of(const struct pw_figure *f)
{
    const struct pw_ev_table *t = pw_figure_table(f);

    return (struct pw_table_cells){t, (enum pw_encoding_view)f->kind, (t->length + MOST - 1) / MOST};
}

static struct pw_map map_of(const struct pw_figure *f, const struct pw_table_cells *of)
{
    struct pw_map m = {.data = pw_table_matrix(of), .map = (enum pw_colormap)f->o->map};

    m.most = of->view == PW_ENCODING_ROWS && m.data.cols > 256 ? 256 : 0;
    return m;
}

static double height_of(const struct pw_figure *f, const struct pw_map *m, int kind)
{
    if (kind == PW_ENCODING_FREQUENCIES)
        return fmin(11.0 * m->data.rows, 300) + 34;
    if (kind == PW_ENCODING_ROWS || kind == PW_ENCODING_KEYS)
        return fmin(f->box.w * 0.7, 8.0 * m->data.rows) + 34;
    return fmin(f->box.w - 120, 330) + 34;
}

enum pw_code pw_figure_rows_prepare(struct pw_figure *f, struct pw_err *err)
{
    static const char *const titles[] = {[PW_ENCODING_MATRIX] = "Bucket of query and key",
                                         [PW_ENCODING_FREQUENCIES] = "Turns of each pair of dimensions",
                                         [PW_ENCODING_ROWS] = "Rows added to the embeddings",
                                         [PW_ENCODING_KEYS] = "Relative keys",
                                         [PW_ENCODING_COSINE] = "Similarity of the rows of two positions"};
    static const char *const missing[] = {[PW_ENCODING_MATRIX] = "this encoding has no buckets",
                                          [PW_ENCODING_FREQUENCIES] = "this encoding rotates nothing",
                                          [PW_ENCODING_ROWS] = "this encoding adds no rows to the embeddings",
                                          [PW_ENCODING_KEYS] = "this encoding adds nothing to the keys",
                                          [PW_ENCODING_COSINE] =
                                              "this encoding adds no rows to the embeddings"};
    static const char *const what[] = {
        [PW_ENCODING_MATRIX] = " Colour: the bucket's number.",
        [PW_ENCODING_FREQUENCIES] =
            (" Colour: the cosine of the angle that a pair has turned by that distance. Right: wavelength "
             "in positions, and the share of a full turn within the trained distances; if it is "
             "less than one, the remaining angles were never seen in training."),
        [PW_ENCODING_ROWS] = " Positions down, dimensions across.",
        [PW_ENCODING_KEYS] =
            (" Across: dimensions of a head; down: distances that have a row. The last row serves all larger "
             "distances."),
        [PW_ENCODING_COSINE] = " Colour: cosine of the two rows."};
    const struct pw_ev_table *t = pw_figure_table(f);

    if (t == NULL)
        return pw_figure_nothing(err, "the encoding's table is missing; run 'table' first");
    if (!pw_table_has(t, (enum pw_encoding_view)f->kind))
        return pw_figure_nothing(err, missing[f->kind]);
    struct pw_table_cells v = cells_of(f);
    struct pw_map m = map_of(f, &v);
    f->asks = pw_figure_tables;
    pw_figure_caption_table(f, t, titles[f->kind], f->kind != PW_ENCODING_KEYS && t->trained + 1 < t->length);
    pw_str_add(&f->caption, "%s", what[f->kind]);
    if (f->kind == PW_ENCODING_KEYS)
        pw_str_add(&f->caption, " Layer %d; the first row is for distance %d.", t->layer, t->key_from);
    if (t->by_length)
        pw_str_add(&f->caption, " The rows are those of a sequence of %d; they depend on its length.",
                   t->length);
    if (v.every > 1)
        pw_str_add(&f->caption, " One in %d positions is shown.", v.every);
    f->box.h = height_of(f, &m, f->kind);
    f->least = 100;
    return PW_OK;
}

/* Draws each pair's wavelength, and the share of a turn that was seen in training. */
static void draw_turns(struct pw_figure *f, const struct pw_ev_table *t, struct pw_box b)
{
    static const struct pw_font font = {.size = 7, .color = PW_INK, .anchor = PW_END};
    double h = b.h / t->pairs, x = b.x + b.w + 40;
    int every = (int)ceil(8 / h);

    for (int i = 0; i < t->pairs; i++) {
        double y = b.y + i * h, share = pw_rotary_coverage(t, i);
        char text[16];
        pw_count(text, sizeof text, pw_rotary_wavelength(t, i));
        if (i % every == 0)
            pw_svg_text(&f->svg, x - 4, y + h / 2 + 2.5, &font, text);
        pw_svg_rect(&f->svg, (struct pw_box){x, y + h * 0.2, 40, h * 0.6}, PW_GRID, 1);
        if (t->trained > 0)
            pw_svg_rect(&f->svg, (struct pw_box){x, y + h * 0.2, 40 * share, h * 0.6},
                        share >= 1 ? 0x009e73 : 0xd55e00, 1);
    }
}

void pw_figure_rows_draw(struct pw_figure *f)
{
    struct pw_table_cells v = cells_of(f);
    struct pw_map m = map_of(f, &v);
    bool square = f->kind == PW_ENCODING_MATRIX || f->kind == PW_ENCODING_COSINE,
         turns = f->kind == PW_ENCODING_FREQUENCIES;
    struct pw_box b = {f->box.x + 40, f->box.y + 4, f->box.w - (turns ? 186 : 110), f->box.h - 34};
    struct pw_enc_sides sides = {turns                         ? "distance"
                                 : f->kind == PW_ENCODING_ROWS ? "dimension"
                                                               : "key's position",
                                 turns                         ? "pair"
                                 : f->kind == PW_ENCODING_ROWS ? "position"
                                                               : "query's position",
                                 v.every, v.t->trained};

    if (square)
        b.w = b.h = fmin(b.w, b.h);
    if (f->kind == PW_ENCODING_COSINE)
        sides.x_name = sides.y_name = "position";
    if (f->kind == PW_ENCODING_ROWS && v.every > 1)
        sides.trained = 0; /* columns are dimensions and are counted singly */
    if (f->kind == PW_ENCODING_KEYS)
        sides = (struct pw_enc_sides){"dimension", "row", 1, 0};
    pw_figure_table_map(f, &m, b, &sides,
                        turns                           ? PW_ENC_DOWN
                        : f->kind == PW_ENCODING_MATRIX ? PW_ENC_ALONG
                                                        : PW_ENC_ACROSS);
    if (turns)
        draw_turns(f, v.t, b);
    pw_map_bar(&m, &f->svg, (struct pw_box){b.x + b.w + (turns ? 92 : 10), b.y, 8, fmin(b.h, 110)}, false,
               f->kind == PW_ENCODING_MATRIX                                ? "bucket"
               : f->kind == PW_ENCODING_ROWS || f->kind == PW_ENCODING_KEYS ? "value"
                                                                            : "cosine");
}

/* ---- the list of buckets */

#define ROW 10.0

enum pw_code pw_figure_buckets_prepare(struct pw_figure *f, struct pw_err *err)
{
    const struct pw_ev_table *t = pw_figure_table(f);

    if (t == NULL)
        return pw_figure_nothing(err, "the encoding's table is missing; run 'table' first");
    if (!pw_table_has(t, PW_ENCODING_BUCKETS))
        return pw_figure_nothing(err, "this encoding has no buckets");
    f->asks = pw_figure_tables;
    pw_figure_caption_table(f, t, "Learned bias of each bucket and head", false);
    pw_str_add(&f->caption,
               " Pairs: the pairs of query and key seen in training. A bucket that was never seen keeps its "
               "initial bias; ");
    pw_bucket_untrained(t, &f->caption);
    pw_str_add(&f->caption, ".");
    f->box.h = ROW * t->n_buckets + 18;
    f->least = f->box.h * 0.6;
    return PW_OK;
}

void pw_figure_buckets_draw(struct pw_figure *f)
{
    static const struct pw_font head = {.size = 7.5, .color = 0x5a5a5a}, font = {.size = 7, .color = PW_INK};
    const struct pw_ev_table *t = pw_figure_table(f);
    const struct pw_table_cells of = {t, PW_ENCODING_BUCKETS, 1};
    struct pw_map m = {.data = pw_table_matrix(&of)};
    struct pw_box b = {f->box.x + 140, f->box.y + 14, f->box.w - 190, f->box.h - 18};
    double h = b.h / t->n_buckets, w = b.w / t->heads;
    struct pw_font right = font;

    right.anchor = PW_END;
    pw_svg_text(&f->svg, f->box.x, f->box.y + 9, &head, "bucket");
    pw_svg_text(&f->svg, f->box.x + 34, f->box.y + 9, &head, "distances");
    pw_svg_text(&f->svg, f->box.x + 102, f->box.y + 9, &head, "pairs");
    pw_map_draw(&m, &f->svg, b);
    pw_svg_frame(&f->svg, b, (struct pw_pen){.color = 0x808080, .width = 0.5});
    for (int i = 0; i < t->heads && w >= 9; i++) {
        struct pw_font middle = head;
        middle.anchor = PW_MIDDLE;
        pw_svg_fmt(&f->svg, b.x + (i + 0.5) * w, f->box.y + 9, &middle, w >= 30 ? "head %d" : "%d", i);
    }
    for (int i = 0, every = (int)ceil(7.5 / h); i < t->n_buckets; i += every) {
        int64_t met = pw_bucket_seen(t, i);
        double y = b.y + (i + 0.5) * h + 2.5;
        char range[32], count[16] = "?";
        pw_bucket_range(t, i, range);
        if (met >= 0)
            pw_count(count, sizeof count, (double)met);
        right.color = met == 0 ? 0xcd3131 : PW_INK;
        pw_svg_fmt(&f->svg, f->box.x + 18, y, &right, "%d", i);
        pw_svg_text(&f->svg, f->box.x + 34, y, &font, range);
        pw_svg_text(&f->svg, f->box.x + 130, y, &right, met == 0 ? "never" : count);
        for (int k = 0; k < t->heads && w >= 26 && h >= 7 && t->heads * t->n_buckets <= 320; k++) {
            float v = t->bucket_bias[(size_t)i * t->heads + k];
            struct pw_font in = {
                .size = 6.5, .color = pw_ramp_text_on(pw_map_color(&m, v)), .anchor = PW_MIDDLE};
            pw_svg_fmt(&f->svg, b.x + (k + 0.5) * w, y, &in, "%+.2f", (double)v);
        }
    }
    pw_map_bar(&m, &f->svg, (struct pw_box){b.x + b.w + 10, b.y, 8, fmin(b.h, 110)}, false, "bias");
}
