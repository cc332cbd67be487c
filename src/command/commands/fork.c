/* fork - copy the current arm with its weights, moments and batches, optionally with another encoding. */
#include "lab/actions.h"
#include "lab/encodings.h"

extern const struct pw_command pw_cmd_fork;

struct options {
    bool restart, choose;
};

/* Its options belong to the command, as in `pe`; all other keys belong to the encoding. */
static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    static const char *const own[] = {"restart", "choose", NULL};
    struct options o;
    int id;
    struct pw_str text = {0};
    bool named = args->n > 0 && args->words[0].key == NULL;
    bool only_choose = args->n == 1 && pw_args_key(args, "choose") != NULL;
    if (args->n > 0 && !named && !only_choose)
        return pw_fail(err, PW_EUSER, "usage: %s; the encoding comes first", pw_cmd_fork.usage);
    pw_opt_defaults(pw_cmd_fork.opts, &o);
    enum pw_code code = pw_encoding_words(args, 0, own, &text, err);
    for (int i = 0; own[i] != NULL && code == PW_OK; i++)
        if (pw_args_key(args, own[i]) != NULL)
            code = pw_opt_set(pw_cmd_fork.opts, &o, "fork", own[i], pw_args_key(args, own[i]), err);
    if (code == PW_OK)
        code = pw_lab_fork(ctx, named ? pw_str_text(&text) : NULL, o.restart, &id, err);
    if (code == PW_OK) {
        const struct pw_replica *arm = pw_lab_arm(ctx, id);
        pw_str_clear(&text);
        pw_encoding_shown(&text, &arm->pe);
        pw_lab_note(ctx, "arm %d: fork of %d @ %lld, %s", id, arm->parent, (long long)arm->parent_step,
                    pw_str_text(&text));
        if (named)
            pw_lab_note_encoding(ctx, arm);
        if (o.choose)
            code = pw_lab_choose_arm(ctx, id, err);
    }
    pw_str_fini(&text);
    return code;
}

static const struct pw_opt opts[] = {{.name = "restart",
                                      .type = PW_OPT_SWITCH,
                                      .offset = offsetof(struct options, restart),
                                      .def = "on",
                                      .help = "restart the learning-rate schedule (with a new encoding)"},
                                     {.name = "choose",
                                      .type = PW_OPT_SWITCH,
                                      .offset = offsetof(struct options, choose),
                                      .def = "off",
                                      .help = "make the copy the current arm"},
                                     {.name = NULL}};

const struct pw_command pw_cmd_fork = {
    .name = "fork",
    .search = "clone branch",
    .usage = "fork [PE] [key=value]",
    .example = "fork alibi",
    .summary = "copy the current arm: weights, moments and step",
    .detail =
        "Without PE both continue to the same bits. With PE the copy's encoding is swapped as by 'pe', so\n"
        "that its curve can be compared with the original's. Both train on the same batches.\n"
        "fork rotary base=500; train 500",
    .where = PW_AT_LAB,
    .formula = true,
    .opts = opts,
    .opts_for = pw_encoding_opts,
    .complete = pw_complete_encoding,
    .run = run,
};
