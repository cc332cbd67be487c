/* find.c - searches the focused pane. */
#include "ui/app.h"
#include "ui/commands/commands.h"
#include "ui/search.h"
#include <string.h>

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    struct pw_app *app = ctx;
    if (!app->screen)
        return pw_fail(err, PW_EUSER, "find: there are no panes in plain mode");
    if (strlen(args->rest) >= sizeof app->ui.find.text)
        return pw_fail(err, PW_EUSER, "find: at most %zu bytes", sizeof app->ui.find.text - 1);
    pw_search_begin(&app->ui, args->rest);
    return PW_OK;
}

const struct pw_command pw_ui_cmd_find = {
    .name = "find",
    .search = "grep",
    .usage = "find [TEXT]",
    .summary = "search in the focused pane; alone it ends the search",
    .detail = "Small letters match capitals too. In the log all lines are searched, elsewhere what is drawn. "
              "The keys n\n"
              "and N go to the next match and the one before, Esc ends the search. While it is typed it is "
              "shown already.",
    .where = PW_AT_UI,
    .raw = true,
    .run = run,
};
