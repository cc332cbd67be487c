/* ref_viewing.c - see ref_viewing.h. */
#include "ref_viewing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ref_recording.h"
#include "ui/commands/commands.h"

static const struct pw_command nothing = {
    .name = "train", .usage = "train", .summary = "", .where = PW_AT_LAB};
static const struct pw_command *list[64];
static const struct pw_commands commands = {list};

int viewing_setup(void **state)
{
    struct viewing *v = calloc(1, sizeof *v);
    static const struct pw_command *const lab[] = {&nothing, NULL};
    pw_commands_join(list, pw_commands_join(list, 0, lab), pw_ui_commands);
    strcpy(v->folder, "/tmp/pewter-transport-XXXXXX");
    if (mkdtemp(v->folder) == NULL)
        return 1;
    snprintf(v->session, sizeof v->session, "%s/r.pewter", v->folder);
    recording_make(v->session);
    v->app.commands = &commands;
    v->app.screen = true;
    pw_ui_init(&v->app.ui);
    v->app.ui.look = (struct pw_abilities){PW_COLORS_TRUE, true, true};
    v->app.ui.focus = PW_PANE_LOG; /* other panes use some of the keys */
    v->present = pw_snapshot_new();
    pw_canvas_init(&v->c);
    pw_canvas_resize(&v->c, 24, 80);
    *state = v;
    return 0;
}

int viewing_teardown(void **state)
{
    struct viewing *v = *state;
    char text[128];
    snprintf(text, sizeof text, "rm -r %s", v->folder);
    pw_app_end(&v->app);
    pw_canvas_fini(&v->c);
    pw_str_fini(&v->line);
    pw_snapshot_free(v->present);
    free(v);
    return system(text);
}

void viewing_run(struct viewing *v, const char *line)
{
    v->app.ui.message[0] = '\0';
    if (pw_app_submit(&v->app, line, PW_SEND_NOW, &v->err) != PW_OK)
        fail_msg("%s: %s", line, v->err.msg);
}

void viewing_refused(struct viewing *v, const char *line, const char *why)
{
    uint64_t at = v->app.ui.transport.at;
    if (pw_app_submit(&v->app, line, PW_SEND_NOW, &v->err) == PW_OK)
        fail_msg("%s was taken", line);
    if (strstr(v->err.msg, why) == NULL || strchr(v->err.msg, '\n') != NULL)
        fail_msg("%s: '%s' lacks '%s'", line, v->err.msg, why);
    assert_int_equal(v->app.ui.transport.at, at);
}

const char *viewing_press(struct viewing *v, int key)
{
    pw_str_clear(&v->line);
    assert_true(pw_ui_key(&v->app.ui, key, &v->line));
    return pw_str_text(&v->line);
}

void viewing_shows(struct viewing *v, const char *what, bool shown)
{
    struct pw_str text = {0};
    pw_ui_frame(&v->app.ui, &v->c);
    pw_canvas_text(&v->c, &text);
    if ((strstr(text.s, what) != NULL) != shown)
        fail_msg("'%s' is %s\n%s", what, shown ? "missing" : "there", text.s);
    pw_str_fini(&text);
}

void viewing_steps_are(struct viewing *v, int64_t none, int64_t alibi)
{
    const struct pw_snapshot *s = v->app.ui.snap;
    assert_int_equal(s->arms[0].info.step, none);
    assert_int_equal(s->arms[1].info.step, alibi);
    assert_int_equal(s->arms[0].rep[0].series.n, none);
}
