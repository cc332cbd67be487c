/* train - all arms, in the background at the prompt, to the end in a script. */
#include <string.h>

#include "lab/lab_int.h"

struct until_opts {
    float acc, loss, flops;
    int step;
};

static const struct pw_opt opts[] = {
    {.name = "acc",
     .type = PW_OPT_FLOAT,
     .offset = offsetof(struct until_opts, acc),
     .min = 0,
     .max = 1,
     .help = "in-range exact match, on 256 validation samples every 50 steps"},
    {.name = "loss",
     .type = PW_OPT_FLOAT,
     .offset = offsetof(struct until_opts, loss),
     .min = 0,
     .max = 1e9,
     .help = "training loss, nats"},
    {.name = "step",
     .type = PW_OPT_INT,
     .offset = offsetof(struct until_opts, step),
     .min = 1,
     .max = 1e9,
     .help = "completed steps"},
    {.name = "flops",
     .type = PW_OPT_FLOAT,
     .offset = offsetof(struct until_opts, flops),
     .min = 1,
     .max = 1e18,
     .help = "floating-point operations of each arm's steps: so many more, or after until so many in all"},
    {.name = NULL}};

extern const struct pw_command pw_cmd_train;

static enum pw_code until(const struct pw_args *args, enum pw_until *kind, double *value, struct pw_err *err)
{
    struct until_opts o = {0};
    enum pw_code code = pw_args_opts(args, opts, &o, err);
    if (code != PW_OK)
        return code;
    if (args->n - pw_args_words(args) != 1)
        return pw_fail(err, PW_EUSER, "train until: one of acc=A, loss=X, step=N, flops=X");
    const char *acc = pw_args_key(args, "acc"), *loss = pw_args_key(args, "loss");
    bool flops = pw_args_key(args, "flops") != NULL;
    *kind = acc != NULL    ? PW_UNTIL_ACC
            : loss != NULL ? PW_UNTIL_LOSS
            : flops        ? PW_UNTIL_FLOPS
                           : PW_UNTIL_STEP;
    *value = acc != NULL ? (double)o.acc : loss != NULL ? (double)o.loss : flops ? (double)o.flops : o.step;
    return PW_OK;
}

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    enum pw_until kind = PW_UNTIL_STEP;
    double value = 0.0;
    long n = 0;
    int at = 0;
    const char *word = pw_args_word(args, at);
    if (word != NULL && strcmp(word, "until") != 0) {
        if (!pw_text_int(word, 1, 1000000000, &n))
            return pw_fail(err, PW_EUSER, "train: '%s': a number of steps, 1..1000000000, or 'until acc=A'",
                           word);
        word = pw_args_word(args, ++at);
    }
    if (word != NULL) {
        if (strcmp(word, "until") != 0 || pw_args_word(args, at + 1) != NULL)
            return pw_fail(err, PW_EUSER, "usage: %s", pw_cmd_train.usage);
        enum pw_code code = until(args, &kind, &value, err);
        if (code != PW_OK)
            return code;
    } else if (args->n == 1 && pw_args_key(args, "flops") != NULL) {
        enum pw_code code = until(args, &kind, &value, err);
        if (code != PW_OK)
            return code;
        kind = PW_UNTIL_MORE_FLOPS;
    } else if (args->n > pw_args_words(args))
        return pw_fail(err, PW_EUSER, "usage: %s", pw_cmd_train.usage);
    return pw_lab_train(ctx, n, kind, value, err);
}

static void complete(struct pw_completion *c)
{
    const char *before = c->at > 0 ? pw_args_word(c->so_far, c->at - 1) : "";
    if (c->at <= 1 && strcmp(before, "until") != 0)
        pw_complete_offer(c, "until");
}

const struct pw_command pw_cmd_train = {
    .name = "train",
    .usage = "train [N|flops=X] [until acc=A|loss=X|step=N|flops=X]",
    .summary = "N more steps of every arm, or to the end of the schedule",
    .detail =
        "With until, each arm stops on its own when it is there; not there after N steps (without N: ten "
        "times the\n"
        "schedule) is an error. A script waits for training to end, and so does what stands behind it in a "
        "typed line\n"
        "(train; eval); alone at the prompt it runs in the background.\n"
        "train flops=1e12 trains every arm until it has spent that on its steps, so that arms of different "
        "size or\n"
        "encoding are compared at equal work; 'set share flops' lets those that spent less go first. Counted "
        "from\n"
        "shapes: six operations a token and weight of a matrix, and attention over the pairs that the mask "
        "shows.",
    .where = PW_AT_LAB,
    .lasts = true,
    .opts = opts,
    .complete = complete,
    .run = run,
};
