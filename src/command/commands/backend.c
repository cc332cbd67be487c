/* backend - choose the hardware that computes: the processors or an NVIDIA device. */
#include <string.h>

#include "lab/actions.h"

struct choice {
    int mode, precision;
};

extern const struct pw_command pw_cmd_backend;

static const char *const modes[] = {"fast", "ref", NULL};
static const char *const precisions[] = {"fp32", "tf32", "bf16", NULL};

static const struct pw_opt opts[] = {
    {.name = "mode",
     .type = PW_OPT_CHOICE,
     .offset = offsetof(struct choice, mode),
     .choices = modes,
     .help = "cuda only. fast (the default): products on tensor cores, the same bits on the same machine; "
             "ref: the cpu's bits, slower"},
    {.name = "precision",
     .type = PW_OPT_CHOICE,
     .offset = offsetof(struct choice, precision),
     .choices = precisions,
     .help = "precision of products in linear layers, as in 'set precision'; weights and sums are float32"},
    {.name = NULL}};

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    struct choice c;
    enum pw_code code = pw_args_limit(&pw_cmd_backend, args, 1, 1, err);
    if (code == PW_OK)
        code = pw_args_opts(args, opts, &c, err);
    return code == PW_OK ? pw_lab_set_backend(ctx, pw_args_word(args, 0), pw_args_key(args, "mode"),
                                              pw_args_key(args, "precision"), err)
                         : code;
}

static void complete(struct pw_completion *c)
{
    static const char *const names[] = {"auto", "cpu", "cuda", NULL};
    if (c->at == 0)
        pw_complete_offer_all(c, names);
}

/* `backend auto` emits the backend that it chose as a command of its own, which a re-run runs instead. */
static bool outside(const struct pw_args *args)
{
    const char *name = pw_args_word(args, 0);
    return name != NULL && strcmp(name, "auto") == 0;
}

const struct pw_command pw_cmd_backend = {
    .name = "backend",
    .search = "gpu cuda cpu",
    .usage = "backend auto|cpu|cuda[:N] [mode=fast|ref] [precision=fp32|tf32|bf16]",
    .example = "backend auto",
    .summary = "choose the device: the cpu or an NVIDIA device; models move with all their bits",
    .detail = "auto chooses cuda if there is a device, else the cpu, and prints the choice and the reason.\n"
              "'devices' lists the devices.",
    .where = PW_AT_LAB,
    .opts = opts,
    .complete = complete,
    .outside = outside,
    .run = run,
};
