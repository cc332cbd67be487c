/* ref_bench.c - see ref_bench.h. */
#include "ref_bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "ui/commands/commands.h"
#include "ui/config.h"

static const struct pw_commands commands = {pw_ui_commands};

void bench_draw(struct bench *b)
{
    pw_ui_frame(&b->app.ui, &b->c);
}

int bench_setup(void **state)
{
    struct bench *b = calloc(1, sizeof *b);
    strcpy(b->folder, "/tmp/pewter-bench-XXXXXX");
    if (mkdtemp(b->folder) == NULL)
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
    bench_draw(b);
    *state = b;
    return 0;
}

int bench_teardown(void **state)
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

void bench_run(struct bench *b, const char *line)
{
    b->app.ui.message[0] = '\0';
    if (pw_app_submit(&b->app, line, PW_SEND_NOW, &b->err) != PW_OK)
        fail_msg("%s: %s", line, b->err.msg);
}

void bench_refused(struct bench *b, const char *line, const char *why)
{
    struct pw_str before = {0}, after = {0};
    pw_config_print(&b->app, &before);
    int64_t time = b->app.ui.time;
    if (pw_app_submit(&b->app, line, PW_SEND_NOW, &b->err) == PW_OK)
        fail_msg("%s was taken", line);
    if (strstr(b->err.msg, why) == NULL || strchr(b->err.msg, '\n') != NULL)
        fail_msg("%s: '%s' lacks '%s'", line, b->err.msg, why);
    pw_config_print(&b->app, &after);
    assert_string_equal(pw_str_text(&before), pw_str_text(&after));
    assert_int_equal(b->app.ui.time, time);
    pw_str_fini(&before);
    pw_str_fini(&after);
}

void bench_shows(struct bench *b, const char *what, bool shown)
{
    struct pw_str text = {0};
    bench_draw(b);
    pw_canvas_text(&b->c, &text);
    if ((strstr(text.s, what) != NULL) != shown)
        fail_msg("'%s' is %s\n%s", what, shown ? "missing" : "there", text.s);
    pw_str_fini(&text);
}

void bench_config_is(struct bench *b, const char *lines)
{
    struct pw_str text = {0};
    pw_config_print(&b->app, &text);
    assert_string_equal(pw_str_text(&text), lines);
    pw_str_fini(&text);
}

char *bench_path_of(struct bench *b, const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", b->folder, name);
    return path;
}

void bench_file_is(const char *path, const char *want)
{
    char *text;
    size_t size;
    struct pw_err err;
    assert_int_equal(pw_file_read(path, 1 << 20, &text, &size, &err), PW_OK);
    assert_string_equal(text, want);
    free(text);
}

void bench_write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}
