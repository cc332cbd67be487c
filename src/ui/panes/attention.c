/* attention.c - one head of the pinned prompt as a heat map, with a cursor that reads out numbers.
 *
 * Rows are queries, columns keys. Beside the map, where there is room, what the query under the cursor looks
 * at, and below or beside it every head of every layer in small. Probabilities share the scale 0..1, so heads
 * can be compared; scores, content and bias are symmetric around zero, with the scale's ends in the legend.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ui/plot.h"

#define SIDE           20      /* columns beside the map */
#define GRID_MOST      4000000 /* values that the small heads may cost a frame: a few milliseconds */
#define MINUS_INFINITY 0xfc00  /* as half */

static const char *const views[] = {[PW_VIEW_PROBS] = "probs",
                                    [PW_VIEW_SCORE] = "score",
                                    [PW_VIEW_CONTENT] = "content",
                                    [PW_VIEW_BIAS] = "bias"};
static const char *const view_names[] = {[PW_VIEW_PROBS] = "probabilities",
                                         [PW_VIEW_SCORE] = "scores",
                                         [PW_VIEW_CONTENT] = "content scores",
                                         [PW_VIEW_BIAS] = "positional bias"};

#define VIEWS (int)(sizeof views / sizeof *views)

/* ---- values */

struct head {
    const struct pw_ev_attention *a;
    int layer, head, view;
};

static bool hidden(const struct pw_ev_attention *a, int q, int k)
{
    if (a->score)
        return a->score[(size_t)q * a->T + k] == MINUS_INFINITY;
    return k > q; /* nothing else to tell by: causal */
}

static float prob(const struct pw_ev_attention *a, int layer, int head, int q, int k)
{
    size_t at = (((size_t)layer * a->heads + head) * a->T + q) * a->T + k;

    return a->probs ? pw_from_half(a->probs[at]) : NAN;
}

static const uint16_t *matrix_of(const struct pw_ev_attention *a, int view)
{
    return view == PW_VIEW_SCORE ? a->score : view == PW_VIEW_CONTENT ? a->content : a->bias;
}

static float value(const void *arg, int q, int k)
{
    const struct head *h = arg;

    if (hidden(h->a, q, k))
        return -INFINITY;
    if (h->view == PW_VIEW_PROBS)
        return prob(h->a, h->layer, h->head, q, k);
    const uint16_t *m = matrix_of(h->a, h->view);
    return m ? pw_from_half(m[(size_t)q * h->a->T + k]) : NAN;
}

static int view_of(const struct pw_ev_attention *a)
{
    return a->view >= 0 && a->view < VIEWS ? a->view : PW_VIEW_PROBS;
}

/* The largest absolute value of what is shown; at least a little, so that a scale exists. */
static float extreme(const struct head *h)
{
    float top = 0;

    for (int q = 0; q < h->a->T; q++)
        for (int k = 0; k < h->a->T; k++) {
            float v = fabsf(value(h, q, k));
            if (isfinite(v) && v > top)
                top = v;
        }
    return top > 1e-6f ? top : 1e-6f;
}

static int strongest(const struct pw_ev_attention *a, int q)
{
    int best = 0;

    for (int k = 1; k < a->T; k++)
        if (prob(a, a->layer, a->head, q, k) > prob(a, a->layer, a->head, q, best))
            best = k;
    return best;
}

static bool usable(const struct pw_snapshot *s)
{
    const struct pw_ev_attention *a = &s->attention;

    return s->has_attention && a->T > 0 && a->layers > 0 && a->heads > 0 && a->layer >= 0 &&
           a->layer < a->layers && a->head >= 0 && a->head < a->heads && a->labels && a->probs;
}

static const char *label_of(const struct pw_ev_attention *a, int t)
{
    return pw_label(a->labels[t]);
}

/* ---- read-out */

static void draw_readout(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r, int y, int pool)
{
    const struct pw_ev_attention *a = &ui->snap->attention;
    int q = ui->attention.query, k = ui->attention.key;
    size_t at = (size_t)q * a->T + k;
    struct pw_str s = {0};

    if (pool > 1) /* there is no legend that could say it */
        pw_str_add(&s, "pooled %dx  ", pool);
    pw_str_add(&s, "q=%d \"%s\"  k=%d \"%s\"", q, label_of(a, q), k, label_of(a, k));
    if (hidden(a, q, k)) {
        pw_str_add(&s, "  hidden from this query");
    } else {
        pw_str_add(&s, "  p=%.3f", (double)prob(a, a->layer, a->head, q, k));
        if (a->score && a->content && a->bias)
            pw_str_add(&s, "  score %+.2f = %+.2f content %+.2f bias", (double)pw_from_half(a->score[at]),
                       (double)pw_from_half(a->content[at]), (double)pw_from_half(a->bias[at]));
        pw_str_add(&s, "  distance %d", q - k);
    }
    pw_draw_cut(c, r, y, r.x, pw_style_bold(), s.s, r.w);
    pw_str_fini(&s);
}

/* ---- legend: the ramp from end to end, with its numbers */

static void draw_legend(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r, int y,
                        const struct pw_heat *m, int view)
{
    char lo[16], hi[16];
    int x = pw_draw_text(c, r, y, r.x, pw_style_dim(), view_names[view]) + 2, w = 16;

    snprintf(lo, sizeof lo, m->is_signed ? "%.3g" : "%.0f", m->is_signed ? -(double)m->hi : (double)m->lo);
    snprintf(hi, sizeof hi, m->is_signed ? "+%.3g" : "%.0f", (double)m->hi);
    int rest = r.x + r.w - x - pw_text_cells(lo) - pw_text_cells(hi) - 2 - (m->pool_r > 1 ? 16 : 0);
    w = rest < w ? rest : w;
    if (w < 5)
        return;
    x = pw_draw_text(c, r, y, x, pw_style_plain(), lo) + 1;
    for (int i = 0; i < w; i++) {
        float f = (float)i / (float)(w - 1);
        pw_heat_cell(&ui->look, c, r, y, x + i, 1,
                     m->is_signed ? m->hi * (2 * f - 1) : m->lo + f * (m->hi - m->lo), m->lo, m->hi,
                     m->is_signed);
    }
    x = pw_draw_text(c, r, y, x + w + 1, pw_style_plain(), hi) + 2;
    if (m->pool_r > 1)
        pw_draw_fmt(c, r, y, x, pw_style_warn(), "max-pooled %dx", m->pool_r);
}

/* ---- the map with its labels */

/* Rows for the keys' names above the map: they run downwards where a column is too narrow for them. */
static int header_rows(const struct pw_ev_attention *a, int h)
{
    int longest = 1, most = h >= 24 ? 4 : h >= 14 ? 2 : 1;

    for (int t = 0; t < a->T; t++) {
        int w = pw_text_cells(label_of(a, t));
        longest = w > longest ? w : longest;
    }
    return longest < most ? longest : most;
}

static int label_width(const struct pw_ev_attention *a, int w)
{
    int longest = 1, most = w >= 60 ? 8 : w >= 30 ? 5 : 3;

    for (int t = 0; t < a->T; t++) {
        int n = pw_text_cells(label_of(a, t));
        longest = n > longest ? n : longest;
    }
    return longest < most ? longest : most;
}

/* The answer's tokens stand out from the prompt's; the cursor's are reversed. */
static struct pw_style label_style(const struct pw_ev_attention *a, int t, int cursor)
{
    struct pw_style s = t >= a->n_prompt && a->n_prompt > 0
                            ? (struct pw_style){PW_ANSI(6), PW_DEFAULT, PW_BOLD}
                            : pw_style_plain();
    if (t == cursor)
        s.attr |= PW_REVERSE;
    return s;
}

static void draw_key_label(const struct pw_ev_attention *a, struct pw_canvas *c, struct pw_rect clip, int x,
                           int w, int t, int cursor)
{
    const char *text = label_of(a, t);
    struct pw_style s = label_style(a, t, cursor);
    int n = pw_text_cells(text), bottom = clip.y + clip.h - 1;

    if (n < w || (n == w && n <= 2) || clip.h == 1) {
        pw_draw_cut(c, clip, bottom, x + (w > n ? (w - n) / 2 : 0), s, text, w);
        return;
    }
    int rows = n < clip.h ? n : clip.h, y = bottom - rows + 1;
    for (size_t left = strlen(text); left > 0 && y <= bottom; y++) { /* one sign a row, downwards */
        uint32_t cp;
        size_t bytes = pw_utf8_next(text, left, &cp);
        pw_draw_cell(c, clip, y, x + (w - 1) / 2, s, cp);
        text += bytes, left -= bytes;
    }
}

static void draw_labels(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r,
                        const struct pw_heat *m, int label_w, int head_h)
{
    const struct pw_ev_attention *a = &ui->snap->attention;
    struct pw_rect head = {r.y, r.x + label_w + 1, head_h, m->w};
    int map_y = r.y + head_h;

    for (int t = 0; t < a->T; t += m->pool_c) {
        int at = ui->attention.key / m->pool_c == t / m->pool_c ? ui->attention.key : t;
        draw_key_label(a, c, head, head.x + pw_heat_column(m, t), m->sx, at, ui->attention.key);
    }
    for (int t = 0; t < a->T; t += m->pool_r) {
        int half = pw_heat_half_row(m, t),
            at = ui->attention.query / m->pool_r == t / m->pool_r ? ui->attention.query : t;
        int y = map_y + half / 2 + (m->sy - 1) / 4;
        bool second = half % 2 == 1; /* lower half of a row whose upper half is another query */
        if (second && at != ui->attention.query)
            continue; /* one name a row: the upper query's, or the cursor's */
        const char *text = label_of(a, at);
        int w = pw_text_cells(text), x = r.x + (w < label_w ? label_w - w : 0);
        pw_draw_fill(c, (struct pw_rect){y, r.x, 1, label_w}, pw_style_plain(), ' ');
        pw_draw_cut(c, r, y, x, label_style(a, at, ui->attention.query), text, label_w);
    }
    for (int y = 0; y < m->h; y++) { /* the axis is heavy along the answer */
        int split = a->n_prompt > 0 && a->n_prompt < a->T ? pw_heat_half_row(m, a->n_prompt) : 2 * m->h;
        pw_draw_cell(c, r, map_y + y, r.x + label_w, 2 * y + 1 >= split ? pw_style_plain() : pw_style_dim(),
                     2 * y + 1 >= split ? 0x2503 : 0x2502);
    }
    if (m->gap_r == 2)
        for (int x = 0; x < m->w; x++)
            pw_draw_cell(c, r, map_y + pw_heat_half_row(m, a->n_prompt) / 2 - 1, r.x + label_w + 1 + x,
                         pw_style_dim(), 0x2504);
}

/* ---- what the query under the cursor looks at */

static void draw_profile(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r)
{
    const struct pw_ev_attention *a = &ui->snap->attention;
    int q = ui->attention.query, shown[16], n = 0, most = r.h - 1 < 16 ? r.h - 1 : 16;
    double sum = 0, entropy = 0;

    if (most < 1)
        return;
    for (int k = 0; k < a->T; k++) { /* the largest, in order: insertion into a short list */
        float p = prob(a, a->layer, a->head, q, k);
        if (hidden(a, q, k) || !(p > 0))
            continue;
        entropy -= (double)p * log2((double)p);
        int i = n < most ? n++ : most;
        for (; i > 0 && prob(a, a->layer, a->head, q, shown[i - 1]) < p; i--)
            if (i < most)
                shown[i] = shown[i - 1];
        if (i < most)
            shown[i] = k;
    }
    int named = pw_draw_fmt(c, r, r.y, r.x, pw_style_dim(), "\"%s\" looks at", label_of(a, q));
    if (named + 11 <= r.x + r.w)
        pw_draw_fmt(c, r, r.y, named + 2, pw_style_dim(), "%.2f bits", entropy);
    struct pw_style bar = pw_style_arm(ui, ui->snap->attention_arm);
    for (int i = 0; i < n; i++) {
        int y = r.y + 1 + i, k = shown[i];
        float p = prob(a, a->layer, a->head, q, k);
        sum += (double)p;
        int x = pw_draw_fmt(c, r, y, r.x, pw_style_dim(), "%3d ", k), label_w = r.w >= 30 ? 7 : 4;
        pw_draw_cut(c, r, y, x, label_style(a, k, ui->attention.key), label_of(a, k), label_w);
        x += label_w + 1;
        pw_draw_fmt(c, r, y, x, pw_style_plain(), "%.2f", (double)p);
        x += 5;
        pw_draw_bar(c, r, y, x, bar, r.x + r.w - x < 24 ? r.x + r.w - x : 24, (double)p);
        if (sum > 0.995)
            break; /* the rest is dust */
    }
}

/* ---- every head in small */

struct grid {
    int size; /* values a side after pooling */
    int w, h; /* of one head, its name included */
    int per_row, rows;
};

/* The largest size at which all heads fit; false: not even the smallest. */
static bool fit_grid(struct grid *g, const struct pw_ev_attention *a, const struct pw_look *look, int w,
                     int h)
{
    bool shades = !look->utf8 || look->colors <= PW_COLORS_16;

    for (int size = a->T < 24 ? a->T : 24; size >= 4; size--) {
        int pool = (a->T + size - 1) / size;
        g->size = (a->T + pool - 1) / pool;
        g->w = (g->size < 4 ? 4 : g->size) + 1;
        g->h = (shades ? g->size : (g->size + 1) / 2) + 1;
        int across = (w + 1) / g->w;
        g->per_row = across < a->heads ? across : a->heads;
        if (g->per_row < 1)
            continue;
        g->rows = a->layers * ((a->heads + g->per_row - 1) / g->per_row);
        if (g->rows * g->h <= h)
            return true;
    }
    return false;
}

static void draw_grid(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r, const struct grid *g)
{
    const struct pw_ev_attention *a = &ui->snap->attention;
    const struct pw_arm_view *arm = pw_find_arm(ui->snap, ui->snap->attention_arm);
    int lines = (a->heads + g->per_row - 1) / g->per_row;

    for (int l = 0; l < a->layers; l++)
        for (int i = 0; i < a->heads; i++) {
            int y = r.y + (l * lines + i / g->per_row) * g->h, x = r.x + i % g->per_row * g->w;
            bool here = l == a->layer && i == a->head;
            struct head h = {a, l, i, PW_VIEW_PROBS};
            struct pw_heat m = {.rows = a->T,
                                .cols = a->T,
                                .value = value,
                                .arg = &h,
                                .hi = 1,
                                .square = true,
                                .cursor_row = -1,
                                .cursor_col = -1};
            bool off = arm && pw_head_mode(arm, l, i) != PW_ABLATE_NONE;
            pw_draw_fmt(c, r, y, x,
                        here ? (struct pw_style){PW_DEFAULT, PW_DEFAULT, PW_BOLD | PW_REVERSE}
                             : pw_style_dim(),
                        off ? "%d.%d×" : "%d.%d", l, i);
            if (pw_heat_fit(&m, &ui->look, g->size, g->h - 1))
                pw_heat_draw(&m, &ui->look, c, r, y + 1, x);
        }
}

/* Beside the map: the profile above, the small heads below, as far as there is room. */
static void draw_side(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r)
{
    const struct pw_ev_attention *a = &ui->snap->attention;
    struct grid g;

    if (r.w < SIDE - 2)
        return;
    int profile = a->T + 1 < 9 ? a->T + 1 : 9; /* rows it should have at least */
    bool affordable = (double)a->layers * a->heads * a->T * a->T <= GRID_MOST;
    if (affordable && fit_grid(&g, a, &ui->look, r.w, r.h - profile - 1)) {
        int h = g.rows * g.h;
        draw_grid(ui, c, (struct pw_rect){r.y + r.h - h, r.x, h, r.w}, &g);
        r.h -= h + 1;
    }
    draw_profile(ui, c, r);
}

/* ---- all of it */

static void place_cursor(struct pw_ui *ui)
{
    const struct pw_ev_attention *a = &ui->snap->attention;

    if (ui->attention.follow) {
        ui->attention.query = a->T - 1;
        ui->attention.key = strongest(a, a->T - 1);
    }
    ui->attention.query = ui->attention.query < 0      ? 0
                          : ui->attention.query < a->T ? ui->attention.query
                                                       : a->T - 1;
    ui->attention.key = ui->attention.key < 0 ? 0 : ui->attention.key < a->T ? ui->attention.key : a->T - 1;
}

static void draw(struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r)
{
    const struct pw_ev_attention *a = &ui->snap->attention;

    if (!usable(ui->snap)) {
        char example[128];
        const char *lines[] = {"no prompt to look at yet",
                               pw_prompt_example(&ui->snap->lab, example, sizeof example),
                               "its heads then show here; [ ] and { } choose", NULL};
        pw_draw_invitation(c, r, lines);
        return;
    }
    place_cursor(ui);
    int view = view_of(a);
    struct head h = {a, a->layer, a->head, view};
    struct pw_heat m = {.rows = a->T,
                        .cols = a->T,
                        .value = value,
                        .arg = &h,
                        .hi = 1,
                        .square = true,
                        .split_row = a->n_prompt,
                        .split_col = a->n_prompt,
                        .cursor_row = ui->attention.query,
                        .cursor_col = ui->attention.key};
    if (view != PW_VIEW_PROBS)
        m.is_signed = true, m.hi = extreme(&h);

    struct pw_rect all = r;
    bool readout = r.h >= 3, legend = r.h >= 7;
    r.h -= readout + legend;

    int side = r.w >= 44 ? SIDE : 0; /* kept free beside the map for the profile and the small heads */
    int head_h = header_rows(a, r.h), label_w = label_width(a, r.w);
    if (!pw_heat_fit(&m, &ui->look, r.w - label_w - 1 - side, r.h - head_h))
        return;
    if (r.h >= 3 && r.w >= 8)
        draw_labels(ui, c, r, &m, label_w, head_h);
    pw_heat_draw(&m, &ui->look, c, r, r.y + head_h, r.x + label_w + 1);
    if (legend)
        draw_legend(ui, c, all, r.y + r.h, &m, view);
    if (readout)
        draw_readout(ui, c, all, all.y + all.h - 1, legend ? 1 : m.pool_r);
    int right = label_w + 1 + m.w + 2;
    draw_side(ui, c, (struct pw_rect){r.y, r.x + right, r.h, r.w - right});
}

static void status(const struct pw_ui *ui, struct pw_str *out)
{
    const struct pw_snapshot *s = ui->snap;
    const struct pw_arm_view *arm = pw_find_arm(s, s->attention_arm);

    if (!usable(s))
        return;
    pw_str_add(out, "layer %d head %d %s", s->attention.layer, s->attention.head,
               views[view_of(&s->attention)]);
    if (arm) {
        pw_str_add(out, "  %s ", pw_arm_mark(ui, s->attention_arm));
        pw_arm_name(arm, out);
    }
    pw_str_add(out, "  step %lld", (long long)s->attention_step);
}

/* ---- keys */

static void inspect(const struct pw_ui *ui, struct pw_str *line, int d_layer, int d_head, int d_view)
{
    const struct pw_ev_attention *a = &ui->snap->attention;

    if (!usable(ui->snap))
        return;
    pw_str_add(line, "inspect layer=%d head=%d view=%s", (a->layer + d_layer + a->layers) % a->layers,
               (a->head + d_head + a->heads) % a->heads, views[(view_of(a) + d_view) % VIEWS]);
}

static void move(struct pw_ui *ui, int d_query, int d_key)
{
    if (!usable(ui->snap))
        return;
    place_cursor(ui); /* where following has brought it */
    ui->attention.follow = false;
    ui->attention.query += d_query;
    ui->attention.key += d_key;
    place_cursor(ui);
}

static bool key(struct pw_ui *ui, int k, struct pw_str *line)
{
    switch (k) {
    case 'j':
    case PW_KEY_DOWN: move(ui, 1, 0); return true;
    case 'k':
    case PW_KEY_UP: move(ui, -1, 0); return true;
    case 'l':
    case PW_KEY_RIGHT: move(ui, 0, 1); return true;
    case 'h':
    case PW_KEY_LEFT: move(ui, 0, -1); return true;
    case PW_KEY_PAGE_DOWN: move(ui, 10, 0); return true;
    case PW_KEY_PAGE_UP: move(ui, -10, 0); return true;
    case 'g':
    case PW_KEY_HOME: move(ui, -(1 << 20), 0); return true;
    case 'G':
    case PW_KEY_END: move(ui, 1 << 20, 0); return true;
    case 'f': ui->attention.follow = !ui->attention.follow; return true;
    case '[': inspect(ui, line, 0, -1, 0); return true;
    case ']': inspect(ui, line, 0, 1, 0); return true;
    case '{': inspect(ui, line, -1, 0, 0); return true;
    case '}': inspect(ui, line, 1, 0, 0); return true;
    case 'v': inspect(ui, line, 0, 0, 1); return true;
    default: return false;
    }
}

static const char *const keys[] = {"h j k l", "cursor: key to the left and right, query down and up",
                                   "g G",     "first and last query",
                                   "[ ]",     "previous and next head",
                                   "{ }",     "previous and next layer",
                                   "v",       "next view: probabilities, scores, content, positional bias",
                                   "f",       "follow: stay at the last query's strongest key",
                                   NULL};

const struct pw_pane pw_pane_attention = {
    .name = "attention",
    .title = "Attention",
    .hints = "hjkl cursor  [ ] head  { } layer  v view  f follow",
    .status = status,
    .draw = draw,
    .key = key,
    .keys = keys,
};
