/* optim - set an arm's optimiser and schedule, from its next step on. */
#include "lab/actions.h"
#include "lab/offer.h"
#include "lab/scope.h"

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    struct pw_args rest;
    struct pw_replica *arm;
    if (pw_args_words(args) > 0)
        return pw_fail(err, PW_EUSER, "optim: '%s' is not key=value; 'help optim' lists the keys",
                       pw_args_word(args, 0));
    enum pw_code code = pw_scope_arm(ctx, args, &rest, &arm, err);
    if (code != PW_OK)
        return code;
    struct pw_optim optim = arm->optim;
    code = pw_args_opts(&rest, pw_optim_opts, &optim, err);
    if (code == PW_OK)
        code = pw_lab_set_optim(ctx, arm, &optim, err);
    if (code != PW_OK)
        return code;
    struct pw_str s = {0};
    pw_opt_print(pw_optim_opts, &optim, false, &s);
    pw_lab_note(ctx, "arm %d:%s", arm->id, pw_str_text(&s));
    pw_str_fini(&s);
    return PW_OK;
}

const struct pw_command pw_cmd_optim = {
    .name = "optim",
    .search = "adam lr batch lora adapter freeze finetune",
    .usage = "optim [key=value] [arm=K]",
    .example = "optim lr=0.002 batch=16",
    .summary = "set optimiser and schedule of the current arm, or of arm K; weights stay",
    .detail =
        "trains= says which parameters the next steps change: all; norms: those of norms and of the\n"
        "encoding; encoding: only the latter; adapter: a low-rank adapter (LoRA, Hu et al. 2021) and the\n"
        "encoding's. The others keep every bit.\n"
        "The first trains=adapter gives every matrix W of attention and MLP an adapter of rank r (rank=, "
        "8):\n"
        "W acts as W + B A with A [r,in], B [out,r], and the paper's factor alpha/r is 1. B = 0 at first, "
        "so\n"
        "nothing changes until steps train it. It stays from then on, and keeps its rank.",
    .where = PW_AT_LAB,
    .opts = pw_optim_opts,
    .also = pw_scope_opts,
    .values = pw_offer_values,
    .run = run,
};
