/* test_disk.c - keys and commands that read or write files, while the disk does not answer. */
#include "ref_bench.h"
#include "ref_recording.h"
#include "ref_slow.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ui/disk.h"
#include "ui/history.h"

/* Presses a key and runs the line that it stands for, as the loop does. */
static void press(struct bench *b, int key)
{
    struct pw_str line = {0};
    pw_ui_key(&b->app.ui, key, &line);
    if (line.len > 0)
        bench_run(b, line.s);
    pw_str_fini(&line);
}

static void take_written(struct bench *b)
{
    pw_disk_wait(b->app.disk);
    assert_int_equal(pw_app_take_written(&b->app, &b->err), PW_OK);
}

/* Runs a script to its end, as the loop does. */
static void run_script(struct bench *b)
{
    while (pw_script_busy(&b->app)) {
        assert_int_equal(pw_script_go_on(&b->app, &b->err), PW_OK);
        take_written(b);
    }
}

/* While the disk is stuck, keys that write files are done at once, and later keys reach the screen. */
static void no_key_waits_for_the_disk(void **state)
{
    struct bench *b = *state;
    char first[256];
    b->app.disk = pw_disk_open();
    bench_run(b, "focus lengths");
    slow_stick(true);
    press(b, 'Y');
    bench_shows(b, "wrote", false);
    press(b, 'Y'); /* another name, although the first files are not there yet */
    press(b, 'y');
    press(b, 'v');
    bench_shows(b, "errors 2/4", true);
    assert_int_equal(slow_by_screen(), 0);
    slow_stick(false);
    take_written(b);
    assert_true(slow_synced_by_others() > 0);
    bench_shows(b, "bytes in", true);
    snprintf(first, sizeof first, "%s/pewter/screenshots/lengths-640", b->folder);
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 3; k++) {
            static const char *const endings[] = {"txt", "ans", "svg"};
            char path[300];
            snprintf(path, sizeof path, "%s%s.%s", first, i ? "-2" : "", endings[k]);
            if (access(path, F_OK) != 0)
                fail_msg("%s is missing", path);
        }
    bench_run(b, "screenshot /nowhere/x.txt"); /* the error comes when the disk has said it */
    pw_disk_wait(b->app.disk);
    assert_int_equal(pw_app_take_written(&b->app, &b->err), PW_EIO);
    assert_non_null(strstr(b->err.msg, "/nowhere/x.txt"));
    assert_int_equal(pw_app_take_written(&b->app, &b->err), PW_OK);
    bench_run(b, "wait 0; copy"); /* in a script the next command finds the file */
    run_script(b);
    bench_shows(b, "bytes in", true);
    pw_script_end(&b->app);
}

/* Runs a line of a bench, with FILE as the path of a file in its folder. */
static void run_with(struct bench *b, const char *line, const char *file)
{
    char text[512];
    snprintf(text, sizeof text, line, bench_path_of(b, file));
    bench_run(b, text);
}

/* The session that the bench seems to record. */
static void set_session(struct bench *b)
{
    recording_make(bench_path_of(b, "r.pewter"));
    strcpy(b->s->session.folder, bench_path_of(b, "r.pewter"));
    strcpy(b->s->session.name, "r");
    b->s->session.how = PW_REC_ON;
}

static const struct {
    const char *line, *file;
} writers[] = {
    {"config save %s", "rc"},
    {"config save", "pewter/pewterrc"},
    {"copy", "pewter/copy.tsv"},
    {"export finding %s", "f.csv"},
    {"export finding %s finding=decay", "f.json"},
    {"export figure %s pane=curves", "f.svg"},
    {"export events %s", "e.jsonl"},
    {"export session %s", "s.pewter"},
    {"export cast %s speed=100", "c.cast"},
    {"film begin %s; film shot 0.1; film end", "m.svg"},
};
#define WRITERS (sizeof writers / sizeof *writers)

/* While the disk is stuck, no typed command that writes a file waits for it; each file is complete in the
 * end. */
static void no_command_waits_for_the_disk(void **state)
{
    struct bench *b = *state;
    b->app.disk = pw_disk_open();
    screen_set_findings(b->s);
    set_session(b);
    slow_stick(true);
    for (size_t i = 0; i < WRITERS; i++) {
        run_with(b, writers[i].line, writers[i].file);
        bench_shows(b, "wrote", false);
        bench_shows(b, "saved", false);
    }
    press(b, 'v'); /* a later key is not held up */
    assert_int_equal(slow_by_screen(), 0);
    slow_stick(false);
    take_written(b);
    bench_shows(b, "wrote", true);
    for (size_t i = 0; i < WRITERS; i++)
        if (access(bench_path_of(b, writers[i].file), F_OK) != 0)
            fail_msg("%s is missing", writers[i].file);
}

/* `film begin` does not wait for its check of the file. If the file can't be written, the film is dropped. */
static void a_film_without_a_file_is_dropped(void **state)
{
    struct bench *b = *state;
    b->app.disk = pw_disk_open();
    slow_stick(true);
    bench_run(b, "film begin /nowhere/x.svg");
    bench_run(b, "film shot 0.1");
    assert_int_equal(slow_by_screen(), 0);
    slow_stick(false);
    pw_disk_wait(b->app.disk);
    assert_int_equal(pw_app_take_written(&b->app, &b->err), PW_EIO);
    assert_non_null(strstr(b->err.msg, "/nowhere/x.svg"));
    bench_refused(b, "film shot 0.1", "no film");
    run_with(b, "film begin %s; film shot 0.1", "m.svg");
    take_written(b);
    bench_run(b, "film end");
    take_written(b);
    assert_int_equal(access(bench_path_of(b, "m.svg"), F_OK), 0);
}

/* A script waits for each file, and its next command finds it; the screen does not wait. */
static void a_script_waits_instead(void **state)
{
    struct bench *b = *state;
    char *rc = bench_path_of(b, "rc");
    b->app.disk = pw_disk_open();
    slow_stick(true);
    run_with(b, "set fps=7; wait 0; config save %s; set fps=9", "rc");
    for (int i = 0; i < 3; i++)
        assert_int_equal(pw_script_go_on(&b->app, &b->err), PW_OK);
    assert_int_equal(b->app.settings.fps, 7);
    assert_int_equal(slow_by_screen(), 0);
    press(b, 'v');
    slow_stick(false);
    run_script(b);
    assert_int_equal(b->app.settings.fps, 9);
    assert_int_equal(access(rc, F_OK), 0);
    run_with(b, "wait 0; config load %s", "rc"); /* restores what was saved */
    run_script(b);
    assert_int_equal(b->app.settings.fps, 7);
    bench_run(b, "wait 0; config save /nowhere/rc; set fps=11"); /* a failure ends it */
    for (enum pw_code code = PW_OK; code == PW_OK;) {
        assert_int_equal(pw_script_go_on(&b->app, &b->err), PW_OK);
        pw_disk_wait(b->app.disk);
        code = pw_app_take_written(&b->app, &b->err);
    }
    assert_non_null(strstr(b->err.msg, "/nowhere/rc"));
    assert_false(pw_script_busy(&b->app));
    assert_int_equal(b->app.settings.fps, 7);
}

/* Files are read beside the screen, after those that are still being written; the rest of the line waits. */
static void no_line_waits_for_a_file_to_be_read(void **state)
{
    struct bench *b = *state;
    b->app.disk = pw_disk_open();
    bench_write_file(bench_path_of(b, "x.pewter"), "set fps=20\nfocus lengths\n");
    slow_stick(true);
    run_with(b, "set fps=7; config save %s", "rc");
    run_with(b, "source %s; set fps=12", "x.pewter");
    assert_int_equal(b->app.settings.fps, 7);
    bench_run(b, "focus attention");
    assert_int_equal(b->app.ui.focus, PW_PANE_ATTENTION);
    slow_stick(false);
    take_written(b);
    run_script(b);
    assert_int_equal(b->app.settings.fps, 12); /* the file's line ran before */
    assert_int_equal(b->app.ui.focus, PW_PANE_LENGTHS);
    run_with(b, "config load %s; set escape=99", "rc");
    take_written(b);
    run_script(b);
    assert_int_equal(b->app.settings.fps, 7);
    assert_int_equal(b->app.settings.escape, 99);
    bench_write_file(bench_path_of(b, "bad.pewter"), "set fps=20\nset fps=x\n");
    run_with(b, "source %s; set fps=12", "bad.pewter");
    take_written(b);
    enum pw_code code = PW_OK;
    while (pw_script_busy(&b->app) && code == PW_OK)
        code = pw_script_go_on(&b->app, &b->err);
    assert_non_null(strstr(b->err.msg, "bad.pewter:2: set: fps=x"));
    assert_int_equal(b->app.settings.fps, 20);
    bench_run(b, "source /nowhere/x; set fps=12"); /* drops the rest of the line */
    pw_disk_wait(b->app.disk);
    assert_int_equal(pw_app_take_written(&b->app, &b->err), PW_EIO);
    assert_int_equal(strncmp(b->err.msg, "/nowhere/x", 10), 0);
    assert_false(pw_script_busy(&b->app));
    assert_int_equal(b->app.settings.fps, 20);
    run_with(b, "source %s", "x.pewter"); /* dropped by Ctrl-C before it was read */
    pw_script_end(&b->app);
    take_written(b);
    assert_false(pw_script_busy(&b->app));
}

/* A typed line is kept without waiting until the file takes it: here a pipe that is full. */
static void no_line_waits_for_the_history(void **state)
{
    struct bench *b = *state;
    struct pw_history h;
    int ends[2];
    char bytes[4096] = {0};
    (void)b;
    assert_int_equal(pipe(ends), 0);
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    while (write(ends[1], bytes, sizeof bytes) > 0)
        ;
    fcntl(ends[1], F_SETFL, 0);
    assert_int_equal(pw_history_open(&h, &b->err), PW_OK);
    close(h.fd);
    h.fd = ends[1];
    h.disk = pw_disk_open();
    alarm(60); /* to fail, not to hang */
    assert_true(pw_history_add(&h, "train 3"));
    assert_true(pw_history_add(&h, "eval"));
    alarm(0);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    struct pw_str all = {0};
    for (ssize_t n; strstr(pw_str_text(&all), "eval\n") == NULL;) {
        n = read(ends[0], bytes, sizeof bytes);
        for (ssize_t i = 0; i < n; i++)
            if (bytes[i])
                pw_str_put(&all, bytes + i, 1);
    }
    assert_string_equal(all.s, "train 3\neval\n");
    pw_str_fini(&all);
    pw_disk_close(h.disk);
    pw_history_close(&h);
    close(ends[0]);
}

/* Also after a failure: the end of the workbench waits for its files. */
static int unstick(void **state)
{
    slow_stick(false);
    return bench_teardown(state);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, bench_setup, unstick)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(no_key_waits_for_the_disk),           TEST(no_command_waits_for_the_disk),
        TEST(a_film_without_a_file_is_dropped),    TEST(a_script_waits_instead),
        TEST(no_line_waits_for_a_file_to_be_read), TEST(no_line_waits_for_the_history)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
