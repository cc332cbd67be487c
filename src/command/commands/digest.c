/* digest - print 128 bits that identify the parameters of each model: equal digests mean equal models. */
#include <inttypes.h>
#include <stdio.h>

#include "lab/actions.h"

extern const struct pw_command pw_cmd_digest;

/* Write what the bits depend on besides the commands: on the machine (class machine), and on the algorithms
 * that a library chose. */
static void choices_text(char dst[64], const struct pw_lab *lab, const struct pw_model *m)
{
    uint64_t digest;
    int n = pw_model_choices(m, &digest);
    snprintf(dst, 64, pw_lab_facts(lab).portable ? "" : "  class machine");
    if (n > 0)
        snprintf(dst, 64, "  class machine, %d plans of products %016" PRIx64, n, digest);
}

static void note_digest(struct pw_lab *lab, const struct pw_replica *a)
{
    char which[32] = "";
    char text[33], choices[64];
    if (pw_lab_n_replicas(lab, a->id) > 1)
        snprintf(which, sizeof which, "  replica %d", a->replica);
    pw_lab_emit_digest(lab, a, text);
    choices_text(choices, lab, a->model);
    pw_lab_note(lab, "arm %d%s  step %lld  digest %s%s", a->id, which, (long long)a->step, text, choices);
}

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    enum pw_code code = pw_args_limit(&pw_cmd_digest, args, 0, 0, err);
    const struct pw_lab *lab = ctx;
    for (int id = 1; code == PW_OK && id <= PW_MAX_ARMS; id++)
        for (int r = 1; r <= pw_lab_n_replicas(lab, id); r++)
            note_digest(ctx, pw_lab_replica(ctx, id, r));
    return code;
}

const struct pw_command pw_cmd_digest = {
    .name = "digest",
    .search = "hash checksum",
    .usage = "digest",
    .example = "digest",
    .summary = "print a 128-bit hash of every model's parameters; equal digests mean equal bits",
    .where = PW_AT_LAB,
    .run = run,
};
