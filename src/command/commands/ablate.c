/* ablate - ablate heads of an arm; mode= chooses what replaces their output. */
#include <stdlib.h>

#include "base/alloc.h"
#include "lab/actions.h"
#include "lab/offer.h"
#include "lab/scope.h"

extern const struct pw_command pw_cmd_ablate;

struct ablate_opts {
    int mode, samples;
    int replica; /* 0: all */
};

static const char *const all[] = {"all", NULL};

static const struct pw_opt opts[] = {
    {.name = "mode",
     .type = PW_OPT_CHOICE,
     .offset = offsetof(struct ablate_opts, mode),
     .def = "zero",
     .choices = pw_ablation_names + 1, /* without the mode "none" */
     .help = "what the head gives instead"},
    {.name = "samples",
     .type = PW_OPT_INT,
     .offset = offsetof(struct ablate_opts, samples),
     .def = "64",
     .min = 1,
     .max = 4096,
     .help = "validation samples that the mean is taken over, or another example drawn from"},
    {.name = "replica",
     .type = PW_OPT_INT,
     .offset = offsetof(struct ablate_opts, replica),
     .def = "all",
     .min = 1,
     .max = PW_MAX_REPLICATES,
     .choices = all,
     .help = "of an arm with several seeds: in this one alone"},
    {.name = NULL}};

static enum pw_code run_on(struct pw_lab *lab, struct pw_arm *arm, const struct pw_args *args,
                           struct pw_err *err)
{
    struct ablate_opts o;
    uint8_t *chosen = pw_alloc((size_t)arm->cfg.layers * arm->cfg.heads, sizeof *chosen);
    pw_opt_defaults(opts, &o);
    enum pw_code code = pw_args_limit(&pw_cmd_ablate, args, 1, PW_MAX_WORDS, err);
    if (code == PW_OK)
        code = pw_args_opts(args, opts, &o, err);
    if (code == PW_OK)
        code = pw_lab_need_replica(lab, arm, "ablate", o.replica, err);
    for (int i = 0; code == PW_OK && i < pw_args_words(args); i++)
        code = pw_lab_read_heads(arm, "ablate", pw_args_word(args, i), chosen, err);
    if (code == PW_OK)
        code = pw_lab_ablate(lab, arm, o.replica, chosen, (enum pw_ablation)(o.mode + 1), o.samples, err);
    free(chosen);
    return code;
}

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    return pw_scope_run(ctx, args, run_on, err);
}

static void complete(struct pw_completion *c)
{
    pw_offer_heads(c, false);
}

const struct pw_command pw_cmd_ablate = {
    .name = "ablate",
    .search = "disable prune mask knock",
    .usage = "ablate L.H[,L.H...] [mode=zero|mean|resample] [samples=N] [arm=K] [replica=R]",
    .summary = "switch heads off (L0H3 or 0.3, from 0; L.* all of a layer), also while training",
    .detail =
        "A head's output is replaced before W_o, in training (no gradient comes through it), evaluation,\n"
        "inspection and decoding, in all replicas or in one:\n"
        "  zero      by zeros\n"
        "  mean      by its mean over validation samples of the trained lengths, at the weights of now\n"
        "  resample  at each position by what it gives there for another, drawn validation sample\n"
        "It lasts over pe, set threads, fork and training; new weights (seed, model, reset, another task's\n"
        "tokens) end it. Weights that are exported don't know of it. 'restore' switches on again.\n"
        "Replicas begin with other weights, so a head of the same number is another head in each: what "
        "0.5\n"
        "does in one may be done by 1.2 in the next. replica=R switches one network's head, and the "
        "others\n"
        "stay to compare with; 'inspect replica=R' chooses the one that answers prompts and is inspected.\n"
        "'probe ablation' tries every head in turn and leaves the arms as they are.\n"
        "ablate 1.3; eval; ablate 0.*,1.2 mode=mean; eval; restore",
    .where = PW_AT_LAB,
    .opts = opts,
    .also = pw_scope_opts,
    .values = pw_offer_values,
    .complete = complete,
    .run = run,
};
