/* focus.c - focuses a pane. */
#include "ui/app.h"
#include "ui/commands/commands.h"

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    struct pw_app *app = ctx;
    enum pw_code code = pw_args_limit(&pw_ui_cmd_focus, args, 1, 1, err);
    if (code != PW_OK)
        return code;
    if (!app->screen)
        return pw_fail(err, PW_EUSER, "focus: there are no panes in plain mode");
    int pane;
    code = pw_ui_find_pane("focus", pw_args_word(args, 0), &pane, err);
    if (code == PW_OK)
        pw_ui_focus(&app->ui, pane);
    return code;
}

const struct pw_command pw_ui_cmd_focus = {
    .name = "focus",
    .search = "pane window heatmap view switch",
    .usage = "focus PANE",
    .example = "focus lengths",
    .summary = "focus a pane",
    .where = PW_AT_UI,
    .complete = pw_ui_complete_pane,
    .run = run,
};
