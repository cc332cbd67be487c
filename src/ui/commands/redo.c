/* redo.c - redoes the last undone change. */
#include "ui/app.h"
#include "ui/commands/commands.h"

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    enum pw_code code = pw_args_limit(&pw_ui_cmd_redo, args, 0, 0, err);
    return code == PW_OK ? pw_undo_go(ctx, 1, err) : code;
}

const struct pw_command pw_ui_cmd_redo = {
    .name = "redo",
    .usage = "redo",
    .example = "redo",
    .summary = "redo what was undone",
    .where = PW_AT_UI,
    .run = run,
};
