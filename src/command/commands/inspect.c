/* inspect - choose the replica of the current arm that answers prompts and is inspected, and its inspected
 * layer, head and view. */
#include "lab/actions.h"
#include "lab/offer.h"

struct inspect_opts {
    struct pw_move replica, layer, head, view;
};

static const struct pw_opt opts[] = {
    {.name = "replica",
     .type = PW_OPT_MOVE,
     .offset = offsetof(struct inspect_opts, replica),
     .def = "+0",
     .min = 1,
     .max = PW_MAX_REPLICAS,
     .help = "replica of the current arm, from 1, that answers prompts and is inspected; +1: the next one"},
    {.name = "layer",
     .type = PW_OPT_MOVE,
     .offset = offsetof(struct inspect_opts, layer),
     .def = "+0",
     .max = 1000,
     .help = "layer, from 0; +1: the next one, after the last the first"},
    {.name = "head",
     .type = PW_OPT_MOVE,
     .offset = offsetof(struct inspect_opts, head),
     .def = "+0",
     .max = 1000,
     .help = "head, from 0; likewise"},
    {.name = "view",
     .type = PW_OPT_MOVE,
     .offset = offsetof(struct inspect_opts, view),
     .def = "+0",
     .max = 1000,
     .choices = pw_view_names,
     .help = "probabilities, scores before the softmax, their content part, the encoding's part, the part of "
             "its gates (fox); the four terms of the content part, query by key (c: content, p: position); "
             "+1: the next view"},
    {.name = NULL}};

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    struct inspect_opts o;
    if (pw_args_words(args) > 0)
        return pw_fail(
            err, PW_EUSER,
            "inspect: '%s' is not key=value; usage: inspect [replica=R] [layer=L] [head=H] [view=V]",
            pw_args_word(args, 0));
    pw_opt_defaults(opts, &o);
    enum pw_code code = pw_args_opts(args, opts, &o, err);
    return code == PW_OK ? pw_lab_choose_view(ctx, o.replica, o.layer, o.head, o.view, err) : code;
}

/* `inspect replica=R` */
static bool passes_over(const struct pw_args *args)
{
    return pw_args_key(args, "replica") != NULL;
}

const struct pw_command pw_cmd_inspect = {
    .name = "inspect",
    .search = "heatmap attention map seed replicate",
    .usage = "inspect [replica=R] [layer=L] [head=H] [view=probs|score|content|bias|cc|cp|pc|pp|gate]",
    .example = "inspect layer=0 head=1",
    .summary = "inspect a head on the pinned prompt; choose the replica that is inspected",
    .detail =
        "'race seeds=N' gives each arm N replicas: models that differ only in their seed. One replica is\n"
        "inspected: it answers the prompt, and attention, the step pane, the encoding's table, failing,\n"
        "patch, probes of one model, figures and exports read it. The default is the first;\n"
        "'inspect replica=R' or the keys ( and ) choose another, also without a prompt. The choice applies\n"
        "to every arm with so many replicas; race, and an arm with fewer, reset it to the first. Training,\n"
        "curves and evaluation cover all replicas; ablate does too, unless it has replica=R.\n"
        "race none,t5 seeds=3; train 300; prompt sort 3 1 2; inspect replica=2 layer=1 head=0",
    .where = PW_AT_LAB,
    .opts = opts,
    .values = pw_offer_values,
    .passes_over = passes_over,
    .run = run,
};
