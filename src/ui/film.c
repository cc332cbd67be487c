/* film.c - see film.h. A frame is a layer: a group with the cells that differ from the frame before, on their
 * background. It appears at its time and covers what lies below, so unchanged cells are stored once. A frame
 * that changes half of the cells or more is stored whole, and the layers below it are hidden, so a browser
 * draws few layers at any time.
 *
 * Layers are visible unless an animation hides them. So a program that ignores animation shows all of them,
 * which is the last frame, and so does a browser whose user prefers reduced motion. */
#include "ui/film.h"

#include "base/alloc.h"
#include <inttypes.h>
#include <stdlib.h>

enum {
    GAP = 3
}; /* unchanged cells between two changed ones that are drawn again; cheaper than another span */

struct layer {
    int64_t at; /* milliseconds */
    bool whole;
    struct pw_str svg;
};

struct pw_film {
    struct pw_canvas last, next;
    bool light;
    int64_t duration; /* milliseconds */
    struct layer *layer;
    int n, cap;
};

struct pw_film *pw_film_create(int rows, int cols, bool light)
{
    struct pw_film *film = pw_alloc(1, sizeof *film);
    pw_canvas_init(&film->last);
    pw_canvas_init(&film->next);
    pw_canvas_resize(&film->last, rows, cols);
    pw_canvas_resize(&film->next, rows, cols);
    film->light = light;
    return film;
}

void pw_film_destroy(struct pw_film *film)
{
    if (film == NULL)
        return;
    for (int i = 0; i < film->n; i++)
        pw_str_fini(&film->layer[i].svg);
    free(film->layer);
    pw_canvas_fini(&film->last);
    pw_canvas_fini(&film->next);
    free(film);
}

struct pw_canvas *pw_film_canvas(struct pw_film *film)
{
    return &film->next;
}

int64_t pw_film_duration(const struct pw_film *film)
{
    return film->duration;
}

static const struct pw_cell *row_of(const struct pw_canvas *c, int y)
{
    return c->cells + (size_t)y * (size_t)c->cols;
}

static int count_changes(const struct pw_film *film)
{
    int n = 0;
    for (int i = 0; i < film->next.rows * film->next.cols; i++)
        n += !pw_cell_same(film->last.cells + i, film->next.cells + i);
    return n;
}

/* Finds the first span of changed cells in row y at or after column `from`, without cutting a wide character.
 * Returns its end, or 0 if there is none. */
static int find_span(const struct pw_film *film, int y, int *from)
{
    const struct pw_cell *was = row_of(&film->last, y), *is = row_of(&film->next, y);
    int x = *from, cols = film->next.cols;
    while (x < cols && pw_cell_same(was + x, is + x))
        x++;
    if (x == cols)
        return 0;
    int end = x + 1;
    for (int i = end; i < cols && i <= end + GAP; i++)
        if (!pw_cell_same(was + i, is + i))
            end = i + 1;
    while (x > *from && (is[x].cp == 0 || was[x].cp == 0))
        x--;
    while (end < cols && (is[end].cp == 0 || was[end].cp == 0))
        end++;
    *from = x;
    return end;
}

/* Draws the cells that have changed, or all. */
static void put_cells(struct pw_str *out, const struct pw_film *film, bool all)
{
    int n = 0, rows = film->next.rows, cols = film->next.cols;
    struct pw_span *span = pw_alloc((size_t)rows * (size_t)cols, sizeof *span);
    for (int y = 0; y < rows; y++)
        if (all)
            span[n++] = (struct pw_span){y, 0, cols};
        else
            for (int from = 0, end; (end = find_span(film, y, &from)) > 0; from = end)
                span[n++] = (struct pw_span){y, from, end};
    pw_canvas_svg_spans(&film->next, span, n, true, film->light, out);
    free(span);
}

void pw_film_shot(struct pw_film *film, int ms)
{
    int changes = count_changes(film);
    if (film->n == 0 || changes > 0) {
        if (film->n == film->cap) {
            film->cap = film->cap > 0 ? 2 * film->cap : 64;
            film->layer = pw_grow(film->layer, (size_t)film->cap, sizeof *film->layer);
        }
        struct layer *layer = &film->layer[film->n++];
        *layer = (struct layer){.at = film->duration};
        layer->whole = film->n == 1 || changes >= film->next.rows * film->next.cols / 2;
        put_cells(&layer->svg, film, layer->whole);
        struct pw_canvas other = film->last;
        film->last = film->next;
        film->next = other;
    }
    film->duration += ms;
}

/* Writes a time as a percentage of the film, with as many digits as a millisecond of an hour needs. */
static void put_percent(struct pw_str *out, const struct pw_film *film, int64_t ms)
{
    int64_t parts = ms * 10000000 / film->duration;
    pw_str_add(out, "%" PRId64 ".%05" PRId64 "%%", parts / 100000, parts % 100000);
}

/* Writes when layer i is visible: from its time until the next whole layer. step-end holds each value until
 * the next keyframe; at the missing last one the layer is visible, as without an animation. */
static void put_keyframes(struct pw_str *out, const struct pw_film *film, int i)
{
    int covered = i + 1;
    while (covered < film->n && !film->layer[covered].whole)
        covered++;
    if (i == 0 && covered == film->n)
        return; /* always visible */
    pw_str_add(out, "#f%d{animation-name:k%d}\n@keyframes k%d{", i, i, i);
    if (i > 0)
        pw_str_add(out, "0%%{visibility:hidden}");
    put_percent(out, film, film->layer[i].at);
    pw_str_add(out, "{visibility:visible}");
    if (covered < film->n) {
        put_percent(out, film, film->layer[covered].at);
        pw_str_add(out, "{visibility:hidden}");
    }
    pw_str_add(out, "}\n");
}

void pw_film_svg(const struct pw_film *film, struct pw_str *out)
{
    struct pw_str style = {0};
    pw_str_add(&style, "<style>\n.f{animation:%" PRId64 "ms step-end infinite}\n", film->duration);
    for (int i = 0; i < film->n; i++)
        put_keyframes(&style, film, i);
    pw_str_add(&style, "@media(prefers-reduced-motion:reduce){.f{animation:none!important}}\n</style>\n");
    pw_canvas_svg_open(film->next.rows, film->next.cols, film->light, style.s, out);
    pw_str_fini(&style);
    for (int i = 0; i < film->n; i++) {
        pw_str_add(out, "<g id=\"f%d\" class=\"f\">\n", i);
        pw_str_put(out, film->layer[i].svg.s, film->layer[i].svg.len);
        pw_str_add(out, "</g>\n");
    }
    pw_canvas_svg_close(out);
}
