/* attention_map.c - one attention map: rows are queries, columns are keys.
 *
 * Long sequences are max-pooled into the available room, or scroll with one token per row; the legend says
 * which. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ui/panes/attention.h"

enum { WITH_MARGINS = 50 }; /* columns of a body that has margins */

struct pw_style pw_att_label_style(const struct pw_ev_attention *a, int t, int cursor)
{
    struct pw_style s = t >= a->n_prompt && a->n_prompt > 0
                            ? (struct pw_style){PW_ANSI(6), PW_DEFAULT, PW_BOLD}
                            : pw_style_plain();
    if (t == cursor)
        s.attr |= PW_REVERSE;
    return s;
}

float pw_att_shade(const void *arg, int row, int col)
{
    const struct pw_att_window *p = arg;
    const struct pw_att *w = p->w;
    float v = pw_att_value(w, p->top + row, p->left + col);

    return p->m.bare ? pw_att_scaled(w, p->ui->attention.scale, p->top + row, v) : v;
}

bool pw_att_kept_pixels(const struct pw_att_window *p)
{
    const struct pw_att_long *kept = p->w->kept;

    return kept != NULL && kept->side > 0 && kept->pool == p->m.pool_r && kept->pool == p->m.pool_c &&
           p->rows == p->w->T && kept->scale == (int)p->ui->attention.scale;
}

/* Returns the value of the pixel that begins at a row and column, which the state keeps. */
static float kept_pixel(const void *arg, int row, int col)
{
    const struct pw_att_window *p = arg;
    const struct pw_att_long *kept = p->w->kept;

    return kept->cells[(size_t)(row / kept->pool) * kept->side + col / kept->pool];
}

/* ---- labels */

/* Returns the columns of the longest label, at most `most`. */
static int longest_label(const struct pw_att *w, int most)
{
    int longest = 1;

    for (int t = 0; t < w->T && longest < most; t++) {
        int n = pw_text_cells(pw_att_label(w->a, t));
        longest = n > longest ? n : longest;
    }
    return longest < most ? longest : most;
}

/* Returns the rows for the keys' labels above the map, which are vertical if a column is too narrow. */
static int header_rows(const struct pw_att *w, int h)
{
    return longest_label(w, h >= 24 ? 4 : h >= 14 ? 2 : 1);
}

/* Is there a row below the map with the contextual positions of the keys, or with what votes take from them?
 */
static bool has_ruler(const struct pw_att *w)
{
    return (w->a->positions != NULL || pw_att_loses(w->a)) && !w->mean && !w->cells;
}

static const char *ruler_word(const struct pw_att *w)
{
    return w->a->positions != NULL ? "at" : "lost";
}

/* Columns of the labels, with room for the names of the rows below the map. A map of probabilities is not
 * made smaller for them. */
static int label_width(const struct pw_att *w, int width)
{
    int cells = longest_label(w, width >= 60 ? 8 : width >= 30 ? 5 : 3);
    int ruler = has_ruler(w) ? pw_text_cells(ruler_word(w)) : 0;
    int below =
        width >= WITH_MARGINS && pw_att_shows_gates(w->a, w->view) ? pw_text_cells(pw_att_below_word(w)) : 0;

    cells = cells > ruler ? cells : ruler;
    return cells > below ? cells : below;
}

static void draw_key_label(const struct pw_ev_attention *a, struct pw_canvas *c, struct pw_rect clip, int x,
                           int w, int t, int cursor)
{
    const char *text = pw_att_label(a, t);
    struct pw_style s = pw_att_label_style(a, t, cursor);
    int n = pw_text_cells(text), bottom = clip.y + clip.h - 1;

    if (n < w || (n == w && n <= 2) || clip.h == 1) {
        pw_draw_cut(c, clip, bottom, x + (w > n ? (w - n) / 2 : 0), s, text, w);
        return;
    }
    int rows = n < clip.h ? n : clip.h, y = bottom - rows + 1;
    for (size_t left = strlen(text); left > 0 && y <= bottom; y++) { /* one character per row, downwards */
        uint32_t cp;
        size_t bytes = pw_utf8_next(text, left, &cp);
        pw_draw_cell(c, clip, y, x + (w - 1) / 2, s, cp);
        text += bytes, left -= bytes;
    }
}

static void draw_labels(const struct pw_att_window *p, struct pw_canvas *c, struct pw_rect r)
{
    const struct pw_ev_attention *a = p->w->a;
    const struct pw_heat *m = &p->m;
    struct pw_rect head = {r.y, p->x, p->head_h, m->w};
    int query = p->ui->attention.query, key = p->ui->attention.key;

    for (int i = 0; i < p->cols; i += m->pool_c) {
        int t = p->left + i, at = (key - p->left) / m->pool_c == i / m->pool_c && key >= p->left ? key : t;
        draw_key_label(a, c, head, head.x + pw_heat_column(m, i), m->sx, at, key);
    }
    for (int i = 0; i < p->rows; i += m->pool_r) {
        int half = pw_heat_half_row(m, i), t = p->top + i;
        int at = (query - p->top) / m->pool_r == i / m->pool_r && query >= p->top ? query : t;
        int y = p->y + half / 2 + (m->sy - 1) / 4;
        bool second = half % 2 == 1; /* the lower half of a row whose upper half is another query */
        if (second && at != query)
            continue; /* one label per row: the upper query's, or the cursor's */
        const char *text = pw_att_label(a, at);
        int w = pw_text_cells(text), x = r.x + (w < p->label_w ? p->label_w - w : 0);
        pw_draw_fill(c, (struct pw_rect){y, r.x, 1, p->label_w}, pw_style_plain(), ' ');
        pw_draw_cut(c, r, y, x, pw_att_label_style(a, at, query), text, p->label_w);
    }
    int answer = a->n_prompt - p->top; /* the axis is heavy along the answer */
    int split = a->n_prompt <= 0 || answer >= p->rows ? 2 * m->h
                : answer > 0                          ? pw_heat_half_row(m, answer)
                                                      : 0;
    for (int y = 0; y < m->h; y++)
        pw_draw_cell(c, r, p->y + y, p->x - 1, 2 * y + 1 >= split ? pw_style_plain() : pw_style_dim(),
                     2 * y + 1 >= split ? 0x2503 : 0x2502);
    if (m->gap_r == 2)
        for (int x = 0; x < m->w; x++)
            pw_draw_cell(c, r, p->y + split / 2 - 1, p->x + x, pw_style_dim(), 0x2504);
}

/* The number of key k in this row. */
static double ruler_value(const struct pw_ev_attention *a, int query, int k)
{
    size_t at = (size_t)query * a->T + k;

    return a->positions != NULL ? (double)pw_from_half(a->positions[at])
                                : fabs((double)pw_from_half(a->gate[at]));
}

/* Draws this row for the query under the cursor. */
static void draw_ruler(const struct pw_att_window *p, struct pw_canvas *c, struct pw_rect r, int y)
{
    const struct pw_ev_attention *a = p->w->a;
    const struct pw_heat *m = &p->m;
    int query = p->ui->attention.query, free_from = p->x;

    if (!has_ruler(p->w) || query >= a->T || y >= r.y + r.h)
        return;
    for (int i = 0; i < p->cols && p->left + i <= query; i += m->pool_c) {
        int x = p->x + pw_heat_column(m, i);
        double at = ruler_value(a, query, p->left + i);
        char text[16];
        snprintf(text, sizeof text, m->sx >= 4 ? "%.1f" : "%.0f", at);
        if (x < free_from)
            continue;
        pw_draw_cut(c, r, y, x, pw_style_dim(), text, r.x + r.w - x);
        free_from = x + (int)strlen(text) + 1;
    }
    pw_draw_cut(c, r, y, r.x, pw_style_dim(), ruler_word(p->w), p->label_w);
}

/* ---- the whole map */

/* Returns the first of `shown` out of T: close to its earlier value, with the cursor inside. */
static int scrolled(int first, int cursor, int shown, int T)
{
    first = first > cursor ? cursor : first < cursor - shown + 1 ? cursor - shown + 1 : first;
    return first > T - shown ? T - shown : first < 0 ? 0 : first;
}

/* Chooses the part and the scale of the map; returns false if there is no room. */
static bool fit(struct pw_att_window *p, const struct pw_ui *ui, struct pw_rect r, int margin_w, int margin_h,
                bool wide)
{
    const struct pw_att *w = p->w;
    int room_w = r.w - p->label_w - 1 - margin_w, room_h = r.h - p->head_h - margin_h;

    p->rows = p->cols = w->T;
    p->top = p->left = 0;
    if (ui->attention.scroll && room_h > 0 && room_w > 1) {
        p->rows = room_h < w->T ? room_h : w->T;
        p->cols = room_w / 2 < w->T ? room_w / 2 : w->T;
        p->top = scrolled(ui->attention.top, ui->attention.query, p->rows, w->T);
        p->left = scrolled(ui->attention.left, ui->attention.key, p->cols, w->T);
    }
    p->m = (struct pw_heat){.data = {.rows = p->rows,
                                     .cols = p->cols,
                                     .value = pw_att_shade,
                                     .arg = p,
                                     .hi = w->top,
                                     .is_signed = w->is_signed},
                            .square = !ui->attention.scroll,
                            .wide = wide,
                            .bare = ui->attention.scale != PW_ATT_GLOBAL,
                            .split_row = w->a->n_prompt > p->top ? w->a->n_prompt - p->top : 0,
                            .split_col = w->a->n_prompt > p->left ? w->a->n_prompt - p->left : 0,
                            .cursor_row = ui->attention.query - p->top,
                            .cursor_col = ui->attention.key - p->left};
    if (p->m.bare)
        p->m.data.hi = 1;
    p->y = r.y + p->head_h;
    p->x = r.x + p->label_w + 1;
    if (!pw_heat_fit(&p->m, &ui->look, room_w, room_h))
        return false;
    if (pw_att_kept_pixels(p))
        p->m.pixel = kept_pixel;
    return true;
}

/* Draws the panel beside the map, as far as there is room: the scores, the keys of the query under the
 * cursor, and the heads as small maps. */
static void draw_side(const struct pw_ui *ui, const struct pw_att *w, struct pw_canvas *c, struct pw_rect r)
{
    int scores = pw_att_n_scores(w->a) + 2, taken;

    if (r.w < 18)
        return;
    taken = pw_att_draw_small(ui, w, c, r);
    r.h -= taken > 0 ? taken + 1 : 0;
    if (ui->attention.list || r.h >= scores + 10) {
        taken = pw_att_draw_scores(ui, w, c, r);
        r.y += taken + 1;
        r.h -= taken + 1;
    }
    pw_att_draw_profile(ui, w, c, r);
}

/* Places the map in body, beside the columns that are reserved for the panel; returns false if there is no
 * room. */
static bool place(struct pw_att_window *p, const struct pw_ui *ui, const struct pw_att *w,
                  struct pw_rect body, bool *margins)
{
    int side = body.w < 44 ? 0 : ui->attention.list ? 34 : 20;

    *p = (struct pw_att_window){
        .ui = ui, .w = w, .head_h = header_rows(w, body.h), .label_w = label_width(w, body.w)};
    bool ruler = has_ruler(w);
    if (!fit(p, ui, body, side, ruler, false))
        return false;
    struct pw_att_window other = *p;
    bool below = w->view == PW_VIEW_PROBS || pw_att_shows_gates(w->a, w->view);
    *margins = below && w->ref == NULL && body.h >= 11 && body.w >= WITH_MARGINS;
    if (*margins) { /* only if the margins do not shrink the map */
        *margins = fit(&other, ui, body, side + PW_ATT_BITS, 1 + ruler, false) && other.m.sx == p->m.sx &&
                   other.m.sy == p->m.sy && other.m.pool_r == p->m.pool_r;
        other = *p;
    }
    /* As many columns per token as possible, while the panel beside the map keeps room for its text. */
    int words = body.w / 4 < 30 ? 30 : body.w / 4 > 48 ? 48 : body.w / 4;
    if (fit(&other, ui, body, (side > words ? side : words) + *margins * PW_ATT_BITS, *margins + ruler,
            true) &&
        other.m.sx > p->m.sx && other.m.sy == p->m.sy)
        *p = other, p->m.data.arg = p;
    return true;
}

static struct pw_rect above_legend(struct pw_rect r)
{
    r.h -= r.h >= 6;
    return r;
}

void pw_att_settle_map(struct pw_ui *ui, const struct pw_att *w, struct pw_rect r)
{
    struct pw_att_window p;
    bool margins;

    if (!place(&p, ui, w, above_legend(r), &margins))
        return;
    if (ui->attention.scroll)
        ui->attention.top = p.top, ui->attention.left = p.left;
    pw_att_keep_long(ui, w, ui->attention.scroll ? 1 : p.m.pool_r);
}

void pw_att_draw_map(const struct pw_ui *ui, const struct pw_att *w, struct pw_canvas *c, struct pw_rect r)
{
    struct pw_rect body = above_legend(r);
    struct pw_att_window p;
    bool margins, hatched = false, gold = false;

    if (!place(&p, ui, w, body, &margins))
        return;
    if (body.h >= 3 && body.w >= 8)
        draw_labels(&p, c, body);
    pw_heat_draw(&p.m, &ui->look, c, body, p.y, p.x);
    if (!ui->attention.no_hatch)
        hatched = pw_att_draw_hatch(&p, c, body);
    if (!ui->attention.no_gold)
        gold = pw_att_draw_gold(&p, c, body);
    if (margins)
        pw_att_draw_margins(&p, c, body);
    draw_ruler(&p, c, body, p.y + p.m.h + margins);
    if (body.h < r.h)
        pw_att_draw_legend(&p, c, r, r.y + body.h, hatched, gold);
    int right = p.label_w + 1 + p.m.w + (margins ? PW_ATT_BITS : 0) + 2;
    draw_side(ui, w, c, (struct pw_rect){r.y, r.x + right, body.h, r.w - right});
}

bool pw_att_pair_at(const struct pw_ui *ui, const struct pw_att *w, struct pw_rect r, int y, int x,
                    int *query, int *key)
{
    struct pw_att_window p;
    bool margins;

    if (!place(&p, ui, w, above_legend(r), &margins) || !pw_heat_at(&p.m, y - p.y, x - p.x, query, key))
        return false;
    *query += p.top, *key += p.left;
    return true;
}

void pw_att_copy_map(const struct pw_att *w, struct pw_str *out)
{
    pw_str_add(out, "query");
    for (int k = 0; k < w->T; k++)
        pw_str_add(out, "\t%d %s", k, pw_att_label(w->a, k));
    for (int q = 0; q < w->T; q++) {
        pw_str_add(out, "\n%d %s", q, pw_att_label(w->a, q));
        for (int k = 0; k < w->T; k++)
            if (pw_att_value(w, q, k) == -INFINITY)
                pw_str_add(out, "\t");
            else
                pw_str_add(out, "\t%.4g", (double)pw_att_value(w, q, k));
    }
    pw_str_add(out, "\n");
}
