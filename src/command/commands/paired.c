/* paired - arms compared on the same samples, and whether one of them may be called best. */
#include <limits.h>
#include <stdio.h>

#include "lab/lab_int.h"
#include "sessions/paired.h"

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
                                      .help = "pooled; those beyond training unless given"},
                                     {.name = "task",
                                      .type = PW_OPT_TEXT,
                                      .offset = offsetof(struct paired_opts, task),
                                      .size = sizeof((struct paired_opts *)0)->task,
                                      .help = "of a mixture; the first one unless given"},
                                     {.name = NULL}};

/* The arms named, as bits; all where none is. */
static enum pw_code take_arms(struct pw_lab *lab, const struct pw_args *args, unsigned *arms,
                              struct pw_err *err)
{
    int n = pw_args_words(args);
    *arms = n == 0 ? ~0u : 0;
    for (int i = 0; i < n; i++) {
        struct pw_arm *arm;
        long id;
        if (!pw_text_int(pw_args_word(args, i), 1, PW_MAX_ARMS, &id))
            return pw_fail(err, PW_EUSER, "paired: '%s' is no arm's number; usage: %s", pw_args_word(args, i),
                           usage);
        enum pw_code code = pw_lab_need_arm(lab, (int)id, &arm, err);
        if (code != PW_OK)
            return code;
        *arms |= 1u << (id - 1);
    }
    if (n > 0 && (*arms & (*arms - 1)) == 0)
        return pw_fail(err, PW_EUSER, "paired: an arm is compared with another one; usage: %s", usage);
    return PW_OK;
}

static void tell(struct pw_lab *lab, const struct pw_paired *x, int task, struct pw_range r)
{
    const struct pw_snapshot *s = lab->record;
    struct pw_str verdict = {0};
    char lengths[48];
    if (r.hi == INT_MAX)
        snprintf(lengths, sizeof lengths, "lengths from %d", r.lo);
    else
        snprintf(lengths, sizeof lengths, "lengths %d..%d", r.lo, r.hi);
    if (x->n > 0)
        pw_lab_note(lab, "%s, %s: each two arms on the same samples, McNemar's exact test",
                    s->lab.tasks[task].name, lengths);
    if (x->n > 0)
        pw_lab_note(lab, "  %-26s %8s %11s %12s %6s %7s %9s", "arms", "samples", "only first", "only second",
                    "seeds", "p", "corrected");
    for (int i = 0; i < x->n; i++) {
        const struct pw_pair_test *t = &x->tests[i];
        char arms[64], p[16], corrected[16], seeds[32];
        snprintf(arms, sizeof arms, "%d %s : %d %s", t->a, s->arms[t->a - 1].info.name, t->b,
                 s->arms[t->b - 1].info.name);
        snprintf(seeds, sizeof seeds, "%d:%d", t->ahead_a, t->ahead_b);
        pw_p_text(p, t->p);
        pw_p_text(corrected, t->corrected);
        pw_lab_note(lab, "  %-26s %8lld %11lld %12lld %6s %7s %9s", arms, (long long)t->samples,
                    (long long)t->only_a, (long long)t->only_b, seeds, p, corrected);
    }
    if (x->left_out > 0)
        pw_lab_note(lab, "  %d more not evaluated on these samples: 'eval' does it", x->left_out);
    pw_paired_verdict(x, s, &verdict);
    pw_lab_note(lab, "%s", verdict.s);
    pw_str_fini(&verdict);
}

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    struct pw_lab *lab = ctx;
    struct paired_opts o = {.lengths = {0, 0}};
    struct pw_paired x;
    unsigned arms;
    int task = 0;
    enum pw_code code = take_arms(lab, args, &arms, err);
    if (code == PW_OK)
        code = pw_args_opts(args, opts, &o, err);
    if (code == PW_OK)
        code = pw_lab_need_task(lab, "paired", o.task, &task, err);
    if (code != PW_OK)
        return code;
    if (o.lengths.hi == 0)
        o.lengths = (struct pw_range){lab->record->lab.tasks[task].train_hi + 1, INT_MAX};
    pw_paired_find(&x, lab->record, arms, task, o.lengths.lo, o.lengths.hi);
    tell(lab, &x, task, o.lengths);
    return PW_OK;
}

const struct pw_command pw_cmd_paired = {
    .name = "paired",
    .usage = usage,
    .summary = "compare arms on the same evaluation samples: which differences are more than chance",
    .detail =
        "Of the samples of the last evaluations, those that only one of two arms has right; p is McNemar's "
        "exact\n"
        "test, two-sided, corrected for the number of pairs by Holm's method. Replicate k is paired with\n"
        "replicate k; p is the largest of theirs, and 1 where they disagree; seeds says how many favour "
        "each.\n"
        "An arm is called best if it is ahead of every other in each of at least three seeds, corrected p < "
        "0.05.",
    .where = PW_AT_LAB,
    .beside = true,
    .opts = opts,
    .run = run,
};
