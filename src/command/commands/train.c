/* train - train all arms or one: in the background at the prompt, to the end in a script. */
#include <string.h>

#include "lab/actions.h"
#include "lab/offer.h"
#include "lab/scope.h"

struct until_opts {
    float acc, loss, flops;
    int step, replica;
};

static const struct pw_opt opts[] = {
    {.name = "acc",
     .type = PW_OPT_FLOAT,
     .offset = offsetof(struct until_opts, acc),
     .min = 0,
     .max = 1,
     .help = "in-range exact match, teacher-forced, on 256 validation samples every 50 steps"},
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
     .help = "floating-point operations of each arm's steps: additional ones; after until: in total"},
    {.name = "replica",
     .type = PW_OPT_INT,
     .offset = offsetof(struct until_opts, replica),
     .min = 1,
     .max = PW_MAX_REPLICAS,
     .help = "with step and arm: stop in the middle of a round, so later replicas lack the last step"},
    {.name = NULL}};

extern const struct pw_command pw_cmd_train;

static enum pw_code until(struct pw_lab *lab, const struct pw_args *args, struct pw_goal *goal,
                          struct pw_err *err)
{
    struct until_opts o = {0};
    enum pw_code code = pw_args_opts(args, opts, &o, err);
    if (code != PW_OK)
        return code;
    bool acc = pw_args_key(args, "acc") != NULL, loss = pw_args_key(args, "loss") != NULL,
         step = pw_args_key(args, "step") != NULL, flops = pw_args_key(args, "flops") != NULL;
    if (acc + loss + step + flops != 1)
        return pw_fail(err, PW_EUSER, "train until: one of acc=A, loss=X, step=N, flops=X");
    if (o.replica > 0 && (!step || goal->n > 0 || goal->arm == 0))
        return pw_fail(err, PW_EUSER,
                       "train: replica=R: allowed only in 'train until step=N arm=K replica=R'");
    goal->until = acc ? PW_UNTIL_ACC : loss ? PW_UNTIL_LOSS : flops ? PW_UNTIL_FLOPS : PW_UNTIL_STEP;
    goal->value = acc ? (double)o.acc : loss ? (double)o.loss : flops ? (double)o.flops : o.step;
    goal->replica = o.replica;
    return o.replica > 0 ? pw_lab_need_replica(lab, pw_lab_arm(lab, goal->arm), "train", o.replica, err)
                         : PW_OK;
}

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    struct pw_args rest;
    struct pw_goal goal = {.until = PW_UNTIL_STEP};
    long n = 0;
    int at = 0;
    enum pw_code code = pw_scope_take(ctx, args, &rest, &goal.arm, err);
    if (code != PW_OK)
        return code;
    const char *word = pw_args_word(&rest, at);
    if (word != NULL && strcmp(word, "until") != 0) {
        if (!pw_text_int(word, 1, 1000000000, &n))
            return pw_fail(err, PW_EUSER, "train: '%s': a number of steps, 1..1000000000, or 'until acc=A'",
                           word);
        word = pw_args_word(&rest, ++at);
    }
    goal.n = n;
    if (word != NULL) {
        if (strcmp(word, "until") != 0 || pw_args_word(&rest, at + 1) != NULL)
            return pw_fail(err, PW_EUSER, "usage: %s", pw_cmd_train.usage);
        code = until(ctx, &rest, &goal, err);
    } else if (rest.n == 1 && pw_args_key(&rest, "flops") != NULL) {
        code = until(ctx, &rest, &goal, err);
        goal.until = PW_UNTIL_MORE_FLOPS;
    } else if (rest.n > pw_args_words(&rest)) {
        return pw_fail(err, PW_EUSER, "usage: %s", pw_cmd_train.usage);
    }
    return code == PW_OK ? pw_lab_train(ctx, &goal, err) : code;
}

static void complete(struct pw_completion *c)
{
    const char *before = c->at > 0 ? pw_args_word(c->so_far, c->at - 1) : "";
    if (c->at <= 1 && strcmp(before, "until") != 0)
        pw_complete_offer(c, "until");
}

const struct pw_command pw_cmd_train = {
    .name = "train",
    .search = "fit start learn optimise",
    .usage = "train [N|flops=X] [until acc=A|loss=X|step=N|flops=X] [arm=K]",
    .example = "train 300 until acc=0.01",
    .summary = "train every arm, or arm K: N more steps, or to the end of the schedule",
    .detail = "With until, each arm stops when it reaches the goal; it is an error if it does not after N "
              "steps (default:\n"
              "ten times the schedule). A script, and the rest of a typed line (train; eval), wait for "
              "training to end;\n"
              "alone at the prompt, training runs in the background.\n"
              "train flops=1e12 trains every arm until its steps have taken that many operations, to compare "
              "arms of\n"
              "different size or encoding at equal work; with 'set share flops' arms with fewer operations "
              "go first.\n"
              "Counted from shapes: six operations per token and weight of a matrix, and attention over "
              "unmasked pairs.",
    .where = PW_AT_LAB,
    .lasts = true,
    .opts = opts,
    .also = pw_scope_opts,
    .complete = complete,
    .values = pw_offer_values,
    .run = run,
};
