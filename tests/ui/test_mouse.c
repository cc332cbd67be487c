/* test_mouse.c - tests decoding of a terminal's bytes as keys, clicks and drags, and their effects. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "ref_screen.h"
#include "ui/mouse.h"
#include "ui/panes/curves.h"
#include "ui/panes/encoding.h"
#include "ui/panes/lengths.h"
#include "ui/search.h"

/* Feeds bytes, and returns the decoded keys. */
static int decode(const char *bytes, struct pw_input *in, int max)
{
    struct pw_keys k;
    int n = 0;
    pw_keys_init(&k);
    assert_int_equal(pw_keys_feed(&k, bytes, strlen(bytes)), strlen(bytes));
    while (n < max && pw_keys_next(&k, &in[n]))
        n++;
    pw_keys_fini(&k);
    return n;
}

static void keys_by_their_bytes(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        int key;
    } keys[] = {
        {"\033[1;2C", PW_KEY_SHIFT_RIGHT},
        {"\033[1;2D", PW_KEY_SHIFT_LEFT},
        {"\033[1;5C", PW_KEY_RIGHT},
        {"\033[C", PW_KEY_RIGHT},
        {"\033OD", PW_KEY_LEFT},
        {"\033OP", PW_KEY_F1},
        {"\033OS", PW_KEY_F1 + 3},
        {"\033[15~", PW_KEY_F1 + 4},
        {"\033[21~", PW_KEY_F1 + 9},
        {"\033[24~", PW_KEY_F12},
        {"\033[[E", PW_KEY_F1 + 4},
        {"\033[3~", PW_KEY_DELETE},
        {"\033[16~", 0},
        {"\033[99~", 0},
        {"\022", 'R' & 31},
        {"\033[Z", PW_KEY_BACKTAB},
    };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        struct pw_input in[2];
        assert_int_equal(decode(keys[i].bytes, in, 2), 1);
        if (in[0].key != keys[i].key)
            fail_msg("key %zu: %x, not %x", i, in[0].key, keys[i].key);
    }
}

static void reports_by_their_bytes(void **state)
{
    (void)state;
    struct pw_input in[8];
    assert_int_equal(decode("\033[<0;5;7M\033[<32;6;8M\033[<0;6;8m\033[<64;1;1M\033[<2;1;1M", in, 8), 5);
    for (int i = 0; i < 5; i++)
        assert_int_equal(in[i].key, PW_KEY_MOUSE);
    assert_true(in[0].mouse == PW_MOUSE_PRESS && in[0].button == PW_BUTTON_LEFT && in[0].x == 4 &&
                in[0].y == 6);
    assert_true(in[1].mouse == PW_MOUSE_DRAG && in[1].button == PW_BUTTON_LEFT && in[1].x == 5 &&
                in[1].y == 7);
    assert_true(in[2].mouse == PW_MOUSE_RELEASE && in[2].button == PW_BUTTON_LEFT);
    assert_true(in[3].mouse == PW_MOUSE_PRESS && in[3].button == PW_BUTTON_WHEEL_UP);
    assert_true(in[4].mouse == PW_MOUSE_PRESS && in[4].button == PW_BUTTON_OTHER);
    /* the old protocol, which doesn't report the released button; and invalid reports */
    assert_int_equal(decode("\033[M %'\033[M#%'\033[M@%'\033[MC%'", in, 8), 4);
    assert_true(in[0].mouse == PW_MOUSE_PRESS && in[0].x == 4 && in[0].y == 6);
    assert_true(in[1].mouse == PW_MOUSE_RELEASE);
    assert_true(in[2].mouse == PW_MOUSE_DRAG || in[2].button == PW_BUTTON_WHEEL_UP);
    assert_true(in[3].mouse == PW_MOUSE_MOVE && in[3].x == 4 && in[3].y == 6);
    assert_int_equal(decode("\033[<0;0;7M\033[<64;1;1m\033[<96;1;1M", in, 8), 0);
}

/* ---- on the screen */

struct bench {
    struct pw_snapshot *s;
    struct pw_ui ui;
    struct pw_canvas c;
    struct pw_str line;
};

static int setup(void **state)
{
    static struct bench b;
    b = (struct bench){.s = screen_race()};
    b.ui = screen_ui(b.s, PW_COLORS_TRUE, true);
    pw_canvas_init(&b.c);
    pw_canvas_resize(&b.c, 48, 160);
    pw_ui_frame(&b.ui, &b.c);
    *state = &b;
    return 0;
}

static int teardown(void **state)
{
    struct bench *b = *state;
    pw_canvas_fini(&b->c);
    pw_str_fini(&b->line);
    pw_snapshot_free(b->s);
    return 0;
}

/* Sends the terminal's bytes for one action of the left button. */
static bool left(struct bench *b, enum pw_mouse what, int y, int x)
{
    char bytes[64];
    struct pw_input in[1];
    snprintf(bytes, sizeof bytes, "\033[<%d;%d;%d%c", what == PW_MOUSE_DRAG ? 32 : 0, x + 1, y + 1,
             what == PW_MOUSE_RELEASE ? 'm' : 'M');
    assert_int_equal(decode(bytes, in, 1), 1);
    bool dragging = pw_ui_mouse(&b->ui, in, &b->line);
    pw_ui_frame(&b->ui, &b->c);
    return dragging;
}

static struct pw_layout layout(struct bench *b)
{
    struct pw_layout l;
    pw_ui_layout(&b->ui, b->c.rows, b->c.cols, &l);
    return l;
}

static void a_click_focuses(void **state)
{
    struct bench *b = *state;
    for (int i = 0; i < PW_PANES; i++) {
        struct pw_rect r = layout(b).panes[i];
        if (r.h == 0) /* it shares its corner with the pane that was shown last */
            continue;
        left(b, PW_MOUSE_PRESS, r.y + r.h / 2, r.x + r.w / 2);
        assert_false(left(b, PW_MOUSE_RELEASE, r.y + r.h / 2, r.x + r.w / 2));
        assert_int_equal(b->ui.focus, i);
    }
    left(b, PW_MOUSE_PRESS, 0, 0); /* the status line belongs to no pane */
    assert_int_equal(b->ui.focus, PW_PANE_LOG);
    assert_int_equal(b->line.len, 0);
}

/* Also if the pane didn't have the focus: the same cell is under the pointer before and after. */
static void a_click_reaches_its_pane(void **state)
{
    struct bench *b = *state;
    static const int sizes[][2] = {{48, 160}, {36, 120}, {60, 120}, {60, 200}, {36, 120}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        int lines = 0;
        b->ui.half = i == 4; /* another pane has half of the screen */
        pw_canvas_resize(&b->c, sizes[i][0], sizes[i][1]);
        pw_ui_focus(&b->ui, PW_PANE_STEP);
        pw_ui_focus(&b->ui, PW_PANE_LENGTHS);
        b->ui.half_of = PW_PANE_ATTENTION;
        pw_ui_frame(&b->ui, &b->c);
        struct pw_rect r = layout(b).panes[PW_PANE_STEP];
        assert_true(r.h > 0);
        for (int x = r.x + 1; x < r.x + r.w - 1; x++) {
            pw_str_clear(&b->line);
            if (b->ui.half)
                pw_ui_focus(&b->ui, PW_PANE_ATTENTION);
            else
                pw_ui_focus(&b->ui, PW_PANE_LENGTHS);
            left(b, PW_MOUSE_PRESS, r.y + 1, x);
            left(b, PW_MOUSE_RELEASE, r.y + 1, x);
            assert_int_equal(b->ui.focus, PW_PANE_STEP);
            struct pw_rect after = layout(b).panes[PW_PANE_STEP];
            assert_memory_equal(&after, &r, sizeof r);
            lines += b->line.len > 0;
        }
        assert_true(lines > 0); /* on the tokens of the answer */
    }
}

/* A border can be grabbed by either of its two cells and follows the pointer; its neighbours stay. */
static void borders_are_dragged(void **state)
{
    struct bench *b = *state;
    for (int cell = 0; cell < 2; cell++) {
        struct pw_rect before = layout(b).panes[PW_PANE_CURVES], other = layout(b).panes[PW_PANE_STEP];
        int x = before.x + before.w - 1 + cell, y = before.y + 3;
        assert_true(left(b, PW_MOUSE_PRESS, y, x));
        assert_int_equal(layout(b).panes[PW_PANE_CURVES].w, before.w);
        assert_true(left(b, PW_MOUSE_DRAG, y, x + 7));
        assert_int_equal(layout(b).panes[PW_PANE_CURVES].w, before.w + 7);
        assert_true(left(b, PW_MOUSE_DRAG, y + 9, x - 4)); /* leaving the row doesn't matter */
        assert_int_equal(layout(b).panes[PW_PANE_CURVES].w, before.w - 4);
        left(b, PW_MOUSE_DRAG, y, -5 + 6);
        assert_int_equal(layout(b).panes[PW_PANE_CURVES].w, 30); /* the minimum */
        left(b, PW_MOUSE_DRAG, y, x);
        assert_false(left(b, PW_MOUSE_RELEASE, y, x));
        assert_int_equal(layout(b).panes[PW_PANE_CURVES].w, before.w);
        assert_memory_equal(&layout(b).panes[PW_PANE_STEP], &other, sizeof other);
        left(b, PW_MOUSE_DRAG, y, x + 9); /* the button is released */
        assert_int_equal(layout(b).panes[PW_PANE_CURVES].w, before.w);
    }
    struct pw_rect top = layout(b).panes[PW_PANE_CURVES];
    left(b, PW_MOUSE_PRESS, top.y + top.h, top.x + 10);
    left(b, PW_MOUSE_DRAG, top.y + top.h - 5, top.x + 10);
    assert_int_equal(layout(b).panes[PW_PANE_CURVES].h, top.h - 5);
}

static void the_timeline_is_dragged(void **state)
{
    struct bench *b = *state;
    struct pw_rect r = layout(b).timeline;
    assert_int_equal(r.h, 1);
    assert_true(left(b, PW_MOUSE_PRESS, r.y, 30));
    int64_t there = b->ui.time;
    assert_in_range(there, 1, 300);
    left(b, PW_MOUSE_DRAG, r.y - 10, 50); /* wherever the pointer moves */
    assert_in_range(b->ui.time, there + 1, 500);
    left(b, PW_MOUSE_DRAG, r.y, 159);
    assert_int_equal(b->ui.time, -1); /* the right end is live */
    left(b, PW_MOUSE_RELEASE, r.y, 159);
    assert_int_equal(b->ui.focus, PW_PANE_LENGTHS);
}

static void the_wheel_scrolls_what_it_is_over(void **state)
{
    struct bench *b = *state;
    struct pw_rect r = layout(b).panes[PW_PANE_LOG];
    char bytes[32];
    struct pw_input in[1];
    for (int i = 0; i < 50; i++)
        screen_note(b->s, PW_EV_NOTE, "a line");
    snprintf(bytes, sizeof bytes, "\033[<64;%d;%dM", r.x + 3, r.y + 3);
    decode(bytes, in, 1);
    assert_false(pw_ui_mouse(&b->ui, in, &b->line));
    assert_int_equal(b->ui.log.up, 3);
    assert_int_equal(b->ui.focus, PW_PANE_LENGTHS);
}

/* Moves the pointer without a button. Returns whether that changed the view. */
static bool hover(struct bench *b, int y, int x)
{
    char bytes[64];
    struct pw_input in[1];
    snprintf(bytes, sizeof bytes, "\033[<35;%d;%dM", x + 1, y + 1);
    assert_int_equal(decode(bytes, in, 1), 1);
    assert_int_equal(in[0].mouse, PW_MOUSE_MOVE);
    bool changed = pw_ui_hover(&b->ui, in);
    pw_ui_frame(&b->ui, &b->c);
    return changed;
}

/* Over any cell of any page the focus stays, and the same cell again changes nothing. */
static void the_pointer_only_reads(void **state)
{
    struct bench *b = *state;
    static const int sizes[][2] = {{16, 60}, {24, 80}, {48, 160}, {3, 9}};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        for (int page = 0; page < 8; page++) {
            b->ui.focus = page % PW_PANES;
            b->ui.lengths.page = b->ui.encoding.page = b->ui.step.page = page % 7;
            b->ui.attention.overview = page % 2;
            b->ui.curves.zoom = page;
            pw_canvas_resize(&b->c, sizes[k][0], sizes[k][1]);
            pw_ui_frame(&b->ui, &b->c);
            for (int i = 0; i < sizes[k][0] * sizes[k][1]; i += 41) { /* every row, and various columns */
                int y = i / sizes[k][1], x = i % sizes[k][1];
                hover(b, y, x);
                hover(b, y, x); /* the new read-out may have moved the axis */
                if (hover(b, y, x))
                    fail_msg("%dx%d, page %d: again at row %d column %d is no rest", sizes[k][1], sizes[k][0],
                             page, y, x);
                assert_int_equal(b->ui.focus, page % PW_PANES);
            }
        }
}

static struct pw_lengths_areas lengths_areas(struct bench *b)
{
    struct pw_lengths_areas a;
    struct pw_layout l;
    pw_ui_layout(&b->ui, b->ui.rows, b->ui.cols, &l);
    pw_lengths_find_areas(&b->ui, pw_ui_inside(&l, PW_PANE_LENGTHS), &a);
    return a;
}

/* Each pane's cursor follows the pointer: every column of a plot is reached in turn. */
static void cursors_follow_the_pointer(void **state)
{
    struct bench *b = *state;
    struct pw_rect r = layout(b).panes[PW_PANE_CURVES];
    int64_t last = -1;
    struct pw_plot p;
    int y = r.y + r.h / 2;
    assert_true(pw_curves_field(&b->ui, pw_frame_inside(r), &p));
    for (int x = p.field.x; x < p.field.x + p.field.w; x++) {
        assert_true(hover(b, y, x));
        assert_true(b->ui.curves.cursor > last);
        last = b->ui.curves.cursor;
    }
    assert_true(hover(b, 0, 0)); /* the pointer has left */
    assert_int_equal(b->ui.curves.cursor, -1);
    left(b, PW_MOUSE_PRESS, y, p.field.x + 9);
    left(b, PW_MOUSE_RELEASE, y, p.field.x + 9);
    last = b->ui.curves.cursor;
    assert_true(last > 0);
    assert_false(hover(b, y, p.field.x + 3)); /* a cursor that was set stays */
    assert_false(hover(b, 0, 0));
    assert_int_equal(b->ui.curves.cursor, last);

    struct pw_lengths_areas a = lengths_areas(b);
    struct pw_rect plot = a.plot, table = a.table;
    assert_true(plot.h > 0 && table.h > 0);
    hover(b, plot.y, plot.x + plot.w - 1);
    int longest = b->ui.lengths.cursor;
    assert_true(longest > 0);
    hover(b, plot.y + plot.h - 1, plot.x);
    assert_int_equal(b->ui.lengths.cursor, 0);
    a = lengths_areas(b);
    int row = a.table.y + 2, want = a.first + 2;
    left(b, PW_MOUSE_PRESS, row, table.x + 1);
    left(b, PW_MOUSE_RELEASE, row, table.x + 1);
    assert_int_equal(b->ui.lengths.cursor, want);
}

/* Draws the state and checks that this changed none of its bytes. */
static void draw_only(const struct pw_ui *ui, struct pw_canvas *c)
{
    static unsigned char before[sizeof(struct pw_ui)];

    memcpy(before, ui, sizeof before);
    pw_ui_draw(ui, c);
    assert_memory_equal(before, ui, sizeof before);
}

/* A frame follows from state, snapshot and size: also after frames of another size, and the second time. */
static void drawing_changes_no_state(void **state)
{
    static const int sizes[][2] = {{48, 160}, {24, 80}, {60, 220}, {16, 60}};
    struct bench *b = *state;
    struct pw_canvas other, again;
    pw_canvas_init(&other);
    pw_canvas_init(&again);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int pane = 0; pane < PW_PANES; pane++)
            for (int page = 0; page < 6; page++) {
                int rows = sizes[i][0], cols = sizes[i][1];
                pw_ui_focus(&b->ui, pane);
                b->ui.lengths.page = b->ui.encoding.page = b->ui.step.page = page % 7;
                b->ui.attention.overview = page % 2, b->ui.attention.scroll = page % 3 == 2;
                b->ui.curves.zoom = page, b->ui.log.up = page == 5 ? 1 << 20 : page;
                b->ui.lengths.cursor = page * 7, b->ui.curves.cursor = page > 2 ? 100 * page : -1;
                b->ui.help = pane == 0 && page == 5;
                pw_search_begin(&b->ui, page == 4 ? "e" : "");
                pw_canvas_resize(&b->c, rows, cols);
                pw_canvas_resize(&other, sizes[(i + 1) % 4][0], sizes[(i + 1) % 4][1]);
                pw_canvas_resize(&again, rows, cols);
                pw_ui_settle(&b->ui, rows, cols);
                struct pw_ui elsewhere = b->ui;
                pw_ui_settle(&elsewhere, other.rows, other.cols);
                draw_only(&b->ui, &b->c);
                draw_only(&elsewhere, &other);
                draw_only(&b->ui, &again);
                size_t n = (size_t)rows * (size_t)cols;
                assert_memory_equal(b->c.cells, again.cells, n * sizeof *again.cells);
                pw_ui_settle(&b->ui, rows, cols); /* and to settle twice is to settle once */
                draw_only(&b->ui, &again);
                assert_memory_equal(b->c.cells, again.cells, n * sizeof *again.cells);
            }
    pw_canvas_fini(&other);
    pw_canvas_fini(&again);
}

static void click(struct bench *b, int y, int x)
{
    struct pw_input press = {
        .key = PW_KEY_MOUSE, .mouse = PW_MOUSE_PRESS, .button = PW_BUTTON_LEFT, .y = y, .x = x};
    struct pw_input release = press;
    release.mouse = PW_MOUSE_RELEASE;
    pw_ui_mouse(&b->ui, &press, &b->line);
    pw_ui_mouse(&b->ui, &release, &b->line);
}

/* A click goes to what is at its cell now: after another size, page or cursor that no frame has shown yet. */
static void a_click_needs_no_frame(void **state)
{
    struct bench *b = *state;
    struct pw_layout l;
    pw_ui_settle(&b->ui, 60, 220);
    pw_ui_layout(&b->ui, 60, 220, &l);
    for (int i = 0; i < PW_PANES; i++)
        if (l.panes[i].h > 0) {
            click(b, l.panes[i].y + l.panes[i].h / 2, l.panes[i].x + l.panes[i].w / 2);
            assert_int_equal(b->ui.focus, i);
        }

    pw_ui_focus(&b->ui, PW_PANE_LENGTHS);
    b->ui.zoom = true;
    pw_ui_settle(&b->ui, 24, 80); /* now the pane is alone, and its table scrolls */
    pw_ui_key(&b->ui, 'G', &b->line);
    struct pw_lengths_areas a = lengths_areas(b);
    assert_true(a.table.h > 1 && a.first > 0);
    click(b, a.table.y + 1, a.table.x + 1);
    assert_int_equal(b->ui.lengths.cursor, a.first + 1);
    pw_ui_key(&b->ui, 'v', &b->line);
    struct pw_lengths_areas errors = lengths_areas(b);
    assert_true(errors.places.h > 0 && errors.plot.h == 0);
    click(b, errors.table.y, errors.places.x + errors.place_w);
    assert_true(b->ui.lengths.place == errors.place_n && b->ui.lengths.cursor == errors.first);

    pw_ui_focus(&b->ui, PW_PANE_CURVES);
    pw_ui_layout(&b->ui, 24, 80, &l);
    struct pw_plot p;
    assert_true(pw_curves_field(&b->ui, pw_ui_inside(&l, PW_PANE_CURVES), &p));
    click(b, p.field.y, p.field.x + p.field.w - 1);
    assert_int_equal(b->ui.curves.cursor, (int64_t)p.x1);
    click(b, p.field.y, p.field.x);
    assert_int_equal(b->ui.curves.cursor, (int64_t)p.x0);

    pw_ui_focus(&b->ui, PW_PANE_ENCODING);
    pw_ui_settle(&b->ui, 30, 100);
    pw_ui_layout(&b->ui, 30, 100, &l);
    struct pw_enc_areas areas;
    pw_enc_find_areas(&b->ui, pw_ui_inside(&l, PW_PANE_ENCODING), &areas);
    assert_true(areas.n > 0);
    const struct pw_enc_area *first = &areas.area[0];
    int value;
    assert_true(pw_enc_area_at(first, first->r.y + first->r.h - 1, first->r.x + first->r.w - 1, &value));
    click(b, first->r.y + first->r.h - 1, first->r.x + first->r.w - 1);
    assert_int_equal(b->ui.encoding.cursor[first->cursor], value);
    assert_int_equal(b->line.len, 0);
}

/* No report may crash the program: at any place, in any order, at any size. */
static void any_report(void **state)
{
    struct bench *b = *state;
    unsigned n = 1;
    for (int i = 0; i < 3000; i++) {
        n = n * 1664525 + 1013904223;
        struct pw_input in = {.key = PW_KEY_MOUSE,
                              .y = (int)(n >> 8) % 120,
                              .x = (int)(n >> 16) % 330,
                              .button = (int)(n >> 28) % 4,
                              .mouse = (enum pw_mouse)((n >> 25) % 3)};
        if (i % 50 == 0) {
            pw_canvas_resize(&b->c, 1 + (int)(n >> 20) % 70, 1 + (int)(n >> 12) % 240);
            b->ui.help = i % 200 == 0;
            pw_ui_frame(&b->ui, &b->c);
        }
        if (i % 3 == 0)
            pw_ui_hover(&b->ui, &in);
        else
            pw_ui_mouse(&b->ui, &in, &b->line);
    }
    pw_ui_frame(&b->ui, &b->c);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_by_their_bytes),
        cmocka_unit_test(reports_by_their_bytes),
        TEST(a_click_focuses),
        TEST(a_click_reaches_its_pane),
        TEST(borders_are_dragged),
        TEST(the_timeline_is_dragged),
        TEST(the_wheel_scrolls_what_it_is_over),
        TEST(the_pointer_only_reads),
        TEST(cursors_follow_the_pointer),
        TEST(drawing_changes_no_state),
        TEST(a_click_needs_no_frame),
        TEST(any_report),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
