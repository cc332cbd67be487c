/* import - load data of other programs: weights into the current arm, a table of biases into any arm,
 * attention next to the current one. */
#include <string.h>

#include "lab/actions.h"
#include "lab/scope.h"

struct table_opts {
    int stack; /* enum pw_t5_stack */
    int layer; /* -1: not given */
    int arm;
};

enum { WEIGHTS, ATTENTION, TABLE };
static const char *const kinds[] = {
    [WEIGHTS] = "weights", [ATTENTION] = "attention", [TABLE] = "table", NULL};
static const char *const stacks[] = {"decoder", "encoder", NULL};

static const struct pw_opt table_opts[] = {
    {.name = "stack",
     .type = PW_OPT_CHOICE,
     .offset = offsetof(struct table_opts, stack),
     .def = "decoder",
     .choices = stacks,
     .help = "half of the T5; the encoder's table has buckets for keys after the query, too"},
    {.name = "layer",
     .type = PW_OPT_INT,
     .offset = offsetof(struct table_opts, layer),
     .max = PW_MAX_LAYERS - 1,
     .help = "layer whose table it is, from 0: umT5 has one for each layer"},
    PW_ARM_OPT(offsetof(struct table_opts, arm)),
    {.name = NULL}};

static enum pw_code run_table(struct pw_lab *lab, const struct pw_args *args, struct pw_err *err)
{
    struct table_opts o = {.layer = -1};
    struct pw_args rest;
    struct pw_replica *arm;
    pw_opt_defaults(table_opts, &o);
    enum pw_code code = pw_scope_arm(lab, args, &rest, &arm, err);
    if (code == PW_OK)
        code = pw_args_opts(&rest, table_opts, &o, err);
    return code == PW_OK ? pw_lab_import_table(lab, arm, pw_args_word(&rest, 1), (enum pw_t5_stack)o.stack,
                                               o.layer, err)
                         : code;
}

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    const char *what = pw_args_word(args, 0), *path = pw_args_word(args, 1);
    int kind = 0;
    while (what != NULL && kinds[kind] != NULL && strcmp(what, kinds[kind]) != 0)
        kind++;
    if (path == NULL || kinds[kind] == NULL || pw_args_words(args) > 2 || (kind != TABLE && args->n > 2))
        return pw_fail(err, PW_EUSER,
                       "usage: import weights FILE (safetensors) | import attention FILE|off (npz) | import "
                       "table PATH (T5) [stack=decoder|encoder] [layer=L] [arm=K]");
    if (kind == TABLE)
        return run_table(ctx, args, err);
    if (kind == WEIGHTS)
        return pw_lab_import_weights(ctx, path, err);
    if (strcmp(path, "off") != 0)
        return pw_lab_import_attention(ctx, path, err);
    pw_lab_forget_attention(ctx);
    return PW_OK;
}

static const struct pw_opt *opts_for(const struct pw_args *so_far)
{
    const char *what = pw_args_word(so_far, 0);
    return what != NULL && strcmp(what, kinds[TABLE]) == 0 ? table_opts : NULL;
}

static void complete(struct pw_completion *c)
{
    if (c->at == 0)
        pw_complete_offer_all(c, kinds);
}

const struct pw_command pw_cmd_import = {
    .name = "import",
    .search = "load read t5",
    .usage = "import weights FILE | import attention FILE|off | import table PATH [stack=decoder|encoder] "
             "[layer=L] [arm=K]",
    .example = "import attention sort.npz",
    .summary = "read weights or T5's biases into an arm, or attention to compare with it",
    .detail =
        "  weights F.safetensors  a file by pewter sets model, encoding and task; any other file must "
        "have the arm's\n"
        "                         shapes and names. The arm's other replicas are dropped.\n"
        "  attention F.npz        probs [layers,heads,T,T] and tokens [T], from anywhere; also "
        "[heads,T,T] and [T,T],\n"
        "                         labels [T] and score [layers,heads,T,T]. The attention pane shows "
        "it; i switches to\n"
        "                         the arm's and back, c compares; off: hide it.\n"
        "  table PATH             the biases of a T5, mT5 or umT5: its folder, safetensors or GGUF file, or "
        "name in\n"
        "                         Hugging Face's cache. The arm's encoding becomes pe t5 with the buckets "
        "and the "
        "maximum\n"
        "                         distance of config.json; all other weights stay. The heads must agree. "
        "A causal\n"
        "                         arm takes of the encoder's table the half for keys before the query.",
    .where = PW_AT_LAB,
    .file_at = 2,
    .opts_for = opts_for,
    .complete = complete,
    .run = run,
};
