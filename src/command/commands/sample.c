/* sample - pin a test sample as the prompt. */
#include <string.h>

#include "lab/actions.h"
#include "lab/offer.h"

struct sample_opts {
    struct pw_move length, index;
    char task[16];
};

static const struct pw_opt opts[] = {
    {.name = "length",
     .type = PW_OPT_MOVE,
     .offset = offsetof(struct sample_opts, length),
     .def = "+0",
     .max = 1000000,
     .help = "length of the sample, or the change of it; default at first: the longest trained"},
    {.name = "index",
     .type = PW_OPT_MOVE,
     .offset = offsetof(struct sample_opts, index),
     .def = "+1",
     .max = 1000000000,
     .help = "number of the sample of that length; -1: the previous one; at first 0"},
    {.name = "task",
     .type = PW_OPT_TEXT,
     .offset = offsetof(struct sample_opts, task),
     .size = sizeof((struct sample_opts *)0)->task,
     .help = "task of a mixture"},
    {.name = NULL}};

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    struct sample_opts o = {.task = ""};
    pw_opt_defaults(opts, &o);
    if (pw_args_words(args) > 0)
        return pw_fail(err, PW_EUSER,
                       "sample: '%s' is not key=value; usage: sample [length=L] [index=N] [task=NAME]",
                       pw_args_word(args, 0));
    enum pw_code code = pw_args_opts(args, opts, &o, err);
    return code == PW_OK ? pw_lab_sample(ctx, o.task, o.length, o.index, err) : code;
}

static void values(struct pw_completion *c)
{
    if (strcmp(c->key, "length") == 0)
        pw_offer_lengths(c);
    else
        pw_offer_values(c);
}

const struct pw_command pw_cmd_sample = {
    .name = "sample",
    .usage = "sample [length=L] [index=N] [task=NAME]",
    .example = "sample length=6",
    .summary = "let the current arm answer a test sample, pinned like a prompt",
    .detail = "The samples are those of 'eval'. Repeat the command for the next one of the same length.",
    .where = PW_AT_LAB,
    .beside = true,
    .opts = opts,
    .values = values,
    .run = run,
};
