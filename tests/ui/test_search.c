/* test_search.c - tests search, filter and copy in panes, and the list of keys and commands. */
#include "ref_bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "command/commands/commands.h"
#include "ui/clipboard.h"
#include "ui/commands/commands.h"
#include "ui/palette.h"
#include "ui/search.h"

/* ---- search, filter, copy */

static int reversed(const struct bench *b)
{
    int n = 0;
    for (int i = 80; i < 22 * 80; i++) /* without the status line */
        n += b->c.cells[i].style.attr & PW_REVERSE ? 1 : 0;
    return n;
}

static void search_marks_what_is_drawn(void **state)
{
    struct bench *b = *state;
    struct pw_ui *ui = &b->app.ui;
    struct pw_str line = {0};
    ui->focus = PW_PANE_IO;
    bench_draw(b);
    int before = reversed(b), marked;
    bench_run(b, "find sort");
    bench_draw(b);
    assert_non_null(strstr(ui->message, "'sort': 1 of "));
    marked = reversed(b) - before;
    assert_true(marked >= 4 && marked % 4 == 0);
    pw_ui_key(ui, 'n', &line);
    bench_draw(b);
    pw_ui_key(ui, 'N', &line);
    bench_draw(b);
    assert_non_null(strstr(ui->message, "'sort': 1 of "));
    bench_run(b, "find SORT"); /* a capital letter makes it case-sensitive */
    bench_draw(b);
    assert_non_null(strstr(ui->message, "'SORT' is not in this pane"));
    pw_ui_key(ui, PW_KEY_ESCAPE, &line);
    assert_string_equal(ui->find.text, "");
    ui->focus = PW_PANE_LOG;
    pw_ui_key(ui, 'n', &line);
    assert_non_null(strstr(ui->message, "no search is active"));
    pw_str_fini(&line);
}

static void the_log_is_searched_beyond_the_screen(void **state)
{
    struct bench *b = *state;
    struct pw_ui *ui = &b->app.ui;
    struct pw_str line = {0};
    char text[64];
    ui->focus = PW_PANE_LOG;
    for (int i = 0; i < 100; i++) {
        snprintf(text, sizeof text, i % 40 == 7 ? "needle %d" : "hay %d", i);
        screen_note(b->s, PW_EV_NOTE, text);
    }
    bench_run(b, "find needle");
    bench_shows(b, "needle 87", true);
    assert_non_null(strstr(ui->message, "1 of 3"));
    pw_ui_key(ui, 'n', &line);
    bench_shows(b, "needle 47", true);
    pw_ui_key(ui, 'n', &line);
    bench_shows(b, "needle 7", true);
    pw_ui_key(ui, 'N', &line);
    bench_shows(b, "needle 47", true);
    pw_ui_key(ui, 'N', &line);
    pw_ui_key(ui, 'N', &line); /* wraps around */
    assert_non_null(strstr(ui->message, "3 of 3"));
    bench_shows(b, "needle 7", true);
    bench_run(b, "find nothing of that");
    assert_non_null(strstr(ui->message, "is not in this pane"));
    bench_run(b, "find; filter needle");
    bench_shows(b, "needle 47", true);
    bench_shows(b, "hay", false);
    bench_shows(b, "only 'needle'", true);
    bench_run(b, "filter nowhere");
    bench_shows(b, "no line has the filter's text", true);
    bench_run(b, "filter");
    bench_shows(b, "hay 99", true);
    pw_str_fini(&line);
}

/* A search is previewed while it is typed. Cancelling it restores the view, also the scroll position of the
 * log. */
static void a_search_is_tried_while_it_is_typed(void **state)
{
    struct bench *b = *state;
    struct pw_ui *ui = &b->app.ui;
    static const char *const typed[] = {"find ", "find h", "find ha", "find hay 3"};
    char text[64];
    ui->focus = PW_PANE_LOG;
    for (int i = 0; i < 100; i++) {
        snprintf(text, sizeof text, "hay %d", i);
        screen_note(b->s, PW_EV_NOTE, text);
    }
    bench_run(b, "find 99");
    ui->log.up = 0;
    for (size_t i = 0; i < sizeof typed / sizeof *typed; i++)
        pw_search_try(ui, typed[i]);
    assert_string_equal(ui->find.text, "hay 3");
    bench_shows(b, "hay 39", true);
    assert_true(ui->log.up > 0);
    pw_search_try(ui, "find ");
    assert_string_equal(ui->find.text, "");
    pw_search_try(ui, "find x");
    pw_search_try(ui, NULL);
    assert_string_equal(ui->find.text, "99");
    assert_string_equal(ui->message, "");
    assert_int_equal(ui->log.up, 0);
    pw_search_try(ui, "train 5");
    pw_search_try(ui, NULL); /* no search was previewed */
    assert_string_equal(ui->find.text, "99");
}

static void base64_is_rfc_4648(void **state)
{
    (void)state;
    static const char *const vectors[][2] = {{"", ""},
                                             {"f", "Zg=="},
                                             {"fo", "Zm8="},
                                             {"foo", "Zm9v"},
                                             {"foob", "Zm9vYg=="},
                                             {"fooba", "Zm9vYmE="},
                                             {"foobar", "Zm9vYmFy"},
                                             {"\xff\xfe", "//4="}};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        struct pw_str s = {0};
        pw_base64(vectors[i][0], strlen(vectors[i][0]), &s);
        assert_string_equal(pw_str_text(&s), vectors[i][1]);
        pw_str_fini(&s);
    }
    struct pw_str s = {0};
    pw_clipboard_sequence("foo", 3, false, &s);
    assert_string_equal(s.s, "\033]52;c;Zm9v\a");
    pw_str_clear(&s);
    pw_clipboard_sequence("foo", 3, true, &s);
    assert_string_equal(s.s, "\033]52;c;Zm9v\a\033Ptmux;\033\033]52;c;Zm9v\a\033\\");
    pw_str_fini(&s);
}

static void panes_are_copied(void **state)
{
    struct bench *b = *state;
    struct pw_ui *ui = &b->app.ui;
    char *text;
    size_t size;
    struct pw_str want = {0};
    for (int pane = 0; pane < PW_PANES; pane++) {
        ui->focus = pane;
        pw_str_clear(&b->app.to_terminal);
        bench_run(b, "copy");
        const char *path = bench_path_of(b, "pewter/copy.tsv");
        assert_non_null(strstr(ui->message, path));
        assert_int_equal(pw_file_read(path, 1 << 20, &text, &size, &b->err), PW_OK);
        assert_true(size > 20);
        pw_str_clear(&want);
        pw_clipboard_sequence(text, size, false, &want);
        assert_string_equal(b->app.to_terminal.s, want.s);
        if (pane == PW_PANE_LOG)
            assert_memory_equal(text, "time\tkind\ttext\n", 15);
        if (pane == PW_PANE_IO)
            assert_non_null(strstr(text, "\n0\tgiven\tsort\t\t\t\t\t\n1\tgiven\t3\t"));
        if (pane == PW_PANE_IO)
            assert_non_null(strstr(text, "\tanswer\t1\t"));
        assert_string_equal(pw_pane_names[pane], pw_panes[pane]->name);
        free(text);
    }
    char line[160];
    snprintf(line, sizeof line, "copy %s", bench_path_of(b, "mine"));
    bench_run(b, line);
    assert_int_equal(access(bench_path_of(b, "mine"), R_OK), 0);
    bench_refused(b, "copy /nowhere/x", "/nowhere/x");
    bench_refused(b, "copy a b", "usage");
    pw_str_fini(&want);
}

/* ---- the list */

static void keys(struct bench *b, const char *text)
{
    struct pw_str line = {0};
    for (; *text; text++)
        pw_ui_key(&b->app.ui, *text, &line);
    assert_int_equal(line.len, 0); /* the list itself never runs a command */
    pw_str_fini(&line);
}

/* The bottom line shows the chosen entry in full when its row has no room at 80 columns. */
static void the_chosen_entry_is_told_in_full(void **state)
{
    struct bench *b = *state;
    keys(b, "3?");
    bench_shows(b, "content's four terms", false);
    keys(b, "probabilities, scores");
    bench_shows(b, "content, positional bias, ", true);
    bench_shows(b, "the content's four terms", true);
    bench_shows(b, "next and previous view: probabilities, scores, content, po…", true);
    keys(b, "\033");
}

static void the_list_narrows_and_runs(void **state)
{
    struct bench *b = *state;
    struct pw_ui *ui = &b->app.ui;
    struct pw_str line = {0};
    keys(b, "?");
    assert_true(ui->help);
    bench_shows(b, "Keys and commands", true);
    bench_shows(b, "evaluate all arms now", true);
    keys(b, "undo a bind"); /* every word must match: in key, name or meaning */
    bench_shows(b, "undo and redo a setting, a binding", true);
    bench_shows(b, "undo a setting, a binding or a moved border", true);
    bench_shows(b, "evaluate", false);
    keys(b, "\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f");
    assert_string_equal(ui->palette.filter, "");

    keys(b, "arm\n"); /* the first entry about arms is a key of the pane: evaluate */
    assert_false(ui->help);
    assert_int_equal(ui->press, 'e');
    ui->press = 0;

    keys(b, "?goto\n"); /* a command is put on the command line, to be completed */
    assert_false(ui->help);
    assert_string_equal(ui->ask, "goto ");
    assert_int_equal(ui->press, 0);
    ui->ask[0] = '\0';
    keys(b, "?redo\n"); /* a match of its name comes before a mention */
    assert_string_equal(ui->ask, "redo");
    ui->ask[0] = '\0';

    keys(b, "?focus a pane"); /* if an entry has several keys, one is chosen */
    pw_ui_key(ui, PW_KEY_RIGHT, &line);
    pw_ui_key(ui, PW_KEY_RIGHT, &line);
    pw_ui_key(ui, PW_KEY_RIGHT, &line);
    bench_draw(b);
    pw_ui_key(ui, PW_KEY_LEFT, &line);
    keys(b, "\n");
    assert_int_equal(ui->press, '1');
    ui->press = 0;

    keys(b, "?oldest and newest"); /* another pane's key moves the focus there */
    keys(b, "\n");
    assert_int_equal(ui->focus, PW_PANE_LOG);
    assert_int_equal(ui->press, 'g');
    ui->press = 0;

    keys(b, "?back to live\n"); /* an entry without effect says why, and the list stays open */
    assert_true(ui->help);
    assert_non_null(strstr(ui->message, "the present is already shown"));
    keys(b, "zzz");
    bench_shows(b, "no key and no command matches", true);
    keys(b, "\n");
    assert_true(ui->help);
    pw_ui_key(ui, PW_KEY_ESCAPE, &line);
    assert_false(ui->help);
    keys(b, "??");
    assert_false(ui->help);

    bench_run(b, "bind F5 \"focus log; zoom on\"");
    keys(b, "?");
    keys(b, "F5\n");
    assert_int_equal(ui->press, PW_KEY_F1 + 4);
    pw_str_fini(&line);
}

/* Terms of other programs find the name used here; entries that don't name them come below a heading. */
static void the_list_finds_by_meaning(void **state)
{
    static const char *const words[][2] = {
        {"heatmap", "focus a pane; its number again zooms"},
        {"pdf", "write a file; its extension chooses the format"},
        {"csv", "write a file; its extension chooses the format"},
        {"tensorboard", "write a file; its extension chooses the format"},
        {"replay", "show an earlier moment of training"},
        {"rewind", "show an earlier moment of training"},
        {"load", "continue a recorded session where it ended"},
        {"delete", "delete a recorded session"},
        {"remove", "list the arms; choose, add or drop one"},
        {"color", "change settings; without arguments"},
        {"theme", "change settings; without arguments"},
        {"tutorial", "start a lesson, step by step"},
        {"lego", "choose the task, or a mixture"},
        {"RoPE", "swap the encoding"},
        {"exit", "quit; Q doesn't ask while training"},
        {"qa!", "leave pewter"},
    };
    static const struct pw_command *list[128];
    static const struct pw_commands all = {list};
    struct bench *b = *state;
    pw_commands_join(list, pw_commands_join(list, 0, pw_lab_commands), pw_ui_commands);
    b->app.ui.commands = &all;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        keys(b, "?");
        keys(b, words[i][0]);
        bench_shows(b, words[i][1], true);
        keys(b, "\033");
    }
    keys(b, "?interleaved"); /* no name or search word matches, but the help of `pe` does */
    bench_shows(b, "Mentioned in the help of", true);
    keys(b, "\033");
}

/* With any text and any choice, at any size. */
static void the_list_at_any_size(void **state)
{
    struct bench *b = *state;
    struct pw_str line = {0};
    static const int moves[] = {PW_KEY_DOWN, PW_KEY_PAGE_DOWN, PW_KEY_END,
                                PW_KEY_UP,   PW_KEY_PAGE_UP,   PW_KEY_HOME};
    keys(b, "?");
    for (int rows = 1; rows < 30; rows += 3)
        for (int cols = 1; cols < 90; cols += 9) {
            pw_canvas_resize(&b->c, rows, cols);
            for (int i = 0; i < 6; i++) {
                pw_ui_key(&b->app.ui, moves[i], &line);
                bench_draw(b);
            }
        }
    pw_canvas_resize(&b->c, 24, 80);
    pw_ui_key(&b->app.ui, PW_KEY_END, &line);
    bench_shows(b, "oldest and newest", true); /* the last one is visible */
    for (int i = 0; i < 100; i++)
        keys(b, "x");
    bench_draw(b);
    pw_str_fini(&line);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, bench_setup, bench_teardown)
    const struct CMUnitTest tests[] = {
        TEST(search_marks_what_is_drawn),
        TEST(the_log_is_searched_beyond_the_screen),
        TEST(a_search_is_tried_while_it_is_typed),
        TEST(base64_is_rfc_4648),
        TEST(panes_are_copied),
        TEST(the_chosen_entry_is_told_in_full),
        TEST(the_list_narrows_and_runs),
        TEST(the_list_finds_by_meaning),
        TEST(the_list_at_any_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
