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
    .example = "find wrong",
    .summary = "search in the focused pane; without TEXT, end the search",
    .detail = "Lower case matches upper case too. The log is searched completely, other panes as drawn. n "
              "and N go to\n"
              "the next and the previous match, Esc ends the search. Matches are shown while you type.",
    .where = PW_AT_UI,
    .raw = true,
    .run = run,
};
