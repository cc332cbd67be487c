/* quit.c - leaves the program. In a script it waits for all earlier commands. */
#include "ui/app.h"
#include "ui/commands/commands.h"
#include <string.h>

/* Fails for vi's `wq` if the session is not recorded, because `wq` promises that everything is written. */
static enum pw_code check_recorded(const struct pw_app *app, const char *typed, struct pw_err *err)
{
    const struct pw_ev_session *s = &app->ui.snap->session;
    int n = (int)strcspn(typed, " \t");
    bool writes = (n == 2 && strncmp(typed, "wq", 2) == 0) || (n == 1 && typed[0] == 'x');
    if (!writes || app->lab == NULL || (s->how != PW_REC_NONE && s->how != PW_REC_PAUSED))
        return PW_OK;
    return pw_fail(err, PW_EUSER, "%.*s: %s%s%s; 'quit' leaves anyway", n, typed,
                   s->how == PW_REC_NONE ? "nothing is recorded" : "recording is paused",
                   s->why[0] != '\0' ? ": " : "", s->why);
}

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    struct pw_app *app = ctx;
    enum pw_code code = pw_args_limit(&pw_ui_cmd_quit, args, 0, 1, err);
    const char *now = pw_args_word(args, 0);
    if (code == PW_OK && now != NULL && strcmp(now, "now") != 0)
        return pw_fail(err, PW_EUSER, "quit: '%s': allowed are now, or no argument", now);
    if (code == PW_OK)
        code = check_recorded(app, args->text, err);
    if (code == PW_OK)
        app->quit = app->script && now == NULL ? PW_QUIT_WHEN_IDLE : PW_QUIT_NOW;
    if (code == PW_OK && pw_disk_busy(app->disk))
        pw_app_answer(app, "leaves when its files are written");
    return code;
}

static void complete(struct pw_completion *c)
{
    if (c->at == 0)
        pw_complete_offer(c, "now");
}

/* The other names come from vi and shells. */
static const char *const aliases[] = {"q", "q!", "qa", "qa!", "wq", "x", "exit", NULL};

const struct pw_command pw_ui_cmd_quit = {
    .name = "quit",
    .usage = "quit [now]",
    .example = "quit",
    .summary = "leave pewter",
    .detail =
        "At the prompt it leaves at once, even during training: unfinished work continues when the session\n"
        "is opened again. Everything is recorded, so `q!` loses nothing; `wq` refuses only if nothing is\n"
        "recorded. In a script it waits for everything before it; `now` does not wait.",
    .aliases = aliases,
    .search = "leave close end detach bye",
    .where = PW_AT_UI,
    .complete = complete,
    .run = run,
};
