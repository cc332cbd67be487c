/* curves_words.c - training as text: the history of each arm's encoding, and tables of all metrics at some
 * steps, including the first and the last. */
#include <math.h>

#include "ui/panes/curves.h"
#include "ui/report.h"

enum { MOST_MOMENTS = 10 };

static struct pw_spread spread_at(const struct pw_arm_view *a, enum pw_metric metric, int64_t step)
{
    struct pw_curve k = {.n = a->info.replicas};

    for (int r = 0; r < k.n; r++)
        k.rep[r] = (struct pw_points){
            .x = a->rep[r].series.step, .y = a->rep[r].series.v[metric], .n = a->rep[r].series.n};
    return pw_curves_at(&k, step);
}

/* Is the arm's latest evaluation of running text? */
static bool runs(const struct pw_arm_view *a)
{
    const struct pw_track *t = &a->rep[0].track;

    return !isnan(t->held[t->n - 1]);
}

/* The value of the evaluations, exact match or the held-out loss. */
static struct pw_spread evaluated_at(const struct pw_arm_view *a, bool beyond, int64_t step)
{
    struct pw_curve k = {.n = a->info.replicas};
    bool held = runs(a);

    for (int r = 0; r < k.n; r++) {
        const struct pw_track *t = &a->rep[r].track;
        const float *in = held ? t->held : t->in_range, *longer = held ? t->held_beyond : t->beyond;
        k.rep[r] = (struct pw_points){.x = t->step, .y = beyond ? longer : in, .n = t->n};
    }
    return pw_curves_at(&k, step);
}

/* Appends a value, for several replicas as median and range: "0.123 (0.1..0.2)". */
static void add_spread(struct pw_str *out, struct pw_spread x)
{
    pw_str_add(out, "\t");
    if (x.n > 0)
        pw_str_add(out, "%.4g", (double)x.median);
    if (x.n > 1)
        pw_str_add(out, " (%.4g..%.4g)", (double)x.lo, (double)x.hi);
}

/* Returns the index of the i-th listed step of n. */
static int moment(int i, int n)
{
    int told = n < MOST_MOMENTS ? n : MOST_MOMENTS;

    return told > 1 ? (int)((int64_t)i * (n - 1) / (told - 1)) : 0;
}

static void tell_history(FILE *out, const struct pw_arm_view *a)
{
    if (a->info.parent > 0)
        fprintf(out, "  forked from arm %d at step %lld\n", a->info.parent, (long long)a->info.parent_step);
    for (int i = 0; i < a->n_marks; i++)
        fprintf(out, "%s%lld%s", i > 0 ? ", " : "  encoding swapped at step ", (long long)a->marks[i],
                i + 1 == a->n_marks ? "\n" : "");
}

static void tell_training(FILE *out, const struct pw_arm_view *a)
{
    const struct pw_series *s = &a->rep[0].series;
    struct pw_str text = {0};

    pw_str_add(&text, "step\tloss\ttoken accuracy\tgradient norm\tlearning rate\tGFLOP\tseconds");
    for (int i = 0; i < MOST_MOMENTS && i < s->n; i++) {
        int k = moment(i, s->n);
        pw_str_add(&text, "\n%lld", (long long)s->step[k]);
        add_spread(&text, spread_at(a, PW_M_LOSS, s->step[k]));
        add_spread(&text, spread_at(a, PW_M_ACCURACY, s->step[k]));
        add_spread(&text, spread_at(a, PW_M_GRAD_NORM, s->step[k]));
        pw_str_add(&text, "\t%.3g\t%.4g\t%.1f", (double)s->v[PW_M_LR][k], (double)s->flops[k] * 1e-9,
                   (double)s->ms[k] * 1e-3);
    }
    pw_report_columns(out, text.s);
    pw_str_fini(&text);
}

static void tell_evaluations(FILE *out, const struct pw_arm_view *a)
{
    const struct pw_track *t = &a->rep[0].track;
    struct pw_str text = {0};

    pw_str_add(&text, "step\ttrained lengths\tlonger ones");
    for (int i = 0; i < MOST_MOMENTS && i < t->n; i++) {
        int64_t step = t->step[moment(i, t->n)];
        pw_str_add(&text, "\n%lld", (long long)step);
        add_spread(&text, evaluated_at(a, false, step));
        add_spread(&text, evaluated_at(a, true, step));
    }
    fputs(runs(a) ? "  loss on held-out text, nats per token:\n" : "  exact match:\n", out);
    pw_report_columns(out, text.s);
    pw_str_fini(&text);
}

void pw_curves_words(FILE *out, const struct pw_ui *ui)
{
    for (int i = 1; i <= PW_MAX_ARMS; i++) {
        const struct pw_arm_view *a = pw_find_arm(ui->snap, i);
        struct pw_str name = {0};
        if (a == NULL)
            continue;
        pw_arm_name(a, &name);
        fprintf(out, "arm %s", name.s);
        if (a->info.replicas > 1)
            fprintf(out, ", %d seeds%s: median (least..greatest)", a->info.replicas,
                    pw_batches_text(&a->info));
        fputs(a->rep[0].series.n == 0 ? ": not trained yet\n" : "\n", out);
        pw_str_fini(&name);
        tell_history(out, a);
        if (a->rep[0].series.n > 0)
            tell_training(out, a);
        if (a->rep[0].track.n > 0)
            tell_evaluations(out, a);
    }
}
