/* export - write data of the lab to a file. */
#include "lab/actions.h"
#include "lab/lab.h"
#include "lab/offer.h"

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    const char *what = pw_args_word(args, 0), *path = pw_args_word(args, 1);
    if (path == NULL || pw_args_words(args) > 2)
        return pw_fail(err, PW_EUSER, "usage: export WHAT FILE [key=value]; 'help export' lists WHAT");
    return pw_lab_export(ctx, what, path, args, err);
}

static void complete(struct pw_completion *c)
{
    if (c->at == 0)
        pw_complete_offer_all(c, pw_export_names);
}

static const struct pw_opt *opts_for(const struct pw_args *so_far)
{
    return pw_args_words(so_far) > 0 ? pw_export_opts(pw_args_word(so_far, 0)) : NULL;
}

const struct pw_command pw_cmd_export = {
    .name = "export",
    .usage = "export WHAT FILE [key=value]",
    .summary = "write a file; its extension chooses the format",
    .where = PW_AT_LAB,
    .opts_for = opts_for,
    .file_at = 2,
    .complete = complete,
    .values = pw_offer_export,
    .outside = pw_command_outside,
    .run = run,
};
