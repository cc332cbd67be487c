/* map.c - a matrix as an embedded image with few colours.
 *
 * A value is one pixel, or a block of pixels in a small matrix. Viewers that smooth enlarged images then blur
 * an edge, not a value. If there are more values than m->most, they are pooled by maximum, so that a spike
 * cannot vanish. Hidden values (the causal mask) stay white, which no ramp contains. */
#include "figure/map.h"
#include "base/alloc.h"
#include "figure/png.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    HIDDEN,
    BROKEN,
    FIRST,
    LEVELS = 127,
    COLORS = FIRST + LEVELS,
    BLOCK = 64 /* maximum size of a value, in pixels */
};

#define SHARP 4 /* pixels per point, about */

static float position(const struct pw_map *m, float v)
{
    float x = m->data.is_signed ? v / m->data.hi : (v - m->data.lo) / (m->data.hi - m->data.lo),
          least = m->data.is_signed ? -1.0f : 0.0f;

    return x > least ? x < 1 ? x : 1 : least;
}

static uint32_t color_at(const struct pw_map *m, float x)
{
    return m->data.is_signed ? pw_ramp_both(x) : pw_ramp_up(m->map, x);
}

uint32_t pw_map_color(const struct pw_map *m, float v)
{
    return v == -INFINITY ? 0xffffff : isnan(v) ? 0xff0000 : color_at(m, position(m, v));
}

int pw_map_pool(const struct pw_map *m)
{
    int n = m->data.rows > m->data.cols ? m->data.rows : m->data.cols;

    return m->most > 0 && n > m->most ? (n + m->most - 1) / m->most : 1;
}

static uint8_t index_of(const struct pw_map *m, float v)
{
    if (v == -INFINITY || isnan(v))
        return v == -INFINITY ? HIDDEN : BROKEN;
    float x = position(m, v);
    return (uint8_t)(FIRST + lrintf((m->data.is_signed ? (x + 1) / 2 : x) * (LEVELS - 1)));
}

void pw_map_draw(const struct pw_map *m, struct pw_svg *s, struct pw_box b)
{
    int pool = pw_map_pool(m), rows = (m->data.rows + pool - 1) / pool,
        cols = (m->data.cols + pool - 1) / pool;
    uint32_t colors[COLORS] = {[HIDDEN] = 0xffffff, [BROKEN] = 0xff0000};
    struct pw_str png = {0};

    if (rows < 1 || cols < 1)
        return;
    double want = SHARP * fmax(b.w / cols, b.h / rows);
    int limit = m->block > 0 ? m->block : BLOCK, scale = want > limit ? limit : want > 1 ? (int)want : 1;
    for (int i = 0; i < LEVELS; i++) {
        float x = (float)i / (LEVELS - 1);
        colors[FIRST + i] = color_at(m, m->data.is_signed ? 2 * x - 1 : x);
    }
    size_t w = (size_t)cols * (size_t)scale, h = (size_t)rows * (size_t)scale;
    uint8_t *pixel = pw_alloc(w * h, 1);
    for (int i = 0; i < rows; i++) {
        uint8_t *line = pixel + (size_t)i * (size_t)scale * w;
        for (int j = 0; j < cols; j++)
            memset(line + (size_t)j * (size_t)scale,
                   index_of(m, pw_matrix_pooled(&m->data, i * pool, j * pool, pool, pool)), (size_t)scale);
        for (int k = 1; k < scale; k++)
            memcpy(line + (size_t)k * w, line, w);
    }
    pw_png_write(&png, pixel, (int)w, (int)h, colors, COLORS);
    pw_svg_image(s, b, (const unsigned char *)png.s, png.len);
    pw_str_fini(&png);
    free(pixel);
}

static float ramp_value(const void *arg, int row, int col)
{
    const struct pw_map *m = arg;
    float f = 1 - (float)row / (LEVELS - 1);

    (void)col;
    return m->data.is_signed ? m->data.hi * (2 * f - 1) : m->data.lo + f * (m->data.hi - m->data.lo);
}

void pw_map_bar(const struct pw_map *m, struct pw_svg *s, struct pw_box b, bool percent, const char *title)
{
    static const struct pw_font number = {.size = 7, .color = 0x4a4a4a};
    struct pw_font turned = {.size = 7.5, .color = PW_INK, .anchor = PW_MIDDLE, .turned = true};
    struct pw_map ramp = *m;
    char text[32];

    ramp.data.rows = LEVELS, ramp.data.cols = 1, ramp.data.value = ramp_value, ramp.data.arg = m;
    ramp.most = 0;
    pw_map_draw(&ramp, s, b);
    pw_svg_frame(s, b, (struct pw_pen){.color = 0x808080, .width = 0.5});
    double lo = (double)(m->data.is_signed ? -m->data.hi : m->data.lo),
           ends[] = {(double)m->data.hi, (lo + (double)m->data.hi) / 2, lo}, most = 0;
    for (int i = 0; i < 3; i++) {
        double v = i == 1 && m->data.is_signed ? 0 : ends[i];
        snprintf(text, sizeof text, percent ? "%.0f%%" : "%.3g", v * (percent ? 100 : 1));
        double w = pw_svg_width(&number, text);
        most = w > most ? w : most;
        pw_svg_text(s, b.x + b.w + 3, b.y + b.h * i / 2 + (i == 0 ? 5.5 : i == 1 ? 2.5 : 0), &number, text);
    }
    if (title != NULL)
        pw_svg_text(s, b.x + b.w + most + 13, b.y + b.h / 2, &turned, title);
}
