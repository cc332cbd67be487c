/* reset - draw all weights anew: step 0. */
#include "lab/lab_int.h"

extern const struct pw_command pw_cmd_reset;

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    enum pw_code code = pw_args_limit(&pw_cmd_reset, args, 0, 0, err);
    if (code != PW_OK)
        return code;
    return pw_lab_reset(ctx, err);
}

const struct pw_command pw_cmd_reset = {
    .name = "reset",
    .usage = "reset",
    .summary = "draw all weights anew: step 0",
    .where = PW_AT_LAB,
    .run = run,
};
