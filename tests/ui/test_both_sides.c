/* test_both_sides.c - tests the buckets of an encoding without the causal mask: buckets of later keys in the
 * pane, in lines and in figures. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "plot/encoding.h"
#include "ref_figure.h"
#include "ref_screen.h"
#include "ui/report.h"

/* T5 4/8 on either side. */
static struct pw_snapshot *both_sides(void)
{
    static const int from[] = {0, 1, 2, 4, 1, 1, 2, 4, INT_MAX};
    struct pw_snapshot *s = screen_race();
    screen_set_table(s, SCREEN_T5);
    struct pw_ev_table *t = &s->arms[s->current - 1].table;
    t->later = 4;
    memcpy(t->bucket_from, from, sizeof from);
    for (int d = 0; d < t->length; d++)
        t->bucket[d] = d < 2 ? d : d < 4 ? 2 : 3;
    return s;
}

static void buckets_and_distances(void **state)
{
    static const char *const ranges[] = {"0", "1", "2–3", "4–", "none", "-1", "-3–-2", "–-4"};
    struct pw_snapshot *s = both_sides();
    const struct pw_ev_table *t = pw_table_of(s, s->current);
    char text[32];
    (void)state;
    for (int b = 0; b < 8; b++) {
        int64_t met = 0;
        pw_bucket_range(t, b, text);
        assert_string_equal(text, ranges[b]);
        for (int d = -31; d < 32; d++) /* half of a distance's pairs are on either side */
            if (pw_bucket_of(t, d) == b)
                met += d == 0 ? t->met[0] : t->met[abs(d)] / 2;
        assert_int_equal(pw_bucket_seen(t, b), met);
        assert_int_equal(met > 0, b != 4);
    }
    for (int d = 1; d < 32; d++)
        assert_int_equal(pw_bucket_of(t, -d), 4 + pw_bucket_of(t, d));
    assert_int_equal(pw_bucket_of(t, 32), -1);
    pw_snapshot_free(s);
}

static void shows(const struct pw_canvas *c, const char *const *want)
{
    struct pw_str text = {0};
    pw_canvas_text(c, &text);
    for (; *want != NULL; want++)
        if (strstr(pw_str_text(&text), *want) == NULL)
            fail_msg("'%s' is not in\n%s", *want, pw_str_text(&text));
    pw_str_fini(&text);
}

static void the_pane(void **state)
{
    static const char *const list[] = {
        "3 4–", "4 none", "5 -1", "6 -3–-2", "7 –-4", "never trained: bucket 4", NULL};
    static const char *const matrix[] = {" 0  5  6  6  7", " 1  0  5  6  6  7", " 3  2  2  1  0  5  6  6  7",
                                         NULL};
    struct pw_snapshot *s = both_sides();
    struct pw_ui ui = screen_ui(s, PW_COLORS_TRUE, true);
    struct pw_canvas c;
    struct pw_str line = {0};
    (void)state;
    ui.focus = PW_PANE_ENCODING, ui.zoom = true;
    pw_canvas_init(&c);
    pw_canvas_resize(&c, 30, 120);
    pw_ui_frame(&ui, &c);
    assert_true(pw_ui_key(&ui, 'v', &line));
    pw_ui_frame(&ui, &c);
    shows(&c, list);
    assert_true(pw_ui_key(&ui, 'v', &line));
    pw_ui_frame(&ui, &c);
    shows(&c, matrix);
    pw_canvas_fini(&c);
    pw_str_fini(&line);
    pw_snapshot_free(s);
}

static void lines(void **state)
{
    static const char *const want[] = {"  bucket of later keys by distance 5 6 6 7 7 ", "  2..3  ",
                                       "  from 4 ", "  -3..-2 ", "  to -4 "};
    struct pw_snapshot *s = both_sides();
    struct pw_event e = {.kind = PW_EV_TABLE, .arm = s->current, .u.table = *pw_table_of(s, s->current)};
    char *text;
    size_t n;
    (void)state;
    for (int json = 0; json < 2; json++) {
        FILE *out = open_memstream(&text, &n);
        pw_report_event(out, &e, s, json);
        fclose(out);
        for (size_t i = 0; i < sizeof want / sizeof *want && !json; i++)
            if (strstr(text, want[i]) == NULL)
                fail_msg("'%s' is not in\n%s", want[i], text);
        if (json)
            assert_non_null(strstr(text, "\"later_buckets\":4"));
        free(text);
    }
    pw_snapshot_free(s);
}

/* The map of buckets is filled above the diagonal as below it. */
static void figures(void **state)
{
    struct pw_snapshot *s = both_sides();
    struct pw_figure_options o = figure_options("encoding", "buckets");
    struct pw_str out[2] = {{0}, {0}};
    (void)state;
    figure_check(s, &o);
    figure_svg(&out[0], s, &o);
    assert_non_null(strstr(out[0].s, "-3–-2"));
    o = figure_options("encoding", "matrix");
    figure_check(s, &o);
    for (int later = 0; later < 2; later++) {
        s->arms[s->current - 1].table.later = 4 * later;
        pw_str_clear(&out[later]);
        figure_svg(&out[later], s, &o);
    }
    assert_string_not_equal(out[0].s, out[1].s);
    pw_str_fini(&out[0]);
    pw_str_fini(&out[1]);
    pw_snapshot_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buckets_and_distances),
        cmocka_unit_test(the_pane),
        cmocka_unit_test(lines),
        cmocka_unit_test(figures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
