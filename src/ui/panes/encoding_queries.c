/* encoding_queries.c - a bias that depends on the query: for one head, a strip per query in the table.
 *
 * FIRE normalises a distance by the query's position, or by its threshold L if that is larger. So beyond L
 * the curve stretches with the position. At its end a long sequence reads fractions that were also seen in
 * training on short ones (Li et al. 2023, section 3). The colours of a strip start at the value of distance
 * 0, because softmax ignores a constant in all scores of a query. If there is room, the parts of the bias are
 * below. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "ui/panes/encoding.h"

enum { NOTE = 10 };

/* Returns the rows [n_queries,length] of the cursor's head. */
static const float *rows_of(const struct pw_ui *ui, const struct pw_ev_table *t)
{
    return t->query_bias + (size_t)pw_enc_at(ui, PW_ENC_HEAD) * t->n_queries * t->length;
}

static bool is_fire(const struct pw_ev_table *t)
{
    return t->fire_threshold > 0;
}

/* Writes the divisor of the query's distances: L, or its own position. */
static void note(const struct pw_ev_table *t, int row, char text[32])
{
    double y = pw_fire_measure(t, t->queries[row]);
    snprintf(text, 32, "%s %.4g", y > pw_fire_threshold(t) ? "i" : "L", y);
}

static void label(const struct pw_ev_table *t, int row, char text[32])
{
    snprintf(text, 32, "q %d", t->queries[row]);
}

/* Returns true if no training sequence reached this query. */
static bool unmet(const struct pw_ev_table *t, int row)
{
    return pw_enc_seen(t, t->rows, t->queries[row]) == 0;
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

static void draw_encoding_queries(const struct pw_ui *ui, const struct pw_ev_table *t, struct pw_canvas *c,
                                  struct pw_rect r, struct pw_enc_areas *areas)
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
    int used = pw_enc_strips(ui, t, &strips, c, r, areas);
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
        pw_str_add(out, "has no key at this distance");
        return;
    }
    pw_str_add(out, "%+.3f", (double)v);
    if (is_fire(t))
        pw_str_add(out, "  u %.3f = psi(%d)/psi(%.4g)", pw_fire_fraction(t, q, d), d, pw_fire_measure(t, q));
    pw_enc_read_seen(t, pw_enc_seen(t, t->met, d), "pairs", out);
    if (unmet(t, k))
        pw_str_add(out, "; no query was at %d", q);
}

/* Appends a line per distance and a column per query, for one head like the map. */
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

const struct pw_enc_page pw_enc_queries = {"queries",
                                           PW_ENCODING_QUERIES,
                                           PW_ENC_DISTANCE,
                                           PW_ENC_QUERY,
                                           draw_encoding_queries,
                                           read,
                                           copy,
                                           "bias of one head by distance, one column per query"};
