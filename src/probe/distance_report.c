/* distance_report.c - builds the finding of the probe distance: curves by length, and tables of their means.
 */
#include "probe/distance.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Names a curve: "3 t5" against the first arm, "1-3 none-t5" for all pairs. The suffix marks the floor (*), a
 * fork, or a shared initialisation. */
static void name_curve(const struct pw_distances *d, const struct pw_distance_curve *c,
                       char out[PW_FINDING_LABEL])
{
    const char *end = c->floor ? "*" : c->fork ? ", fork" : c->same ? ", same init" : "";
    int room = PW_FINDING_LABEL - 1 - (int)strlen(end);
    if (d->o->against == 0) {
        snprintf(out, PW_FINDING_LABEL, "%d %.*s%s", c->other, room - 2, c->other_encoding, end);
        return;
    }
    int each = (room - (int)strlen("1-2 x-")) / 2; /* there are at most 8 arms */
    snprintf(out, PW_FINDING_LABEL, "%d-%d %.*s-%.*s%s", c->arm, c->other, each, c->encoding, each,
             c->other_encoding, end);
}

static double mean_of(const struct pw_distance_sum *s)
{
    return s->n > 0 ? s->sum / s->n : NAN;
}

static double deviation_of(const struct pw_distance_sum *s)
{
    double mean = mean_of(s), rest = s->n > 1 ? (s->squares - s->n * mean * mean) / (s->n - 1) : 0;
    return rest > 0 ? sqrt(rest) : 0;
}

/* The mean over the lengths from..to, with equal weights. */
static double over_lengths(const struct pw_distances *d, int pairs, int curve, int layer, int from, int to)
{
    double sum = 0;
    int n = 0;
    for (int i = 0; i < d->n_lengths; i++) {
        double mean = mean_of(pw_distance_at(d, pairs, curve, i, layer));
        if (d->length[i] < from || d->length[i] > to || isnan(mean))
            continue;
        sum += mean;
        n++;
    }
    return n > 0 ? sum / n : NAN;
}

/* The mean over all lengths for the untrained twins. It sums in the order of over_lengths, so that equal
 * models give equal numbers. */
static double over_control(const struct pw_distances *d, int curve)
{
    double sum = 0;
    for (int i = 0; i < d->n_lengths; i++)
        sum += mean_of(&d->control[curve * d->n_lengths + i]);
    return sum / d->n_lengths;
}

/* Adds a plot of one layer. layer = L: the mean over layers; -1: the mean of the untrained twins. */
static void add_plot(const struct pw_distances *d, struct pw_finding *f, int layer, const char *title)
{
    int plot = pw_finding_plot(f, title, "length", "distance, nats", d->n_lengths, d->n_curves, true);
    for (int k = 0; k < d->n_curves; k++) {
        char name[PW_FINDING_LABEL];
        name_curve(d, &d->curve[k], name);
        pw_finding_name(f, plot, k, "%s", name);
        for (int i = 0; i < d->n_lengths; i++) {
            const struct pw_distance_sum *s =
                layer < 0 ? &d->control[k * d->n_lengths + i] : pw_distance_at(d, d->o->pairs, k, i, layer);
            double mean = mean_of(s), deviation = deviation_of(s);
            pw_finding_x(f, plot, i, d->length[i]);
            pw_finding_band(f, plot, i, k, mean, mean - deviation, mean + deviation);
        }
    }
}

static void add_means(const struct pw_distances *d, const struct pw_probe_in *in, struct pw_finding *f)
{
    static const char *const heads[] = {"all pairs", "matched",    "equal number", "in range",  "beyond",
                                        "untrained", "head pairs", "model pairs",  "same init?"};
    enum { COLUMNS = sizeof heads / sizeof *heads };
    int longest = d->length[d->n_lengths - 1];
    int table = pw_finding_table(
        f, "means over layers and lengths; in range, beyond and untrained: over the pairs of the plots",
        d->n_curves, COLUMNS);
    for (int i = 0; i < COLUMNS; i++)
        pw_finding_col(f, table, i, "%s",
                       i == 0 && d->o->formula == PW_DIVERGENCE_RELEASED ? "pairs a < b" : heads[i]);
    for (int k = 0; k < d->n_curves; k++) {
        const struct pw_distance_curve *c = &d->curve[k];
        char name[PW_FINDING_LABEL];
        name_curve(d, c, name);
        pw_finding_row(f, table, k, "%s", name);
        for (int pairs = 0; pairs < PW_PAIRS; pairs++)
            pw_finding_put(f, table, k, pairs, over_lengths(d, pairs, k, d->L, 0, longest));
        pw_finding_put(f, table, k, 3, over_lengths(d, d->o->pairs, k, d->L, 0, in->lengths.hi));
        pw_finding_put(f, table, k, 4, over_lengths(d, d->o->pairs, k, d->L, in->lengths.hi + 1, longest));
        if (d->o->control)
            pw_finding_put(f, table, k, 5, over_control(d, k));
        pw_finding_put(f, table, k, 6, c->head_pairs);
        pw_finding_put(f, table, k, 7, c->n_pairs);
        pw_finding_put(f, table, k, 8, c->same);
    }
}

static void add_layers(const struct pw_distances *d, struct pw_finding *f)
{
    int table = pw_finding_table(f, "means over lengths, layer by layer", d->n_curves, d->L);
    for (int l = 0; l < d->L; l++)
        pw_finding_col(f, table, l, "layer %d", l);
    for (int k = 0; k < d->n_curves; k++) {
        char name[PW_FINDING_LABEL];
        name_curve(d, &d->curve[k], name);
        pw_finding_row(f, table, k, "%s", name);
        for (int l = 0; l < d->L; l++)
            pw_finding_put(f, table, k, l,
                           over_lengths(d, d->o->pairs, k, l, 0, d->length[d->n_lengths - 1]));
    }
}

/* Adds remarks on the limits of the numbers. */
static void add_limits(const struct pw_distances *d, const struct pw_probe_in *in, struct pw_finding *f)
{
    bool floor = false, same = false, several = false, replicas = false;
    int64_t least = in->subject[0].step, most = least;
    for (int k = 0; k < d->n_curves; k++) {
        floor = floor || d->curve[k].floor;
        same = same || d->curve[k].same;
    }
    for (int i = 0; i < in->n; i++) {
        replicas = replicas || in->subject[i].replica > 1;
        several = several || pw_distance_config(in, i)->heads != pw_distance_config(in, 0)->heads;
        least = in->subject[i].step < least ? in->subject[i].step : least;
        most = in->subject[i].step > most ? in->subject[i].step : most;
    }
    if (d->o->formula == PW_DIVERGENCE_JSD)
        pw_finding_remark(f, "a Jensen-Shannon divergence is at most ln 2 = 0.693; Figure 4 reaches 1.5 "
                             "because its code computes [KL(m||p) + KL(m||q)] / 2 (formula=released)");
    else
        pw_finding_remark(
            f, "erratum: the released code computes [KL(m||p) + KL(m||q)] / 2, which isn't a Jensen-Shannon "
               "divergence and has no bound; its minimum is over head pairs a < b only");
    if (several)
        pw_finding_remark(f, "the arms have different numbers of heads: a minimum over more pairs is smaller "
                             "for that reason alone; compare the matched heads");
    else if (d->o->pairs == PW_PAIRS_ALL)
        pw_finding_remark(
            f, "each distance is the minimum over %d pairs of heads; with fewer heads it would be larger",
            d->curve[0].head_pairs);
    if (!floor)
        pw_finding_remark(f, "no floor: no two of these models differ only in the seed; use 'race ... "
                             "seeds=2', or add a second arm with the same encoding and 'seed N arm=K'");
    if (floor && replicas && in->own_batches)
        pw_finding_remark(f, "own batches: two replicas of an arm also learned from different samples, so a "
                             "floor (*) between them covers the seeds of initialisation and of data");
    if (same)
        pw_finding_remark(
            f, "same init: both models started from the same weights and may be closer for that reason "
               "alone; the floor (*) is between two seeds, so compare it with the curves without this mark");
    if (least != most)
        pw_finding_remark(f, "not step-matched: the arms are at different steps, from %lld to %lld",
                          (long long)least, (long long)most);
    for (int i = 0; i < in->n; i++)
        if (in->subject[i].swaps > 0 && in->subject[i].replica == 1)
            pw_finding_remark(f, "arm %s started its training with another encoding", in->subject[i].name);
    if (d->infinite > 0)
        pw_finding_remark(
            f, "%d of %d distances of layers are infinite, because a probability is 0, and are left out",
            d->infinite, d->layers);
}

void pw_distance_report(const struct pw_distances *d, const struct pw_probe_in *in, struct pw_finding *f)
{
    static const char *const pairings[] = {"minimum over all pairs of heads", "mean over matched heads",
                                           "mean over heads with the same number"};
    const struct pw_distance_opts *o = d->o;
    char topic[PW_FINDING_TOPIC], title[PW_FINDING_TEXT];
    bool jsd = o->formula == PW_DIVERGENCE_JSD;
    snprintf(topic, sizeof topic, "%.32s%s%s%s%s", in->topic, jsd ? "" : " released",
             o->pairs == PW_PAIRS_MATCHED ? " matched"
             : o->pairs == PW_PAIRS_SAME  ? " same"
                                          : "",
             o->rows == 1 ? " answer" : "", o->against == 1 ? " all" : "");
    pw_finding_init(
        f, "distance", topic, "distance of attention patterns%s%s, %s, %s; %d sequences a length, %s",
        o->against == 0 ? " from arm " : ", all pairs of arms", o->against == 0 ? in->subject[0].name : "",
        jsd ? "Jensen-Shannon" : "formula of the released code",
        jsd || o->pairs != PW_PAIRS_ALL ? pairings[o->pairs] : "minimum over head pairs a < b", o->samples,
        o->rows == 1 ? "rows that predict the answer" : "all rows");
    snprintf(title, sizeof title, "mean over %d layers, and one standard deviation", d->L);
    add_plot(d, f, d->L, title);
    for (int l = 0; l < d->L; l++) {
        snprintf(title, sizeof title, "layer %d", l);
        add_plot(d, f, l, title);
    }
    if (o->control)
        add_plot(d, f, -1, "before training, mean over layers");
    add_means(d, in, f);
    add_layers(d, f);
    add_limits(d, in, f);
}
