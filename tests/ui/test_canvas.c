/* test_canvas.c - tests the grid: clipping, wide characters, frames, and both dumps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "ui/plot.h"

static const struct pw_style plain = {PW_DEFAULT, PW_DEFAULT, 0};

static void assert_canvas(const struct pw_canvas *c, const char *want)
{
    struct pw_str s = {0};
    pw_canvas_text(c, &s);
    assert_string_equal(pw_str_text(&s), want);
    pw_str_fini(&s);
}

static void clips_to_the_rectangle_and_the_canvas(void **state)
{
    (void)state;
    struct pw_canvas c;
    struct pw_rect r = {1, 1, 1, 4}, all = {0, 0, 3, 6}, beyond = {-2, -2, 99, 99};
    pw_canvas_init(&c);
    pw_canvas_resize(&c, 3, 6);
    assert_int_equal(pw_draw_text(&c, r, 1, 0, plain, "abcdefgh"), 8);
    pw_draw_text(&c, r, 0, 1, plain, "no");
    pw_draw_text(&c, r, 2, 1, plain, "no");
    assert_canvas(&c, "\n bcde\n\n");
    pw_draw_fill(&c, beyond, plain, '.');
    assert_canvas(&c, "......\n......\n......\n");
    pw_draw_text(&c, all, -1, 0, plain, "x");
    pw_draw_text(&c, all, 3, 0, plain, "x");
    pw_draw_cell(&c, beyond, 2, 6, plain, 'x');
    assert_canvas(&c, "......\n......\n......\n");
    pw_canvas_fini(&c);
}

static void no_half_of_a_wide_character_stays(void **state)
{
    (void)state;
    struct pw_canvas c;
    struct pw_rect all = {0, 0, 1, 6};
    pw_canvas_init(&c);
    pw_canvas_resize(&c, 1, 6);
    assert_int_equal(pw_draw_text(&c, all, 0, 0, plain, "日本語"), 6);
    assert_int_equal(c.cells[1].cp, 0);
    pw_draw_text(&c, all, 0, 1, plain, "x"); /* overwrites a right half */
    assert_canvas(&c, " x本語\n");
    pw_draw_text(&c, all, 0, 2, plain, "y"); /* overwrites a left half */
    assert_canvas(&c, " xy 語\n");
    pw_draw_text(&c, (struct pw_rect){0, 0, 1, 5}, 0, 4, plain, "本"); /* its right half would be outside */
    assert_canvas(&c, " xy\n");
    pw_canvas_fini(&c);
}

static void control_characters_never_reach_the_screen(void **state)
{
    (void)state;
    struct pw_canvas c;
    struct pw_rect all = {0, 0, 1, 12};
    pw_canvas_init(&c);
    pw_canvas_resize(&c, 1, 12);
    pw_draw_text(&c, all, 0, 0, plain, "a\033[31mb\n\x7f\xff");
    for (int x = 0; x < 12; x++)
        assert_true(c.cells[x].cp >= 0x20 && c.cells[x].cp != 0x7f);
    assert_int_equal(c.cells[1].cp, '?');
    pw_canvas_fini(&c);
}

static void sizes_are_bounded(void **state)
{
    (void)state;
    struct pw_canvas c;
    pw_canvas_init(&c);
    pw_canvas_resize(&c, 0, -5);
    assert_int_equal(c.rows, 1);
    assert_int_equal(c.cols, 1);
    assert_canvas(&c, "\n");
    pw_canvas_fini(&c);
}

static void frames_have_a_title_and_a_note(void **state)
{
    (void)state;
    struct pw_canvas c;
    struct pw_abilities utf8 = {PW_COLORS_TRUE, true, false}, ascii = {PW_COLORS_MONO, false, false};
    pw_canvas_init(&c);
    pw_canvas_resize(&c, 3, 20);
    struct pw_rect in = pw_draw_frame(&c, (struct pw_rect){0, 0, 3, 20}, &utf8, true, "Pane", "note");
    assert_int_equal(in.y, 1);
    assert_int_equal(in.x, 1);
    assert_int_equal(in.h, 1);
    assert_int_equal(in.w, 18);
    assert_canvas(&c, "┏━ Pane ━━━━ note ━┓\n┃                  ┃\n┗━━━━━━━━━━━━━━━━━━┛\n");
    pw_draw_frame(&c, (struct pw_rect){0, 0, 3, 20}, &ascii, false, "Pane", "a note too long");
    assert_canvas(&c, "+- Pane -----------+\n|                  |\n+------------------+\n");
    in = pw_draw_frame(&c, (struct pw_rect){0, 0, 2, 20}, &utf8, false, "Pane", "");
    assert_int_equal(in.h, 2); /* too low for a border: all of it is inside */
    pw_canvas_fini(&c);
}

static void dumps_colors(void **state)
{
    (void)state;
    struct pw_canvas c;
    struct pw_str s = {0};
    pw_canvas_init(&c);
    pw_canvas_resize(&c, 1, 8);
    struct pw_rect all = {0, 0, 1, 8};
    pw_draw_text(&c, all, 0, 0, (struct pw_style){PW_RGB(1, 2, 3), PW_ANSI(4), PW_BOLD}, "ab");
    pw_draw_text(&c, all, 0, 2, plain, "c");
    pw_draw_text(&c, all, 0, 4, (struct pw_style){PW_DEFAULT, PW_DEFAULT, PW_REVERSE}, " ");
    pw_canvas_ansi(&c, &s);
    assert_string_equal(s.s, "\033[0;1;38;2;1;2;3;44mab\033[0mc \033[0;7m \033[0m\n");
    pw_str_fini(&s);
    pw_canvas_fini(&c);
}

static void fits_lesser_terminals(void **state)
{
    (void)state;
    struct pw_canvas c;
    struct pw_rect all = {0, 0, 1, 9};
    pw_canvas_init(&c);
    pw_canvas_resize(&c, 1, 9);
    pw_draw_text(&c, all, 0, 0, (struct pw_style){PW_RGB(230, 40, 30), PW_DEFAULT, 0}, "─│█→é日⠿");
    struct pw_abilities sixteen = {PW_COLORS_16, true, false}, mono = {PW_COLORS_MONO, false, false};
    pw_theme_fit(&c, &sixteen);
    assert_int_equal(c.cells[0].style.fg, PW_ANSI(1));
    assert_int_equal(c.cells[0].cp, 0x2500);
    pw_theme_fit(&c, &mono);
    assert_canvas(&c, "-|#>???*\n");
    for (int x = 0; x < 9; x++)
        assert_int_equal(c.cells[x].style.fg, PW_DEFAULT);
    pw_canvas_fini(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clips_to_the_rectangle_and_the_canvas),
        cmocka_unit_test(no_half_of_a_wide_character_stays),
        cmocka_unit_test(control_characters_never_reach_the_screen),
        cmocka_unit_test(sizes_are_bounded),
        cmocka_unit_test(frames_have_a_title_and_a_note),
        cmocka_unit_test(dumps_colors),
        cmocka_unit_test(fits_lesser_terminals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
