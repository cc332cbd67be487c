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
     .help = "what replaces the head's output"},
    {.name = "samples",
     .type = PW_OPT_INT,
     .offset = offsetof(struct ablate_opts, samples),
     .def = "64",
     .min = 1,
     .max = 4096,
     .help = "validation samples for the mean, or to draw the other sample from"},
    {.name = "replica",
     .type = PW_OPT_INT,
     .offset = offsetof(struct ablate_opts, replica),
     .def = "all",
     .min = 1,
     .max = PW_MAX_REPLICAS,
     .choices = all,
     .help = "only in this replica"},
    {.name = NULL}};

static enum pw_code run_on(struct pw_lab *lab, struct pw_replica *arm, const struct pw_args *args,
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
    .example = "ablate L0H1 mode=mean",
    .summary = "switch heads off (L0H3 or 0.3, from 0; L.*: a whole layer), also during training",
    .detail =
        "Replace a head's output before W_o in training (without a gradient), evaluation, inspection and\n"
        "decoding, in all replicas or in one:\n"
        "  zero      with zeros\n"
        "  mean      with its mean over validation samples of the trained lengths, at the current weights\n"
        "  resample  at each position with its output there for another validation sample, drawn at random\n"
        "pe, set threads, fork and training keep it; new weights (seed, model, reset, a task with other\n"
        "tokens) end it. Exported weights do not contain it. 'restore' switches heads on again.\n"
        "Replicas have different initial weights, so heads of the same number are unrelated: what 0.5 does\n"
        "in one, 1.2 may do in the next. replica=R switches a head of one network only, and the others stay\n"
        "for comparison; 'inspect replica=R' chooses the replica that is inspected.\n"
        "'probe ablation' tries every head in turn and does not change the arms.\n"
        "ablate 1.3; eval; ablate 0.*,1.2 mode=mean; eval; restore",
    .where = PW_AT_LAB,
    .opts = opts,
    .also = pw_scope_opts,
    .values = pw_offer_values,
    .complete = complete,
    .run = run,
};
