/* sensitivity.c - do learning rate and weight decay matter? (Kazemnejad et al. 2023, appendix D.2: rates of
 * 1, 3 and 5 * 10^-5 by decays of 0, 0.05 and 0.1, "no significant difference in the results").
 *
 * At a toy's size the rates are those of the preset in the same ratios, 1, 3 and 5 * 10^-3. Each of the nine
 * settings is a race of its own, with the same seeds. A difference is significant if it is larger than what
 * another seed makes: of an encoding the medians at the settings that learn the trained lengths lie further
 * apart than its seeds at one of them, and further than 5 points. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reproduce/study.h"
#include "reproduce/suite.h"

#define POINTS 5.0

static const double rates[] = {1, 3, 5}, decays[] = {0, 0.05, 0.1};

enum { RATES = 3, DECAYS = 3, SETTINGS = RATES * DECAYS };

struct options {
    char task[256], pes[256];
    int protocol, seeds, steps, setting;
};

#define AT(m) offsetof(struct options, m)
static const struct pw_opt opts[] = {
    {.name = "task",
     .type = PW_OPT_TEXT,
     .offset = AT(task),
     .def = "copy rsc",
     .size = sizeof((struct options *)0)->task,
     .help = "one of the paper's tasks, or any as after `task`"},
    {.name = "pes",
     .type = PW_OPT_TEXT,
     .offset = AT(pes),
     .def = "none,alibi,rotary",
     .size = sizeof((struct options *)0)->pes,
     .help = "encodings, as after `race`"},
    {.name = "protocol",
     .type = PW_OPT_CHOICE,
     .offset = AT(protocol),
     .def = "toy",
     .choices = pw_protocols,
     .help = "toy: rates of 1, 3, 5 thousandths; paper: hundred thousandths, its model"},
    {.name = "seeds",
     .type = PW_OPT_INT,
     .offset = AT(seeds),
     .def = "3",
     .min = 2,
     .max = PW_MAX_REPLICATES,
     .help = "of each encoding"},
    {.name = "steps",
     .type = PW_OPT_INT,
     .offset = AT(steps),
     .def = "0",
     .min = 0,
     .max = 10000000,
     .help = "of training; 0: the task's"},
    {.name = "setting",
     .type = PW_OPT_INT,
     .offset = AT(setting),
     .def = "-1",
     .min = -1,
     .max = SETTINGS - 1,
     .help = "judges one of the nine, rate by decay; -1: all that were measured"},
    {.name = NULL}};
#undef AT

static void topic_of(char out[PW_FINDING_TOPIC], int setting)
{
    snprintf(out, PW_FINDING_TOPIC, "rate %g decay %g", rates[setting / DECAYS], decays[setting % DECAYS]);
}

static void script(const void *opts_, struct pw_str *out)
{
    const struct options *o = opts_;
    const struct pw_suite_task *t = pw_suite_find(o->task);
    struct pw_race_plan plan = {o->protocol, o->seeds, o->steps, 128, 1, o->pes, NULL, NULL};
    for (int i = 0; i < SETTINGS; i++) {
        struct options one = *o;
        char keys[64];
        one.setting = i;
        snprintf(keys, sizeof keys, "lr=%g decay=%g",
                 rates[i / DECAYS] * (o->protocol == PW_PROTOCOL_PAPER ? 1e-5 : 1e-3), decays[i % DECAYS]);
        plan.optim = keys;
        pw_suite_script(&plan, t != NULL ? NULL : o->task, t, out);
        pw_str_add(out, "judge sensitivity");
        pw_opt_print(opts, &one, true, out);
        pw_str_add(out, "\n");
    }
}

/* One setting: an arm a row, medians and the range of its seeds, in per cent. */
static enum pw_code judge_one(const struct options *o, const struct pw_snapshot *s, struct pw_finding *f,
                              struct pw_err *err)
{
    const struct pw_arm_view *arms[PW_MAX_ARMS];
    char topic[PW_FINDING_TOPIC];
    int n = pw_evaluated(s, arms);
    if (n == 0)
        return pw_fail(err, PW_EUSER,
                       "judge sensitivity: no arm was evaluated; 'reproduce sensitivity' does it all");
    topic_of(topic, o->setting);
    pw_finding_init(f, "sensitivity", topic, "%s: mean exact match on longer inputs, %d seeds", topic,
                    o->seeds);
    int table = pw_right_table(f, "per cent", s, arms, n, 2);
    pw_finding_col(f, table, 2, "least");
    pw_finding_col(f, table, 3, "greatest");
    for (int i = 0; i < n; i++) {
        struct pw_spread x = pw_spread_mean(&s->lab, arms[i], true);
        pw_finding_put(f, table, i, 2, 100 * (double)x.lo);
        pw_finding_put(f, table, i, 3, 100 * (double)x.hi);
    }
    return PW_OK;
}

/* An encoding's medians over the settings at which it learns the trained lengths. */
struct range {
    int learned;
    double low, high, seeds; /* seeds: the widest range of seeds at one setting */
};

static struct range compare(const struct pw_finding *const of[SETTINGS], int k)
{
    struct range r = {0, INFINITY, -INFINITY, 0};
    for (int i = 0; i < SETTINGS; i++) {
        const struct pw_block *b = of[i] != NULL ? &of[i]->blocks[0] : NULL;
        if (b == NULL || k >= b->rows || pw_finding_cell(of[i], b, k, 0) < 100 * PW_ORDER_IN_RANGE)
            continue;
        double x = pw_finding_cell(of[i], b, k, 1);
        r.learned++;
        r.low = fmin(r.low, x);
        r.high = fmax(r.high, x);
        r.seeds = fmax(r.seeds, pw_finding_cell(of[i], b, k, 3) - pw_finding_cell(of[i], b, k, 2));
    }
    return r;
}

static enum pw_code judge_all(const struct options *o, const struct pw_snapshot *s, struct pw_finding *f,
                              struct pw_err *err)
{
    const struct pw_finding *of[SETTINGS] = {NULL};
    const struct pw_finding *first = NULL;
    for (int i = 0; i < SETTINGS; i++) {
        char topic[PW_FINDING_TOPIC];
        topic_of(topic, i);
        const struct pw_finding_view *v = pw_finding_of(s, "sensitivity", topic);
        of[i] = v != NULL ? &v->f : NULL;
        first = first != NULL ? first : of[i];
    }
    if (first == NULL)
        return pw_fail(err, PW_EUSER,
                       "judge sensitivity: nothing was measured; 'reproduce sensitivity' does it all");
    int n = first->blocks[0].rows, significant = 0, learned = 0;
    pw_finding_init(f, "sensitivity", "", "%.100s: three learning rates by three weight decays", o->task);
    int table = pw_finding_table(f, "median of mean exact match on longer inputs, per cent", SETTINGS, n);
    f->blocks[table].decimals = 1;
    for (int k = 0; k < n; k++)
        pw_finding_col(f, table, k, "%s", pw_finding_row_name(first, &first->blocks[0], k));
    for (int i = 0; i < SETTINGS; i++) {
        char topic[PW_FINDING_TOPIC];
        topic_of(topic, i);
        pw_finding_row(f, table, i, "%s", topic);
        for (int k = 0; of[i] != NULL && k < n && k < of[i]->blocks[0].rows; k++)
            pw_finding_put(f, table, i, k, pw_finding_cell(of[i], &of[i]->blocks[0], k, 1));
    }
    for (int k = 0; k < n; k++) {
        struct range x = compare(of, k);
        bool matters = x.high - x.low > x.seeds && x.high - x.low > POINTS;
        significant += matters;
        learned += x.learned;
        pw_finding_remark(
            f,
            "%s: of %d settings that learn the trained lengths medians are %.1f points apart, seeds "
            "of one setting up to %.1f%s",
            pw_finding_row_name(first, &first->blocks[0], k), x.learned, x.learned > 0 ? x.high - x.low : 0,
            x.seeds, matters ? ": the setting matters" : "");
    }
    pw_finding_claim(
        f,
        significant > 0                    ? PW_CLAIM_CONTRADICTED
        : learned < n * SETTINGS           ? PW_CLAIM_INCONCLUSIVE
        : o->protocol == PW_PROTOCOL_PAPER ? PW_CLAIM_REPRODUCED
                                           : PW_CLAIM_TOY,
        "Kazemnejad et al. 2023, D.2: rate and decay make no significant difference",
        "for %d of %d encodings the settings differ by more than seeds do and by more than %g points; %d "
        "of %d runs learn the trained lengths",
        significant, n, POINTS, learned, n * SETTINGS);
    return PW_OK;
}

static enum pw_code judge(const void *opts_, const struct pw_snapshot *s, struct pw_finding *f,
                          struct pw_err *err)
{
    const struct options *o = opts_;
    return o->setting >= 0 ? judge_one(o, s, f, err) : judge_all(o, s, f, err);
}

const struct pw_study pw_study_sensitivity = {
    .name = "sensitivity",
    .document = "Kazemnejad et al. 2023, appendix D.2",
    .summary = "three learning rates by three weight decays: does it matter?",
    .opts = opts,
    .opts_size = sizeof(struct options),
    .script = script,
    .judge = judge,
    .finding = "sensitivity",
};
