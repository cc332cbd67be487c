/* report.c - the findings of a study. */
#include "study/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/stats.h"
#include "sessions/paired.h"

/* ---- values over seeds */

static double at_length(const struct pw_result *x, int length)
{
    for (int i = 0; i < x->n; i++)
        if (x->rows[i].length == length)
            return pw_result_is_loss(x) ? x->rows[i].loss
                                        : (double)x->rows[i].exact / (double)x->rows[i].samples;
    return NAN;
}

static double in_range(const struct pw_result *x, int trained)
{
    double mean = pw_result_mean(x, trained != 0);
    return pw_result_is_loss(x) ? -mean : mean;
}

/* Share of the samples beyond the trained lengths that end too early (0), too late (1), or have a wrong token
 * (2). */
static double errors(const struct pw_result *x, int kind)
{
    int64_t n = 0, samples = 0;
    for (int i = 0; i < x->n; i++) {
        const struct pw_result_row *row = &x->rows[i];
        if (row->trained)
            continue;
        samples += row->samples;
        n += kind == 0 ? row->early : kind == 1 ? row->late : row->wrong;
    }
    return samples > 0 && !pw_result_is_loss(x) ? (double)n / (double)samples : NAN;
}

/* The mean over the seeds, with its interval. measure: of one result. */
static struct pw_interval mean_of(const struct pw_results *r, int arm, int task,
                                  double (*measure)(const struct pw_result *x, int which), int which)
{
    double x[PW_STUDY_SEEDS];
    for (int k = 0; k < r->s->seeds_max; k++) {
        int i = pw_results_at(r, arm, task, k);
        x[k] = r->state[i] == PW_CELL_THERE ? measure(&r->results[i], which) : (double)NAN;
    }
    return pw_mean_interval(x, r->s->seeds_max);
}

/* Any result of a task; they have the same lengths and the same measure. NULL: there is none. */
static const struct pw_result *one_of(const struct pw_results *r, int task)
{
    for (int i = 0; i < r->n; i++)
        if (r->cells[i].task == task && r->state[i] == PW_CELL_THERE)
            return &r->results[i];
    return NULL;
}

static bool is_loss(const struct pw_results *r, int task)
{
    const struct pw_result *x = one_of(r, task);
    return x != NULL && pw_result_is_loss(x);
}

/* ---- blocks of a task */

static void add_curves(struct pw_finding *f, const struct pw_results *r, int task)
{
    const struct pw_result *one = one_of(r, task);
    int n_arms = r->s->n_arms;
    if (one == NULL)
        return;
    bool loss = pw_result_is_loss(one);
    int b = pw_finding_plot(f, "mean over seeds, with the 95 % interval of the mean", "length",
                            loss ? "nats per token" : "exact match", one->n, n_arms, true);
    for (int a = 0; a < n_arms; a++)
        pw_finding_name(f, b, a, "%d %s", a + 1, r->s->arms[a]);
    for (int i = 0; i < one->n; i++) {
        int length = one->rows[i].length;
        pw_finding_x(f, b, i, length);
        for (int a = 0; a < n_arms; a++) {
            struct pw_interval m = mean_of(r, a, task, at_length, length);
            double low = m.n > 1 ? m.lo : m.mean, high = m.n > 1 ? m.hi : m.mean;
            pw_finding_band(f, b, i, a, m.mean, loss ? low : fmax(low, 0.0), loss ? high : fmin(high, 1.0));
        }
    }
}

static void add_arms(struct pw_finding *f, const struct pw_results *r, int task)
{
    static const char *const heads[] = {"seeds", "in range", "beyond", "low",
                                        "high",  "early",    "late",   "wrong"};
    int n_heads = is_loss(r, task) ? 5 : 8;
    int b = pw_finding_table(f,
                             is_loss(r, task)
                                 ? "loss of each arm, nats per token: in range and beyond the trained lengths"
                                 : "exact match of each arm in range and beyond it, and errors beyond it",
                             r->s->n_arms, n_heads);
    snprintf(f->blocks[b].x, sizeof f->blocks[b].x, "arm");
    for (int k = 0; k < n_heads; k++)
        pw_finding_col(f, b, k, "%s", heads[k]);
    for (int a = 0; a < r->s->n_arms; a++) {
        struct pw_interval beyond = mean_of(r, a, task, in_range, 0);
        pw_finding_row(f, b, a, "%d %s", a + 1, r->s->arms[a]);
        pw_finding_put(f, b, a, 0, beyond.n);
        pw_finding_put(f, b, a, 1, mean_of(r, a, task, in_range, 1).mean);
        pw_finding_put(f, b, a, 2, beyond.mean);
        pw_finding_put(f, b, a, 3, beyond.lo);
        pw_finding_put(f, b, a, 4, beyond.hi);
        for (int k = 5; k < n_heads; k++)
            pw_finding_put(f, b, a, k, mean_of(r, a, task, errors, k - 5).mean);
    }
}

static void add_remark(struct pw_finding *f, const struct pw_study *s, const struct pw_judgement *j,
                       bool loss)
{
    const char *a = s->arms[j->a], *b = s->arms[j->b];
    char p[16];
    pw_p_text(p, j->decision.corrected);
    bool first = j->judged == PW_JUDGED_FIRST;
    double sign = first ? 1.0 : -1.0, low = first ? j->difference.lo : -j->difference.hi,
           high = first ? j->difference.hi : -j->difference.lo;
    switch (j->judged) {
    case PW_JUDGED_NO_DATA: pw_finding_remark(f, "%.60s, %.60s: no seed has both results", a, b); break;
    case PW_JUDGED_UNLEARNED:
        pw_finding_remark(f, "%.60s, %.60s: not comparable (in range below %.2f)", a, b, PW_STUDY_LEARNED);
        break;
    case PW_JUDGED_OPEN:
        pw_finding_remark(f, "%.60s, %.60s: no difference at this budget (%d seeds, corrected p %s)", a, b,
                          j->n, p);
        break;
    case PW_JUDGED_FIRST:
    case PW_JUDGED_SECOND:
        pw_finding_remark(
            f, "%.60s is better than %.60s: %.3f (95 %%: %.3f to %.3f)%s, %d seeds, corrected p %s",
            first ? a : b, first ? b : a, sign * j->difference.mean, low, high, loss ? " nats" : "", j->n, p);
        break;
    }
}

static void add_comparisons(struct pw_finding *f, const struct pw_results *r, int task)
{
    static const char *const heads[] = {"seeds", "difference", "low", "high", "effect", "p", "corrected"};
    const struct pw_study *s = r->s;
    if (s->n_ask == 0)
        return;
    struct pw_judgement *j = pw_alloc((size_t)s->n_ask, sizeof *j);
    pw_results_judge(r, task, s->seeds_max, j);
    int b =
        pw_finding_table(f,
                         is_loss(r, task) ? "comparisons of the loss beyond the trained lengths (positive: "
                                            "the first arm's is lower)"
                                          : "comparisons of exact match beyond the trained lengths",
                         s->n_ask, 7);
    snprintf(f->blocks[b].x, sizeof f->blocks[b].x, "arms");
    for (int k = 0; k < 7; k++)
        pw_finding_col(f, b, k, "%s", heads[k]);
    for (int i = 0; i < s->n_ask; i++) {
        const double cells[] = {j[i].n,
                                j[i].difference.mean,
                                j[i].difference.lo,
                                j[i].difference.hi,
                                j[i].effect,
                                j[i].n > 0 ? j[i].decision.p : NAN,
                                j[i].n > 0 ? j[i].decision.corrected : NAN};
        pw_finding_row(f, b, i, "%d %.8s - %d %.8s", j[i].a + 1, s->arms[j[i].a], j[i].b + 1,
                       s->arms[j[i].b]);
        for (int k = 0; k < 7; k++)
            pw_finding_put(f, b, i, k, cells[k]);
    }
    for (int i = 0; i < s->n_ask; i++)
        add_remark(f, s, &j[i], is_loss(r, task));
    free(j);
}

/* A map of all runs: progress, and the spread over seeds. Empty: missing. */
static void add_runs(struct pw_finding *f, const struct pw_results *r, int task)
{
    int n_arms = r->s->n_arms, seeds = r->s->seeds_max;
    bool loss = is_loss(r, task);
    int b = pw_finding_map(f,
                           loss ? "loss of each run beyond the trained lengths"
                                : "exact match of each run beyond the trained lengths",
                           n_arms, seeds, 0.0f, loss ? 0.0f : 1.0f, true);
    snprintf(f->blocks[b].x, sizeof f->blocks[b].x, "seed");
    snprintf(f->blocks[b].y, sizeof f->blocks[b].y, "arm");
    for (int k = 0; k < seeds; k++)
        pw_finding_col(f, b, k, "%d", r->s->first + k);
    for (int a = 0; a < n_arms; a++) {
        pw_finding_row(f, b, a, "%d %s", a + 1, r->s->arms[a]);
        for (int k = 0; k < seeds; k++) {
            int i = pw_results_at(r, a, task, k);
            if (r->state[i] == PW_CELL_THERE)
                pw_finding_put(f, b, a, k, in_range(&r->results[i], 0));
        }
    }
}

void pw_study_finding(struct pw_finding *f, const struct pw_results *r, const char *name, int task)
{
    int there = 0, wanted = 0;
    for (int i = 0; i < r->n; i++)
        if (r->cells[i].task == task) {
            wanted++;
            there += r->state[i] == PW_CELL_THERE;
        }
    pw_finding_init(f, name, r->s->tasks.items[task],
                    "%.100s: %d arms, seeds from %d on, %d of at most %d runs", r->s->tasks.items[task],
                    r->s->n_arms, r->s->first, there, wanted);
    add_curves(f, r, task);
    add_arms(f, r, task);
    add_comparisons(f, r, task);
    add_runs(f, r, task);
}

/* ---- ranks over tasks */

/* Returns false if there is nothing to rank. */
static bool make_ranks(struct pw_finding *f, const struct pw_results *r, const char *name)
{
    int n_arms = r->s->n_arms, rows = r->s->tasks.n * r->s->seeds_max;
    double mean[PW_STUDY_ARMS], *x = pw_alloc((size_t)rows * (size_t)n_arms, sizeof *x);
    for (int row = 0; row < rows; row++)
        for (int a = 0; a < n_arms; a++) {
            int i = pw_results_at(r, a, row / r->s->seeds_max, row % r->s->seeds_max);
            x[row * n_arms + a] = r->state[i] == PW_CELL_THERE ? pw_result_mean(&r->results[i], false) : NAN;
        }
    int counted = pw_mean_reciprocal_ranks(mean, x, rows, n_arms);
    free(x);
    if (counted == 0 || r->s->tasks.n < 2)
        return false;
    pw_finding_init(f, name, "ranks", "mean reciprocal rank over %d pairs of task and seed", counted);
    int b = pw_finding_table(
        f, "by the mean beyond the trained lengths; equal arms share the mean of their ranks", n_arms, 1);
    pw_finding_col(f, b, 0, "mean 1/rank");
    for (int a = 0; a < n_arms; a++) {
        pw_finding_row(f, b, a, "%d %s", a + 1, r->s->arms[a]);
        pw_finding_put(f, b, a, 0, mean[a]);
    }
    return true;
}

void pw_study_report_init(struct pw_study_report *x, const struct pw_results *r, const char *name,
                          const char *text)
{
    int tasks = r->s->tasks.n;
    *x = (struct pw_study_report){.results = r, .name = name, .text = text, .n = tasks};
    x->findings = pw_alloc((size_t)tasks + 1, sizeof *x->findings);
    for (int task = 0; task < tasks; task++)
        pw_study_finding(&x->findings[task], r, name, task);
    x->n += make_ranks(&x->findings[tasks], r, name);
}

void pw_study_report_fini(struct pw_study_report *x)
{
    for (int i = 0; i < x->n; i++)
        pw_finding_fini(&x->findings[i]);
    free(x->findings);
    *x = (struct pw_study_report){0};
}
