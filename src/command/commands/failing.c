/* failing - examples that the last evaluation found wrong: list them with their errors, or pin one. */
#include <string.h>

#include "lab/actions.h"
#include "lab/offer.h"
#include "lab/scope.h"

static const char usage[] = "failing [length=L] [task=NAME] [n=N] [arm=K] | failing length=L index=I";

struct failing_opts {
    int length, n, index;
    char task[32];
};

static const struct pw_opt opts[] = {
    {.name = "length",
     .type = PW_OPT_INT,
     .offset = offsetof(struct failing_opts, length),
     .min = 1,
     .max = 512,
     .help = "length of the samples; default: the first length with a failure"},
    {.name = "task",
     .type = PW_OPT_TEXT,
     .offset = offsetof(struct failing_opts, task),
     .size = sizeof((struct failing_opts *)0)->task,
     .help = "task of a mixture"},
    {.name = "n",
     .type = PW_OPT_INT,
     .offset = offsetof(struct failing_opts, n),
     .def = "5",
     .min = 1,
     .max = PW_MAX_FAILING,
     .help = "samples to list"},
    {.name = "index",
     .type = PW_OPT_INT,
     .offset = offsetof(struct failing_opts, index),
     .min = 0,
     .max = 1000000,
     .help = "pin this sample instead"},
    {.name = NULL}};

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    struct failing_opts o = {.index = -1};
    struct pw_lab *lab = ctx;
    struct pw_args rest;
    struct pw_replica *arm;
    int task = -1;
    pw_opt_defaults(opts, &o);
    enum pw_code code = pw_scope_arm(lab, args, &rest, &arm, err);
    if (code == PW_OK && pw_args_words(&rest) > 0)
        code = pw_fail(err, PW_EUSER, "failing: '%s' is not key=value; usage: %s", pw_args_word(&rest, 0),
                       usage);
    if (code == PW_OK)
        code = pw_args_opts(&rest, opts, &o, err);
    if (code == PW_OK && o.task[0] != '\0')
        code = pw_lab_find_task(lab, "failing", o.task, &task, err);
    if (code != PW_OK)
        return code;
    if (o.index < 0)
        return pw_lab_failing(lab, pw_lab_inspected_of(lab, arm->id), task, o.length, o.n, err);
    if (arm->id != pw_lab_facts(lab).current)
        return pw_fail(err, PW_EUSER, "failing: index= pins for the current arm only; run 'arm %d' first",
                       arm->id);
    return pw_lab_pin_failing(lab, task, o.length, o.index, err);
}

/* Offer the lengths at which the last evaluation found errors, and the samples of the list on the screen. */
static void values(struct pw_completion *c)
{
    const struct pw_snapshot *s = c->seen;
    const struct pw_arm_view *arm = pw_offer_arm(c);
    const struct pw_ev_eval *eval = arm != NULL ? &pw_inspected_view(s, arm)->eval : NULL;
    if (strcmp(c->key, "length") == 0) {
        for (int i = 0; eval != NULL && i < eval->n; i++)
            if (eval->rows[i].exact < eval->rows[i].samples)
                pw_complete_offer(c, "%d", eval->rows[i].length);
    } else if (strcmp(c->key, "index") == 0) {
        for (int i = 0; s != NULL && i < s->failing.n; i++)
            pw_complete_offer(c, "%d", s->failing.list[i].index);
    } else {
        pw_offer_values(c);
    }
}

const struct pw_command pw_cmd_failing = {
    .name = "failing",
    .search = "errors mistakes",
    .usage = usage,
    .example = "failing length=8 n=3",
    .summary = "list samples that the last evaluation found wrong, or pin one",
    .detail =
        "Samples of the inspected replica, each with its first error: early stop (end mark too soon), late\n"
        "stop (all right, but no end mark), wrong token. index= pins that sample and stops its decoding at\n"
        "the first wrong token, so that the heads can be inspected there.",
    .where = PW_AT_LAB,
    .opts = opts,
    .also = pw_scope_opts,
    .values = values,
    .run = run,
};
