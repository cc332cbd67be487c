/* config.c - shows, saves and loads the user's file of commands. */
#include "ui/config.h"
#include "ui/commands/commands.h"
#include "ui/state.h"
#include <string.h>

static const char *const verbs[] = {"show", "save", "load", NULL};

static void complete(struct pw_completion *c)
{
    if (c->at == 0)
        pw_complete_offer_all(c, verbs);
}

static void show(struct pw_app *app, const char *path)
{
    struct pw_str text = {0};
    pw_config_print(app, &text);
    if (text.len == 0)
        pw_app_answer(app, "config: all settings have their defaults; `config save` would write to %s", path);
    else
        pw_app_page(app, path, text.s);
    pw_str_fini(&text);
}

static enum pw_code run_text(struct pw_app *app, const char *path, char *text, struct pw_err *err)
{
    struct pw_str errors = {0};
    (void)err;
    pw_config_run(app, path, text, &errors);
    if (errors.len > 0)
        pw_app_page(app, "config: these lines failed", errors.s);
    else
        pw_app_answer(app, "config: %s was run", path);
    pw_str_fini(&errors);
    return PW_OK;
}

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    struct pw_app *app = ctx;
    struct pw_str path = {0};
    enum pw_code code = pw_args_limit(&pw_ui_cmd_config, args, 1, 2, err);
    if (code != PW_OK)
        return code;
    const char *verb = pw_args_word(args, 0), *file = pw_args_word(args, 1);
    if (file != NULL)
        pw_str_add(&path, "%s", file);
    else
        code = pw_config_path("pewterrc", &path, err);
    if (code != PW_OK) {
        /* the error is already set */
    } else if (strcmp(verb, "show") == 0 && file == NULL) {
        show(app, path.s);
    } else if (strcmp(verb, "save") == 0) {
        code = pw_config_save(app, path.s, file == NULL, err);
    } else if (strcmp(verb, "load") == 0) {
        code = pw_app_read(app, path.s, NULL, PW_CONFIG_LIMIT, run_text, err);
    } else {
        code = pw_fail(err, PW_EUSER, "config: usage: %s", pw_ui_cmd_config.usage);
    }
    pw_str_fini(&path);
    return code;
}

const struct pw_command pw_ui_cmd_config = {
    .name = "config",
    .search = "settings preferences options theme rc",
    .usage = "config show|save [FILE]|load [FILE]",
    .example = "config save",
    .summary = "show, save or load settings, bindings and borders, as commands in a file",
    .detail =
        "The file is $XDG_CONFIG_HOME/pewter/pewterrc, else ~/.config/pewter/pewterrc: commands that the\n"
        "workbench runs at start (plain mode runs only `set`). `save` writes the settings that differ from\n"
        "the defaults, below a marker line; text above that line is yours and is kept.",
    .where = PW_AT_UI,
    .complete = complete,
    .file_at = 2,
    .run = run,
};
