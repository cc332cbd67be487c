/* sessions - list recorded sessions with size, steps, arms and last use. */
#include "lab/actions.h"

extern const struct pw_command pw_cmd_sessions;

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    enum pw_code code = pw_args_limit(&pw_cmd_sessions, args, 0, 1, err);
    return code == PW_OK ? pw_session_list(ctx, pw_args_word(args, 0), err) : code;
}

const struct pw_command pw_cmd_sessions = {
    .name = "sessions",
    .search = "list ls history replay load",
    .usage = "sessions [FOLDER]",
    .example = "sessions",
    .summary = "list the recorded sessions, the last used first",
    .detail = "They are in $XDG_STATE_HOME/pewter/sessions, else in ~/.local/state/pewter/sessions.",
    .where = PW_AT_LAB,
    .outside = pw_command_outside,
    .beside = true,
    .file_at = 1,
    .run = run,
};
