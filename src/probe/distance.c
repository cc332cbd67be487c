/* distance.c - the probe distance: the distance between attention patterns of models, head by head, on the
 * same sequences (Kazemnejad et al. 2023, section 5.2, Eq. 2 and Figure 4).
 *
 * The distance D_AT of two heads is the mean divergence of their rows. The distance of two layers is the
 * minimum over all pairs of heads (Eq. 2). Two alternatives are measured as well. The mean over the cheapest
 * matching of heads doesn't depend on one lucky pair. The mean over heads with the same index is meaningful
 * if both models share an initialisation. Sequences are prompt and right answer. The mean is over all T rows,
 * as in Eq. 2. Row 0 of a causal model has one key; its divergence is 0, and it counts.
 *
 * Errata: the axis of Figure 4 reaches 1.5, but a Jensen-Shannon divergence is at most ln 2. The released
 * code swaps the arguments of torch's KLDivLoss, and visits only 66 of 144 pairs of heads: those with a < b.
 * formula=released does the same.
 *
 * A distance is large or small only relative to two references. The first is the floor: the distance of two
 * models that differ only in the seed of their initialisation. The second is the distance of the untrained
 * twins. Models with one seed start from the same weights, even with different encodings. They are nearer to
 * each other than independent models, so they have curves of their own. */
#include "probe/distance.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"

static const char *const formulas[] = {"jsd", "released", NULL};
static const char *const pairings[] = {"all", "matched", "same", NULL};
static const char *const row_sets[] = {"all", "answer", NULL};
static const char *const opponents[] = {"1", "all", NULL};

#define AT(member) offsetof(struct pw_distance_opts, member)

const struct pw_opt pw_distance_options[] = {
    {"lengths", PW_OPT_RANGE, AT(lengths), NULL, 1, 512, NULL, 0,
     "lengths to measure; default: the trained and the test lengths"},
    {"samples", PW_OPT_INT, AT(samples), "10", 1, 4096, NULL, 0, "sequences per length"},
    {"formula", PW_OPT_CHOICE, AT(formula), "jsd", 0, 0, formulas, 0,
     "divergence of two rows: Jensen-Shannon, or the formula of the paper's released code"},
    {"pairs", PW_OPT_CHOICE, AT(pairs), "all", 0, 0, pairings, 0,
     "pairs of heads for the curves: minimum over all, mean over matched heads, mean over heads with the "
     "same number"},
    {"rows", PW_OPT_CHOICE, AT(rows), "all", 0, 0, row_sets, 0,
     "query rows to include: all T rows of Eq. 2, or those that predict the answer"},
    {"against", PW_OPT_CHOICE, AT(against), "1", 0, 0, opponents, 0,
     "compare each arm with the first one, or all pairs of arms"},
    {"control", PW_OPT_SWITCH, AT(control), "on", 0, 0, NULL, 0, "measure the untrained twins, too"},
    {0},
};

struct pw_distance_sum *pw_distance_at(const struct pw_distances *d, int pairs, int curve, int length,
                                       int layer)
{
    return &d->sums[((pairs * d->n_curves + curve) * d->n_lengths + length) * (d->L + 1) + layer];
}

static void add_distance(struct pw_distance_sum *s, double x)
{
    if (!isfinite(x))
        return;
    s->sum += x;
    s->squares += x * x;
    s->n++;
}

static enum pw_code take_memory(struct pw_distances *d, const struct pw_probe_in *in, int T,
                                struct pw_err *err)
{
    int most = 0, n = in->n * (d->o->control ? 2 : 1);
    size_t curves = (size_t)d->n_curves * d->n_lengths;
    d->sums = pw_alloc(PW_PAIRS * curves * (d->L + 1), sizeof *d->sums);
    d->control = pw_alloc(curves, sizeof *d->control);
    d->maps = pw_alloc((size_t)2 * in->n, sizeof *d->maps);
    for (int i = 0; i < n; i++) {
        int heads = pw_distance_config(in, i % in->n)->heads;
        most = heads > most ? heads : most;
        d->maps[i] = malloc((size_t)d->L * heads * T * T * sizeof **d->maps);
        if (d->maps[i] == NULL)
            return pw_fail(err, PW_ENOMEM, "%s: out of memory for the attention of %d models over %d tokens",
                           in->who, n, T);
    }
    d->D = pw_alloc((size_t)most * most, sizeof *d->D);
    return PW_OK;
}

static enum pw_code begin_distance(struct pw_probing_at *p, struct pw_err *err)
{
    const struct pw_probe_in *in = p->in;
    struct pw_distances *d = p->state = pw_alloc(1, sizeof *d);
    int longest = 0;
    d->o = p->opts;
    enum pw_code code = pw_distance_choose(d, in, &longest, err);
    if (code == PW_OK)
        code = take_memory(d, in, longest, err);
    int64_t units = (int64_t)d->n_lengths * d->o->samples * (in->n + (int64_t)d->n_pairs * d->L);
    if (code == PW_OK && units > INT_MAX)
        code = pw_fail(err, PW_EUSER, "%s: too many units of work: use fewer samples= or lengths=", in->who);
    p->units = (int)units;
    return code;
}

/* ---- one sequence: the maps of each model, then the layers of each pair */

static enum pw_code compare_example(struct pw_distances *d, const struct pw_probe_in *in, int example, int i,
                                    struct pw_err *err)
{
    const struct pw_probe_subject *s = &in->subject[i];
    if (i == 0) {
        int n_prompt;
        d->T = in->sequence(in->arg, d->length[example / d->o->samples], example % d->o->samples, d->tokens,
                            d->cap, &n_prompt);
        d->first = d->o->rows == 1 ? n_prompt - 1 : 0;
    }
    enum pw_code code =
        pw_model_inspect(s->model, d->tokens, d->T, &(struct pw_inspection){.probs = d->maps[i]}, err);
    if (code == PW_OK && d->o->control)
        code = pw_model_inspect(s->control, d->tokens, d->T,
                                &(struct pw_inspection){.probs = d->maps[in->n + i]}, err);
    return code;
}

/* Writes the three distances of one layer of two models. twin: compare the untrained twins. */
static void compare(struct pw_distances *d, const struct pw_probe_in *in, const struct pw_distance_pair *x,
                    int layer, bool twin, double out[PW_PAIRS])
{
    int A = pw_distance_config(in, x->a)->heads, B = pw_distance_config(in, x->b)->heads,
        of = twin ? in->n : 0;
    size_t map = (size_t)d->T * d->T;
    bool half = d->o->formula == PW_DIVERGENCE_RELEASED;
    /* The compared arm comes first, as in the released code, because its rule a < b isn't symmetric. */
    pw_head_distances((enum pw_divergence)d->o->formula, d->D, d->maps[of + x->b] + layer * B * map, B,
                      d->maps[of + x->a] + layer * A * map, A, d->T, d->first,
                      pw_distance_config(in, x->a)->causal);
    out[PW_PAIRS_ALL] = pw_distance_least(d->D, B, A, half);
    out[PW_PAIRS_MATCHED] = pw_distance_matched(d->D, B, A, NULL);
    out[PW_PAIRS_SAME] = d->curve[x->curve].same ? pw_distance_same(d->D, A) : NAN;
}

static void measure(struct pw_distances *d, const struct pw_probe_in *in, int example, int pair, int layer)
{
    const struct pw_distance_pair *x = &d->pair[pair];
    int length = example / d->o->samples;
    double now[PW_PAIRS];
    if (layer == 0)
        d->now[PW_PAIRS_ALL] = d->now[PW_PAIRS_MATCHED] = d->now[PW_PAIRS_SAME] = d->now_control = 0;
    compare(d, in, x, layer, false, now);
    for (int k = 0; k < PW_PAIRS; k++) {
        add_distance(pw_distance_at(d, k, x->curve, length, layer), now[k]);
        d->now[k] += now[k] / d->L;
        if (layer == d->L - 1)
            add_distance(pw_distance_at(d, k, x->curve, length, d->L), d->now[k]);
    }
    d->layers++;
    d->infinite += isinf(now[d->o->pairs]) != 0;
    if (!d->o->control)
        return;
    compare(d, in, x, layer, true, now);
    d->now_control += now[d->o->pairs] / d->L;
    if (layer == d->L - 1)
        add_distance(&d->control[x->curve * d->n_lengths + length], d->now_control);
}

static enum pw_code unit(struct pw_probing_at *p, int i, struct pw_err *err)
{
    struct pw_distances *d = p->state;
    int each = p->in->n + d->n_pairs * d->L, example = i / each, k = i % each;
    if (k < p->in->n)
        return compare_example(d, p->in, example, k, err);
    k -= p->in->n;
    measure(d, p->in, example, k / d->L, k % d->L);
    return PW_OK;
}

static enum pw_code end(struct pw_probing_at *p, struct pw_finding *f, struct pw_err *err)
{
    (void)err;
    pw_distance_report(p->state, p->in, f);
    return PW_OK;
}

static void fini(struct pw_probing_at *p)
{
    struct pw_distances *d = p->state;
    for (int i = 0; d->maps != NULL && i < 2 * p->in->n; i++)
        free(d->maps[i]);
    free(d->maps);
    free(d->D);
    free(d->sums);
    free(d->control);
    free(d->length);
    free(d->curve);
    free(d->pair);
    free(d->tokens);
    free(d);
}

const struct pw_probe pw_probe_distance = {
    .name = "distance",
    .summary = "distance between the attention patterns of arms, on the same sequences, by length",
    .source = "Kazemnejad et al. 2023, section 5.2, Eq. 2 and Figure 4",
    .detail =
        "The distance of two layers, in nats: the minimum over all pairs of heads (Eq. 2), the mean over "
        "the\ncheapest matching of heads, and the mean over heads with the same number if both models share "
        "an\ninitialisation. A curve with * is the floor: the same encoding with another seed. The untrained "
        "twins\nare measured as a control. formula=released uses the formula of the paper's code, which "
        "isn't a\nJensen-Shannon divergence and has no bound. `compare ARM ARM` runs the same probe.",
    .opts = pw_distance_options,
    .opts_size = sizeof(struct pw_distance_opts),
    .takes = PW_PROBE_ARMS | PW_PROBE_CONTROL,
    .begin = begin_distance,
    .unit = unit,
    .end = end,
    .fini = fini,
};
