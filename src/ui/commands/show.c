/* show.c - a pane to the front; where there are no panes, what it shows in words. */
#include "ui/app.h"
#include "ui/commands/commands.h"

static const char *const zooms[] = {"as-it-is", "on", "off", NULL};

static const struct pw_opt opts[] = {
    {.name = "zoom",
     .type = PW_OPT_CHOICE,
     .offset = 0,
     .def = "as-it-is",
     .choices = zooms,
     .help = "that pane alone on the screen, or with others"},
    {.name = NULL},
};

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    struct pw_app *app = ctx;
    int pane, zoom = 0;
    enum pw_code code = pw_args_limit(&pw_ui_cmd_show, args, 1, 1, err);
    if (code == PW_OK)
        code = pw_ui_find_pane("show", pw_args_word(args, 0), &pane, err);
    if (code == PW_OK)
        code = pw_args_opts(args, opts, &zoom, err);
    if (code != PW_OK)
        return code;
    struct pw_needs needs = pw_pane_needs(pw_panes[pane]);
    if (!app->screen && pw_app_puts_off(app, &needs, args))
        return PW_OK;
    if (!app->screen)
        pw_panes[pane]->words(app->words, &app->ui);
    else if (zoom)
        app->ui.zoom = zoom == 1;
    if (app->screen)
        pw_ui_focus(&app->ui, pane);
    return code;
}

const struct pw_command pw_ui_cmd_show = {
    .name = "show",
    .search = "print pane heatmap",
    .usage = "show PANE [zoom=on|off]",
    .summary = "focus a pane; without a screen print what it shows, in words",
    .detail =
        "Without a screen all of its pages are told, as tables. What keys choose there holds here, too:\n"
        "  press 4 t; show step          the right token's logit is taken apart\n"
        "  press 3 a; show attention     the mean over a layer's heads",
    .where = PW_AT_UI,
    .opts = opts,
    .complete = pw_ui_complete_pane,
    .run = run,
};
