/* import - weights from a file into the current arm. */
#include <string.h>

#include "lab/lab_int.h"

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    const char *what = pw_args_word(args, 0), *path = pw_args_word(args, 1);
    if (path == NULL || args->n > 2 || strcmp(what, "weights") != 0)
        return pw_fail(err, PW_EUSER, "usage: import weights FILE (safetensors)");
    return pw_lab_import_weights(ctx, path, err);
}

static void complete(struct pw_completion *c)
{
    if (c->at == 0)
        pw_complete_offer(c, "weights");
}

const struct pw_command pw_cmd_import = {
    .name = "import",
    .usage = "import weights FILE",
    .summary = "weights from a safetensors file into the current arm",
    .detail = "A file of pewter's brings its model, encoding and task; another must have the arm's shapes "
              "and names.",
    .where = PW_AT_LAB,
    .file_at = 2,
    .complete = complete,
    .run = run,
};
