/* digest - print 128 bits that identify the parameters of each model: equal digests mean equal models. */
#include <inttypes.h>
#include <stdio.h>

#include "lab/lab_int.h"

extern const struct pw_command pw_cmd_digest;

/* Write what the bits depend on besides the commands: on the machine (class machine), and on the algorithms
 * that a library chose. */
static void choices_text(char dst[64], const struct pw_lab *lab, const struct pw_model *m)
{
    uint64_t digest;
    int n = pw_model_choices(m, &digest);
    snprintf(dst, 64, lab->ops->portable ? "" : "  class machine");
    if (n > 0)
        snprintf(dst, 64, "  class machine, %d plans of products %016" PRIx64, n, digest);
}

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    enum pw_code code = pw_args_limit(&pw_cmd_digest, args, 0, 0, err);
    const struct pw_lab *lab = ctx;
    struct pw_arm all[PW_MAX_PLACES];
    int n = code == PW_OK ? pw_lab_collect(ctx, 0, all) : 0;
    for (int i = 0; i < n; i++) {
        char which[32] = "";
        char text[33], choices[64];
        if (pw_lab_replicates(ctx, all[i].id) > 1)
            snprintf(which, sizeof which, "  replicate %d", all[i].replicate);
        pw_lab_tell_digest(ctx, &all[i], text);
        choices_text(choices, lab, all[i].model);
        pw_lab_note(ctx, "arm %d%s  step %lld  digest %s%s", all[i].id, which, (long long)all[i].step, text,
                    choices);
    }
    return code;
}

const struct pw_command pw_cmd_digest = {
    .name = "digest",
    .search = "hash checksum",
    .usage = "digest",
    .summary = "128 bits for the parameters of every model; equal ones mean equal bits",
    .where = PW_AT_LAB,
    .run = run,
};
