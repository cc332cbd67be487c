/* test_theme.c - tests that text is readable: the contrast of every colour that pewter chooses, and ramps
 * that are monotone in every colour mode. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "plot/color.h"
#include "ui/plot.h"

#define TEXT 4.5 /* WCAG 2.1, 1.4.3 */
#define MARK 3.0 /* 1.4.11: graphics */

/* Common backgrounds: black, Visual Studio Code's, Dracula's; white, GNOME's, Solarized's. */
static const uint32_t grounds[2][3] = {{0x000000, 0x1e1e1e, 0x282a36}, {0xffffff, 0xfafafa, 0xfdf6e3}};
static const enum pw_backdrop backdrops[2] = {PW_ON_DARK, PW_ON_LIGHT};

static void expect_contrast(const char *what, uint32_t color, int side, double least)
{
    for (int i = 0; i < 3; i++) {
        double ratio = pw_color_contrast(color, grounds[side][i]);
        if (ratio < least)
            fail_msg("%s: #%06x on #%06x has %.2f, not %.1f", what, color, grounds[side][i], ratio, least);
    }
}

static void contrast_is_what_wcag_says(void **state)
{
    (void)state;
    assert_true(pw_color_contrast(0x000000, 0xffffff) > 20.99);
    assert_true(pw_color_contrast(0xffffff, 0x000000) < 21.01);
    double grey = pw_color_contrast(0x767676, 0xffffff); /* the lightest grey that still passes: 4.54 */
    assert_true(grey > 4.53 && grey < 4.55);
}

/* The style as pw_theme_fit returns it. */
static struct pw_style fitted(struct pw_style s, enum pw_colors colors, enum pw_backdrop backdrop)
{
    struct pw_canvas c;
    pw_canvas_init(&c);
    pw_draw_cell(&c, (struct pw_rect){0, 0, 1, 1}, 0, 0, s, 'x');
    pw_theme_fit_on(&c, &(struct pw_abilities){colors, true, true}, backdrop);
    s = c.cells[0].style;
    pw_canvas_fini(&c);
    return s;
}

static void the_linux_console_has_boxes(void **state)
{
    (void)state;
    static const struct {
        uint32_t drawn, ascii, console;
    } cases[] = {{0x2500, '-', 0x2500},
                 {0x2551, '+', 0x2551},
                 {0x2503, '|', '|'},
                 {0x28ff, '*', '*'},
                 {0x2713, 'v', 'v'}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int boxes = 0; boxes < 2; boxes++) {
            struct pw_canvas c;
            pw_canvas_init(&c);
            pw_draw_cell(&c, (struct pw_rect){0, 0, 1, 1}, 0, 0, pw_style_plain(), cases[i].drawn);
            pw_theme_fit(&c, &(struct pw_abilities){PW_COLORS_16, false, boxes != 0});
            assert_int_equal(c.cells[0].cp, boxes ? cases[i].console : cases[i].ascii);
            pw_canvas_fini(&c);
        }
}

static void text_can_be_read(void **state)
{
    (void)state;
    struct pw_style (*const styles[])(void) = {pw_style_dim, pw_style_ok, pw_style_bad, pw_style_warn};
    for (int side = 0; side < 2; side++) {
        for (size_t i = 0; i < sizeof styles / sizeof *styles; i++) {
            struct pw_style s = fitted(styles[i](), PW_COLORS_TRUE, backdrops[side]);
            assert_true(s.fg < PW_ANSI(0)); /* no longer from the terminal's scheme */
            assert_int_equal(s.attr & PW_DIM, 0);
            expect_contrast("text", s.fg, side, TEXT);
            /* with 256 colours it is the nearest one with enough contrast */
            expect_contrast("text of 256", pw_color_of_256(pw_color_256(s.fg)), side, TEXT - 0.5);
        }
        for (unsigned i = 1; i < 7; i++)
            expect_contrast(
                "name",
                fitted((struct pw_style){PW_ANSI(i), PW_DEFAULT, 0}, PW_COLORS_TRUE, backdrops[side]).fg,
                side, TEXT);
    }
}

static void arms_can_be_seen(void **state)
{
    (void)state;
    struct pw_ui ui;
    pw_ui_init(&ui);
    for (int side = 0; side < 2; side++) {
        ui.theme.backdrop = backdrops[side];
        for (int arm = 1; arm <= PW_MAX_ARMS; arm++) {
            uint32_t fg = pw_style_arm(&ui, arm).fg;
            if (fg != PW_DEFAULT)
                expect_contrast("arm", fg, side, MARK);
            for (int other = 1; other < arm; other++)
                assert_int_not_equal(fg, pw_style_arm(&ui, other).fg);
        }
    }
}

/* With an unknown background, and with few colours, the user's scheme is used. */
static void the_scheme_is_left_alone_where_the_background_is_unknown(void **state)
{
    (void)state;
    assert_int_equal(fitted(pw_style_bad(), PW_COLORS_TRUE, PW_ON_UNKNOWN).fg, PW_ANSI(1));
    assert_int_equal(fitted(pw_style_dim(), PW_COLORS_TRUE, PW_ON_UNKNOWN).attr, PW_DIM);
    assert_int_equal(fitted(pw_style_bad(), PW_COLORS_16, PW_ON_LIGHT).fg, PW_ANSI(1));
    assert_int_equal(fitted(pw_style_bad(), PW_COLORS_MONO, PW_ON_LIGHT).fg, PW_DEFAULT);
    assert_int_equal(pw_theme_guess(NULL), PW_ON_UNKNOWN);
    assert_int_equal(pw_theme_guess(""), PW_ON_UNKNOWN);
    assert_int_equal(pw_theme_guess("15"), PW_ON_UNKNOWN);
    assert_int_equal(pw_theme_guess("15;default"), PW_ON_UNKNOWN);
    assert_int_equal(pw_theme_guess("15;0"), PW_ON_DARK);
    assert_int_equal(pw_theme_guess("0;15"), PW_ON_LIGHT);
    assert_int_equal(pw_theme_guess("0;default;15"), PW_ON_LIGHT);
    assert_int_equal(pw_theme_guess("7;8"), PW_ON_DARK);
}

static void numbers_on_ramps_can_be_read(void **state)
{
    (void)state;
    for (int colors = PW_COLORS_256; colors <= PW_COLORS_TRUE; colors++)
        for (int map = PW_VIRIDIS; map <= PW_CIVIDIS; map++) {
            pw_ramp_use((enum pw_colormap)map, (enum pw_colors)colors);
            for (int i = -100; i <= 100; i++)
                for (int is_signed = 0; is_signed < 2; is_signed++) {
                    struct pw_style s = pw_style_value((float)i / 100, is_signed);
                    double ratio = pw_color_contrast(s.fg, s.bg);
                    if (ratio < TEXT)
                        fail_msg("map %d at %d: #%06x on #%06x has %.2f", map, i, s.fg, s.bg, ratio);
                }
        }
    pw_ramp_use(PW_VIRIDIS, PW_COLORS_TRUE);
}

/* The number of steps of a ramp from x0 to x1. Fails if lightness reverses, or if a step looks larger than
 * one (the nearest of 256 colours have steps of up to 0.21). */
static int steps(uint32_t (*ramp)(float), float x0, float x1)
{
    int n = 1;
    for (int i = 1; i <= 400; i++) {
        uint32_t a = ramp(x0 + (x1 - x0) * (float)(i - 1) / 400), b = ramp(x0 + (x1 - x0) * (float)i / 400);
        assert_true(pw_color_light(b) >= pw_color_light(a));
        if (pw_color_distance(a, b) > 0.13f)
            fail_msg("from #%06x to #%06x is a step of %.3f", a, b, (double)pw_color_distance(a, b));
        n += a != b;
    }
    return n;
}

static void ramps_grow_in_lightness_in_every_palette(void **state)
{
    (void)state;
    for (int map = PW_VIRIDIS; map <= PW_CIVIDIS; map++) {
        pw_ramp_use((enum pw_colormap)map, PW_COLORS_TRUE);
        assert_in_range(steps(pw_ramp, 0, 1), 60, 64);
        steps(pw_ramp_signed, -1, 0);
        steps(pw_ramp_signed, 1, 0);
        pw_ramp_use((enum pw_colormap)map, PW_COLORS_256);
        int n = steps(pw_ramp, 0, 1);
        print_message("map %d: %d steps in 256 colours\n", map, n);
        assert_in_range(n, 16, 64);
        assert_in_range(steps(pw_ramp_signed, -1, 0), 12, 64);
        assert_in_range(steps(pw_ramp_signed, 1, 0), 9, 64);
        double off = 0;
        for (int i = 0; i <= 100; i++) /* the same colours as in the map */
            off += (double)pw_color_distance(pw_ramp((float)i / 100),
                                             pw_ramp_up((enum pw_colormap)map, (float)i / 100));
        assert_true(off / 101 < 0.06);
        for (int i = 0; i <= 100; i++) { /* they belong to the palette */
            uint32_t c = pw_ramp((float)i / 100);
            assert_int_equal(pw_color_of_256(pw_color_256(c)), c);
        }
    }
    pw_ramp_use(PW_VIRIDIS, PW_COLORS_TRUE);
    assert_int_not_equal(pw_ramp_signed(-0.9f), pw_ramp_signed(0.9f));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contrast_is_what_wcag_says),
        cmocka_unit_test(the_linux_console_has_boxes),
        cmocka_unit_test(text_can_be_read),
        cmocka_unit_test(arms_can_be_seen),
        cmocka_unit_test(the_scheme_is_left_alone_where_the_background_is_unknown),
        cmocka_unit_test(numbers_on_ramps_can_be_read),
        cmocka_unit_test(ramps_grow_in_lightness_in_every_palette),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
