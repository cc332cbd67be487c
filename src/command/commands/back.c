/* back - backwards through the pinned prompt's answer. */
#include "lab/lab_int.h"

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    long n = 1;
    if (args->n > 1 || (args->n == 1 && !pw_text_int(args->words[0].value, 1, 1000, &n)))
        return pw_fail(err, PW_EUSER, "usage: back [N], N in 1..1000");
    return pw_lab_go(ctx, "back", -(int)n, err);
}

const struct pw_command pw_cmd_back = {
    .name = "back",
    .usage = "back [N]",
    .summary = "to the token of the answer before this one, or N back",
    .where = PW_AT_LAB,
    .run = run,
};
