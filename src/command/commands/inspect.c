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
     .max = PW_MAX_REPLICATES,
     .help =
         "of the current arm, from 1: it answers prompts and is inspected until changed; +1 is the next one"},
    {.name = "layer",
     .type = PW_OPT_MOVE,
     .offset = offsetof(struct inspect_opts, layer),
     .def = "+0",
     .max = 1000,
     .help = "from 0; +1 is the next one, and behind the last the first"},
    {.name = "head",
     .type = PW_OPT_MOVE,
     .offset = offsetof(struct inspect_opts, head),
     .def = "+0",
     .max = 1000,
     .help = "from 0, likewise"},
    {.name = "view",
     .type = PW_OPT_MOVE,
     .offset = offsetof(struct inspect_opts, view),
     .def = "+0",
     .max = 1000,
     .choices = pw_view_names,
     .help = "probabilities, scores before the softmax, their content part, the encoding's part; the "
             "content part by query and key: content with content, content with position, pc, pp; +1 is the "
             "next that there is"},
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
    return code == PW_OK ? pw_lab_look(ctx, o.replica, o.layer, o.head, o.view, err) : code;
}

const struct pw_command pw_cmd_inspect = {
    .name = "inspect",
    .search = "heatmap attention map seed replicate",
    .usage = "inspect [replica=R] [layer=L] [head=H] [view=probs|score|content|bias|cc|cp|pc|pp]",
    .summary = "look into a head with the pinned prompt; choose which replica of the arm is inspected",
    .detail =
        "An arm that was raced with seeds=N has N replicas, models that differ in their seed. One of\n"
        "them is inspected: it answers the prompt, and attention, the step inspector, the encoding's\n"
        "table, failing, patch, probes of one model, figures and export are of it. It is the first one\n"
        "until 'inspect replica=R', or a key, ( or ), chooses another; no prompt is needed for that. The\n"
        "choice holds for every arm that has so many replicas. It goes back to the first where an arm\n"
        "that has fewer is chosen, and with race. Training, curves and evaluation are of all replicas,\n"
        "and ablate switches heads of all unless it has replica=R.\n"
        "race none,t5 seeds=3; train 300; prompt sort 3 1 2; inspect replica=2 layer=1 head=0",
    .where = PW_AT_LAB,
    .opts = opts,
    .values = pw_offer_values,
    .run = run,
};
