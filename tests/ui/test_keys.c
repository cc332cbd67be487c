/* test_keys.c - a key changes the view or becomes a command line, never anything else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "ref_screen.h"
#include "ui/plot.h"

#define ESCAPE 27

struct bench {
    struct pw_snapshot *s;
    struct pw_ui ui;
    struct pw_str line;
    struct pw_canvas c;
};

static int setup(void **state)
{
    static struct bench b;
    b = (struct bench){.s = screen_race()};
    b.ui = screen_ui(b.s, PW_COLORS_TRUE, true);
    pw_canvas_init(&b.c);
    pw_canvas_resize(&b.c, 24, 80);
    pw_ui_draw(&b.ui, &b.c);
    *state = &b;
    return 0;
}

static int teardown(void **state)
{
    struct bench *b = *state;
    pw_str_fini(&b->line);
    pw_canvas_fini(&b->c);
    pw_snapshot_free(b->s);
    return 0;
}

/* Presses a key and says which line it became. */
static const char *press(struct bench *b, int key)
{
    pw_str_clear(&b->line);
    assert_true(pw_ui_key(&b->ui, key, &b->line));
    return pw_str_text(&b->line);
}

static void numbers_focus_and_zoom(void **state)
{
    struct bench *b = *state;
    assert_string_equal(press(b, '3'), "");
    assert_int_equal(b->ui.focus, PW_PANE_ATTENTION);
    assert_false(b->ui.zoom);
    press(b, '3');
    assert_true(b->ui.zoom);
    press(b, '7'); /* zoomed, another pane takes the screen */
    assert_int_equal(b->ui.focus, PW_PANE_LOG);
    assert_true(b->ui.zoom);
    press(b, ESCAPE);
    assert_false(b->ui.zoom);
    press(b, 'z');
    assert_true(b->ui.zoom);
}

static void tab_goes_round(void **state)
{
    struct bench *b = *state;
    int first = b->ui.focus;
    for (int i = 0; i < PW_PANES; i++) {
        assert_int_equal(b->ui.focus, (first + i) % PW_PANES);
        press(b, '\t');
    }
    assert_int_equal(b->ui.focus, first);
    press(b, PW_KEY_BACKTAB);
    assert_int_equal(b->ui.focus, (first + PW_PANES - 1) % PW_PANES);
}

static void space_does_what_the_state_calls_for(void **state)
{
    struct bench *b = *state;
    b->s->state.run = PW_RUN_TRAINING;
    assert_string_equal(press(b, ' '), "pause");
    b->s->state.run = PW_RUN_PAUSED;
    assert_string_equal(press(b, ' '), "resume");
    b->s->state.run = PW_RUN_IDLE;
    assert_string_equal(press(b, ' '), "train");
    assert_string_equal(press(b, '.'), "step");
    assert_string_equal(press(b, 'q'), "quit");
}

static void arrows_choose_the_arm(void **state)
{
    struct bench *b = *state;
    assert_int_equal(b->s->current, 3);
    assert_string_equal(press(b, '>'), "arm 4");
    assert_string_equal(press(b, '<'), "arm 2");
    b->s->current = 5;
    assert_string_equal(press(b, '>'), "arm 1");
    b->s->current = 1;
    assert_string_equal(press(b, '<'), "arm 5");
}

static void help_takes_the_keys_and_gives_them_back(void **state)
{
    struct bench *b = *state;
    press(b, '?');
    assert_true(b->ui.help);
    press(b, 'j');
    assert_int_equal(b->ui.help_top, 1);
    press(b, 'G');
    pw_ui_draw(&b->ui, &b->c); /* clamps to the last page */
    assert_in_range(b->ui.help_top, 2, 100);
    assert_string_equal(press(b, 'q'), ""); /* leaves help, not the program */
    assert_false(b->ui.help);
    press(b, PW_KEY_F1);
    assert_true(b->ui.help);
    assert_int_equal(b->ui.help_top, 0);
    press(b, ESCAPE);
    assert_false(b->ui.help);
}

static void attention_keys(void **state)
{
    struct bench *b = *state;
    b->ui.focus = PW_PANE_ATTENTION;
    pw_ui_draw(&b->ui, &b->c);
    assert_string_equal(press(b, ']'), "inspect layer=1 head=2 view=probs");
    assert_string_equal(press(b, '['), "inspect layer=1 head=0 view=probs");
    assert_string_equal(press(b, '}'), "inspect layer=0 head=1 view=probs");
    assert_string_equal(press(b, '{'), "inspect layer=0 head=1 view=probs");
    assert_string_equal(press(b, 'v'), "inspect layer=1 head=1 view=score");
    screen_set_view(b->s, 1, 3, PW_VIEW_BIAS);
    assert_string_equal(press(b, ']'), "inspect layer=1 head=0 view=bias");
    assert_string_equal(press(b, 'v'), "inspect layer=1 head=3 view=cc");
    assert_string_equal(press(b, 'V'), "inspect layer=1 head=3 view=content");
    screen_set_view(b->s, 1, 3, PW_VIEW_PP);
    assert_string_equal(press(b, 'v'), "inspect layer=1 head=3 view=probs");
    screen_set_view(b->s, 0, 3, PW_VIEW_BIAS); /* where no position enters there are no terms to go through */
    assert_string_equal(press(b, 'v'), "inspect layer=0 head=3 view=probs");
    screen_set_view(b->s, 1, 3, PW_VIEW_PROBS);
    assert_int_equal(b->ui.attention.query, 15); /* follows the last query */
    press(b, 'k');
    assert_int_equal(b->ui.attention.query, 14);
    assert_false(b->ui.attention.follow);
    press(b, 'g');
    assert_int_equal(b->ui.attention.query, 0);
    press(b, PW_KEY_UP);
    assert_int_equal(b->ui.attention.query, 0);
    press(b, 'f');
    pw_ui_draw(&b->ui, &b->c);
    assert_int_equal(b->ui.attention.query, 15);
}

static void panes_without_data_send_nothing_absurd(void **state)
{
    struct bench *b = *state;
    struct pw_snapshot *empty = pw_snapshot_new();
    static const int keys[] = {'h',
                               'j',
                               'k',
                               'l',
                               'g',
                               'G',
                               '[',
                               ']',
                               '{',
                               '}',
                               'v',
                               'f',
                               'm',
                               'y',
                               's',
                               't',
                               'r',
                               '<',
                               '>',
                               'p',
                               '\r',
                               PW_KEY_PAGE_UP,
                               PW_KEY_PAGE_DOWN,
                               PW_KEY_HOME,
                               PW_KEY_END};
    b->ui.snap = empty;
    for (int pane = 0; pane < PW_PANES; pane++)
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
            b->ui.focus = pane;
            pw_str_clear(&b->line);
            pw_ui_key(&b->ui, keys[i], &b->line);
            if (b->line.len > 0)
                assert_string_equal(b->line.s, "table");
            pw_ui_draw(&b->ui, &b->c);
        }
    pw_snapshot_free(empty);
    b->ui.snap = b->s;
}

static void the_other_panes_keys(void **state)
{
    struct bench *b = *state;
    b->ui.focus = PW_PANE_CURVES;
    int seen = 0;
    for (int i = 0; i <= PW_METRICS; i++) { /* m comes by every metric and returns */
        seen |= 1 << b->ui.curves.metric;
        press(b, 'm');
    }
    assert_int_equal(seen, (1 << (PW_METRICS + 1)) - 1);
    assert_int_equal(b->ui.curves.metric, PW_M_LOSS);
    b->ui.focus = PW_PANE_LENGTHS;
    assert_string_equal(press(b, 'e'), "eval");
    b->ui.focus = PW_PANE_ENCODING;
    assert_string_equal(press(b, '\r'), "table");
    press(b, 'G');
    assert_int_equal(b->ui.encoding.distance, 31);
    press(b, 'l');
    assert_int_equal(b->ui.encoding.distance, 31);
    b->ui.focus = PW_PANE_IO;
    assert_string_equal(press(b, 'r'), "prompt \"sort 3 1 4 1 5 9 2\"");
    assert_false(pw_ui_key(&b->ui, 'e', &b->line));
    assert_false(pw_ui_key(&b->ui, PW_KEY_MOUSE, &b->line));
    assert_false(pw_ui_key(&b->ui, ':', &b->line)); /* the prompt is not ours */
    press(b, 'p');
    assert_string_equal(b->ui.message, ":prompt sort 3 1 4 1 5");
}

/* Every key that a hint or the help names must do something in its pane. */
static void help_tells_the_truth(void **state)
{
    struct bench *b = *state;
    for (int i = 0; i < PW_PANES; i++)
        for (const char *const *k = pw_panes[i]->keys; k[0]; k += 2) {
            assert_non_null(k[1]);
            for (const char *c = k[0]; *c; c++) {
                if (*c == ' ' || (c[0] >= 'A' && c[1] >= 'a' && c[1] <= 'z')) {
                    c += strcspn(c, " ") - (*c == ' ' ? 0 : 1); /* a named key: PgUp, Enter */
                    continue;
                }
                b->ui.focus = i;
                pw_str_clear(&b->line);
                if (!pw_ui_key(&b->ui, *c, &b->line))
                    fail_msg("%s: the key %c does nothing", pw_panes[i]->name, *c);
            }
        }
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(numbers_focus_and_zoom),
        TEST(tab_goes_round),
        TEST(space_does_what_the_state_calls_for),
        TEST(arrows_choose_the_arm),
        TEST(help_takes_the_keys_and_gives_them_back),
        TEST(attention_keys),
        TEST(panes_without_data_send_nothing_absurd),
        TEST(the_other_panes_keys),
        TEST(help_tells_the_truth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
