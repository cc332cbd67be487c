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
    static const char start[] = "font-size=\"13.95\">\n";
    const char *body = strstr(text.s, start);
    assert_non_null(body);
    assert_string_equal(body + strlen(start), want);
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
    expect(&c, "<g transform=\"scale(1.05 2)\" shape-rendering=\"crispEdges\">\n"
               "<path fill=\"#ff0010\" d=\"M0 8h16v8h-16z\"/>\n</g>\n"
               "<g fill=\"#d4d4d4\">\n"
               "<text x=\"8.4\" y=\"12\" textLength=\"25.2\">a b</text>\n"
               "<text x=\"50.4\" y=\"12\" textLength=\"25.2\">&lt;&amp;&gt;</text>\n</g>\n"
               "<g fill=\"#010203\" font-weight=\"bold\">\n"
               "<text x=\"0\" y=\"28\" textLength=\"16.8\">xy</text>\n</g>\n"
               "<g fill=\"#1ca951\" text-decoration=\"underline\">\n"
               "<text x=\"25.2\" y=\"28\">z</text>\n</g>\n"
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
    expect(&c,
           "<g transform=\"scale(1.05 2)\" shape-rendering=\"crispEdges\">\n"
           "<path fill=\"#0000ff\" d=\"M0 0h16v8h-16z\"/>\n"
           "<path fill=\"#d4d4d4\" d=\"M56 0h8v8h-8z\"/>\n</g>\n"
           "<g transform=\"scale(1.05 2)\" shape-rendering=\"crispEdges\">\n"
           "<path fill=\"#00ff00\" d=\"M0 0h16v4h-16z\"/>\n"
           "<path fill=\"#090909\" d=\"M16 0h8v8h-8zm8 0h4v8h-4z\"/>\n</g>\n"
           "<g transform=\"translate(2.1 2)scale(4.2 4)\" stroke-width=\".59\" stroke-linecap=\"round\">\n"
           "<path stroke=\"#090909\" d=\"M8 0h0m3 3h0\"/>\n</g>\n"
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
    expect(&c, "<g fill=\"#d4d4d4\">\n"
               "<text x=\"0\" y=\"12\">a</text>\n"
               "<text x=\"8.4\" y=\"12\" textLength=\"16.8\">日</text>\n"
               "<text x=\"25.2\" y=\"12\">b</text>\n"
               "<text x=\"33.6\" y=\"12\">✓</text>\n"
               "<text x=\"42\" y=\"12\" textLength=\"16.8\">cd</text>\n"
               "</g>\n</g>\n</svg>\n");
    pw_canvas_fini(&c);
}

/* Elements nest, attributes are quoted, and there are no characters that XML forbids. */
static void expect_xml(const char *s)
{
    int depth = 0;
    for (; *s; s++) {
        assert_true((unsigned char)*s >= 0x20 || *s == '\n');
        if (*s == '&')
            assert_true(strncmp(s, "&amp;", 5) == 0 || strncmp(s, "&lt;", 4) == 0 ||
                        strncmp(s, "&gt;", 4) == 0);
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
    } sizes[] = {{24, 80, 50000}, {48, 160, 125000}, {60, 200, 200000}, {1, 1, 1000}};
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

/* Spans cover what was drawn there before, and leave the rest alone. */
static void spans_cover(void **state)
{
    (void)state;
    struct pw_canvas c;
    struct pw_str text = {0};
    draw(&c, 2, 10);
    pw_draw_text(&c, (struct pw_rect){0, 0, 2, 10}, 1, 0, plain, "abcdef");
    pw_canvas_svg_spans(&c, (const struct pw_span[]){{0, 4, 6}, {1, 1, 3}}, 2, true, true, &text);
    assert_string_equal(text.s, "<g transform=\"scale(1.05 2)\" shape-rendering=\"crispEdges\">\n"
                                "<path fill=\"#ffffff\" d=\"M32 0h16v8h-16zm-24 8h16v8h-16z\"/>\n</g>\n"
                                "<g fill=\"#1f1f1f\">\n"
                                "<text x=\"8.4\" y=\"28\" textLength=\"16.8\">bc</text>\n</g>\n");
    pw_str_fini(&text);
    pw_canvas_fini(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_become_runs),
        cmocka_unit_test(blocks_and_dots_are_shapes),
        cmocka_unit_test(wide_and_rare_glyphs_stand_alone),
        cmocka_unit_test(spans_cover),
        cmocka_unit_test(whole_screens_are_small_and_always_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
