/* test_keys.c - tests that a key changes the view or becomes a command line, and does nothing else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "ref_screen.h"
#include "ui/palette.h"
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
    pw_ui_frame(&b.ui, &b.c);
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

/* Presses a key, and returns its command line. */
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
    assert_string_equal(press(b, 'q'), "quit");
}

/* A token of the answer, which can be stepped back, and a step of training, which can't: two keys, the same
 * in every pane. */
static void a_token_and_a_step_are_two_keys(void **state)
{
    struct bench *b = *state;
    for (int pane = 0; pane < PW_PANES; pane++) {
        b->ui.focus = pane;
        assert_string_equal(press(b, '.'), "next");
        assert_string_equal(press(b, ','), "back");
        if (pane == PW_PANE_IO)
            continue;
        assert_string_equal(press(b, 'S'), "step");
    }
}

/* "sort 9 2" or "9 2", typed in the prompt's pane: the first character opens the command line. */
static void text_in_the_prompt_pane_is_a_prompt(void **state)
{
    struct bench *b = *state;
    static const struct {
        const char *typed;
        const char *asks;
    } cases[] = {{"s", "prompt s"}, {"9", "prompt sort 9"}, {"2", "prompt sort 2"},
                 {"q", "prompt q"}, {"r", "prompt r"},      {"p", "prompt sort "},
                 {"Z", "prompt Z"}, {"y", "prompt y"},      {"\xc3\xa9", "prompt \xc3\xa9"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t key;
        pw_utf8_next(cases[i].typed, strlen(cases[i].typed), &key);
        b->ui.focus = PW_PANE_IO;
        assert_string_equal(press(b, (int)key), "");
        assert_int_equal(b->ui.focus, PW_PANE_IO);
        assert_string_equal(b->ui.ask, cases[i].asks);
        assert_string_equal(b->ui.ask_note, ":prompt sort 3 1 4 1 5");
        b->ui.ask[0] = '\0';
    }
    pw_text_copy(b->s->lab.tasks[0].name, sizeof b->s->lab.tasks[0].name, "parity");
    press(b, 'p'); /* the first letter of the task's word */
    assert_string_equal(b->ui.ask, "prompt p");
    for (int pane = 0; pane < PW_PANES; pane++) {
        if (pane == PW_PANE_IO)
            continue;
        b->ui.focus = pane;
        assert_string_equal(press(b, 'p'), "");
        assert_string_equal(b->ui.ask, "prompt parity ");
    }
    pw_ui_focus(&b->ui, PW_PANE_CURVES);
    pw_ui_focus(&b->ui, PW_PANE_IO);
    press(b, ESCAPE); /* Escape, Tab and the pointer leave the pane */
    assert_int_equal(b->ui.focus, PW_PANE_CURVES);
}

static void arrows_choose_the_arm(void **state)
{
    struct bench *b = *state;
    assert_string_equal(press(b, '>'), "arm next");
    assert_string_equal(press(b, '<'), "arm prev");
}

static void attention_keys(void **state)
{
    struct bench *b = *state;
    b->ui.focus = PW_PANE_ATTENTION;
    pw_ui_frame(&b->ui, &b->c);
    static const char *const lines[][2] = {{"[", "inspect head=-1"},  {"]", "inspect head=+1"},
                                           {"{", "inspect layer=-1"}, {"}", "inspect layer=+1"},
                                           {"v", "inspect view=+1"},  {"V", "inspect view=-1"}};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        assert_string_equal(press(b, lines[i][0][0]), lines[i][1]);
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
    pw_ui_frame(&b->ui, &b->c);
    assert_int_equal(b->ui.attention.query, 15);
}

static void step_keys(void **state)
{
    struct bench *b = *state;
    b->ui.focus = PW_PANE_STEP;
    assert_string_equal(press(b, '.'), "next"); /* the cursor is at 14, of 9..16 */
    assert_string_equal(press(b, ','), "back");
    assert_string_equal(press(b, PW_KEY_RIGHT), "next");
    assert_string_equal(press(b, 'h'), "back");
    assert_string_equal(press(b, 'g'), "back 5");
    assert_string_equal(press(b, 'G'), "next 2");
    assert_string_equal(press(b, 'a'), "next 2"); /* decoding has ended */
    assert_string_equal(press(b, 'w'), "");       /* the cursor is there already */
    b->s->tokens[1].right = false;
    assert_string_equal(press(b, 'w'), "back 4");
    b->s->tokens[7].ended = false;
    assert_string_equal(press(b, 'a'), "next 1000");
    assert_string_equal(press(b, '\n'), "prompt \"sort 3 1 4 1 5 9 2\"");
    assert_string_equal(press(b, 'e'), "");
    assert_string_equal(b->ui.ask, "edit 14 ");
    press(b, 'T');
    assert_string_equal(b->ui.ask, "set temperature ");
    for (int page = 0; page < 4; page++) {
        assert_int_equal(b->ui.step.page, page);
        press(b, 'j');
        assert_int_equal(b->ui.step.row[page], 1);
        press(b, PW_KEY_PAGE_UP);
        assert_int_equal(b->ui.step.row[page], 0);
        press(b, 'v');
    }
    assert_int_equal(b->ui.step.page, 0);
    press(b, 'V');
    assert_int_equal(b->ui.step.page, 3);
    press(b, 't'), press(b, 'r'), press(b, 'o');
    assert_true(b->ui.step.chosen == 1 && b->ui.step.mean && b->ui.step.order);
    b->s->cursor.newest = true;
    assert_string_equal(press(b, 'g'), "back 7");
}

static void step_clicks(void **state)
{
    struct bench *b = *state;
    struct pw_rect r = {5, 10, 20, 60}; /* sort 3 1 4 1 5 9 2 > 1 1 2 3 4 4 9 </s>, the cursor at 14 */
    static const struct {
        int x;
        const char *line;
    } clicks[] = {{10 + 21, "back 5"}, {10 + 33, "next"}, {10 + 31, ""}, {10 + 5, ""}, {10 + 59, ""}};
    for (size_t i = 0; i < sizeof clicks / sizeof *clicks; i++) {
        pw_str_clear(&b->line);
        assert_true(pw_panes[PW_PANE_STEP]->click(&b->ui, 5, clicks[i].x, r, &b->line));
        assert_string_equal(pw_str_text(&b->line), clicks[i].line);
    }
    assert_false(pw_panes[PW_PANE_STEP]->click(&b->ui, 9, 12, r, &b->line));
}

/* Each page of the pane as values. */
static void step_copies(void **state)
{
    static const char *const firsts[] = {
        "rank\ttoken\tp\tlogit\tis\n1\t4\t0.46\t6.25\tsaid", "part\tadds\nbiases\t4.5",
        "after\ttop\tp\tentropy_bits\ttoken\tp\trank\tright\tp\trank\nembed\t9\t0.3\t3.5\t4\t0\t14\t",
        "head\t0 sort\t1 3\t"};
    struct bench *b = *state;
    for (int page = 0; page < 4; page++) {
        struct pw_str out = {0};
        b->ui.step.page = page;
        pw_panes[PW_PANE_STEP]->copy(&b->ui, &out);
        assert_memory_equal(pw_str_text(&out), firsts[page], strlen(firsts[page]));
        pw_str_fini(&out);
    }
}

static void prompt_keys(void **state)
{
    struct bench *b = *state;
    b->ui.focus = PW_PANE_IO;
    assert_string_equal(press(b, ']'), "sample");
    assert_string_equal(press(b, '['), "sample index=-1");
    assert_string_equal(press(b, '}'), "sample length=+1");
    assert_string_equal(press(b, '{'), "sample length=-1");
}

static void panes_without_data_say_so(void **state)
{
    static const struct {
        int pane, key;
        const char *text;
    } keys[] = {
        {PW_PANE_ATTENTION, '\n', "no prompt to look at yet"},
        {PW_PANE_ATTENTION, 'X', "no prompt to look at yet"},
        {PW_PANE_ATTENTION, 'i', "no attention of a file yet"},
        {PW_PANE_FINDINGS, 'v', "nothing measured yet"},
        {PW_PANE_FINDINGS, '[', "nothing measured yet"},
        {PW_PANE_LENGTHS, 't', "there is no other task: the task is not a mixture"},
        {PW_PANE_LENGTHS, 'f', "not evaluated yet: e evaluates"},
    };
    struct pw_snapshot *empty = pw_snapshot_new();
    struct pw_str line = {0};
    (void)state;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        struct pw_ui ui = screen_ui(empty, PW_COLORS_TRUE, true);
        ui.focus = keys[i].pane;
        assert_true(pw_ui_key(&ui, keys[i].key, &line));
        assert_string_equal(ui.message, keys[i].text);
        assert_false(ui.message_is_error);
        assert_string_equal(pw_str_text(&line), "");
    }
    pw_str_fini(&line);
    pw_snapshot_free(empty);
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
            if (b->line.len > 0 && keys[i] != 'y') /* y is copy, where no pane uses it */
                assert_memory_equal(b->line.s, pane == PW_PANE_IO ? "sample" : "table", 5);
            pw_ui_frame(&b->ui, &b->c);
        }
    pw_snapshot_free(empty);
    b->ui.snap = b->s;
}

static void the_other_panes_keys(void **state)
{
    struct bench *b = *state;
    b->ui.focus = PW_PANE_CURVES;
    int seen = 0;
    for (int i = 0; i <= PW_METRICS; i++) { /* m cycles through the metrics */
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
    assert_int_equal(b->ui.encoding.cursor[PW_ENC_DISTANCE], 31);
    press(b, 'l');
    assert_int_equal(b->ui.encoding.cursor[PW_ENC_DISTANCE], 31);
    b->ui.focus = PW_PANE_IO;
    assert_string_equal(press(b, '\n'), "prompt \"sort 3 1 4 1 5 9 2\"");
    assert_false(pw_ui_key(&b->ui, PW_KEY_MOUSE, &b->line));
    assert_false(pw_ui_key(&b->ui, ':', &b->line)); /* the command line belongs to the loop */
}

/* Every listed key has an effect where it is listed. : and Ctrl-C, L, Z belong to the loop. */
static void the_list_tells_the_truth(void **state)
{
    struct bench *b = *state;
    static const int of_loop[] = {':', 'C' & 31, 'L' & 31, 'Z' & 31};
    int pressed = 0;
    screen_set_findings(b->s);
    for (int i = -1; i < PW_PANES; i++)
        for (const char *const *k = i < 0 ? pw_help_keys : pw_panes[i]->keys; k[0] != NULL; k += 2) {
            assert_non_null(k[1]);
            for (int n = 0, key; (key = pw_palette_nth_key(k[0], n)) != 0; n++) {
                struct pw_ui ui = b->ui;
                bool loops = false;
                for (size_t c = 0; i < 0 && c < sizeof of_loop / sizeof *of_loop; c++)
                    loops = loops || key == of_loop[c];
                ui.focus = i < 0 ? PW_PANE_LOG : i;
                pw_str_clear(&b->line);
                if (pw_ui_key(&ui, key, &b->line) == loops)
                    fail_msg("%s: '%s', key %d: %s", i < 0 ? "everywhere" : pw_panes[i]->name, k[0], n,
                             loops ? "is taken before the loop sees it" : "does nothing");
                pw_ui_fini(&ui); /* the copy owns state that this key has created */
                pressed++;
            }
        }
    assert_in_range(pressed, 60, 1000);
}

static void screen_modes_go_round(void **state)
{
    struct bench *b = *state;
    struct pw_layout l;
    int height[4];
    for (int i = 0; i < 4; i++) {
        pw_ui_layout(&b->ui, 24, 80, &l);
        height[i] = l.panes[b->ui.focus].h;
        press(b, '+');
    }
    assert_true(height[0] < height[1] && height[1] < height[2]);
    assert_int_equal(height[3], height[0]);
    press(b, '_');
    assert_false(b->ui.zoom || b->ui.half);
    press(b, '_');
    assert_true(b->ui.zoom);
    b->ui.split.share[PW_DIVISION_STACK] = 0.3f;
    press(b, '0');
    assert_false(b->ui.zoom);
    assert_float_equal(b->ui.split.share[PW_DIVISION_STACK], 0.62f, 1e-6);
}

static void keys_that_are_commands(void **state)
{
    struct bench *b = *state;
    static const struct {
        int key;
        const char *line, *ask;
    } keys[] = {{'Q', "quit now", ""},  {PW_KEY_F1 + 9, "quit", ""}, {'u', "undo", ""},
                {'R' & 31, "redo", ""}, {'y', "copy", ""},           {'Y', "screenshot", ""},
                {'=', "", "mark "},     {'/', "", "find "},          {'&', "", "filter "}};
    b->ui.focus = PW_PANE_LOG;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        b->ui.ask[0] = '\0';
        assert_string_equal(press(b, keys[i].key), keys[i].line);
        assert_string_equal(b->ui.ask, keys[i].ask);
    }
}

/* User bindings take precedence, also over the pane's keys. */
static void bound_keys_come_first(void **state)
{
    struct bench *b = *state;
    struct pw_err err;
    b->ui.focus = PW_PANE_LOG;
    assert_int_equal(pw_bindings_set(&b->ui.bindings, 'k', "eval; focus lengths", &err), PW_OK);
    assert_string_equal(press(b, 'k'), "eval; focus lengths");
    assert_int_equal(b->ui.log.up, 0);
    assert_int_equal(pw_bindings_set(&b->ui.bindings, 'k', "step", &err), PW_OK);
    assert_int_equal(b->ui.bindings.n, 1);
    assert_string_equal(press(b, 'k'), "step");
    assert_true(pw_bindings_remove(&b->ui.bindings, 'k'));
    assert_false(pw_bindings_remove(&b->ui.bindings, 'k'));
    assert_string_equal(press(b, 'k'), "");
    assert_int_equal(b->ui.log.up, 1);
    static const int kept[] = {':', ESCAPE, 'C' & 31, 'Z' & 31};
    for (int i = 0; i < 4; i++)
        assert_int_equal(pw_bindings_set(&b->ui.bindings, kept[i], "step", &err), PW_EUSER);
    for (int i = 0; i < PW_MAX_BINDINGS; i++)
        assert_int_equal(pw_bindings_set(&b->ui.bindings, 0x100 + i, "step", &err), PW_OK);
    assert_int_equal(pw_bindings_set(&b->ui.bindings, 'x', "step", &err), PW_EUSER);
    assert_non_null(strstr(err.msg, "48 keys"));
}

static void keys_have_names(void **state)
{
    (void)state;
    char name[PW_KEY_NAME];
    static const char *const good[] = {"x",   "Space",  "Enter",  "S-Tab", "PgUp", "F1",
                                       "F12", "Ctrl-G", "S-Left", "\"",    ";"};
    static const char *const bad[] = {"",       "xy",    "F0",   "F13", "Ctrl-", "Ctrl-g",
                                      "ctrl-G", "space", "\x01", " ",   "F1 "};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        int key = pw_key_named(good[i]);
        assert_int_not_equal(key, 0);
        pw_key_name(key, name);
        assert_string_equal(name, good[i]);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(pw_key_named(bad[i]), 0);
    assert_int_equal(pw_palette_nth_key("Tab 1-7", 0), '\t');
    assert_int_equal(pw_palette_nth_key("Tab 1-7", 3), '3');
    assert_int_equal(pw_palette_nth_key("Tab 1-7", 7), '7');
    assert_int_equal(pw_palette_nth_key("Tab 1-7", 8), 0);
    assert_int_equal(pw_palette_nth_key("↻", 0), 0);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(numbers_focus_and_zoom),
        TEST(tab_goes_round),
        TEST(space_does_what_the_state_calls_for),
        TEST(arrows_choose_the_arm),
        TEST(attention_keys),
        TEST(step_keys),
        TEST(step_clicks),
        TEST(step_copies),
        TEST(prompt_keys),
        TEST(panes_without_data_say_so),
        TEST(panes_without_data_send_nothing_absurd),
        TEST(the_other_panes_keys),
        TEST(a_token_and_a_step_are_two_keys),
        TEST(text_in_the_prompt_pane_is_a_prompt),
        TEST(the_list_tells_the_truth),
        TEST(screen_modes_go_round),
        TEST(keys_that_are_commands),
        TEST(bound_keys_come_first),
        TEST(keys_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
