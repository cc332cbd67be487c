/* quit.c - leaves the program. In a script it waits for what stands before it. */
#include "ui/app.h"
#include "ui/commands/commands.h"

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    struct pw_app *app = ctx;
    enum pw_code code = pw_args_limit(&pw_ui_cmd_quit, args, 0, 0, err);
    if (code == PW_OK)
        app->quit = app->script ? PW_QUIT_WHEN_IDLE : PW_QUIT_NOW;
    return code;
}

const struct pw_command pw_ui_cmd_quit = {
    .name = "quit",
    .usage = "quit",
    .summary = "leave pewter",
    .detail = "At the prompt it leaves at once, training or not; in a script when everything before it is "
              "finished.",
    .where = PW_AT_UI,
    .run = run,
};
