/* source.c - runs the lines of a file as a script. */
#include "ui/app.h"
#include "ui/commands/commands.h"

#define MOST_BYTES (1u << 20)
#define MOST_FILES 1000 /* in one script: a file that sources itself never ends */

static enum pw_code run_text(struct pw_app *app, const char *path, char *text, struct pw_err *err)
{
    enum pw_code code = pw_script_insert(app, path, text, err);
    if (code == PW_OK)
        app->todo.files++;
    return code;
}

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    struct pw_app *app = ctx;
    const char *path = pw_args_word(args, 0);
    enum pw_code code = pw_args_limit(&pw_ui_cmd_source, args, 1, 1, err);
    if (code == PW_OK)
        code = pw_args_opts(args, NULL, NULL, err);
    if (code == PW_OK && app->todo.files >= MOST_FILES)
        code = pw_fail(err, PW_EUSER, "source: more than %d nested files; does %s source itself?", MOST_FILES,
                       path);
    return code == PW_OK ? pw_app_read(app, path, NULL, MOST_BYTES, run_text, err) : code;
}

const struct pw_command pw_ui_cmd_source = {
    .name = "source",
    .search = "load script",
    .usage = "source FILE",
    .example = "source script.pewter",
    .summary = "run the commands of a file",
    .detail = "Commands of the workbench are allowed, too (focus, set, screenshot); each waits for the "
              "previous one.\n"
              "Commands after `source` run after the file. The first failure drops the rest, and the message "
              "shows\n"
              "its file and line.",
    .where = PW_AT_UI,
    .file_at = 1,
    .run = run,
};
