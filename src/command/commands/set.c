/* set - change settings of the lab that do not belong to tasks or models. */
#include <string.h>

#include "lab/actions.h"

struct settings {
    int threads;
    float temperature;
    int isa, precision, share;
};

static const char *const isas[] = {"auto", "scalar", "avx2", "avx512", NULL};
static const char *const precisions[] = {"fp32", "tf32", "bf16", NULL};

static const char *const shares[] = {"steps", "flops", NULL}; /* in the order of enum pw_share */

static const struct pw_opt opts[] = {
    {.name = "threads",
     .type = PW_OPT_INT,
     .offset = offsetof(struct settings, threads),
     .def = "0",
     .min = 0,
     .max = 64,
     .help = "threads of the cpu backend; 0: all processors. Does not change the bits"},
    {.name = "isa",
     .type = PW_OPT_CHOICE,
     .offset = offsetof(struct settings, isa),
     .def = "auto",
     .choices = isas,
     .help = "instruction set of the cpu backend; auto: the processor's best. Does not change the bits"},
    {.name = "precision",
     .type = PW_OPT_CHOICE,
     .offset = offsetof(struct settings, precision),
     .def = "fp32",
     .choices = precisions,
     .help = "precision of products in linear layers; bf16 needs AMX units or an NVIDIA device, tf32 an "
             "NVIDIA device; sums and weights stay fp32; the bits then depend on the machine"},
    {.name = "share",
     .type = PW_OPT_CHOICE,
     .offset = offsetof(struct settings, share),
     .def = "steps",
     .choices = shares,
     .help = "which arm trains next: each in turn, or the one with the fewest operations so far. Does not "
             "change the bits"},
    {.name = "temperature",
     .type = PW_OPT_FLOAT,
     .offset = offsetof(struct settings, temperature),
     .def = "0",
     .min = 0,
     .max = 100,
     .help = "temperature of decoding: tokens are drawn by logits / temperature; 0: the most probable one"},
    {.name = NULL}};

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    struct settings s;
    const char *key = pw_args_word(args, 0), *value = pw_args_word(args, 1);
    if (value == NULL || args->n != 2)
        return pw_fail(err, PW_EUSER, "usage: set KEY VALUE; 'help set' lists the keys");
    enum pw_code code = pw_opt_set(opts, &s, "set", key, value, err);
    if (code == PW_OK && strcmp(key, "threads") == 0)
        return pw_lab_set_threads(ctx, s.threads, err);
    if (code == PW_OK && strcmp(key, "isa") == 0)
        return pw_lab_set_isa(ctx, isas[s.isa], err);
    if (code == PW_OK && strcmp(key, "precision") == 0)
        return pw_lab_set_precision(ctx, precisions[s.precision], err);
    if (code == PW_OK && strcmp(key, "share") == 0)
        pw_lab_set_share(ctx, (enum pw_share)s.share);
    else if (code == PW_OK)
        pw_lab_set_temperature(ctx, s.temperature);
    return code;
}

/* Bits depend on neither threads nor isa, so a re-run skips both. */
static bool outside(const struct pw_args *args)
{
    const char *key = pw_args_word(args, 0);
    return key != NULL && (strcmp(key, "threads") == 0 || strcmp(key, "isa") == 0);
}

const struct pw_command pw_cmd_set = {
    .name = "set",
    .usage = "set KEY VALUE",
    .summary = "set an option of the lab: threads, isa, precision, share, temperature",
    .where = PW_AT_LAB,
    .opts = opts,
    .outside = outside,
    .run = run,
};
