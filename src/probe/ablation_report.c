/* ablation_report.c - builds the finding of the probe ablation: per arm the loss by head with its spread over
 * replicas, a map by head and length, and a table for each replica. */
#include <math.h>
#include <stdio.h>

#include "probe/ablation.h"

/* Row 0: exact match of the whole model at a length, in per cent. Row 1 + h: percentage points lost without
 * head h. */
static double value_at(const struct pw_ablation_state *s, int i, int row, int l)
{
    const int64_t *done = s->of[i].done;
    double all = 100.0 * (double)done[l] / s->samples[l];
    return row == 0 ? all : all - 100.0 * (double)done[row * s->n + l] / s->samples[l];
}

enum over { IN_RANGE, LONGER, ALL_LENGTHS };

/* The mean of value_at over lengths; NaN: no length qualifies. */
static double mean_over(const struct pw_probing_at *p, int i, int row, enum over over)
{
    const struct pw_ablation_state *s = p->state;
    double sum = 0;
    int n = 0;
    for (int l = 0; l < s->n; l++) {
        bool trained = s->length[l] >= p->in->lengths.lo && s->length[l] <= p->in->lengths.hi;
        if (over == ALL_LENGTHS || (over == IN_RANGE) == trained) {
            sum += value_at(s, i, row, l);
            n++;
        }
    }
    return n > 0 ? sum / n : NAN;
}

/* Names the rows of table b: the whole model, then its heads. */
static void name_rows(struct pw_finding *f, int b, const struct pw_model *m)
{
    const struct pw_config *c = pw_model_config(m);
    pw_finding_row(f, b, 0, "exact match, %%");
    for (int h = 0; h < c->layers * c->heads; h++)
        pw_finding_row(f, b, 1 + h, "head %d.%d", h / c->heads, h % c->heads);
}

/* Adds the table of subject i. `first` is the first subject of its arm. */
static void add_seed(struct pw_probing_at *p, struct pw_finding *f, int first, int i)
{
    const struct pw_ablation_state *s = p->state;
    const struct pw_probe_subject *x = &p->in->subject[i];
    char title[PW_FINDING_TEXT];
    snprintf(title, sizeof title, "arm %.64s, seed %llu: percentage points lost by head and length",
             p->in->subject[first].name, (unsigned long long)x->seed);
    int b = pw_finding_table(f, title, 1 + s->of[i].heads, s->n);
    f->blocks[b].decimals = 1;
    name_rows(f, b, x->model);
    for (int l = 0; l < s->n; l++) {
        pw_finding_col(f, b, l, "%d", s->length[l]);
        for (int row = 0; row <= s->of[i].heads; row++)
            pw_finding_put(f, b, row, l, value_at(s, i, row, l));
    }
}

/* Adds the table of mean, minimum and maximum over the n replicas from subject `first` on. */
static void add_spread(struct pw_probing_at *p, struct pw_finding *f, int first, int n)
{
    static const char *const names[] = {"in range", "longer"};
    const struct pw_ablation_state *s = p->state;
    const struct pw_probe_subject *x = &p->in->subject[first];
    int each = n > 1 ? 3 : 1;
    char title[PW_FINDING_TEXT];
    snprintf(title, sizeof title,
             n > 1 ? "arm %.64s: percentage points lost by head; mean, least and most over %d replicas"
                   : "arm %.64s: percentage points lost by head",
             x->name, n);
    int b = pw_finding_table(f, title, 1 + s->of[first].heads, 2 * each);
    f->blocks[b].decimals = 1;
    name_rows(f, b, x->model);
    for (int over = 0; over < 2; over++) {
        pw_finding_col(f, b, over * each, "%s", names[over]);
        for (int k = 1; k < each; k++)
            pw_finding_col(f, b, over * each + k, k == 1 ? "least" : "most");
        for (int row = 0; row <= s->of[first].heads; row++) {
            double sum = 0, least = INFINITY, most = -INFINITY;
            for (int r = 0; r < n; r++) {
                double v = mean_over(p, first + r, row, (enum over)over);
                sum += v;
                least = v < least ? v : least;
                most = v > most ? v : most;
            }
            pw_finding_put(f, b, row, over * each, sum / n);
            if (n > 1 && isfinite(sum)) {
                pw_finding_put(f, b, row, over * each + 1, least);
                pw_finding_put(f, b, row, over * each + 2, most);
            }
        }
    }
}

static void add_map(struct pw_probing_at *p, struct pw_finding *f, int first, int n)
{
    const struct pw_ablation_state *s = p->state;
    const struct pw_probe_subject *x = &p->in->subject[first];
    const struct pw_config *c = pw_model_config(x->model);
    char title[PW_FINDING_TEXT];
    snprintf(title, sizeof title,
             "arm %.64s: percentage points lost by head and length, mean over %d replica%s", x->name, n,
             n > 1 ? "s" : "");
    int b = pw_finding_map(f, title, s->of[first].heads, s->n, -100, 100, true);
    for (int h = 0; h < s->of[first].heads; h++) {
        pw_finding_row(f, b, h, "%d.%d", h / c->heads, h % c->heads);
        for (int l = 0; l < s->n; l++) {
            double sum = 0;
            for (int r = 0; r < n; r++)
                sum += value_at(s, first + r, 1 + h, l);
            pw_finding_col(f, b, l, "%d", s->length[l]);
            pw_finding_put(f, b, h, l, sum / n);
        }
    }
}

/* Adds a table with the costliest head of each replica, by the mean over all lengths. Ties go to the first
 * head. */
static void add_costliest(struct pw_probing_at *p, struct pw_finding *f, int first, int n)
{
    static const char *const names[] = {"in range", "longer", "all lengths"};
    const struct pw_ablation_state *s = p->state;
    int H = pw_model_config(p->in->subject[first].model)->heads;
    char title[PW_FINDING_TEXT];
    snprintf(title, sizeof title, "arm %.64s: costliest head of each replica, percentage points lost",
             p->in->subject[first].name);
    int b = pw_finding_table(f, title, n, 3);
    f->blocks[b].decimals = 1;
    for (int over = 0; over < 3; over++)
        pw_finding_col(f, b, over, "%s", names[over]);
    for (int r = 0; r < n; r++) {
        int best = 1;
        for (int row = 2; row <= s->of[first].heads; row++)
            if (mean_over(p, first + r, row, ALL_LENGTHS) > mean_over(p, first + r, best, ALL_LENGTHS))
                best = row;
        pw_finding_row(f, b, r, "seed %llu: %d.%d", (unsigned long long)p->in->subject[first + r].seed,
                       (best - 1) / H, (best - 1) % H);
        for (int over = 0; over < 3; over++)
            pw_finding_put(f, b, r, over, mean_over(p, first + r, best, (enum over)over));
    }
}

void pw_ablation_report(struct pw_probing_at *p, struct pw_finding *f)
{
    const struct pw_probe_in *in = p->in;
    const struct pw_ablation_options *o = p->opts;
    pw_finding_init(f, "ablation", in->topic,
                    "loss of exact match if one head outputs zeros, percentage points, %d samples per length",
                    o->samples);
    for (int i = 0, n; i < in->n; i += n) {
        for (n = 1; i + n < in->n && in->subject[i + n].arm == in->subject[i].arm;)
            n++;
        add_spread(p, f, i, n);
        add_map(p, f, i, n);
        if (n > 1)
            add_costliest(p, f, i, n);
        for (int r = 0; r < n; r++)
            add_seed(p, f, i, i + r);
    }
    pw_finding_remark(f, "exact match is teacher-forced, on the samples of `eval`; heads with the same "
                         "number are unrelated across replicas");
}
