/* distance_choose.c - selects the pairs of models and the lengths for attention distances, and refuses models
 * that can't be compared. */
#include "probe/distance.h"

#include <string.h>

#include "base/alloc.h"

const struct pw_config *pw_distance_config(const struct pw_probe_in *in, int subject)
{
    return pw_model_config(in->subject[subject].model);
}

static bool same_shape(const struct pw_config *a, const struct pw_config *b)
{
    return a->width == b->width && a->heads == b->heads && a->head_width == b->head_width &&
           a->ffn == b->ffn && a->init == b->init;
}

/* Returns true if two models share an initialisation. Weights are drawn from the seed and the tensor's name,
 * so the encoding doesn't matter. */
static bool same_start(const struct pw_probe_in *in, int a, int b)
{
    return in->subject[a].seed == in->subject[b].seed &&
           same_shape(pw_distance_config(in, a), pw_distance_config(in, b));
}

static bool same_encoding(const struct pw_probe_in *in, int a, int b)
{
    struct pw_str x = {0}, y = {0};
    pw_pe_print(pw_model_pe(in->subject[a].model), &x);
    pw_pe_print(pw_model_pe(in->subject[b].model), &y);
    bool same = strcmp(x.s, y.s) == 0 && in->subject[a].swaps + in->subject[b].swaps == 0;
    pw_str_fini(&x);
    pw_str_fini(&y);
    return same;
}

/* The number of pairs of heads over which the minimum is taken. */
static int count_pairs(const struct pw_distances *d, int heads, int others)
{
    int n = 0;
    if (d->o->formula == PW_DIVERGENCE_JSD)
        return heads * others;
    for (int i = 0; i < others; i++) /* a < b, where a is a head of the compared arm */
        n += heads - 1 > i ? heads - 1 - i : 0;
    return n;
}

static int curve_of(struct pw_distances *d, const struct pw_probe_in *in, int a, int b, bool same)
{
    const struct pw_probe_subject *x = &in->subject[a], *y = &in->subject[b];
    const struct pw_config *c = pw_distance_config(in, a), *other = pw_distance_config(in, b);
    for (int i = 0; i < d->n_curves; i++)
        if (d->curve[i].arm == x->arm && d->curve[i].other == y->arm && d->curve[i].same == same)
            return i;
    d->curve = pw_grow(d->curve, (size_t)d->n_curves + 1, sizeof *d->curve);
    d->curve[d->n_curves] = (struct pw_distance_curve){
        .arm = x->arm,
        .other = y->arm,
        .encoding = pw_model_pe(x->model)->pe->name,
        .other_encoding = pw_model_pe(y->model)->pe->name,
        .same = same,
        .fork = same && (x->parent == y->arm || y->parent == x->arm),
        .floor = !same && same_shape(c, other) && same_encoding(in, a, b),
        .head_pairs = count_pairs(d, c->heads, other->heads),
    };
    return d->n_curves++;
}

static enum pw_code choose_pairs(struct pw_distances *d, const struct pw_probe_in *in, struct pw_err *err)
{
    for (int a = 0; a < in->n; a++)
        for (int b = a + 1; b < in->n; b++) {
            if (d->o->against == 0 && in->subject[a].arm != in->subject[0].arm)
                continue;
            bool same = same_start(in, a, b);
            if (d->o->pairs == PW_PAIRS_SAME && !same)
                continue;
            int curve = curve_of(d, in, a, b, same);
            d->pair = pw_grow(d->pair, (size_t)d->n_pairs + 1, sizeof *d->pair);
            d->pair[d->n_pairs++] = (struct pw_distance_pair){a, b, curve};
            d->curve[curve].n_pairs++;
        }
    if (d->n_pairs == 0)
        return pw_fail(err, PW_EUSER,
                       "%s: pairs=same: no two of these models share an initialisation, so heads with the "
                       "same number are unrelated; use pairs=all or pairs=matched",
                       in->who);
    return PW_OK;
}

static enum pw_code check_models(const struct pw_distances *d, const struct pw_probe_in *in,
                                 struct pw_err *err)
{
    if (in->n < 2)
        return pw_fail(
            err, PW_EUSER,
            "%s: only one model to compare: name two arms, or train replicas with 'race ... seeds=2'",
            in->who);
    const struct pw_config *first = pw_distance_config(in, 0);
    for (int i = 0; i < in->n; i++) {
        const struct pw_config *c = pw_distance_config(in, i);
        const char *name = in->subject[i].name, *other = in->subject[0].name;
        if (c->vocab != first->vocab)
            return pw_fail(
                err, PW_EUSER,
                "%s: arm %s has a vocabulary of %d tokens, arm %s has %d: the vocabularies must be equal",
                in->who, name, c->vocab, other, first->vocab);
        if (c->layers != first->layers)
            return pw_fail(err, PW_EUSER,
                           "%s: arm %s has %d layers, arm %s has %d: the numbers of layers must be equal",
                           in->who, name, c->layers, other, first->layers);
        if (c->causal != first->causal)
            return pw_fail(err, PW_EUSER, "%s: arm %s has causal=%s, arm %s doesn't: the masks must be equal",
                           in->who, name, c->causal ? "on" : "off", other);
        if (d->o->formula == PW_DIVERGENCE_RELEASED && d->o->pairs == PW_PAIRS_ALL && c->heads == 1)
            return pw_fail(
                err, PW_EUSER,
                "%s: formula=released: it compares heads a < b, so it needs two heads; arm %s has one",
                in->who, name);
    }
    return PW_OK;
}

/* Selects the lengths that have samples, and finds the longest sequence. */
static enum pw_code choose_lengths(struct pw_distances *d, const struct pw_probe_in *in, int *longest,
                                   struct pw_err *err)
{
    struct pw_range r = d->o->lengths;
    if (r.lo == 0)
        r = (struct pw_range){in->lengths.lo, in->test.hi > in->lengths.hi ? in->test.hi : in->lengths.hi};
    int n_prompt, tightest = 0;
    for (int i = 1; i < in->n; i++)
        tightest =
            pw_distance_config(in, i)->context < pw_distance_config(in, tightest)->context ? i : tightest;
    d->cap = pw_distance_config(in, tightest)->context;
    d->tokens = pw_alloc((size_t)d->cap, sizeof *d->tokens);
    d->length = pw_alloc((size_t)(r.hi - r.lo + 1), sizeof *d->length);
    for (int l = r.lo; l <= r.hi; l++) {
        if (!in->has(in->arg, l))
            continue;
        for (int i = 0; i < d->o->samples; i++) {
            int T = in->sequence(in->arg, l, i, d->tokens, d->cap, &n_prompt);
            if (T == 0)
                return pw_fail(
                    err, PW_EUSER,
                    "%s: samples of length %d don't fit into the context of arm %s, which is %d tokens",
                    in->who, l, in->subject[tightest].name, d->cap);
            *longest = T > *longest ? T : *longest;
        }
        d->length[d->n_lengths++] = l;
    }
    if (d->n_lengths == 0)
        return pw_fail(err, PW_EUSER, "%s: the task has no samples of lengths %d..%d", in->who, r.lo, r.hi);
    return PW_OK;
}

enum pw_code pw_distance_choose(struct pw_distances *d, const struct pw_probe_in *in, int *longest,
                                struct pw_err *err)
{
    enum pw_code code = check_models(d, in, err);
    if (code != PW_OK)
        return code;
    d->L = pw_distance_config(in, 0)->layers;
    code = choose_pairs(d, in, err);
    return code == PW_OK ? choose_lengths(d, in, longest, err) : code;
}
