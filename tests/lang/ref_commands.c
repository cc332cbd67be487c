/* ref_commands.c - see ref_commands.h. The commands together use every feature of a command. */
#include "ref_commands.h"

#include <string.h>

static const char *const norms[] = {"rmsnorm", "layernorm", "none", NULL};

static const struct pw_opt model_opts[] = {
    {.name = "width",
     .type = PW_OPT_INT,
     .offset = offsetof(struct ref_target, width),
     .def = "64",
     .min = 1,
     .max = 4096,
     .help = "of the hidden state"},
    {.name = "tied",
     .type = PW_OPT_SWITCH,
     .offset = offsetof(struct ref_target, tied),
     .def = "on",
     .help = "the head shares the embedding"},
    {.name = "norm",
     .type = PW_OPT_CHOICE,
     .offset = offsetof(struct ref_target, norm),
     .def = "rmsnorm",
     .choices = norms,
     .help = "before each block"},
    {.name = "lengths",
     .type = PW_OPT_RANGE,
     .offset = offsetof(struct ref_target, lengths),
     .min = 1,
     .max = 512,
     .help = "trained"},
    {0},
};

static const struct pw_opt t5_opts[] = {
    {.name = "buckets",
     .type = PW_OPT_INT,
     .def = "32",
     .min = 2,
     .max = 512,
     .help = "distances told apart"},
    {.name = "clip", .type = PW_OPT_SWITCH, .def = "off", .help = "of what is far"},
    {0},
};

static const struct pw_opt *opts_for_pe(const struct pw_args *so_far)
{
    const char *name = pw_args_word(so_far, 0);
    return name != NULL && strcmp(name, "t5") == 0 ? t5_opts : NULL;
}

static void complete_pe(struct pw_completion *c)
{
    static const char *const all[] = {"none", "t5", "alibi", "rotary", NULL};
    if (c->at == 0)
        pw_complete_offer_all(c, all);
}

static void complete_open(struct pw_completion *c)
{
    static const char *const all[] = {"first", "my \"best\" run", NULL};
    if (c->at == 0)
        pw_complete_offer_all(c, all);
}

/* Completion from state: offers the numbers of the existing arms. c->seen points to their count. */
static void complete_arm(struct pw_completion *c)
{
    const int *arms = c->seen;
    for (int i = 1; arms != NULL && c->at == 0 && i <= *arms; i++)
        pw_complete_offer(c, "%d", i);
}

static void values_model(struct pw_completion *c)
{
    if (c->seen != NULL && strcmp(c->key, "width") == 0)
        pw_complete_offer(c, "%d", 10 * *(const int *)c->seen);
}

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    (void)ctx;
    (void)args;
    return pw_fail(err, PW_EUSER, "these commands only look like some");
}

static const char *const aliases[] = {"fit", "t!", NULL};
static const struct pw_command train = {.name = "train",
                                        .aliases = aliases,
                                        .search = "learn optimise",
                                        .usage = "train [N] [until acc=A|loss=X|step=N]",
                                        .summary = "train every arm",
                                        .detail = "N steps more.\n.5 is no step; -1 neither.",
                                        .run = run};
static const struct pw_command pe = {.name = "pe",
                                     .usage = "pe NAME [key=value]",
                                     .summary = "swap the encoding in place",
                                     .formula = true,
                                     .opts_for = opts_for_pe,
                                     .complete = complete_pe,
                                     .run = run};
static const struct pw_command race = {.name = "race",
                                       .usage = "race PE,PE,... [key=value]",
                                       .summary = "several arms",
                                       .complete = complete_pe,
                                       .run = run};
static const struct pw_command model = {.name = "model",
                                        .usage = "model [PRESET] [key=value]",
                                        .summary = "shape of the model",
                                        .opts = model_opts,
                                        .values = values_model,
                                        .run = run};
static const struct pw_command arm = {.name = "arm",
                                      .usage = "arm [N] | arm add PE [key=value] | arm drop N",
                                      .summary = "models side by side",
                                      .complete = complete_arm,
                                      .run = run};
static const struct pw_command prompt = {
    .name = "prompt", .usage = "prompt TEXT", .summary = "ask", .raw = true, .run = run};
static const struct pw_command open_ = {.name = "open",
                                        .usage = "open NAME",
                                        .summary = "go on with a session",
                                        .where = PW_AT_UI,
                                        .file_at = 2,
                                        .complete = complete_open,
                                        .run = run};

static const struct pw_command *const list[] = {&train, &pe, &race, &model, &arm, &prompt, &open_, NULL};

const struct pw_commands ref_commands = {list};
