/* test_lesson.c - tests the description in a lesson's file, and its steps on screens of every size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ref_screen.h"
#include "ui/lesson.h"

static void a_file_tells_its_title_and_steps(void **state)
{
    (void)state;
    char title[16];
    pw_lesson_title("# Counting\ntask sort\n", title, sizeof title);
    assert_string_equal(title, "Counting");
    pw_lesson_title("# A title that is too long for this\n", title, sizeof title);
    assert_string_equal(title, "A title that is");
    pw_lesson_title("task sort\n", title, sizeof title);
    assert_string_equal(title, "a lesson");
    pw_lesson_title("#\n", title, sizeof title);
    assert_string_equal(title, "a lesson");
    pw_lesson_title("", title, sizeof title);
    assert_string_equal(title, "a lesson");
    assert_int_equal(pw_lesson_steps("say a\nwait key\nsay wait key\nwait done\nwait key\n"), 2);
    assert_int_equal(pw_lesson_steps(""), 0);
}

static void unknown_lessons_are_refused(void **state)
{
    (void)state;
    struct pw_str path = {0};
    struct pw_err err;
    assert_int_equal(pw_lesson_path("no-such-lesson", &path, &err), PW_EUSER);
    assert_non_null(strstr(err.msg, "no lesson 'no-such-lesson'"));
    assert_int_equal(path.len, 0);
    assert_int_equal(pw_lesson_path("./mine.pewter", &path, &err), PW_OK);
    assert_string_equal(path.s, "./mine.pewter");
    pw_str_fini(&path);
}

static void the_step_has_its_place_at_every_size(void **state)
{
    (void)state;
    struct pw_snapshot *s = screen_race();
    struct pw_ui ui = screen_ui(s, PW_COLORS_TRUE, true);
    struct pw_canvas c;
    pw_text_copy(ui.lesson.title, sizeof ui.lesson.title, "Counting");
    pw_text_copy(ui.lesson.text, sizeof ui.lesson.text,
                 "One is what everything starts with, and 日本語 too.");
    strcat(ui.lesson.text, "\nA second paragraph stands on a line of its own.");
    ui.lesson.step = 1, ui.lesson.steps = 3, ui.lesson.waiting = true;
    pw_canvas_init(&c);
    for (int rows = 1; rows <= 60; rows += rows < 26 ? 1 : 7)
        for (int cols = 1; cols <= 200; cols += cols < 90 ? 1 : 11)
            for (int zoom = 0; zoom < 2; zoom++) {
                struct pw_layout l;
                struct pw_str text = {0};
                ui.zoom = zoom;
                pw_ui_layout(&ui, rows, cols, &l);
                assert_int_equal(l.prompt.y, rows - 1);
                if (l.lesson.h > 0) {
                    assert_true(l.lesson.h <= (rows - 2) / 2);
                    for (int i = 0; i < PW_PANES; i++)
                        assert_true(l.panes[i].h == 0 || l.panes[i].y + l.panes[i].h <= l.lesson.y);
                    assert_true(l.lesson.y + l.lesson.h <= (l.hints.h > 0 ? l.hints.y : l.prompt.y));
                }
                pw_canvas_resize(&c, rows, cols);
                pw_ui_frame(&ui, &c);
                pw_canvas_text(&c, &text);
                if (rows >= 16 && cols >= 60) {
                    assert_non_null(strstr(text.s, "── Counting ──"));
                    assert_non_null(strstr(text.s, "1/3  Enter continues  q leaves"));
                    assert_non_null(strstr(text.s, "\n A second paragraph"));
                }
                pw_str_fini(&text);
            }
    pw_canvas_fini(&c);
    pw_snapshot_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_tells_its_title_and_steps),
        cmocka_unit_test(unknown_lessons_are_refused),
        cmocka_unit_test(the_step_has_its_place_at_every_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
