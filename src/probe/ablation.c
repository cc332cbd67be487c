/* ablation.c - the probe ablation: the loss of exact match when one head outputs zeros, for every head,
 * length and replica of each arm.
 *
 * Samples are the first ones that `eval` uses at each length. The row of the whole model therefore equals
 * the result of `eval samples=N`. A head is ablated as the command `ablate` does it (src/model/ablate.c), but
 * in a copy of the model. The arm itself stays unchanged, and a step that has yielded isn't lost. Heads that
 * are already ablated in the arm stay ablated.
 *
 * Replicas start from different weights, so heads with the same index have different roles. A mean over
 * replicas by index measures a place in the network, not a role. Each replica therefore gets its own table,
 * and the costliest head is named per replica.
 *
 * Exact match is teacher-forced. Some answers must be decoded: with a scratchpad, an encoding that depends on
 * the length, or no causal mask. For these, teacher forcing overstates exact match, with and without the head
 * alike. */
#include <stdlib.h>

#include "base/alloc.h"
#include "probe/ablation.h"

enum { PART = 16 }; /* sequences per unit */

static const struct pw_opt opts[] = {{.name = "lengths",
                                      .type = PW_OPT_RANGE,
                                      .offset = offsetof(struct pw_ablation_options, lengths),
                                      .min = 1,
                                      .max = 512,
                                      .help = "lengths to test; default: the trained and the test lengths"},
                                     {.name = "samples",
                                      .type = PW_OPT_INT,
                                      .offset = offsetof(struct pw_ablation_options, samples),
                                      .def = "64",
                                      .min = 1,
                                      .max = 100000,
                                      .help = "samples per length, the first ones that `eval` uses"},
                                     {.name = NULL}};

/* ---- begin: lengths, samples and units */

static bool is_asked(const struct pw_probe_in *in, const struct pw_ablation_options *o, int length)
{
    if (o->lengths.hi > 0)
        return length >= o->lengths.lo && length <= o->lengths.hi;
    return (length >= in->lengths.lo && length <= in->lengths.hi) ||
           (length >= in->test.lo && length <= in->test.hi);
}

/* Fails if the samples of a length don't fit into every model. One sample is enough to test: samples of a
 * length have the same or nearly the same number of tokens. */
static enum pw_code check_length(const struct pw_probe_in *in, int length, struct pw_err *err)
{
    const int *scored;
    const struct pw_batch *b = in->samples(in->arg, length, 0, 1, &scored);
    for (int i = 0; i < in->n; i++) {
        int context = pw_model_config(in->subject[i].model)->context;
        if (b->n_rows > context)
            return pw_fail(err, PW_EUSER,
                           "probe ablation: length %d: its samples have %d tokens, arm %d reads at most %d",
                           length, b->n_rows, in->subject[i].arm, context);
    }
    return PW_OK;
}

static enum pw_code begin_ablation(struct pw_probing_at *p, struct pw_err *err)
{
    const struct pw_probe_in *in = p->in;
    const struct pw_ablation_options *o = p->opts;
    struct pw_ablation_state *s = p->state = pw_alloc(1, sizeof *s);
    enum pw_code code = PW_OK;
    s->copied = s->off = -1;
    s->of = pw_alloc((size_t)in->n, sizeof *s->of);
    for (int length = 1; length <= 512 && code == PW_OK; length++) {
        if (!is_asked(in, o, length) || !in->has(in->arg, length))
            continue;
        code = check_length(in, length, err);
        s->length[s->n] = length;
        s->samples[s->n] = in->n_samples(in->arg, length, o->samples);
        s->first_part[s->n + 1] = s->first_part[s->n] + (s->samples[s->n] + PART - 1) / PART;
        s->n++;
    }
    if (code == PW_OK && s->n == 0)
        return pw_fail(err, PW_EUSER,
                       "probe ablation: the task has no samples of the lengths to test; choose others with "
                       "lengths=A..B");
    for (int i = 0; i < in->n; i++) {
        const struct pw_config *c = pw_model_config(in->subject[i].model);
        int heads = c->layers * c->heads;
        s->of[i] = (struct pw_ablation_counts){heads, p->units,
                                               pw_alloc((size_t)(1 + heads) * s->n, sizeof(int64_t))};
        p->units += (1 + heads) * s->first_part[s->n];
    }
    return code;
}

/* ---- a unit: some samples of one length with one head ablated */

/* Makes s->copy a copy of subject i with this head ablated (-1: none). */
static enum pw_code prepare(struct pw_ablation_state *s, const struct pw_probe_in *in, int i, int head,
                            struct pw_err *err)
{
    enum pw_code code = PW_OK;
    if (s->copied != i) {
        pw_model_destroy(s->copy);
        s->copy = NULL;
        s->copied = s->off = -1;
        code = pw_model_clone(&s->copy, in->subject[i].model, in->ops, in->be, err);
        if (code != PW_OK)
            return code;
        s->copied = i;
    }
    if (s->off == head)
        return PW_OK;
    int H = pw_model_config(s->copy)->heads;
    if (s->off >= 0)
        pw_model_restore_head(s->copy, s->off / H, s->off % H);
    s->off = -1;
    bool works = head >= 0 && pw_model_replaced(in->subject[i].model, head / H, head % H) == 0;
    if (works) {
        code = pw_model_replace_head(s->copy, head / H, head % H, 1, NULL, err);
        s->off = code == PW_OK ? head : -1;
    }
    return code;
}

static enum pw_code unit(struct pw_probing_at *p, int u, struct pw_err *err)
{
    const struct pw_probe_in *in = p->in;
    struct pw_ablation_state *s = p->state;
    int i = in->n - 1, l = 0, parts = s->first_part[s->n];
    while (s->of[i].first > u)
        i--;
    int row = (u - s->of[i].first) / parts, part = (u - s->of[i].first) % parts;
    while (s->first_part[l + 1] <= part)
        l++;
    int from = (part - s->first_part[l]) * PART, n = s->samples[l] - from;
    enum pw_code code = prepare(s, in, i, row - 1, err);
    if (code != PW_OK)
        return code;
    const int *scored;
    const struct pw_batch *b = in->samples(in->arg, s->length[l], from, n < PART ? n : PART, &scored);
    int *best = pw_alloc((size_t)b->n_scored, sizeof *best);
    code = pw_model_eval(s->copy, b, best, NULL, err);
    for (int k = 0; k < b->n_seqs && code == PW_OK; k++) {
        bool right = true;
        for (int t = scored[k]; t < scored[k + 1]; t++)
            right = right && best[t] == b->targets[t];
        s->of[i].done[row * s->n + l] += right;
    }
    free(best);
    return code;
}

static enum pw_code end(struct pw_probing_at *p, struct pw_finding *f, struct pw_err *err)
{
    (void)err;
    pw_ablation_report(p, f);
    return PW_OK;
}

static void fini(struct pw_probing_at *p)
{
    struct pw_ablation_state *s = p->state;
    for (int i = 0; i < p->in->n; i++)
        free(s->of[i].done);
    free(s->of);
    pw_model_destroy(s->copy);
    free(s);
}

const struct pw_probe pw_probe_ablation = {
    .name = "ablation",
    .summary = "ablate each head in turn: loss of exact match by head and length, for every replica",
    .source = "after Michel et al. 2019, section 3.2",
    .detail = "Measures the named arms, or all, and every replica of each: the percentage points of exact "
              "match that are lost\nif a head outputs zeros, in range, longer, and at each length; mean, "
              "minimum and maximum over replicas, and the\ncostliest head of each replica. The arms stay "
              "unchanged. 'export finding F.csv finding=ablation' writes all data.",
    .opts = opts,
    .opts_size = sizeof(struct pw_ablation_options),
    .takes = PW_PROBE_ARMS | PW_PROBE_ANSWERS,
    .begin = begin_ablation,
    .unit = unit,
    .end = end,
    .fini = fini,
};
