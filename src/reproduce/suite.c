/* suite.c - see suite.h.
 *
 * Numbers of formats without a scratchpad are read off the vector figures E.7 to E.13: means over unseen
 * lengths and three seeds. Numbers of copying are read off Figure 3. The figures have none for the other
 * copies, for reversing, SCAN and PCFG. Three numbers for copying random tokens are from the released results
 * of a longer training. */
#include "reproduce/suite.h"

#include <stdio.h>
#include <string.h>

const char *const pw_paper_pe_names[PW_PAPER_PES] = {"none", "t5", "alibi", "rotary", "sinusoidal"};
const char *const pw_suite_groups[] = {"one", "quick", "primitive", "reasoning", "classic", "all", NULL};
const char *const pw_protocols[] = {"toy", "paper", NULL};
const char *const pw_checkpoints[] = {"auto", "last", "best", NULL};

#define NOTHING -1, -1, -1, -1, -1
#define BINS    " text=paper data=100000"

/* clang-format off */
const struct pw_suite_task pw_suite[] = {
    {"copy rsc", PW_SUITE_PRIMITIVE, true, true, "copy variant=rsc",
     "copy variant=rsc alphabet=62 lengths=2..20" BINS, 800, 21, 42, "Figure 3", {98.6f, 77, 29, 0, 0}},
    {"copy rsc2x", PW_SUITE_PRIMITIVE, false, false, "copy variant=rsc2x",
     "copy variant=rsc2x alphabet=62 lengths=2..20" BINS, 1500, 31, 62, NULL, {NOTHING}},
    {"copy rdc", PW_SUITE_PRIMITIVE, true, false, "copy variant=rdc",
     "copy variant=rdc alphabet=62 lengths=2..20" BINS, 800, 24, 45, "Figure 3", {97, 94, 17, 2, 0}},
    {"copy cmc", PW_SUITE_PRIMITIVE, true, false, "copy variant=cmc alphabet=10",
     "copy variant=cmc alphabet=62 lengths=2..20" BINS, 2000, 21, 42, "released results", {63.5f, 92.5f, -1, -1, 4.9f}},
    {"copy cmc2x", PW_SUITE_PRIMITIVE, false, false, "copy variant=cmc2x alphabet=10",
     "copy variant=cmc2x alphabet=62 lengths=2..20" BINS, 2000, 32, 63, NULL, {NOTHING}},
    {"reverse mc", PW_SUITE_PRIMITIVE, false, false, "reverse variant=mc alphabet=10",
     "reverse variant=mc alphabet=62 lengths=2..20" BINS, 2000, 21, 42, NULL, {NOTHING}},
    {"reverse mc2x", PW_SUITE_PRIMITIVE, false, false, "reverse variant=mc2x alphabet=10",
     "reverse variant=mc2x alphabet=62 lengths=2..20" BINS, 2000, 32, 63, NULL, {NOTHING}},
    {"reverse mcrv", PW_SUITE_PRIMITIVE, false, false, "reverse variant=mcrv alphabet=10",
     "reverse variant=mcrv alphabet=62 lengths=2..20" BINS, 2000, 32, 63, NULL, {NOTHING}},
    {"addition", PW_SUITE_REASONING, false, false, "addition lengths=1..4 test=5..8",
     "addition lengths=1..8" BINS, 2000, 15, 31, "Figure E.7", {8.4f, 7.2f, 7.7f, 0, 0.4f}},
    {"summation", PW_SUITE_REASONING, false, false, "summation", "summation lengths=2..8" BINS, 1500, 10, 23, "Figure E.8",
     {30.1f, 22, 23, 8.6f, 10.9f}},
    {"parity", PW_SUITE_REASONING, true, false, "parity", "parity lengths=3..8" BINS, 1000, 10, 31, "Figure E.9",
     {74.9f, 68.1f, 61.7f, 51.2f, 52.9f}},
    {"sort single", PW_SUITE_REASONING, true, true, "sort", "sort alphabet=50 lengths=2..8" BINS, 1000, 17, 43,
     "Figure E.10", {99.5f, 98.7f, 62.3f, 48.9f, 10.2f}},
    {"sort multi", PW_SUITE_REASONING, false, false, "sort variant=multi", "sort variant=multi lengths=2..8" BINS, 2000, 79, 91,
     "Figure E.11", {26.4f, 37.1f, 29.5f, 75.1f, 11.2f}},
    {"polynomial", PW_SUITE_REASONING, false, false, "polynomial lengths=1..4 test=5..8", "polynomial lengths=1..8" BINS,
     2000, 12, 67, "Figure E.12", {38.7f, 36, 63.1f, 48.1f, 21.3f}},
    {"lego", PW_SUITE_REASONING, false, false, "lego", "lego lengths=4..8" BINS, 2000, 27, 53, "Figure E.13",
     {64.6f, 70.5f, 79.7f, 74.8f, 61}},
    {"scan", PW_SUITE_CLASSIC, false, false, "scan", "scan text=paper", 3000, 35, 36, NULL, {NOTHING}},
    {"pcfg", PW_SUITE_CLASSIC, false, false, "pcfg", "pcfg text=paper", 3000, 110, 111, NULL, {NOTHING}},
    {.name = NULL},
};
/* clang-format on */

bool pw_suite_has(const struct pw_suite_task *t, int group)
{
    return group == PW_SUITE_ALL || group == t->group || (group == PW_SUITE_QUICK && t->quick);
}

const struct pw_suite_task *pw_suite_find(const char *name)
{
    for (const struct pw_suite_task *t = pw_suite; t->name != NULL; t++)
        if (strcmp(t->name, name) == 0)
            return t;
    return NULL;
}

/* Compute x * toy / paper, rounded to the nearest integer. */
static int scaled(int x, const struct pw_suite_task *t)
{
    return (2 * x * t->toy_far + t->paper_far) / (2 * t->paper_far);
}

void pw_suite_t5(const struct pw_suite_task *t, int *buckets, int *distance)
{
    *buckets = 2 * scaled(16, t);
    *buckets = *buckets < 4 ? 4 : *buckets;
    *distance = scaled(128, t);
    *distance = *distance < *buckets ? *buckets : *distance;
}

/* Add the paper's five encodings. At toy size they have the code's settings, with rotary on a quarter of the
 * head (2 of 8). There they are joined by T5 scaled to the toy's lengths and by rotary on the whole head. */
static void add_encodings(const struct pw_race_plan *p, const struct pw_suite_task *t, char *out, size_t size)
{
    char t5[64] = "";
    int buckets = 32, distance = 128;
    if (t != NULL)
        pw_suite_t5(t, &buckets, &distance);
    if (buckets != 32 || distance != 128)
        snprintf(t5, sizeof t5, "t5(buckets=%d,distance=%d),", buckets, distance);
    if (p->pes[0] != '\0')
        snprintf(out, size, "%s", p->pes);
    else if (p->protocol == PW_PROTOCOL_PAPER)
        snprintf(out, size, "none,t5,alibi,rotary,sinusoidal");
    else
        snprintf(
            out, size,
            "none,t5(buckets=32,distance=128),%salibi,rotary(dims=2,pairing=interleaved),rotary,sinusoidal",
            t5);
}

int pw_checkpoint_points(int checkpoint, int protocol)
{
    bool best = checkpoint == PW_CHECKPOINT_BEST ||
                (checkpoint == PW_CHECKPOINT_AUTO && protocol == PW_PROTOCOL_PAPER);
    return best ? PW_CHECKPOINTS : 1;
}

const char *pw_checkpoint_text(int points)
{
    return points > 1 ? "at the best of 20 checkpoints in range" : "after the last step";
}

void pw_suite_plan(const struct pw_race_plan *p, const char *task, const struct pw_suite_task *t,
                   struct pw_plan *out)
{
    bool paper = p->protocol == PW_PROTOCOL_PAPER;
    const char *model = p->model != NULL ? p->model : "";
    int steps = p->steps > 0 ? p->steps : t != NULL && !paper ? t->steps : 0;
    *out = (struct pw_plan){.seed = (uint64_t)p->seed,
                            .seeds = p->seeds,
                            .samples = p->samples,
                            .points = p->points > 1 ? p->points : 1};
    if (steps > 0 && out->points > steps) /* no two evaluations after the same step */
        out->points = steps;
    snprintf(out->task, sizeof out->task, "%s", task != NULL ? task : paper ? t->paper : t->toy);
    snprintf(out->model, sizeof out->model, "%s%s%s%s", paper ? "paper" : "tiny", model[0] != '\0' ? " " : "",
             model, strstr(model, "context=") != NULL ? "" : " context=fit");
    if (steps > 0)
        snprintf(out->optim, sizeof out->optim, "steps=%d", steps);
    if (p->optim != NULL)
        snprintf(out->optim + strlen(out->optim), sizeof out->optim - strlen(out->optim), "%s%s",
                 steps > 0 ? " " : "", p->optim);
    add_encodings(p, t, out->race, sizeof out->race);
}

/* Number of steps of the schedule. */
static int steps_of(const struct pw_race_plan *p, const struct pw_suite_task *t)
{
    if (p->steps > 0)
        return p->steps;
    return p->protocol == PW_PROTOCOL_PAPER ? PW_PAPER_STEPS
           : t != NULL && t->steps > 0      ? t->steps
                                            : PW_TOY_STEPS;
}

/* The lab's models may be of any size, and a task must fit every existing model. So start with one small
 * model that has room for any task; set the model to train after the task. */
void pw_suite_start(const struct pw_plan *plan, struct pw_str *out)
{
    pw_str_add(out, "race none\nmodel tiny context=%d\nseed %llu\ntask %s\nmodel %s\n", PW_SUITE_ROOM,
               (unsigned long long)plan->seed, plan->task, plan->model);
    if (plan->optim[0] != '\0')
        pw_str_add(out, "optim %s\n", plan->optim);
    pw_str_add(out, "race %s seeds=%d\n", plan->race, plan->seeds);
}

void pw_suite_script(const struct pw_race_plan *p, const char *task, const struct pw_suite_task *t,
                     struct pw_str *out)
{
    struct pw_plan plan;
    pw_suite_plan(p, task, t, &plan);
    pw_suite_start(&plan, out);
    for (int k = 1; k < plan.points; k++)
        pw_str_add(out, "train until step=%d\neval samples=%d\n",
                   (int)((int64_t)steps_of(p, t) * k / plan.points), plan.samples);
    pw_str_add(out, "train\neval samples=%d\n", plan.samples);
}

static void add_text(struct pw_str *out, const char *key, const char *text)
{
    pw_str_add(out, " %s%s", key, key[0] != '\0' ? "=" : "");
    pw_str_quote(out, text);
}

void pw_suite_check(const struct pw_race_plan *p, const char *task, const struct pw_suite_task *t,
                    const char *name, struct pw_str *out)
{
    struct pw_plan plan;
    pw_suite_plan(p, task, t, &plan);
    pw_str_add(out, "check");
    add_text(out, "", name);
    add_text(out, "task", plan.task);
    add_text(out, "model", plan.model);
    if (plan.optim[0] != '\0')
        add_text(out, "optim", plan.optim);
    add_text(out, "race", plan.race);
    pw_str_add(out, " seeds=%d\n", plan.seeds);
}

int pw_evaluated(const struct pw_snapshot *s, const struct pw_arm_view *arms[PW_MAX_ARMS])
{
    int n = 0;
    for (int i = 0; i < PW_MAX_ARMS; i++)
        if (s->arms[i].used && s->arms[i].rep[0].eval.n > 0)
            arms[n++] = &s->arms[i];
    return n;
}

int pw_right_by_seed(struct pw_finding *f, const struct pw_snapshot *s, const struct pw_arm_view *const *arms,
                     int n, int seeds, int points)
{
    char title[PW_FINDING_TEXT];
    snprintf(title, sizeof title, "exact match, per cent%s%s: medians, and longer inputs seed by seed",
             points > 1 ? " " : "", points > 1 ? pw_checkpoint_text(points) : "");
    int table = pw_finding_table(f, title, n, PW_RIGHT_SEEDS + seeds);
    f->blocks[table].decimals = 1;
    pw_finding_col(f, table, 0, "in range");
    pw_finding_col(f, table, 1, "longer");
    for (int r = 0; r < seeds; r++)
        pw_finding_col(f, table, PW_RIGHT_SEEDS + r, "seed %llu",
                       (unsigned long long)arms[0]->info.seed + (unsigned)r);
    for (int i = 0; i < n; i++) {
        struct pw_runs runs;
        pw_suite_runs(s, arms[i], points, &runs);
        pw_finding_row(f, table, i, "%s", arms[i]->info.name);
        pw_finding_put(f, table, i, 0, 100 * (double)pw_runs_spread(runs.in_range, runs.n).median);
        pw_finding_put(f, table, i, 1, 100 * (double)pw_runs_spread(runs.beyond, runs.n).median);
        for (int r = 0; r < runs.n && r < seeds; r++)
            pw_finding_put(f, table, i, PW_RIGHT_SEEDS + r, 100 * runs.beyond[r]);
    }
    return table;
}
