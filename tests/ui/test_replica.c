/* test_replica.c - tests that titles, words and marks name the replica that is shown, and that keys choose
 * another. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "plot/names.h"
#include "ref_screen.h"
#include "ui/layout.h"

/* Returns the race with three replicas of each arm. All data on the screen is of the second one. */
static struct pw_snapshot *second_of_three(void)
{
    struct pw_snapshot *s = screen_race_of(3);
    struct pw_event *e = pw_event_new(PW_EV_ARM);
    screen_set_table(s, SCREEN_T5);
    e->replica = 2;
    e->u.arm = s->arms[s->current - 1].info;
    e->u.arm.current = true;
    pw_fold(s, e);
    pw_event_free(e);
    e = pw_event_new(PW_EV_HEADS); /* a head of this replica only is off */
    e->arm = s->current, e->replica = 2;
    e->u.heads = (struct pw_ev_heads){.layers = 2, .heads = 4, .mode = calloc(8, 1)};
    assert_non_null(e->u.heads.mode);
    e->u.heads.mode[6] = PW_ABLATE_ZERO;
    pw_fold(s, e);
    pw_event_free(e);
    s->prompt_replica = s->attention_replica = s->arms[s->current - 1].table_replica = 2;
    return s;
}

/* Draws the screen with one zoomed pane. */
static const char *screen_of(struct pw_ui *ui, int pane, int rows, int cols, struct pw_str *text)
{
    struct pw_canvas c;
    ui->focus = pane, ui->zoom = true;
    pw_str_clear(text);
    pw_canvas_init(&c);
    pw_canvas_resize(&c, rows, cols);
    pw_ui_frame(ui, &c);
    pw_canvas_text(&c, text);
    pw_canvas_fini(&c);
    return text->s;
}

static void titles(void **state)
{
    static const int panes[] = {PW_PANE_ATTENTION, PW_PANE_STEP, PW_PANE_IO, PW_PANE_ENCODING};
    struct pw_snapshot *s = second_of_three(), *alone = screen_race();
    struct pw_str text = {0};
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct pw_ui ui = screen_ui(s, PW_COLORS_TRUE, true), one = screen_ui(alone, PW_COLORS_TRUE, true);
        const char *screen = screen_of(&ui, panes[i], 36, 120, &text);
        const char *name = strstr(strchr(screen, '\n'), "3 t5"); /* in the pane's title */
        assert_non_null(name);
        const char *said = ", replica 2 of 3 ";
        assert_int_equal(strncmp(name + strcspn(name, ","), said, strlen(said)), 0);
        assert_null(strstr(screen_of(&one, panes[i], 36, 120, &text), "replica"));
    }
    struct pw_ui ui = screen_ui(s, PW_COLORS_TRUE, true);
    assert_non_null(
        strstr(screen_of(&ui, PW_PANE_LOG, 24, 80, &text), "replica 2 of 3")); /* above all panes */
    ui.attention.mean = true; /* a longer title: "layer 1 mean of 4 heads  2 t5 8/16 r2/3" */
    assert_non_null(strstr(screen_of(&ui, PW_PANE_ATTENTION, 24, 64, &text), " r2/3"));
    pw_str_fini(&text);
    pw_snapshot_free(alone);
    pw_snapshot_free(s);
}

static void heads(void **state)
{
    struct pw_snapshot *s = second_of_three();
    struct pw_ui ui = screen_ui(s, PW_COLORS_TRUE, true);
    struct pw_str text = {0};
    (void)state;
    ui.attention.overview = true;
    assert_non_null(strstr(screen_of(&ui, PW_PANE_ATTENTION, 48, 160, &text), "L1H2✗"));
    s->attention_replica = 1; /* all heads of this replica are on */
    assert_null(strstr(screen_of(&ui, PW_PANE_ATTENTION, 48, 160, &text), "L1H2✗"));
    pw_str_fini(&text);
    pw_snapshot_free(s);
}

static void keys(void **state)
{
    static const int panes[] = {PW_PANE_ATTENTION, PW_PANE_STEP, PW_PANE_IO, PW_PANE_ENCODING,
                                PW_PANE_CURVES};
    struct pw_snapshot *s = second_of_three(), *alone = screen_race();
    struct pw_str line = {0};
    (void)state;
    for (int i = 0; i < 5; i++) {
        struct pw_ui ui = screen_ui(s, PW_COLORS_TRUE, true), one = screen_ui(alone, PW_COLORS_TRUE, true);
        ui.focus = one.focus = panes[i];
        pw_str_clear(&line);
        assert_true(pw_ui_key(&ui, ')', &line));
        assert_string_equal(pw_str_text(&line), "inspect replica=+1");
        pw_str_clear(&line);
        assert_true(pw_ui_key(&ui, '(', &line));
        assert_string_equal(pw_str_text(&line), "inspect replica=-1");
        pw_str_clear(&line);
        assert_true(pw_ui_key(&one, ')', &line));
        assert_string_equal(pw_str_text(&line), "");
        assert_non_null(strstr(one.message, "this arm has one replica"));
    }
    pw_str_fini(&line);
    pw_snapshot_free(alone);
    pw_snapshot_free(s);
}

/* An arm with fewer replicas shows its first. */
static void fewer(void **state)
{
    struct pw_snapshot *s = second_of_three();
    (void)state;
    assert_int_equal(pw_inspected(s, &s->arms[0]), 2);
    s->arms[0].info.replicas = 1;
    assert_int_equal(pw_inspected(s, &s->arms[0]), 1);
    assert_ptr_equal(pw_inspected_view(s, &s->arms[1]), &s->arms[1].rep[1]);
    pw_snapshot_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(titles),
        cmocka_unit_test(heads),
        cmocka_unit_test(keys),
        cmocka_unit_test(fewer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
