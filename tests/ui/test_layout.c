/* test_layout.c - tests every size, focus, mode and any proportions. All panes must be inside, without
 * overlap or gaps, and at least as large as their minimum. The focused pane is shown. Every border can be
 * moved, and is at its reported position. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "ui/ui.h"

enum { RECTS = PW_PANES + 4, MODES = PW_SCREEN_FULL + 1 };

static struct pw_proportions usual(void)
{
    struct pw_proportions p;
    pw_opt_defaults(pw_split_opts, &p);
    return p;
}

/* The initial layout, with the focus on this pane. */
static void lay_out(struct pw_layout *l, int rows, int cols, int focus, enum pw_screen screen,
                    const struct pw_proportions *p)
{
    struct pw_looks looks = {screen, focus, focus, pw_panes_at_first};
    pw_layout(l, rows, cols, &looks, p);
}

static void collect(const struct pw_layout *l, const struct pw_rect *out[RECTS])
{
    for (int i = 0; i < PW_PANES; i++)
        out[i] = &l->panes[i];
    out[PW_PANES] = &l->status;
    out[PW_PANES + 1] = &l->timeline;
    out[PW_PANES + 2] = &l->hints;
    out[PW_PANES + 3] = &l->prompt;
}

static bool overlap(const struct pw_rect *a, const struct pw_rect *b)
{
    return a->y < b->y + b->h && b->y < a->y + a->h && a->x < b->x + b->w && b->x < a->x + a->w;
}

static void check(int rows, int cols, int focus, enum pw_screen screen, const struct pw_proportions *p)
{
    struct pw_layout l;
    const struct pw_rect *r[RECTS];
    int area = 0, n_panes = 0;

    lay_out(&l, rows, cols, focus, screen, p);
    collect(&l, r);
    for (int i = 0; i < RECTS; i++) {
        if (r[i]->h == 0)
            continue;
        if (r[i]->h < 0 || r[i]->w < 1 || r[i]->y < 0 || r[i]->x < 0 || r[i]->y + r[i]->h > rows ||
            r[i]->x + r[i]->w > cols)
            fail_msg("%dx%d focus %d mode %d: rectangle %d lies outside", cols, rows, focus, screen, i);
        area += r[i]->h * r[i]->w;
        n_panes += i < PW_PANES;
        for (int j = 0; j < i; j++)
            if (r[j]->h > 0 && overlap(r[i], r[j]))
                fail_msg("%dx%d focus %d mode %d: %d and %d overlap", cols, rows, focus, screen, i, j);
    }
    if (area != rows * cols)
        fail_msg("%dx%d focus %d mode %d: %d cells belong to no pane", cols, rows, focus, screen,
                 rows * cols - area);
    if (l.prompt.h != 1 || (rows >= 3 && l.panes[focus].h < 1))
        fail_msg("%dx%d focus %d mode %d: no prompt or no focused pane", cols, rows, focus, screen);
    if (screen == PW_SCREEN_FULL && n_panes > 1)
        fail_msg("%dx%d focus %d: zoomed, yet %d panes", cols, rows, focus, n_panes);
    if (l.n_borders != (n_panes > 0 ? n_panes - 1 : 0))
        fail_msg("%dx%d focus %d mode %d: %d panes, %d borders", cols, rows, focus, screen, n_panes,
                 l.n_borders);
    for (int i = 0; n_panes > 1 && i < PW_PANES;
         i++) /* a pane beside others must be large enough to be useful */
        if (l.panes[i].h > 0 && (l.panes[i].h < 5 || l.panes[i].w < 30))
            fail_msg("%dx%d focus %d: pane %d has %dx%d", cols, rows, focus, i, l.panes[i].w, l.panes[i].h);
}

static void every_size(void **state)
{
    (void)state;
    struct pw_proportions p = usual();
    for (int rows = 1; rows <= 110; rows++)
        for (int cols = 1; cols <= 320; cols++)
            for (int focus = 0; focus < PW_PANES; focus++)
                for (int screen = 0; screen < MODES; screen++)
                    check(rows, cols, focus, (enum pw_screen)screen, &p);
}

/* Also values that no option would accept. */
static void any_proportions(void **state)
{
    (void)state;
    static const float odd[] = {0, 1, -3, 7, NAN, INFINITY, 1e-30f, 0.999999f};
    struct pw_rng r;
    pw_rng_init(&r, 7, PW_STREAM_TEST, 0);
    for (int i = 0; i < 20000; i++) {
        struct pw_proportions p;
        for (int s = 0; s < PW_SPLITS; s++)
            p.share[s] = pw_rng_below(&r, 8) == 0 ? odd[pw_rng_below(&r, 8)] : (float)pw_rng_unit(&r);
        check(1 + (int)pw_rng_below(&r, 110), 1 + (int)pw_rng_below(&r, 320), (int)pw_rng_below(&r, PW_PANES),
              (enum pw_screen)pw_rng_below(&r, MODES), &p);
    }
}

static int shown(int rows, int cols, int focus, enum pw_screen screen)
{
    struct pw_proportions p = usual();
    struct pw_layout l;
    int n = 0;
    lay_out(&l, rows, cols, focus, screen, &p);
    for (int i = 0; i < PW_PANES; i++)
        n += l.panes[i].h > 0;
    return n;
}

static void as_many_panes_as_have_room(void **state)
{
    (void)state;
    for (int focus = 0; focus < PW_PANES; focus++) {
        assert_int_equal(shown(16, 60, focus, PW_SCREEN_NORMAL), 1);
        assert_int_equal(shown(24, 80, focus, PW_SCREEN_NORMAL), 3);
        assert_int_equal(shown(24, 80, focus, PW_SCREEN_HALF), 2);
        assert_in_range(shown(30, 100, focus, PW_SCREEN_NORMAL), 4, 5);
        assert_int_equal(shown(30, 100, focus, PW_SCREEN_HALF), 3);
        assert_int_equal(shown(48, 160, focus, PW_SCREEN_HALF), 4);
        assert_int_equal(shown(40, 140, focus, PW_SCREEN_NORMAL), PW_PANES - 1);
        assert_int_equal(shown(60, 200, focus, PW_SCREEN_NORMAL), PW_PANES - 1);
        assert_int_equal(shown(60, 220, focus, PW_SCREEN_NORMAL), PW_PANES - 1);
    }
}

/* For any order of focused panes: a pane that is shown before and after has the same place. At most one pane
 * appears, and one disappears. */
static void no_pane_moves(void **state)
{
    (void)state;
    static const int sizes[][2] = {{24, 80},  {30, 100}, {36, 120}, {60, 120},
                                   {48, 160}, {60, 200}, {70, 240}};
    struct pw_ui ui;
    struct pw_rng r;
    pw_ui_init(&ui);
    pw_rng_init(&r, 3, PW_STREAM_TEST, 0);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int half = 0; half < 2; half++) {
            struct pw_layout before, after;
            ui.rows = sizes[i][0], ui.cols = sizes[i][1];
            ui.half = half;
            pw_ui_layout(&ui, ui.rows, ui.cols, &before);
            for (int n = 0; n < 500; n++, before = after) {
                int focus = (int)pw_rng_below(&r, PW_PANES), changed = 0;
                bool shown = before.panes[focus].h > 0;
                pw_ui_focus(&ui, focus);
                pw_ui_layout(&ui, ui.rows, ui.cols, &after);
                assert_true(after.panes[focus].h > 0);
                if (half && !shown)
                    continue; /* it gets half of the screen, and others are beside it */
                for (int k = 0; k < PW_PANES; k++) {
                    bool same = memcmp(&before.panes[k], &after.panes[k], sizeof after.panes[k]) == 0;
                    if (!same && before.panes[k].h > 0 && after.panes[k].h > 0)
                        fail_msg("%dx%d: pane %d moves when %d gets the focus", ui.cols, ui.rows, k, focus);
                    changed += !same;
                }
                assert_int_equal(changed, shown ? 0 : 2);
            }
        }
}

static void modes_give_the_focused_pane_more(void **state)
{
    (void)state;
    struct pw_proportions p = usual();
    for (int focus = 0; focus < PW_PANES; focus++) {
        struct pw_layout l, half;
        lay_out(&l, 24, 80, focus, PW_SCREEN_NORMAL, &p);
        lay_out(&half, 24, 80, focus, PW_SCREEN_HALF, &p);
        assert_int_equal(half.panes[focus].w, 80);
        assert_true(half.panes[focus].h > l.panes[focus].h);
        lay_out(&half, 48, 160, focus, PW_SCREEN_HALF, &p);
        assert_int_equal(half.panes[focus].w, 80);
        assert_int_equal(half.panes[focus].h, 44);
    }
}

static void large_screens_give_the_heads_more(void **state)
{
    (void)state;
    struct pw_proportions p = usual();
    struct pw_layout small, large;
    lay_out(&small, 59, 219, PW_PANE_CURVES, PW_SCREEN_NORMAL, &p);
    lay_out(&large, 60, 220, PW_PANE_CURVES, PW_SCREEN_NORMAL, &p);
    struct pw_rect a = small.panes[PW_PANE_ATTENTION], b = large.panes[PW_PANE_ATTENTION];
    assert_true(b.w > a.w && b.h > a.h);
    assert_int_equal(large.panes[PW_PANE_ENCODING].y, large.panes[PW_PANE_LOG].y); /* side by side */
}

/* A border is two cells thick, on the edges of the panes that it divides. Dragging it by n cells moves it by
 * n until a minimum is reached. The stored value restores the same cell. */
static void borders_go_where_they_are_dragged(void **state)
{
    (void)state;
    static const int sizes[][2] = {{24, 80},  {30, 100}, {60, 139}, {40, 140},
                                   {48, 160}, {60, 220}, {110, 320}};
    struct pw_proportions usually = usual();
    int moved = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int half = 0; half < 2; half++) {
            int rows = sizes[i][0], cols = sizes[i][1];
            struct pw_layout l;
            lay_out(&l, rows, cols, PW_PANE_STEP, (enum pw_screen)half, &usually);
            assert_true(l.n_borders > 0);
            for (int k = 0; k < l.n_borders; k++) {
                const struct pw_border *b = &l.borders[k];
                assert_int_equal(b->upright ? b->line.w : b->line.h, 2);
                assert_non_null(pw_layout_border(&l, b->line.y, b->line.x));
                for (int n = -5; n <= b->size + 5; n++) {
                    struct pw_proportions p = usually;
                    struct pw_layout after;
                    int want = n < b->least ? b->least : n > b->most ? b->most : n;
                    pw_layout_move(b, n, &p);
                    lay_out(&after, rows, cols, PW_PANE_STEP, (enum pw_screen)half, &p);
                    const struct pw_border *now = &after.borders[k];
                    int at = (now->upright ? now->line.x : now->line.y) + 1 - now->from;
                    if (at != want)
                        fail_msg("%dx%d border %d: %d cells, not %d", cols, rows, k, at, want);
                    moved++;
                }
            }
        }
    assert_true(moved > 1000);
    struct pw_layout l;
    lay_out(&l, 24, 80, 0, PW_SCREEN_NORMAL, &usually);
    assert_null(pw_layout_border(&l, 5, 5));
    assert_null(pw_layout_border(&l, 0, 0));
}

/* Every border has an option of its own, whose default is the initial layout. */
static void every_border_is_an_option(void **state)
{
    (void)state;
    int n = 0;
    for (; pw_split_opts[n].name != NULL; n++) {
        assert_int_equal(pw_split_opts[n].offset, n * sizeof(float));
        assert_memory_equal(pw_split_opts[n].name, "split.", 6);
    }
    assert_int_equal(n, PW_SPLITS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_size),
        cmocka_unit_test(any_proportions),
        cmocka_unit_test(as_many_panes_as_have_room),
        cmocka_unit_test(no_pane_moves),
        cmocka_unit_test(modes_give_the_focused_pane_more),
        cmocka_unit_test(large_screens_give_the_heads_more),
        cmocka_unit_test(borders_go_where_they_are_dragged),
        cmocka_unit_test(every_border_is_an_option),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
