/* encoding.c - the positional encoding itself, as numbers: whatever tables it fills are what is drawn.
 *
 * Biases by distance (T5's with their buckets, ALiBi's with their slopes) are a strip of colour for each
 * head; rotary frequencies are wavelengths with a dial at the cursor's distance; rows added to the embeddings
 * are a heat map. What lies beyond the distances met in training is marked everywhere: there an encoding must
 * extrapolate. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ui/plot.h"

#define TURN 6.283185307179586

/* ---- a scale of distances along x */

struct ruler {
    int n;       /* distances */
    int x, w;    /* first column; columns of a distance */
    int pool;    /* distances a column, where w is 1 */
    int columns; /* in all */
};

static struct ruler ruler_for(int n, int x, int room)
{
    struct ruler k = {n, x, 1, 1, 0};

    if (room < 1)
        room = 1;
    while ((n + k.pool - 1) / k.pool > room)
        k.pool++;
    if (k.pool == 1)
        k.w = room / n > 4 ? 4 : room / n;
    k.columns = (n + k.pool - 1) / k.pool * k.w;
    return k;
}

static int column_of(const struct ruler *k, int distance)
{
    return k->x + distance / k->pool * k->w;
}

/* "├─ trained 0..17 ─┤ beyond" */
static void draw_trained(struct pw_canvas *c, struct pw_rect r, int y, const struct ruler *k, int trained)
{
    int end = column_of(k, trained < k->n ? trained : k->n - 1) + k->w - 1;
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
    int w = pw_text_cells(text);
    if (w + 2 <= end - k->x + 1)
        pw_draw_text(c, r, y, k->x + (end - k->x + 1 - w) / 2, pw_style_ok(), text);
    if (end + 8 < k->x + k->columns)
        pw_draw_text(c, r, y, end + 2, pw_style_warn(), "beyond →");
}

/* The distances' numbers, as many as have room. */
static void draw_distances(struct pw_canvas *c, struct pw_rect r, int y, const struct ruler *k, int cursor)
{
    int every = k->w >= 3 ? 1 : k->w == 2 ? 2 : 5, free_from = 0;

    for (int d = 0; d < k->n; d += every) {
        char text[16];
        snprintf(text, sizeof text, "%d", d);
        int x = column_of(k, d);
        if (x >= free_from && x + pw_text_cells(text) <= k->x + k->columns)
            free_from = pw_draw_text(c, r, y, x, pw_style_dim(), text) + 1;
    }
    char text[16];
    snprintf(text, sizeof text, "%d", cursor);
    pw_draw_text(c, r, y, column_of(k, cursor),
                 (struct pw_style){PW_DEFAULT, PW_DEFAULT, PW_BOLD | PW_REVERSE}, text);
}

/* ---- biases by distance */

static bool has_bias(const struct pw_ev_table *t)
{
    return (t->bias || t->slopes) && t->heads > 0;
}

static float bias_at(const struct pw_ev_table *t, int head, int distance)
{
    if (t->bias)
        return t->bias[(size_t)head * t->length + distance];
    return -t->slopes[head] * (float)distance; /* ALiBi: Press et al. 2022, section 3 */
}

/* The largest by size of a pooled column. */
static float pooled_bias(const struct pw_ev_table *t, int head, int from, int n)
{
    float best = 0;

    for (int d = from; d < from + n && d < t->length; d++) {
        float v = bias_at(t, head, d);
        if (!isfinite(v))
            return v;
        if (fabsf(v) > fabsf(best))
            best = v;
    }
    return best;
}

static float bias_scale(const struct pw_ev_table *t)
{
    float top = 1e-6f;

    for (int h = 0; h < t->heads; h++)
        for (int d = 0; d < t->length; d++) {
            float v = fabsf(bias_at(t, h, d));
            if (isfinite(v) && v > top)
                top = v;
        }
    return top;
}

static void draw_buckets(struct pw_canvas *c, struct pw_rect r, int y, const struct ruler *k,
                         const struct pw_ev_table *t)
{
    int last = -1;

    pw_draw_text(c, r, y, r.x, pw_style_dim(), "bucket");
    for (int d = 0; d < t->length; d += k->pool) {
        int b = t->bucket[d];
        char text[16];
        snprintf(text, sizeof text, "%d", b);
        if (b != last && pw_text_cells(text) <= k->w)
            pw_draw_text(c, r, y, column_of(k, d), pw_style_plain(), text);
        else if (b != last && k->w == 1)
            pw_draw_cell(c, r, y, column_of(k, d), pw_style_plain(), 0x2502);
        else
            pw_draw_cell(c, r, y, column_of(k, d), pw_style_dim(), 0xb7);
        last = b;
    }
}

/* Ruler, numbers, buckets and a strip a head. Returns the rows taken. */
static int draw_bias(struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r)
{
    const struct pw_ev_table *t = &ui->snap->table;
    int left = t->slopes ? 16 : 7, right = r.w >= 40 ? 8 : 0, y = r.y;
    struct ruler k = ruler_for(t->length, r.x + left, r.w - left - right);
    float top = bias_scale(t);

    if (r.h >= 4)
        draw_trained(c, r, y++, &k, t->trained);
    if (r.h >= 3) {
        pw_draw_text(c, r, y, r.x, pw_style_dim(), "dist");
        draw_distances(c, r, y++, &k, ui->encoding.distance);
    }
    if (t->bucket && r.h >= 5)
        draw_buckets(c, r, y++, &k, t);
    int rows = r.y + r.h - y, most = t->heads > rows ? t->heads - rows : 0;
    ui->encoding.top = ui->encoding.top < 0 ? 0 : ui->encoding.top < most ? ui->encoding.top : most;
    for (int i = 0; i < rows && ui->encoding.top + i < t->heads; i++, y++) {
        int h = ui->encoding.top + i;
        pw_draw_fmt(c, r, y, r.x, pw_style_plain(), "head %d", h);
        if (t->slopes)
            pw_draw_fmt(c, r, y, r.x + 8, pw_style_dim(), "%.5f", (double)t->slopes[h]);
        for (int d = 0; d < t->length; d += k.pool) {
            int x = column_of(&k, d);
            pw_heat_cell(&ui->look, c, r, y, x, k.w, pooled_bias(t, h, d, k.pool), -top, top, true);
            if (ui->encoding.distance / k.pool == d / k.pool) {
                struct pw_cell *at =
                    y < c->rows && x < c->cols ? c->cells + (size_t)y * (size_t)c->cols + x : NULL;
                if (at)
                    pw_draw_cell(c, r, y, x, at->style, 0x25cf);
            }
        }
        if (right)
            pw_draw_fmt(c, r, y, k.x + k.columns + 1, pw_style_bold(), "%+.3g",
                        (double)bias_at(t, h, ui->encoding.distance));
    }
    return y - r.y;
}

/* Which bucket a query and a key share: the numbers on the colours of a ramp, bare where training never came.
 */
static void draw_bucket_matrix(struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r)
{
    const struct pw_ev_table *t = &ui->snap->table;
    int w = t->n_buckets > 100 ? 4 : 3, x0 = r.x + 7, across = (r.w - 7) / w, down = r.h - 2;

    across = across < t->length ? across : t->length;
    down = down < across ? down : across;
    if (down < 5)
        return;
    across = down; /* what lies right of the last query is hidden anyway */
    pw_draw_text(c, r, r.y, r.x, pw_style_dim(), "buckets of query (down) and key (across)");
    for (int i = 0; i < across; i++)
        pw_draw_fmt(c, r, r.y + 1, x0 + i * w, pw_style_dim(), "%*d", w - 1, i);
    for (int q = 0; q < down; q++) {
        pw_draw_fmt(c, r, r.y + 2 + q, r.x, pw_style_dim(), "%6d", q);
        for (int key = 0; key <= q && key < across; key++) {
            int d = q - key, b = t->bucket[d];
            float f = t->n_buckets > 1 ? (float)b / (float)(t->n_buckets - 1) : 0;
            struct pw_style s = pw_style_dim();
            if (d <= t->trained && ui->look.utf8 && ui->look.colors >= PW_COLORS_256)
                s = pw_style_value(f, false);
            else if (d <= t->trained)
                s = pw_style_plain();
            if (d == ui->encoding.distance)
                s.attr = PW_BOLD | PW_UNDERLINE;
            pw_draw_fmt(c, r, r.y + 2 + q, x0 + key * w, s, "%*d%s", w - 1, b, w > 2 ? " " : "");
        }
    }
}

/* ---- rotary */

static void draw_dial(struct pw_canvas *c, struct pw_rect r, int y, int x, double angle)
{
    static const uint32_t hands[8] = {0x2192, 0x2197, 0x2191, 0x2196, 0x2190, 0x2199, 0x2193, 0x2198};
    double turns = angle / TURN - floor(angle / TURN);

    pw_draw_cell(c, r, y, x, pw_style_bold(), hands[(int)lrint(turns * 8) % 8]);
    pw_draw_fmt(c, r, y, x + 2, pw_style_plain(), "%3.0f°", turns * 360);
}

/* Returns the rows taken. */
static int draw_frequencies(struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r)
{
    const struct pw_ev_table *t = &ui->snap->table;
    int rows = r.h - 1, most = t->pairs > rows ? t->pairs - rows : 0, d = ui->encoding.distance;
    double longest = 0, shortest = INFINITY;

    for (int i = 0; i < t->pairs; i++) {
        double wave = TURN / (double)t->frequencies[i];
        if (isfinite(wave) && wave > 0) {
            longest = wave > longest ? wave : longest;
            shortest = wave < shortest ? wave : shortest;
        }
    }
    double span = log(longest / shortest);
    int bar_x = r.x + 24, bar_w = r.x + r.w - bar_x - 14;
    bar_w = bar_w > 40 ? 40 : bar_w;
    pw_draw_fmt(c, r, r.y, r.x, pw_style_dim(), "pair  wavelength  d=%d", d);
    if (bar_w >= 4)
        pw_draw_cut(c, r, r.y, bar_x, pw_style_dim(), "wavelength, log", bar_w);
    if (bar_w >= 4 && t->trained > 0) {
        char text[32];
        snprintf(text, sizeof text, "in 0..%d", t->trained);
        pw_draw_text(c, r, r.y, bar_x + bar_w + 1, pw_style_dim(), text);
    }
    ui->encoding.top = ui->encoding.top < 0 ? 0 : ui->encoding.top < most ? ui->encoding.top : most;
    int i = 0;
    for (; i < rows && ui->encoding.top + i < t->pairs; i++) {
        int pair = ui->encoding.top + i, y = r.y + 1 + i;
        double f = (double)t->frequencies[pair], wave = TURN / f;
        double turns = t->trained * f / TURN;
        struct pw_style s = turns >= 1 ? pw_style_ok() : pw_style_warn();
        char text[16];
        pw_count(text, sizeof text, wave);
        pw_draw_fmt(c, r, y, r.x, pw_style_plain(), "%4d  %10s", pair, text);
        if (isfinite(f))
            draw_dial(c, r, y, r.x + 17, d * f);
        if (bar_w < 4)
            continue;
        if (isfinite(wave) && wave > 0)
            pw_draw_bar(c, r, y, bar_x, s, bar_w, span > 0 ? 0.06 + 0.94 * log(wave / shortest) / span : 1);
        if (t->trained > 0)
            pw_draw_fmt(c, r, y, bar_x + bar_w + 1, s, turns >= 1 ? "%.1f turns" : "%.2f turns", turns);
    }
    return 1 + i;
}

/* Mean of cos(d theta): how alike the same vector at distance d still looks (Su et al. 2021, section 3.4.3).
 */
static void draw_decay(struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r)
{
    const struct pw_ev_table *t = &ui->snap->table;
    enum { MOST = 512 };
    int64_t x[MOST];
    float y[MOST];
    int n = t->length < MOST ? t->length : MOST;
    struct pw_plot p = {.box = {r.y + 1, r.x, r.h - 1, r.w}, .x1 = n - 1, .y0 = 0, .y1 = 1};

    for (int d = 0; d < n; d++) {
        double sum = 0;
        for (int i = 0; i < t->pairs; i++)
            sum += cos(d * (double)t->frequencies[i]);
        x[d] = d, y[d] = (float)(sum / t->pairs);
        if ((double)y[d] < p.y0)
            p.y0 = (double)y[d];
    }
    pw_draw_text(c, r, r.y, r.x, pw_style_dim(),
                 "similarity of a vector to itself, by distance: mean cosine over pairs");
    if (!pw_plot_begin(&p, ui, c, "distance"))
        return;
    int edge = t->trained > 0 ? pw_plot_column(&p, t->trained + 0.5) : -1;
    for (int i = 0; edge >= 0 && i < p.field.h; i++)
        pw_draw_cell(c, p.field, p.field.y + i, edge, pw_style_warn(), 0x250a);
    pw_plot_series(&p, ui, c, ui->snap->table_arm, x, y, n, PW_STROKE_LINE);
}

/* ---- rows added to the embeddings */

static float added_at(const void *arg, int row, int col)
{
    const struct pw_ev_table *t = arg;
    return t->added[(size_t)row * t->width + col];
}

static void draw_added(struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r)
{
    const struct pw_ev_table *t = &ui->snap->table;
    struct pw_heat m = {.rows = t->length,
                        .cols = t->width,
                        .value = added_at,
                        .arg = t,
                        .hi = 1e-6f,
                        .is_signed = true,
                        .split_row = t->trained > 0 ? t->trained + 1 : 0,
                        .cursor_row = -1,
                        .cursor_col = -1};
    int head = r.h >= 4, left = 6;

    for (size_t i = 0; i < (size_t)t->length * (size_t)t->width; i++)
        if (isfinite(t->added[i]) && fabsf(t->added[i]) > m.hi)
            m.hi = fabsf(t->added[i]);
    if (!pw_heat_fit(&m, &ui->look, r.w - left, r.h - head))
        return;
    if (head) {
        char note[64];
        int n = snprintf(note, sizeof note, "position (down) x %d dimensions, %.2g .. %.2g", t->width,
                         -(double)m.hi, (double)m.hi);
        if (m.pool_r > 1 || m.pool_c > 1)
            snprintf(note + n, sizeof note - (size_t)n, ", pooled %dx%d", m.pool_r, m.pool_c);
        pw_draw_cut(c, r, r.y, r.x, pw_style_dim(), note, r.w);
    }
    for (int y = 0; y < m.h;
         y++) { /* the first position that begins in each row, and whether it was trained */
        int from = -1;
        for (int p = 0; p < t->length; p += m.pool_r)
            if (pw_heat_half_row(&m, p) / 2 == y) {
                from = p;
                break;
            }
        if (from < 0)
            continue;
        bool here =
            ui->encoding.distance >= from && ui->encoding.distance < from + m.pool_r * (m.sy == 1 ? 2 : 1);
        struct pw_style s =
            here ? (struct pw_style){PW_DEFAULT, PW_DEFAULT, PW_BOLD | PW_REVERSE} : pw_style_dim();
        bool known = from <= t->trained && t->trained > 0;
        pw_draw_fmt(c, r, r.y + head + y, r.x, s, "%4d", here ? ui->encoding.distance : from);
        pw_draw_cell(c, r, r.y + head + y, r.x + 5, known ? pw_style_ok() : pw_style_warn(),
                     known ? 0x2503 : 0x250a);
    }
    pw_heat_draw(&m, &ui->look, c, r, r.y + head, r.x + left);
}

/* ---- read-out at the cursor */

static void draw_readout(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r, int y)
{
    const struct pw_ev_table *t = &ui->snap->table;
    int d = ui->encoding.distance;
    struct pw_str s = {0};

    pw_str_add(&s, t->added ? "position %d" : "distance %d", d);
    if (t->bucket)
        pw_str_add(&s, " → bucket %d", t->bucket[d]);
    if (t->trained > 0 && d > t->trained)
        pw_str_add(&s, "  beyond training");
    for (int h = 0; has_bias(t) && h < t->heads; h++)
        pw_str_add(&s, "  head %d %+.2f", h, (double)bias_at(t, h, d));
    if (t->added) {
        double norm = 0, before = 0, dot = 0;
        for (int i = 0; i < t->width; i++) {
            double a = (double)added_at(t, d, i), b = d > 0 ? (double)added_at(t, d - 1, i) : 0;
            norm += a * a, before += b * b, dot += a * b;
        }
        pw_str_add(&s, "  norm %.3g", sqrt(norm));
        if (d > 0 && norm > 0 && before > 0)
            pw_str_add(&s, "  cosine to position %d %+.3f", d - 1, dot / sqrt(norm * before));
    }
    if (t->frequencies) {
        double sum = 0;
        for (int i = 0; i < t->pairs; i++)
            sum += cos(d * (double)t->frequencies[i]);
        pw_str_add(&s, "  mean cosine %+.3f", t->pairs > 0 ? sum / t->pairs : 0.0);
    }
    pw_draw_cut(c, r, y, r.x, pw_style_bold(), s.s, r.w);
    pw_str_fini(&s);
}

static void draw(struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r)
{
    const struct pw_ev_table *t = &ui->snap->table;

    if (!ui->snap->has_table) {
        static const char *const lines[] = {"the encoding's own numbers", ":table", "or Enter here", NULL};
        pw_draw_invitation(c, r, lines);
        return;
    }
    bool rotary = t->frequencies && t->pairs > 0, added = t->added && t->width > 0;
    if (t->length < 1 || (!has_bias(t) && !rotary && !added)) {
        static const char *const lines[] = {
            "no positional term",
            "order enters only through the causal mask:", "each query sees one key more than the last", NULL};
        pw_draw_invitation(c, r, lines);
        return;
    }
    int d = ui->encoding.distance;
    ui->encoding.distance = d < 0 ? 0 : d < t->length ? d : t->length - 1;
    if (r.h >= 4) {
        draw_readout(ui, c, r, r.y + r.h - 1);
        r.h--;
    }
    int used;
    if (has_bias(t)) {
        int fixed = 2 + (t->bucket != NULL) + t->heads;
        struct pw_rect strips = r;
        if (t->bucket && r.h >= fixed + 8)
            strips.h = fixed;
        used = draw_bias(ui, c, strips);
        struct pw_rect rest = {r.y + used + 1, r.x, r.h - used - 1, r.w};
        if (t->bucket && rest.h >= 7)
            draw_bucket_matrix(ui, c, rest);
    } else if (rotary) {
        struct pw_rect list = r;
        if (r.h >= t->pairs + 10)
            list.h = t->pairs + 1;
        used = draw_frequencies(ui, c, list);
        struct pw_rect rest = {r.y + used + 1, r.x, r.h - used - 1, r.w};
        if (rest.h >= 7)
            draw_decay(ui, c, rest);
    } else {
        draw_added(ui, c, r);
    }
}

static void status(const struct pw_ui *ui, struct pw_str *out)
{
    const struct pw_snapshot *s = ui->snap;

    if (!s->has_table)
        return;
    pw_str_add(out, "%s  %s arm %d  step %lld", s->table.pe, pw_arm_mark(ui, s->table_arm), s->table_arm,
               (long long)s->table_step);
}

static bool key(struct pw_ui *ui, int k, struct pw_str *line)
{
    int *d = &ui->encoding.distance, n = ui->snap->has_table ? ui->snap->table.length : 1;

    switch (k) {
    case 'l':
    case PW_KEY_RIGHT: *d += *d < n - 1; return true;
    case 'h':
    case PW_KEY_LEFT: *d -= *d > 0; return true;
    case PW_KEY_PAGE_DOWN: *d = *d < n - 10 ? *d + 10 : n - 1; return true;
    case PW_KEY_PAGE_UP: *d = *d > 10 ? *d - 10 : 0; return true;
    case 'g':
    case PW_KEY_HOME: *d = 0; return true;
    case 'G':
    case PW_KEY_END: *d = n - 1; return true;
    case 'j':
    case PW_KEY_DOWN: ui->encoding.top += ui->encoding.top < 4096; return true;
    case 'k':
    case PW_KEY_UP: ui->encoding.top -= ui->encoding.top > 0; return true;
    case '\r':
    case '\n': pw_str_add(line, "table"); return true;
    default: return false;
    }
}

static const char *const keys[] = {"h l",       "cursor: one distance (or position) shorter and longer",
                                   "PgUp PgDn", "ten of them",
                                   "g G",       "the shortest and the longest",
                                   "j k",       "scroll heads or pairs",
                                   "Enter",     "the table as it is now",
                                   NULL};

const struct pw_pane pw_pane_encoding = {
    .name = "encoding",
    .title = "Encoding",
    .hints = "hl distance  jk scroll  Enter refresh",
    .status = status,
    .draw = draw,
    .key = key,
    .keys = keys,
};
