/* figure4.c - the study `figure4`: which encoding's attention is most similar to NoPE's? (Kazemnejad et al.
 * 2023, Figures 4, E.5 and section 5.2.)
 *
 * A run trains six models on SCAN: NoPE, NoPE with another seed (the figure's NoPE*, the distance that chance
 * alone causes), T5, ALiBi, rotary and sinusoidal (its APE). Then it measures the distance of their attention
 * from NoPE's by length. One run shows how two models differ, not how two encodings differ. So claims need
 * several runs, with other data and other weights.
 *
 * The figure's numbers are read off its vector form. Erratum: the figure does not show Jensen-Shannon
 * divergences, because its axis reaches 1.5. So the released formula is used for comparing numbers, and
 * Jensen-Shannon, next to it, for the text's claim.
 *
 * A control that the paper lacks: the paper compares models of one seed, and these start with the same
 * weights; only NoPE* does not. Measured from NoPE*, all models started with other weights than the
 * reference. So only the encoding can make a distance smaller than NoPE's own. */
#include "reproduce/figure4.h"

#include <stdio.h>
#include <string.h>

#include "reproduce/repro.h"
#include "reproduce/suite.h"

#define TOY_STEPS 8000 /* enough to learn SCAN's rare lengths too */

#define SAMPLES 64 /* per length, in the evaluation */

enum { ARMS = 6 };

/* In the order of the arms; the others are compared with the first. */
static const char *const files[ARMS] = {"none", "none_other", "t5", "alibi", "rotary", "sinusoidal"};

static const char *const sizes[] = {"tiny", "small", "medium", NULL};

#define AT(m) offsetof(struct pw_figure4, m)
static const struct pw_opt opts[] = {
    {"task", PW_OPT_TEXT, AT(task), "scan", 0, 0, NULL, sizeof((struct pw_figure4 *)0)->task,
     "one of the paper's tasks, or the arguments of `task`"},
    {"protocol", PW_OPT_CHOICE, AT(protocol), "toy", 0, 0, pw_protocols, 0,
     "toy: the preset of model=; paper: the paper's model, data and rotary, 40,000 steps"},
    {"model", PW_OPT_CHOICE, AT(model), "tiny", 0, 0, sizes, 0, "preset for protocol=toy"},
    {"steps", PW_OPT_INT, AT(steps), "0", 0, 10000000, NULL, 0,
     "training steps; 0: 8000, with protocol=paper 40,000"},
    {"samples", PW_OPT_INT, AT(samples), "10", 2, 4096, NULL, 0, "sequences per length to compare"},
    {"seed", PW_OPT_INT, AT(seed), PW_REPRO_SEED_TEXT, 0, 1000000000, NULL, 0,
     "seed of the data and the models of the first run; NoPE* uses seed + 1, the second run seed + 2"},
    {"runs", PW_OPT_INT, AT(runs), "6", 1, PW_FIGURE4_RUNS, NULL, 0,
     "runs of six models each; with too few runs, all verdicts are inconclusive"},
    {"run", PW_OPT_INT, AT(run), "0", 0, PW_FIGURE4_RUNS, NULL, 0,
     "judge the present models as this run; 0: judge all runs together"},
    {"load", PW_OPT_TEXT, AT(load), "", 0, 0, NULL, sizeof((struct pw_figure4 *)0)->load,
     "folder with none, none_other, t5, alibi, rotary, sinusoidal.safetensors, to use instead of training; "
     "none-2 and so on for further runs"},
    {"save", PW_OPT_TEXT, AT(save), "", 0, 0, NULL, sizeof((struct pw_figure4 *)0)->save,
     "folder to write these files to"},
    {0},
};
#undef AT

static enum pw_code check(const void *opts_, struct pw_err *err)
{
    const struct pw_figure4 *o = opts_;
    if (o->load[0] != '\0' && (o->save[0] != '\0' || o->steps > 0))
        return pw_fail(err, PW_EUSER, "figure4: load= uses trained models: remove %s=",
                       o->save[0] != '\0' ? "save" : "steps");
    if (strpbrk(o->load, "\"\\") != NULL || strpbrk(o->save, "\"\\") != NULL)
        return pw_fail(err, PW_EUSER,
                       "figure4: load=, save=: the name of a folder must not contain quotes or backslashes");
    return PW_OK;
}

/* ---- the script */

/* The seed of a run: of its data and of all models except NoPE*, which has the next seed. */
static int seed_of(const struct pw_figure4 *o, int run)
{
    return o->seed + 2 * (run - 1);
}

/* Add lines such as "import weights "old runs/t5.safetensors"" for the first run; the second reads
 * t5-2.safetensors. */
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

/* Plan the six models of a run. */
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

/* The plan of one run. The verdict on all runs has none, because it reads their findings. */
static bool plan(const void *opts_, struct pw_plan *out)
{
    const struct pw_figure4 *o = opts_;
    if (o->run > 0)
        plan_run(o, o->run, out);
    return o->run > 0;
}

const struct pw_repro pw_repro_figure4 = {
    .name = "figure4",
    .document = "Kazemnejad et al. 2023, Figures 4 and E.5, Eq. 2",
    .summary = "attention similar to NoPE's: distances of five models on SCAN, by length",
    .detail =
        "  reproduce figure4                     6 runs of six models of preset tiny on SCAN, 8000 steps:\n"
        "                                        20 minutes on two cores\n"
        "  reproduce figure4 runs=1              one run, in 3 or 4 minutes; all verdicts are inconclusive\n"
        "  reproduce figure4 model=small         three layers of width 128\n"
        "  reproduce figure4 save=runs/figure4   save the models; load=runs/figure4 compares them again\n"
        "  reproduce figure4 protocol=paper      the paper's model and steps: for a GPU; 12 layers (E.5)\n"
        "                                        need runs=7",
    .opts = opts,
    .opts_size = sizeof(struct pw_figure4),
    .check = check,
    .script = script,
    .plan = plan,
    .judge = pw_figure4_judge,
    .finding = "figure4",
};
