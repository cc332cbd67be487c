/* encoding_queries.c - a bias that isn't the same for all queries: of one head, a strip for each query told.
 *
 * FIRE measures a distance by how far into the sequence the query stands, so from its threshold L on one
 * curve is stretched ever wider: what a long sequence has at its end is a fraction that training on short
 * ones has met, too (Li et al. 2023, section 3). A strip's colours begin at its value at distance 0, because
 * a constant on all of a query's scores is nothing to the softmax. Below, where there is room, what the bias
 * is made of.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "ui/panes/encoding.h"

enum { NOTE = 10 };

static bool has(const struct pw_ui *ui, const struct pw_ev_table *t)
{
    (void)ui;
    return t->query_bias && t->n_queries > 0;
}

/* The rows [n_queries,length] of the head that the cursor is on. */
static const float *rows_of(const struct pw_ui *ui, const struct pw_ev_table *t)
{
    return t->query_bias + (size_t)pw_enc_at(ui, PW_ENC_HEAD) * t->n_queries * t->length;
}

static bool is_fire(const struct pw_ev_table *t)
{
    return t->fire_threshold > 0;
}

/* By what the query's distances are measured: L, or its own place. */
static void note(const struct pw_ev_table *t, int row, char text[32])
{
    double y = pw_fire_measure(t, t->queries[row]);
    snprintf(text, 32, "%s %.4g", y > pw_fire_threshold(t) ? "i" : "L", y);
}

static void label(const struct pw_ev_table *t, int row, char text[32])
{
    snprintf(text, 32, "q %d", t->queries[row]);
}

/* No sequence of training came so far. */
static bool unmet(const struct pw_ev_table *t, int row)
{
    return pw_enc_met(t, t->rows, t->queries[row]) == 0;
}

static void draw_tensors(const struct pw_ev_table *t, struct pw_canvas *c, struct pw_rect r)
{
    char shape[32];

    pw_draw_cut(c, r, r.y, r.x, pw_style_dim(), "learned               shape      norm  mean |gradient|",
                r.w);
    for (int i = 0; i < t->n_tensors && i + 1 < r.h; i++) {
        const struct pw_table_tensor *x = &t->tensors[i];
        pw_tensor_shape(x, shape);
        int at = pw_draw_fmt(c, r, r.y + 1 + i, r.x, pw_style_plain(), "%-18s %8s %9.4g  ", x->name, shape,
                             (double)x->norm);
        if (isnan(x->grad))
            pw_draw_text(c, r, r.y + 1 + i, at, pw_style_dim(), "              -");
        else
            pw_draw_fmt(c, r, r.y + 1 + i, at, pw_style_plain(), "%15.3g", (double)x->grad);
    }
}

static void draw(struct pw_ui *ui, const struct pw_ev_table *t, struct pw_canvas *c, struct pw_rect r)
{
    struct pw_enc_strips strips = {.values = rows_of(ui, t),
                                   .rows = t->n_queries,
                                   .down = PW_ENC_QUERY,
                                   .from_first = true,
                                   .label = label,
                                   .unmet = unmet,
                                   .note = is_fire(t) ? note : NULL,
                                   .note_head = "max(i,L)",
                                   .note_w = NOTE};
    struct pw_str head = {0};

    pw_str_add(&head, "head %d of %d", pw_enc_at(ui, PW_ENC_HEAD), t->heads);
    if (is_fire(t)) {
        pw_str_add(&head, "  ");
        pw_fire_text(t, &head);
        pw_str_add(&head, "  psi(x) = ln(c x + 1)");
    }
    if (r.h >= 6) {
        pw_draw_cut(c, r, r.y, r.x, pw_style_dim(), pw_str_text(&head), r.w);
        r.y++, r.h--;
    }
    pw_str_fini(&head);
    int used = pw_enc_strips(ui, t, &strips, c, r);
    struct pw_rect rest = {r.y + used + 1, r.x, r.h - used - 1, r.w};
    if (t->n_tensors > 0 && rest.h > t->n_tensors)
        draw_tensors(t, c, rest);
}

static void read(const struct pw_ui *ui, const struct pw_ev_table *t, struct pw_str *out)
{
    int k = pw_enc_at(ui, PW_ENC_QUERY), q = t->queries[k], d = pw_enc_at(ui, PW_ENC_DISTANCE);
    float v = rows_of(ui, t)[(size_t)k * t->length + d];

    pw_str_add(out, "query %d  distance %d  head %d ", q, d, pw_enc_at(ui, PW_ENC_HEAD));
    if (isnan(v)) {
        pw_str_add(out, "no key is so far before it");
        return;
    }
    pw_str_add(out, "%+.3f", (double)v);
    if (is_fire(t))
        pw_str_add(out, "  u %.3f = psi(%d)/psi(%.4g)", pw_fire_fraction(t, q, d), d, pw_fire_measure(t, q));
    pw_enc_read_met(t, pw_enc_met(t, t->met, d), "pairs", out);
    if (unmet(t, k))
        pw_str_add(out, "; no query stood at %d", q);
}

/* A line a distance and a column a query: of one head, as the map is. */
static void copy(const struct pw_ui *ui, const struct pw_ev_table *t, struct pw_str *out)
{
    const float *rows = rows_of(ui, t);

    pw_str_add(out, "head\tdistance");
    for (int k = 0; k < t->n_queries; k++)
        pw_str_add(out, "\tquery_%d", t->queries[k]);
    for (int d = 0; d < t->length; d++) {
        pw_str_add(out, "\n%d\t%d", pw_enc_at(ui, PW_ENC_HEAD), d);
        for (int k = 0; k < t->n_queries; k++) {
            float v = rows[(size_t)k * t->length + d];
            pw_str_add(out, isnan(v) ? "\t" : "\t%.6g", (double)v);
        }
    }
    pw_str_add(out, "\n");
}

const struct pw_enc_page pw_enc_queries = {
    "queries",    PW_ENC_DISTANCE,
    PW_ENC_QUERY, has,
    draw,         read,
    copy,         "bias of a head by distance, a column for each of some queries"};
