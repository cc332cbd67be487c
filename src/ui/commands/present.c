/* present.c - starts a lesson: its commands become the running script. */
#include "base/file.h"
#include "ui/app.h"
#include "ui/commands/commands.h"
#include "ui/lesson.h"
#include <stdlib.h>

static void complete(struct pw_completion *c)
{
    const char *names[32];
    int n = c->at == 0 ? pw_lesson_names(names, 32) : 0;
    for (int i = 0; i < n; i++)
        pw_complete_offer(c, "%s", names[i]);
}

static enum pw_code read_lesson(const char *name, char **text, struct pw_err *err)
{
    struct pw_str path = {0};
    size_t size;
    enum pw_code code = pw_lesson_path(name, &path, err);
    if (code == PW_OK)
        code = pw_file_read(path.s, PW_LESSON_BYTES, text, &size, err);
    pw_str_fini(&path);
    return code;
}

/* Lists the names of the lessons; on a page each has a line with its title. */
static enum pw_code list(struct pw_app *app, struct pw_err *err)
{
    const char *names[32];
    int n = pw_lesson_names(names, 32);
    struct pw_str all = {0};
    for (int i = 0; i < n; i++) {
        char *text, title[64];
        if (read_lesson(names[i], &text, NULL) != PW_OK)
            continue;
        pw_lesson_title(text, title, sizeof title);
        if (app->screen)
            pw_str_add(&all, "%s%s", all.len ? ", " : "lessons, started by `present NAME`: ", names[i]);
        else
            pw_str_add(&all, "%spresent %-12s %s", all.len ? "\n" : "", names[i], title);
        free(text);
    }
    if (all.len > 0)
        pw_app_answer(app, "%s", all.s);
    enum pw_code code =
        all.len > 0 ? PW_OK : pw_fail(err, PW_EUSER, "present: no lessons are installed; name a FILE");
    pw_str_fini(&all);
    return code;
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
    struct pw_str path = {0};
    enum pw_code code = pw_args_limit(&pw_ui_cmd_present, args, 0, 1, err);
    if (code != PW_OK)
        return code;
    if (pw_args_words(args) == 0)
        return list(app, err);
    if (app->ui.snap->state.run != PW_RUN_IDLE)
        return pw_fail(err, PW_EUSER, "present: training is running; 'stop' it first");
    code = pw_lesson_path(pw_args_word(args, 0), &path, err);
    if (code == PW_OK)
        code = pw_app_read(app, path.s, PW_LESSON_BYTES, begin_lesson, err);
    pw_str_fini(&path);
    return code;
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
