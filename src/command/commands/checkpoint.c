/* checkpoint - save the state of this moment, from which the session can resume. It is kept even beyond the
 * storage budget. */
#include "lab/actions.h"

extern const struct pw_command pw_cmd_checkpoint;

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    enum pw_code code = pw_args_text(&pw_cmd_checkpoint, args, PW_LINE - 1, err);
    return code == PW_OK ? pw_session_checkpoint(ctx, args->rest != NULL ? args->rest : "", err) : code;
}

const struct pw_command pw_cmd_checkpoint = {
    .name = "checkpoint",
    .usage = "checkpoint [TEXT]",
    .example = "checkpoint before the swap",
    .summary = "save weights, moments and all other state of the lab now",
    .detail = "Automatic checkpoints are thinned out over time; one that this command writes is kept.",
    .where = PW_AT_LAB,
    .outside = pw_command_outside,
    .raw = true,
    .run = run,
};
