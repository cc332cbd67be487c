/* scratchpads.c - which format of a scratchpad helps (Kazemnejad et al. 2023, section 6, Figures E.6 to
 * E.13).
 *
 * A race on a task for every format: none, minimal (what a step computes and gives), full, and full without
 * one of its parts. An answer is right if what stands behind the scratchpad is, so it is decoded (`eval`).
 * The paper's numbers are read off its vector figures: mean over unseen lengths, three seeds. Its two claims:
 * a scratchpad helps addition and nothing else for certain, and no format is the best for all encodings.
 *
 * The released plots give two configurations of sort and LEGO the name "without input"; that bar is the mean
 * of both and is compared with neither (no `covr` and `iovr` of theirs here). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reproduce/study.h"
#include "reproduce/suite.h"

enum { FORMATS = 8, TASKS = 7 };

/* As `task scratchpad=` takes them. */
static const char *const formats[FORMATS] = {"off",  "minimal", "full", "covr",
                                             "iovr", "icvr",    "icor", "icov"};
static const char *const short_formats[FORMATS] = {"off", "minimal", "full", "cor",
                                                   "ior", "icr",     NULL,   "ico"};
static const char *const format_names[FORMATS] = {"none",          "minimal",  "full",        "- input",
                                                  "- computation", "- output", "- variables", "- rest"};

#define GAP 0.02 /* a format helps if it gives so much more than none does; fixed before measuring */
#define NO  -1

/* Per cent on longer inputs by encoding and format; NO: not in the figure. */
static const struct task {
    const char *name, *figure, *toy, *paper;
    bool no_variables; /* its steps have none */
    float right[PW_PAPER_PES][FORMATS];
} tasks[TASKS] = {
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

static const char *const task_names[TASKS + 2] = {
    "addition", "summation", "parity", "sort single", "sort multi", "polynomial", "lego", "all", NULL};

struct options {
    int task, protocol, seeds, steps, samples, format;
    char pes[256];
};

#define AT(m) offsetof(struct options, m)
static const struct pw_opt opts[] = {
    {.name = "task",
     .type = PW_OPT_CHOICE,
     .offset = AT(task),
     .def = "parity",
     .choices = task_names,
     .help = "one of Figures E.7 to E.13, or all (E.6)"},
    {.name = "protocol",
     .type = PW_OPT_CHOICE,
     .offset = AT(protocol),
     .def = "toy",
     .choices = pw_protocols,
     .help = "toy: preset tiny and shorter inputs; paper: its model and data"},
    {.name = "seeds",
     .type = PW_OPT_INT,
     .offset = AT(seeds),
     .def = "1",
     .min = 1,
     .max = PW_MAX_REPLICATES,
     .help = "of each encoding"},
    {.name = "steps",
     .type = PW_OPT_INT,
     .offset = AT(steps),
     .def = "0",
     .min = 0,
     .max = 10000000,
     .help = "of training; 0: 600 of a toy, else the preset's"},
    {.name = "samples",
     .type = PW_OPT_INT,
     .offset = AT(samples),
     .def = "64",
     .min = 1,
     .max = 100000,
     .help = "of each length, decoded"},
    {.name = "pes",
     .type = PW_OPT_TEXT,
     .offset = AT(pes),
     .def = "none,t5,alibi,rotary,sinusoidal",
     .size = sizeof((struct options *)0)->pes,
     .help = "encodings, as after `race`"},
    {.name = "format",
     .type = PW_OPT_INT,
     .offset = AT(format),
     .def = "-1",
     .min = -1,
     .max = FORMATS - 1,
     .help = "judges one of none, minimal, full and the five without a part; -1: all that were measured"},
    {.name = NULL}};
#undef AT

static const char *scratchpad(const struct task *t, int format)
{
    return t->no_variables ? short_formats[format] : formats[format];
}

static void topic_of(char out[PW_FINDING_TOPIC], const struct task *t, int format)
{
    snprintf(out, PW_FINDING_TOPIC, "%s %s", t->name, format_names[format]);
}

/* A race of one task and format, and its judgement. */
static void add_race(const struct options *o, int task, int format, struct pw_str *out)
{
    bool paper = o->protocol == PW_PROTOCOL_PAPER;
    struct options one = *o;
    char text[256], model[64];
    one.task = task;
    one.format = format;
    snprintf(text, sizeof text, "%s scratchpad=%s%s", paper ? tasks[task].paper : tasks[task].toy,
             scratchpad(&tasks[task], format), paper ? " text=paper data=100000" : "");
    snprintf(model, sizeof model, "context=%d", paper ? 1024 : 512);
    struct pw_race_plan plan = {.protocol = o->protocol,
                                .seeds = o->seeds,
                                .steps = o->steps > 0 || paper ? o->steps : 600,
                                .samples = o->samples,
                                .seed = 1,
                                .pes = o->pes,
                                .model = model};
    pw_suite_script(&plan, text, NULL, out);
    pw_str_add(out, "judge scratchpads");
    pw_opt_print(opts, &one, true, out);
    pw_str_add(out, "\n");
}

static void script(const void *opts_, struct pw_str *out)
{
    const struct options *o = opts_;
    for (int t = 0; t < TASKS; t++)
        for (int f = 0; f < FORMATS && (o->task == t || o->task == TASKS); f++)
            if (scratchpad(&tasks[t], f) != NULL)
                add_race(o, t, f, out);
}

/* ---- one format: an arm a row */

static enum pw_code judge_one(const struct options *o, const struct pw_snapshot *s, struct pw_finding *f,
                              struct pw_err *err)
{
    const struct pw_arm_view *arms[PW_MAX_ARMS];
    char topic[PW_FINDING_TOPIC];
    int n = pw_evaluated(s, arms);
    if (n == 0 || o->task == TASKS)
        return pw_fail(err, PW_EUSER,
                       "judge scratchpads: no arm was evaluated; 'reproduce scratchpads' does it all");
    topic_of(topic, &tasks[o->task], o->format);
    pw_finding_init(f, "scratchpads", topic, "right answers by %s of %d seeds: scratchpad %s",
                    pw_judge_name(pw_eval_judge(&arms[0]->rep[0].eval, -1)), o->seeds, topic);
    pw_right_table(f, "per cent, over lengths", s, arms, n, 0);
    return PW_OK;
}

/* ---- a task: formats side by side */

/* Right answers on longer inputs by encoding and format, fractions; NaN: not measured. */
static int collect(const struct pw_snapshot *s, const struct task *t, double right[PW_PAPER_PES][FORMATS],
                   double in_range[PW_PAPER_PES][FORMATS])
{
    int n = 0;
    for (int k = 0; k < FORMATS; k++) {
        char topic[PW_FINDING_TOPIC];
        topic_of(topic, t, k);
        const struct pw_finding_view *v = pw_finding_of(s, "scratchpads", topic);
        n += v != NULL;
        for (int i = 0; i < PW_PAPER_PES; i++) {
            right[i][k] = in_range[i][k] = NAN;
            for (int row = 0; v != NULL && row < v->f.blocks[0].rows; row++)
                if (strcmp(pw_finding_row_name(&v->f, &v->f.blocks[0], row), pw_paper_pe_names[i]) == 0) {
                    in_range[i][k] = pw_finding_cell(&v->f, &v->f.blocks[0], row, 0) / 100;
                    right[i][k] = pw_finding_cell(&v->f, &v->f.blocks[0], row, 1) / 100;
                }
        }
    }
    return n;
}

static void tabulate(struct pw_finding *f, const char *title, double v[PW_PAPER_PES][FORMATS])
{
    int table = pw_finding_table(f, title, PW_PAPER_PES, FORMATS);
    f->blocks[table].decimals = 1;
    for (int k = 0; k < FORMATS; k++)
        pw_finding_col(f, table, k, "%s", format_names[k]);
    for (int i = 0; i < PW_PAPER_PES; i++) {
        pw_finding_row(f, table, i, "%s", pw_paper_pe_names[i]);
        for (int k = 0; k < FORMATS; k++)
            pw_finding_put(f, table, i, k, 100 * v[i][k]);
    }
}

/* The format that serves an encoding best; -1: none was measured. */
static int best_of(const double right[FORMATS])
{
    int best = -1;
    for (int k = 0; k < FORMATS; k++)
        if (!isnan(right[k]) && (best < 0 || right[k] > right[best]))
            best = k;
    return best;
}

static void judge_task(const struct options *o, const struct pw_snapshot *s, const struct task *t,
                       struct pw_finding *f)
{
    double right[PW_PAPER_PES][FORMATS], in_range[PW_PAPER_PES][FORMATS];
    struct pw_order order = {0};
    char title[PW_FINDING_TEXT], claim[PW_FINDING_TEXT];
    int helped = 0, learned = 0, n = 0;
    collect(s, t, right, in_range);
    snprintf(title, sizeof title, "%s: right answers on longer inputs, per cent", t->name);
    tabulate(f, title, right);
    snprintf(title, sizeof title, "%s: in range, per cent", t->name);
    tabulate(f, title, in_range);
    for (int i = 0; i < PW_PAPER_PES; i++) {
        int best = best_of(right[i]);
        if (best < 0 || isnan(right[i][0]))
            continue;
        n++;
        learned += in_range[i][0] >= PW_ORDER_IN_RANGE && in_range[i][2] >= PW_ORDER_IN_RANGE;
        helped += right[i][best] > right[i][0] + GAP;
        for (int k = 1; k < FORMATS; k++) { /* with a format, against none */
            bool both = in_range[i][0] >= PW_ORDER_IN_RANGE && in_range[i][k] >= PW_ORDER_IN_RANGE;
            pw_order_add_pair(&order, both ? right[i][k] - right[i][0] : NAN, t->right[i][k], t->right[i][0]);
        }
        pw_finding_remark(f, "%s, %s: best with %s", t->name, pw_paper_pe_names[i], format_names[best]);
    }
    bool addition = strcmp(t->name, "addition") == 0, as_paper = addition == (2 * helped > n);
    snprintf(claim, sizeof claim, "Kazemnejad et al. 2023, section 6: a scratchpad %s %s",
             addition ? "helps" : "doesn't help for certain", t->name);
    pw_finding_claim(
        f,
        learned < n                        ? PW_CLAIM_INCONCLUSIVE
        : !as_paper                        ? PW_CLAIM_CONTRADICTED
        : o->protocol == PW_PROTOCOL_PAPER ? PW_CLAIM_REPRODUCED
                                           : PW_CLAIM_TOY,
        claim,
        "%d of %d encodings do better by %g points with some format; %d learn the trained lengths "
        "without and with a full one",
        helped, n, 100 * GAP, learned);
    snprintf(claim, sizeof claim, "Kazemnejad et al. 2023, %s: formats against none", t->figure);
    pw_finding_claim(
        f, pw_order_verdict(&order, o->protocol), claim,
        "of %d pairs that the paper parts by 10 points or more %d are in its order, %d in the opposite one",
        order.pairs, order.alike, order.opposite);
}

static enum pw_code judge_all(const struct options *o, const struct pw_snapshot *s, struct pw_finding *f,
                              struct pw_err *err)
{
    double right[PW_PAPER_PES][FORMATS], in_range[PW_PAPER_PES][FORMATS];
    int measured = 0;
    for (int t = 0; t < TASKS; t++)
        measured += (o->task == t || o->task == TASKS) && collect(s, &tasks[t], right, in_range) > 0;
    if (measured == 0)
        return pw_fail(err, PW_EUSER,
                       "judge scratchpads: nothing was measured; 'reproduce scratchpads' does it all");
    pw_finding_init(f, "scratchpads", task_names[o->task], "scratchpad formats by encoding: %s",
                    task_names[o->task]);
    for (int t = 0; t < TASKS; t++)
        if ((o->task == t || o->task == TASKS) && collect(s, &tasks[t], right, in_range) > 0)
            judge_task(o, s, &tasks[t], f);
    return PW_OK;
}

static enum pw_code judge(const void *opts_, const struct pw_snapshot *s, struct pw_finding *f,
                          struct pw_err *err)
{
    const struct options *o = opts_;
    return o->format >= 0 ? judge_one(o, s, f, err) : judge_all(o, s, f, err);
}

const struct pw_study pw_study_scratchpads = {
    .name = "scratchpads",
    .document = "Kazemnejad et al. 2023, Figures E.6-E.13",
    .summary = "scratchpad formats by encoding, on one of seven tasks or all",
    .opts = opts,
    .opts_size = sizeof(struct options),
    .script = script,
    .judge = judge,
    .finding = "scratchpads",
};
