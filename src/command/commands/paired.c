/* paired - compare arms on the same samples, and report whether one may be called the best. */
#include "lab/actions.h"
#include "lab/offer.h"

static const char usage[] = "paired [ARM ARM...] [lengths=A..B] [task=NAME]";

struct paired_opts {
    struct pw_range lengths;
    char task[32];
};

static const struct pw_opt opts[] = {{.name = "lengths",
                                      .type = PW_OPT_RANGE,
                                      .offset = offsetof(struct paired_opts, lengths),
                                      .min = 1,
                                      .max = 512,
                                      .help = "lengths, pooled; default: those beyond training"},
                                     {.name = "task",
                                      .type = PW_OPT_TEXT,
                                      .offset = offsetof(struct paired_opts, task),
                                      .size = sizeof((struct paired_opts *)0)->task,
                                      .help = "task of a mixture; default: the first"},
                                     {.name = NULL}};

/* The named arms as bits; all if none is named. */
static enum pw_code take_arms(struct pw_lab *lab, const struct pw_args *args, unsigned *arms,
                              struct pw_err *err)
{
    int n = pw_args_words(args);
    *arms = n == 0 ? ~0u : 0;
    for (int i = 0; i < n; i++) {
        struct pw_replica *arm;
        long id;
        if (!pw_text_int(pw_args_word(args, i), 1, PW_MAX_ARMS, &id))
            return pw_fail(err, PW_EUSER, "paired: '%s' is not an arm's number; usage: %s",
                           pw_args_word(args, i), usage);
        enum pw_code code = pw_lab_need_arm(lab, (int)id, &arm, err);
        if (code != PW_OK)
            return code;
        *arms |= 1u << (id - 1);
    }
    if (n > 0 && (*arms & (*arms - 1)) == 0)
        return pw_fail(err, PW_EUSER, "paired: one arm only; name at least two; usage: %s", usage);
    return PW_OK;
}

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    struct pw_lab *lab = ctx;
    struct paired_opts o = {.lengths = {0, 0}};
    unsigned arms;
    int task = 0;
    enum pw_code code = take_arms(lab, args, &arms, err);
    if (code == PW_OK)
        code = pw_args_opts(args, opts, &o, err);
    if (code == PW_OK)
        code = pw_lab_find_task(lab, "paired", o.task, &task, err);
    if (code != PW_OK)
        return code;
    pw_lab_paired(lab, arms, task, o.lengths);
    return PW_OK;
}

static void complete(struct pw_completion *c)
{
    pw_offer_arms(c); /* any number of them */
}

const struct pw_command pw_cmd_paired = {
    .name = "paired",
    .search = "significance statistics",
    .usage = usage,
    .example = "paired lengths=9..16",
    .summary = "test which arm is best, over seeds, on the same evaluation samples",
    .detail =
        "Each training run counts as one number: its exact match over the samples. p is two-sided and "
        "exact:\n"
        "for arms with the same seeds by sign flips of the differences (0.05 needs 6 seeds: race ... "
        "seeds=6),\n"
        "for arms with different seeds by permuting runs (4 seeds of each). An arm is called best if p < "
        "0.05\n"
        "against each other arm; for equal arms that happens in at most 5 of 100 races (docs/verdicts.md).\n"
        "'corrected' is p after Holm's correction for the number of pairs. All runs train on the same "
        "batches;\n"
        "with 'race ... batches=own' each pair of runs has its own batches, and the test always flips "
        "signs.\n"
        "'networks' counts the seeds whose two networks differ on these samples (McNemar's exact test): "
        "that\n"
        "compares networks, not encodings.",
    .where = PW_AT_LAB,
    .beside = true,
    .opts = opts,
    .values = pw_offer_values,
    .complete = complete,
    .run = run,
};
