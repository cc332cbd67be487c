/* figure4.c - whose attention is like NoPE's? (Kazemnejad et al. 2023, Figures 4, E.5 and section 5.2.)
 *
 * A run is six models on SCAN: NoPE, NoPE of another seed (the figure's NoPE*, what chance makes of two
 * models), T5, ALiBi, rotary and sinusoidal (its APE); then their attention distances from NoPE by length.
 * One run tells what two models are from each other, not what two encodings are: claims stand on several,
 * with other data and other weights. The figure's numbers are read off its vector form.
 *
 * Erratum: the figure shows no Jensen-Shannon divergence, as its axis up to 1.5 tells; the released formula
 * is drawn for its numbers, Jensen-Shannon beside it for what the text says.
 *
 * A control that the paper doesn't have: there models of one seed are compared, and those begin with the same
 * weights; only NoPE* doesn't. Measured from NoPE* all of them have other weights than what they are compared
 * with, so nothing but the encoding is left to make a distance less than NoPE's own. */
#include "reproduce/figure4.h"

#include <stdio.h>
#include <string.h>

#include "reproduce/study.h"
#include "reproduce/suite.h"

#define TOY_STEPS 8000 /* until the rare lengths of SCAN are learned, too */

#define SAMPLES 64 /* of each length, of the evaluation */

enum { ARMS = 6 };

/* In the order of the arms; the first is what the others are compared with. */
static const char *const files[ARMS] = {"none", "none_other", "t5", "alibi", "rotary", "sinusoidal"};

static const char *const sizes[] = {"tiny", "small", "medium", NULL};

#define AT(m) offsetof(struct pw_figure4, m)
static const struct pw_opt opts[] = {
    {.name = "task",
     .type = PW_OPT_TEXT,
     .offset = AT(task),
     .def = "scan",
     .size = sizeof((struct pw_figure4 *)0)->task,
     .help = "one of the paper's tasks, or any as after `task`"},
    {.name = "protocol",
     .type = PW_OPT_CHOICE,
     .offset = AT(protocol),
     .def = "toy",
     .choices = pw_protocols,
     .help = "toy: the preset of model=; paper: its model, data and rotary, 40,000 steps"},
    {.name = "model",
     .type = PW_OPT_CHOICE,
     .offset = AT(model),
     .def = "tiny",
     .choices = sizes,
     .help = "preset of a toy"},
    {.name = "steps",
     .type = PW_OPT_INT,
     .offset = AT(steps),
     .def = "0",
     .min = 0,
     .max = 10000000,
     .help = "of training; 0: 8000, of the paper 40,000"},
    {.name = "samples",
     .type = PW_OPT_INT,
     .offset = AT(samples),
     .def = "10",
     .min = 2,
     .max = 4096,
     .help = "sequences of each length that are compared"},
    {.name = "seed",
     .type = PW_OPT_INT,
     .offset = AT(seed),
     .def = PW_STUDY_SEED_TEXT,
     .min = 0,
     .max = 1000000000,
     .help =
         "of the first run's data and initialisation; NoPE* has the next one, the next run the one after"},
    {.name = "runs",
     .type = PW_OPT_INT,
     .offset = AT(runs),
     .def = "6",
     .min = 1,
     .max = PW_FIGURE4_RUNS,
     .help = "of six models; fewer are quicker, and too few leave all verdicts inconclusive"},
    {.name = "run",
     .type = PW_OPT_INT,
     .offset = AT(run),
     .def = "0",
     .min = 0,
     .max = PW_FIGURE4_RUNS,
     .help = "judges the models that are there as this run; 0: all runs together"},
    {.name = "load",
     .type = PW_OPT_TEXT,
     .offset = AT(load),
     .def = "",
     .size = sizeof((struct pw_figure4 *)0)->load,
     .help = "folder of none, none_other, t5, alibi, rotary, sinusoidal.safetensors, instead of training; "
             "none-2 and so on for further runs"},
    {.name = "save",
     .type = PW_OPT_TEXT,
     .offset = AT(save),
     .def = "",
     .size = sizeof((struct pw_figure4 *)0)->save,
     .help = "folder that these files are written to"},
    {.name = NULL}};
#undef AT

static enum pw_code check(const void *opts_, struct pw_err *err)
{
    const struct pw_figure4 *o = opts_;
    if (o->load[0] != '\0' && (o->save[0] != '\0' || o->steps > 0))
        return pw_fail(err, PW_EUSER, "figure4: load= takes models as they are; there is nothing to %s",
                       o->save[0] != '\0' ? "save" : "train");
    if (strpbrk(o->load, "\"\\") != NULL || strpbrk(o->save, "\"\\") != NULL)
        return pw_fail(err, PW_EUSER, "figure4: a folder's name may have no quotes and no backslashes here");
    return PW_OK;
}

/* ---- the script */

/* The seeds of a run: that of data and of all models but NoPE*, which has the next one. */
static int seed_of(const struct pw_figure4 *o, int run)
{
    return o->seed + 2 * (run - 1);
}

/* "import weights "old runs/t5.safetensors"", the first run's; the second's is t5-2.safetensors. */
static void add_files(const struct pw_figure4 *o, int run, struct pw_str *out)
{
    bool load = o->load[0] != '\0';
    for (int i = 0; i < ARMS && (load || o->save[0] != '\0'); i++) {
        pw_str_add(out, "arm %d\n%s weights \"%s/%s", i + 1, load ? "import" : "export",
                   load ? o->load : o->save, files[i]);
        if (run > 1)
            pw_str_add(out, "-%d", run);
        pw_str_add(out, ".safetensors\"\n");
    }
}

/* Six models of a run. */
static void plan_run(const struct pw_figure4 *o, int run, struct pw_plan *out)
{
    const struct pw_suite_task *t = pw_suite_find(o->task);
    bool as_paper = o->protocol == PW_PROTOCOL_PAPER;
    int steps = o->steps > 0 ? o->steps : as_paper ? 0 : TOY_STEPS;
    *out = (struct pw_plan){.seed = (uint64_t)seed_of(o, run),
                            .seeds = 1,
                            .samples = SAMPLES,
                            .points = 1,
                            .other = 2,
                            .loaded = o->load[0] != '\0'};
    snprintf(out->task, sizeof out->task, "%s", t == NULL ? o->task : as_paper ? t->paper : t->toy);
    snprintf(out->model, sizeof out->model, "%s context=fit", as_paper ? "paper" : sizes[o->model]);
    if (steps > 0)
        snprintf(out->optim, sizeof out->optim, "steps=%d", steps);
    snprintf(out->race, sizeof out->race, "none,none,t5(buckets=32,distance=128),alibi,%s,sinusoidal",
             as_paper ? "rotary(dims=16,pairing=interleaved)" : "rotary");
}

static void add_training(const struct pw_figure4 *o, int run, struct pw_str *out)
{
    struct pw_plan plan;
    plan_run(o, run, &plan);
    pw_suite_start(&plan, out);
    pw_str_add(out, "seed %d arm=%d\n", seed_of(o, run) + 1, plan.other);
    if (!plan.loaded)
        pw_str_add(out, "train\n");
    add_files(o, run, out);
}

static void script(const void *opts_, struct pw_str *out)
{
    const struct pw_figure4 *o = opts_;
    for (int run = 1; run <= o->runs; run++) {
        struct pw_figure4 one = *o;
        one.run = run;
        add_training(o, run, out);
        pw_str_add(out, "eval samples=%d\n", SAMPLES);
        for (int from = 1; from <= 2; from++)
            for (int jsd = 0; jsd <= 1; jsd++)
                pw_str_add(out, "compare %s 3 4 5 6 samples=%d%s%s\n", from == 1 ? "1 2" : "2 1", o->samples,
                           jsd == 1 ? "" : " formula=released", from == 1 && jsd == 1 ? "" : " control=off");
        pw_str_add(out, "judge figure4");
        pw_opt_print(opts, &one, true, out);
        pw_str_add(out, "\n");
    }
}

/* Of one run; the verdict on all reads their findings. */
static bool plan(const void *opts_, struct pw_plan *out)
{
    const struct pw_figure4 *o = opts_;
    if (o->run > 0)
        plan_run(o, o->run, out);
    return o->run > 0;
}

const struct pw_study pw_study_figure4 = {
    .name = "figure4",
    .document = "Kazemnejad et al. 2023, Figures 4 and E.5, Eq. 2",
    .summary = "whose attention is like NoPE's: distances on SCAN by length",
    .detail =
        "  reproduce figure4                     6 runs of six models of preset tiny on SCAN, 8000 steps: 20 "
        "minutes\n"
        "                                        on two cores\n"
        "  reproduce figure4 runs=1              the picture in 3 or 4 minutes; all verdicts are "
        "inconclusive\n"
        "  reproduce figure4 model=small         three layers of 128\n"
        "  reproduce figure4 save=runs/figure4   keeps the models; load=runs/figure4 compares them again\n"
        "  reproduce figure4 protocol=paper      the paper's model and steps: for a GPU; 12 layers (E.5) "
        "want\n"
        "                                        runs=7",
    .opts = opts,
    .opts_size = sizeof(struct pw_figure4),
    .check = check,
    .script = script,
    .plan = plan,
    .judge = pw_figure4_judge,
    .finding = "figure4",
};
