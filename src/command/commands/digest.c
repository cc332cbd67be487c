/* digest - 128 bits that stand for all parameters of every arm: equal digests, equal models. */
#include <inttypes.h>

#include "lab/lab_int.h"

extern const struct pw_command pw_cmd_digest;

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    enum pw_code code = pw_args_limit(&pw_cmd_digest, args, 0, 0, err);
    for (int i = 1; code == PW_OK && i <= PW_MAX_ARMS; i++) {
        struct pw_arm *arm = pw_lab_arm(ctx, i);
        uint64_t d[2];
        if (arm == NULL)
            continue;
        pw_model_digest(arm->model, d);
        pw_lab_note(ctx, "arm %d  step %lld  digest %016" PRIx64 "%016" PRIx64, i, (long long)arm->step, d[0],
                    d[1]);
    }
    return code;
}

const struct pw_command pw_cmd_digest = {
    .name = "digest",
    .usage = "digest",
    .summary = "128 bits for the parameters of every arm; equal ones mean equal bits",
    .where = PW_AT_LAB,
    .run = run,
};
