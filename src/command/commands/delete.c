/* delete - delete a recorded session. */
#include "lab/lab_int.h"

extern const struct pw_command pw_cmd_delete;

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    struct pw_lab *lab = ctx;
    char folder[sizeof lab->session.now.folder], name[PW_LINE];
    struct pw_err why;
    enum pw_code code = pw_args_limit(&pw_cmd_delete, args, 1, 1, err);
    if (code == PW_OK)
        code = pw_session_folder(folder, sizeof folder, pw_args_word(args, 0), err);
    if (code != PW_OK)
        return code;
    pw_session_name(name, sizeof name, folder);
    if (pw_session_is_open(lab, folder))
        return pw_fail(
            err, PW_EUSER,
            "delete: %s is the session that is open; open another one, or quit and 'pewter session "
            "delete %s'",
            name, name);
    code = pw_session_delete(folder, &why);
    if (code != PW_OK)
        return pw_fail(err, code, "delete: %s: %s", name, why.msg);
    pw_lab_note(lab, "deleted %s", name);
    return PW_OK;
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
    .summary = "delete a recorded session; there is no way back",
    .detail =
        "Everything that was recorded in it goes, checkpoints too. One that is open, here or in another\n"
        "pewter, is refused. 'sessions' lists what there is; 'arm drop' is for an arm, and\n"
        "'pewter session delete SESSION' does the same from a shell.",
    .where = PW_AT_LAB,
    .outside = pw_command_outside,
    .beside = true,
    .file_at = 1,
    .complete = complete,
    .run = run,
};
