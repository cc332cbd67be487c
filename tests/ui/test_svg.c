/* test_svg.c - tests the picture of a canvas: it must have every cell, nothing else, and be well-formed
 * XML. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ref_screen.h"

static const struct pw_style plain = {PW_DEFAULT, PW_DEFAULT, 0};

static void draw(struct pw_canvas *c, int rows, int cols)
{
    pw_canvas_init(c);
    pw_canvas_resize(c, rows, cols);
}

static void expect(const struct pw_canvas *c, const char *want)
{
    struct pw_str text = {0};
    pw_canvas_svg(c, false, &text);
    const char *body = strstr(text.s, "round\">\n");
    assert_non_null(body);
    assert_string_equal(body + strlen("round\">\n"), want);
    pw_str_fini(&text);
}

static void cells_become_runs(void **state)
{
    (void)state;
    struct pw_canvas c;
    draw(&c, 2, 12);
    struct pw_rect all = {0, 0, 2, 12};
    pw_draw_text(&c, all, 0, 1, plain, "a b  <&>");
    pw_draw_text(&c, all, 1, 0, (struct pw_style){PW_RGB(1, 2, 3), PW_RGB(255, 0, 16), PW_BOLD}, "xy");
    pw_draw_text(&c, all, 1, 3, (struct pw_style){PW_ANSI(2), PW_DEFAULT, PW_UNDERLINE}, "z");
    expect(&c, "<text x=\"8.4\" y=\"12\" textLength=\"25.2\">a b</text>\n"
               "<text x=\"50.4\" y=\"12\" textLength=\"25.2\">&lt;&amp;&gt;</text>\n"
               "<rect x=\"0\" y=\"16\" width=\"16.8\" height=\"16\" fill=\"#ff0010\"/>\n"
               "<text x=\"0\" y=\"28\" textLength=\"16.8\" fill=\"#010203\" font-weight=\"bold\">xy</text>\n"
               "<text x=\"25.2\" y=\"28\" fill=\"#1ca951\" text-decoration=\"underline\">z</text>\n"
               "</g>\n</svg>\n");
    pw_canvas_fini(&c);
}

static void blocks_and_dots_are_shapes(void **state)
{
    (void)state;
    struct pw_canvas c;
    struct pw_style s = {PW_RGB(0, 255, 0), PW_RGB(0, 0, 255), 0}, r = {PW_DEFAULT, PW_DEFAULT, PW_REVERSE};
    draw(&c, 1, 8);
    struct pw_rect all = {0, 0, 1, 8};
    pw_draw_text(&c, all, 0, 0, s, "▀▀");
    pw_draw_text(&c, all, 0, 2, (struct pw_style){PW_RGB(9, 9, 9), PW_DEFAULT, 0}, "█▌⠁⢀");
    pw_draw_text(&c, all, 0, 7, r, " ");
    expect(&c, "<rect x=\"0\" y=\"0\" width=\"16.8\" height=\"16\" fill=\"#0000ff\"/>\n"
               "<rect x=\"58.8\" y=\"0\" width=\"8.4\" height=\"16\" fill=\"#d4d4d4\"/>\n"
               "<rect x=\"0\" y=\"0\" width=\"16.8\" height=\"8\" fill=\"#00ff00\"/>\n"
               "<rect x=\"16.8\" y=\"0\" width=\"8.4\" height=\"16\" fill=\"#090909\"/>\n"
               "<rect x=\"25.2\" y=\"0\" width=\"4.2\" height=\"16\" fill=\"#090909\"/>\n"
               "<path stroke=\"#090909\" d=\"M35.7 2h0M48.3 14h0\"/>\n"
               "</g>\n</svg>\n");
    pw_canvas_fini(&c);
}

/* Glyphs of unusual width don't shift the cells after them. */
static void wide_and_rare_glyphs_stand_alone(void **state)
{
    (void)state;
    struct pw_canvas c;
    draw(&c, 1, 10);
    pw_draw_text(&c, (struct pw_rect){0, 0, 1, 10}, 0, 0, plain, "a日b✓cd");
    expect(&c, "<text x=\"0\" y=\"12\">a</text>\n"
               "<text x=\"8.4\" y=\"12\" textLength=\"16.8\">日</text>\n"
               "<text x=\"25.2\" y=\"12\">b</text>\n"
               "<text x=\"33.6\" y=\"12\">✓</text>\n"
               "<text x=\"42\" y=\"12\" textLength=\"16.8\">cd</text>\n"
               "</g>\n</svg>\n");
    pw_canvas_fini(&c);
}

/* Elements nest, attributes are quoted, and there are no characters that XML forbids. */
static void expect_xml(const char *s)
{
    int depth = 0;
    for (; *s; s++) {
        assert_true((unsigned char)*s >= 0x20 || *s == '\n');
        if (*s == '&')
            assert_true(!strncmp(s, "&amp;", 5) || !strncmp(s, "&lt;", 4) || !strncmp(s, "&gt;", 4));
        if (*s != '<')
            continue;
        const char *end = strchr(s, '>');
        int quotes = 0;
        assert_non_null(end);
        for (const char *q = s; q < end; q++) {
            quotes += *q == '"';
            assert_true(q == s || *q != '<');
        }
        assert_int_equal(quotes % 2, 0);
        depth += s[1] == '/' ? -1 : end[-1] == '/' ? 0 : 1;
        assert_true(depth >= 0);
        s = end;
    }
    assert_int_equal(depth, 0);
}

static void whole_screens_are_small_and_always_the_same(void **state)
{
    (void)state;
    static const struct {
        int rows, cols;
        size_t most;
    } sizes[] = {{24, 80, 100000}, {48, 160, 250000}, {60, 200, 400000}, {1, 1, 1000}};
    struct pw_snapshot *s = screen_race();
    struct pw_canvas c;
    screen_set_table(s, SCREEN_LEARNED);
    pw_canvas_init(&c);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int focus = 0; focus < PW_PANES; focus++) {
            struct pw_ui ui = screen_ui(s, PW_COLORS_TRUE, true);
            struct pw_str one = {0}, two = {0};
            ui.focus = focus;
            pw_canvas_resize(&c, sizes[i].rows, sizes[i].cols);
            pw_ui_frame(&ui, &c);
            pw_canvas_svg(&c, focus % 2, &one);
            pw_canvas_svg(&c, focus % 2, &two);
            assert_string_equal(one.s, two.s);
            if (one.len > sizes[i].most)
                fail_msg("%dx%d, pane %d: %zu bytes", sizes[i].cols, sizes[i].rows, focus, one.len);
            expect_xml(one.s);
            pw_str_fini(&one);
            pw_str_fini(&two);
        }
    pw_canvas_fini(&c);
    pw_snapshot_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_become_runs),
        cmocka_unit_test(blocks_and_dots_are_shapes),
        cmocka_unit_test(wide_and_rare_glyphs_stand_alone),
        cmocka_unit_test(whole_screens_are_small_and_always_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
