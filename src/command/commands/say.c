/* say - print a line of text; scripts use it. */
#include "lab/actions.h"

extern const struct pw_command pw_cmd_say;

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    if (args->rest == NULL || args->rest[0] == '\0')
        return pw_fail(err, PW_EUSER, "usage: say TEXT");
    enum pw_code code = pw_lab_check_remark(ctx, &pw_cmd_say, args, err);
    if (code == PW_OK)
        pw_lab_note(ctx, "%s", args->rest);
    return code;
}

const struct pw_command pw_cmd_say = {
    .name = "say",
    .usage = "say TEXT",
    .example = "say the swap comes now",
    .summary = "print a line of text",
    .detail = "In a lesson (`help present`) TEXT is a paragraph of the step. It has at most 500 bytes.",
    .where = PW_AT_LAB,
    .beside = true,
    .raw = true,
    .run = run,
};
