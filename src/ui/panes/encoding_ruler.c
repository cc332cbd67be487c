/* encoding_ruler.c - values by distance: a ruler with the distances that were seen in training, and strips of
 * colour.
 *
 * An encoding must extrapolate beyond the distances seen in training. So every picture with distances along x
 * has this ruler above it. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "ui/panes/encoding.h"

struct pw_enc_ruler pw_enc_ruler(int n, int x, int room)
{
    struct pw_enc_ruler k = {n, x, 1, 1, 0};

    if (room < 1)
        room = 1;
    k.pool = (n + room - 1) / room;
    if (k.pool == 1)
        k.w = room / n > 4 ? 4 : room / n;
    k.columns = (n + k.pool - 1) / k.pool * k.w;
    return k;
}

static int column(const struct pw_enc_ruler *k, int distance)
{
    return k->x + distance / k->pool * k->w;
}

/* Draws "├─ trained 0..17 ─┤ beyond". */
static void draw_trained(struct pw_canvas *c, struct pw_rect r, int y, const struct pw_enc_ruler *k,
                         int trained)
{
    int end = column(k, trained < k->n ? trained : k->n - 1) + k->w - 1;
    char text[32];

    if (trained <= 0) {
        pw_draw_text(c, r, y, k->x, pw_style_warn(), "not trained yet");
        return;
    }
    for (int x = k->x; x <= end; x++)
        pw_draw_cell(c, r, y, x, pw_style_ok(), 0x2500);
    pw_draw_cell(c, r, y, k->x, pw_style_ok(), 0x251c);
    pw_draw_cell(c, r, y, end, pw_style_ok(), 0x2524);
    snprintf(text, sizeof text, " trained 0..%d ", trained);
    int w = pw_text_cells(text), next = end + 1;
    if (w + 2 <= end - k->x + 1)
        pw_draw_text(c, r, y, k->x + (end - k->x + 1 - w) / 2, pw_style_ok(), text);
    else if (end + 1 + w < r.x + r.w)
        next = pw_draw_text(c, r, y, end + 1, pw_style_ok(), text) - 1;
    if (trained + 1 < k->n && next + 9 < r.x + r.w)
        pw_draw_text(c, r, y, next + 1, pw_style_warn(), "beyond →");
}

/* Draws the cursor's distance, and as many others as fit without touching it: 11 before 6 would read as 116.
 */
static void draw_distances(struct pw_canvas *c, struct pw_rect r, int y, const struct pw_enc_ruler *k,
                           int cursor)
{
    struct pw_style cursor_style = {PW_DEFAULT, PW_DEFAULT, PW_BOLD | PW_REVERSE};
    int every = k->w >= 3 ? 1 : k->w == 2 ? 2 : 5, free_from = 0;
    char text[16];

    snprintf(text, sizeof text, "%d", cursor);
    int at = column(k, cursor), end = pw_draw_text(c, r, y, at, cursor_style, text);
    for (int d = 0; d < k->n; d += every) {
        snprintf(text, sizeof text, "%d", d);
        int x = column(k, d), next = x + pw_text_cells(text);
        if (x >= free_from && next <= k->x + k->columns && (next < at || x > end))
            free_from = pw_draw_text(c, r, y, x, pw_style_dim(), text) + 1;
    }
}

/* Returns the difference to `zero` with the largest absolute value in a pooled column; -inf (hidden) if
 * nothing was measured. */
static float pooled(const float *row, float zero, int from, int n, int length)
{
    float best = -INFINITY;

    for (int d = from; d < from + n && d < length; d++) {
        if (isnan(row[d]))
            continue;
        if (!isfinite(row[d]))
            return NAN;
        if (best == -INFINITY || fabsf(row[d] - zero) > fabsf(best))
            best = row[d] - zero;
    }
    return best;
}

/* Returns the value at which a row's colours begin. */
static float zero_of(const struct pw_enc_strips *s, const float *row)
{
    return s->from_first && isfinite(row[0]) ? row[0] : 0;
}

static float scale_of(const struct pw_enc_strips *s, int rows, int length)
{
    float top = s->from_first ? 1e-6f : pw_enc_scale(s->values, (size_t)rows * length);

    for (int i = 0; i < rows && s->from_first; i++) {
        const float *row = s->values + (size_t)i * length;
        for (int d = 0; d < length; d++)
            if (isfinite(row[d]))
                top = fmaxf(top, fabsf(row[d] - zero_of(s, row)));
    }
    return top;
}

static void draw_buckets(struct pw_canvas *c, struct pw_rect r, int y, const struct pw_enc_ruler *k,
                         const int *bucket)
{
    int last = -1, free_from = 0;

    pw_draw_text(c, r, y, r.x, pw_style_dim(), "bucket");
    for (int d = 0; d < k->n; d += k->pool) {
        int b = bucket[d], x = column(k, d);
        char text[16];
        snprintf(text, sizeof text, "%d", b);
        if (b == last)
            pw_draw_cell(c, r, y, x, pw_style_dim(), 0xb7);
        else if (x < free_from || (k->w == 1 && b > 9))
            pw_draw_cell(c, r, y, x < free_from ? x + 1 : x, pw_style_plain(), 0x2502);
        else
            free_from = pw_draw_text(c, r, y, x, pw_style_plain(), text) + (k->w > 1);
        last = b;
    }
}

int pw_enc_strips(const struct pw_ui *ui, const struct pw_ev_table *t, const struct pw_enc_strips *s,
                  struct pw_canvas *c, struct pw_rect r, struct pw_enc_areas *areas)
{
    int left = 8 + (s->note != NULL && r.w >= 30 + s->note_w ? s->note_w : 0), right = r.w >= 40 ? 9 : 0,
        y = r.y;
    int n = s->rows > 0 ? s->rows : t->heads;
    enum pw_enc_cursor down = s->rows > 0 ? s->down : PW_ENC_HEAD;
    int at = pw_enc_at(ui, PW_ENC_DISTANCE), here = pw_enc_at(ui, down);
    struct pw_enc_ruler k = pw_enc_ruler(t->length, r.x + left, r.w - left - right);
    float top = scale_of(s, n, t->length);

    if (r.h >= 4) {
        if (left > 8)
            pw_draw_cut(c, r, y, r.x + 8, pw_style_dim(), s->note_head, s->note_w - 1);
        draw_trained(c, r, y++, &k, t->trained);
    }
    if (r.h >= 3) {
        pw_draw_text(c, r, y, r.x, pw_style_dim(), "dist");
        draw_distances(c, r, y++, &k, at);
    }
    if (s->buckets != NULL && r.h >= 5)
        draw_buckets(c, r, y++, &k, s->buckets);
    int rows = r.y + r.h - y, first = pw_enc_list(ui, down, n, (struct pw_rect){y, r.x, rows, r.w}, areas);
    rows = rows < n - first ? rows : n - first;
    pw_enc_area(areas, (struct pw_enc_area){{r.y, k.x, y + rows - r.y, k.columns},
                                            PW_ENC_DISTANCE,
                                            PW_ENC_ACROSS,
                                            .size = k.w,
                                            .pool = k.pool});
    for (int i = 0; i < rows; i++, y++) {
        int h = first + i;
        const float *row = s->values + (size_t)h * t->length;
        char text[32];
        snprintf(text, sizeof text, "head %d", h);
        if (s->label != NULL)
            s->label(t, h, text);
        struct pw_style name = s->unmet != NULL && s->unmet(t, h) ? pw_style_warn() : pw_style_plain();
        pw_draw_fmt(c, r, y, r.x, h == here ? pw_style_bold() : name, "%s%s", h == here ? "▸" : " ", text);
        if (left > 8) {
            s->note(t, h, text);
            pw_draw_cut(c, r, y, r.x + 8, pw_style_dim(), text, s->note_w - 1);
        }
        for (int d = 0; d < t->length; d += k.pool) {
            int x = column(&k, d);
            float v = pooled(row, zero_of(s, row), d, k.pool, t->length);
            pw_heat_cell(&ui->look, c, r, y, x, k.w, v, -top, top, true);
            if (v == -INFINITY)
                pw_draw_cell(c, r, y, x, pw_style_dim(), ' ');
            if (at / k.pool == d / k.pool && y < c->rows && x < c->cols)
                pw_draw_cell(c, r, y, x, c->cells[(size_t)y * (size_t)c->cols + x].style, PW_HEAT_CURSOR);
        }
        if (right && isfinite(row[at]))
            pw_draw_fmt(c, r, y, k.x + k.columns + 1, h == here ? pw_style_bold() : pw_style_plain(), "%+.3g",
                        (double)row[at]);
    }
    return y - r.y;
}

int64_t pw_enc_seen(const struct pw_ev_table *t, const int64_t *counts, int at)
{
    int reach = t->by_length && counts == t->rows ? t->length - 1 : at;
    /* Loaded weights: the training before was not counted. */
    bool uncounted = t->trained > 0 && reach <= t->trained;

    return counts == NULL || (counts[at] == 0 && uncounted) ? -1 : counts[at];
}

void pw_enc_read_seen(const struct pw_ev_table *t, int64_t met, const char *what, struct pw_str *out)
{
    if (met == 0)
        pw_str_add(out, "  never seen in training");
    else if (met > 0)
        pw_str_add(out, "  %" PRId64 " %s seen in training", met, what);
    if (met >= 0 && t->met_from > 0)
        pw_str_add(out, " since step %" PRId64, t->met_from);
}

void pw_enc_read_distance(const struct pw_ui *ui, const struct pw_ev_table *t, struct pw_str *out)
{
    int d = pw_enc_at(ui, PW_ENC_DISTANCE);

    pw_str_add(out, "distance %d", d);
    if (t->bucket != NULL)
        pw_str_add(out, " → bucket %d", t->bucket[d]);
}

void pw_enc_read_head(const struct pw_ui *ui, const struct pw_ev_table *t, const float *values,
                      struct pw_str *out)
{
    int h = pw_enc_at(ui, PW_ENC_HEAD);
    float v = values[(size_t)h * t->length + pw_enc_at(ui, PW_ENC_DISTANCE)];

    if (isnan(v)) /* a bias is known at every distance that a query sees */
        pw_str_add(out, "  head %d %s there", h, values == t->bias ? "hidden" : "not measured");
    else
        pw_str_add(out, "  head %d %+.3f", h, (double)v);
}

void pw_enc_read_others(const struct pw_ui *ui, const struct pw_ev_table *t, const float *values,
                        struct pw_str *out)
{
    for (int h = 0; h < t->heads; h++) {
        double v = (double)values[(size_t)h * t->length + pw_enc_at(ui, PW_ENC_DISTANCE)];
        if (h != pw_enc_at(ui, PW_ENC_HEAD) &&
            !isnan(v)) /* NaN: no sample reaches this distance; the cursor's head already reported it */
            pw_str_add(out, "  head %d %+.2f", h, v);
    }
}
