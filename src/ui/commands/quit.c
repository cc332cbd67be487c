/* quit.c - leaves the program. In a script it waits for what stands before it. */
#include "ui/app.h"
#include "ui/commands/commands.h"
#include <string.h>

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    struct pw_app *app = ctx;
    enum pw_code code = pw_args_limit(&pw_ui_cmd_quit, args, 0, 1, err);
    const char *now = pw_args_word(args, 0);
    if (code == PW_OK && now && strcmp(now, "now") != 0)
        return pw_fail(err, PW_EUSER, "quit: '%s': allowed is now, or nothing", now);
    if (code == PW_OK)
        app->quit = app->script && !now ? PW_QUIT_WHEN_IDLE : PW_QUIT_NOW;
    return code;
}

static void complete(struct pw_completion *c)
{
    if (c->at == 0)
        pw_complete_offer(c, "now");
}

static const char *const elsewhere[] = {"q", "q!", "wq", "x", "exit", NULL}; /* in vi, and a shell */

const struct pw_command pw_ui_cmd_quit = {
    .name = "quit",
    .usage = "quit [now]",
    .summary = "leave pewter",
    .detail =
        "At the prompt it leaves at once, training or not: what is under way goes on when the session is "
        "opened again.\nIn a script it leaves when everything before it is finished, or with `now` "
        "without waiting.",
    .elsewhere = elsewhere,
    .where = PW_AT_UI,
    .complete = complete,
    .run = run,
};
