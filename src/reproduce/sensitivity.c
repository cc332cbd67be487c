/* sensitivity.c - the study `sensitivity`: do learning rate and weight decay matter? (Kazemnejad et al. 2023,
 * appendix D.2: rates of 1, 3 and 5 * 10^-5 by decays of 0, 0.05 and 0.1, "no significant difference in the
 * results").
 *
 * At toy size the rates have the same ratios around the preset's: 1, 3 and 5 * 10^-3. Each of the nine
 * settings is a race with the same seeds. The paper then trains everything with rate 3 and decay 0.05. So
 * each other setting is compared with that one, encoding by encoding, over the seeds.
 *
 * An undetected difference is no support: with few seeds no difference can be detected. The claim is
 * supported if every difference is known to be small: its 95 % interval lies within 5 points. The claim is
 * contradicted if a difference is significant (exact test, corrected for all comparisons) and larger than 5
 * points (its interval lies beyond them). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reproduce/contrast.h"
#include "reproduce/repro.h"
#include "reproduce/suite.h"

#define POINTS 5.0 /* a smaller difference does not matter; fixed before these numbers were measured */

static const double rates[] = {1, 3, 5}, decays[] = {0, 0.05, 0.1};

enum { RATES = 3, DECAYS = 3, SETTINGS = RATES * DECAYS };

#define CHOSEN 4 /* the setting of the paper's Table 2: rate 3, decay 0.05 */

struct options {
    char task[256], pes[256];
    int protocol, seeds, steps, setting, checkpoint;
};

#define AT(m) offsetof(struct options, m)
static const struct pw_opt opts[] = {
    {"task", PW_OPT_TEXT, AT(task), "copy rsc", 0, 0, NULL, sizeof((struct options *)0)->task,
     "one of the paper's tasks, or the arguments of `task`"},
    {"pes", PW_OPT_TEXT, AT(pes), "none,alibi,rotary", 0, 0, NULL, sizeof((struct options *)0)->pes,
     "encodings, as in `race`"},
    {"protocol", PW_OPT_CHOICE, AT(protocol), "toy", 0, 0, pw_protocols, 0,
     "toy: rates 1, 3 and 5 * 10^-3; paper: 1, 3 and 5 * 10^-5, and the paper's model"},
    {"seeds", PW_OPT_INT, AT(seeds), "7", 2, PW_MAX_REPLICAS, NULL, 0,
     "replicas per encoding; with too few, the verdict is inconclusive"},
    {"steps", PW_OPT_INT, AT(steps), "0", 0, 10000000, NULL, 0, "training steps; 0: the number for the task"},
    PW_CHECKPOINT_OPT(AT(checkpoint)),
    {"setting", PW_OPT_INT, AT(setting), "-1", -1, SETTINGS - 1, NULL, 0,
     "judge one of the nine settings, rate by decay; -1: judge all that were measured"},
    {0},
};
#undef AT

static void topic_of(char out[PW_FINDING_TOPIC], int setting)
{
    snprintf(out, PW_FINDING_TOPIC, "rate %g decay %g", rates[setting / DECAYS], decays[setting % DECAYS]);
}

/* The race of a setting; its plan points to keys. */
static struct pw_race_plan race_of(const struct options *o, int setting, char keys[64])
{
    snprintf(keys, 64, "lr=%g decay=%g",
             rates[setting / DECAYS] * (o->protocol == PW_PROTOCOL_PAPER ? 1e-5 : 1e-3),
             decays[setting % DECAYS]);
    return (struct pw_race_plan){.protocol = o->protocol,
                                 .seeds = o->seeds,
                                 .steps = o->steps,
                                 .samples = 128,
                                 .seed = PW_REPRO_SEED,
                                 .pes = o->pes,
                                 .optim = keys,
                                 .points = pw_checkpoint_points(o->checkpoint, o->protocol)};
}

static void script(const void *opts_, struct pw_str *out)
{
    const struct options *o = opts_;
    const struct pw_suite_task *t = pw_suite_find(o->task);
    for (int i = 0; i < SETTINGS; i++) {
        struct options one = *o;
        char keys[64];
        struct pw_race_plan race = race_of(o, i, keys);
        one.setting = i;
        pw_suite_script(&race, t != NULL ? NULL : o->task, t, out);
        pw_str_add(out, "judge sensitivity");
        pw_opt_print(opts, &one, true, out);
        pw_str_add(out, "\n");
    }
}

/* The plan of one setting. The verdict on all has none, because it reads their findings. */
static bool plan(const void *opts_, struct pw_plan *out)
{
    const struct options *o = opts_;
    const struct pw_suite_task *t = pw_suite_find(o->task);
    char keys[64];
    if (o->setting < 0)
        return false;
    struct pw_race_plan race = race_of(o, o->setting, keys);
    pw_suite_plan(&race, t != NULL ? NULL : o->task, t, out);
    return true;
}

/* Judge one setting: a row per arm, in per cent: medians, then longer inputs seed by seed. */
static enum pw_code judge_one(const struct options *o, const struct pw_snapshot *s, struct pw_finding *f,
                              struct pw_err *err)
{
    const struct pw_arm_view *arms[PW_MAX_ARMS];
    struct options made = *o;
    char topic[PW_FINDING_TOPIC];
    int n = pw_evaluated(s, arms);
    if (n == 0)
        return pw_fail(err, PW_EUSER,
                       "judge sensitivity: no arm has been evaluated: run 'reproduce sensitivity'");
    topic_of(topic, o->setting);
    pw_finding_init(f, "sensitivity", topic, "%.100s, %s: mean exact match on longer inputs, %d replicas",
                    o->task, topic, o->seeds);
    pw_right_by_seed(f, s, arms, n, o->seeds, pw_checkpoint_points(o->checkpoint, o->protocol));
    made.setting = -1;
    pw_finding_made(f, "sensitivity", &made);
    return PW_OK;
}

/* ---- all settings */

/* Read the runs of encoding k at a setting, seed by seed. All are NaN if it did not learn the trained lengths
 * or was not measured. */
static bool read_runs(const struct pw_finding *f, int k, double runs[PW_MAX_REPLICAS])
{
    const struct pw_block *b = f != NULL ? &f->blocks[0] : NULL;
    bool learned = b != NULL && k < b->rows && pw_finding_cell(f, b, k, 0) >= 100 * PW_ORDER_IN_RANGE;
    for (int r = 0; r < PW_MAX_REPLICAS; r++)
        runs[r] =
            learned && PW_RIGHT_SEEDS + r < b->cols ? pw_finding_cell(f, b, k, PW_RIGHT_SEEDS + r) : NAN;
    return learned;
}

static void tabulate(struct pw_finding *f, const struct pw_finding *const of[SETTINGS],
                     const struct pw_finding *first)
{
    int n = first->blocks[0].rows;
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
}

/* Compare each other setting with the paper's, encoding by encoding: c [n * (SETTINGS - 1)]. Returns how many
 * (encoding, setting) learned the trained lengths. */
static int compare(struct pw_run_contrast *c, const struct pw_finding *const of[SETTINGS], int n)
{
    int learned = 0;
    for (int k = 0, at = 0; k < n; k++) {
        double chosen[PW_MAX_REPLICAS], other[PW_MAX_REPLICAS];
        learned += read_runs(of[CHOSEN], k, chosen);
        for (int i = 0; i < SETTINGS; i++) {
            if (i == CHOSEN)
                continue;
            learned += read_runs(of[i], k, other);
            pw_contrast_measure(&c[at++], other, chosen, PW_MAX_REPLICAS);
        }
    }
    pw_contrast_correct(c, n * (SETTINGS - 1));
    return learned;
}

static void list_differences(struct pw_finding *f, const struct pw_finding *first,
                             const struct pw_run_contrast *c)
{
    for (int k = 0; k < first->blocks[0].rows; k++) {
        char title[PW_FINDING_TEXT], topic[PW_FINDING_TOPIC];
        topic_of(topic, CHOSEN);
        snprintf(title, sizeof title,
                 "%s: each setting minus %s, 95 %% interval, exact test with Holm's correction",
                 pw_finding_row_name(first, &first->blocks[0], k), topic);
        int table = pw_finding_table(f, title, SETTINGS - 1, PW_CONTRAST_COLUMNS);
        pw_contrast_name_columns(f, table);
        for (int i = 0, row = 0; i < SETTINGS; i++) {
            if (i == CHOSEN)
                continue;
            topic_of(topic, i);
            pw_finding_row(f, table, row, "%s", topic);
            pw_contrast_put(f, table, row, &c[k * (SETTINGS - 1) + row]);
            row++;
        }
    }
}

static void claim_no_difference(struct pw_finding *f, const struct pw_run_contrast *c, int n, int learned,
                                int protocol)
{
    int tests = n * (SETTINGS - 1), needed = pw_contrast_runs(tests), runs = 0;
    int significant = 0, small = 0, large = 0;
    for (int i = 0; i < tests; i++) {
        runs = c[i].difference.n > runs ? c[i].difference.n : runs;
        significant += pw_contrast_sign(&c[i]) != 0;
        small += pw_contrast_within(&c[i], POINTS);
        large += pw_contrast_sign(&c[i]) != 0 && pw_contrast_beyond(&c[i], POINTS);
    }
    pw_finding_claim(
        f, pw_contrast_verdict(protocol, runs, needed, large > 0, small == tests),
        "Kazemnejad et al. 2023, D.2: learning rate and weight decay make no significant difference",
        "%d replicas compared (a claim needs %d); of %d differences from the paper's setting, %d are "
        "significant (corrected p < %g), %d of these beyond %g points; %d intervals lie within %g points; %d "
        "of %d learned the trained lengths",
        runs, needed, tests, significant, PW_CONTRAST_LEVEL, large, POINTS, small, POINTS, learned,
        n * SETTINGS);
}

static enum pw_code judge_all(const struct options *o, const struct pw_snapshot *s, struct pw_finding *f,
                              struct pw_err *err)
{
    const struct pw_finding *of[SETTINGS] = {NULL};
    const struct pw_finding *first = NULL;
    struct pw_run_contrast c[PW_MAX_ARMS * (SETTINGS - 1)];
    enum pw_code code;
    for (int i = 0; i < SETTINGS; i++) {
        char topic[PW_FINDING_TOPIC];
        topic_of(topic, i);
        const struct pw_finding_view *v = pw_finding_of(s, "sensitivity", topic);
        of[i] = v != NULL ? &v->f : NULL;
        if (v != NULL && (code = pw_finding_made_so(&v->f, "sensitivity", o, err)) != PW_OK)
            return code;
        first = first != NULL ? first : of[i];
    }
    if (first == NULL)
        return pw_fail(err, PW_EUSER,
                       "judge sensitivity: nothing has been measured: run 'reproduce sensitivity'");
    int n = first->blocks[0].rows;
    pw_finding_init(f, "sensitivity", "", "%.100s: three learning rates by three weight decays", o->task);
    tabulate(f, of, first);
    int learned = compare(c, of, n);
    list_differences(f, first, c);
    claim_no_difference(f, c, n, learned,
                        pw_suite_find(o->task) != NULL ? pw_protocol_size(o->protocol, o->steps)
                                                       : PW_PROTOCOL_TOY);
    pw_finding_remark(f, "the numbers are measured %s",
                      pw_checkpoint_text(pw_checkpoint_points(o->checkpoint, o->protocol)));
    pw_finding_remark(
        f, "an encoding with less than %g %% in range at one of two settings is left out of their comparison",
        100 * PW_ORDER_IN_RANGE);
    return PW_OK;
}

static enum pw_code judge(const void *opts_, const struct pw_snapshot *s, struct pw_finding *f,
                          struct pw_err *err)
{
    const struct options *o = opts_;
    return o->setting >= 0 ? judge_one(o, s, f, err) : judge_all(o, s, f, err);
}

const struct pw_repro pw_repro_sensitivity = {
    .name = "sensitivity",
    .document = "Kazemnejad et al. 2023, appendix D.2",
    .summary = "effect of learning rate and weight decay: three values of each",
    .detail =
        "  reproduce sensitivity           9 settings by 3 encodings by 7 replicas: 8 minutes on two cores\n"
        "  reproduce sensitivity seeds=2   2 or 3 minutes; the verdict is inconclusive\n"
        "Each setting is compared with that of the paper's Table 2, over the replicas. The claim holds if "
        "all\n"
        "intervals lie within 5 points; a difference that isn't significant isn't enough.",
    .opts = opts,
    .opts_size = sizeof(struct options),
    .script = script,
    .plan = plan,
    .judge = judge,
    .finding = "sensitivity",
};
