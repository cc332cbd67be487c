/* set - how the laboratory works, as opposed to what it works on. */
#include <string.h>

#include "lab/lab_int.h"

struct settings {
    int threads;
    float temperature;
    int isa, share;
};

static const char *const isas[] = {"auto", "scalar", "avx2", "avx512", NULL};

static const char *const shares[] = {"steps", "flops", NULL}; /* enum pw_share */

static const struct pw_opt opts[] = {
    {.name = "threads",
     .type = PW_OPT_INT,
     .offset = offsetof(struct settings, threads),
     .def = "0",
     .min = 0,
     .max = 64,
     .help = "of the cpu backend; 0: all processors. The bits don't depend on it"},
    {.name = "isa",
     .type = PW_OPT_CHOICE,
     .offset = offsetof(struct settings, isa),
     .def = "auto",
     .choices = isas,
     .help = "instruction set of the cpu backend; auto: the processor's best. The bits don't depend on it"},
    {.name = "share",
     .type = PW_OPT_CHOICE,
     .offset = offsetof(struct settings, share),
     .def = "steps",
     .choices = shares,
     .help =
         "who trains next: every arm in turn, or the one that has spent the fewest operations; an arm's bits "
         "don't depend on it"},
    {.name = "temperature",
     .type = PW_OPT_FLOAT,
     .offset = offsetof(struct settings, temperature),
     .def = "0",
     .min = 0,
     .max = 100,
     .help = "of decoding at the prompt: tokens are drawn by logits / temperature; 0: the best one"},
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
    if (code == PW_OK && strcmp(key, "share") == 0)
        pw_lab_set_share(ctx, (enum pw_share)s.share);
    else if (code == PW_OK)
        pw_lab_set_temperature(ctx, s.temperature);
    return code;
}

const struct pw_command pw_cmd_set = {
    .name = "set",
    .usage = "set KEY VALUE",
    .summary = "how the laboratory works: threads, isa, share, temperature",
    .where = PW_AT_LAB,
    .opts = opts,
    .run = run,
};
