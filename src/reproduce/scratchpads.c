/* scratchpads.c - the study `scratchpads`: which format of a scratchpad helps (Kazemnejad et al. 2023,
 * section 6, Figures E.6 to E.13). This file has the races and the findings of each.
 *
 * Each task has a race for every format: none, minimal (a step's computation and result), full, and full
 * without one of its parts. An answer is right if the tokens after the scratchpad are right, so it is decoded
 * (`eval`). The paper's numbers are read off its vector figures: means over unseen lengths, three seeds. The
 * released plots call two configurations of sort and LEGO "without input". That bar is the mean of both and
 * is compared with neither (`covr` and `iovr` have no paper's number here). */
#include "reproduce/scratchpads.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reproduce/repro.h"

/* Names as in `task scratchpad=`. */
static const char *const formats[PW_PAD_FORMATS] = {"off",  "minimal", "full", "covr",
                                                    "iovr", "icvr",    "icor", "icov"};
static const char *const short_formats[PW_PAD_FORMATS] = {"off", "minimal", "full", "cor",
                                                          "ior", "icr",     NULL,   "ico"};
const char *const pw_pad_formats[PW_PAD_FORMATS] = {"none",         "minimal", "full",       "-input",
                                                    "-computation", "-output", "-variables", "-rest"};

/* Positions of the model: enough for the longest sample of any entry, scratchpad included. The longest is 208
 * for the toy (multi-digit sort, full) and 1547 for the paper (polynomial, full). The paper's decoding stops
 * at 1500 tokens. */
#define TOY_CONTEXT   512
#define PAPER_CONTEXT 2048

#define NO -1

const struct pw_pad_task pw_pad_tasks[PW_PAD_TASKS] = {
    {"addition",
     "Figure E.7",
     "addition lengths=1..2 test=3..4",
     "addition lengths=1..8",
     false,
     {{8.4f, 15, 15.6f, 15.6f, 13.5f, 15.5f, 16.1f, 18.9f},
      {7.2f, 14.7f, 16.2f, 18.8f, 13, 15.5f, 18, 17.5f},
      {7.7f, 13.8f, 10.8f, 10.7f, 9.3f, 10.2f, 11.2f, 9.9f},
      {0, 4.6f, 6.3f, 5.6f, 6.9f, 6.2f, 6.9f, 2.1f},
      {0.4f, 5.6f, 7.5f, 7.6f, 7.4f, 7.4f, 7.9f, 2}}},
    {"summation",
     "Figure E.8",
     "summation lengths=2..4 test=5..8",
     "summation lengths=2..8",
     false,
     {{30.1f, 23.4f, 31.6f, 24.9f, 24.7f, 29.3f, 30.9f, 21},
      {22, 20.5f, 30.6f, 27, 23.2f, 29.5f, 27.6f, 16.4f},
      {23, 20, 23.3f, 18.7f, 18.7f, 19.4f, 19.5f, 20.5f},
      {8.6f, 8.9f, 9.6f, 8.5f, 9.2f, 8.5f, 9.1f, 8.9f},
      {10.9f, 9.4f, 9, 8.9f, 9.1f, 9, 8.9f, 8.8f}}},
    {"parity",
     "Figure E.9",
     "parity lengths=2..4 test=5..8",
     "parity lengths=3..8",
     false,
     {{74.9f, 70.7f, 56.5f, 62.6f, 53.5f, 56.6f, 56.7f, 67.9f},
      {68.1f, 62.3f, 60.3f, 56.2f, 56.3f, 60, 57.2f, 70.6f},
      {61.7f, 59.1f, 56.2f, 55.7f, 58, 58.7f, 54.9f, 58.8f},
      {51.2f, 48.5f, 49.1f, 49.9f, 37, 50.5f, 49.1f, 50.3f},
      {52.9f, 51.6f, 48.9f, 47.1f, 49.8f, 48.4f, 49.2f, 51.4f}}},
    {"sort single",
     "Figure E.10",
     "sort lengths=2..4 test=5..8",
     "sort alphabet=50 lengths=2..8",
     true,
     {{99.5f, 91.1f, 12.9f, NO, NO, 11.6f, NO, 28.6f},
      {98.7f, 87.5f, 11.5f, NO, NO, 11, NO, 30.3f},
      {62.3f, 53.1f, 8.9f, NO, NO, 10.4f, NO, 18.7f},
      {48.9f, 12, .6f, NO, NO, .3f, NO, 3.7f},
      {10.2f, 0, 0, NO, NO, 0, NO, 0}}},
    {"sort multi",
     "Figure E.11",
     "sort variant=multi lengths=2..3 test=4..6",
     "sort variant=multi lengths=2..8",
     true,
     {{26.4f, 26.9f, 13.5f, NO, NO, 7.1f, NO, 15.3f},
      {37.1f, 28.3f, 14.9f, NO, NO, 8.9f, NO, 11},
      {29.5f, 30.1f, 15.7f, NO, NO, 12.5f, NO, 21.1f},
      {75.1f, 30.2f, .4f, NO, NO, .3f, NO, 12.6f},
      {11.2f, .6f, .3f, NO, NO, .2f, NO, 3.2f}}},
    {"polynomial",
     "Figure E.12",
     "polynomial lengths=1..2 test=3..4",
     "polynomial lengths=1..8",
     false,
     {{38.7f, 27.1f, 25.6f, 26.3f, 25.3f, 23, 28.4f, 18.6f},
      {36, 26, 27.3f, 26.9f, 26.8f, 26.5f, 26.8f, 24.9f},
      {63.1f, 27.6f, 27.5f, 26.9f, 28.2f, 25.5f, 27, 27.5f},
      {48.1f, 26.4f, 16.9f, 10.5f, 10.3f, 13.6f, 10.3f, 11.8f},
      {21.3f, 20, 15.5f, 15.1f, 15.3f, 15.5f, 16.9f, 19.8f}}},
    {"lego",
     "Figure E.13",
     "lego lengths=3..4 test=5..7",
     "lego lengths=4..8",
     true,
     {{64.6f, 65.6f, 58, NO, NO, 61.6f, NO, 65.8f},
      {70.5f, 65.3f, 56.6f, NO, NO, 60.7f, NO, 65.3f},
      {79.7f, 60.4f, 67, NO, NO, 66.9f, NO, 69.3f},
      {74.8f, 51.4f, 49.7f, NO, NO, 50, NO, 52},
      {61, 50.5f, 59.6f, NO, NO, 61.2f, NO, 51.4f}}},
};

static const char *const task_names[PW_PAD_TASKS + 2] = {
    "addition", "summation", "parity", "sort single", "sort multi", "polynomial", "lego", "all", NULL};

#define AT(m) offsetof(struct pw_scratchpads, m)
static const struct pw_opt opts[] = {
    {"task", PW_OPT_CHOICE, AT(task), "parity", 0, 0, task_names, 0,
     "task of one of Figures E.7 to E.13, or all tasks (E.6)"},
    {"protocol", PW_OPT_CHOICE, AT(protocol), "toy", 0, 0, pw_protocols, 0,
     "toy: preset tiny and shorter inputs; paper: the paper's model and data"},
    {"seeds", PW_OPT_INT, AT(seeds), "8", 1, PW_MAX_REPLICAS, NULL, 0,
     "replicas per encoding; with too few, all verdicts are inconclusive"},
    {"steps", PW_OPT_INT, AT(steps), "0", 0, 10000000, NULL, 0,
     "training steps; 0: 600 at toy size, else the number of the preset"},
    {"samples", PW_OPT_INT, AT(samples), "64", 1, 100000, NULL, 0, "samples per length, decoded"},
    {"pes", PW_OPT_TEXT, AT(pes), "none,t5,alibi,rotary,sinusoidal", 0, 0, NULL,
     sizeof((struct pw_scratchpads *)0)->pes, "encodings, as in `race`"},
    PW_CHECKPOINT_OPT(AT(checkpoint)),
    {"format", PW_OPT_INT, AT(format), "-1", -1, PW_PAD_FORMATS - 1, NULL, 0,
     "judge one format: none, minimal, full, or one of the five without a part; -1: judge all that were "
     "measured"},
    {0},
};
#undef AT

static const char *scratchpad(const struct pw_pad_task *t, int format)
{
    return t->no_variables ? short_formats[format] : formats[format];
}

void pw_pad_topic(char out[PW_FINDING_TOPIC], const struct pw_pad_task *t, int format)
{
    snprintf(out, PW_FINDING_TOPIC, "%s %s", t->name, pw_pad_formats[format]);
}

/* The race of one task and format, and the texts that its plan points to. */
struct race {
    struct pw_race_plan plan;
    char task[256], model[64];
};

static void plan_race(const struct pw_scratchpads *o, int task, int format, struct race *out)
{
    bool paper = o->protocol == PW_PROTOCOL_PAPER;
    const struct pw_pad_task *t = &pw_pad_tasks[task];
    snprintf(out->task, sizeof out->task, "%s scratchpad=%s%s", paper ? t->paper : t->toy,
             scratchpad(t, format), paper ? " text=paper data=100000" : "");
    snprintf(out->model, sizeof out->model, "context=%d", paper ? PAPER_CONTEXT : TOY_CONTEXT);
    out->plan = (struct pw_race_plan){.protocol = o->protocol,
                                      .seeds = o->seeds,
                                      .steps = o->steps > 0 || paper ? o->steps : 600,
                                      .samples = o->samples,
                                      .seed = PW_REPRO_SEED,
                                      .pes = o->pes,
                                      .model = out->model,
                                      .points = pw_checkpoint_points(o->checkpoint, o->protocol)};
}

static void add_check(const struct pw_scratchpads *o, int task, int format, struct pw_str *out)
{
    struct race race;
    char name[PW_FINDING_TOPIC];
    plan_race(o, task, format, &race);
    pw_pad_topic(name, &pw_pad_tasks[task], format);
    pw_suite_check(&race.plan, race.task, NULL, name, out);
}

static void add_race(const struct pw_scratchpads *o, int task, int format, struct pw_str *out)
{
    struct pw_scratchpads one = *o;
    struct race race;
    one.task = task;
    one.format = format;
    plan_race(o, task, format, &race);
    pw_suite_script(&race.plan, race.task, NULL, out);
    pw_str_add(out, "judge scratchpads");
    pw_opt_print(opts, &one, true, out);
    pw_str_add(out, "\n");
}

/* All races are checked before the first one trains. */
static void script(const void *opts_, struct pw_str *out)
{
    static void (*const adds[])(const struct pw_scratchpads *, int, int, struct pw_str *) = {add_check,
                                                                                             add_race};
    const struct pw_scratchpads *o = opts_;
    for (int i = 0; i < 2; i++)
        for (int t = 0; t < PW_PAD_TASKS; t++)
            for (int f = 0; f < PW_PAD_FORMATS && (o->task == t || o->task == PW_PAD_TASKS); f++)
                if (scratchpad(&pw_pad_tasks[t], f) != NULL)
                    adds[i](o, t, f, out);
}

/* The plan of one format. The verdict on all has none, because it reads their findings. */
static bool plan(const void *opts_, struct pw_plan *out)
{
    const struct pw_scratchpads *o = opts_;
    struct race race;
    if (o->format < 0 || o->task == PW_PAD_TASKS || scratchpad(&pw_pad_tasks[o->task], o->format) == NULL)
        return false;
    plan_race(o, o->task, o->format, &race);
    pw_suite_plan(&race.plan, race.task, NULL, out);
    return true;
}

/* Judge one format: a row per arm, a column per run. */
static enum pw_code judge_one(const struct pw_scratchpads *o, const struct pw_snapshot *s,
                              struct pw_finding *f, struct pw_err *err)
{
    const struct pw_arm_view *arms[PW_MAX_ARMS];
    struct pw_scratchpads made = *o;
    char topic[PW_FINDING_TOPIC];
    int n = pw_evaluated(s, arms);
    if (n == 0 || o->task == PW_PAD_TASKS)
        return pw_fail(err, PW_EUSER,
                       "judge scratchpads: no arm has been evaluated: run 'reproduce scratchpads'");
    pw_pad_topic(topic, &pw_pad_tasks[o->task], o->format);
    bool decoded = pw_eval_judge(&arms[0]->rep[0].eval, -1) == PW_JUDGE_DECODED;
    pw_finding_init(f, "scratchpads", topic, "%s, scratchpad %s: right answers%s, %d replica%s",
                    pw_pad_tasks[o->task].name, pw_pad_formats[o->format], decoded ? ", decoded" : "",
                    o->seeds, o->seeds == 1 ? "" : "s");
    pw_right_by_seed(f, s, arms, n, o->seeds, pw_checkpoint_points(o->checkpoint, o->protocol));
    made.format = -1;
    pw_finding_made(f, "scratchpads", &made);
    return PW_OK;
}

static enum pw_code judge(const void *opts_, const struct pw_snapshot *s, struct pw_finding *f,
                          struct pw_err *err)
{
    const struct pw_scratchpads *o = opts_;
    return o->format >= 0 ? judge_one(o, s, f, err) : pw_scratchpads_judge(o, s, f, err);
}

const struct pw_repro pw_repro_scratchpads = {
    .name = "scratchpads",
    .document = "Kazemnejad et al. 2023, Figures E.6-E.13",
    .summary = "scratchpad formats by encoding, on one of seven tasks or all",
    .detail =
        "  reproduce scratchpads                  parity, 8 formats by 5 encodings by 8 replicas: 20 minutes "
        "on\n"
        "                                         two cores\n"
        "  reproduce scratchpads seeds=1          2 or 3 minutes; all verdicts are inconclusive\n"
        "  reproduce scratchpads pes=none,t5 seeds=6\n"
        "                                         fewer comparisons need fewer replicas: 6 for 7 formats\n"
        "                                         of 2 encodings\n"
        "  reproduce scratchpads task=all         seven tasks, and Figure E.6 over all of them: hours\n"
        "Each format is compared with no scratchpad, over the replicas, by an exact test. p is corrected for "
        "the\n"
        "number of pairs of format and encoding, and in the same way between formats (E.6). All differences "
        "are\n"
        "listed, not only the best one.",
    .opts = opts,
    .opts_size = sizeof(struct pw_scratchpads),
    .script = script,
    .plan = plan,
    .judge = judge,
    .finding = "scratchpads",
};
