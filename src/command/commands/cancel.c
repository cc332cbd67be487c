/* cancel - end a job before it is done; Ctrl-C runs this command. */
#include <string.h>

#include "lab/actions.h"

extern const struct pw_command pw_cmd_cancel;

static const char *const jobs[] = {"eval", "activations", "data", "ablate", "patch", "probe", NULL};

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    const char *name = pw_args_word(args, 0);
    enum pw_code code = pw_args_limit(&pw_cmd_cancel, args, 0, 1, err);
    bool known = name == NULL;
    for (int i = 0; code == PW_OK && jobs[i] != NULL; i++)
        known = known || strcmp(jobs[i], name) == 0;
    if (code != PW_OK)
        return code;
    if (!known)
        return pw_fail(err, PW_EUSER,
                       "cancel: no job '%s'; there are eval, activations, data, ablate, patch, probe", name);
    if (pw_lab_cancel(ctx, name))
        pw_lab_drop_script(ctx);
    else if (name != NULL)
        pw_lab_note(ctx, "cancel: %s is not running", name);
    else
        pw_lab_note(ctx, "cancel: no job is running");
    return PW_OK;
}

static void complete(struct pw_completion *c)
{
    if (c->at == 0)
        pw_complete_offer_all(c, jobs);
}

const struct pw_command pw_cmd_cancel = {
    .name = "cancel",
    .search = "abort kill interrupt",
    .usage = "cancel [eval|activations|data|ablate|patch|probe]",
    .example = "cancel eval",
    .summary = "cancel a job and drop the rest of the script; training continues",
    .detail = "Without a name: the running job. Ctrl-C does this too, or 'pause' if no job is running.",
    .where = PW_AT_LAB,
    .beside = true,
    .complete = complete,
    .run = run,
};
