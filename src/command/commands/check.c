/* check - test whether the plan of a study can run, before hours of training. Memory is not tested. */
#include <stdio.h>
#include <string.h>

#include "lab/actions.h"
#include "lab/encodings.h"

extern const struct pw_command pw_cmd_check;

#define AT(m) offsetof(struct pw_plan, m)
static const struct pw_opt opts[] = {{.name = "task",
                                      .type = PW_OPT_TEXT,
                                      .offset = AT(task),
                                      .def = "sort",
                                      .size = sizeof((struct pw_plan *)0)->task,
                                      .help = "as after `task`"},
                                     {.name = "model",
                                      .type = PW_OPT_TEXT,
                                      .offset = AT(model),
                                      .def = "tiny",
                                      .size = sizeof((struct pw_plan *)0)->model,
                                      .help = "as after `model`: a preset and its options"},
                                     {.name = "optim",
                                      .type = PW_OPT_TEXT,
                                      .offset = AT(optim),
                                      .def = "",
                                      .size = sizeof((struct pw_plan *)0)->optim,
                                      .help = "as after `optim`"},
                                     {.name = "race",
                                      .type = PW_OPT_TEXT,
                                      .offset = AT(race),
                                      .def = "none",
                                      .size = sizeof((struct pw_plan *)0)->race,
                                      .help = "encodings, as after `race`"},
                                     {.name = "seeds",
                                      .type = PW_OPT_INT,
                                      .offset = AT(seeds),
                                      .def = "1",
                                      .min = 1,
                                      .max = PW_MAX_REPLICATES,
                                      .help = "of each encoding"},
                                     {.name = NULL}};
#undef AT

static void values(struct pw_completion *c)
{
    for (int i = 0; strcmp(c->key, "task") == 0 && pw_tasks[i] != NULL; i++)
        pw_complete_offer(c, "%s", pw_tasks[i]->name);
    if (strcmp(c->key, "model") == 0)
        pw_complete_offer_all(c, pw_preset_names);
    if (strcmp(c->key, "race") == 0)
        pw_offer_encodings(c);
}

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    struct pw_plan plan = {.points = 1};
    char place[128];
    const char *name = pw_args_word(args, 0);
    (void)ctx;
    enum pw_code code = pw_args_words(args) > 1
                            ? pw_fail(err, PW_EUSER, "check: one name at most; usage: %s", pw_cmd_check.usage)
                            : PW_OK;
    pw_opt_defaults(opts, &plan);
    if (code == PW_OK)
        code = pw_args_opts(args, opts, &plan, err);
    if (code != PW_OK)
        return code;
    snprintf(place, sizeof place, "check: %.80s can't run", name != NULL ? name : plan.task);
    code = pw_lab_plan_fits(&plan, err);
    if (code != PW_OK)
        pw_err_at(err, place);
    return code;
}

const struct pw_command pw_cmd_check = {
    .name = "check",
    .usage = "check [NAME] [task=TEXT] [model=TEXT] [optim=TEXT] [race=TEXT] [seeds=N]",
    .summary = "ask whether a task, a model and encodings go together; build and change nothing",
    .detail = "check \"sort multi\" task=\"sort variant=multi\" model=\"tiny context=fit\" race=none,t5\n"
              "`reproduce` checks all entries of a long suite in this way before the first one trains. NAME "
              "stands\n"
              "in the message.",
    .where = PW_AT_LAB,
    .opts = opts,
    .values = values,
    .run = run,
};
