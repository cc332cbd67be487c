/* encoding_keys.c - relative keys: the row that is added to a key by its distance, in the selected layer.
 *
 * Every layer has its own table, so { and } select one. The last row applies to all larger distances. A row
 * that was not seen in training keeps its initial values. */
#include <inttypes.h>
#include <stdio.h>

#include "ui/panes/encoding.h"

static void draw_encoding_keys(const struct pw_ui *ui, const struct pw_ev_table *t, struct pw_canvas *c,
                               struct pw_rect r, struct pw_enc_areas *areas)
{
    char title[160];
    const struct pw_table_cells of = {t, PW_ENCODING_KEYS, 1};
    struct pw_heat m = {.data = pw_table_matrix(&of), .cursor_col = pw_enc_at(ui, PW_ENC_ENTRY)};

    snprintf(title, sizeof title, "layer %d of %d  distance (down) x %d dimensions of a head, %.2g .. %.2g",
             t->layer, t->layers, t->key_width, -(double)m.data.hi, (double)m.data.hi);
    pw_enc_map(ui, t, &m, &(struct pw_enc_axes){PW_ENC_KEY, PW_ENC_ENTRY, 1, t->key_from, t->key_met}, title,
               c, r, areas);
}

static void read(const struct pw_ui *ui, const struct pw_ev_table *t, struct pw_str *out)
{
    int row = pw_enc_at(ui, PW_ENC_KEY), i = pw_enc_at(ui, PW_ENC_ENTRY);
    char range[32];

    pw_key_range(t, row, range);
    pw_str_add(out, "layer %d distance %s dimension %d: %+.4f", t->layer, range, i,
               (double)t->keys[(size_t)row * t->key_width + i]);
    pw_enc_read_seen(t, t->key_met != NULL ? t->key_met[row] : -1, "pairs", out);
    if (t->key_grad != NULL)
        pw_str_add(out, ", mean |gradient| %.2g over %" PRId64 " steps", (double)t->key_grad[row], t->n_grad);
    pw_str_add(out, "  norm of the row %.3g", pw_key_norm(t, row));
}

static void copy(const struct pw_ui *ui, const struct pw_ev_table *t, struct pw_str *out)
{
    (void)ui;
    pw_str_add(out, "layer\tdistance\tpairs_met\tmean_gradient\tnorm\n");
    for (int row = 0; row < t->n_keys; row++) {
        char range[32];
        pw_key_range(t, row, range);
        pw_str_add(out, "%d\t%s\t", t->layer, range);
        if (t->key_met != NULL)
            pw_str_add(out, "%" PRId64, t->key_met[row]);
        pw_str_add(out, "\t");
        if (t->key_grad != NULL)
            pw_str_add(out, "%.3g", (double)t->key_grad[row]);
        pw_str_add(out, "\t%.4g\n", pw_key_norm(t, row));
    }
}

const struct pw_enc_page pw_enc_keys = {
    "keys",
    PW_ENCODING_KEYS,
    PW_ENC_ENTRY,
    PW_ENC_KEY,
    draw_encoding_keys,
    read,
    copy,
    "relative keys of this layer; the last row serves all larger distances"};
