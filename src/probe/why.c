/* why.c - the probe why: which change of a model recovers the exact match that it lacks at a length.
 *
 * A cause is a claim about an intervention, so each candidate is tested by one: a copy of the model is
 * changed in one way, and answers the same samples. A correlation (an untrained bucket is read, attention is
 * spread) would name what goes along with the failure. The candidates are ranked by the exact match that they
 * recover.
 *
 * Decisions. The samples are the first ones that `eval` uses. All candidates are fixed before the first
 * measurement, and Holm's correction covers all of them. The best of dozens looks better than it is, so it
 * answers further samples, which had no part in choosing it. A cause must recover at least half of what is
 * missing; a significant change that recovers less is a help. A model that fails fewer than 1 of 20 samples
 * works, and nothing is tested. Candidates are changes that the lab can make in a resident model;
 * combinations of two causes are not tested.
 *
 * Exact match is teacher-forced, as in `probe ablation`. It overstates encodings that know the length of the
 * answer. */
#include <stdlib.h>

#include "base/alloc.h"
#include "probe/why.h"

/* Sequences of a unit; places that are counted; samples whose attention is measured. */
enum { PART = 16, MOST_PLACES = 64, INSPECTED = 16 };

const struct pw_opt pw_why_settings[] = {
    {.name = "length",
     .type = PW_OPT_INT,
     .offset = offsetof(struct pw_why_options, length),
     .def = "0",
     .min = 0,
     .max = 100000,
     .help = "length at which exact match drops; 0: the longest test length"},
    {.name = "samples",
     .type = PW_OPT_INT,
     .offset = offsetof(struct pw_why_options, samples),
     .def = "64",
     .min = 8,
     .max = 100000,
     .help = "samples for each candidate, the first ones that `eval` uses"},
    {.name = NULL}};

/* ---- begin: the passes */

static void add_pass(struct pw_probing_at *p, int candidate, int length, int first, int n)
{
    struct pw_why_state *s = p->state;
    s->passes = pw_grow(s->passes, (size_t)s->n_passes + 1, sizeof *s->passes);
    s->passes[s->n_passes++] = (struct pw_why_pass){.candidate = candidate,
                                                    .length = length,
                                                    .first = first,
                                                    .n = n,
                                                    .unit = p->units,
                                                    .right = pw_alloc((size_t)n, sizeof(uint8_t))};
    p->units += (n + PART - 1) / PART;
}

/* Adds the unchanged model at up to PW_WHY_LENGTHS shorter lengths, the shortest trained one first. */
static void add_shorter(struct pw_probing_at *p, int length)
{
    struct pw_why_state *s = p->state;
    const struct pw_why_options *o = p->opts;
    const struct pw_probe_in *in = p->in;
    int from = in->lengths.lo, left = length - from, last = 0;
    for (int i = 0; i < PW_WHY_LENGTHS && left > 0; i++) {
        int at = left <= PW_WHY_LENGTHS ? from + i : from + (int)((int64_t)left * i / PW_WHY_LENGTHS);
        if (at >= length || at == last || !in->has(in->arg, at))
            continue;
        add_pass(p, 0, at, 0, in->n_samples(in->arg, at, o->samples));
        s->n_shorter++;
        last = at;
    }
}

static enum pw_code check_length(struct pw_probing_at *p, int length, int n, struct pw_err *err)
{
    const struct pw_probe_in *in = p->in;
    struct pw_why_state *s = p->state;
    int context = pw_model_config(in->subject[0].model)->context;
    const int *scored;
    const struct pw_batch *b = in->samples(in->arg, length, 0, n < PART ? n : PART, &scored);
    for (int i = 0; i < b->n_seqs; i++)
        if (b->start[i + 1] - b->start[i] > s->tokens)
            s->tokens = b->start[i + 1] - b->start[i];
    s->ends = b->targets[b->n_scored - 1] == PW_WHY_END_MARK && scored[1] - scored[0] > 1;
    if (s->tokens > context)
        return pw_fail(err, PW_EUSER, "%s: length %d: its samples have %d tokens, arm %d reads at most %d",
                       in->who, length, s->tokens, in->subject[0].arm, context);
    return PW_OK;
}

static enum pw_code begin_why(struct pw_probing_at *p, struct pw_err *err)
{
    const struct pw_probe_in *in = p->in;
    const struct pw_why_options *o = p->opts;
    struct pw_why_state *s = p->state = pw_alloc(1, sizeof *s);
    int length = o->length > 0 ? o->length : in->test.hi;
    s->works = s->best = s->changed = -1;
    s->place_cap = MOST_PLACES;
    s->place = pw_alloc(MOST_PLACES, sizeof *s->place);
    if (!in->has(in->arg, length))
        return pw_fail(err, PW_EUSER, "%s: length %d: the task has no samples of it; trained are %d..%d",
                       in->who, length, in->lengths.lo, in->lengths.hi);
    int n = in->n_samples(in->arg, length, o->samples);
    int all = in->n_samples(in->arg, length, 2 * o->samples);
    enum pw_code code = check_length(p, length, n, err);
    if (code != PW_OK)
        return code;
    const struct pw_config *cfg = pw_model_config(in->subject[0].model);
    if (pw_why_has_gold(in, length))
        s->gold = pw_alloc((size_t)(cfg->layers * cfg->heads), sizeof *s->gold);
    s->first = pw_alloc((size_t)n, sizeof *s->first);
    code = pw_why_list(s, in, err);
    if (code != PW_OK)
        return code;
    add_pass(p, 0, length, 0, n);
    add_shorter(p, length);
    for (int k = 1; k < s->n; k++)
        add_pass(p, k, length, 0, n);
    for (int i = 0; i < 2; i++)
        add_pass(p, 0, length, 0, s->gold == NULL ? 0 : n < INSPECTED ? n : INSPECTED);
    add_pass(p, 0, length, n, all - n);
    add_pass(p, -1, length, n, all - n);
    return PW_OK;
}

/* ---- a unit: some samples of a pass */

/* Counts the first error of sample i, which the unchanged model fails. */
static void count_error(struct pw_why_state *s, int i, const int *choices, const int *targets, int n)
{
    int k = 0;
    while (k < n - 1 && choices[k] == targets[k])
        k++;
    s->first[i] = k;
    s->place[k < s->place_cap ? k : s->place_cap - 1]++;
    s->error[choices[k] == PW_WHY_END_MARK   ? PW_WHY_EARLY
             : targets[k] == PW_WHY_END_MARK ? PW_WHY_LATE
                                             : PW_WHY_WRONG]++;
}

static int count_right(const struct pw_why_pass *x)
{
    int n = 0;
    for (int i = 0; i < x->n; i++)
        n += x->right[i];
    return n;
}

/* Returns the candidate of a pass; -1: nothing is to be done. Decides once whether the model works, and which
 * candidate is the best. */
static int candidate_of(struct pw_why_state *s, int pass)
{
    const struct pw_why_pass *x = &s->passes[pass];
    if (pass <= s->n_shorter)
        return 0;
    if (s->works < 0)
        s->works = 20 * (s->passes[0].n - count_right(&s->passes[0])) < s->passes[0].n;
    if (s->works)
        return -1;
    if (pass < s->n_passes - 4)
        return s->list[x->candidate].refused ? -1 : x->candidate;
    if (pass < s->n_passes - 2)
        return 0;
    if (s->best < 0) {
        struct pw_why_effect *effect = pw_why_effects(s);
        int *order = pw_alloc((size_t)s->n, sizeof *order), n = pw_why_rank(order, s, effect);
        s->best = pw_why_best(s, order, n, effect);
        free(order);
        free(effect);
    }
    return s->best == 0 ? -1 : pass == s->n_passes - 1 ? s->best : 0;
}

/* Finds the longest shorter length at which the model works, or the one at which it is best. */
static void find_reference(struct pw_why_state *s)
{
    double best = -1;
    for (int i = 1; i <= s->n_shorter; i++) {
        const struct pw_why_pass *x = &s->passes[i];
        double share = x->n > 0 ? (double)count_right(x) / x->n : 0;
        if (share >= 0.95 || share > best) {
            best = share >= 0.95 ? 1 : share;
            s->reference = x->length;
        }
    }
}

/* Measures the attention of the samples of a pass; works: at the reference length. */
static enum pw_code measure(struct pw_why_state *s, const struct pw_probe_in *in, struct pw_why_pass *x,
                            bool works, struct pw_err *err)
{
    enum pw_code code = PW_OK;
    if (s->reference == 0)
        find_reference(s);
    for (int i = 0; code == PW_OK && i < x->n; i++) {
        if (!works)
            code = pw_why_measure_gold(s, in, x->length, i, s->first[i], false, err);
        else if (s->reference > 0)
            code = pw_why_measure_gold(s, in, s->reference, i, -1, true, err);
    }
    return code;
}

static enum pw_code unit(struct pw_probing_at *p, int u, struct pw_err *err)
{
    const struct pw_probe_in *in = p->in;
    struct pw_why_state *s = p->state;
    int pass = s->n_passes - 1;
    while (s->passes[pass].unit > u || s->passes[pass].n == 0)
        pass--;
    struct pw_why_pass *x = &s->passes[pass];
    int candidate = candidate_of(s, pass), from = (u - x->unit) * PART, n = x->n - from;
    if (candidate < 0)
        return PW_OK;
    if (pass == s->n_passes - 4 || pass == s->n_passes - 3)
        return measure(s, in, x, pass == s->n_passes - 3, err);
    const int *scored;
    const struct pw_batch *b = in->samples(in->arg, x->length, x->first + from, n < PART ? n : PART, &scored);
    int *choices = pw_alloc((size_t)b->n_scored, sizeof *choices);
    enum pw_code code = pw_why_change(s, in, candidate, err);
    if (code == PW_OK)
        code = pw_why_answer(s, in, x->length, x->first + from, b, scored, choices, err);
    if (code == PW_EUSER && candidate > 0) { /* such as fewer learned rows than the samples have tokens */
        s->list[candidate].refused = true;
        code = PW_OK;
    }
    for (int k = 0; k < b->n_seqs && code == PW_OK; k++) {
        bool right = true;
        for (int t = scored[k]; t < scored[k + 1]; t++)
            right = right && choices[t] == b->targets[t];
        x->right[from + k] = right && !s->list[candidate].refused;
        if (pass == 0)
            s->first[from + k] = -1;
        if (pass == 0 && !right)
            count_error(s, from + k, choices + scored[k], b->targets + scored[k], scored[k + 1] - scored[k]);
    }
    free(choices);
    return code;
}

static enum pw_code end(struct pw_probing_at *p, struct pw_finding *f, struct pw_err *err)
{
    (void)err;
    pw_why_report(p, f);
    return PW_OK;
}

static void fini(struct pw_probing_at *p)
{
    struct pw_why_state *s = p->state;
    for (int k = 0; k < s->n; k++)
        free(s->list[k].values);
    for (int i = 0; i < s->n_passes; i++)
        free(s->passes[i].right);
    for (int i = 0; i < s->n_others; i++)
        pw_model_destroy(s->other[i].model);
    free(s->other);
    free(s->list);
    free(s->passes);
    free(s->place);
    free(s->first);
    free(s->gold);
    pw_model_destroy(s->copy);
    free(s);
}

const struct pw_probe pw_probe_why = {
    .name = "why",
    .summary = "test what would recover the exact match that a model lacks at a length",
    .source = "McNemar 1947; Holm 1979; Newcombe 1998, method 10",
    .detail =
        "Changes a copy of one model in one way at a time, on the same samples: options of the encoding, "
        "temperature, scale\nand shift of positions, learned values that were never trained, a window of the "
        "distances seen in training, heads\noff or on; the learned values, the encoding or the attention "
        "patterns of another arm. Two kinds use the right answer\nand are no causes: the end mark given, a "
        "head pointed at the gold pointers. Ranks the changes by recovered exact match,\nwith 95 % intervals "
        "and p-values (Holm). A cause recovers at least half of what is missing. The first one is measured\n"
        "again on further samples. The arm stays unchanged; remarks have the commands that make an arm of a "
        "change. Patterns\ndepend on the tokens, so no command makes an arm of them. 'why LENGTH' is the "
        "same.\nNot tested: clamped distances of a rotation (no operation has them), two changes at once.",
    .opts = pw_why_settings,
    .opts_size = sizeof(struct pw_why_options),
    .takes = PW_PROBE_ARM | PW_PROBE_OTHERS | PW_PROBE_ANSWERS,
    .begin = begin_why,
    .unit = unit,
    .end = end,
    .fini = fini,
};
