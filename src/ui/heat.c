/* heat.c - a matrix as a picture in half blocks: a cell holds two square pixels of exact colour.
 *
 * Scales are integers and values are not resampled. Each value covers at least one pixel. If there are more
 * values than pixels, each pixel shows the largest of its values (max pooling), so that a spike cannot
 * vanish. Hidden values (the causal mask) show the background, which no ramp contains, because masked is not
 * zero. */
#include "plot/ramp.h"
#include "ui/plot.h"
#include <math.h>
#include <stdio.h>

#define LOWER_HALF 0x2584
#define UPPER_HALF 0x2580
#define AT_UPPER   0x25b4 /* the cursor, on one of two values that share a cell */
#define AT_LOWER   0x25be

static int ceil_div(int a, int b)
{
    return (a + b - 1) / b;
}

/* Returns the smallest number of values per pixel at which n values of `scale` and a gap fit into `room`. */
static int pool_for(int n, int scale, int gap, int room)
{
    int pool = 1;

    while (ceil_div(n, pool) * scale + gap > room && pool < n)
        pool++;
    return pool;
}

bool pw_heat_fit(struct pw_heat *m, const struct pw_abilities *look, int max_w, int max_h)
{
    m->shades = !look->utf8 || look->colors <= PW_COLORS_16;
    if (max_w < 1 || max_h < 1 || m->data.rows < 1 || m->data.cols < 1)
        return false;

    int unit = m->shades ? 2 : 1; /* a shade fills a whole cell, which is two half rows */
    int px_h = 2 * max_h;
    m->pool_r = pool_for(m->data.rows, unit, 0, px_h);
    m->pool_c = pool_for(m->data.cols, 1, 0, max_w);
    if (m->square)
        m->pool_c = m->pool_r = m->pool_c > m->pool_r ? m->pool_c : m->pool_r;
    int n_r = ceil_div(m->data.rows, m->pool_r), n_c = ceil_div(m->data.cols, m->pool_c);
    m->sy = px_h / n_r;
    m->sx = max_w / n_c;
    if (m->square) { /* half blocks are square pixels; one more column leaves room for labels */
        int most = m->wide && m->sy > 1 ? (m->sy > 3 ? 2 * m->sy : 6) : m->sy + 1;
        m->sx = m->sx < most ? m->sx : most;
        m->sy = m->sy < m->sx ? m->sy : m->sx;
    }
    if (m->sy < unit)
        m->sy = unit;
    if (m->sy > 1)
        m->sy -= m->sy % 2; /* whole rows give sharp edges, and a row for each label */
    /* The gap between prompt and answer needs room, and no pooling. */
    int gap = m->sy % 2 ? 1 : 2;
    m->gap_r = m->split_row > 0 && m->split_row < m->data.rows && m->pool_r == 1 && n_r * m->sy + gap <= px_h
                   ? gap
                   : 0;
    m->gap_c = m->split_col > 0 && m->split_col < m->data.cols && m->pool_c == 1 && n_c * m->sx < max_w;
    m->w = n_c * m->sx + m->gap_c;
    m->h = ceil_div(n_r * m->sy + m->gap_r, 2);
    return true;
}

int pw_heat_column(const struct pw_heat *m, int col)
{
    return col / m->pool_c * m->sx + (col >= m->split_col ? m->gap_c : 0);
}

int pw_heat_half_row(const struct pw_heat *m, int row)
{
    return row / m->pool_r * m->sy + (row >= m->split_row ? m->gap_r : 0);
}

bool pw_heat_at(const struct pw_heat *m, int y, int x, int *row, int *col)
{
    *row = *col = -1;
    for (int i = 0; i < m->data.rows && *row < 0; i++) {
        int half = pw_heat_half_row(m, i);
        if (half / 2 <= y && y <= (half + m->sy - 1) / 2)
            *row = i;
    }
    for (int i = 0; i < m->data.cols && *col < 0; i++) {
        int left = pw_heat_column(m, i);
        if (left <= x && x < left + m->sx)
            *col = i;
    }
    return *row >= 0 && *col >= 0;
}

/* Returns the pooled value of the pixel block that begins at (row,col): the largest, or the largest absolute
 * value if signed. */
static float pooled(const struct pw_heat *m, int row, int col)
{
    if (m->pixel != NULL)
        return m->pixel(m->data.arg, row, col);
    return pw_matrix_pooled(&m->data, row, col, m->pool_r, m->pool_c);
}

/* Returns the first value of the block at pixel position `at` of a side; -1 in the gap or past the end. */
static int block_at(int at, int scale, int n, int pool, int split, int gap)
{
    if (gap > 0 && at >= split * scale) {
        if (at < split * scale + gap)
            return -1;
        at -= gap;
    }
    int i = at / scale * pool;
    return i < n ? i : -1;
}

static float ramp_position(float v, float lo, float hi, bool is_signed)
{
    float x = is_signed ? v / hi : (v - lo) / (hi - lo);

    return x < -1 ? -1 : x > 1 ? 1 : x;
}

static uint32_t color_of(float x, bool is_signed)
{
    return is_signed ? pw_ramp_signed(x) : pw_ramp(x);
}

/* Without colours a denser glyph means a larger value. Zero is a dot, because blank means hidden. Negative
 * values have other glyphs. */
static uint32_t shade_of(const struct pw_abilities *look, float x, bool is_signed)
{
    static const uint32_t blocks[] = {0xb7, 0x2591, 0x2592, 0x2593, 0x2588};
    static const uint32_t letters[] = {'.', ':', '+', '*', '#'};
    static const uint32_t negative[] = {0xb7, '-', '=', '~', '%'};
    int level = (int)lrintf(fabsf(x) * 4);

    if (is_signed && x < 0)
        return look->utf8 || level > 0 ? negative[level] : '.';
    return look->utf8 ? blocks[level] : letters[level];
}

static void draw_shade(const struct pw_abilities *look, struct pw_canvas *c, struct pw_rect clip, int y,
                       int x, float v, float lo, float hi, bool is_signed)
{
    struct pw_style s = pw_style_plain();

    if (isnan(v)) {
        pw_draw_cell(c, clip, y, x, pw_style_bad(), '!');
        return;
    }
    float at = ramp_position(v, lo, hi, is_signed);
    if (look->colors == PW_COLORS_16)
        s.fg = is_signed ? (at < 0 ? PW_ANSI(6) : PW_ANSI(3)) : PW_ANSI(6);
    pw_draw_cell(c, clip, y, x, s, shade_of(look, at, is_signed));
}

void pw_heat_cell(const struct pw_abilities *look, struct pw_canvas *c, struct pw_rect clip, int y, int x,
                  int w, float v, float lo, float hi, bool is_signed)
{
    if (v == -INFINITY)
        return;
    for (int i = 0; i < w; i++)
        if (!look->utf8 || look->colors <= PW_COLORS_16)
            draw_shade(look, c, clip, y, x + i, v, lo, hi, is_signed);
        else if (isnan(v))
            pw_draw_cell(c, clip, y, x + i, pw_style_bad(), '!');
        else
            pw_draw_cell(c, clip, y, x + i, pw_style_value(ramp_position(v, lo, hi, is_signed), is_signed),
                         ' ');
}

static bool under_cursor(const struct pw_heat *m, int row, int col)
{
    return row >= 0 && col >= 0 && m->cursor_row >= 0 && row / m->pool_r == m->cursor_row / m->pool_r &&
           col / m->pool_c == m->cursor_col / m->pool_c;
}

/* Returns the colour of one pixel; PW_DEFAULT if it is empty. */
static uint32_t pixel(const struct pw_heat *m, int row, int col)
{
    float v = row < 0 || col < 0 ? -INFINITY : pooled(m, row, col);

    if (v == -INFINITY)
        return PW_DEFAULT;
    if (isnan(v))
        return PW_RGB(255, 0, 0);
    return color_of(ramp_position(v, m->data.lo, m->data.hi, m->data.is_signed), m->data.is_signed);
}

/* Returns a bracket around the value under the cursor; in a map one column wide, a glyph that no value has.
 */
static uint32_t cursor_glyph(const struct pw_heat *m, const struct pw_abilities *look, int px, int col)
{
    int left = pw_heat_column(m, col);

    if (m->sx == 1)
        return look->utf8 ? PW_HEAT_CURSOR : 'X';
    return px == left ? '[' : px == left + m->sx - 1 ? ']' : ' ';
}

/* Draws one cell whose two pixels belong to the same value. */
static void draw_whole(const struct pw_heat *m, const struct pw_abilities *look, struct pw_canvas *c,
                       struct pw_rect clip, int y, int x, int row, int col, int px)
{
    float v = row < 0 || col < 0 ? -INFINITY : pooled(m, row, col);
    uint32_t glyph = under_cursor(m, row, col) ? cursor_glyph(m, look, px, col) : ' ';

    pw_heat_cell(look, c, clip, y, x, 1, v, m->data.lo, m->data.hi, m->data.is_signed);
    if (glyph == ' ')
        return;
    struct pw_style s = {PW_DEFAULT, PW_DEFAULT, PW_BOLD | (m->shades ? PW_REVERSE : 0)};
    if (!m->shades && isfinite(v))
        s = pw_style_value(ramp_position(v, m->data.lo, m->data.hi, m->data.is_signed), m->data.is_signed),
        s.attr = PW_BOLD;
    pw_draw_cell(c, clip, y, x, s, glyph);
}

/* Draws one cell with two values, one above the other. The cursor is a glyph on its value's colour, because a
 * special colour would look like a value. */
static void draw_halves(const struct pw_heat *m, struct pw_canvas *c, struct pw_rect clip, int y, int x,
                        int upper, int lower, int col)
{
    uint32_t top = pixel(m, upper, col), bottom = pixel(m, lower, col);
    bool at_upper = under_cursor(m, upper, col), at_lower = under_cursor(m, lower, col);

    if ((at_upper && top != PW_DEFAULT) || (at_lower && bottom != PW_DEFAULT)) {
        uint32_t behind = at_upper ? top : bottom;
        pw_draw_cell(c, clip, y, x, (struct pw_style){pw_ramp_text_on(behind), behind, PW_BOLD},
                     at_upper ? AT_UPPER : AT_LOWER);
    } else if (at_upper || at_lower) { /* hidden */
        pw_draw_cell(c, clip, y, x, pw_style_bold(), at_upper ? AT_UPPER : AT_LOWER);
    } else if (top != PW_DEFAULT) {
        pw_draw_cell(c, clip, y, x, (struct pw_style){top, bottom, 0}, UPPER_HALF);
    } else if (bottom != PW_DEFAULT) {
        pw_draw_cell(c, clip, y, x, (struct pw_style){bottom, PW_DEFAULT, 0}, LOWER_HALF);
    }
}

/* Draws the values as numbers if a cell is wide enough. */
static void draw_numbers(const struct pw_heat *m, struct pw_canvas *c, struct pw_rect clip, int y, int x)
{
    for (int row = 0; row < m->data.rows; row++)
        for (int col = 0; col < m->data.cols; col++) {
            float v = m->data.value(m->data.arg, row, col);
            char text[16];
            if (!isfinite(v) || (!m->data.is_signed && v < 0.005f))
                continue; /* hidden, or so small that the colour is enough */
            snprintf(text, sizeof text, m->data.is_signed ? "%+.1f" : "%.2f", (double)v);
            int w = pw_text_cells(text);
            if (w + 2 > m->sx)
                continue;
            pw_draw_text(c, clip, y + (pw_heat_half_row(m, row) + m->sy / 2 - 1) / 2,
                         x + pw_heat_column(m, col) + (m->sx - w) / 2,
                         pw_style_value(ramp_position(v, m->data.lo, m->data.hi, m->data.is_signed),
                                        m->data.is_signed),
                         text);
        }
}

void pw_heat_draw(const struct pw_heat *m, const struct pw_abilities *look, struct pw_canvas *c,
                  struct pw_rect clip, int y, int x)
{
    for (int cy = 0; cy < m->h; cy++) {
        int upper = block_at(2 * cy, m->sy, m->data.rows, m->pool_r, m->split_row, m->gap_r);
        int lower = block_at(2 * cy + 1, m->sy, m->data.rows, m->pool_r, m->split_row, m->gap_r);
        for (int px = 0; px < m->w; px++) {
            int col = block_at(px, m->sx, m->data.cols, m->pool_c, m->split_col, m->gap_c);
            if (m->sy % 2 == 0)
                draw_whole(m, look, c, clip, y + cy, x + px, upper, col, px);
            else
                draw_halves(m, c, clip, y + cy, x + px, upper, lower, col);
        }
    }
    if (m->sy % 2 == 0 && m->sx >= 6 && m->pool_r == 1 && m->pool_c == 1 && !m->shades && !m->bare)
        draw_numbers(m, c, clip, y, x);
}
