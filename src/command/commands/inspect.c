/* inspect - which head of the pinned prompt is looked at, and how. */
#include "lab/lab_int.h"
#include "lab/offer.h"

struct inspect_opts {
    struct pw_move layer, head, view;
};

static const struct pw_opt opts[] = {
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
        return pw_fail(err, PW_EUSER,
                       "inspect: '%s' is not key=value; usage: inspect [layer=L] [head=H] [view=V]",
                       pw_args_word(args, 0));
    pw_opt_defaults(opts, &o);
    enum pw_code code = pw_args_opts(args, opts, &o, err);
    return code == PW_OK ? pw_lab_look(ctx, o.layer, o.head, o.view, err) : code;
}

const struct pw_command pw_cmd_inspect = {
    .name = "inspect",
    .search = "heatmap attention map",
    .usage = "inspect [layer=L] [head=H] [view=probs|score|content|bias|cc|cp|pc|pp]",
    .summary = "look into a head with the pinned prompt",
    .where = PW_AT_LAB,
    .opts = opts,
    .values = pw_offer_values,
    .run = run,
};
