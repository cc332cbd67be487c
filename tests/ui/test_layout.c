/* test_layout.c - every size, focus and zoom: inside, no overlap, the focused pane there, nothing wasted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "ui/ui.h"

enum { RECTS = PW_PANES + 3 };

static void collect(const struct pw_layout *l, const struct pw_rect *out[RECTS])
{
    for (int i = 0; i < PW_PANES; i++)
        out[i] = &l->panes[i];
    out[PW_PANES] = &l->status;
    out[PW_PANES + 1] = &l->hints;
    out[PW_PANES + 2] = &l->prompt;
}

static bool overlap(const struct pw_rect *a, const struct pw_rect *b)
{
    return a->y < b->y + b->h && b->y < a->y + a->h && a->x < b->x + b->w && b->x < a->x + a->w;
}

static void check(int rows, int cols, int focus, bool zoom)
{
    struct pw_layout l;
    const struct pw_rect *r[RECTS];
    int area = 0, n_panes = 0;

    pw_layout(&l, rows, cols, focus, zoom);
    collect(&l, r);
    for (int i = 0; i < RECTS; i++) {
        if (r[i]->h == 0)
            continue;
        if (r[i]->h < 0 || r[i]->w < 1 || r[i]->y < 0 || r[i]->x < 0 || r[i]->y + r[i]->h > rows ||
            r[i]->x + r[i]->w > cols)
            fail_msg("%dx%d focus %d zoom %d: rectangle %d lies outside", cols, rows, focus, zoom, i);
        area += r[i]->h * r[i]->w;
        n_panes += i < PW_PANES;
        for (int j = 0; j < i; j++)
            if (r[j]->h > 0 && overlap(r[i], r[j]))
                fail_msg("%dx%d focus %d zoom %d: %d and %d overlap", cols, rows, focus, zoom, i, j);
    }
    if (area != rows * cols)
        fail_msg("%dx%d focus %d zoom %d: %d cells belong to nobody", cols, rows, focus, zoom,
                 rows * cols - area);
    if (l.prompt.h != 1 || (rows >= 3 && l.panes[focus].h < 1))
        fail_msg("%dx%d focus %d zoom %d: no prompt or no focused pane", cols, rows, focus, zoom);
    if (zoom && n_panes > 1)
        fail_msg("%dx%d focus %d: zoomed, yet %d panes", cols, rows, focus, n_panes);
    for (int i = 0; i < PW_PANES;
         i++) /* whatever is shown beside the focus is large enough to say something */
        if (i != focus && l.panes[i].h > 0 && (l.panes[i].h < 5 || l.panes[i].w < 30))
            fail_msg("%dx%d focus %d: pane %d has %dx%d", cols, rows, focus, i, l.panes[i].w, l.panes[i].h);
}

static void every_size(void **state)
{
    (void)state;
    for (int rows = 1; rows <= 110; rows++)
        for (int cols = 1; cols <= 320; cols++)
            for (int focus = 0; focus < PW_PANES; focus++) {
                check(rows, cols, focus, false);
                check(rows, cols, focus, true);
            }
}

static int shown(int rows, int cols, int focus)
{
    struct pw_layout l;
    int n = 0;
    pw_layout(&l, rows, cols, focus, false);
    for (int i = 0; i < PW_PANES; i++)
        n += l.panes[i].h > 0;
    return n;
}

static void as_many_panes_as_have_room(void **state)
{
    (void)state;
    for (int focus = 0; focus < PW_PANES; focus++) {
        assert_int_equal(shown(16, 60, focus), 1);
        assert_int_equal(shown(24, 80, focus), 3);
        assert_in_range(shown(30, 100, focus), 4, 5);
        assert_int_equal(shown(40, 140, focus), PW_PANES);
        assert_int_equal(shown(60, 200, focus), PW_PANES);
    }
}

static void a_dashboard_does_not_move(void **state)
{
    (void)state;
    struct pw_layout a, b;
    pw_layout(&a, 48, 160, PW_PANE_CURVES, false);
    pw_layout(&b, 48, 160, PW_PANE_LOG, false);
    assert_memory_equal(&a, &b, sizeof a);
}

static void the_focused_pane_is_the_largest_of_a_stack(void **state)
{
    (void)state;
    for (int focus = 0; focus < PW_PANES; focus++) {
        struct pw_layout l;
        pw_layout(&l, 24, 80, focus, false);
        assert_int_equal(l.panes[focus].w, 80);
        assert_in_range(l.panes[focus].h, 12, 14);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_size),
        cmocka_unit_test(as_many_panes_as_have_room),
        cmocka_unit_test(a_dashboard_does_not_move),
        cmocka_unit_test(the_focused_pane_is_the_largest_of_a_stack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
