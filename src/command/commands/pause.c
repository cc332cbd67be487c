/* pause - suspend training; `resume` continues it. */
#include "lab/actions.h"

extern const struct pw_command pw_cmd_pause;

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    enum pw_code code = pw_args_limit(&pw_cmd_pause, args, 0, 0, err);
    if (code != PW_OK)
        return code;
    if (!pw_lab_training(ctx))
        return pw_fail(err, PW_EUSER, "no training to pause");
    pw_lab_pause(ctx, true);
    return PW_OK;
}

const struct pw_command pw_cmd_pause = {
    .name = "pause",
    .usage = "pause",
    .example = "pause",
    .summary = "pause training; 'resume' continues",
    .where = PW_AT_LAB,
    .beside = true,
    .run = run,
};
