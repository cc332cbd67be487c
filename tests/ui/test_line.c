/* test_line.c - tests the prompt without a terminal: keys are fed as bytes, and a canvas is the screen. */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* cmocka needs the headers above */
#include "ui/line.h"
#include <cmocka.h>

/* ---- a small language */

static void complete_pe(struct pw_completion *c)
{
    static const char *const all[] = {"none", "rotary", "rope-half", "sinusoidal", NULL};
    if (c->at == 0)
        pw_complete_offer_all(c, all);
}

static const struct pw_opt pe_opts[] = {
    {.name = "buckets", .type = PW_OPT_INT, .min = 1, .max = 64},
    {.name = NULL},
};
static const struct pw_command pe = {
    .name = "pe", .usage = "pe NAME [key=value]", .opts = pe_opts, .complete = complete_pe};
static const struct pw_command train = {.name = "train", .usage = "train [N]"};
static const struct pw_command task = {.name = "task", .usage = "task NAME"};
static const struct pw_command race = {.name = "race", .usage = "race PE,PE,... [replicates=N] [key=value]"};
static const struct pw_command *const list[] = {&pe, &train, &task, &race, NULL};
static const struct pw_commands commands = {list};

/* ---- a prompt, a folder for its history, and a screen */

struct bench {
    char folder[64];
    struct pw_history history;
    struct pw_line *line;
    struct pw_canvas canvas;
};

static void remove_folder(const char *folder)
{
    char path[128];
    snprintf(path, sizeof path, "%s/pewter/history", folder);
    unlink(path);
    snprintf(path, sizeof path, "%s/pewter", folder);
    rmdir(path);
    rmdir(folder);
}

static int setup(void **state)
{
    struct bench *b = calloc(1, sizeof *b);
    struct pw_err err;
    strcpy(b->folder, "/tmp/pewter-line-XXXXXX");
    assert_non_null(mkdtemp(b->folder));
    setenv("XDG_STATE_HOME", b->folder, 1);
    assert_int_equal(pw_history_open(&b->history, &err), PW_OK);
    b->line = pw_line_new(&commands, NULL, &b->history);
    pw_canvas_init(&b->canvas);
    pw_canvas_resize(&b->canvas, 6, 40);
    *state = b;
    return 0;
}

static int teardown(void **state)
{
    struct bench *b = *state;
    pw_line_free(b->line);
    pw_history_close(&b->history);
    pw_canvas_fini(&b->canvas);
    remove_folder(b->folder);
    free(b);
    return 0;
}

/* Each string is one key. */
static enum pw_line_state press(struct bench *b, const char *key)
{
    return pw_line_key(b->line, key, strlen(key));
}

static enum pw_line_state type(struct bench *b, const char *text)
{
    enum pw_line_state state = PW_LINE_OPEN;
    for (; *text; text++)
        state = pw_line_key(b->line, text, 1);
    return state;
}

static void enter(struct bench *b, const char *text)
{
    pw_line_open(b->line, "", NULL);
    type(b, text);
    assert_int_equal(press(b, "\r"), PW_LINE_ACCEPTED);
}

/* Appends the screen's text to out, which may be NULL. */
static void draw(struct bench *b, struct pw_str *out)
{
    struct pw_rect last = {b->canvas.rows - 1, 0, 1, b->canvas.cols};
    pw_canvas_clear(&b->canvas);
    pw_line_draw(b->line, &b->canvas, last);
    if (out == NULL)
        return;
    pw_str_clear(out);
    pw_canvas_text(&b->canvas, out);
}

/* Checks the screen's last row. */
static void assert_row(struct bench *b, const char *expect)
{
    struct pw_str s = {0};
    draw(b, &s);
    while (s.len > 0 && s.s[s.len - 1] == '\n')
        s.s[--s.len] = '\0';
    const char *row = strrchr(pw_str_text(&s), '\n');
    assert_string_equal(row != NULL ? row + 1 : pw_str_text(&s), expect);
    pw_str_fini(&s);
}

/* ---- tests */

static void test_edit(void **state)
{
    struct bench *b = *state;
    pw_line_open(b->line, "", NULL);
    assert_true(pw_line_is_open(b->line));
    type(b, "task  zopy");
    press(b, "\033[D");
    press(b, "\033[D");
    press(b, "\033[D");
    press(b, "\x7f");
    type(b, "c");
    assert_row(b, ":task  copy");
    assert_int_equal(b->canvas.cursor_x, 8);
    assert_int_equal(b->canvas.cursor_y, 5);
    press(b, "\x01"); /* Ctrl-A */
    draw(b, NULL);
    assert_int_equal(b->canvas.cursor_x, 1);
    press(b, "\x05");
    press(b, "\x17"); /* Ctrl-W */
    assert_string_equal(pw_line_text(b->line), "task  ");
    type(b, "sort");
    assert_int_equal(press(b, "\r"), PW_LINE_ACCEPTED);
    assert_string_equal(pw_line_text(b->line), "task  sort");
    assert_false(pw_line_is_open(b->line));
}

static void test_initial_text(void **state)
{
    struct bench *b = *state;
    pw_line_open(b->line, "prompt ", NULL);
    type(b, "copy a b");
    assert_int_equal(press(b, "\n"), PW_LINE_ACCEPTED);
    assert_string_equal(pw_line_text(b->line), "prompt copy a b");
}

/* In a formula, Home stops at its beginning. Pressed again it goes to that of the line. */
static void test_home_of_a_formula(void **state)
{
    static const char *const keys[] = {"\x01", "\033[H", "\033OH"};
    struct bench *b = *state;
    for (int i = 0; i < 3; i++) {
        pw_line_open(b->line, "pe expr \"bias = -d", NULL);
        press(b, keys[i]);
        draw(b, NULL);
        assert_int_equal(b->canvas.cursor_x, 1 + 9);
        press(b, keys[i]);
        draw(b, NULL);
        assert_int_equal(b->canvas.cursor_x, 1);
        press(b, "\x03");
    }
}

static void test_cancel(void **state)
{
    struct bench *b = *state;
    pw_line_open(b->line, "", NULL);
    type(b, "train");
    assert_int_equal(press(b, "\033"), PW_LINE_CANCELLED);
    assert_false(pw_line_is_open(b->line));
    pw_line_open(b->line, "", NULL);
    assert_row(b, ":"); /* the line is cleared */
    type(b, "train");
    assert_int_equal(press(b, "\x03"), PW_LINE_CANCELLED);
    pw_line_open(b->line, "", NULL);
    assert_int_equal(press(b, "\x04"), PW_LINE_CANCELLED); /* Ctrl-D on an empty line */
    pw_line_open(b->line, "", NULL);
    press(b, "\x12"); /* in the middle of a search */
    type(b, "tr");
    assert_int_equal(press(b, "\033"), PW_LINE_CANCELLED);
    pw_line_open(b->line, "", NULL);
    type(b, "ok");
    assert_row(b, ":ok");
    assert_int_equal(b->history.n, 0);
}

static void test_utf8(void **state)
{
    struct bench *b = *state;
    pw_line_open(b->line, "", NULL);
    press(b, "\xe6\xbc\xa2"); /* two columns */
    press(b, "\xe5\xad\x97");
    press(b, "\xc3\xa9");
    assert_row(b, ":\xe6\xbc\xa2\xe5\xad\x97\xc3\xa9");
    assert_int_equal(b->canvas.cursor_x, 6);
    press(b, "\033[D");
    press(b, "\033[D");
    draw(b, NULL);
    assert_int_equal(b->canvas.cursor_x, 3);
    press(b, "\x7f");
    assert_string_equal(pw_line_text(b->line), "\xe5\xad\x97\xc3\xa9");
}

static void test_paste(void **state)
{
    struct bench *b = *state;
    static const char text[] = "train 5\r\ntask sort\n\033[31mx\ty\n\n";
    pw_line_open(b->line, "", NULL);
    type(b, "<>");
    press(b, "\033[D");
    pw_line_paste(b->line, text, sizeof text - 1);
    assert_string_equal(pw_line_text(b->line), "<train 5; task sort; [31mx y>");
    assert_true(pw_line_is_open(b->line));
    static const struct {
        const char *text, *line;
    } pastes[] = {
        {"train 5\npe none\n", "train 5; pe none"},
        {"\n\ntrain 5 # first\r\n\r\n# then\r\rpe none;;\n\n", "train 5; pe none"},
        {"train 5\n", "train 5"},
        {"train 5 # first", "train 5 # first"},
        {"say \"a\nb", "say \"a b"},
    };
    for (size_t i = 0; i < sizeof pastes / sizeof *pastes; i++) {
        pw_line_open(b->line, "", NULL);
        pw_line_paste(b->line, pastes[i].text, strlen(pastes[i].text));
        assert_string_equal(pw_line_text(b->line), pastes[i].line);
    }
}

static void test_long_line(void **state)
{
    struct bench *b = *state;
    pw_line_open(b->line, "", NULL);
    for (int i = 0; i < 30; i++)
        type(b, "0123456789");
    struct pw_str s = {0};
    draw(b, &s);
    assert_int_equal(b->canvas.cursor_y, 5);
    assert_in_range(b->canvas.cursor_x, 20, 39); /* visible */
    assert_int_equal(b->canvas.cells[5 * 40].cp, '<');
    assert_int_equal(b->canvas.cells[5 * 40 + b->canvas.cursor_x - 1].cp, '9');
    press(b, "\x01");
    draw(b, &s);
    assert_int_equal(b->canvas.cursor_x, 1);
    assert_int_equal(b->canvas.cells[5 * 40].cp, ':');
    assert_int_equal(b->canvas.cells[5 * 40 + 39].cp, '>');
    for (int i = 0; i < 150; i++) { /* the cursor stays visible at every position */
        press(b, "\033[C");
        draw(b, &s);
        assert_in_range(b->canvas.cursor_x, 0, 39);
        assert_int_equal(b->canvas.cells[5 * 40 + b->canvas.cursor_x].cp == '<', 0);
    }
    for (int w = 1; w < 12; w++) { /* also on tiny screens */
        pw_canvas_resize(&b->canvas, 1, w);
        draw(b, &s);
        assert_in_range(b->canvas.cursor_x, 0, w - 1);
    }
    pw_str_fini(&s);
}

static void test_history(void **state)
{
    struct bench *b = *state;
    enter(b, "train 1");
    enter(b, "task sort");
    enter(b, "train 1"); /* again: moves to the end */
    enter(b, " secret");
    enter(b, "");
    assert_int_equal(b->history.n, 2);
    pw_line_open(b->line, "", NULL);
    press(b, "\033[A");
    assert_row(b, ":train 1");
    press(b, "\033OA");
    assert_row(b, ":task sort");
    press(b, "\033[A");
    assert_row(b, ":task sort"); /* there is no third */
    press(b, "\033");
    pw_line_open(b->line, "", NULL);
    press(b, "\x12"); /* Ctrl-R */
    type(b, "so");
    struct pw_str s = {0};
    draw(b, &s);
    assert_non_null(strstr(s.s, "`so': task sort"));
    pw_str_fini(&s);
    assert_int_equal(press(b, "\r"), PW_LINE_ACCEPTED);
    assert_string_equal(pw_line_text(b->line), "task sort");
}

/* The rest of an earlier line is shown dim after the cursor; cursor right accepts it. */
static void test_offer(void **state)
{
    struct bench *b = *state;
    enter(b, "train 100");
    enter(b, "train 250; task sort");
    pw_line_open(b->line, "", NULL);
    assert_row(b, ":"); /* an empty line gets no suggestion */
    type(b, "tr");
    assert_row(b, ":train 250; task sort  (Right takes it)");
    assert_true(b->canvas.cells[5 * 40 + 6].style.attr & PW_DIM);
    assert_int_equal(b->canvas.cursor_x, 3);
    assert_string_equal(pw_line_text(b->line), "tr");
    type(b, "ain 1");
    assert_row(b, ":train 100  (Right takes it)");
    press(b, "\033[C");
    assert_string_equal(pw_line_text(b->line), "train 100");
    assert_row(b, ":train 100");
    press(b, "\x01"); /* not at the end: right only moves */
    press(b, "\033[C");
    type(b, "X");
    assert_string_equal(pw_line_text(b->line), "tXrain 100");
    pw_line_open(b->line, "pe ", NULL); /* no earlier line matches: the grammar's hint */
    assert_row(b, ":pe  NAME [key=value]");
}

static void test_completion(void **state)
{
    struct bench *b = *state;
    struct pw_str s = {0};
    pw_line_open(b->line, "", NULL);
    press(b, "p");
    press(b, "\t");
    assert_string_equal(pw_line_text(b->line), "pe ");
    press(b, "r");
    press(b, "\t"); /* rotary and rope-half share "ro" */
    assert_string_equal(pw_line_text(b->line), "pe ro");
    draw(b, &s);
    assert_non_null(strstr(s.s, "rotary"));
    assert_non_null(strstr(s.s, "rope-half"));
    press(b, "t"); /* the list disappears */
    draw(b, &s);
    assert_null(strstr(s.s, "rope-half"));
    press(b, "\t");
    assert_string_equal(pw_line_text(b->line), "pe rotary ");
    type(b, "bu");
    press(b, "\t");
    assert_string_equal(pw_line_text(b->line), "pe rotary buckets="); /* no blank: a value follows */
    press(b, "\033");
    pw_line_open(b->line, "", NULL);
    type(b, "zzz");
    press(b, "\t");
    assert_string_equal(pw_line_text(b->line), "zzz");
    press(b, "\033");
    pw_line_open(b->line, "", NULL);
    type(b, "tr 5"); /* in the middle of a line */
    press(b, "\033[D");
    press(b, "\033[D");
    press(b, "\t");
    assert_string_equal(pw_line_text(b->line), "train  5");
    pw_str_fini(&s);
}

static void test_hint(void **state)
{
    struct bench *b = *state;
    pw_line_open(b->line, "", NULL);
    type(b, "train ");
    struct pw_str s = {0};
    draw(b, &s);
    assert_non_null(strstr(s.s, "[N]"));
    int x = b->canvas.cursor_x;
    assert_int_equal(x, 7);
    bool dim = false;
    for (; x < 40; x++)
        if (b->canvas.cells[5 * 40 + x].cp == '[')
            dim = b->canvas.cells[5 * 40 + x].style.attr & PW_DIM;
    assert_true(dim);
    press(b, "\033[D"); /* not while editing inside */
    draw(b, &s);
    assert_null(strstr(s.s, "[N]"));
    pw_line_open(b->line, "", NULL);
    type(b, "race "); /* the list is longer than the screen */
    draw(b, &s);
    assert_int_equal(b->canvas.cells[5 * 40 + 39].cp, 0x2026);
    pw_str_fini(&s);
}

static void test_note(void **state)
{
    struct bench *b = *state;
    pw_line_open(b->line, "train", "Enter goes, Esc stays");
    assert_row(b, ":train  Enter goes, Esc stays");
    assert_int_equal(b->canvas.cursor_x, 6);
    type(b, " ");
    assert_row(b, ":train  [N]");
    press(b, "\x7f");
    assert_int_equal(press(b, "\r"), PW_LINE_ACCEPTED);
    assert_string_equal(pw_line_text(b->line), "train");
}

/* readline's commands that read another key must not block on it. */
static void test_no_starving(void **state)
{
    struct bench *b = *state;
    pw_line_open(b->line, "", NULL);
    type(b, "abc");
    press(b, "\x16"); /* Ctrl-V takes the next key literally */
    press(b, "\x01");
    press(b, "\x1d"); /* Ctrl-] searches the next key */
    press(b, "a");
    press(b, "\033"
             "5"); /* an argument */
    press(b, "x");
    press(b, "\x18"); /* Ctrl-X is a prefix */
    press(b, "\x15");
    press(b, "\033[200~"); /* keys.c never sends it, but it must not block */
    type(b, "d");
    assert_true(pw_line_is_open(b->line));
    press(b, "\033");
    assert_false(pw_line_is_open(b->line));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_edit, setup, teardown),
        cmocka_unit_test_setup_teardown(test_initial_text, setup, teardown),
        cmocka_unit_test_setup_teardown(test_home_of_a_formula, setup, teardown),
        cmocka_unit_test_setup_teardown(test_cancel, setup, teardown),
        cmocka_unit_test_setup_teardown(test_utf8, setup, teardown),
        cmocka_unit_test_setup_teardown(test_paste, setup, teardown),
        cmocka_unit_test_setup_teardown(test_long_line, setup, teardown),
        cmocka_unit_test_setup_teardown(test_history, setup, teardown),
        cmocka_unit_test_setup_teardown(test_completion, setup, teardown),
        cmocka_unit_test_setup_teardown(test_hint, setup, teardown),
        cmocka_unit_test_setup_teardown(test_offer, setup, teardown),
        cmocka_unit_test_setup_teardown(test_note, setup, teardown),
        cmocka_unit_test_setup_teardown(test_no_starving, setup, teardown),
    };
    setlocale(LC_CTYPE, "C.UTF-8");
    setenv("INPUTRC", "/dev/null", 1);
    setenv("TERM", "xterm", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
