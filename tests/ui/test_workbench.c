/* test_workbench.c - the commands of the workbench on a laboratory that never was: settings as text, undo,
 * bindings, the timeline, search, copy, the list of keys and commands. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "ref_screen.h"
#include "ui/app.h"
#include "ui/clipboard.h"
#include "ui/commands/commands.h"
#include "ui/config.h"
#include "ui/palette.h"
#include "ui/search.h"
#include "ui/timeline.h"

#define ESCAPE 27

struct bench {
    struct pw_snapshot *s;
    struct pw_app app;
    struct pw_canvas c;
    struct pw_err err;
    char folder[64];
};

static const struct pw_commands commands = {pw_ui_commands};

static void draw(struct bench *b)
{
    pw_ui_draw(&b->app.ui, &b->c);
}

static int setup(void **state)
{
    struct bench *b = calloc(1, sizeof *b);
    strcpy(b->folder, "/tmp/pewter-bench-XXXXXX");
    if (!mkdtemp(b->folder))
        return 1;
    setenv("XDG_CONFIG_HOME", b->folder, 1);
    setenv("XDG_STATE_HOME", b->folder, 1);
    unsetenv("TMUX");
    b->s = screen_race();
    b->app.commands = &commands;
    b->app.screen = true;
    pw_opt_defaults(pw_settings_opts, &b->app.settings);
    b->app.begin = b->app.settings;
    b->app.ui = screen_ui(b->s, PW_COLORS_TRUE, true);
    b->app.ui.commands = &commands;
    pw_undo_note(&b->app);
    pw_canvas_init(&b->c);
    pw_canvas_resize(&b->c, 24, 80);
    draw(b);
    *state = b;
    return 0;
}

static int teardown(void **state)
{
    struct bench *b = *state;
    char text[128];
    snprintf(text, sizeof text, "rm -r %s", b->folder);
    pw_app_end(&b->app);
    pw_canvas_fini(&b->c);
    pw_snapshot_free(b->s);
    free(b);
    return system(text);
}

static void run(struct bench *b, const char *line)
{
    b->app.ui.message[0] = '\0';
    if (pw_app_submit(&b->app, line, PW_SEND_NOW, &b->err) != PW_OK)
        fail_msg("%s: %s", line, b->err.msg);
}

/* Refused, with a message that has this in it, and nothing changed. */
static void refused(struct bench *b, const char *line, const char *why)
{
    struct pw_str before = {0}, after = {0};
    pw_config_print(&b->app, &before);
    int64_t time = b->app.ui.time;
    if (pw_app_submit(&b->app, line, PW_SEND_NOW, &b->err) == PW_OK)
        fail_msg("%s was taken", line);
    if (!strstr(b->err.msg, why) || strchr(b->err.msg, '\n'))
        fail_msg("%s: '%s' lacks '%s'", line, b->err.msg, why);
    pw_config_print(&b->app, &after);
    assert_string_equal(pw_str_text(&before), pw_str_text(&after));
    assert_int_equal(b->app.ui.time, time);
    pw_str_fini(&before);
    pw_str_fini(&after);
}

static void screen_shows(struct bench *b, const char *what, bool shown)
{
    struct pw_str text = {0};
    draw(b);
    pw_canvas_text(&b->c, &text);
    if ((strstr(text.s, what) != NULL) != shown)
        fail_msg("'%s' is %s\n%s", what, shown ? "missing" : "there", text.s);
    pw_str_fini(&text);
}

static void config_is(struct bench *b, const char *lines)
{
    struct pw_str text = {0};
    pw_config_print(&b->app, &text);
    assert_string_equal(pw_str_text(&text), lines);
    pw_str_fini(&text);
}

static char *path_of(struct bench *b, const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", b->folder, name);
    return path;
}

static void file_is(const char *path, const char *want)
{
    char *text;
    size_t size;
    struct pw_err err;
    assert_int_equal(pw_file_read(path, 1 << 20, &text, &size, &err), PW_OK);
    assert_string_equal(text, want);
    free(text);
}

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

/* ---- settings */

static const char SET[] = "set fps=12\n"
                          "set split.stack=0.7\n"
                          "bind \"F5\" \"focus log; zoom on\"\n"
                          "bind \"\\\"\" \"find \\\"a \\\\ b\\\"\"\n";

static void set_all(struct bench *b)
{
    run(b, "set fps 12; set split.stack=0.7; bind F5 \"focus log; zoom on\"");
    run(b, "bind \"\\\"\" \"find \\\"a \\\\ b\\\"\"");
}

static void settings_are_commands(void **state)
{
    struct bench *b = *state;
    config_is(b, "");
    set_all(b);
    config_is(b, SET);
    pw_config_reset(&b->app);
    config_is(b, "");
    run(b, SET); /* the text makes them what they were */
    config_is(b, SET);
    refused(b, "set split.stack=2", "split.stack=2: allowed are 0.01..0.99");
    refused(b, "set split.nowhere=0.5", "no option 'split.nowhere'");
    refused(b, "set fps=20 split.stack=7", "split.stack=7"); /* nothing of it is set */
    refused(b, "bind F5", "usage");
    refused(b, "bind Hyper-X zoom", "no key is called 'Hyper-X'");
    refused(b, "bind F6 \"trian 5\"", "no command 'trian'");
    refused(b, "bind : zoom", ": keeps its meaning");
    refused(b, "unbind F7", "F7 is not bound");
    refused(b, "unbind", "usage");
    run(b, "unbind F5; unbind \"\\\"\"");
    config_is(b, "set fps=12\nset split.stack=0.7\n");
}

/* Saved, read by another session, saved again: the same file; what the user wrote above stays. */
static void settings_survive_in_a_file(void **state)
{
    struct bench *b = *state;
    struct pw_str errors = {0};
    char first[4096];
    const char *path = path_of(b, "pewter/pewterrc");
    set_all(b);
    run(b, "config save");
    assert_non_null(strstr(b->app.ui.message, path));
    snprintf(first, sizeof first, "# below: written by `config save`; what stands above is yours\n%s", SET);
    file_is(path, first);
    pw_config_reset(&b->app);
    pw_config_begin(&b->app, &errors);
    assert_string_equal(pw_str_text(&errors), "");
    config_is(b, SET);
    run(b, "config save");
    file_is(path, first);

    write_file(path, "# mine\nset fps=9\nfocus log"); /* without an end of line */
    run(b, "set fps=10; config save");
    snprintf(
        first, sizeof first,
        "# mine\nset fps=9\nfocus log\n# below: written by `config save`; what stands above is yours\n%s",
        SET);
    memcpy(strstr(first, "fps=12"), "fps=10", 6);
    file_is(path, first);
    run(b, "config load");
    assert_int_equal(b->app.settings.fps, 10); /* the later line */
    assert_int_equal(b->app.ui.focus, PW_PANE_LOG);
    pw_str_fini(&errors);
}

/* A line with a mistake is told by file and number, and the rest is run. */
static void mistakes_in_the_file(void **state)
{
    struct bench *b = *state;
    struct pw_str errors = {0};
    char want[1024];
    char *path = path_of(b, "rc");
    write_file(path, "set fps=5 # slow\n\nset fsp=3\ntrain 100\nconfig save\nbind F2 \"train 10\"\nset "
                     "fps=\"x\nzoom\nsource x\n");
    assert_int_equal(pw_config_load(&b->app, path, &errors, &b->err), PW_OK);
    const char *line = pw_str_text(&errors);
    static const char *const found[] = {"3: set: no option 'fsp'", "4: no command 'train'",
                                        "5: config: only commands of the workbench",
                                        "7: ", "9: source: only commands of the workbench"};
    for (int i = 0; i < 5;
         i++) { /* of line 6 the number alone: the bound line is the laboratory's, which these tests lack */
        if (i == 3) {
            assert_non_null(strstr(line, ":6: "));
            line = strchr(line, '\n') + 1;
        }
        snprintf(want, sizeof want, "%s:%s", path, found[i]);
        if (strncmp(line, want, strlen(want)) != 0)
            fail_msg("'%s' does not begin with '%s'", line, want);
        line = strchr(line, '\n') + 1;
    }
    assert_int_equal(*line, '\0');
    assert_int_equal(b->app.settings.fps, 5);
    assert_true(b->app.ui.zoom);
    refused(b, "config load /nowhere/rc", "/nowhere/rc");
    refused(b, "config save /nowhere/rc", "/nowhere/rc");
    refused(b, "config", "usage");
    refused(b, "config keep", "usage");
    run(b, "config show");
    screen_shows(b, "set fps=5", true);
    struct pw_str none = {0};
    pw_ui_key(&b->app.ui, ESCAPE, &none);
    screen_shows(b, "set fps=5", false);
    pw_str_fini(&errors);
}

static void plain_mode_takes_what_it_can(void **state)
{
    struct bench *b = *state;
    struct pw_str errors = {0};
    char *path = path_of(b, "rc");
    b->app.screen = false;
    write_file(path, "focus log\nset fps=5\nbind x zoom\n");
    assert_int_equal(pw_config_load(&b->app, path, &errors, &b->err), PW_OK);
    assert_string_equal(pw_str_text(&errors), "");
    assert_int_equal(b->app.settings.fps, 5);
    static const char *const lines[] = {"goto live", "find x", "filter x", "copy"};
    for (int i = 0; i < 4; i++)
        refused(b, lines[i], "plain mode");
    pw_str_fini(&errors);
}

static void settings_go_back_and_forth(void **state)
{
    struct bench *b = *state;
    refused(b, "undo", "pe NAME"); /* the laboratory is changed back otherwise, and how */
    refused(b, "redo", "nothing was undone");
    run(b, "set fps=12");
    run(b, "bind F5 zoom");
    run(b, "set split.stack 0.7");
    run(b, "undo");
    config_is(b, "set fps=12\nbind \"F5\" \"zoom\"\n");
    assert_non_null(strstr(b->app.ui.message, "no longer: set split.stack=0.7"));
    run(b, "undo");
    config_is(b, "set fps=12\n");
    run(b, "redo");
    config_is(b, "set fps=12\nbind \"F5\" \"zoom\"\n");
    run(b, "set fps=20"); /* another future */
    refused(b, "redo", "nothing was undone");
    run(b, "undo");
    assert_non_null(strstr(b->app.ui.message, "now: set fps=12"));
    run(b, "undo; undo");
    config_is(b, "");
    run(b, "set fps=12 color=mono"); /* one step back, and all of it told */
    run(b, "set fps=3 theme=dark");
    run(b, "undo");
    assert_string_equal(b->app.ui.message,
                        "undone, now: set fps=12, no longer: set theme=dark   Ctrl-R: again");
    run(b, "undo");
    assert_string_equal(b->app.ui.message, "undone, no longer: set color=mono; set fps=12   Ctrl-R: again");
    refused(b, "undo", "no setting");
    for (int i = 0; i < 3 * PW_UNDO_MAX; i++) /* more than are kept */
        run(b, i % 2 ? "set fps=7" : "set fps=8");
    for (int i = 0; i < PW_UNDO_MAX - 1; i++)
        run(b, "undo");
    refused(b, "undo", "no setting");
}

/* ---- time */

static void tick(struct bench *b, int64_t step, enum pw_event_kind kind, const char *text)
{
    struct pw_event e = {.kind = kind, .arm = b->s->current, .step = step};
    snprintf(e.u.text, sizeof e.u.text, "%s", text);
    pw_fold(b->s, &e);
}

static void time_is_looked_at(void **state)
{
    struct bench *b = *state;
    struct pw_ui *ui = &b->app.ui;
    struct pw_str line = {0};
    int64_t last = pw_timeline_last(ui);
    assert_int_equal(last, 640);
    assert_int_equal(ui->time, -1);
    screen_shows(b, "▸ live", true);
    screen_shows(b, "640/1000", true);
    run(b, "goto 400");
    assert_int_equal(ui->time, 400);
    screen_shows(b, "viewing step 400 of 640", true);
    screen_shows(b, "400 of 640", true);
    b->s->prompt_step = 640;
    ui->focus = PW_PANE_STEP;
    screen_shows(b, "live, not step 400", true); /* answers of earlier weights are not kept */
    ui->focus = PW_PANE_IO;
    screen_shows(b, "step 640, not 400", true);
    run(b, "goto +100");
    assert_int_equal(ui->time, 500);
    run(b, "goto -500");
    assert_int_equal(ui->time, 0);
    refused(b, "goto -1", "outside 0..640");
    refused(b, "goto 641", "allowed are 0..640");
    refused(b, "goto +641", "allowed");
    refused(b, "goto now", "allowed are 0..640, +N, -N, live, mark");
    refused(b, "goto", "usage");
    refused(b, "goto 3 4", "usage");
    refused(b, "goto mark nothing", "no mark of the current arm has 'nothing'");
    run(b, "goto 640"); /* the present */
    assert_int_equal(ui->time, -1);
    run(b, "goto 5");
    pw_ui_key(ui, 'L', &line);
    assert_int_equal(ui->time, -1);
    screen_shows(b, "viewing", false);
    b->s->arms[b->s->current - 1].info.step = 0; /* an arm that has not begun */
    run(b, "goto 0");
    assert_int_equal(ui->time, -1);
    refused(b, "goto 1", "0..0");
    draw(b);
    pw_str_fini(&line);
}

static void ticks_are_stations(void **state)
{
    struct bench *b = *state;
    struct pw_ui *ui = &b->app.ui;
    struct pw_str line = {0};
    b->s->n_ticks = 0;
    tick(b, 100, PW_EV_CHECKPOINT, "a.safetensors");
    tick(b, 300, PW_EV_CHECKPOINT, "b.safetensors");
    const struct pw_kept *kept = &b->s->arms[b->s->current - 1].kept;
    int64_t before = pw_timeline_last(ui);
    int n = 0, saved = 0;
    assert_true(kept->n > 0);
    do { /* back through saved weights and kept maps to the beginning */
        pw_ui_key(ui, PW_KEY_SHIFT_LEFT, &line);
        assert_in_range(ui->time, 0, before - 1);
        before = ui->time;
        saved += before == 100 || before == 300;
        if (before == 300)
            screen_shows(b, "saved b.safetensors", true);
        assert_string_equal(ui->message, before == 100   ? "step 100: saved a.safetensors"
                                         : before == 300 ? "step 300: saved b.safetensors"
                                                         : ""); /* kept maps have no story */
        n++;
    } while (before > 0);
    assert_int_equal(saved, 2);
    assert_in_range(n, 3, kept->n + 3);
    for (int i = 0; i < n; i++)
        pw_ui_key(ui, PW_KEY_SHIFT_RIGHT, &line);
    assert_int_equal(ui->time, -1); /* past the newest it is live */
    b->s->current = 2;              /* another arm has its own */
    pw_ui_key(ui, PW_KEY_SHIFT_LEFT, &line);
    assert_int_equal(ui->time, 0);
    pw_str_fini(&line);
}

/* Every column of the row gives a step that is drawn in that column, at any width. */
static void every_column_is_a_step(void **state)
{
    struct bench *b = *state;
    struct pw_ui *ui = &b->app.ui;
    for (int w = 1; w <= 200; w += 7) {
        struct pw_rect r = {0, 0, 1, w};
        int64_t before = -1;
        pw_canvas_resize(&b->c, 1, w);
        pw_timeline_draw(ui, &b->c, r);
        for (int x = 0; x < w; x++) {
            int64_t step = pw_timeline_at(ui, r, x);
            assert_in_range(step + 1, 0, 640);
            if (step >= 0 && x > 9) {
                assert_true(step >= before);
                before = step;
            }
        }
    }
    pw_canvas_resize(&b->c, 24, 80);
}

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
    draw(b);
    int before = reversed(b), marked;
    run(b, "find sort");
    draw(b);
    assert_non_null(strstr(ui->message, "'sort': 1 of "));
    marked = reversed(b) - before;
    assert_true(marked >= 4 && marked % 4 == 0);
    pw_ui_key(ui, 'n', &line);
    draw(b);
    pw_ui_key(ui, 'N', &line);
    draw(b);
    assert_non_null(strstr(ui->message, "'sort': 1 of "));
    run(b, "find SORT"); /* a capital makes it exact */
    draw(b);
    assert_non_null(strstr(ui->message, "'SORT' is not in this pane"));
    pw_ui_key(ui, ESCAPE, &line);
    assert_string_equal(ui->find.text, "");
    pw_ui_key(ui, 'n', &line);
    assert_non_null(strstr(ui->message, "nothing is searched for"));
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
    run(b, "find needle");
    screen_shows(b, "needle 87", true);
    assert_non_null(strstr(ui->message, "1 of 3"));
    pw_ui_key(ui, 'n', &line);
    screen_shows(b, "needle 47", true);
    pw_ui_key(ui, 'n', &line);
    screen_shows(b, "needle 7", true);
    pw_ui_key(ui, 'N', &line);
    screen_shows(b, "needle 47", true);
    pw_ui_key(ui, 'N', &line);
    pw_ui_key(ui, 'N', &line); /* round the end */
    assert_non_null(strstr(ui->message, "3 of 3"));
    screen_shows(b, "needle 7", true);
    run(b, "find nothing of that");
    assert_non_null(strstr(ui->message, "is not in this pane"));
    run(b, "find; filter needle");
    screen_shows(b, "needle 47", true);
    screen_shows(b, "hay", false);
    screen_shows(b, "only 'needle'", true);
    run(b, "filter nowhere");
    screen_shows(b, "no line has the filter's text", true);
    run(b, "filter");
    screen_shows(b, "hay 99", true);
    pw_str_fini(&line);
}

/* While it is typed a search is shown; given up, all is as it was before, also where the log stood. */
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
    run(b, "find 99");
    ui->log.up = 0;
    for (size_t i = 0; i < sizeof typed / sizeof *typed; i++)
        pw_search_try(ui, typed[i]);
    assert_string_equal(ui->find.text, "hay 3");
    screen_shows(b, "hay 39", true);
    assert_true(ui->log.up > 0);
    pw_search_try(ui, "find ");
    assert_string_equal(ui->find.text, "");
    pw_search_try(ui, "find x");
    pw_search_try(ui, NULL);
    assert_string_equal(ui->find.text, "99");
    assert_string_equal(ui->message, "");
    assert_int_equal(ui->log.up, 0);
    pw_search_try(ui, "train 5");
    pw_search_try(ui, NULL); /* nothing was tried */
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
        run(b, "copy");
        const char *path = path_of(b, "pewter/copy.tsv");
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
    snprintf(line, sizeof line, "copy %s", path_of(b, "mine"));
    run(b, line);
    assert_int_equal(access(path_of(b, "mine"), R_OK), 0);
    refused(b, "copy /nowhere/x", "/nowhere/x");
    refused(b, "copy a b", "usage");
    pw_str_fini(&want);
}

/* ---- the list */

static void keys(struct bench *b, const char *text)
{
    struct pw_str line = {0};
    for (; *text; text++)
        pw_ui_key(&b->app.ui, *text, &line);
    assert_int_equal(line.len, 0); /* it never runs anything itself */
    pw_str_fini(&line);
}

static void the_list_narrows_and_runs(void **state)
{
    struct bench *b = *state;
    struct pw_ui *ui = &b->app.ui;
    struct pw_str line = {0};
    keys(b, "?");
    assert_true(ui->help);
    screen_shows(b, "Keys and commands", true);
    screen_shows(b, "evaluate all arms now", true);
    keys(b, "undo a bind"); /* every word counts, of key, name or meaning */
    screen_shows(b, "undo and redo a setting, a binding", true);
    screen_shows(b, "take back a setting, a binding", true);
    screen_shows(b, "evaluate", false);
    keys(b, "\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f");
    assert_string_equal(ui->palette.filter, "");

    keys(b, "arm\n"); /* the first entry about arms is a key of the pane: evaluate */
    assert_false(ui->help);
    assert_int_equal(ui->press, 'e');
    ui->press = 0;

    keys(b, "?goto\n"); /* a command is typed, to be completed */
    assert_false(ui->help);
    assert_string_equal(ui->ask, "goto ");
    assert_int_equal(ui->press, 0);
    ui->ask[0] = '\0';
    keys(b, "?redo\n"); /* its name comes before where it is mentioned */
    assert_string_equal(ui->ask, "redo");
    ui->ask[0] = '\0';

    keys(b, "?focus a pane"); /* of several keys one is chosen */
    pw_ui_key(ui, PW_KEY_RIGHT, &line);
    pw_ui_key(ui, PW_KEY_RIGHT, &line);
    pw_ui_key(ui, PW_KEY_RIGHT, &line);
    draw(b);
    pw_ui_key(ui, PW_KEY_LEFT, &line);
    keys(b, "\n");
    assert_int_equal(ui->press, '1');
    ui->press = 0;

    keys(b, "?oldest and newest"); /* another pane's key takes the focus there */
    keys(b, "\n");
    assert_int_equal(ui->focus, PW_PANE_LOG);
    assert_int_equal(ui->press, 'g');
    ui->press = 0;

    keys(b, "?back to live\n"); /* what would do nothing says why and stays */
    assert_true(ui->help);
    assert_non_null(strstr(ui->message, "it is live already"));
    keys(b, "zzz");
    screen_shows(b, "no key and no command is about that", true);
    keys(b, "\n");
    assert_true(ui->help);
    pw_ui_key(ui, ESCAPE, &line);
    assert_false(ui->help);
    keys(b, "??");
    assert_false(ui->help);

    run(b, "bind F5 \"focus log; zoom on\"");
    keys(b, "?");
    keys(b, "F5\n");
    assert_int_equal(ui->press, PW_KEY_F1 + 4);
    pw_str_fini(&line);
}

/* Whatever is typed and wherever the choice goes, at any size. */
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
                draw(b);
            }
        }
    pw_canvas_resize(&b->c, 24, 80);
    pw_ui_key(&b->app.ui, PW_KEY_END, &line);
    screen_shows(b, "oldest and newest", true); /* the last one is in sight */
    for (int i = 0; i < 100; i++)
        keys(b, "x");
    draw(b);
    pw_str_fini(&line);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(settings_are_commands),      TEST(settings_survive_in_a_file),
        TEST(mistakes_in_the_file),       TEST(plain_mode_takes_what_it_can),
        TEST(settings_go_back_and_forth), TEST(time_is_looked_at),
        TEST(ticks_are_stations),         TEST(every_column_is_a_step),
        TEST(search_marks_what_is_drawn), TEST(the_log_is_searched_beyond_the_screen),
        TEST(search_marks_what_is_drawn), TEST(a_search_is_tried_while_it_is_typed),
        TEST(base64_is_rfc_4648),         TEST(panes_are_copied),
        TEST(the_list_narrows_and_runs),  TEST(the_list_at_any_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
