/* mark - a remark for the log. */
#include "lab/lab_int.h"

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    if (args->rest == NULL || args->rest[0] == '\0')
        return pw_fail(err, PW_EUSER, "usage: mark TEXT");
    pw_lab_note(ctx, "mark: %s", args->rest);
    return PW_OK;
}

const struct pw_command pw_cmd_mark = {
    .name = "mark",
    .usage = "mark TEXT",
    .summary = "a remark in the log",
    .where = PW_AT_LAB,
    .beside = true,
    .raw = true,
    .run = run,
};
