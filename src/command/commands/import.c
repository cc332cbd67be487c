/* import - load data of other programs: weights into the current arm, attention next to it. */
#include <string.h>

#include "lab/actions.h"

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    const char *what = pw_args_word(args, 0), *path = pw_args_word(args, 1);
    bool attention = path != NULL && strcmp(what, "attention") == 0;
    if (path == NULL || args->n > 2 || (!attention && strcmp(what, "weights") != 0))
        return pw_fail(err, PW_EUSER,
                       "usage: import weights FILE (safetensors) | import attention FILE|off (npz)");
    if (!attention)
        return pw_lab_import_weights(ctx, path, err);
    if (strcmp(path, "off") != 0)
        return pw_lab_import_attention(ctx, path, err);
    pw_lab_forget_attention(ctx);
    return PW_OK;
}

static void complete(struct pw_completion *c)
{
    if (c->at == 0) {
        pw_complete_offer(c, "weights");
        pw_complete_offer(c, "attention");
    }
}

const struct pw_command pw_cmd_import = {
    .name = "import",
    .search = "load read",
    .usage = "import weights FILE | import attention FILE|off",
    .example = "import attention sort.npz",
    .summary = "read weights into the current arm, or attention to compare with it",
    .detail = "  weights F.safetensors  a file by pewter sets model, encoding and task; any other file must "
              "have the arm's\n"
              "                         shapes and names. The arm's other replicas are dropped.\n"
              "  attention F.npz        probs [layers,heads,T,T] and tokens [T], from anywhere; also "
              "[heads,T,T] and [T,T],\n"
              "                         labels [T] and score [layers,heads,T,T]. The attention pane shows "
              "it; i switches to\n"
              "                         the arm's and back, c compares; off: hide it.",
    .where = PW_AT_LAB,
    .file_at = 2,
    .complete = complete,
    .run = run,
};
