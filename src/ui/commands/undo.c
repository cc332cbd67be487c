/* undo.c - the last setting, binding or border as it was before. */
#include "ui/app.h"
#include "ui/commands/commands.h"

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    enum pw_code code = pw_args_limit(&pw_ui_cmd_undo, args, 0, 0, err);
    return code == PW_OK ? pw_undo_go(ctx, -1, err) : code;
}

const struct pw_command pw_ui_cmd_undo = {
    .name = "undo",
    .usage = "undo",
    .summary = "take back a setting, a binding or a moved border",
    .detail = "Only of the workbench: what was trained stays trained. An encoding is swapped back with `pe "
              "NAME`, a\n"
              "model comes back with `import`, and `reset` begins anew.",
    .where = PW_AT_UI,
    .run = run,
};
