/* lengths_errors.c - how answers fail: the position of the first wrong token, and the kind of error.
 *
 * Rows are lengths, columns are the answer's tokens. A cell is the share of answers with the first wrong
 * token at that position. A dark column is a position without errors; a diagonal shows answers that break off
 * at a constant distance from their end. Beside the map are the end marks: answers that stop early, answers
 * that do not stop, and the exact match with a forced end. Replicas are counted together. */
#include <stdio.h>
#include <string.h>

#include "ui/panes/lengths.h"

enum { LEFT = 7, COLUMN = 7, COLUMNS = 5 };

/* The answer's tokens in the map: several columns per token, or several tokens per column. */
struct map {
    int n, w, pool, cols;
    float most;
};

static struct map fit(int places, float most, int room)
{
    struct map m = {.n = places, .w = 1, .pool = 1, .most = most > 0 ? most : 1};

    while ((places + m.pool - 1) / m.pool > room)
        m.pool++;
    while (m.pool == 1 && m.w < 3 && places * (m.w + 1) <= room)
        m.w++;
    m.cols = (places + m.pool - 1) / m.pool * m.w;
    return m;
}

static void draw_map_row(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r, int y,
                         const struct map *m, const struct pw_error_sum *s, int cursor)
{
    for (int k = 0; k < m->n; k += m->pool) {
        int64_t most = 0;
        int x = r.x + LEFT + k / m->pool * m->w;
        for (int i = k; i < k + m->pool && i < m->n; i++)
            most = s->places[i] > most ? s->places[i] : most;
        if (!pw_error_beyond(s, k, most))
            pw_heat_cell(&ui->look, c, r, y, x, m->w, (float)pw_error_share(most, s), 0, m->most, false);
        if (cursor >= k && cursor < k + m->pool) {
            struct pw_style at = pw_style_value((float)pw_error_share(most, s) / m->most, false);
            at.attr |= PW_BOLD;
            pw_draw_cell(c, r, y, x + m->w / 2, at, '+');
        }
    }
}

static void draw_head(struct pw_canvas *c, struct pw_rect r, const struct map *m, int numbers)
{
    static const char *const names[COLUMNS] = {"exact", "forced", "early", "late", "wrong"};

    pw_draw_text(c, r, r.y, r.x, pw_style_dim(), "length");
    int free_from = r.x + LEFT;
    for (int k = 0; k < m->n; k += m->pool) {
        char text[16];
        int x = r.x + LEFT + k / m->pool * m->w;
        if (x < free_from || (k > 0 && (k + 1) % 5 != 0 && m->pool == 1))
            continue;
        snprintf(text, sizeof text, "%d", k + 1);
        free_from = pw_draw_cut(c, r, r.y, x, pw_style_dim(), text, r.x + LEFT + m->cols - x) + 1;
    }
    for (int i = 0; numbers >= 0 && i < COLUMNS; i++)
        pw_draw_fmt(c, r, r.y, numbers + i * COLUMN, pw_style_dim(), "%7s", names[i]);
}

static void draw_numbers(struct pw_canvas *c, struct pw_rect r, int y, int x, const struct pw_error_sum *s)
{
    const int64_t n[COLUMNS] = {s->exact, s->exact + s->errors[PW_ERROR_LATE], s->errors[PW_ERROR_EARLY],
                                s->errors[PW_ERROR_LATE], s->errors[PW_ERROR_WRONG]};

    for (int i = 0; i < COLUMNS; i++) {
        struct pw_style style = n[i] == 0 ? pw_style_dim() : i == 0 ? pw_style_bold() : pw_style_plain();
        pw_draw_fmt(c, r, y, x + i * COLUMN, style, "%6.0f%%", 100 * pw_error_share(n[i], s));
    }
}

/* Draws the outcomes of all answers as parts of one bar: exact, late, wrong, early. */
static void draw_bar(struct pw_canvas *c, struct pw_rect r, int y, int x, int w, const struct pw_error_sum *s)
{
    const int64_t parts[] = {s->exact, s->errors[PW_ERROR_LATE], s->errors[PW_ERROR_WRONG],
                             s->errors[PW_ERROR_EARLY]};
    const struct pw_style styles[] = {pw_style_ok(), pw_style_warn(), pw_style_bad(), pw_style_plain()};
    static const uint32_t glyphs[] = {0x2588, 0x2593, 0x2592, 0x2591};
    double end = 0;
    int at = 0;

    for (int i = 0; i < 4; i++) {
        end += pw_error_share(parts[i], s) * w;
        for (; at < (int)(end + 0.5); at++)
            pw_draw_cell(c, r, y, x + at, styles[i], glyphs[i]);
    }
}

static void draw_readout(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r, int rows,
                         const struct pw_arm_view *a, const struct pw_lengths *v, const struct map *m)
{
    int length = v->lengths[pw_lengths_cursor(ui, v)], place = ui->lengths.place;
    struct pw_error_sum s = pw_error_sum_at(a, v->task, length);
    struct pw_str text = {0};

    pw_arm_short(ui, a, &text);
    if (s.samples == 0)
        pw_str_add(&text, "  length %d: not evaluated", length);
    else
        pw_str_add(&text, "  length %d, token %d%s: %lld of %lld first wrong there  brightest %.0f%%", length,
                   place + 1, place == PW_PLACES - 1 ? " or later" : "", (long long)s.places[place],
                   (long long)s.samples, 100 * (double)m->most);
    pw_draw_parts(c, r, rows, pw_style_plain(), &text);
    pw_str_fini(&text);
}

/* The rows below the map, and the columns beside it. */
struct sheet {
    int key, readout;
    struct map m;
    int numbers, bar; /* first columns; numbers is -1 if there is no room for both */
};

/* Places the page in r; returns false if the arm was not evaluated. */
static bool lay_out(struct sheet *s, const struct pw_arm_view *arm, const struct pw_lengths *v,
                    struct pw_rect r)
{
    float most = 0;

    if (arm == NULL || arm->rep[0].eval.n == 0)
        return false;
    int places = pw_error_places(arm, v, &most);
    int beside = r.w >= LEFT + 12 + COLUMNS * COLUMN ? COLUMNS * COLUMN + 1 : 0;
    *s = (struct sheet){.key = r.h >= 6,
                        .readout = r.h >= 12 ? 2 : r.h >= 3,
                        .m = fit(places, most, r.w > LEFT + beside ? r.w - LEFT - beside : 1)};
    s->numbers = beside > 0 ? r.x + LEFT + s->m.cols : -1;
    s->bar = s->numbers + COLUMNS * COLUMN + 2;
    return true;
}

void pw_lengths_errors_areas(const struct pw_ui *ui, struct pw_rect r, const struct pw_lengths *v,
                             struct pw_lengths_areas *a)
{
    struct sheet s;

    if (!lay_out(&s, pw_find_arm(ui->snap, ui->snap->current), v, r))
        return;
    int below = s.readout + s.key;
    pw_lengths_list(ui, pw_lengths_cursor(ui, v), v->n, (struct pw_rect){r.y + 1, r.x, r.h - 1 - below, r.w},
                    a);
    a->places = (struct pw_rect){r.y, r.x + LEFT, r.h - below, s.m.cols};
    a->place_w = s.m.w, a->place_n = s.m.pool;
}

void pw_lengths_errors_settle(struct pw_ui *ui, const struct pw_lengths *v)
{
    const struct pw_arm_view *arm = pw_find_arm(ui->snap, ui->snap->current);
    float most = 0;

    if (arm != NULL && arm->rep[0].eval.n > 0)
        ui->lengths.place = pw_within(ui->lengths.place, pw_error_places(arm, v, &most));
}

void pw_lengths_errors(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r,
                       const struct pw_lengths *v)
{
    const struct pw_arm_view *a = pw_find_arm(ui->snap, ui->snap->current);
    struct pw_lengths_areas areas;
    struct sheet at;

    if (!lay_out(&at, a, v, r)) {
        static const char *const lines[] = {"the current arm was not evaluated", ":eval",
                                            "then: the first wrong tokens of its answers", NULL};
        pw_draw_missing(ui, c, r, lines);
        return;
    }
    const struct map m = at.m;
    int numbers = at.numbers, bar = at.bar;
    pw_lengths_errors_areas(ui, r, v, &areas);
    draw_head(c, r, &m, numbers);
    int room = r.x + r.w - bar < 40 ? r.x + r.w - bar : 40;
    if (numbers >= 0 && room >= 10)
        pw_draw_cut(c, r, r.y, bar, pw_style_dim(), "answers", room);
    for (int i = 0; i < areas.table.h; i++) {
        int length = v->lengths[areas.first + i], y = areas.table.y + i;
        bool here = areas.first + i == pw_lengths_cursor(ui, v);
        struct pw_error_sum s = pw_error_sum_at(a, v->task, length);
        pw_lengths_label(c, r, y, length, pw_lengths_trained(v, length), here);
        if (s.samples == 0)
            continue;
        draw_map_row(ui, c, r, y, &m, &s, here ? ui->lengths.place : -1);
        if (numbers >= 0)
            draw_numbers(c, r, y, numbers, &s);
        if (numbers >= 0 && room >= 10)
            draw_bar(c, r, y, bar, room, &s);
    }
    if (at.key) {
        struct pw_str meaning = {0};
        pw_str_add(&meaning, "%s",
                   room >= 10 && numbers >= 0
                       ? "map: share first wrong there  bar: █ exact ▓ late ▒ wrong ░ early"
                       : "map: share of answers first wrong there  early, late: the end mark");
        pw_draw_parts(c, (struct pw_rect){r.y, r.x, r.h - at.readout, r.w}, 1, pw_style_dim(), &meaning);
        pw_str_fini(&meaning);
    }
    if (at.readout)
        draw_readout(ui, c, r, at.readout, a, v, &m);
}

void pw_lengths_copy_errors(const struct pw_ui *ui, const struct pw_lengths *v, struct pw_str *out)
{
    const struct pw_arm_view *a = pw_find_arm(ui->snap, ui->snap->current);
    float most = 0;
    int places = a != NULL ? pw_error_places(a, v, &most) : 0;

    pw_str_add(out, "length\tsamples\texact\tforced\tearly\tlate\twrong");
    for (int k = 0; k < places; k++)
        pw_str_add(out, "\ttoken %d", k + 1);
    pw_str_add(out, "\n");
    for (int i = 0; a != NULL && i < v->n; i++) {
        struct pw_error_sum s = pw_error_sum_at(a, v->task, v->lengths[i]);
        if (s.samples == 0)
            continue;
        pw_str_add(out, "%d\t%lld\t%lld\t%lld", v->lengths[i], (long long)s.samples, (long long)s.exact,
                   (long long)(s.exact + s.errors[PW_ERROR_LATE]));
        for (int k = 0; k < PW_ERRORS; k++)
            pw_str_add(out, "\t%lld", (long long)s.errors[k]);
        for (int k = 0; k < places; k++)
            if (pw_error_beyond(&s, k, s.places[k]))
                pw_str_add(out, "\t");
            else
                pw_str_add(out, "\t%lld", (long long)s.places[k]);
        pw_str_add(out, "\n");
    }
}
