/* present.c - starts a lesson: its commands become the running script. */
#include "ui/app.h"
#include "ui/commands/commands.h"
#include "ui/lesson.h"
#include <stdlib.h>

static void complete(struct pw_completion *c)
{
    struct pw_folder names = {0};
    if (c->at == 0)
        pw_lesson_names(&names);
    for (int i = 0; i < names.n; i++)
        pw_complete_offer(c, "%s", names.names[i]);
    pw_folder_free(&names);
}

/* Appends the line of a lesson, with its title. */
static void add_lesson(struct pw_str *said, const char *name)
{
    struct pw_str path = {0};
    struct pw_err none;
    char *text = NULL, title[64];
    if (pw_lesson_path(name, &path, &none) == PW_OK &&
        pw_app_text(path.s, PW_LESSON_BYTES, &text, &none) == PW_OK) {
        pw_lesson_title(text, title, sizeof title);
        pw_str_add(said, "%spresent %-12s %s", said->len > 0 ? "\n" : "", name, title);
    }
    free(text);
    pw_str_fini(&path);
}

/* Lists the lessons, on the disk's thread. wide: a line for each, with its title; else only the names. */
static enum pw_code list_lessons(void *wide, struct pw_str *said, struct pw_err *err)
{
    struct pw_folder names;
    pw_lesson_names(&names);
    for (int i = 0; i < names.n; i++)
        if (wide != NULL)
            add_lesson(said, names.names[i]);
        else
            pw_str_add(said, "%s%s", i > 0 ? ", " : "lessons, started by `present NAME`: ", names.names[i]);
    pw_folder_free(&names);
    return said->len > 0 ? PW_OK : pw_fail(err, PW_EUSER, "present: no lessons are installed; name a FILE");
}

static enum pw_code begin_lesson(struct pw_app *app, const char *path, char *text, struct pw_err *err)
{
    enum pw_code code = pw_script_insert(app, path, text, err);
    if (code != PW_OK)
        return code;
    pw_lesson_title(text, app->ui.lesson.title, sizeof app->ui.lesson.title);
    app->ui.lesson.steps = pw_lesson_steps(text);
    app->ui.lesson.step = 0;
    app->ui.lesson.read = true; /* the first `say` begins step 1 */
    app->ui.lesson.waiting = false;
    app->ui.lesson.text[0] = '\0';
    return PW_OK;
}

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    struct pw_app *app = ctx;
    enum pw_code code = pw_args_limit(&pw_ui_cmd_present, args, 0, 1, err);
    if (code != PW_OK)
        return code;
    if (pw_args_words(args) == 0) {
        struct pw_disk_job job = {.work = list_lessons, .arg = app->screen ? NULL : app};
        return pw_app_write(app, &job, err);
    }
    if (pw_time_end(&app->ui)->state.run != PW_RUN_IDLE)
        return pw_fail(err, PW_EUSER, "present: training is running; 'stop' it first");
    return pw_app_read(app, pw_args_word(args, 0), pw_lesson_path, PW_LESSON_BYTES, begin_lesson, err);
}

const struct pw_command pw_ui_cmd_present = {
    .name = "present",
    .search = "tutorial course teach learn guide intro tour",
    .usage = "present [NAME|FILE]",
    .example = "present head",
    .summary = "start a lesson, step by step; without a name, list the lessons",
    .detail =
        "Enter continues, Backspace goes a step back, q leaves; the lab keeps the lesson's state. A lesson "
        "is a\n"
        "file of commands: its first line, a comment, is the title; `say` explains, `wait key` ends a step.",
    .where = PW_AT_UI,
    .complete = complete,
    .file_at = 1,
    .run = run,
};
