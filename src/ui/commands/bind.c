/* bind.c - binds a command line to a key. */
#include "ui/app.h"
#include "ui/commands/commands.h"

static void list(struct pw_app *app)
{
    struct pw_str text = {0};
    pw_bindings_print(&app->ui.bindings, &text);
    if (text.len == 0)
        pw_app_answer(app, "bind: no key is bound; use bind KEY \"COMMAND\"");
    else
        pw_app_page(app, "Bound keys", text.s);
    pw_str_fini(&text);
}

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    struct pw_app *app = ctx;
    if (args->n == 0) {
        list(app);
        return PW_OK;
    }
    if (args->n != 2 || pw_args_words(args) != 2)
        return pw_fail(err, PW_EUSER, "bind: usage: %s; quote a command of several words",
                       pw_ui_cmd_bind.usage);
    const char *name = pw_args_word(args, 0), *line = pw_args_word(args, 1);
    int key = pw_key_named(name);
    if (key == 0)
        return pw_key_unknown("bind", name, err);
    enum pw_code code = pw_app_check(app, line, err); /* report errors now, not when the key is pressed */
    return code == PW_OK ? pw_bindings_set(&app->ui.bindings, key, line, err) : code;
}

static void complete(struct pw_completion *c)
{
    if (c->at == 0)
        pw_key_offer(c);
}

const struct pw_command pw_ui_cmd_bind = {
    .name = "bind",
    .search = "shortcut keymap hotkey macro",
    .usage = "bind [KEY \"COMMANDS\"]",
    .example = "bind F5 \"eval; focus lengths\"",
    .summary = "bind a key to a line of commands; without arguments, list the bindings",
    .detail =
        "Write KEY as `?` shows it: x, Space, F5, Ctrl-G, S-Left. A binding takes precedence over the\n"
        "key's meaning in the pane and the workbench; : Esc Ctrl-C Ctrl-Z cannot be bound. `config save`\n"
        "keeps bindings.\n"
        "  bind F5 \"eval; focus lengths\"",
    .where = PW_AT_UI,
    .complete = complete,
    .command_at = 2,
    .run = run,
};
