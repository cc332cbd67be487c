/* undo.c - undoes the last change of a setting, binding or border. */
#include "ui/app.h"
#include "ui/commands/commands.h"

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    enum pw_code code = pw_args_limit(&pw_ui_cmd_undo, args, 0, 0, err);
    return code == PW_OK ? pw_undo_go(ctx, -1, err) : code;
}

const struct pw_command pw_ui_cmd_undo = {
    .name = "undo",
    .search = "revert rewind",
    .usage = "undo",
    .example = "undo",
    .summary = "undo a setting, a binding or a moved border",
    .detail = "Only the workbench is undone, not training. 'open NAME from=STEP' continues from an earlier "
              "step, as a\n"
              "new session; `pe NAME` swaps an encoding back; `reset` draws new weights.",
    .where = PW_AT_UI,
    .run = run,
};
