/* test_news.c - tests that log lines reach a screen without room for the Log pane. */
#include "ref_bench.h"
#include "ref_screen_int.h"

#include <stdio.h>
#include <string.h>

#include "ui/news.h"

static void look(struct bench *b, struct pw_news *n)
{
    pw_news_read(n, &b->app.ui);
    bench_draw(b);
}

static void message_is(struct bench *b, const char *text, bool error)
{
    assert_string_equal(b->app.ui.message, text);
    if (*text)
        assert_int_equal(b->app.ui.message_is_error, error);
}

static bool page_open(const struct bench *b)
{
    return b->app.ui.page.text.len > 0;
}

/* Types `line`; the answer has n lines. */
static void ask(struct bench *b, struct pw_news *news, const char *line, int n)
{
    pw_news_typed(news, line);
    screen_command(b->s, line);
    for (int i = 1; i <= n; i++) {
        char text[32];
        snprintf(text, sizeof text, "line %d of %d", i, n);
        screen_note(b->s, PW_EV_NOTE, text);
    }
    look(b, news);
}

static void the_newest_is_the_message(void **state)
{
    struct bench *b = *state;
    struct pw_news n = {0};
    look(b, &n);
    screen_note(b->s, PW_EV_NOTE, "first");
    screen_note(b->s, PW_EV_NOTE, "second");
    look(b, &n);
    message_is(b, "second", false);
    screen_note(b->s, PW_EV_ERROR, "wrong");
    screen_note(b->s, PW_EV_NOTE, "third");
    look(b, &n);
    message_is(b, "wrong", true);
}

/* `race none,t5; focus nowhere`: `focus` is refused at once, and the note of the race arrives a frame
 * later. */
static void a_refusal_is_not_covered(void **state)
{
    struct bench *b = *state;
    struct pw_news n = {0};
    look(b, &n);
    pw_text_copy(b->app.ui.message, sizeof b->app.ui.message, "focus: 'nowhere'");
    b->app.ui.message_is_error = n.refused = true;
    screen_note(b->s, PW_EV_NOTE, "arm 2: t5 8/16");
    look(b, &n);
    message_is(b, "focus: 'nowhere'", true);
    screen_note(b->s, PW_EV_ERROR, "wrong");
    look(b, &n);
    message_is(b, "wrong", true);
    n.refused = false; /* the next line is typed */
    screen_note(b->s, PW_EV_NOTE, "right");
    look(b, &n);
    message_is(b, "right", false);
}

static void a_map_says_where_it_is(void **state)
{
    struct bench *b = *state;
    struct pw_news n = {0};
    look(b, &n);
    screen_note(b->s, PW_EV_PATCH, "most by head 1.6, 0.366");
    b->s->patch_seq = b->s->log[(b->s->n_log - 1) % PW_LOG_LINES].seq;
    look(b, &n);
    message_is(b, "4 Step: most by head 1.6, 0.366", false);
    /* A single value: the map on the screen is of an earlier patch. */
    screen_note(b->s, PW_EV_PATCH, "head 1.6: recovery 0.366");
    look(b, &n);
    message_is(b, "head 1.6: recovery 0.366", false);
}

static void what_was_recorded_is_no_news(void **state)
{
    struct bench *b = *state;
    struct pw_news n = {0};
    screen_note(b->s, PW_EV_ERROR, "of last week");
    b->s->log_before = b->s->n_log;
    look(b, &n);
    message_is(b, "", false);
    screen_note(b->s, PW_EV_NOTE, "goes on at step 5");
    look(b, &n);
    message_is(b, "goes on at step 5", false);
    /* Another session, with a shorter log. */
    struct pw_snapshot *other = screen_race();
    b->app.ui.snap = other;
    other->began_ns++;
    other->n_log = other->log_before = 1;
    screen_note(other, PW_EV_NOTE, "goes on at step 7");
    look(b, &n);
    message_is(b, "goes on at step 7", false);
    b->app.ui.snap = b->s;
    pw_snapshot_free(other);
}

/* `pe check NAME` reads the formula's file before it answers. */
static void a_file_is_no_gap_in_an_answer(void **state)
{
    struct bench *b = *state;
    struct pw_news n = {0};
    look(b, &n);
    pw_news_typed(&n, "pe check kerple_log");
    screen_command(b->s, "pe check kerple_log");
    screen_fold(b->s, pw_event_new(PW_EV_FILE));
    screen_note(b->s, PW_EV_NOTE, "bias by distance");
    screen_note(b->s, PW_EV_NOTE, "FlexAttention: score_mod");
    look(b, &n);
    assert_true(page_open(b));
    bench_shows(b, "bias by distance", true);
    bench_shows(b, "FlexAttention: score_mod", true);
}

static void an_answer_of_many_lines_is_a_page(void **state)
{
    struct bench *b = *state;
    struct pw_news n = {0};
    look(b, &n);
    ask(b, &n, "help", 40);
    bench_shows(b, "━ help ━", true);
    bench_shows(b, "line 1 of 40", true);
    bench_shows(b, "line 40 of 40", false);
    message_is(b, "", false);
    screen_note(b->s, PW_EV_NOTE, "and one that comes with the next frame");
    look(b, &n);
    assert_non_null(strstr(b->app.ui.page.text.s, "40 of 40\nand one"));
    struct pw_str line = {0};
    pw_ui_key(&b->app.ui, PW_KEY_ESCAPE, &line);
    screen_note(b->s, PW_EV_NOTE, "later");
    look(b, &n);
    assert_false(page_open(b)); /* Escape closed the page */
    message_is(b, "later", false);
}

static void one_line_is_the_message(void **state)
{
    struct bench *b = *state;
    struct pw_news n = {0};
    look(b, &n);
    ask(b, &n, "digest", 1);
    assert_false(page_open(b));
    message_is(b, "line 1 of 1", false);
}

static void what_nobody_typed_is_no_page(void **state)
{
    struct bench *b = *state;
    struct pw_news n = {0};
    look(b, &n);
    pw_news_typed(&n, "eval");
    screen_command(b->s, "runs"); /* from a script */
    screen_note(b->s, PW_EV_NOTE, "one");
    screen_note(b->s, PW_EV_NOTE, "two");
    look(b, &n);
    assert_false(page_open(b));
    screen_command(b->s, "eval"); /* a step separates a job's notes from the answer */
    screen_step(b->s, 1, 641, 1.0f);
    screen_note(b->s, PW_EV_NOTE, "three");
    screen_note(b->s, PW_EV_NOTE, "four");
    look(b, &n);
    assert_false(page_open(b));
    message_is(b, "four", false);
}

/* A training error arrives in the same frame as an answer. */
static void what_comes_behind_it_hides_no_answer(void **state)
{
    struct bench *b = *state;
    struct pw_news n = {0};
    look(b, &n);
    pw_news_typed(&n, "train 5; runs");
    screen_command(b->s, "runs");
    screen_note(b->s, PW_EV_NOTE, "one");
    screen_note(b->s, PW_EV_NOTE, "two");
    screen_step(b->s, 1, 641, 1.0f);
    screen_note(b->s, PW_EV_ERROR, "a loss that isn't finite");
    look(b, &n);
    assert_string_equal(pw_str_text(&b->app.ui.page.text), "one\ntwo\n");
    message_is(b, "a loss that isn't finite", true);
}

static void where_the_log_has_room_it_is_enough(void **state)
{
    struct bench *b = *state;
    struct pw_news n = {0};
    b->app.ui.focus = PW_PANE_LOG;
    look(b, &n);
    ask(b, &n, "help", 40);
    assert_false(page_open(b));
    b->app.ui.focus = PW_PANE_CURVES;
    pw_canvas_resize(&b->c, 50, 160);
    bench_draw(b);
    ask(b, &n, "runs", 4);
    assert_false(page_open(b));
    ask(b, &n, "help", 40);
    assert_true(page_open(b));
}

/* A wrapped line continues below its second column, if it has one. */
static void a_long_line_of_a_page_goes_on_below(void **state)
{
    struct bench *b = *state;
    pw_app_page(
        &b->app, "help",
        "train       N more steps of every arm or of arm K, or to the end of the schedule that it has\n"
        "\nwith until, each arm stops on its own when it is there; not there after N steps is an error\n");
    bench_shows(b,
                "┃ train       N more steps of every arm or of arm K, or to the end of the      ┃\n"
                "┃             schedule that it has ",
                true);
    bench_shows(b, "┃ steps is an error ", true);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, bench_setup, bench_teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_map_says_where_it_is),
        TEST(the_newest_is_the_message),
        TEST(a_refusal_is_not_covered),
        TEST(what_was_recorded_is_no_news),
        TEST(a_file_is_no_gap_in_an_answer),
        TEST(an_answer_of_many_lines_is_a_page),
        TEST(one_line_is_the_message),
        TEST(what_nobody_typed_is_no_page),
        TEST(what_comes_behind_it_hides_no_answer),
        TEST(where_the_log_has_room_it_is_enough),
        TEST(a_long_line_of_a_page_goes_on_below),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
