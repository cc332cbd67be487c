/* restore - restore heads that `ablate` has ablated. */
#include <stdlib.h>

#include "base/alloc.h"
#include "lab/actions.h"
#include "lab/offer.h"
#include "lab/scope.h"

struct restore_opts {
    int replica; /* 0: all */
};

static const char *const all[] = {"all", NULL};

static const struct pw_opt opts[] = {{.name = "replica",
                                      .type = PW_OPT_INT,
                                      .offset = offsetof(struct restore_opts, replica),
                                      .def = "all",
                                      .min = 1,
                                      .max = PW_MAX_REPLICAS,
                                      .choices = all,
                                      .help = "only in this replica"},
                                     {.name = NULL}};

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    struct restore_opts o;
    struct pw_args rest;
    struct pw_replica *arm;
    pw_opt_defaults(opts, &o);
    enum pw_code code = pw_scope_arm(ctx, args, &rest, &arm, err);
    if (code == PW_OK)
        code = pw_args_opts(&rest, opts, &o, err);
    if (code == PW_OK)
        code = pw_lab_need_replica(ctx, arm, "restore", o.replica, err);
    if (code != PW_OK)
        return code;
    int n = pw_args_words(&rest);
    uint8_t *chosen = pw_alloc((size_t)arm->cfg.layers * arm->cfg.heads, sizeof *chosen);
    for (int i = 0; code == PW_OK && i < n; i++)
        code = pw_lab_read_heads(arm, "restore", pw_args_word(&rest, i), chosen, err);
    if (code == PW_OK)
        code = pw_lab_restore(ctx, arm, o.replica, n > 0 ? chosen : NULL, err);
    free(chosen);
    return code;
}

static void complete(struct pw_completion *c)
{
    pw_offer_heads(c, true);
}

const struct pw_command pw_cmd_restore = {
    .name = "restore",
    .usage = "restore [L.H[,L.H...]] [arm=K] [replica=R]",
    .example = "restore L0H1",
    .summary = "switch heads on again: the named ones, or all",
    .where = PW_AT_LAB,
    .opts = opts,
    .also = pw_scope_opts,
    .values = pw_offer_values,
    .complete = complete,
    .run = run,
};
