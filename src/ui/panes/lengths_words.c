/* lengths_words.c - length generalisation as text: every page of the pane as tables. They list all arms if
 * the page does, otherwise the current arm. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "sessions/paired.h"
#include "ui/panes/lengths.h"
#include "ui/report.h"

/* The values at a length that all arms share. */
struct remarks {
    float chance, share; /* the largest; NaN: unknown */
    bool seen;
};

static struct remarks remarks_at(const struct pw_ui *ui, const struct pw_lengths *v, int length)
{
    struct remarks k = {0, NAN, false};
    int nth = length - v->range->train_lo;

    for (int a = 1; a <= PW_MAX_ARMS; a++) {
        const struct pw_arm_view *arm = pw_find_arm(ui->snap, a);
        const struct pw_eval_row *row = arm != NULL ? pw_eval_find(&arm->rep[0].eval, v->task, length) : NULL;
        k.chance = row != NULL && row->chance > k.chance ? row->chance : k.chance;
        k.seen = k.seen || (row != NULL && row->seen);
    }
    if (nth >= 0 && nth < v->range->n_share)
        k.share = v->range->share[nth];
    return k;
}

/* Appends exact match with its interval: "0.981 (0.95..0.99)". */
static void add_match(struct pw_str *out, struct pw_match m, bool interval)
{
    pw_str_add(out, "\t");
    if (m.n > 0)
        pw_str_add(out, "%.3f", m.median);
    if (m.n > 0 && interval)
        pw_str_add(out, " (%.2f..%.2f)", m.lo, m.hi);
}

/* Prints one row per length, one column per arm. */
static void tell_table(FILE *out, const struct pw_ui *ui, const struct pw_lengths *v)
{
    struct pw_str text = {0};
    int many = 0, own = 0;

    pw_str_add(&text, "length");
    for (int a = 1; a <= PW_MAX_ARMS; a++) {
        const struct pw_arm_view *arm = pw_find_arm(ui->snap, a);
        if (arm == NULL)
            continue;
        pw_str_add(&text, "\t%d ", a);
        pw_encoding_name(&text, arm->info.pe);
        many += arm->info.replicas > 1;
        own += arm->info.own_batches;
    }
    pw_str_add(&text, "\tchance\tshare of training\tremarks");
    if (v->lengths[v->n - 1] > v->range->train_hi) {
        pw_str_add(&text, "\n>%d", v->range->train_hi);
        for (int a = 1; a <= PW_MAX_ARMS; a++) {
            const struct pw_arm_view *arm = pw_find_arm(ui->snap, a);
            if (arm == NULL)
                continue;
            struct pw_match mean = pw_lengths_mean(&ui->snap->lab, arm, v->task, true);
            add_match(&text, mean, mean.n > 1);
        }
        pw_str_add(&text, "\t\t\tmean beyond training");
    }
    for (int i = 0; i < v->n; i++) {
        struct remarks k = remarks_at(ui, v, v->lengths[i]);
        pw_str_add(&text, "\n%d", v->lengths[i]);
        for (int a = 1; a <= PW_MAX_ARMS; a++)
            if (pw_find_arm(ui->snap, a) != NULL)
                add_match(&text, pw_lengths_match(pw_find_arm(ui->snap, a), v->task, v->lengths[i]), true);
        pw_str_add(&text, "\t%.3f\t", (double)k.chance);
        if (isfinite(k.share))
            pw_str_add(&text, "%.3f", (double)k.share);
        pw_str_add(&text, "\t%s%s", pw_lengths_trained(v, v->lengths[i]) ? "trained" : "beyond training",
                   k.seen ? ", inputs seen in training" : "");
    }
    struct pw_str samples = {0};
    pw_lengths_samples(&samples, ui->snap, v->task);
    fprintf(out, "%s: %s by length, trained %d to %d, %s (in brackets %s)\n", v->range->name,
            v->judged ? "right answers" : "exact match", v->range->train_lo, v->range->train_hi,
            pw_str_text(&samples),
            many == 0 ? "95 %, samples only"
            : own > 0 ? "minimum and maximum over seeds, own batches; before them the median"
                      : "minimum and maximum over seeds; before them the median");
    pw_report_columns(out, text.s);
    pw_str_fini(&samples);
    pw_str_fini(&text);
}

/* Returns the suffix of a column's name if its values combine several replicas. */
static const char *median(const struct pw_arm_view *a)
{
    return a->info.replicas > 1 ? ", median of the seeds" : "";
}

/* Prints the effect of switched heads: exact match before and now. */
static void tell_before(FILE *out, const struct pw_arm_view *a, const struct pw_lengths *v)
{
    struct pw_str text = {0};

    pw_str_add(&text, "length\t%s%s\tnow", pw_lengths_before_name(a), median(a));
    for (int i = 0; i < v->n; i++) {
        struct pw_spread now = pw_spread_at(a, v->task, v->lengths[i]);
        pw_str_add(&text, "\n%d\t%.3f\t%.3f", v->lengths[i],
                   (double)pw_lengths_before(a, v->task, v->lengths[i]), (double)now.median);
    }
    pw_report_columns(out, text.s);
    pw_str_fini(&text);
}

/* For decoded answers: prints the teacher-forced results on the same samples. */
static void tell_taught(FILE *out, const struct pw_arm_view *a, const struct pw_lengths *v)
{
    struct pw_str text = {0};

    pw_str_add(&text, "length\tdecoded, right%s\tteacher-forced, every token right", median(a));
    for (int i = 0; i < v->n; i++) {
        struct pw_spread right = pw_spread_at(a, v->task, v->lengths[i]);
        struct pw_spread taught = pw_spread_by(a, v->task, v->lengths[i], pw_eval_taught);
        if (right.n > 0)
            pw_str_add(&text, "\n%d\t%.3f\t%.3f", v->lengths[i], (double)right.median, (double)taught.median);
    }
    pw_report_columns(out, text.s);
    pw_str_fini(&text);
}

/* Prints the other results of an arm, besides exact match by length. */
static void tell_arm(FILE *out, const struct pw_ui *ui, const struct pw_arm_view *a,
                     const struct pw_lengths *v)
{
    struct pw_str name = {0};
    char off[PW_LINE];

    if (a->rep[0].eval.n == 0)
        return;
    pw_arm_heads_text(off, sizeof off, a);
    pw_arm_name(a, &name);
    fprintf(out, "arm %s, evaluated at step %lld%s%s\n", name.s, (long long)a->rep[0].eval_step,
            off[0] ? ", heads off: " : "", off);
    pw_str_fini(&name);
    if (pw_eval_judge(&a->rep[0].eval, v->task) == PW_JUDGE_DECODED)
        tell_taught(out, a, v);
    if (pw_eval_judge(&a->rep[0].eval, v->task) == PW_JUDGE_TAUGHT)
        fputs("  teacher-forced during training; 'eval' decodes the answers and judges them\n", out);
    if (!pw_lengths_learned(&ui->snap->lab, a, v->task))
        fputs("  below 0.99 on trained lengths, so longer ones show a lack of training, too\n", out);
    pw_report_errors(out, a);
    if (pw_arm_heads_changed(a))
        fputs("  heads changed since this evaluation; run 'eval' again\n", out);
    else if (pw_lengths_has_before(a))
        tell_before(out, a, v);
}

/* Prints a table that a page copies; nothing if it has no rows. */
static void tell_copied(FILE *out, const char *title, const struct pw_ui *ui, const struct pw_lengths *v,
                        void (*copy)(const struct pw_ui *, const struct pw_lengths *, struct pw_str *))
{
    struct pw_str text = {0};

    copy(ui, v, &text);
    const char *first = strchr(pw_str_text(&text), '\n');
    if (first != NULL && first[1]) {
        fprintf(out, "%s:\n", title);
        pw_report_columns(out, text.s);
    }
    pw_str_fini(&text);
}

/* Prints which arm is best beyond the trained lengths, or why none is named. */
static void tell_verdict(FILE *out, const struct pw_ui *ui, const struct pw_lengths *v)
{
    struct pw_paired x;
    struct pw_str verdict = {0};

    pw_paired_find(&x, ui->snap, ~0u, v->task, v->range->train_hi + 1, INT_MAX);
    if (x.n > 0) {
        pw_paired_verdict(&x, ui->snap, &verdict);
        fprintf(out, "longer than trained, arms compared on the same samples: %s\n", pw_str_text(&verdict));
        tell_copied(out, "p over training runs, exact, corrected by Holm", ui, v, pw_lengths_copy_tests);
    }
    pw_str_fini(&verdict);
}

static void tell_task(FILE *out, const struct pw_ui *ui, const struct pw_lengths *v)
{
    char title[160], of[48] = "";

    if (v->n == 0) {
        fprintf(out, "%s: nothing evaluated yet; run 'eval' first\n", v->range->name);
        return;
    }
    if (v->runs) {
        struct pw_str samples = {0};
        pw_lengths_samples(&samples, ui->snap, v->task);
        struct pw_str range = {0};
        pw_lengths_range_text(&range, ui->snap, v->task, " to ");
        fprintf(out, "%s: loss in nats per token by context length, %s, %s\n", v->range->name, range.s,
                pw_str_text(&samples));
        pw_str_fini(&range);
        pw_str_fini(&samples);
        tell_copied(out, "by context length", ui, v, pw_lengths_copy_loss);
        tell_verdict(out, ui, v);
        struct pw_str places = {0};
        pw_lengths_add_places(ui, v, 16, &places);
        fputs("by position in the longest context:\n", out);
        pw_report_columns(out, places.s);
        pw_str_fini(&places);
        return;
    }
    tell_table(out, ui, v);
    for (int a = 1; a <= PW_MAX_ARMS; a++)
        if (pw_find_arm(ui->snap, a) != NULL)
            tell_arm(out, ui, pw_find_arm(ui->snap, a), v);
    tell_verdict(out, ui, v);
    const struct pw_arm_view *a = pw_find_arm(ui->snap, ui->snap->current);
    if (a != NULL && a->info.replicas > 1)
        snprintf(of, sizeof of, ", %d seeds together%s", a->info.replicas, pw_batches_text(&a->info));
    snprintf(title, sizeof title, "first errors in the answers of arm %d%s", ui->snap->current, of);
    tell_copied(out, title, ui, v, pw_lengths_copy_errors);
    snprintf(title, sizeof title, "exact match of arm %d%s, across: %s", ui->snap->current, of,
             v->range->axis[0]);
    tell_copied(out, title, ui, v, pw_lengths_copy_grid);
}

void pw_lengths_words(FILE *out, const struct pw_ui *ui)
{
    const struct pw_snapshot *s = ui->snap;

    for (int t = 0; t < s->lab.n_tasks; t++) {
        struct pw_lengths v;
        pw_lengths_of(&v, s, t);
        tell_task(out, ui, &v);
    }
    if (s->failing.samples > 0 && pw_find_arm(s, s->failing_arm) != NULL)
        pw_report_failing(out, &s->failing, s->failing_arm, s->failing_replica, s->failing_step, s);
}
