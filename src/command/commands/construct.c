/* construct - give an arm the weights of a proof. */
#include <string.h>

#include "lab/actions.h"
#include "lab/offer.h"
#include "lab/scope.h"

extern const struct pw_command pw_cmd_construct;

#define AT(member) offsetof(struct pw_construction, member)

static const struct pw_opt opts[] = {
    {"T", PW_OPT_INT, AT(T), "64", 1, 2048, NULL, 0, "positions that the MLP counts exactly"},
    {"width", PW_OPT_INT, AT(width), "16", 4, 8192, NULL, 0,
     "width of the residual stream; the proof uses 3 dimensions"},
    {"heads", PW_OPT_INT, AT(heads), "4", 1, 128, NULL, 0, "heads of a layer"},
    {"head_width", PW_OPT_INT, AT(head_width), "0", 0, 1024, NULL, 0, "0: width / heads"},
    {"layers", PW_OPT_INT, AT(layers), "0", 0, PW_MAX_LAYERS, NULL, 0, "0: 1 for theorem1, 2 for theorem2"},
    {"context", PW_OPT_INT, AT(context), "0", 0, PW_MAX_CONTEXT, NULL, 0,
     "context; 0: 4 T (2 T above 512), and at least the longest sample"},
    {"seed", PW_OPT_SEED, AT(seed), NULL, 0, 0, NULL, 0,
     "seed of the weights that the proof leaves open; default: the arm's"},
    {0},
};

static enum pw_code run_on(struct pw_lab *lab, struct pw_replica *arm, const struct pw_args *args,
                           struct pw_err *err)
{
    struct pw_construction of = {.seed = arm->seed};
    const char *name = pw_args_word(args, 0);
    enum pw_code code = pw_args_limit(&pw_cmd_construct, args, 1, 1, err);
    if (code == PW_OK && strcmp(name, "theorem1") != 0 && strcmp(name, "theorem2") != 0)
        code = pw_fail(err, PW_EUSER, "construct: no '%s'; there are theorem1 and theorem2", name);
    pw_opt_defaults(opts, &of);
    if (code == PW_OK)
        code = pw_args_opts(args, opts, &of, err);
    return code == PW_OK ? pw_lab_construct(lab, arm, strcmp(name, "theorem1") == 0 ? 1 : 2, &of, err) : code;
}

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    return pw_scope_run(ctx, args, run_on, err);
}

static void complete(struct pw_completion *c)
{
    if (c->at == 0)
        pw_complete_offer_all(c, (const char *const[]){"theorem1", "theorem2", NULL});
}

const struct pw_command pw_cmd_construct = {
    .name = "construct",
    .usage = "construct theorem1|theorem2 [key=value] [arm=K]",
    .example = "construct theorem1 T=16",
    .summary = "replace an arm's weights by a proof's: it finds positions without an encoding",
    .detail =
        "Kazemnejad et al. 2023, appendix C: in theorem1 attention writes 1/t and the MLP turns it into t;\n"
        "in theorem2 scores are content minus distance. <bos> is the task's first word; weights that the\n"
        "proof leaves open are drawn. `probe theorem1` shows every step. Prompts, inspection and training\n"
        "work as with any arm; `model tiny` returns to an ordinary model.",
    .where = PW_AT_LAB,
    .opts = opts,
    .also = pw_scope_opts,
    .complete = complete,
    .values = pw_offer_values,
    .run = run,
};
