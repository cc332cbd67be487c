/* curves.c - the curves of a snapshot.
 *
 * Arms share data and batches, so their curves differ by the encoding alone. Exact match has two curves per
 * arm: trained lengths and longer ones. The loss of running text has two: in training, and on held-out text.
 */
#include "plot/curves.h"
#include "plot/names.h"
#include <math.h>

const struct pw_metric_view pw_metric_views[PW_METRIC_CHOICES] = {
    [PW_M_LOSS] = {"loss", "loss, nats", false},
    [PW_M_ACCURACY] = {"accuracy", "token accuracy", true},
    [PW_M_LR] = {"lr", "learning rate", false},
    [PW_M_GRAD_NORM] = {"grad_norm", "gradient norm", false},
    [PW_METRIC_EXACT] = {"exact", "exact match", true},
};

const struct pw_axis_view pw_axis_views[PW_AXES] = {{"step", 0}, {"GFLOP", 1e9}, {"seconds", 1e3}};

static const int64_t *xs(enum pw_curves_axis axis, const int64_t *step, const int64_t *flops,
                         const int64_t *ms)
{
    return axis == PW_AXIS_FLOPS ? flops : axis == PW_AXIS_TIME ? ms : step;
}

static struct pw_curve curve_of(const struct pw_arm_view *a, int metric, enum pw_curves_axis axis,
                                bool second)
{
    struct pw_curve k = {.arm = a->info.id, .n = a->info.replicas, .dotted = second};

    for (int r = 0; r < k.n; r++) {
        const struct pw_series *s = &a->rep[r].series;
        const struct pw_track *t = &a->rep[r].track;
        if (metric == PW_METRIC_EXACT && t->n > 0 && !isnan(t->held[t->n - 1]))
            continue; /* running text has no exact match */
        if (metric == PW_METRIC_EXACT || second)
            k.rep[r] = (struct pw_points){.x = xs(axis, t->step, t->flops, t->ms),
                                          .y = metric != PW_METRIC_EXACT ? t->held
                                               : second                  ? t->beyond
                                                                         : t->in_range,
                                          .n = t->n};
        else
            k.rep[r] = (struct pw_points){.x = xs(axis, s->step, s->flops, s->ms),
                                          .y = s->v[metric],
                                          .n = s->n,
                                          .pyramid = &s->pyramid[metric],
                                          .step = s->step,
                                          .swaps = a->marks,
                                          .n_swaps = a->n_marks};
    }
    return k;
}

/* Does an evaluation of some replica have a loss on held-out text? */
static bool has_held(const struct pw_arm_view *a)
{
    for (int r = 0; r < a->info.replicas; r++)
        for (int i = 0; i < a->rep[r].track.n; i++)
            if (!isnan(a->rep[r].track.held[i]))
                return true;
    return false;
}

int pw_curves_of(struct pw_curve out[2], const struct pw_arm_view *a, int metric, enum pw_curves_axis axis)
{
    out[0] = curve_of(a, metric, axis, false);
    if (metric != PW_METRIC_EXACT && (metric != PW_M_LOSS || !has_held(a)))
        return 1;
    out[1] = curve_of(a, metric, axis, true);
    return 2;
}

int pw_curves_find(struct pw_curve out[PW_MAX_CURVES], const struct pw_snapshot *s, int metric,
                   enum pw_curves_axis axis)
{
    int n = 0;

    for (int i = 0; i < PW_MAX_ARMS; i++) {
        const struct pw_arm_view *a = pw_find_arm(s, i + 1);
        if (a != NULL)
            n += pw_curves_of(out + n, a, metric, axis);
    }
    return n;
}

bool pw_curves_extent(const struct pw_curve *k, int n, int64_t *first, int64_t *last)
{
    *first = INT64_MAX, *last = INT64_MIN;
    for (int i = 0; i < n; i++)
        for (int r = 0; r < k[i].n; r++) {
            const struct pw_points *v = &k[i].rep[r];
            if (v->n == 0)
                continue;
            *first = v->x[0] < *first ? v->x[0] : *first;
            *last = v->x[v->n - 1] > *last ? v->x[v->n - 1] : *last;
        }
    if (*first > *last)
        return false;
    *first = *first <= *last / 4 ? 0 : *first;
    return true;
}

void pw_curves_range(const struct pw_curve *k, int n, bool percent, bool *log, double *y0, double *y1)
{
    float lo = INFINITY, hi = -INFINITY;

    for (int i = 0; i < n && !percent; i++)
        for (int r = 0; r < k[i].n; r++)
            pw_plot_extent(&k[i].rep[r], *log, &lo, &hi);
    *y0 = 0, *y1 = 1;
    if (lo > hi) {
        *log = false;
        return;
    }
    *y0 = *log || lo < 0 ? (double)lo : 0;
    *y1 = (double)hi > *y0 ? (double)hi : *y0 + 1;
}

int pw_curves_up_to(const int64_t *values, int n, int64_t x)
{
    int from = 0;

    while (from < n) {
        int mid = from + (n - from) / 2;
        if (values[mid] <= x)
            from = mid + 1;
        else
            n = mid;
    }
    return from;
}

struct pw_spread pw_curves_at(const struct pw_curve *k, int64_t x)
{
    float v[PW_MAX_REPLICAS];

    for (int r = 0; r < k->n; r++) {
        const struct pw_points *p = &k->rep[r];
        int n = pw_curves_up_to(p->x, p->n, x);
        v[r] = NAN;
        for (int i = n - 1; i >= 0 && i >= n - 1000 && !isfinite(v[r]); i--)
            v[r] = p->y[i];
    }
    return pw_spread_of(v, k->n);
}

double pw_curves_x(const struct pw_arm_view *a, enum pw_curves_axis axis, int64_t step)
{
    const struct pw_series *s = &a->rep[0].series;
    int n = pw_curves_up_to(s->step, s->n, step);

    if (axis == PW_AXIS_STEP)
        return (double)step;
    return n > 0 ? (double)xs(axis, s->step, s->flops, s->ms)[n - 1] : 0;
}
