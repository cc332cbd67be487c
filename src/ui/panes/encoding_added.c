/* encoding_added.c - rows that are added to the embeddings: the rows themselves, and the cosines between
 * positions.
 *
 * A learned row that was not seen in training keeps its random initial values and resembles no other row. If
 * rows depend on the sequence length, the rows seen in training are not the first ones. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "ui/panes/encoding.h"

/* Limits the cosines of a frame; with more positions, every n-th is shown. */
enum { MOST_PRODUCTS = 1 << 21 };

/* Registers the map's areas: a row of cells is a position (none in the gap), a column is a value of `across`.
 */
static void place_map(struct pw_enc_areas *areas, const struct pw_heat *m, const struct pw_enc_axes *axes,
                      int y, int x, int left)
{
    int below = m->gap_r > 0 ? pw_heat_half_row(m, m->split_row) / 2 : m->h;
    struct pw_enc_area rows = {{y, left, m->gap_r > 0 ? below - 1 : below, x + m->w - left},
                               axes->down,
                               PW_ENC_DOWN,
                               .size = m->sy / 2.0,
                               .pool = m->pool_r * axes->every};

    pw_enc_area(areas, rows);
    rows.r.y = y + below, rows.r.h = m->h - below;
    rows.first = m->split_row;
    pw_enc_area(areas, rows);
    pw_enc_area(
        areas,
        (struct pw_enc_area){
            {y, x, m->h, m->w}, axes->across, PW_ENC_ACROSS, .size = m->sx, .pool = m->pool_c * axes->every});
}

void pw_enc_map(const struct pw_ui *ui, const struct pw_ev_table *t, struct pw_heat *m,
                const struct pw_enc_axes *x, const char *title, struct pw_canvas *c, struct pw_rect r,
                struct pw_enc_areas *areas)
{
    int head = r.h >= 4, left = 6, at = pw_enc_at(ui, x->down), every = x->every;

    bool ends = every == 1 && t->trained > 0 && !t->by_length && x->met == NULL; /* at the end of training */
    m->split_row = ends ? t->trained + 1 : 0;
    m->cursor_row = at / every;
    if (!pw_heat_fit(m, &ui->look, r.w - left, r.h - head))
        return;
    if (m->sy == 1 && m->gap_r > 0) { /* half a cell is too small for a gap */
        m->split_row = 0;
        pw_heat_fit(m, &ui->look, r.w - left, r.h - head);
    }
    if (head) {
        char note[160];
        int n = snprintf(note, sizeof note, "%s", title);
        if (m->pool_r > 1 || m->pool_c > 1)
            snprintf(note + n, sizeof note - (size_t)n, ", pooled %dx%d", m->pool_r, m->pool_c);
        pw_draw_cut(c, r, r.y, r.x, pw_style_dim(), note, r.w);
    }
    for (int y = 0; y < m->h; y++) {
        int from = -1; /* the first position that begins in this row of cells */
        for (int p = 0; p < m->data.rows && from < 0; p += m->pool_r)
            if (pw_heat_half_row(m, p) / 2 == y)
                from = p * every;
        if (from < 0)
            continue;
        bool here = at >= from && at < from + every * m->pool_r * (m->sy == 1 ? 2 : 1);
        struct pw_style s =
            here ? (struct pw_style){PW_DEFAULT, PW_DEFAULT, PW_BOLD | PW_REVERSE} : pw_style_dim();
        bool known = x->met != NULL ? x->met[from] != 0
                     : t->by_length ? pw_enc_seen(t, t->rows, from) != 0
                                    : from <= t->trained && t->trained > 0;
        pw_draw_fmt(c, r, r.y + head + y, r.x, s, "%4d", x->from + (here ? at : from));
        pw_draw_cell(c, r, r.y + head + y, r.x + 5, known ? pw_style_ok() : pw_style_warn(),
                     known ? 0x2503 : 0x250a);
    }
    pw_heat_draw(m, &ui->look, c, r, r.y + head, r.x + left);
    place_map(areas, m, x, r.y + head, r.x + left, r.x);
}

static float value(const struct pw_ev_table *t, int row, int col)
{
    return t->added[(size_t)row * t->width + col];
}

static void draw_rows(const struct pw_ui *ui, const struct pw_ev_table *t, struct pw_canvas *c,
                      struct pw_rect r, struct pw_enc_areas *areas)
{
    char title[160], of[48] = "";
    const struct pw_table_cells of_rows = {t, PW_ENCODING_ROWS, 1};
    struct pw_heat m = {.data = pw_table_matrix(&of_rows), .cursor_col = pw_enc_at(ui, PW_ENC_COLUMN)};

    if (t->by_length)
        snprintf(of, sizeof of, " of a sequence of %d", t->length);
    snprintf(title, sizeof title, "position (down)%s x %d dimensions, %.2g .. %.2g, %s beyond training", of,
             t->width, -(double)m.data.hi, (double)m.data.hi, ui->look.utf8 ? "┊" : ":");
    pw_enc_map(ui, t, &m, &(struct pw_enc_axes){PW_ENC_DISTANCE, PW_ENC_COLUMN, 1, 0, NULL}, title, c, r,
               areas);
}

/* Returns the step between the positions that are compared. */
static int every_for(const struct pw_ev_table *t)
{
    int every = 1;

    while ((int64_t)(t->length / every) * (t->length / every) * t->width > MOST_PRODUCTS)
        every++;
    return every;
}

static void read_cosine_of(const struct pw_ev_table *t, int a, int b, struct pw_str *out)
{
    double v = pw_rows_cosine(t, a, b);
    if (isnan(v))
        pw_str_add(out, " undefined, a row is zero");
    else
        pw_str_add(out, " %+.3f", v);
}

static void read_position(const struct pw_ev_table *t, int p, struct pw_str *out)
{
    pw_enc_read_seen(t, pw_enc_seen(t, t->rows, p), "rows", out);
    if (t->grad != NULL)
        pw_str_add(out, ", mean |gradient| %.2g over %" PRId64 " steps", (double)t->grad[p], t->n_grad);
}

static double norm(const struct pw_ev_table *t, int p)
{
    double sum = 0;

    for (int k = 0; k < t->width; k++)
        sum += (double)value(t, p, k) * (double)value(t, p, k);
    return sqrt(sum);
}

static void read_rows(const struct pw_ui *ui, const struct pw_ev_table *t, struct pw_str *out)
{
    int p = pw_enc_at(ui, PW_ENC_DISTANCE), i = pw_enc_at(ui, PW_ENC_COLUMN);

    pw_str_add(out, "position %d dimension %d: %+.4f", p, i, (double)value(t, p, i));
    read_position(t, p, out);
    pw_str_add(out, "  norm of the row %.3g", norm(t, p));
    if (p > 0) {
        pw_str_add(out, "  cosine to position %d", p - 1);
        read_cosine_of(t, p, p - 1, out);
    }
}

/* Appends a line per position, with the most similar other position. */
static void copy(const struct pw_ui *ui, const struct pw_ev_table *t, struct pw_str *out)
{
    int every = every_for(t);

    (void)ui;
    pw_str_add(out, "position\trows_met\tmean_gradient\tnorm\tcosine_to_previous\tmost_like\tcosine\n");
    for (int p = 0; p < t->length; p++) {
        int64_t met = pw_enc_seen(t, t->rows, p);
        int most = -1;
        double best = -2;
        for (int other = 0; other < t->length; other += every)
            if (other != p && pw_rows_cosine(t, p, other) > best)
                best = pw_rows_cosine(t, p, other), most = other;
        pw_str_add(out, "%d\t", p);
        if (met >= 0)
            pw_str_add(out, "%" PRId64, met);
        pw_str_add(out, "\t");
        if (t->grad != NULL)
            pw_str_add(out, "%.3g", (double)t->grad[p]);
        pw_str_add(out, "\t%.4g\t", norm(t, p));
        if (p > 0)
            pw_str_add(out, "%.3f", pw_rows_cosine(t, p, p - 1));
        if (most >= 0)
            pw_str_add(out, "\t%d\t%.3f", most, best);
        pw_str_add(out, "\n");
    }
}

const struct pw_enc_page pw_enc_rows = {
    "rows",    PW_ENCODING_ROWS, PW_ENC_COLUMN, PW_ENC_DISTANCE,
    draw_rows, read_rows,        copy,          "rows; one never seen in training keeps its initial values"};

/* ---- cosine similarity */

static void draw_cosine(const struct pw_ui *ui, const struct pw_ev_table *t, struct pw_canvas *c,
                        struct pw_rect r, struct pw_enc_areas *areas)
{
    const struct pw_table_cells k = {t, PW_ENCODING_COSINE, every_for(t)};
    struct pw_heat m = {
        .data = pw_table_matrix(&k), .square = true, .cursor_col = pw_enc_at(ui, PW_ENC_OTHER) / k.every};
    char title[128];

    int at = snprintf(title, sizeof title, "cosine of the rows of two positions, -1 .. 1");
    if (k.every > 1)
        snprintf(title + at, sizeof title - (size_t)at, ", one in %d positions", k.every);
    pw_enc_map(ui, t, &m, &(struct pw_enc_axes){PW_ENC_DISTANCE, PW_ENC_OTHER, k.every, 0, NULL}, title, c, r,
               areas);
}

static void read_cosine(const struct pw_ui *ui, const struct pw_ev_table *t, struct pw_str *out)
{
    int p = pw_enc_at(ui, PW_ENC_DISTANCE), other = pw_enc_at(ui, PW_ENC_OTHER);

    pw_str_add(out, "positions %d and %d: cosine", p, other);
    read_cosine_of(t, p, other, out);
    pw_str_add(out, "  position %d", p);
    read_position(t, p, out);
}

const struct pw_enc_page pw_enc_cosine = {"cosine",    PW_ENCODING_COSINE, PW_ENC_OTHER, PW_ENC_DISTANCE,
                                          draw_cosine, read_cosine,        copy,         "rows"};
