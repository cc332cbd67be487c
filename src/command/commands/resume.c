/* resume - continue training after `pause`. */
#include "lab/actions.h"

extern const struct pw_command pw_cmd_resume;

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    enum pw_code code = pw_args_limit(&pw_cmd_resume, args, 0, 0, err);
    if (code != PW_OK)
        return code;
    if (!pw_lab_training(ctx))
        return pw_fail(err, PW_EUSER, "no training is paused; 'train' starts it");
    pw_lab_pause(ctx, false);
    return PW_OK;
}

const struct pw_command pw_cmd_resume = {
    .name = "resume",
    .usage = "resume",
    .example = "resume",
    .summary = "continue paused training",
    .where = PW_AT_LAB,
    .beside = true,
    .run = run,
};
