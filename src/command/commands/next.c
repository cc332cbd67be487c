/* next - move the cursor forwards through the pinned prompt's answer. */
#include "lab/actions.h"

extern const struct pw_command pw_cmd_next;

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    long n = 1;
    enum pw_code code = pw_args_number(&pw_cmd_next, args, 1000, &n, err);
    if (code != PW_OK)
        return code;
    return pw_lab_go(ctx, "next", (int)n, err);
}

const struct pw_command pw_cmd_next = {
    .name = "next",
    .usage = "next [N]",
    .example = "next 2",
    .summary = "go to the next token of the answer, or N tokens on",
    .detail = "At the last token, continue decoding if it had stopped without an end mark.",
    .where = PW_AT_LAB,
    .run = run,
};
