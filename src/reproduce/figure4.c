/* figure4.c - whose attention is like NoPE's? (Kazemnejad et al. 2023, Figure 4, F.7 and section 5.2.)
 *
 * Six models on SCAN: NoPE, NoPE of another seed (the figure's NoPE*, what chance makes of two models), T5,
 * ALiBi, rotary and sinusoidal (its APE); then their attention distances from NoPE by length. The figure's
 * numbers are read off its vector form.
 *
 * Erratum: the figure shows no Jensen-Shannon divergence, as its axis up to 1.5 tells; the released formula
 * is drawn for its numbers, Jensen-Shannon beside it for what the text says.
 *
 * A control that the paper doesn't have: there models of one seed are compared, and those begin with the same
 * weights; only NoPE* doesn't. Measured from NoPE* all of them have other weights than what they are compared
 * with, so nothing but the encoding is left to make a distance less than NoPE's own. */
#include "reproduce/figure4.h"

#include <string.h>

#include "reproduce/study.h"
#include "reproduce/suite.h"

#define TOY_STEPS 8000 /* until the rare lengths of SCAN are learned, too */

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
     .def = "1",
     .min = 0,
     .max = 1000000000,
     .help = "of data and initialisation; NoPE* has the next one"},
    {.name = "load",
     .type = PW_OPT_TEXT,
     .offset = AT(load),
     .def = "",
     .size = sizeof((struct pw_figure4 *)0)->load,
     .help = "folder of none, none_other, t5, alibi, rotary, sinusoidal.safetensors, instead of training"},
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

static void train(const struct pw_figure4 *o, struct pw_str *out)
{
    const struct pw_suite_task *t = pw_suite_find(o->task);
    bool as_paper = o->protocol == PW_PROTOCOL_PAPER;
    int steps = o->steps > 0 ? o->steps : as_paper ? 0 : TOY_STEPS;
    pw_str_add(out, "seed %d\ntask %s\nmodel %s\n", o->seed,
               t == NULL  ? o->task
               : as_paper ? t->paper
                          : t->toy,
               as_paper ? "paper" : sizes[o->model]);
    if (steps > 0)
        pw_str_add(out, "optim steps=%d\n", steps);
    pw_str_add(out, "race none,none,t5(buckets=32,distance=128),alibi,%s,sinusoidal\nseed %d arm=2\n",
               as_paper ? "rotary(dims=16,pairing=interleaved)" : "rotary", o->seed + 1);
    if (o->load[0] == '\0')
        pw_str_add(out, "train\n");
    for (int i = 0; i < ARMS && (o->load[0] != '\0' || o->save[0] != '\0'); i++)
        pw_str_add(out, "arm %d\n%s weights \"%s/%s.safetensors\"\n", i + 1,
                   o->load[0] != '\0' ? "import" : "export", o->load[0] != '\0' ? o->load : o->save,
                   files[i]);
}

static void script(const void *opts_, struct pw_str *out)
{
    const struct pw_figure4 *o = opts_;
    train(o, out);
    pw_str_add(out, "eval samples=64\n");
    for (int from = 1; from <= 2; from++)
        for (int jsd = 0; jsd <= 1; jsd++)
            pw_str_add(out, "compare %s 3 4 5 6 samples=%d%s%s\n", from == 1 ? "1 2" : "2 1", o->samples,
                       jsd == 1 ? "" : " formula=released", from == 1 && jsd == 1 ? "" : " control=off");
}

const struct pw_study pw_study_figure4 = {
    .name = "figure4",
    .document = "Kazemnejad et al. 2023, Figure 4",
    .summary = "whose attention is like NoPE's: distances on SCAN by length",
    .detail =
        "  reproduce figure4                     six models of preset tiny on SCAN, 8000 steps: minutes "
        "on two cores\n"
        "  reproduce figure4 model=small         three layers of 128\n"
        "  reproduce figure4 save=runs/figure4   keeps the models; load=runs/figure4 compares them again\n"
        "  reproduce figure4 protocol=paper      the paper's model and steps: for a GPU",
    .opts = opts,
    .opts_size = sizeof(struct pw_figure4),
    .check = check,
    .script = script,
    .judge = pw_figure4_judge,
    .finding = "figure4",
};
