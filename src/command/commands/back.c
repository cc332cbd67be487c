/* back - move the cursor backwards through the pinned prompt's answer. */
#include "lab/actions.h"

extern const struct pw_command pw_cmd_back;

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    long n = 1;
    enum pw_code code = pw_args_number(&pw_cmd_back, args, 1000, &n, err);
    if (code != PW_OK)
        return code;
    return pw_lab_go(ctx, "back", -(int)n, err);
}

const struct pw_command pw_cmd_back = {
    .name = "back",
    .usage = "back [N]",
    .example = "back 2",
    .summary = "go to the previous token of the answer, or N tokens back",
    .where = PW_AT_LAB,
    .run = run,
};
