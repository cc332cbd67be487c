/* say - a line for the reader: how scripts talk. */
#include "lab/lab_int.h"

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    if (args->rest == NULL || args->rest[0] == '\0')
        return pw_fail(err, PW_EUSER, "usage: say TEXT");
    pw_lab_note(ctx, "%s", args->rest);
    return PW_OK;
}

const struct pw_command pw_cmd_say = {
    .name = "say",
    .usage = "say TEXT",
    .summary = "a line for the reader of a script",
    .detail = "In a lesson (`help present`) it is a paragraph of the step.",
    .where = PW_AT_LAB,
    .beside = true,
    .raw = true,
    .run = run,
};
