/* reset - initialise the weights again and return to step 0. */
#include "lab/actions.h"
#include "lab/offer.h"
#include "lab/scope.h"

extern const struct pw_command pw_cmd_reset;

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    struct pw_args rest;
    int id;
    enum pw_code code = pw_scope_take(ctx, args, &rest, &id, err);
    if (code == PW_OK)
        code = pw_args_limit(&pw_cmd_reset, &rest, 0, 0, err);
    if (code == PW_OK)
        /* fails for any key, since arm=K has been removed */
        code = pw_args_opts(&rest, pw_scope_opts, &id, err);
    return code == PW_OK ? pw_lab_reset(ctx, id, err) : code;
}

const struct pw_command pw_cmd_reset = {
    .name = "reset",
    .search = "restart clear",
    .usage = "reset [arm=K]",
    .example = "reset arm=1",
    .summary = "draw new weights for every arm, or for arm K: step 0",
    .also = pw_scope_opts,
    .where = PW_AT_LAB,
    .values = pw_offer_values,
    .run = run,
};
