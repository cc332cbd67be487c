/* permutation.c - the probe permutation: does attention ignore the order of its tokens? (Su 2024, kexue.fm
 * 10347, Eq. 1 to 3.)
 *
 * The probe creates and initialises its own models. It compares the outputs of a permuted sequence with the
 * permuted outputs of the original, relative to their size. Without mask and encoding the two are equal at
 * any depth. Under a causal mask they differ. Su's sentence ("does not possess permutation invariance") is
 * about the whole output. The last query of one layer sees all keys, and its output still doesn't depend on
 * their order; from two layers on it does. If the arm has an encoding, further models with that encoding show
 * that it takes effect. An encoding that needs the mask shows it in the last query of one causal layer. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "probe/draw.h"
#include "probe/own.h"

/* NOTHING: float32 rounding of 0. SOMETHING: far below the usual effect of the order, 0.3 and more. A_LITTLE:
 * the same of a bias that tokens mix, which begins near 0, and of gates that begin near 1; in an untrained
 * model their effect is 1e-3 and 5e-4. */
#define NOTHING   1e-5
#define SOMETHING 1e-3
#define A_LITTLE  1e-4

enum { DEPTHS = 3, WIDTH = 32, USE_ORDER = 2 };

struct options {
    int samples, length;
};

static const struct pw_opt opts[] = {
    {"samples", PW_OPT_INT, offsetof(struct options, samples), "16", 1, 1024, NULL, 0,
     "sequences, each with its own permutation"},
    {"length", PW_OPT_INT, offsetof(struct options, length), "16", 4, 256, NULL, 0, "tokens per sequence"},
    {0},
};

/* Relative errors of one model over the samples. */
struct errors {
    double whole, whole_most, last, last_most;
};

struct state {
    /* Number of models: without encoding and with the arm's, each without mask and causal, each with
     * 1..DEPTHS layers. masked: the arm's encoding needs the mask, so it has only causal ones. */
    int models;
    bool masked;
    double threshold;    /* for the effect of the arm's encoding: SOMETHING or A_LITTLE */
    bool starts_at_zero; /* its learned values are 0 at first, so untrained models have no encoding */
    struct errors *e;
    float *resid, *permuted; /* [layers+1,T,C] */
    int *tokens, *order;
};

static bool starts_at_zero(const struct pw_pe_use_opts *use, const struct pw_config *cfg)
{
    struct pw_pe_param list[PW_PE_PARAMS];
    int n = use->pe->params != NULL ? use->pe->params(use->o.bytes, cfg, list) : 0;
    bool zero = n > 0;
    for (int i = 0; i < n; i++)
        zero = zero && list[i].std == 0 && list[i].value == 0;
    return zero;
}

static enum pw_code begin_permutation(struct pw_probing_at *p, struct pw_err *err)
{
    const struct options *o = p->opts;
    const struct pw_probe_subject *subject = p->in->subject;
    struct state *s = p->state = pw_alloc(1, sizeof *s);
    int T;
    enum pw_code code = pw_draw_length(&T, p, subject, o->length, 0, err);
    const struct pw_pe *pe = pw_model_pe(subject->model)->pe;
    s->masked = pe->needs_mask;
    s->threshold = pe->uses & (PW_PE_MIXES | PW_PE_WALK) ? A_LITTLE : SOMETHING;
    s->starts_at_zero = starts_at_zero(pw_model_pe(subject->model), pw_model_config(subject->model));
    s->models = DEPTHS * (pe->uses == 0 ? 2 : s->masked ? 3 : 4);
    s->e = pw_alloc((size_t)s->models, sizeof *s->e);
    s->resid = pw_alloc((size_t)(DEPTHS + 1) * o->length * WIDTH, sizeof *s->resid);
    s->permuted = pw_alloc((size_t)(DEPTHS + 1) * o->length * WIDTH, sizeof *s->permuted);
    s->tokens = pw_alloc(2 * (size_t)o->length, sizeof *s->tokens);
    s->order = pw_alloc((size_t)o->length, sizeof *s->order);
    p->units = s->models;
    return code;
}

/* Runs a model on sequence `sample` and on a permutation of it, and keeps both streams. The last token stays
 * in place. */
static enum pw_code run(const struct pw_probing_at *p, struct pw_model *m, int sample, struct pw_err *err)
{
    const struct options *o = p->opts;
    struct state *s = p->state;
    struct pw_rng rng;
    int T = o->length, *permuted = s->tokens + T;
    pw_draw_tokens(s->tokens, T, p->in, (uint64_t)sample);
    pw_draw_init(&rng, p->in, USE_ORDER, (uint64_t)sample);
    for (int i = 0; i < T; i++)
        s->order[i] = i;
    pw_draw_shuffle(&rng, s->order, T - 1);
    for (int i = 0; i < T; i++)
        permuted[i] = s->tokens[s->order[i]];
    enum pw_code code = pw_model_inspect(m, s->tokens, T, &(struct pw_inspection){.resid = s->resid}, err);
    if (code == PW_OK)
        code = pw_model_inspect(m, permuted, T, &(struct pw_inspection){.resid = s->permuted}, err);
    return code;
}

static void add_errors(struct state *s, struct errors *e, int layers, int T, int samples)
{
    const float *y = s->resid + (size_t)layers * T * WIDTH, *z = s->permuted + (size_t)layers * T * WIDTH;
    double off = 0, size = 0, whole, last = 0;
    for (int i = 0; i < T; i++) {
        double off_i = 0, size_i = 0;
        for (int c = 0; c < WIDTH; c++) {
            double a = (double)y[(size_t)s->order[i] * WIDTH + c], b = (double)z[(size_t)i * WIDTH + c];
            off_i += (a - b) * (a - b);
            size_i += a * a;
        }
        off += off_i;
        size += size_i;
        last = sqrt(off_i / size_i);
    }
    whole = sqrt(off / size);
    e->whole += whole / samples;
    e->last += last / samples;
    e->whole_most = whole > e->whole_most ? whole : e->whole_most;
    e->last_most = last > e->last_most ? last : e->last_most;
}

static bool causal_of(const struct state *s, int i)
{
    return i / DEPTHS % 2 == 1 || (s->masked && i >= 2 * DEPTHS);
}

static enum pw_code unit(struct pw_probing_at *p, int i, struct pw_err *err)
{
    const struct options *o = p->opts;
    const struct pw_probe_subject *subject = p->in->subject;
    const struct pw_config *arm = pw_model_config(subject->model);
    struct state *s = p->state;
    int layers = i % DEPTHS + 1;
    struct pw_model *m = NULL;
    struct pw_config cfg =
        pw_own_config(layers, WIDTH, arm->heads, arm->head_width, o->length, p->in->vocab, causal_of(s, i));
    enum pw_code code =
        pw_own_model(&m, p->in, &cfg, i < 2 * DEPTHS ? NULL : pw_model_pe(subject->model), (uint64_t)i, err);
    for (int k = 0; k < o->samples && code == PW_OK; k++) {
        code = run(p, m, k, err);
        if (code == PW_OK)
            add_errors(s, &s->e[i], layers, o->length, o->samples);
    }
    pw_model_destroy(m);
    return code;
}

/* ---- claims */

static void claims(const struct state *s, struct pw_finding *f, const char *pe)
{
    const struct errors *bare = s->e, *causal = s->e + DEPTHS, *wired = s->e + 2 * DEPTHS;
    double most = 0, least = INFINITY, least_deep = INFINITY, least_wired = INFINITY;
    for (int l = 0; l < DEPTHS; l++) {
        most = bare[l].whole_most > most ? bare[l].whole_most : most;
        least = causal[l].whole < least ? causal[l].whole : least;
        if (l > 0)
            least_deep = causal[l].last < least_deep ? causal[l].last : least_deep;
        if (s->models > 2 * DEPTHS)
            least_wired = wired[l].whole < least_wired ? wired[l].whole : least_wired;
    }
    pw_finding_claim(f, pw_claim_holds(most <= NOTHING),
                     "Su 2024, Eq. 2: bidirectional attention without an encoding is blind to order",
                     "1 to %d layers: error at most %.1e (tolerance %.0e)", DEPTHS, most, NOTHING);
    pw_finding_claim(
        f, pw_claim_holds(least > SOMETHING),
        "Su 2024, Eq. 3: causal attention without an encoding isn't blind to order, over the whole output",
        "1 to %d layers: mean error at least %.2f (threshold %g)", DEPTHS, least, SOMETHING);
    pw_finding_claim(
        f, pw_claim_holds(causal[0].last_most <= NOTHING && least_deep > SOMETHING),
        "correction: the last token of one causal layer is blind to order; of two or more layers, it isn't",
        "one layer: error at most %.1e; more layers: mean error at least %.2f", causal[0].last_most,
        least_deep);
    if (s->masked && s->starts_at_zero)
        pw_finding_remark(f,
                          "%s starts with zeros, so these untrained models have no encoding yet, and nothing "
                          "is claimed about it",
                          pe);
    else if (s->masked)
        pw_finding_claim(
            f, pw_claim_holds(wired[0].last > s->threshold),
            "with an encoding that needs the mask, the last token of one causal layer isn't blind "
            "to order (a check that the encoding takes effect)",
            "%s: mean error %.2g (threshold %g)", pe, wired[0].last, s->threshold);
    else if (s->models > 2 * DEPTHS)
        pw_finding_claim(f, pw_claim_holds(least_wired > s->threshold),
                         "with an encoding, attention without a mask isn't blind to order either (a check "
                         "that the encoding takes effect)",
                         "%s: mean error at least %.2g (threshold %g)", pe, least_wired, s->threshold);
}

static enum pw_code end(struct pw_probing_at *p, struct pw_finding *f, struct pw_err *err)
{
    const struct options *o = p->opts;
    const struct state *s = p->state;
    const char *pe = pw_model_pe(p->in->subject->model)->pe->name;
    (void)err;
    pw_finding_init(f, "permutation", p->in->topic,
                    "outputs of a permuted sequence, compared with the permuted outputs: %d sequences of %d "
                    "tokens, untrained models",
                    o->samples, o->length);
    int b = pw_finding_table(f, "relative error, by encoding, mask and layers", s->models, 4);
    const char *const heads[] = {"mean", "largest", "last token", "largest"};
    for (int c = 0; c < 4; c++)
        pw_finding_col(f, b, c, "%s", heads[c]);
    for (int i = 0; i < s->models; i++) {
        const double row[] = {s->e[i].whole, s->e[i].whole_most, s->e[i].last, s->e[i].last_most};
        pw_finding_row(f, b, i, "%.10s, %s, %d", i < 2 * DEPTHS ? "none" : pe,
                       causal_of(s, i) ? "causal" : "no mask", i % DEPTHS + 1);
        for (int c = 0; c < 4; c++)
            pw_finding_put(f, b, i, c, row[c]);
    }
    claims(s, f, pe);
    pw_finding_remark(f, "the statement of Su 2024 on causal attention is about the whole output: the last "
                         "query of one layer sees every key, so it is blind to their order");
    return PW_OK;
}

static void fini(struct pw_probing_at *p)
{
    struct state *s = p->state;
    free(s->e);
    free(s->resid);
    free(s->permuted);
    free(s->tokens);
    free(s->order);
    free(s);
}

const struct pw_probe pw_probe_permutation = {
    .name = "permutation",
    .summary = "test whether attention is blind to order: with and without mask, 1 to 3 layers, with the "
               "arm's encoding",
    .source = "Su 2024 (kexue.fm 10347), Eq. 1 to 3",
    .opts = opts,
    .opts_size = sizeof(struct options),
    .takes = PW_PROBE_ARM,
    .begin = begin_permutation,
    .unit = unit,
    .end = end,
    .fini = fini,
};
