/* filter.c - limits the log to the lines that contain a text. */
#include "ui/app.h"
#include "ui/commands/commands.h"
#include <stdio.h>
#include <string.h>

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    struct pw_app *app = ctx;
    struct pw_ui *ui = &app->ui;
    if (!app->screen)
        return pw_fail(err, PW_EUSER, "filter: there is no log in plain mode");
    if (strlen(args->rest) >= sizeof ui->log.filter)
        return pw_fail(err, PW_EUSER, "filter: at most %zu bytes", sizeof ui->log.filter - 1);
    snprintf(ui->log.filter, sizeof ui->log.filter, "%s", args->rest);
    ui->log.up = 0;
    if (*args->rest)
        pw_ui_focus(ui, PW_PANE_LOG);
    return PW_OK;
}

const struct pw_command pw_ui_cmd_filter = {
    .name = "filter",
    .search = "grep",
    .usage = "filter [TEXT]",
    .example = "filter wrote",
    .summary = "show only lines of the log that contain TEXT; without TEXT, show all",
    .where = PW_AT_UI,
    .raw = true,
    .run = run,
};
