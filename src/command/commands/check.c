/* check - test whether the plan of a study can run, before hours of training. Memory is not tested. */
#include <stdio.h>
#include <string.h>

#include "lab/actions.h"
#include "lab/encodings.h"

extern const struct pw_command pw_cmd_check;

struct check {
    struct pw_plan plan;
    bool cost;
};

#define AT(m) offsetof(struct check, plan.m)
static const struct pw_opt opts[] = {
    {.name = "task",
     .type = PW_OPT_TEXT,
     .offset = AT(task),
     .def = "sort",
     .size = sizeof((struct pw_plan *)0)->task,
     .help = "a task with its options, as in `task`"},
    {.name = "model",
     .type = PW_OPT_TEXT,
     .offset = AT(model),
     .def = "tiny",
     .size = sizeof((struct pw_plan *)0)->model,
     .help = "a preset and its options, as in `model`"},
    {.name = "optim",
     .type = PW_OPT_TEXT,
     .offset = AT(optim),
     .def = "",
     .size = sizeof((struct pw_plan *)0)->optim,
     .help = "options, as in `optim`"},
    {.name = "race",
     .type = PW_OPT_TEXT,
     .offset = AT(race),
     .def = "none",
     .size = sizeof((struct pw_plan *)0)->race,
     .help = "encodings, as in `race`"},
    {.name = "seeds",
     .type = PW_OPT_INT,
     .offset = AT(seeds),
     .def = "1",
     .min = 1,
     .max = PW_MAX_REPLICAS,
     .help = "replicas of each encoding"},
    {.name = "cost",
     .type = PW_OPT_SWITCH,
     .offset = offsetof(struct check, cost),
     .def = "off",
     .help = "count parameters, operations and memory of the first encoding"},
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

static enum pw_code emit_cost(struct pw_lab *lab, const char *name, const struct pw_plan *plan,
                              struct pw_err *err)
{
    static const char *const columns[] = {"parameters", "operations a step", "bytes", "steps"};
    struct pw_plan_cost c;
    struct pw_finding f = {0};
    enum pw_code code = pw_lab_plan_cost(lab, plan, &c, err);
    if (code != PW_OK)
        return code;
    const double values[] = {c.parameters, c.operations, c.bytes, c.steps};
    pw_finding_init(&f, "cost", name, "%.80s: the work of one run, counted from shapes", name);
    int table =
        pw_finding_table(&f, "operations: forward and backward, mean of 16 batches; bytes: at most", 1, 4);
    pw_finding_row(&f, table, 0, "%.60s", plan->race);
    for (int i = 0; i < 4; i++) {
        pw_finding_col(&f, table, i, "%s", columns[i]);
        pw_finding_put(&f, table, 0, i, values[i]);
    }
    pw_lab_emit_finding(lab, NULL, &f);
    pw_finding_fini(&f);
    return PW_OK;
}

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    struct check check = {.plan = {.points = 1}};
    struct pw_plan *plan = &check.plan;
    char place[128];
    const char *name = pw_args_word(args, 0);
    enum pw_code code = pw_args_words(args) > 1
                            ? pw_fail(err, PW_EUSER, "check: too many names; usage: %s", pw_cmd_check.usage)
                            : PW_OK;
    pw_opt_defaults(opts, &check);
    if (code == PW_OK)
        code = pw_args_opts(args, opts, &check, err);
    if (code != PW_OK)
        return code;
    snprintf(place, sizeof place, "check: %.80s cannot run", name != NULL ? name : plan->task);
    code = pw_lab_plan_fits(plan, err);
    if (code == PW_OK && check.cost)
        code = emit_cost(ctx, name != NULL ? name : plan->task, plan, err);
    if (code != PW_OK)
        pw_err_at(err, place);
    return code;
}

const struct pw_command pw_cmd_check = {
    .name = "check",
    .usage = "check [NAME] [task=TEXT] [model=TEXT] [optim=TEXT] [race=TEXT] [seeds=N] [cost=on]",
    .example = "check",
    .summary = "test whether a task, a model and encodings fit together; change nothing",
    .detail =
        "check \"sort multi\" task=\"sort variant=multi\" model=\"tiny context=fit\" race=none,t5\n"
        "`reproduce` checks all entries of a long suite in this way before it trains the first one. The\n"
        "message shows NAME. cost=on also counts what a run of the first encoding costs; `pewter study size` "
        "uses\n"
        "it.",
    .where = PW_AT_LAB,
    .opts = opts,
    .values = values,
    .run = run,
};
