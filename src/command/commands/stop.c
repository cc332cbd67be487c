/* stop - end training and jobs, and drop the rest of the script. */
#include "lab/actions.h"

extern const struct pw_command pw_cmd_stop;

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    enum pw_code code = pw_args_limit(&pw_cmd_stop, args, 0, 0, err);
    if (code != PW_OK)
        return code;
    pw_lab_stop(ctx, "stopped");
    pw_lab_drop_script(ctx);
    return PW_OK;
}

const struct pw_command pw_cmd_stop = {
    .name = "stop",
    .search = "abort kill halt",
    .usage = "stop",
    .example = "stop",
    .summary = "end training and jobs, and drop the rest of the script",
    .where = PW_AT_LAB,
    .beside = true,
    .run = run,
};
