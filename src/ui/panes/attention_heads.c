/* attention_heads.c - all heads of all layers: as small maps with a score, or as one matrix of scores, layers
 * by heads, if the maps do not fit. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ui/panes/attention.h"

#define MOST_VALUES 4000000 /* limit of values in small maps per frame: a few milliseconds */
#define SMALL_MOST  24      /* largest side of a small map next to the large one, in values */

/* A head's map with the settings of the large one: its scale, and possibly without the first position. */
struct small {
    struct pw_att map;
    int scale;
};

static float value(const void *arg, int q, int k)
{
    const struct small *s = arg;

    return pw_att_scaled(&s->map, s->scale, q, pw_att_value(&s->map, q, k));
}

/* Returns the values per side of a small map: tokens, or pooled cells of them. */
static int side_of(const struct pw_ev_attention *a)
{
    return (a->T + pw_att_pool(a) - 1) / pw_att_pool(a);
}

static bool affordable(const struct pw_ev_attention *a)
{
    return (double)a->layers * a->heads * side_of(a) * side_of(a) <= MOST_VALUES;
}

static struct pw_style caption_style(const struct pw_att *w, int layer, int head)
{
    bool here = layer == w->layer && (head == w->head || w->mean);

    return here ? (struct pw_style){PW_DEFAULT, PW_DEFAULT, PW_BOLD | PW_REVERSE} : pw_style_dim();
}

/* Draws the head's name, "L1H3", with a cross if the head is off. Returns the column after it. */
static int draw_caption(const struct pw_ui *ui, const struct pw_att *w, struct pw_canvas *c, struct pw_rect r,
                        int y, int x, int layer, int head)
{
    bool off = pw_att_off(ui, w, layer, head);

    x = pw_draw_fmt(c, r, y, x, caption_style(w, layer, head), PW_HEAD, layer, head);
    return off ? pw_draw_text(c, r, y, x, pw_style_bad(), "✗") : x;
}

static void draw_one(const struct pw_ui *ui, const struct pw_att *w, struct pw_canvas *c, struct pw_rect r,
                     int y, int x, int width, int h, int layer, int head)
{
    struct small s = {.scale = ui->attention.scale};

    pw_att_init_head(&s.map, ui, w, layer, head);
    struct pw_heat m = {.data = {.rows = s.map.T, .cols = s.map.T, .value = value, .arg = &s, .hi = 1},
                        .square = true,
                        .bare = true,
                        .cursor_row = -1,
                        .cursor_col = -1};
    if (pw_heat_fit(&m, &ui->look, width, h))
        pw_heat_draw(&m, &ui->look, c, r, y, x);
    pw_att_fini(&s.map);
}

/* ---- below the large map */

struct grid {
    int pool, size; /* values pooled into one; values per side after pooling */
    int w, h;       /* cells per head, including its name */
    int per_row, rows;
};

/* Finds the largest size at which all heads fit; false: even the smallest does not. */
static bool fit_grid(struct grid *g, const struct pw_ev_attention *a, const struct pw_abilities *look, int w,
                     int h)
{
    bool shades = !look->utf8 || look->colors <= PW_COLORS_16;

    int side = side_of(a);

    for (int size = side < SMALL_MOST ? side : SMALL_MOST; size >= 4; size--) {
        g->pool = (side + size - 1) / size;
        g->size = (side + g->pool - 1) / g->pool;
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

int pw_att_draw_small(const struct pw_ui *ui, const struct pw_att *w, struct pw_canvas *c, struct pw_rect r)
{
    const struct pw_ev_attention *a = w->a;
    struct grid g;
    int profile = a->T + 1 < 9 ? a->T + 1 : 9; /* rows to leave above the maps */

    if (!affordable(a) || !fit_grid(&g, a, &ui->look, r.w, r.h - profile - 1))
        return 0;
    int lines = (a->heads + g.per_row - 1) / g.per_row, top = r.y + r.h - g.rows * g.h;
    if (g.pool * pw_att_pool(a) >
        1) /* in the free row above them, because the large map is possibly not pooled */
        pw_draw_fmt(c, r, top - 1, r.x, pw_style_warn(), "small: pooled %dx", g.pool * pw_att_pool(a));
    for (int l = 0; l < a->layers; l++)
        for (int i = 0; i < a->heads; i++) {
            int y = top + (l * lines + i / g.per_row) * g.h, x = r.x + i % g.per_row * g.w;
            draw_caption(ui, w, c, r, y, x, l, i);
            draw_one(ui, w, c, r, y + 1, x, g.size, g.h - 1, l, i);
        }
    return g.rows * g.h;
}

/* ---- the overview */

/* Formats a score: ".93" for a share, "2.1" for other quantities, "-" for NaN. */
static void brief(char dst[8], const struct pw_ev_attention *a, float v, int score)
{
    bool share = score < pw_att_n_scores(a) && a->kinds[score].unit[0] == '\0';

    if (!isfinite(v))
        snprintf(dst, 8, "-");
    else if (share && v < 0.995f)
        snprintf(dst, 8, ".%02d", (int)lrintf((v > 0 ? v : 0) * 100));
    else
        snprintf(dst, 8, "%.1f", (double)(v < 999 ? v : 999));
}

/* Returns the head with the largest score; -1: unknown. */
static int strongest(const struct pw_ev_attention *a, int score)
{
    int best = -1;

    for (int h = 0; h < a->layers * a->heads; h++) {
        float v = pw_att_score(a, h / a->heads, h % a->heads, score);
        if (isfinite(v) && (best < 0 || v > pw_att_score(a, best / a->heads, best % a->heads, score)))
            best = h;
    }
    return best;
}

/* Adds a part to a line, complete or not at all, because a cut number would be misread. Returns false if it
 * did not fit. */
static bool __attribute__((format(printf, 5, 6)))
add_part(struct pw_canvas *c, struct pw_rect r, int *x, struct pw_style s, const char *fmt, ...)
{
    char text[128];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (*x + pw_text_cells(text) > r.x + r.w)
        return false;
    *x = pw_draw_text(c, r, r.y, *x, s, text);
    return true;
}

static void draw_heading(const struct pw_ui *ui, const struct pw_att *w, struct pw_canvas *c,
                         struct pw_rect r, int score, int pool)
{
    const struct pw_ev_attention *a = w->a;
    const struct pw_score_kind *kind = &a->kinds[score];
    struct pw_style plain = pw_style_plain(), dim = pw_style_dim();
    int best = strongest(a, score), x = r.x;
    char most[64] = ": not defined here", chance[24] = "";

    if (best >= 0)
        snprintf(most, sizeof most, "  most " PW_HEAD " %.2f%s%s", best / a->heads, best % a->heads,
                 (double)pw_att_score(a, best / a->heads, best % a->heads, score), kind->unit[0] ? " " : "",
                 kind->unit);
    if (best >= 0 && isfinite(kind->chance))
        snprintf(chance, sizeof chance, ", chance %.2f", (double)kind->chance);
    bool room = add_part(c, r, &x, plain, r.w < 72 ? "%d x %d" : "%d layers x %d heads", a->layers, a->heads);
    if (pool > 1)
        add_part(c, r, &x, pw_style_warn(), r.w < 72 ? "  pooled %dx" : "  max-pooled %dx", pool);
    if (!room || score >= pw_att_n_scores(a))
        return;
    if (!add_part(c, r, &x, pw_style_bold(), "  %s", kind->name))
        return;
    const char *next = " (m: next)"; /* less important than the number */
    if (x + pw_text_cells(next) + pw_text_cells(most) <= r.x + r.w)
        add_part(c, r, &x, dim, "%s", next);
    if (add_part(c, r, &x, best < 0 ? dim : plain, "%s", most) && add_part(c, r, &x, plain, "%s", chance) &&
        add_part(c, r, &x, dim, " %s", pw_att_scale_names[ui->attention.scale]) && ui->attention.first_hidden)
        add_part(c, r, &x, pw_style_warn(), "  first key left out");
}

/* The layout of the small maps: one row per layer, or several rows if the maps are larger then. */
struct tiles {
    int per_row, lines; /* heads per row; rows per layer, 0: layers continue in the same row */
    int each_w, each_h; /* cells per head, including its name and a gap */
    int pool, drawn;    /* values per pixel; cells of a map */
};

static int tile_rows(const struct tiles *t, const struct pw_ev_attention *a)
{
    return t->lines > 0 ? t->lines * a->layers : (a->layers * a->heads + t->per_row - 1) / t->per_row;
}

/* Measures the layout for the given heads per row; false: it does not fit. */
static bool measure_tiles(struct tiles *t, const struct pw_ev_attention *a, const struct pw_abilities *look,
                          struct pw_rect r)
{
    struct pw_heat m = {.data = {.rows = side_of(a), .cols = side_of(a)}, .square = true};

    t->each_w = (r.w + 1) / t->per_row;
    t->each_h = r.h / tile_rows(t, a);
    if (t->each_w < 9 || t->each_h < 4 || !pw_heat_fit(&m, look, t->each_w - 1, t->each_h - 1))
        return false;
    t->pool = m.pool_r;
    t->drawn = m.w * m.h;
    return true;
}

/* Less pooling is better, then larger maps. Layers without line breaks must be larger by half, because keys
 * move by layer and head. */
static bool is_better(const struct tiles *t, const struct tiles *best)
{
    if (best->per_row == 0 || t->pool != best->pool)
        return best->per_row == 0 || t->pool < best->pool;
    return t->lines > 0 ? t->drawn > best->drawn : 2 * t->drawn > 3 * best->drawn;
}

/* Finds the best layout with a small map per head; false: none fits. */
static bool fit_maps(const struct pw_att *w, const struct pw_abilities *look, struct pw_rect r,
                     struct tiles *best)
{
    const struct pw_ev_attention *a = w->a;

    *best = (struct tiles){0};
    if (!affordable(a))
        return false;
    for (int flow = 0; flow < 2; flow++)
        for (int n = flow ? a->layers * a->heads : a->heads; n > 0; n--) {
            struct tiles t = {.per_row = n, .lines = flow ? 0 : (a->heads + n - 1) / n};
            if (measure_tiles(&t, a, look, r) && is_better(&t, best))
                *best = t;
        }
    return best->per_row > 0;
}

/* Computes row and column of a head's tile. */
static void tile_of(const struct tiles *t, const struct pw_ev_attention *a, int layer, int head, int *row,
                    int *col)
{
    int i = t->lines > 0 ? head : layer * a->heads + head;

    *row = (t->lines > 0 ? layer * t->lines : 0) + i / t->per_row;
    *col = i % t->per_row;
}

static void draw_maps(const struct pw_ui *ui, const struct pw_att *w, struct pw_canvas *c, struct pw_rect r,
                      int score, const struct tiles *t)
{
    const struct pw_ev_attention *a = w->a;
    int best = strongest(a, score), row, col;

    for (int l = 0; l < a->layers; l++)
        for (int i = 0; i < a->heads; i++) {
            char text[8];
            tile_of(t, a, l, i, &row, &col);
            int y = r.y + row * t->each_h, x = r.x + col * t->each_w;
            brief(text, a, pw_att_score(a, l, i, score), score);
            int end = draw_caption(ui, w, c, r, y, x, l, i);
            end = end > x + 4 ? end : x + 5; /* a cross takes the place of the blank */
            pw_draw_text(c, r, y, end, best == l * a->heads + i ? pw_style_bold() : pw_style_plain(), text);
            draw_one(ui, w, c, r, y + 1, x, t->each_w - 1, t->each_h - 1, l, i);
        }
}

/* Draws a head's score as a colour and, if it fits, as a number; with a cross if the head is off. */
static void draw_number(const struct pw_ui *ui, const struct pw_att *w, struct pw_canvas *c,
                        struct pw_rect cell, int layer, int head, int score, float top)
{
    float v = pw_att_score(w->a, layer, head, score);
    bool here = layer == w->layer && (head == w->head || w->mean), wide = cell.w > 3;
    int used = wide ? cell.w - 1 : cell.w;
    char text[8];

    brief(text, w->a, v, score);
    pw_heat_cell(&ui->look, c, cell, cell.y, cell.x, used, isfinite(v) ? v : -INFINITY, 0, top, false);
    if (wide && isfinite(v)) {
        struct pw_style s = pw_style_value(v / top, false);
        s.attr = here ? PW_BOLD | PW_REVERSE : 0;
        pw_draw_cut(c, cell, cell.y, cell.x, s, text, used);
    } else if (here) {
        struct pw_style s = {PW_DEFAULT, PW_DEFAULT, PW_BOLD | PW_REVERSE};
        pw_draw_cell(c, cell, cell.y, cell.x, s, '+');
    }
    if (pw_att_off(ui, w, layer, head))
        pw_draw_cell(c, cell, cell.y, cell.x + used - 1, pw_style_bad(), 0x2717);
}

/* The geometry of the matrix of scores: first layer, columns per head. */
struct matrix {
    int first, each;
    struct pw_rect r; /* the cells */
};

static struct matrix fit_matrix(const struct pw_att *w, struct pw_rect r)
{
    struct matrix m = {.each = (r.w - 4) / w->a->heads, .r = {r.y + 1, r.x + 4, r.h - 1, r.w - 4}};
    int last = w->a->layers - m.r.h;

    m.each = m.each > 6 ? 6 : m.each < 1 ? 1 : m.each;
    if (last > 0) { /* keep the selected layer visible */
        m.first = w->layer - m.r.h / 2;
        m.first = m.first < 0 ? 0 : m.first > last ? last : m.first;
    }
    return m;
}

static void draw_matrix(const struct pw_ui *ui, const struct pw_att *w, struct pw_canvas *c, struct pw_rect r,
                        int score)
{
    const struct pw_ev_attention *a = w->a;
    struct matrix m = fit_matrix(w, r);
    int best = strongest(a, score);
    float top = best < 0 ? 0 : pw_att_score(a, best / a->heads, best % a->heads, score);

    if (m.r.h < 1 || m.r.w < 1)
        return;
    pw_draw_text(c, r, r.y, r.x, pw_style_dim(), "L");
    for (int i = 0; i < a->heads; i += m.each < 3 ? 5 : 1)
        pw_draw_fmt(c, r, r.y, m.r.x + i * m.each, pw_style_dim(), m.each < 4 ? "%d" : "h%d", i);
    for (int l = m.first; l < a->layers && l - m.first < m.r.h; l++) {
        int y = m.r.y + l - m.first;
        pw_draw_fmt(c, r, y, r.x, l == w->layer ? pw_style_bold() : pw_style_dim(), "%3d", l);
        for (int i = 0; i < a->heads && (i + 1) * m.each <= m.r.w; i++)
            draw_number(ui, w, c, (struct pw_rect){y, m.r.x + i * m.each, 1, m.each}, l, i, score,
                        top > 0 ? top : 1);
    }
}

/* Draws the scores of the selected head, as many as fit. */
static void draw_words(const struct pw_att *w, struct pw_canvas *c, struct pw_rect r)
{
    const struct pw_ev_attention *a = w->a;
    int x = r.x;
    bool said = false; /* the number in parentheses was explained */
    bool room = add_part(c, r, &x, pw_style_bold(), PW_HEAD, w->layer, w->head);

    for (int i = 0; room && i < pw_att_n_scores(a); i++) {
        const struct pw_score_kind *kind = &a->kinds[pw_att_score_at(a, i)];
        float v = pw_att_score(a, w->layer, w->head, pw_att_score_at(a, i));
        if (!isfinite(v))
            continue;
        room = add_part(c, r, &x, pw_style_plain(), "  %s %.2f", kind->name, (double)v);
        if (room && isfinite(kind->chance))
            room =
                add_part(c, r, &x, pw_style_dim(), said ? " (%.2f)" : " (chance %.2f)", (double)kind->chance);
        said = said || isfinite(kind->chance);
    }
}

/* Returns the space for the heads between heading and scores. */
static struct pw_rect body_of(struct pw_rect r)
{
    if (r.h >= 3)
        r.y++, r.h--;
    if (r.h >= 8)
        r.h--;
    return r;
}

/* Returns the score that the heads show: the chosen one, or the next that these tokens define. */
static int chosen_score(const struct pw_ui *ui, const struct pw_ev_attention *a)
{
    int n = pw_att_n_scores(a), chosen = n > 0 ? pw_att_score_at(a, ui->attention.score % n) : 0;

    for (int i = 0; i < n; i++) {
        int score = pw_att_score_at(a, (ui->attention.score + i) % n);
        if (strongest(a, score) >= 0)
            return score;
    }
    return chosen;
}

int pw_att_next_score(const struct pw_ui *ui, const struct pw_ev_attention *a)
{
    int n = pw_att_n_scores(a), shown = chosen_score(ui, a), next = n > 0 ? ui->attention.score % n : 0;

    for (int i = 0; i < n && pw_att_score_at(a, next) != shown; i++)
        next = (next + 1) % n;
    return n > 0 ? (next + 1) % n : 0;
}

void pw_att_draw_heads(const struct pw_ui *ui, const struct pw_att *w, struct pw_canvas *c, struct pw_rect r)
{
    int score = chosen_score(ui, w->a);
    struct pw_rect body = body_of(r);
    struct tiles t;
    bool maps = fit_maps(w, &ui->look, body, &t);

    if (body.y > r.y)
        draw_heading(ui, w, c, r, score, maps ? t.pool * pw_att_pool(w->a) : 1);
    if (body.y + body.h < r.y + r.h)
        draw_words(w, c, (struct pw_rect){r.y + r.h - 1, r.x, 1, r.w});
    if (maps)
        draw_maps(ui, w, c, body, score, &t);
    else
        draw_matrix(ui, w, c, body, score);
}

bool pw_att_head_at(const struct pw_ui *ui, const struct pw_att *w, struct pw_rect r, int y, int x,
                    int *layer, int *head)
{
    struct pw_rect body = body_of(r);
    struct tiles t;
    int row, col;

    if (fit_maps(w, &ui->look, body, &t)) {
        for (*layer = 0; *layer < w->a->layers; ++*layer)
            for (*head = 0; *head < w->a->heads; ++*head) {
                tile_of(&t, w->a, *layer, *head, &row, &col);
                if (pw_rect_has((struct pw_rect){body.y + row * t.each_h, body.x + col * t.each_w, t.each_h,
                                                 t.each_w},
                                y, x))
                    return true;
            }
        return false;
    }
    struct matrix m = fit_matrix(w, body);
    *layer = m.first + y - m.r.y;
    *head = (x - m.r.x) / m.each;
    return y >= m.r.y && y < m.r.y + m.r.h && x >= m.r.x && *layer < w->a->layers && *head < w->a->heads;
}
