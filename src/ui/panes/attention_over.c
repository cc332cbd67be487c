/* attention_over.c - additions to the colours of the attention map: signs, margins, and a legend that names
 * every transformation of the values.
 *
 * Pairs that were not seen in training are hatched, and the task's gold pointers are marked. A failure on
 * longer lengths thus becomes visible at its origin. */
#include <math.h>
#include <stdio.h>

#include "ui/panes/attention.h"

/* ---- signs on the map */

static struct pw_cell *cell_at(struct pw_canvas *c, struct pw_rect r, int y, int x)
{
    bool inside = pw_rect_has(r, y, x) && y < c->rows && x < c->cols && y >= 0 && x >= 0;
    return inside ? &c->cells[y * c->cols + x] : NULL;
}

static uint32_t towards_grey(uint32_t color)
{
    if (color >= PW_ANSI(0))
        return color;
    return PW_RGB(((color >> 16 & 255) + 128) / 2, ((color >> 8 & 255) + 128) / 2, ((color & 255) + 128) / 2);
}

/* If two values share a cell, there is no space for a sign: every second pixel becomes half grey. */
static void hatch_half(struct pw_cell *cell, bool lower, int x)
{
    if ((x + lower) % 2)
        return;
    if (cell->cp == 0x2580 && lower)
        cell->style.bg = towards_grey(cell->style.bg);
    else if (cell->cp == 0x2580 || cell->cp == 0x2584)
        cell->style.fg = towards_grey(cell->style.fg);
}

static void hatch_whole(const struct pw_abilities *look, const struct pw_heat *m, struct pw_cell *cell, int y,
                        int x, int column)
{
    if (m->shades && m->sx == 1)
        cell->style.attr |= PW_UNDERLINE; /* the value occupies the only character */
    else if (m->shades ? column % 2 == 1 : cell->cp == ' ' && (x + y) % 2 == 0)
        cell->cp = look->utf8 ? 0x2571 : '/';
}

/* Returns true if no value of the pixel that starts at this query and key was seen in training. */
static bool all_untrained(const struct pw_att_window *p, int row, int col)
{
    const struct pw_heat *m = &p->m;

    if (p->w->unmet == NULL)
        return false;
    if (pw_att_kept_pixels(p))
        return p->w->kept->unseen[row / m->pool_r * p->w->kept->side + col / m->pool_c];
    for (int i = row; i < row + m->pool_r && i < p->rows; i++)
        for (int j = col; j < col + m->pool_c && j < p->cols; j++) {
            float v = pw_att_value(p->w, p->top + i, p->left + j);
            if (v != -INFINITY && !pw_att_untrained(p->w, p->top + i, p->left + j))
                return false;
        }
    return pw_att_shade(p, row, col) != -INFINITY;
}

bool pw_att_draw_hatch(const struct pw_att_window *p, struct pw_canvas *c, struct pw_rect r)
{
    const struct pw_heat *m = &p->m;
    bool any = false;

    for (int row = 0; row < p->rows; row += m->pool_r)
        for (int col = 0; col < p->cols; col += m->pool_c) {
            if (!all_untrained(p, row, col))
                continue;
            any = true;
            int half = pw_heat_half_row(m, row), left = p->x + pw_heat_column(m, col);
            for (int y = 0; y < (m->sy + 1) / 2; y++)
                for (int x = 0; x < m->sx; x++) {
                    struct pw_cell *cell = cell_at(c, r, p->y + half / 2 + y, left + x);
                    if (cell != NULL && m->sy == 1)
                        hatch_half(cell, half % 2, left + x);
                    else if (cell != NULL)
                        hatch_whole(&p->ui->look, m, cell, p->y + half / 2 + y, left + x, x);
                }
        }
    return any;
}

/* Marks the last column of a value, so that its other columns keep their characters. */
bool pw_att_draw_gold(const struct pw_att_window *p, struct pw_canvas *c, struct pw_rect r)
{
    const struct pw_ev_attention *a = p->w->a;
    const struct pw_heat *m = &p->m;
    bool any = false;

    for (int i = 0; a->gold != NULL && i < a->n_gold; i++) {
        int row = a->gold[i].query - p->top, col = a->gold[i].key - p->left;
        if (row < 0 || col < 0 || row >= p->rows || col >= p->cols || pw_att_shade(p, row, col) == -INFINITY)
            continue;
        any = true;
        int half = pw_heat_half_row(m, row / m->pool_r * m->pool_r),
            x = p->x + pw_heat_column(m, col / m->pool_c * m->pool_c) + m->sx - 1;
        struct pw_cell *cell = cell_at(c, r, p->y + half / 2, x);
        if (cell == NULL || cell->cp == ']' || cell->cp == 0x25aa || cell->cp == 0x25b4 || cell->cp == 0x25be)
            continue; /* a mark of the cursor; its readout names the gold pointer */
        if (m->shades && m->sx == 1) {
            cell->style.attr |= PW_REVERSE;
            continue;
        }
        uint32_t color = m->sy == 1 && half % 2 == 0 && cell->cp == 0x2580 ? cell->style.fg : cell->style.bg;
        if (m->sy == 1 && cell->cp == 0x2584)
            color = cell->style.fg;
        cell->cp = p->ui->look.utf8 ? 0x25c6 : 'o';
        if (!m->shades)
            cell->style = (struct pw_style){pw_ramp_text_on(color), color, 0};
        cell->style.attr |= PW_BOLD;
    }
    return any;
}

/* ---- margins */

/* Returns the mean probability that a key receives; -inf if no query sees it. */
static float received(const struct pw_att *w, int k)
{
    float sum = 0;
    int n = 0;

    if (w->kept != NULL)
        return w->kept->received[k];
    for (int q = 0; q < w->T; q++) {
        float v = pw_att_value(w, q, k);
        if (v != -INFINITY)
            sum += v, n++;
    }
    return n > 0 ? sum / (float)n : -INFINITY;
}

/* Returns the value of a key in the row below the map: its gate, or the mean probability that it receives. */
static float margin_of(const struct pw_att *w, int k)
{
    return pw_att_shows_gates(w->a, w->view) ? pw_att_gate(w->a, w->layer, w->head, k) : received(w, k);
}

/* Writes a gate into its cell, if the cell is wide enough. */
static void draw_gate(const struct pw_heat *m, struct pw_canvas *c, struct pw_rect r, int y, int x,
                      float gate, float most)
{
    uint32_t behind = pw_ramp(gate / most);

    if (m->sx < 5)
        return;
    pw_draw_fmt(c, r, y, x + (m->sx - 4) / 2,
                m->shades ? pw_style_plain() : (struct pw_style){pw_ramp_text_on(behind), behind, 0}, "%.2f",
                (double)gate);
}

const char *pw_att_below_word(const struct pw_att *w)
{
    if (!pw_att_shows_gates(w->a, w->view))
        return "mean";
    return pw_att_reflects(w->a) ? "factor" : "gate";
}

/* Draws a row below the map: the gate of each token, or the mean probability that a key receives from the
 * queries that see it. */
static void draw_below(const struct pw_att_window *p, struct pw_canvas *c, struct pw_rect r)
{
    const struct pw_att *w = p->w;
    int y = p->y + p->m.h;
    bool gates = pw_att_shows_gates(w->a, w->view);
    float limit = gates && pw_att_reflects(w->a) ? 2 : 1;

    if (y >= r.y + r.h)
        return;
    for (int i = 0; i < p->cols; i += p->m.pool_c) {
        float most = -INFINITY;
        for (int k = p->left + i; k < p->left + i + p->m.pool_c && k < p->left + p->cols; k++)
            most = margin_of(w, k) > most ? margin_of(w, k) : most;
        int x = p->x + pw_heat_column(&p->m, i);
        pw_heat_cell(&p->ui->look, c, r, y, x, p->m.sx, most, 0, limit, false);
        if (gates)
            draw_gate(&p->m, c, r, y, x, most, limit);
    }
    pw_draw_cut(c, r, y, r.x, pw_style_dim(), pw_att_below_word(w), p->label_w);
}

static double entropy(const struct pw_att *w, int q)
{
    double bits = 0;

    for (int k = 0; k < w->T; k++) {
        double x = pw_att_value(w, q, k);
        bits -= x > 0 ? x * log2(x) : 0;
    }
    return bits;
}

/* Draws the queries' entropy at the right of the map, as a number if a query has its own row. */
static void draw_entropy(const struct pw_att_window *p, struct pw_canvas *c, struct pw_rect r)
{
    const struct pw_heat *m = &p->m;
    int x = p->x + m->w + 1;

    if (m->pool_r > 1 || x + 4 > r.x + r.w)
        return;
    if (p->head_h > 0)
        pw_draw_text(c, r, p->y - 1, x, pw_style_dim(), "bits");
    for (int i = 0; i < p->rows; i++) {
        int half = pw_heat_half_row(m, i);
        if (half % 2 == 0 || p->top + i == p->ui->attention.query)
            pw_draw_fmt(c, r, p->y + half / 2 + (m->sy - 1) / 4, x, pw_style_dim(), "%4.2f",
                        entropy(p->w, p->top + i));
    }
}

void pw_att_draw_margins(const struct pw_att_window *p, struct pw_canvas *c, struct pw_rect r)
{
    draw_below(p, c, r);
    if (p->w->view == PW_VIEW_PROBS)
        draw_entropy(p, c, r);
}

/* ---- legend of the map's colours and signs */

static void draw_ramp(const struct pw_att_window *p, struct pw_canvas *c, struct pw_rect r, int y, int x,
                      int w)
{
    const struct pw_heat *m = &p->m;

    for (int i = 0; i < w; i++) {
        float f = (float)i / (float)(w - 1);
        pw_heat_cell(&p->ui->look, c, r, y, x + i, 1,
                     m->data.is_signed ? m->data.hi * (2 * f - 1)
                                       : m->data.lo + f * (m->data.hi - m->data.lo),
                     m->data.lo, m->data.hi, m->data.is_signed);
    }
}

/* Draws the sign as on the map: on the colour of a value, or as a style if a value is one character. Returns
 * the column after it. */
static int draw_gold_sign(const struct pw_att_window *p, struct pw_canvas *c, struct pw_rect r, int y, int x)
{
    struct pw_style s = pw_style_bold();
    bool style = p->m.shades && p->m.sx == 1;

    if (style)
        s.attr = PW_REVERSE;
    else if (!p->m.shades)
        s = (struct pw_style){pw_ramp_text_on(pw_ramp(0)), pw_ramp(0), PW_BOLD};
    x = pw_draw_text(c, r, y, x, s, style ? " " : p->ui->look.utf8 ? "◆" : "o");
    return pw_draw_text(c, r, y, x + 1, pw_style_warn(), "gold");
}

const char *const pw_att_scale_names[PW_ATT_SCALES] = {"", " by row", " log"};

void pw_att_draw_legend(const struct pw_att_window *p, struct pw_canvas *c, struct pw_rect r, int y,
                        bool hatched, bool gold)
{
    const struct pw_att *w = p->w;
    struct pw_str notes = {0};
    char lo[16], hi[16];
    int scale = p->ui->attention.scale;

    if (scale == PW_ATT_ROW)
        snprintf(lo, sizeof lo, w->is_signed ? "-max" : "0"), snprintf(hi, sizeof hi, "max");
    else if (scale == PW_ATT_LOG && !w->is_signed)
        snprintf(lo, sizeof lo, "0.001"), snprintf(hi, sizeof hi, "1");
    else if (w->is_signed)
        snprintf(lo, sizeof lo, "%.3g", (double)-w->top), snprintf(hi, sizeof hi, "%+.3g", (double)w->top);
    else
        snprintf(lo, sizeof lo, "0"), snprintf(hi, sizeof hi, "1");
    if (p->m.pool_r > 1)
        pw_str_add(&notes, "  max-pooled %dx, w scrolls", p->m.pool_r);
    if (p->rows < w->T)
        pw_str_add(&notes, "  rows %d..%d", p->top, p->top + p->rows - 1);
    if (p->cols < w->T)
        pw_str_add(&notes, "  columns %d..%d", p->left, p->left + p->cols - 1);
    if (p->rows < w->T || p->cols < w->T)
        pw_str_add(&notes, " of %d", w->T);
    if (w->ref != NULL)
        pw_str_add(&notes, "  less %s", w->ref->name);
    if (w->ref != NULL && w->T < w->a->T)
        pw_str_add(&notes, ", the first %d tokens, which are the same", w->T);
    if (w->ref != NULL && w->renamed)
        pw_str_add(&notes, ", by position: its tokens have other names");
    if (pw_view_of_terms(w->view) && w->a->samples > 0)
        pw_str_add(&notes, "  position: mean over %d samples", w->a->samples);
    else if (pw_view_of_terms(w->view))
        pw_str_add(&notes, "  exact, the norm's scale frozen");
    if (p->ui->attention.first_hidden)
        pw_str_add(&notes, w->view == PW_VIEW_PROBS ? "  first key left out, rest renormalised"
                                                    : "  first key left out");
    char hatch[64] = "";
    if (hatched)
        snprintf(hatch, sizeof hatch, "  hatched: %s never trained", w->hatch);

    int x = pw_draw_fmt(c, r, y, r.x, pw_style_dim(), "%s%s", pw_att_view_name(w->a, w->view),
                        pw_att_scale_names[scale]) +
            2;
    int rest = r.x + r.w - x - pw_text_cells(lo) - pw_text_cells(hi) - 2 - (gold ? 8 : 0) -
               pw_text_cells(pw_str_text(&notes)) - pw_text_cells(hatch);
    int ramp = rest > 16 ? 16 : rest < 5 ? 5 : rest;
    x = pw_draw_text(c, r, y, x, pw_style_plain(), lo) + 1;
    draw_ramp(p, c, r, y, x, ramp);
    x = pw_draw_text(c, r, y, x + ramp + 1, pw_style_plain(), hi);
    if (gold)
        x = draw_gold_sign(p, c, r, y, x + 2);
    if (notes.len > 0)
        x = pw_draw_cut(c, r, y, x, pw_style_warn(), notes.s, r.x + r.w - x);
    if (hatched && x + pw_text_cells(hatch) > r.x + r.w)
        snprintf(hatch, sizeof hatch, "  hatched: untrained");
    if (x + pw_text_cells(hatch) <= r.x + r.w) /* else the readout names it for the cursor */
        pw_draw_text(c, r, y, x, pw_style_warn(), hatch);
    pw_str_fini(&notes);
}
