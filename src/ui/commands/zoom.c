/* zoom.c - makes the focused pane fill the screen, or ends that. */
#include "ui/app.h"
#include "ui/commands/commands.h"
#include <string.h>

static const char *const states[] = {"off", "on", NULL};

static void complete(struct pw_completion *c)
{
    if (c->at == 0)
        pw_complete_offer_all(c, states);
}

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    struct pw_app *app = ctx;
    enum pw_code code = pw_args_limit(&pw_ui_cmd_zoom, args, 0, 1, err);
    const char *state = pw_args_word(args, 0);
    if (code != PW_OK)
        return code;
    if (!app->screen)
        return pw_fail(err, PW_EUSER, "zoom: there are no panes in plain mode");
    if (state == NULL)
        app->ui.zoom = !app->ui.zoom;
    else if (strcmp(state, "on") == 0 || strcmp(state, "off") == 0)
        app->ui.zoom = strcmp(state, "on") == 0;
    else
        return pw_fail(err, PW_EUSER, "zoom: '%s': allowed are on, off, or no argument to toggle", state);
    return PW_OK;
}

const struct pw_command pw_ui_cmd_zoom = {
    .name = "zoom",
    .search = "maximise maximize fullscreen",
    .usage = "zoom [on|off]",
    .example = "zoom on",
    .summary = "show only the focused pane, or all again",
    .where = PW_AT_UI,
    .complete = complete,
    .run = run,
};
