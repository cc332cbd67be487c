/* press.c - presses keys in a script, by the names that `?` and the manual use.
 *
 * A key can be a command that the lab has to run first (the next head, an evaluation), and the next key
 * depends on its result. So the remaining keys return to the script, after that command. */
#include "ui/app.h"
#include "ui/commands/commands.h"

/* Maximum number of keys that are commands in one script; only a script that presses itself reaches it. */
enum { MOST = 10000 };

/* Inserts the key's command line, then the remaining keys. */
static enum pw_code hand_on(struct pw_app *app, struct pw_str *line, const struct pw_args *args, int from,
                            struct pw_err *err)
{
    if (++app->todo.pressed > MOST)
        return pw_fail(err, PW_EUSER,
                       "press: more than %d keys in a row that type commands; does a binding press itself?",
                       MOST);
    for (int i = from; i < args->n; i++)
        pw_str_add(line, i == from ? "; press \"%s\"" : " \"%s\"", pw_args_word(args, i));
    return pw_script_insert(app, NULL, line->s, err);
}

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    struct pw_app *app = ctx;
    struct pw_str line = {0};
    enum pw_code code = PW_OK;
    if (args->n == 0 || pw_args_words(args) != args->n)
        return pw_fail(err, PW_EUSER, "press: usage: %s", pw_ui_cmd_press.usage);
    for (int i = 0; i < args->n; i++) /* check all keys before the first one acts */
        if (pw_key_named(pw_args_word(args, i)) == 0)
            return pw_key_unknown("press", pw_args_word(args, i), err);
    for (int i = 0; i < args->n && code == PW_OK && line.len == 0; i++) {
        const char *name = pw_args_word(args, i);
        if (!pw_ui_key(&app->ui, pw_key_named(name), &line))
            code = pw_fail(err, PW_EUSER, "press: '%s' has no meaning in the pane %s", name,
                           pw_panes[app->ui.focus]->name);
        else if (app->ui.ask[0])
            code = pw_fail(err, PW_EUSER, "press: '%s' asks for text; write the command: %s...", name,
                           app->ui.ask);
        else if (line.len > 0)
            code = hand_on(app, &line, args, i + 1, err);
    }
    app->ui.ask[0] = app->ui.ask_note[0] = '\0';
    pw_str_fini(&line);
    return code;
}

static void complete(struct pw_completion *c)
{
    pw_key_offer(c); /* at every position */
}

const struct pw_command pw_ui_cmd_press = {
    .name = "press",
    .usage = "press KEY...",
    .example = "press 2 v v",
    .summary = "press keys, in scripts and lessons",
    .detail =
        "Write KEY as `?` shows it: x, Space, Enter, PgDn, S-Left. The effect depends on the focused pane.\n"
        "  press 2 v v; screenshot tests.svg",
    .where = PW_AT_UI,
    .complete = complete,
    .run = run,
};
