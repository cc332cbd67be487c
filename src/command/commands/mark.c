/* mark - put a remark at this moment of training into the log and on the timeline. */
#include "lab/actions.h"

extern const struct pw_command pw_cmd_mark;

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    if (args->rest == NULL || args->rest[0] == '\0')
        return pw_fail(err, PW_EUSER, "usage: mark TEXT");
    enum pw_code code = pw_lab_check_remark(ctx, &pw_cmd_mark, args, err);
    if (code != PW_OK)
        return code;
    pw_lab_mark(ctx, args->rest);
    return PW_OK;
}

const struct pw_command pw_cmd_mark = {
    .name = "mark",
    .search = "note bookmark annotate comment",
    .usage = "mark TEXT",
    .example = "mark here the loss jumps",
    .summary = "set a mark, with a text, in the log and on the timeline",
    .detail = "TEXT has at most 500 bytes.",
    .where = PW_AT_LAB,
    .beside = true,
    .raw = true,
    .run = run,
};
