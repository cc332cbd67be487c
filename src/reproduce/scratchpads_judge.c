/* scratchpads_judge.c - the verdict on the races of all formats: each format compared with none.
 *
 * A claim about the best of seven formats must be corrected for the selection. So each format of each
 * encoding is compared with none over the seeds, all these tests are corrected together, and all differences
 * are listed. An encoding that did not learn the trained lengths, without or with the format, is not
 * compared; its test still counts in the correction. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "reproduce/contrast.h"
#include "reproduce/repro.h"
#include "reproduce/scratchpads.h"

/* Fixed before these numbers were measured. */
#define HELPS 5.0 /* points: a format helps if it is significantly better, and by this much on the mean */

enum { FORMATS = PW_PAD_FORMATS, PES = PW_PAPER_PES };

static void read_format(struct pw_pads *d, const struct pw_finding *f, int format)
{
    const struct pw_block *b = &f->blocks[0];
    for (int row = 0; row < b->rows; row++)
        for (int i = 0; i < PES; i++) {
            if (strcmp(pw_finding_row_name(f, b, row), pw_paper_pe_names[i]) != 0 ||
                !isnan(d->in_range[i][format]))
                continue;
            d->in_range[i][format] = pw_finding_cell(f, b, row, 0);
            for (int r = 0; PW_RIGHT_SEEDS + r < b->cols && r < PW_MAX_REPLICAS; r++) {
                d->right[i][format][r] = pw_finding_cell(f, b, row, PW_RIGHT_SEEDS + r);
                d->runs = r + 1 > d->runs ? r + 1 : d->runs;
            }
        }
}

static bool collect(struct pw_pads *d, const struct pw_snapshot *s, const struct pw_pad_task *t)
{
    d->n_measured = d->runs = 0;
    for (int k = 0; k < FORMATS; k++) {
        char topic[PW_FINDING_TOPIC];
        for (int i = 0; i < PES; i++) {
            d->in_range[i][k] = NAN;
            for (int r = 0; r < PW_MAX_REPLICAS; r++)
                d->right[i][k][r] = NAN;
        }
        pw_pad_topic(topic, t, k);
        const struct pw_finding_view *v = pw_finding_of(s, "scratchpads", topic);
        d->n_measured += v != NULL;
        if (v != NULL)
            read_format(d, &v->f, k);
    }
    return d->n_measured > 0;
}

/* ---- the numbers */

static void tabulate(struct pw_finding *f, const struct pw_pad_task *t, const struct pw_pads *d,
                     bool in_range)
{
    char title[PW_FINDING_TEXT];
    snprintf(title, sizeof title,
             in_range ? "%s: in range, per cent, medians" : "%s: longer inputs, per cent, means", t->name);
    int table = pw_finding_table(f, title, PES, FORMATS);
    f->blocks[table].decimals = 1;
    for (int k = 0; k < FORMATS; k++)
        pw_finding_col(f, table, k, "%s", pw_pad_formats[k]);
    for (int i = 0; i < PES; i++) {
        pw_finding_row(f, table, i, "%s", pw_paper_pe_names[i]);
        for (int k = 0; k < FORMATS; k++)
            pw_finding_put(f, table, i, k,
                           in_range ? d->in_range[i][k]
                                    : pw_mean_interval(d->right[i][k], PW_MAX_REPLICAS).mean);
    }
}

/* ---- each format compared with none */

struct against_none {
    int n, needed; /* number of tests; number of runs from which one of them can be significant */
    struct {
        int pe, format;
    } of[PES * FORMATS];
    struct pw_run_contrast c[PES * FORMATS];
};

static void compare_with_none(struct against_none *a, const struct pw_pads *d)
{
    a->n = 0;
    for (int i = 0; i < PES; i++)
        for (int k = 1; k < FORMATS; k++)
            if (pw_pads_measured(d, i, 0) && pw_pads_measured(d, i, k)) {
                a->of[a->n].pe = i;
                a->of[a->n].format = k;
                pw_pads_compare(&a->c[a->n++], d, i, k, 0);
            }
    pw_contrast_correct(a->c, a->n);
    a->needed = pw_contrast_runs(a->n);
}

static void list_differences(struct pw_finding *f, const struct pw_pad_task *t, const struct against_none *a)
{
    enum { PAPER = PW_CONTRAST_COLUMNS, COLUMNS };
    char title[PW_FINDING_TEXT];
    snprintf(title, sizeof title,
             "%s: each format minus no scratchpad, 95 %% interval, exact test with Holm's correction",
             t->name);
    int table = pw_finding_table(f, title, a->n, COLUMNS);
    pw_contrast_name_columns(f, table);
    pw_finding_col(f, table, PAPER, "paper");
    for (int i = 0; i < a->n; i++) {
        const float *theirs = t->right[a->of[i].pe];
        int format = a->of[i].format;
        pw_finding_row(f, table, i, "%s %s", pw_paper_pe_names[a->of[i].pe], pw_pad_formats[format]);
        pw_contrast_put(f, table, i, &a->c[i]);
        pw_finding_put(f, table, i, PAPER, theirs[format] < 0 ? NAN : (double)(theirs[format] - theirs[0]));
    }
}

/* Number of encodings: all, significantly helped by a format, and helped by no measured format. */
struct helped {
    int n, helped, unhelped;
};

static struct helped count_helped(const struct against_none *a)
{
    struct helped h = {0, 0, 0};
    for (int i = 0; i < PES; i++) {
        bool any = false, some = false, none = true;
        for (int k = 0; k < a->n; k++)
            if (a->of[k].pe == i) {
                any = true;
                some = some || (pw_contrast_sign(&a->c[k]) > 0 && a->c[k].difference.mean >= HELPS);
                none = none && a->c[k].difference.n >= PW_CONTRAST_RUNS && a->c[k].difference.hi < HELPS;
            }
        h.n += any;
        h.helped += any && some;
        h.unhelped += any && none;
    }
    return h;
}

static void claim_help(struct pw_finding *f, const struct pw_pad_task *t, const struct against_none *a,
                       int runs, int protocol)
{
    struct helped h = count_helped(a);
    char claim[PW_FINDING_TEXT];
    bool addition = strcmp(t->name, "addition") == 0;
    int better = 0, worse = 0, unknown = 0;
    for (int i = 0; i < a->n; i++) {
        better += pw_contrast_sign(&a->c[i]) > 0;
        worse += pw_contrast_sign(&a->c[i]) < 0;
        unknown += a->c[i].difference.n == 0;
    }
    int as_paper = addition ? h.helped : h.unhelped, opposite = addition ? h.unhelped : h.helped;
    snprintf(claim, sizeof claim, "Kazemnejad et al. 2023, section 6: a scratchpad %s %s",
             addition ? "helps on" : "doesn't help on", t->name);
    pw_finding_claim(
        f, pw_contrast_verdict(protocol, runs, a->needed, 2 * opposite > h.n, 2 * as_paper > h.n), claim,
        "%d replica%s (a claim needs %d); of %d pairs of format and encoding, %d are better than no "
        "scratchpad, %d worse (corrected p < %g), %d not learned in range; a format helps %d of %d "
        "encodings; for %d, every format gives less than %g points",
        runs, runs == 1 ? "" : "s", a->needed, a->n, better, worse, PW_CONTRAST_LEVEL, unknown, h.helped, h.n,
        h.unhelped, HELPS);
}

static void claim_figure(struct pw_finding *f, const struct pw_pad_task *t, const struct against_none *a,
                         int runs, int protocol)
{
    char claim[PW_FINDING_TEXT];
    int pairs = 0, alike = 0, opposite = 0;
    for (int i = 0; i < a->n; i++) {
        const float *theirs = t->right[a->of[i].pe];
        float with = theirs[a->of[i].format];
        if (with < 0 || fabsf(with - theirs[0]) < (float)(100 * PW_ORDER_PAPER))
            continue;
        int sign = pw_contrast_sign(&a->c[i]), paper = with > theirs[0] ? 1 : -1;
        pairs++;
        alike += sign == paper;
        opposite += sign == -paper;
    }
    snprintf(claim, sizeof claim, "Kazemnejad et al. 2023, %s: scratchpad formats compared with none",
             t->figure);
    pw_finding_claim(f,
                     pw_contrast_verdict(protocol, runs, a->needed, opposite > alike,
                                         pairs > 0 && opposite == 0 && 4 * alike >= 3 * pairs),
                     claim,
                     "%d replica%s (a claim needs %d); of %d pairs that differ by %g points or more in the "
                     "paper, %d are in its order (corrected p < %g), %d in the opposite order, %d undecided",
                     runs, runs == 1 ? "" : "s", a->needed, pairs, 100 * PW_ORDER_PAPER, alike,
                     PW_CONTRAST_LEVEL, opposite, pairs - alike - opposite);
}

/* Fails unless all races were made with o's options. */
static enum pw_code check_races(const struct pw_scratchpads *o, const struct pw_snapshot *s,
                                struct pw_err *err)
{
    enum pw_code code = PW_OK;
    for (int i = 0; i < PW_PAD_TASKS * FORMATS && code == PW_OK; i++) {
        struct pw_scratchpads one = *o;
        char topic[PW_FINDING_TOPIC];
        one.task = i / FORMATS;
        pw_pad_topic(topic, &pw_pad_tasks[one.task], i % FORMATS);
        const struct pw_finding_view *v = pw_finding_of(s, "scratchpads", topic);
        if (v != NULL && (o->task == one.task || o->task == PW_PAD_TASKS))
            code = pw_finding_made_so(&v->f, "scratchpads", &one, err);
    }
    return code;
}

enum pw_code pw_scratchpads_judge(const struct pw_scratchpads *o, const struct pw_snapshot *s,
                                  struct pw_finding *f, struct pw_err *err)
{
    struct pw_pads d, sum;
    struct against_none *a = NULL;
    int tasks = 0, size = pw_protocol_size(o->protocol, o->steps);
    enum pw_code code = check_races(o, s, err);
    if (code != PW_OK)
        return code;
    for (int t = 0; t < PW_PAD_TASKS; t++) {
        if ((o->task != t && o->task != PW_PAD_TASKS) || !collect(&d, s, &pw_pad_tasks[t]))
            continue;
        if (tasks == 0) {
            a = pw_alloc(1, sizeof *a);
            pw_finding_init(f, "scratchpads", o->task < PW_PAD_TASKS ? pw_pad_tasks[o->task].name : "all",
                            "scratchpad formats by encoding: %s, %d replica%s",
                            o->task < PW_PAD_TASKS ? pw_pad_tasks[o->task].name : "all", d.runs,
                            d.runs == 1 ? "" : "s");
        }
        pw_pads_add(&sum, &d, tasks++ == 0);
        tabulate(f, &pw_pad_tasks[t], &d, false);
        tabulate(f, &pw_pad_tasks[t], &d, true);
        compare_with_none(a, &d);
        if (a->n == 0)
            continue;
        list_differences(f, &pw_pad_tasks[t], a);
        claim_help(f, &pw_pad_tasks[t], a, d.runs, size);
        claim_figure(f, &pw_pad_tasks[t], a, d.runs, size);
    }
    free(a);
    if (tasks == 0)
        return pw_fail(err, PW_EUSER,
                       "judge scratchpads: nothing has been measured: run 'reproduce scratchpads'");
    pw_pads_claim_best(f, &sum, tasks, size);
    pw_finding_remark(f, "the numbers are measured %s",
                      pw_checkpoint_text(pw_checkpoint_points(o->checkpoint, o->protocol)));
    pw_finding_remark(
        f, "an encoding with less than %g %% in range in one of two formats is left out of their comparison",
        100 * PW_ORDER_IN_RANGE);
    pw_finding_remark(
        f, "the replicas of an encoding differ in their initial weights and train on the same batches");
    pw_finding_remark(f, "all differences are listed; choosing the largest one is valid, because p is "
                         "corrected for their number (Holm)");
    return PW_OK;
}
