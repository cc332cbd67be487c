/* delete - delete a recorded session. */
#include "lab/actions.h"
#include "lab/offer.h"

extern const struct pw_command pw_cmd_delete;

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    enum pw_code code = pw_args_limit(&pw_cmd_delete, args, 1, 1, err);
    return code == PW_OK ? pw_session_delete_typed(ctx, pw_args_word(args, 0), err) : code;
}

static void complete(struct pw_completion *c)
{
    if (c->at == 0)
        pw_complete_session(c);
}

const struct pw_command pw_cmd_delete = {
    .name = "delete",
    .search = "remove rm erase",
    .usage = "delete SESSION",
    .example = "delete monday",
    .summary = "delete a recorded session; this cannot be undone",
    .detail =
        "Delete everything that was recorded in it, including checkpoints. A session that is open, here or\n"
        "in another pewter, is refused. 'sessions' lists the sessions; 'arm drop' drops an arm.\n"
        "'pewter session delete SESSION' does the same from a shell.",
    .where = PW_AT_LAB,
    .outside = pw_command_outside,
    .beside = true,
    .file_at = 1,
    .complete = complete,
    .run = run,
};
