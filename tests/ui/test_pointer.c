/* test_pointer.c - tests that the read-out is of the cell under the pointer: the encoding pane's pages, the
 * lists and maps of the lengths pane. Clicks and moves are sent as a terminal's bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "ref_screen.h"
#include "ui/mouse.h"
#include "ui/panes/encoding.h"
#include "ui/panes/lengths.h"

struct desk {
    struct pw_snapshot *s;
    struct pw_ui ui;
    struct pw_canvas c;
    struct pw_str text, line;
};

static void redraw(struct desk *d)
{
    pw_ui_frame(&d->ui, &d->c);
    pw_str_clear(&d->text);
    pw_canvas_text(&d->c, &d->text);
}

static void open_desk(struct desk *d, int pane, enum screen_table kind, int rows, int cols)
{
    *d = (struct desk){.s = screen_race()};
    screen_set_table(d->s, kind);
    d->ui = screen_ui(d->s, PW_COLORS_TRUE, true);
    d->ui.focus = pane, d->ui.zoom = true;
    pw_canvas_init(&d->c);
    pw_canvas_resize(&d->c, rows, cols);
    redraw(d);
}

static void close_desk(struct desk *d)
{
    pw_str_fini(&d->text);
    pw_str_fini(&d->line);
    pw_canvas_fini(&d->c);
    pw_snapshot_free(d->s);
}

static void press(struct desk *d, const char *keys)
{
    for (; *keys; keys++)
        assert_true(pw_ui_key(&d->ui, *keys, &d->line));
    redraw(d);
}

enum { PRESS = 0, DRAG = 32, MOVE = 35 };

/* Sends a terminal's report. Returns whether it changed the view. Its command line is d->line. */
static bool send(struct desk *d, int what, int y, int x)
{
    char bytes[64];
    struct pw_keys k;
    struct pw_input in;

    int n = snprintf(bytes, sizeof bytes, "\033[<%d;%d;%dM", what, x + 1, y + 1);
    pw_keys_init(&k);
    pw_keys_feed(&k, bytes, (size_t)n);
    assert_true(pw_keys_next(&k, &in));
    pw_keys_fini(&k);
    pw_str_clear(&d->line);
    if (what == MOVE)
        return pw_ui_hover(&d->ui, &in);
    pw_ui_mouse(&d->ui, &in, &d->line);
    return true;
}

static bool point(struct desk *d, int what, int y, int x)
{
    bool changed = send(d, what, y, x);

    redraw(d);
    return changed;
}

static void shows(struct desk *d, const char *what)
{
    if (strstr(d->text.s, what) == NULL)
        fail_msg("'%s' is not in\n%s", what, d->text.s);
}

/* The row of a text, the first from `from` on. */
static int row_of(struct desk *d, const char *what, int from)
{
    const char *line = d->text.s;

    for (int y = 0; line != NULL; y++, line = strchr(line, '\n')) {
        line += *line == '\n';
        const char *end = strchrnul(line, '\n'), *at = strstr(line, what);
        if (y >= from && at != NULL && at < end)
            return y;
    }
    fail_msg("'%s' is not in\n%s", what, d->text.s);
    return -1;
}

static uint32_t glyph_at(struct desk *d, int y, int x)
{
    return d->c.cells[(size_t)y * (size_t)d->c.cols + (size_t)x].cp;
}

static struct pw_rect inside_of(const struct desk *d, int pane)
{
    struct pw_layout l;
    pw_ui_layout(&d->ui, d->ui.rows, d->ui.cols, &l);
    return pw_ui_inside(&l, pane);
}

static struct pw_enc_area first_area(const struct desk *d)
{
    struct pw_enc_areas a;
    pw_enc_find_areas(&d->ui, inside_of(d, PW_PANE_ENCODING), &a);
    assert_true(a.n > 0);
    return a.area[0];
}

static struct pw_lengths_areas lengths_areas(const struct desk *d)
{
    struct pw_lengths_areas a;
    pw_lengths_find_areas(&d->ui, inside_of(d, PW_PANE_LENGTHS), &a);
    return a;
}

/* ---- the encoding */

/* Moves over every row, and over every column of some rows. Counts the different values of each cursor, and
 * checks that a resting pointer changes nothing more. */
static void sweep(struct desk *d, int seen[PW_ENC_CURSORS])
{
    bool met[PW_ENC_CURSORS][64] = {{false}};

    for (int y = 1; y < d->c.rows - 2; y++)
        for (int x = 1 + y % 5; x < d->c.cols - 1; x += 5) {
            bool hit = send(d, MOVE, y, x);
            pw_ui_frame(&d->ui, &d->c);
            if (hit && send(d, MOVE, y, x))
                fail_msg("row %d column %d: it moves under the pointer", y, x);
            for (int i = 0; i < PW_ENC_CURSORS; i++)
                if (d->ui.encoding.cursor[i] < 64)
                    met[i][d->ui.encoding.cursor[i]] = true;
        }
    for (int i = 0; i < PW_ENC_CURSORS; i++) {
        seen[i] = 0;
        for (int k = 0; k < 64; k++)
            seen[i] += met[i][k];
    }
}

/* The pointer reaches all values of a page: 32 distances, 4 heads, 8 buckets and pairs, 64 dimensions. */
static void every_value_is_reached(void **state)
{
    static const struct {
        enum screen_table kind;
        const char *keys;
        int seen[PW_ENC_CURSORS]; /* distance, head, bucket, pair, column, other, key, entry, query, part,
                                     place */
    } pages[] = {
        {SCREEN_T5, "", {32, 4, 8, 1, 1, 1}},
        {SCREEN_T5, "v", {8, 4, 8, 1, 1, 1}},
        {SCREEN_T5, "vv", {30, 1, 8, 1, 1, 1}},
        {SCREEN_T5, "vvv", {32, 4, 8, 1, 1, 1}},
        {SCREEN_ALIBI, "", {32, 4, 1, 1, 1, 1}},
        {SCREEN_ALIBI, "v", {32, 4, 1, 1, 1, 1}},
        {SCREEN_ROTARY, "", {32, 1, 1, 8, 1, 1}},
        {SCREEN_ROTARY, "v", {32, 1, 1, 1, 1, 1}},
        {SCREEN_ROTARY, "vv", {32, 4, 1, 1, 1, 1}},
        {SCREEN_LEARNED, "", {32, 1, 1, 1, 64, 1}},
        {SCREEN_LEARNED, "v", {32, 1, 1, 1, 1, 32}},
        {SCREEN_LEARNED, "vv", {32, 4, 1, 1, 1, 1}},
        {SCREEN_NONE, "", {32, 4, 1, 1, 1, 1}},
        {SCREEN_SHAW, "", {1, 1, 1, 1, 1, 1, 13, 16}},
        {SCREEN_FIRE, "", {32, 4, 1, 1, 1, 1}},
        {SCREEN_FIRE, "v", {32, 1, 1, 1, 1, 1, 1, 1, 8}},
        {SCREEN_FORMULA, "v", {1, 4, 1, 1, 1, 1, 1, 1, 1, 12, 16}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
        struct desk d;
        int seen[PW_ENC_CURSORS];
        open_desk(&d, PW_PANE_ENCODING, pages[i].kind, 46, 120);
        press(&d, pages[i].keys);
        sweep(&d, seen);
        for (int k = 0; k < PW_ENC_CURSORS; k++)
            if (seen[k] < pages[i].seen[k])
                fail_msg("table %d, page '%s': cursor %d came to %d values, not %d", (int)pages[i].kind,
                         pages[i].keys, k, seen[k], pages[i].seen[k]);
        close_desk(&d);
    }
}

/* Nothing moves under the pointer, also at a size at which maps are pooled and lists scroll. */
static void nothing_moves_under_it(void **state)
{
    static const int sizes[][2] = {{24, 80}, {9, 40}};
    (void)state;
    for (int kind = SCREEN_NONE; kind < SCREEN_TABLES; kind++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            struct desk d;
            int seen[PW_ENC_CURSORS];
            open_desk(&d, PW_PANE_ENCODING, (enum screen_table)kind, sizes[i][0], sizes[i][1]);
            for (int page = 0; page < 4; page++) {
                sweep(&d, seen);
                press(&d, "v");
            }
            close_desk(&d);
        }
}

/* The mark is at the pointer: in the same column of a curve, on the same row of a list or a map. */
static void its_mark_is_there(void **state)
{
    struct desk d;
    (void)state;
    open_desk(&d, PW_PANE_ENCODING, SCREEN_ROTARY, 40, 120);
    press(&d, "v");
    const struct pw_rect plot = first_area(&d).r;
    for (int x = plot.x; x < plot.x + plot.w; x += 7) {
        int marks = 0, near = 0;
        point(&d, MOVE, plot.y + 3, x);
        for (int i = 0; i < plot.h * plot.w; i++)
            if (glyph_at(&d, plot.y + i / plot.w, plot.x + i % plot.w) == 0x25cf) {
                int off = plot.x + i % plot.w - x;
                marks++, near += off >= -4 && off <= 4; /* 32 distances in about 110 columns */
            }
        assert_int_equal(marks, 1);
        assert_int_equal(near, 1);
    }
    close_desk(&d);

    open_desk(&d, PW_PANE_ENCODING, SCREEN_LEARNED, 46, 120);
    int y = row_of(&d, "  20 ┊", 0);
    point(&d, MOVE, y, 30);
    assert_int_equal(d.ui.encoding.cursor[PW_ENC_DISTANCE], 20); /* in the gap of unseen positions */
    assert_int_equal(glyph_at(&d, y, 30), 0x25aa);
    shows(&d, "position 20 dimension 23: ");
    point(&d, MOVE, row_of(&d, "   2 ┃", 0), 2); /* a label: selects only its row */
    shows(&d, "position 2 dimension 23: ");
    close_desk(&d);
}

static void it_is_read_out_in_words(void **state)
{
    struct desk d;
    (void)state;
    open_desk(&d, PW_PANE_ENCODING, SCREEN_T5, 30, 120);
    press(&d, "v");
    point(&d, MOVE, row_of(&d, "  5 6–7", 0), row_of(&d, "h0", 0)); /* a column left of the heads' */
    shows(&d, "bucket 5: distance 6–7  head 0 ");
    assert_int_equal(d.line.len, 0);
    point(&d, PRESS, row_of(&d, "  3 3 ", 0), 3);
    shows(&d, "▸  3 3");
    press(&d, "v"); /* query 9, key 4 */
    point(&d, MOVE, row_of(&d, "     9 ", 0), 1 + 7 + 4 * 3);
    shows(&d, "distance 5 → bucket 4");
    assert_false(point(&d, MOVE, row_of(&d, "     9 ", 0), 1 + 7 + 12 * 3)); /* a key that is masked */
    close_desk(&d);

    open_desk(&d, PW_PANE_ENCODING, SCREEN_ALIBI, 24, 80);
    point(&d, MOVE, row_of(&d, " d   12", 0), 20);
    shows(&d, "distance 12  head 0 -3.000");
    shows(&d, "▸d   12");
    close_desk(&d);

    open_desk(&d, PW_PANE_ENCODING, SCREEN_ROTARY, 30, 120);
    point(&d, MOVE, row_of(&d, "   6  ", 0), 10);
    shows(&d, "pair 6 has turned");
    close_desk(&d);
}

/* A list that doesn't fit stays in place while the pointer moves through it, and scrolls again with the
 * keys. */
static void a_list_stays_under_the_pointer(void **state)
{
    struct desk d;
    (void)state;
    open_desk(&d, PW_PANE_ENCODING, SCREEN_ROTARY, 10, 60);
    press(&d, "jjjj");
    int top = first_area(&d).first, y = first_area(&d).r.y;
    assert_true(top > 0 && first_area(&d).r.h >= 3);
    for (int i = 0; i < 3; i++) {
        point(&d, i == 1 ? PRESS : MOVE, y + i, 10);
        assert_int_equal(first_area(&d).first, top);
        assert_int_equal(d.ui.encoding.cursor[PW_ENC_PAIR], top + i);
    }
    press(&d, "gkkkkkkkk");
    assert_int_equal(first_area(&d).first, 0);
    close_desk(&d);
}

/* ---- lengths */

static void failing_examples(void **state)
{
    struct desk d;
    (void)state;
    open_desk(&d, PW_PANE_LENGTHS, SCREEN_AS_IS, 24, 80);
    screen_set_failing(d.s, 30);
    press(&d, "V");
    int y = row_of(&d, "#0 ", 0);
    point(&d, MOVE, y + 4, 20);
    assert_int_equal(d.ui.lengths.chosen, 4);
    assert_int_equal(d.line.len, 0); /* moving the pointer pins no prompt */
    shows(&d, "#12   right by now");
    point(&d, PRESS, y + 2, 20);
    assert_string_equal(pw_str_text(&d.line), "failing length=12 index=6");
    point(&d, DRAG, y + 3, 20);
    assert_int_equal(d.ui.lengths.chosen, 3);
    assert_int_equal(d.line.len, 0);
    press(&d, "G"); /* the list has scrolled, and stays there */
    y = row_of(&d, "#60 ", 0);
    point(&d, MOVE, y, 5);
    assert_int_equal(d.ui.lengths.chosen, 20);
    assert_int_equal(row_of(&d, "#60 ", 0), y);
    point(&d, PRESS, y, 5);
    assert_string_equal(pw_str_text(&d.line), "failing length=12 index=60");
    point(&d, PRESS, row_of(&d, "prompt sort", 0), 5); /* below the list */
    assert_int_equal(d.line.len, 0);
    close_desk(&d);
}

static void where_answers_go_wrong(void **state)
{
    struct desk d;
    (void)state;
    open_desk(&d, PW_PANE_LENGTHS, SCREEN_AS_IS, 24, 100);
    d.ui.lengths.page = 4;
    redraw(&d);
    const struct pw_rect map = lengths_areas(&d).places, rows = lengths_areas(&d).table;
    assert_true(map.h > 3 && rows.h > 3);
    point(&d, MOVE, rows.y + 2, map.x + 3 * lengths_areas(&d).place_w);
    assert_int_equal(d.ui.lengths.place, 3);
    assert_int_equal(d.ui.lengths.cursor, lengths_areas(&d).first + 2);
    shows(&d, "length 4, token 4:");
    point(&d, MOVE, rows.y + 3, map.x + map.w + 3); /* its numbers: selects only the length */
    shows(&d, "length 5, token 4:");
    close_desk(&d);
}

/* The table of lengths under the pointer, also if not all lengths fit. */
static void a_long_table(void **state)
{
    struct desk d;
    (void)state;
    open_desk(&d, PW_PANE_LENGTHS, SCREEN_AS_IS, 24, 80);
    press(&d, "jjjjjjjj");
    const struct pw_rect r = lengths_areas(&d).table;
    int first = lengths_areas(&d).first;
    assert_true(first > 0 && r.h > 2);
    for (int i = 0; i < r.h; i++) {
        point(&d, MOVE, r.y + i, 4);
        assert_int_equal(lengths_areas(&d).first, first);
        assert_int_equal(d.ui.lengths.cursor, first + i);
    }
    press(&d, "j");
    assert_true(lengths_areas(&d).first > first);
    close_desk(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_value_is_reached),
        cmocka_unit_test(nothing_moves_under_it),
        cmocka_unit_test(its_mark_is_there),
        cmocka_unit_test(it_is_read_out_in_words),
        cmocka_unit_test(a_list_stays_under_the_pointer),
        cmocka_unit_test(failing_examples),
        cmocka_unit_test(where_answers_go_wrong),
        cmocka_unit_test(a_long_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
