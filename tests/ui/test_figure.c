/* test_figure.c - tests figures: every page of every pane is sound, hostile text stays text, and a page
 * that can't be drawn gives one line. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ref_figure.h"
#include "ref_screen.h"

/* Checks all pages that have content; those of the panes in `thorough` also with other widths and options.
 * Returns the number drawn. */
static int check_all(const struct pw_snapshot *s, const char *thorough)
{
    const char *names[16];
    struct pw_str out = {0};
    struct pw_err err;
    int drawn = 0;
    for (int pane = 1; pw_figure_names[pane] != NULL; pane++) {
        int n = pw_figure_pages(pane, names, 16);
        assert_true(n > 0);
        for (int i = 0; i < n; i++) {
            struct pw_figure_options o = figure_options(pw_figure_names[pane], names[i]);
            pw_str_clear(&out);
            if (pw_figure_svg(&out, s, &o, &err) != PW_OK) {
                assert_non_null(strstr(err.msg, "export figure: nothing to draw yet: "));
                assert_int_equal(out.len, 0);
                continue;
            }
            drawn++;
            figure_check(s, &o);
            if (strstr(thorough, pw_figure_names[pane]) == NULL)
                continue;
            o.width = 240, o.log = true, o.x = 1;
            figure_check(s, &o);
            o.width = 900, o.caption = false, o.map = PW_CIVIDIS, o.x = 2;
            figure_check(s, &o);
        }
    }
    pw_str_fini(&out);
    return drawn;
}

/* Returns the attribute of the tag at `at`. */
static double number_of(const char *at, const char *name)
{
    char key[16];
    snprintf(key, sizeof key, " %s=\"", name);
    const char *value = strstr(at, key), *end = strchr(at, '>');
    return value != NULL && value < end ? strtod(value + strlen(key), NULL) : NAN;
}

/* A bar is centred on small letters, 2.75 points above the baseline. */
static void bars_stand_in_the_middle_of_their_rows(void **state)
{
    (void)state;
    struct pw_snapshot *s = figure_race(1);
    struct pw_figure_options o = figure_options("step", "");
    struct pw_str out = {0};
    int bars = 0;
    figure_svg(&out, s, &o);
    for (const char *bar = out.s; (bar = strstr(bar, "<rect")) != NULL; bar++) {
        double h = number_of(bar, "height"), middle = number_of(bar, "y") + h / 2, off = 100;
        if (h != 7 && h != 7.5)
            continue;
        for (const char *text = out.s; (text = strstr(text, "<text")) != NULL; text++)
            off = fmin(off, fabs(number_of(text, "y") - 2.75 - middle));
        if (off > 0.06)
            fail_msg("a bar is %.2f off: %.60s", off, bar);
        bars++;
    }
    assert_true(bars > 12);
    pw_str_fini(&out);
    pw_snapshot_free(s);
}

static void every_page_is_sound(void **state)
{
    (void)state;
    static const enum screen_table tables[] = {SCREEN_NONE,    SCREEN_T5,   SCREEN_ALIBI, SCREEN_ROTARY,
                                               SCREEN_LEARNED, SCREEN_SHAW, SCREEN_FIRE,  SCREEN_FORMULA};
    /* Number of pages of the encoding by table: kernel alone, with bias and buckets, ... */
    static const int pages[] = {1, 4, 1, 3, 3, 2, 3, 3};
    struct pw_snapshot *s = figure_race(1);
    screen_set_failing(s, 5);
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        screen_set_table(s, tables[i]);
        int n = check_all(s, i == 0 ? "curves lengths attention step prompt log" : "encoding");
        if (n < 5 + 4 + 2 + 4 + 2 + pages[i])
            fail_msg("table %zu: only %d pages", i, n);
    }
    for (int view = PW_VIEW_PROBS; view <= PW_VIEW_BIAS; view++) {
        struct pw_figure_options o = figure_options("attention", "map");
        screen_set_view(s, 1, 1, (enum pw_view)view);
        figure_check(s, &o);
    }
    pw_snapshot_free(s);
    s = figure_race(3);
    check_all(s, "");
    screen_set_pairs(s);
    struct pw_figure_options o = figure_options("lengths", "grid");
    figure_check(s, &o);
    pw_snapshot_free(s);
}

/* Each finding on one sheet and block by block, at any width and height that it allows. */
static void every_finding_is_sound(void **state)
{
    (void)state;
    static const char *const names[] = {"", "rank", "rank 2", "decay"};
    static const int blocks[] = {3, 1, 1, 1};
    struct pw_snapshot *s = figure_race(1);
    struct pw_str out = {0};
    screen_set_findings(s);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (int page = 0; page <= blocks[i] + 1; page++) {
            char name[16] = "all";
            if (page > 0)
                snprintf(name, sizeof name, "%d", page);
            struct pw_figure_options o = figure_options("findings", name);
            pw_text_copy(o.finding, sizeof o.finding, names[i]);
            if (page > blocks[i]) {
                figure_fails(
                    s, &o, blocks[i] == 3 ? "scores 1 2 3 has 3 blocks" : " has 1 block; page=1 or page=all");
                continue;
            }
            figure_check(s, &o);
            o.width = 240, o.height = 1900;
            figure_check(s, &o);
            o.width = 1500, o.height = 0, o.caption = false, o.map = PW_CIVIDIS;
            figure_check(s, &o);
        }
    struct pw_figure_options o = figure_options("findings", "");
    figure_svg(&out, s, &o);
    assert_non_null(strstr(out.s, "<title>scores 1 2 3</title>"));
    assert_non_null(strstr(out.s, ">head 2, untrained<"));
    assert_non_null(strstr(out.s, "contradicted: no head is absolute (head 1.3: 0.6 of its score)"));
    assert_non_null(strstr(out.s, "stroke-dasharray")); /* the theoretical bound */
    assert_non_null(strstr(out.s, "data:image/png"));
    pw_text_copy(o.finding, sizeof o.finding, "shift");
    figure_fails(s, &o, "finding='shift': there is none; there are scores 1 2 3, rank 2, decay");
    o = figure_options("findings", "");
    o.height = 100;
    figure_fails(s, &o, "height=100 is too small");
    pw_str_fini(&out);
    pw_snapshot_free(s);
}

static void own_batches_are_named(void **state)
{
    (void)state;
    struct pw_snapshot *s = figure_race(3);
    struct pw_str out = {0};
    for (int own = 0; own <= 1; own++) {
        for (int i = 0; i < PW_MAX_ARMS; i++)
            s->arms[i].info.own_batches = own && s->arms[i].used;
        struct pw_figure_options o = figure_options("curves", "");
        o.width = 900, o.height = 0; /* room for a caption in one line */
        figure_svg(&out, s, &o);
        assert_int_equal(strstr(out.s, "each with an order of training samples of its own") != NULL, own);
        o = figure_options("lengths", "curve");
        o.width = 1500, o.height = 0;
        figure_svg(&out, s, &o);
        assert_int_equal(strstr(out.s, "each with an order of training samples of its own") != NULL, own);
        assert_int_equal(strstr(out.s, "n=3, own batches") != NULL, own);
    }
    check_all(s, "curves lengths");
    pw_str_fini(&out);
    pw_snapshot_free(s);
}

/* Without page= the first page with content is shown. */
static void a_page_is_found(void **state)
{
    (void)state;
    struct pw_snapshot *s = figure_race(1);
    struct pw_str out = {0};
    screen_set_table(s, SCREEN_ROTARY);
    struct pw_figure_options o = figure_options("encoding", "");
    figure_svg(&out, s, &o);
    assert_non_null(strstr(out.s, "<title>Turns of each pair of dimensions: 4 rotary"));
    o = figure_options("encoding", "queries");
    figure_fails(s, &o, "nothing to draw yet: this encoding's bias is the same for all queries");
    screen_set_table(s, SCREEN_FIRE);
    figure_svg(&out, s, &o);
    assert_non_null(strstr(out.s, ">query 26<"));
    assert_non_null(strstr(out.s, "c 0.5, L 6 = |0.75 x 8|; distance d of query i"));
    o = figure_options("encoding", "bias");
    figure_svg(&out, s, &o);
    assert_non_null(strstr(out.s, "that of the query at position 31"));
    o = figure_options("lengths", "");
    figure_svg(&out, s, &o);
    assert_non_null(strstr(out.s, "<title>Exact match by length</title>"));
    assert_non_null(strstr(out.s, "Wilson's 95% interval"));
    assert_non_null(strstr(out.s, "64 samples a length"));
    pw_text_copy(o.title, sizeof o.title, "My own");
    figure_svg(&out, s, &o);
    assert_non_null(strstr(out.s, "<title>My own</title>"));
    pw_str_fini(&out);
    pw_snapshot_free(s);
}

static void nothing_is_said_in_one_line(void **state)
{
    (void)state;
    struct pw_snapshot *s = pw_snapshot_new();
    const char *names[16];
    for (int pane = 1; pw_figure_names[pane] != NULL; pane++) {
        struct pw_figure_options o = figure_options(pw_figure_names[pane], "");
        figure_fails(s, &o, "export figure: nothing to draw yet: ");
        for (int i = 0, n = pw_figure_pages(pane, names, 16); i < n; i++) {
            o = figure_options(pw_figure_names[pane], names[i]);
            figure_fails(s, &o, "export figure: nothing to draw yet: ");
        }
    }
    pw_snapshot_free(s);
}

static void wrong_choices_are_named(void **state)
{
    (void)state;
    struct pw_snapshot *s = figure_race(1);
    struct pw_err err;
    struct pw_figure_options o = figure_options("lengths", "curves");
    figure_fails(
        s, &o,
        "lengths has no page 'curves'; there are curve, loss, positions, grid, errors, tests, failing");
    o = figure_options("log", "x");
    figure_fails(s, &o, "log has no page 'x'; there is lines");
    o = figure_options("curves", "");
    o.arm = 7;
    figure_fails(s, &o, "arm=7: there is no such arm");
    o = figure_options("lengths", "");
    o.task = 3;
    figure_fails(s, &o, "task=3: there is 1");
    o = figure_options("curves", "");
    o.height = 90;
    figure_fails(s, &o, "height=90 is too small: this figure needs ");
    o = figure_options("attention", "");
    o.layer = 2;
    figure_fails(s, &o, "there are layers 0 to 1 and heads 0 to 3");
    assert_int_equal(pw_opt_set(pw_figure_opts, &o, "export", "pane", "map", &err), PW_EUSER);
    assert_non_null(strstr(err.msg, "pane=map: allowed are focused|curves|lengths"));
    assert_int_equal(pw_opt_set(pw_figure_opts, &o, "export", "width", "20", &err), PW_EUSER);
    o = figure_options("curves", "");
    assert_int_equal(pw_figure_write("figure.gif", s, &o, &err), PW_EUSER);
    assert_non_null(strstr(err.msg, "figure.gif: the extension must be .svg, .pdf or .png"));
    assert_int_equal(pw_figure_write("/nowhere/figure.svg", s, &o, &err), PW_EIO);
    pw_snapshot_free(s);
}

static void hostile_text_stays_text(void **state)
{
    (void)state;
    static const char *const labels[] = {"<script>",
                                         "&amp;",
                                         "\"'>",
                                         "]]>",
                                         ("\xe2\x80\xae"
                                          "evil"),
                                         "日本",
                                         "\xff\xfe",
                                         "a\tb",
                                         "-->",
                                         "%s%n"};
    struct pw_snapshot *s = figure_race(1);
    struct pw_str out = {0};
    screen_set_prompt(s, 20, labels, sizeof labels / sizeof *labels);
    screen_command(s, "train 5 </desc><script>alert(1)</script>");
    screen_arm(s, 1, "<b>&", "t5 buckets=<i> distance=\"9");
    for (int pane = 1; pw_figure_names[pane] != NULL; pane++) {
        struct pw_figure_options o = figure_options(pw_figure_names[pane], "");
        struct pw_err err;
        pw_text_copy(o.title, sizeof o.title, "</title><script>&");
        pw_str_clear(&out);
        if (pw_figure_svg(&out, s, &o, &err) != PW_OK)
            continue;
        figure_read(&out);
        assert_null(strstr(out.s, "<script"));
        assert_null(strstr(out.s, "\xe2\x80\xae"));
        assert_non_null(strstr(out.s, "&lt;script&gt;"));
    }
    pw_str_fini(&out);
    pw_snapshot_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_page_is_sound),
        cmocka_unit_test(bars_stand_in_the_middle_of_their_rows),
        cmocka_unit_test(every_finding_is_sound),
        cmocka_unit_test(every_finding_is_sound),
        cmocka_unit_test(own_batches_are_named),
        cmocka_unit_test(a_page_is_found),
        cmocka_unit_test(nothing_is_said_in_one_line),
        cmocka_unit_test(wrong_choices_are_named),
        cmocka_unit_test(hostile_text_stays_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
