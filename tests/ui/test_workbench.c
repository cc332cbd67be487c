/* test_workbench.c - tests the commands of the workbench: settings as text, undo, bindings, the timeline. */
#include "ref_bench.h"

#include <stdio.h>
#include <string.h>

#include "ui/commands/commands.h"
#include "ui/config.h"
#include "ui/timeline.h"

/* ---- settings */

static const char SET[] = "set fps=12\n"
                          "set split.stack=0.7\n"
                          "bind \"F5\" \"focus log; zoom on\"\n"
                          "bind \"\\\"\" \"find \\\"a \\\\ b\\\"\"\n";

static void set_all(struct bench *b)
{
    bench_run(b, "set fps 12; set split.stack=0.7; bind F5 \"focus log; zoom on\"");
    bench_run(b, "bind \"\\\"\" \"find \\\"a \\\\ b\\\"\"");
}

static void settings_are_commands(void **state)
{
    struct bench *b = *state;
    bench_config_is(b, "");
    set_all(b);
    bench_config_is(b, SET);
    pw_config_reset(&b->app);
    bench_config_is(b, "");
    bench_run(b, SET); /* the printed text restores the settings */
    bench_config_is(b, SET);
    bench_refused(b, "set split.stack=2", "split.stack=2: allowed are 0.01..0.99");
    bench_refused(b, "set split.nowhere=0.5", "no option 'split.nowhere'");
    bench_refused(b, "set fps=20 split.stack=7", "split.stack=7"); /* no part of it is set */
    bench_run(b, "set");
    bench_shows(b, "fps=12", true);
    bench_shows(b, "split.stack=0.7", true);
    bench_shows(b, "threads isa precision share temperature", true);
    pw_ui_key(&b->app.ui, PW_KEY_ESCAPE, &(struct pw_str){0});
    bench_refused(b, "bind F5", "usage");
    bench_refused(b, "bind Hyper-X zoom", "no key is called 'Hyper-X'");
    bench_refused(b, "bind F6 \"trian 5\"", "no command 'trian'");
    bench_refused(b, "bind : zoom", ": keeps its meaning");
    bench_refused(b, "unbind F7", "F7 is not bound");
    bench_refused(b, "unbind", "usage");
    bench_run(b, "unbind F5; unbind \"\\\"\"");
    bench_config_is(b, "set fps=12\nset split.stack=0.7\n");
}

/* Settings are saved, read by another session, and saved again: the file is the same. The user's lines above
 * them stay. */
static void settings_survive_in_a_file(void **state)
{
    struct bench *b = *state;
    struct pw_str errors = {0};
    char first[4096];
    const char *path = bench_path_of(b, "pewter/pewterrc");
    set_all(b);
    bench_run(b, "config save");
    assert_non_null(strstr(b->app.ui.message, path));
    snprintf(first, sizeof first, "# below: written by `config save`; what stands above is yours\n%s", SET);
    bench_file_is(path, first);
    pw_config_reset(&b->app);
    pw_config_begin(&b->app, &errors);
    assert_string_equal(pw_str_text(&errors), "");
    bench_config_is(b, SET);
    bench_run(b, "config save");
    bench_file_is(path, first);

    bench_write_file(path, "# mine\nset fps=9\nfocus log"); /* without an end of line */
    bench_run(b, "set fps=10; config save");
    snprintf(
        first, sizeof first,
        "# mine\nset fps=9\nfocus log\n# below: written by `config save`; what stands above is yours\n%s",
        SET);
    memcpy(strstr(first, "fps=12"), "fps=10", 6);
    bench_file_is(path, first);
    bench_run(b, "config load");
    assert_int_equal(b->app.settings.fps, 10); /* the later line */
    assert_int_equal(b->app.ui.focus, PW_PANE_LOG);
    pw_str_fini(&errors);
}

/* A line with a mistake is reported by file and number, and the other lines are run. */
static void mistakes_in_the_file(void **state)
{
    struct bench *b = *state;
    struct pw_str errors = {0};
    char want[1024];
    char *path = bench_path_of(b, "rc");
    bench_write_file(path, "set fps=5 # slow\n\nset fsp=3\ntrain 100\nconfig save\nbind F2 \"train 10\"\nset "
                           "fps=\"x\nzoom\nsource x\n");
    assert_int_equal(pw_config_load(&b->app, path, &errors, &b->err), PW_OK);
    const char *line = pw_str_text(&errors);
    static const char *const found[] = {"3: set: no option 'fsp'", "4: no command 'train'",
                                        "5: config: only commands of the workbench",
                                        "7: ", "9: source: only commands of the workbench"};
    for (int i = 0; i < 5;
         i++) { /* for line 6 only the number: the bound command is the lab's, which these tests lack */
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
    bench_refused(b, "config load /nowhere/rc", "/nowhere/rc");
    bench_refused(b, "config save /nowhere/rc", "/nowhere/rc");
    bench_refused(b, "config", "usage");
    bench_refused(b, "config keep", "usage");
    bench_run(b, "config show");
    bench_shows(b, "set fps=5", true);
    struct pw_str none = {0};
    pw_ui_key(&b->app.ui, PW_KEY_ESCAPE, &none);
    bench_shows(b, "set fps=5", false);
    pw_str_fini(&errors);
}

static void plain_mode_takes_what_it_can(void **state)
{
    struct bench *b = *state;
    struct pw_str errors = {0};
    char *path = bench_path_of(b, "rc");
    b->app.screen = false;
    bench_write_file(path, "focus log\nset fps=5\nbind x zoom\n");
    assert_int_equal(pw_config_load(&b->app, path, &errors, &b->err), PW_OK);
    assert_string_equal(pw_str_text(&errors), "");
    assert_int_equal(b->app.settings.fps, 5);
    static const char *const lines[] = {"goto live", "find x", "filter x", "copy"};
    for (int i = 0; i < 4; i++)
        bench_refused(b, lines[i], "plain mode");
    pw_str_fini(&errors);
}

static void settings_go_back_and_forth(void **state)
{
    struct bench *b = *state;
    bench_refused(b, "undo", "pe NAME"); /* undo doesn't cover the lab; the message says how */
    b->s->session.how = PW_REC_ON;
    strcpy(b->s->session.name, "my runs");
    bench_refused(b, "undo", "'open \"my runs\" from=STEP' goes back in training");
    b->s->session.how = PW_REC_READ;
    bench_refused(b, "undo", "'pewter replay my runs --from STEP' continues from a step");
    b->s->session.how = PW_REC_NONE;
    bench_refused(b, "redo", "nothing was undone");
    bench_run(b, "set fps=12");
    bench_run(b, "bind F5 zoom");
    bench_run(b, "set split.stack 0.7");
    bench_run(b, "undo");
    bench_config_is(b, "set fps=12\nbind \"F5\" \"zoom\"\n");
    assert_non_null(strstr(b->app.ui.message, "no longer: set split.stack=0.7"));
    bench_run(b, "undo");
    bench_config_is(b, "set fps=12\n");
    bench_run(b, "redo");
    bench_config_is(b, "set fps=12\nbind \"F5\" \"zoom\"\n");
    bench_run(b, "set fps=20"); /* another change, so redo is no longer possible */
    bench_refused(b, "redo", "nothing was undone");
    bench_run(b, "undo");
    assert_non_null(strstr(b->app.ui.message, "now: set fps=12"));
    bench_run(b, "undo; undo");
    bench_config_is(b, "");
    bench_run(b, "set fps=12 color=mono"); /* one step back, and all of it is reported */
    bench_run(b, "set fps=3 theme=dark");
    bench_run(b, "undo");
    assert_string_equal(b->app.ui.message,
                        "undone, now: set fps=12, no longer: set theme=dark   Ctrl-R: redo");
    bench_run(b, "undo");
    assert_string_equal(b->app.ui.message, "undone, no longer: set color=mono; set fps=12   Ctrl-R: redo");
    bench_refused(b, "undo", "no setting");
    for (int i = 0; i < 3 * PW_UNDO_MAX; i++) /* more than are kept */
        bench_run(b, i % 2 ? "set fps=7" : "set fps=8");
    for (int i = 0; i < PW_UNDO_MAX - 1; i++)
        bench_run(b, "undo");
    bench_refused(b, "undo", "no setting");
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
    bench_shows(b, "▸ live", true);
    bench_shows(b, "640/1000", true);
    bench_run(b, "goto 400");
    assert_int_equal(ui->time, 400);
    bench_shows(b, "viewing step 400 of 640", true);
    bench_shows(b, "400 of 640", true);
    b->s->prompt_step = 640;
    ui->focus = PW_PANE_STEP;
    bench_shows(b, "live, not step 400", true); /* answers of earlier weights are not kept */
    ui->focus = PW_PANE_IO, ui->zoom = true;
    bench_shows(b, "step 640, not 400", true);
    ui->focus = PW_PANE_LENGTHS, ui->zoom = false;
    bench_run(b, "goto +100");
    assert_int_equal(ui->time, 500);
    bench_run(b, "goto -500");
    assert_int_equal(ui->time, 0);
    bench_refused(b, "goto -1", "outside 0..640");
    bench_refused(b, "goto 641", "allowed are 0..640");
    bench_refused(b, "goto +641", "allowed");
    bench_refused(b, "goto now", "allowed are 0..640, +N, -N, live, mark");
    bench_refused(b, "goto", "usage");
    bench_refused(b, "goto 3 4", "usage");
    bench_refused(b, "goto mark nothing", "no mark of the current arm has 'nothing'");
    bench_run(b, "goto 640"); /* the present */
    assert_int_equal(ui->time, -1);
    bench_run(b, "goto 5");
    pw_ui_key(ui, 'L', &line);
    assert_int_equal(ui->time, -1);
    bench_shows(b, "viewing", false);
    b->s->arms[b->s->current - 1].info.step = 0; /* an arm that has not begun */
    bench_run(b, "goto 0");
    assert_int_equal(ui->time, -1);
    bench_refused(b, "goto 1", "0..0");
    bench_draw(b);
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
    do { /* back through checkpoints and kept maps to the beginning */
        pw_ui_key(ui, PW_KEY_SHIFT_LEFT, &line);
        assert_in_range(ui->time, 0, before - 1);
        before = ui->time;
        saved += before == 100 || before == 300;
        if (before == 300)
            bench_shows(b, "saved b.safetensors", true);
        assert_string_equal(ui->message, before == 100   ? "step 100: saved a.safetensors"
                                         : before == 300 ? "step 300: saved b.safetensors"
                                                         : ""); /* kept maps have no label */
        n++;
    } while (before > 0);
    assert_int_equal(saved, 2);
    assert_in_range(n, 3, kept->n + 3);
    for (int i = 0; i < n; i++)
        pw_ui_key(ui, PW_KEY_SHIFT_RIGHT, &line);
    assert_int_equal(ui->time, -1); /* beyond the newest it is live */
    b->s->current = 2;              /* another arm has its own */
    pw_ui_key(ui, PW_KEY_SHIFT_LEFT, &line);
    assert_int_equal(ui->time, 0);
    pw_str_fini(&line);
}

/* Every column of the row selects a step that is drawn in that column, at any width. */
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

/* The end of the message names the allowed values. */
static void a_long_error_is_whole(void **state)
{
    struct bench *b = *state;
    struct pw_ui *ui = &b->app.ui;
    strcpy(ui->message,
           "no encoding 'foo'; there are none, learned, sinusoidal, t5, alibi, rotary, clipped and "
           "cosine, and some more that a line of eighty columns has no room for");
    ui->message_is_error = true;
    bench_shows(b, "\n! no encoding 'foo'; there are none, learned, sinusoidal, t5, alibi, rotary,\n", true);
    bench_shows(b, "\n  clipped and cosine, and some more that a line of eighty columns has no room\n", true);
    bench_shows(b, "\n  for", true);
    ui->message[0] = '\0';
    bench_shows(b, "q quit", true);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, bench_setup, bench_teardown)
    const struct CMUnitTest tests[] = {
        TEST(settings_are_commands),        TEST(settings_survive_in_a_file), TEST(mistakes_in_the_file),
        TEST(plain_mode_takes_what_it_can), TEST(settings_go_back_and_forth), TEST(time_is_looked_at),
        TEST(ticks_are_stations),           TEST(every_column_is_a_step),     TEST(a_long_error_is_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
