/* lengths.c - the study `lengths`: accuracy by length for five encodings (Kazemnejad et al. 2023, Figures 3
 * and E.2 to E.4).
 *
 * On each task it runs a race with five seeds and measures exact match at every length, trained and longer.
 * Then pairs of encodings are compared with the paper's figures (suite.h has the rules, lengths_judge.c the
 * verdict). The default is five tasks that a processor trains in minutes. The toy's settings were tuned on
 * two of them, sorting and copying one repeated symbol, and not on replacing, copying random symbols and
 * parity. protocol=paper is the paper's protocol, for a GPU: its model, 100,000 samples, 40,000 steps of 64,
 * and the checkpoint that is best in range.
 *
 * Why do T5's 32 buckets up to 128 fail beyond the trained lengths at toy size? bench/t5_untrained.py
 * measures it, and docs/studies.md reports the result. */
#include "reproduce/lengths.h"

#include <string.h>

#include "reproduce/repro.h"

#define AT(m) offsetof(struct pw_length_study, m)
static const struct pw_opt opts[] = {
    {"task", PW_OPT_TEXT, AT(task), "", 0, 0, NULL, sizeof((struct pw_length_study *)0)->task,
     "the arguments of `task`, to study one task in place of a group"},
    {"group", PW_OPT_CHOICE, AT(group), "quick", 0, 0, pw_suite_groups, 0,
     "group of the paper's tasks; quick: copy rsc, rdc, cmc, parity and sort; one: the task of task="},
    {"protocol", PW_OPT_CHOICE, AT(protocol), "toy", 0, 0, pw_protocols, 0,
     "toy: preset tiny; paper: the paper's model and data, 40,000 steps"},
    {"pes", PW_OPT_TEXT, AT(pes), "", 0, 0, NULL, sizeof((struct pw_length_study *)0)->pes,
     "encodings, as in `race`; default: the paper's five"},
    {"seeds", PW_OPT_INT, AT(seeds), PW_REPRO_SEEDS, 1, PW_MAX_REPLICAS, NULL, 0,
     "replicas per encoding; with fewer than five, encodings aren't compared"},
    {"steps", PW_OPT_INT, AT(steps), "0", 0, 10000000, NULL, 0, "training steps; 0: the number for the task"},
    {"samples", PW_OPT_INT, AT(samples), "256", 1, 100000, NULL, 0, "samples per length"},
    {"seed", PW_OPT_INT, AT(seed), PW_REPRO_SEED_TEXT, 0, 1000000000, NULL, 0,
     "seed of the first replica and of the data; settings were tuned on seeds 0 to 4"},
    PW_CHECKPOINT_OPT(AT(checkpoint)),
    {0},
};
#undef AT

static enum pw_code check(const void *opts_, struct pw_err *err)
{
    const struct pw_length_study *o = opts_;
    if (o->group == PW_SUITE_ONE && o->task[0] == '\0')
        return pw_fail(err, PW_EUSER, "lengths: group=one: name the task with task=");
    return PW_OK;
}

void pw_length_as_made(const struct pw_length_study *o, const char *task, struct pw_length_study *out)
{
    pw_opt_defaults(opts, out);
    int group = out->group;
    *out = *o;
    out->group = group;
    pw_text_copy(out->task, sizeof out->task, task);
}

static struct pw_race_plan race_of(const struct pw_length_study *o)
{
    return (struct pw_race_plan){.protocol = o->protocol,
                                 .seeds = o->seeds,
                                 .steps = o->steps,
                                 .samples = o->samples,
                                 .seed = o->seed,
                                 .pes = o->pes,
                                 .points = pw_checkpoint_points(o->checkpoint, o->protocol)};
}

/* Add `judge lengths` of one task, with the options that it was trained with. */
static void add_judge(const struct pw_length_study *o, const char *task, struct pw_str *out)
{
    struct pw_length_study one = *o;
    pw_text_copy(one.task, sizeof one.task, task);
    one.group = PW_SUITE_ONE;
    pw_str_add(out, "judge lengths");
    pw_opt_print(opts, &one, true, out);
    pw_str_add(out, "\n");
}

static void script(const void *opts_, struct pw_str *out)
{
    const struct pw_length_study *o = opts_;
    struct pw_race_plan race = race_of(o);
    if (o->task[0] != '\0') {
        const struct pw_suite_task *t = pw_suite_find(o->task);
        pw_suite_script(&race, t != NULL ? NULL : o->task, t, out);
        return; /* the verdict on this task is the study's verdict */
    }
    for (const struct pw_suite_task *t = pw_suite; t->name != NULL;
         t++) /* check all tasks before hours of training */
        if (pw_suite_has(t, o->group))
            pw_suite_check(&race, NULL, t, t->name, out);
    for (const struct pw_suite_task *t = pw_suite; t->name != NULL; t++)
        if (pw_suite_has(t, o->group)) {
            pw_suite_script(&race, NULL, t, out);
            add_judge(o, t->name, out);
        }
}

/* The plan of one task. The verdict on a group has none, because it reads the tasks' findings. */
static bool plan(const void *opts_, struct pw_plan *out)
{
    const struct pw_length_study *o = opts_;
    const struct pw_suite_task *t = pw_suite_find(o->task);
    struct pw_race_plan race = race_of(o);
    if (o->task[0] == '\0')
        return false;
    pw_suite_plan(&race, t != NULL ? NULL : o->task, t, out);
    return true;
}

/* ---- a group: comparison of the tasks' findings */

/* The name of a row of a task's table, the same for all tasks, although T5's table is scaled to each task's
 * lengths. */
static const char *name_of(const struct pw_length_study *o, const struct pw_finding *f, int row)
{
    const char *name = pw_finding_row_name(f, &f->blocks[1], row);
    bool scaled = o->pes[0] == '\0' && strncmp(name, "t5 ", 3) == 0 && strcmp(name, "t5 32/128") != 0;
    return scaled ? "t5 scaled" : name;
}

/* The column with this name, else a new one at the end; -1: no column is free. */
static int col_of(const char *names[PW_MAX_ARMS], int *n, const char *name)
{
    for (int i = 0; i < *n; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    if (*n == PW_MAX_ARMS)
        return -1;
    names[*n] = name;
    return (*n)++;
}

/* Collect the findings of the group's tasks in the paper's order. Fails if one was made with other options.
 */
static enum pw_code collect(const struct pw_length_study *o, const struct pw_snapshot *s,
                            const struct pw_finding **found, const char **tasks, int *n, struct pw_err *err)
{
    enum pw_code code = PW_OK;
    *n = 0;
    for (const struct pw_suite_task *t = pw_suite; t->name != NULL && code == PW_OK; t++) {
        const struct pw_finding_view *v = pw_finding_of(s, "lengths", t->name);
        struct pw_length_study made;
        if (!pw_suite_has(t, o->group) || v == NULL)
            continue;
        pw_length_as_made(o, t->name, &made);
        code = pw_finding_made_so(&v->f, "lengths", &made, err);
        found[*n] = &v->f;
        tasks[(*n)++] = t->name;
    }
    return code;
}

static enum pw_code judge_all(const struct pw_length_study *o, const struct pw_snapshot *s,
                              struct pw_finding *f, struct pw_err *err)
{
    const struct pw_finding *found[PW_MAX_FINDINGS];
    const char *tasks[PW_MAX_FINDINGS], *names[PW_MAX_ARMS];
    int n, cols = 0;
    enum pw_code code = collect(o, s, found, tasks, &n, err);
    if (code != PW_OK)
        return code;
    if (n == 0)
        return pw_fail(err, PW_EUSER,
                       "judge lengths: no task of the group has been measured: run 'reproduce lengths'");
    for (int i = 0; i < n; i++)
        for (int k = 0; k < found[i]->blocks[1].rows; k++)
            col_of(names, &cols, name_of(o, found[i], k));
    pw_finding_init(f, "lengths", "", "accuracy beyond the trained lengths: %d tasks", n);
    int table =
        pw_finding_table(f, "mean exact match on longer inputs, per cent, mean over replicas", n, cols);
    f->blocks[table].decimals = 1;
    for (int k = 0; k < cols; k++)
        pw_finding_col(f, table, k, "%s", names[k]);
    for (int i = 0; i < n; i++) {
        pw_finding_row(f, table, i, "%s", tasks[i]);
        for (int k = 0; k < found[i]->blocks[1].rows; k++) {
            int col = col_of(names, &cols, name_of(o, found[i], k));
            if (col >= 0)
                pw_finding_put(f, table, i, col,
                               pw_finding_cell(found[i], &found[i]->blocks[1], k, PW_LENGTHS_BEYOND));
        }
        for (int k = 0; k < found[i]->n_claims; k++)
            pw_finding_claim(f, (enum pw_claim_verdict)found[i]->claims[k].verdict, found[i]->claims[k].claim,
                             "%s", found[i]->claims[k].found);
    }
    pw_finding_remark(f, "the curves of each task are in a separate finding, 'lengths TASK'");
    return PW_OK;
}

static enum pw_code judge(const void *opts_, const struct pw_snapshot *s, struct pw_finding *f,
                          struct pw_err *err)
{
    const struct pw_length_study *o = opts_;
    struct pw_length_study made;
    if (o->task[0] == '\0')
        return judge_all(o, s, f, err);
    enum pw_code code = pw_length_judge(o, s, f, err);
    pw_length_as_made(o, o->task, &made);
    if (code == PW_OK)
        pw_finding_made(f, "lengths", &made);
    return code;
}

const struct pw_repro pw_repro_lengths = {
    .name = "lengths",
    .document = "Kazemnejad et al. 2023, Figures 3, E.2-E.4; Su 2024, 'same league'",
    .summary = "accuracy by length for five encodings, on any task",
    .detail =
        "  reproduce lengths                      copy rsc, rdc, cmc, parity and sort: a quarter of an hour "
        "on two cores\n"
        "  reproduce lengths task=\"parity\"        one task\n"
        "  reproduce lengths group=primitive      eight tasks of Figure E.2; reasoning, classic: E.3, E.4\n"
        "  reproduce lengths protocol=paper task=\"copy rsc\"   the paper's model and data: for a GPU",
    .opts = opts,
    .opts_size = sizeof(struct pw_length_study),
    .check = check,
    .script = script,
    .plan = plan,
    .judge = judge,
    .finding = "lengths",
};
