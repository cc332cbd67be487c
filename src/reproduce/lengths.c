/* lengths.c - accuracy by length for five encodings (Kazemnejad et al. 2023, Figures 3 and E.2 to E.4).
 *
 * A race on each task, several seeds, exact match at every length, trained and longer; then pairs of
 * encodings are compared with the paper's figures (suite.h has the rules). By default three tasks that a
 * processor trains in minutes: sorting and copying one repeated symbol, which separate the encodings at this
 * size, and copying random symbols, which doesn't. protocol=paper is the paper's own: its model, 100,000
 * samples, 40,000 steps of 64; with a GPU.
 *
 * Of T5 a toy has two tables: 32 buckets up to 128, as in the paper, whose buckets beyond the trained
 * distances keep their first values, and 8 up to 16, which is scaled to the lengths. The first of an
 * encoding's arms is compared; the other stands beside it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reproduce/study.h"
#include "reproduce/suite.h"

struct options {
    char task[256], pes[256];
    int group, protocol, seeds, steps, samples, seed;
};

#define AT(m) offsetof(struct options, m)
static const struct pw_opt opts[] = {
    {.name = "task",
     .type = PW_OPT_TEXT,
     .offset = AT(task),
     .def = "",
     .size = sizeof((struct options *)0)->task,
     .help = "any task with its options, as after `task`, in place of a group"},
    {.name = "group",
     .type = PW_OPT_CHOICE,
     .offset = AT(group),
     .def = "quick",
     .choices = pw_suite_groups,
     .help = "the paper's tasks: quick are copy rsc, copy cmc and sort; one: that of task="},
    {.name = "protocol",
     .type = PW_OPT_CHOICE,
     .offset = AT(protocol),
     .def = "toy",
     .choices = pw_protocols,
     .help = "toy: preset tiny; paper: its model and data, 40,000 steps"},
    {.name = "pes",
     .type = PW_OPT_TEXT,
     .offset = AT(pes),
     .def = "",
     .size = sizeof((struct options *)0)->pes,
     .help = "encodings, as after `race`; else the paper's five"},
    {.name = "seeds",
     .type = PW_OPT_INT,
     .offset = AT(seeds),
     .def = "3",
     .min = 1,
     .max = PW_MAX_REPLICATES,
     .help = "of each encoding"},
    {.name = "steps",
     .type = PW_OPT_INT,
     .offset = AT(steps),
     .def = "0",
     .min = 0,
     .max = 10000000,
     .help = "of training; 0: the task's"},
    {.name = "samples",
     .type = PW_OPT_INT,
     .offset = AT(samples),
     .def = "256",
     .min = 1,
     .max = 100000,
     .help = "of each length"},
    {.name = "seed",
     .type = PW_OPT_INT,
     .offset = AT(seed),
     .def = "1",
     .min = 0,
     .max = 1000000000,
     .help = "of the first replicate and of the data"},
    {.name = NULL}};
#undef AT

static enum pw_code check(const void *opts_, struct pw_err *err)
{
    const struct options *o = opts_;
    if (o->group == PW_SUITE_ONE && o->task[0] == '\0')
        return pw_fail(err, PW_EUSER, "lengths: group=one wants a task=");
    return PW_OK;
}

/* judge lengths of one task, with what it was trained by. */
static void add_judge(const struct options *o, const char *task, struct pw_str *out)
{
    struct options one = *o;
    pw_text_copy(one.task, sizeof one.task, task);
    one.group = PW_SUITE_ONE;
    pw_str_add(out, "judge lengths");
    pw_opt_print(opts, &one, true, out);
    pw_str_add(out, "\n");
}

static void script(const void *opts_, struct pw_str *out)
{
    const struct options *o = opts_;
    struct pw_race_plan plan = {o->protocol, o->seeds, o->steps, o->samples, o->seed, o->pes, NULL, NULL};
    if (o->task[0] != '\0') {
        const struct pw_suite_task *t = pw_suite_find(o->task);
        pw_suite_script(&plan, t != NULL ? NULL : o->task, t, out);
        return; /* its judgement is the study's */
    }
    for (const struct pw_suite_task *t = pw_suite; t->name != NULL; t++)
        if (pw_suite_has(t, o->group)) {
            pw_suite_script(&plan, NULL, t, out);
            add_judge(o, t->name, out);
        }
}

/* ---- one task */

/* Which of the paper's encodings an arm has; -1: another. */
static int paper_pe(const struct pw_arm_view *a)
{
    for (int i = 0; i < PW_PAPER_PES; i++)
        if (strcmp(a->info.name, pw_paper_pe_names[i]) == 0)
            return i;
    return -1;
}

/* "t5 8/16": the encoding, with what tells two tables of T5 apart. */
static void short_name(char out[PW_FINDING_LABEL], const struct pw_arm_view *a)
{
    int buckets, distance;
    if (sscanf(a->info.pe, "t5 buckets=%d distance=%d", &buckets, &distance) == 2)
        snprintf(out, PW_FINDING_LABEL, "t5 %d/%d", buckets, distance);
    else
        pw_text_copy(out, PW_FINDING_LABEL, a->info.name);
}

struct result {
    int n;
    const struct pw_arm_view *arm[PW_MAX_ARMS];
    double ours[PW_PAPER_PES]; /* median beyond; NaN: none, or not learned */
};

static struct result collect(const struct pw_snapshot *s)
{
    struct result r = {.n = 0};
    r.n = pw_evaluated(s, r.arm);
    for (int i = 0; i < PW_PAPER_PES; i++)
        r.ours[i] = NAN;
    for (int i = 0; i < r.n; i++) {
        const struct pw_arm_view *a = r.arm[i];
        int pe = paper_pe(a);
        struct pw_spread in = pw_spread_mean(&s->lab, a, false), beyond = pw_spread_mean(&s->lab, a, true);
        if (pe >= 0 && isnan(r.ours[pe]) && in.n > 0 && (double)in.median >= PW_ORDER_IN_RANGE)
            r.ours[pe] = (double)beyond.median;
    }
    return r;
}

static void draw_lengths(struct pw_finding *f, const struct result *r)
{
    const struct pw_ev_eval *e = &r->arm[0]->rep[0].eval;
    int plot = pw_finding_plot(f, "exact match by length, median and range over seeds", "length",
                               "exact match", e->n, r->n, true);
    for (int k = 0; k < r->n; k++) {
        char name[PW_FINDING_LABEL];
        short_name(name, r->arm[k]);
        pw_finding_name(f, plot, k, "%s", name);
    }
    for (int i = 0; i < e->n; i++) {
        pw_finding_x(f, plot, i, e->rows[i].length);
        for (int k = 0; k < r->n; k++) {
            struct pw_spread x = pw_spread_at(r->arm[k], e->rows[i].task, e->rows[i].length);
            pw_finding_band(f, plot, i, k, (double)x.median, (double)x.lo, (double)x.hi);
        }
    }
}

static void tabulate(struct pw_finding *f, const struct pw_snapshot *s, const struct result *r,
                     const struct pw_suite_task *t)
{
    int seeds = r->arm[0]->info.replicates;
    int table = pw_finding_table(f, "mean exact match in per cent, over lengths", r->n, 3 + seeds);
    f->blocks[table].decimals = 1;
    pw_finding_col(f, table, 0, "in range");
    pw_finding_col(f, table, 1, "longer");
    pw_finding_col(f, table, 2, "paper");
    for (int k = 0; k < seeds; k++)
        pw_finding_col(f, table, 3 + k, "longer, seed %d", k + 1);
    for (int i = 0; i < r->n; i++) {
        const struct pw_arm_view *a = r->arm[i];
        int pe = paper_pe(a);
        char name[PW_FINDING_LABEL];
        short_name(name, a);
        pw_finding_row(f, table, i, "%s", name);
        pw_finding_put(f, table, i, 0, 100 * (double)pw_spread_mean(&s->lab, a, false).median);
        pw_finding_put(f, table, i, 1, 100 * (double)pw_spread_mean(&s->lab, a, true).median);
        if (pe >= 0 && t != NULL && t->beyond[pe] >= 0)
            pw_finding_put(f, table, i, 2, (double)t->beyond[pe]);
        for (int k = 0; k < seeds && k < a->info.replicates; k++)
            pw_finding_put(f, table, i, 3 + k,
                           100 * (double)pw_eval_mean(&s->lab, &a->rep[k].eval, -1, true));
    }
}

static void claim_order(struct pw_finding *f, const struct result *r, const struct pw_suite_task *t,
                        int protocol)
{
    struct pw_order order = {0};
    char claim[PW_FINDING_TEXT];
    if (t == NULL || t->from == NULL) {
        pw_finding_remark(f, "the paper's figures print no numbers for this task, so nothing is claimed");
        return;
    }
    pw_order_add(&order, r->ours, t->beyond);
    snprintf(claim, sizeof claim, "Kazemnejad et al. 2023, %s: the order of the encodings on %s", t->from,
             t->name);
    pw_finding_claim(f, pw_order_verdict(&order, protocol), claim,
                     "of %d pairs that the paper parts by 10 points or more %d are in its order, %d in the "
                     "opposite one, %d undecided",
                     order.pairs, order.alike, order.opposite, order.pairs - order.alike - order.opposite);
}

static enum pw_code judge_one(const struct options *o, const struct pw_snapshot *s, struct pw_finding *f,
                              struct pw_err *err)
{
    const struct pw_suite_task *t = pw_suite_find(o->task);
    struct result r = collect(s);
    if (r.n == 0)
        return pw_fail(err, PW_EUSER, "judge lengths: no arm was evaluated; 'reproduce lengths' does it all");
    pw_finding_init(f, "lengths", o->task,
                    "accuracy by length on %.80s: %d encodings, %d seeds, %d steps, %s", o->task, r.n,
                    r.arm[0]->info.replicates, (int)r.arm[0]->info.step, r.arm[0]->info.model);
    draw_lengths(f, &r);
    tabulate(f, s, &r, t);
    claim_order(f, &r, t, o->protocol);
    for (int i = 0; i < r.n; i++) {
        double in = (double)pw_spread_mean(&s->lab, r.arm[i], false).median;
        char name[PW_FINDING_LABEL];
        short_name(name, r.arm[i]);
        if (!(in >= PW_ORDER_IN_RANGE))
            pw_finding_remark(f, "%s has not learned the trained lengths (%.1f %%), so it decides nothing",
                              name, 100 * in);
    }
    pw_finding_remark(f, "trained on lengths %d to %d; the paper's shape of text, pewter's own vocabulary",
                      s->lab.tasks[0].train_lo, s->lab.tasks[0].train_hi);
    return PW_OK;
}

/* ---- all of them: the tasks' findings side by side */

static enum pw_code judge_all(const struct options *o, const struct pw_snapshot *s, struct pw_finding *f,
                              struct pw_err *err)
{
    int n = 0, row = 0;
    for (const struct pw_suite_task *t = pw_suite; t->name != NULL; t++)
        n += pw_suite_has(t, o->group) && pw_finding_of(s, "lengths", t->name) != NULL;
    if (n == 0)
        return pw_fail(err, PW_EUSER,
                       "judge lengths: no task of the group was measured; 'reproduce lengths' does it");
    pw_finding_init(f, "lengths", "", "accuracy beyond the trained lengths: %d tasks", n);
    int table = -1;
    for (const struct pw_suite_task *t = pw_suite; t->name != NULL; t++) {
        const struct pw_finding_view *v = pw_finding_of(s, "lengths", t->name);
        if (!pw_suite_has(t, o->group) || v == NULL)
            continue;
        const struct pw_block *b = &v->f.blocks[1]; /* tabulate's */
        if (table < 0) {
            table = pw_finding_table(f, "mean exact match on longer inputs, per cent, median of the seeds", n,
                                     b->rows);
            f->blocks[table].decimals = 1;
            for (int k = 0; k < b->rows; k++)
                pw_finding_col(f, table, k, "%s", pw_finding_row_name(&v->f, b, k));
        }
        pw_finding_row(f, table, row, "%s", t->name);
        for (int k = 0; k < b->rows && k < f->blocks[table].cols; k++)
            pw_finding_put(f, table, row, k, pw_finding_cell(&v->f, b, k, 1));
        for (int k = 0; k < v->f.n_claims; k++)
            pw_finding_claim(f, (enum pw_claim_verdict)v->f.claims[k].verdict, v->f.claims[k].claim, "%s",
                             v->f.claims[k].found);
        row++;
    }
    pw_finding_remark(f, "each task's curves are a finding of their own: lengths TASK");
    return PW_OK;
}

static enum pw_code judge(const void *opts_, const struct pw_snapshot *s, struct pw_finding *f,
                          struct pw_err *err)
{
    const struct options *o = opts_;
    return o->task[0] != '\0' ? judge_one(o, s, f, err) : judge_all(o, s, f, err);
}

const struct pw_study pw_study_lengths = {
    .name = "lengths",
    .document = "Kazemnejad et al. 2023, Figures 3, E.2-E.4",
    .summary = "accuracy by length for five encodings, on any task",
    .detail =
        "  reproduce lengths                      sort, copy rsc, copy cmc: minutes on two cores\n"
        "  reproduce lengths task=\"parity\"        one task\n"
        "  reproduce lengths group=primitive      eight tasks of Figure E.2; reasoning, classic: E.3, E.4\n"
        "  reproduce lengths protocol=paper task=\"copy rsc\"   the paper's model and data: for a GPU",
    .opts = opts,
    .opts_size = sizeof(struct options),
    .check = check,
    .script = script,
    .judge = judge,
    .finding = "lengths",
};
