/* step - run a few optimiser steps of every arm at once. */
#include "lab/actions.h"

extern const struct pw_command pw_cmd_step;

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    struct pw_lab *lab = ctx;
    long n = 1;
    enum pw_code code = pw_args_number(&pw_cmd_step, args, 1000, &n, err);
    if (code != PW_OK)
        return code;
    if (pw_lab_training(lab) && !pw_lab_facts(lab).paused)
        return pw_fail(err, PW_EUSER, "step: training is running; 'pause' first");
    if (pw_lab_training(lab)) { /* while paused, the steps count towards the goal */
        pw_lab_step(lab, n);
        return PW_OK;
    }
    return pw_lab_train(lab, &(struct pw_goal){.n = n}, err);
}

const struct pw_command pw_cmd_step = {
    .name = "step",
    .usage = "step [N]",
    .example = "step 5",
    .summary = "run one optimiser step of every arm, or N steps",
    .detail = "With 'set share flops', while training is paused: N steps of the arms whose turn it is.",
    .where = PW_AT_LAB,
    .run = run,
};
