/* save - name the session, or take a checkpoint now. */
#include "lab/actions.h"

extern const struct pw_command pw_cmd_save;

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    enum pw_code code = pw_args_limit(&pw_cmd_save, args, 0, 1, err);
    if (code != PW_OK)
        return code;
    struct pw_lab *lab = ctx;
    const char *name = pw_args_word(args, 0);
    if (name != NULL)
        return pw_session_save(lab, name, err);
    return pw_lab_facts(lab).records ? pw_session_checkpoint(lab, "saved", err)
                                     : pw_session_none(lab, "save", err);
}

static const char *const aliases[] = {"w", "w!", NULL}; /* as in vi */

const struct pw_command pw_cmd_save = {
    .name = "save",
    .aliases = aliases,
    .search = "write store keep name rename",
    .usage = "save [NAME]",
    .example = "save sunday",
    .summary = "name the session; without NAME, write a checkpoint",
    .detail = "Everything is recorded from the first command on: a session without a name is kept under its "
              "date and\n"
              "time. A NAME with a '/' is a path. 'open NAME' and 'pewter NAME' continue the session. Its "
              "present name\n"
              "writes a checkpoint; another name renames it. `pewter session pack` makes a copy.",
    .where = PW_AT_LAB,
    .outside = pw_command_outside,
    .run = run,
};
