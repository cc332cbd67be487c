/* theorem2.c - the probe theorem2: a Transformer without positional encoding can compute relative positions
 * from absolute ones. It checks every step of the proof in an arm made by `construct theorem2` (Kazemnejad et
 * al. 2023, theorem 2 and appendix C.2).
 *
 * In the second layer the query is (1, -t, ...) and the key is (i, 1, ...). Their product is content - (t -
 * i), which is ALiBi with slope 1. The position t comes from the first layer (theorem1.c). Beyond the width T
 * of that layer's MLP, distances shrink along with t. The other dimensions of a head add the content.
 *
 * Erratum: Eq. 29 defines the keys, but its left side is W_V. */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/maths.h"
#include "model/theorem.h"
#include "probe/proof.h"

/* The position's part is exact. A score is a float32 chain over the dimensions of a head, and each added
 * content term may round off 2^-24 of it. If that is more than DISTANCE, as at long distances, it is the
 * threshold. */
#define DISTANCE 1e-5
#define ROUNDING 0x1p-24

enum {
    ROWS = 8,    /* rows of tables */
    SIDE = 32,   /* side of maps */
    PAIRS = 256, /* scores of this many positions are compared one by one */
    /* the softmax of a row of this length is shown, as in the ALiBi illustration of Kazemnejad et al.
     * 2023. */
    ROW = 4
};

struct options {
    int positions;
};

static const struct pw_opt opts[] = {
    {PW_PROOF_POSITIONS, PW_OPT_INT, offsetof(struct options, positions), "0", 0, PW_PROOF_MOST, NULL, 0,
     PW_PROOF_POSITIONS_HELP},
    {0},
};

/* Results of one model. */
struct pass {
    float *q, *k; /* [L,N,H,D] */
};

struct state {
    struct pw_proof proof;
    struct pass now, then; /* the arm, and its construction before training */
    float *score;          /* [L,H,pairs,pairs] */
    int pairs;
};

/* ---- measuring */

static bool alloc_pass(struct pass *x, const struct pw_proof *s)
{
    size_t heads = (size_t)s->cfg->layers * s->N * s->cfg->heads * s->cfg->head_width;
    x->q = malloc(heads * sizeof *x->q);
    x->k = malloc(heads * sizeof *x->k);
    return x->q != NULL && x->k != NULL;
}

static enum pw_code begin_theorem2(struct pw_probing_at *p, struct pw_err *err)
{
    struct state *s = p->state = pw_alloc(1, sizeof *s);
    enum pw_code code = pw_proof_init(&s->proof, p, 2, ((const struct options *)p->opts)->positions, err);
    if (code != PW_OK)
        return code;
    const struct pw_config *c = s->proof.cfg;
    s->pairs = s->proof.N < PAIRS ? s->proof.N : PAIRS;
    s->score = malloc((size_t)c->layers * c->heads * s->pairs * s->pairs * sizeof *s->score);
    if (s->score == NULL || !alloc_pass(&s->now, &s->proof) || !alloc_pass(&s->then, &s->proof))
        return pw_fail(err, PW_ENOMEM, "probe theorem2: out of memory for %d tokens", s->proof.N);
    p->units = s->proof.moved ? 3 : 2;
    return PW_OK;
}

static enum pw_code check_construction(struct pass *x, struct pw_model *m, const struct pw_proof *s,
                                       struct pw_err *err)
{
    return pw_model_inspect(m, s->tokens, s->N, &(struct pw_inspection){.q = x->q, .k = x->k}, err);
}

static enum pw_code unit(struct pw_probing_at *p, int i, struct pw_err *err)
{
    struct state *s = p->state;
    const struct pw_probe_subject *a = &p->in->subject[0];
    if (i == 0)
        return pw_model_inspect(a->model, s->proof.tokens, s->pairs,
                                &(struct pw_inspection){.score = s->score}, err);
    return i == 1 ? check_construction(&s->now, a->model, &s->proof, err)
                  : check_construction(&s->then, a->control, &s->proof, err);
}

/* ---- errors: of head 0 in the second layer; t and i count from 1 */

/* The row of q or k at position t. */
static const float *row_of(const float *x, const struct pw_proof *s, int t)
{
    return x + (size_t)(s->N + t - 1) * s->cfg->heads * s->cfg->head_width;
}

/* The part of q.k from dimensions 1 and 2: the position's. */
static double relative(const struct pass *x, const struct pw_proof *s, int t, int i)
{
    const float *q = row_of(x->q, s, t), *k = row_of(x->k, s, i);
    return (double)q[0] * k[0] + (double)q[1] * k[1];
}

/* The part of q.k from all other dimensions: the content's. */
static double content(const struct pass *x, const struct pw_proof *s, int t, int i)
{
    const float *q = row_of(x->q, s, t), *k = row_of(x->k, s, i);
    double sum = 0;
    for (int d = 2; d < s->cfg->head_width; d++)
        sum += (double)q[d] * k[d];
    return sum;
}

static double score(const struct state *s, int t, int i)
{
    size_t n = (size_t)s->pairs;
    return s->score[(size_t)s->proof.cfg->heads * n * n + (size_t)(t - 1) * n + (size_t)(i - 1)];
}

/* The largest error over all pairs of positions up to n. */
static double worst_relative(const struct pass *x, const struct pw_proof *s, int n)
{
    double worst = 0;
    for (int t = 1; t <= n; t++)
        for (int i = 1; i <= t; i++)
            worst = fmax(worst, fabs(relative(x, s, t, i) + (t - i)));
    return worst;
}

static double worst_score(const struct state *s, int n, double *allowed)
{
    double worst = 0, largest = 0;
    for (int t = 1; t <= n; t++)
        for (int i = 1; i <= t; i++) {
            largest = fmax(largest, fabs(score(s, t, i)));
            worst = fmax(worst, fabs(score(s, t, i) - (content(&s->now, &s->proof, t, i) - (t - i))));
        }
    *allowed = fmax(DISTANCE, (s->proof.cfg->head_width - 2) * ROUNDING * largest);
    return worst;
}

static void add_vectors(const struct state *s, const struct pw_probing_at *p, struct pw_finding *f)
{
    const struct pw_proof *proof = &s->proof;
    int rows = proof->N < ROWS ? proof->N : ROWS;
    int b =
        pw_finding_table(f, "second layer, head 0 (Eq. 31, 33): q = (1, -t, ...), k = (i, 1, ...)", rows, 4);
    for (int i = 0; i < 4; i++)
        pw_finding_col(f, b, i, "%s %d", i < 2 ? "q" : "k", i % 2 + 1);
    for (int t = 1; t <= rows; t++) {
        pw_proof_row(proof, p, f, b, t);
        for (int i = 0; i < 2; i++) {
            pw_finding_put(f, b, t - 1, i, row_of(s->now.q, proof, t)[i]);
            pw_finding_put(f, b, t - 1, i + 2, row_of(s->now.k, proof, t)[i]);
        }
    }
}

static void add_maps(const struct state *s, struct pw_finding *f)
{
    int n = s->pairs < SIDE ? s->pairs : SIDE;
    int cnt =
        pw_finding_map(f, "f_cnt: contribution of the content to the score (Eq. 36)", n, n, 0, 0, false);
    int rel = pw_finding_map(f, "f_rel = -(t - i): contribution of the position", n, n, 0, 0, false);
    int all = pw_finding_map(f, "the score", n, n, 0, 0, false);
    for (int t = 1; t <= n; t++)
        for (int i = 1; i <= t; i++) {
            pw_finding_put(f, cnt, t - 1, i - 1, content(&s->now, &s->proof, t, i));
            pw_finding_put(f, rel, t - 1, i - 1, relative(&s->now, &s->proof, t, i));
            pw_finding_put(f, all, t - 1, i - 1, score(s, t, i));
        }
}

/* Adds a table of the attention row that position alone gives. */
static void add_softmax(const struct state *s, struct pw_finding *f)
{
    double sum = 0, proof = 0;
    if (s->proof.N < ROW)
        return;
    int b = pw_finding_table(f, "attention at t = 4 with zero content", ROW, 2);
    pw_finding_col(f, b, 0, "arm");
    pw_finding_col(f, b, 1, "proof");
    for (int i = 1; i <= ROW; i++) {
        sum += pw_exp(relative(&s->now, &s->proof, ROW, i));
        proof += pw_exp(i - ROW);
    }
    for (int i = 1; i <= ROW; i++) {
        pw_finding_row(f, b, i - 1, "key %d", i);
        pw_finding_put(f, b, i - 1, 0, pw_exp(relative(&s->now, &s->proof, ROW, i)) / sum);
        pw_finding_put(f, b, i - 1, 1, pw_exp(i - ROW) / proof);
    }
}

/* Adds a plot of the position's part by distance, for the last query that the MLP counts correctly, and for
 * the last of all queries. */
static void add_plot(const struct state *s, struct pw_finding *f)
{
    const struct pw_proof *proof = &s->proof;
    int at[PW_PROOF_POINTS], n = pw_proof_points(at, proof->N, proof->T);
    int right = proof->N < proof->T ? proof->N : proof->T, bends = proof->N > proof->T;
    int curves = 1 + bends, refs = 1 + bends + proof->moved, c = 0;
    int b = pw_finding_plot(f, "contribution of the position to the score, by distance", "t - i", "score", n,
                            curves + refs, false);
    double last = pw_theorem_count(1.0 / proof->N, proof->T);
    f->blocks[b].n_reference = refs;
    pw_finding_name(f, b, c++, "t=%d", right);
    if (bends)
        pw_finding_name(f, b, c++, "t=%d", proof->N);
    pw_finding_name(f, b, c++, "-(t - i)");
    if (bends)
        pw_finding_name(f, b, c++, "predicted at %d", proof->N);
    if (proof->moved)
        pw_finding_name(f, b, c++, "t=%d as constructed", right);
    for (int k = 0; k < n; k++) {
        int d = at[k] - 1;
        c = 0;
        pw_finding_x(f, b, k, d);
        pw_finding_y(f, b, k, c++, d < right ? relative(&s->now, proof, right, right - d) : NAN);
        if (bends)
            pw_finding_y(f, b, k, c++, relative(&s->now, proof, proof->N, proof->N - d));
        pw_finding_y(f, b, k, c++, -d);
        if (bends)
            pw_finding_y(f, b, k, c++, pw_theorem_count(1.0 / (proof->N - d), proof->T) - last);
        if (proof->moved)
            pw_finding_y(f, b, k, c++, d < right ? relative(&s->then, proof, right, right - d) : NAN);
    }
}

static enum pw_code end(struct pw_probing_at *p, struct pw_finding *f, struct pw_err *err)
{
    struct state *s = p->state;
    const struct pw_proof *proof = &s->proof;
    int right = proof->N < proof->T ? proof->N : proof->T, pairs = right < s->pairs ? right : s->pairs;
    double allowed, all = worst_score(s, pairs, &allowed), rel = worst_relative(&s->now, proof, right);
    (void)err;
    pw_finding_init(f, "theorem2", p->in->topic,
                    "relative positions without an encoding: arm %s, T=%d, %d positions",
                    p->in->subject[0].name, proof->T, proof->N);
    add_vectors(s, p, f);
    add_maps(s, f);
    add_softmax(s, f);
    add_plot(s, f);
    pw_proof_remarks(proof, p, f);
    if (proof->moved) {
        pw_finding_remark(f,
                          "largest error of the distance term: %.3g now, %.3g as constructed, for t up to %d",
                          rel, worst_relative(&s->then, proof, right), right);
    } else {
        pw_finding_claim(f, pw_proof_verdict(p, all <= allowed),
                         "Kazemnejad et al. 2023, theorem 2 and Eq. 36: the score is content minus distance",
                         "all %d pairs up to t=%d: error %.1e (tolerance %.1e)", pairs * (pairs + 1) / 2,
                         pairs, all, allowed);
        pw_finding_claim(
            f, pw_proof_verdict(p, rel <= DISTANCE),
            "Kazemnejad et al. 2023, Eq. 37: the contribution of the position is a function of t - i alone",
            "-(t - i) for all pairs up to t=%d: error %.1e (tolerance %.1e)", right, rel, DISTANCE);
    }
    if (proof->N > proof->T)
        pw_finding_remark(f, "beyond T=%d the MLP of the first layer no longer counts, so distances shrink",
                          proof->T);
    pw_finding_remark(
        f, "errata: Eq. 29 defines the keys, so its matrix is W_K, not W_V; the sum in Eq. 35 ends at h");
    return PW_OK;
}

static void fini(struct pw_probing_at *p)
{
    struct state *s = p->state;
    pw_proof_fini(&s->proof);
    free(s->now.q);
    free(s->now.k);
    free(s->then.q);
    free(s->then.k);
    free(s->score);
    free(s);
}

const struct pw_probe pw_probe_theorem2 = {
    .name = "theorem2",
    .summary = "proof that NoPE can compute relative positions: check its steps in an arm of 'construct'",
    .source = "Kazemnejad et al. 2023, appendix C.2",
    .detail = "The sequence starts with the pinned prompt, if there is one. An arm that was trained since "
              "its construction\nis shown beside the initial construction.",
    .opts = opts,
    .opts_size = sizeof(struct options),
    .takes = PW_PROBE_ARM | PW_PROBE_CONTROL | PW_PROBE_ANY_PROMPT,
    .begin = begin_theorem2,
    .unit = unit,
    .end = end,
    .fini = fini,
};
