/* theorem1.c - the probe theorem1: a Transformer without positional encoding can represent absolute
 * positions. It checks every step of the proof in an arm made by `construct theorem1` (Kazemnejad et al.
 * 2023, theorem 1 and appendix C.1).
 *
 * The proof ends with 1/t in dimension 3 of the stream, and states that an MLP can compute t from it. The MLP
 * of src/model/theorem.c counts up to its width T: it outputs t = 1 ... T, and beyond T a curve that bends
 * towards 2T - 1. Some readers take the proof to recover only the position of <bos>. But the flag that only
 * <bos> has is averaged over the t visible tokens, so every t has its own 1/t.
 *
 * The head's output is computed from its values and the third row of W_O, not from the proof. The numbers are
 * therefore also valid for an arm that was trained further. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/theorem.h"
#include "probe/proof.h"

/* Float32 rounds 1/t to 6e-8; the rest of the tolerance is for the softmax. */
#define RECIPROCAL 1e-6
/* A score is a chain of head_width float32 products; the sum to compare with is in double precision. */
#define SUM 1e-5
/* Far below the distance of neighbouring positions, and far above float32 rounding (1e-4 at 2048). */
#define COUNT 1e-3
/* Relative tolerance beyond T: the MLP rounds to 2^-28 T^2, less than 1e-4 of t up to T = 4096. */
#define BEND 1e-4

enum { ROWS = 8 /* rows of tables */, SIDE = 32 /* side of the map */ };

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
    float *stream;        /* [L+1,N,C] */
    float *q, *k, *v, *z; /* [L,N,H,D] */
    double *mean, *count; /* [N] dimension 3 after attention, and after the MLP */
};

struct state {
    struct pw_proof proof;
    struct pass now, then; /* the arm, and its construction before training */
    float *probs, *score;  /* [L,H,side,side] */
    int side;
};

/* ---- measuring */

static bool alloc_pass(struct pass *x, const struct pw_proof *s)
{
    const struct pw_config *c = s->cfg;
    size_t heads = (size_t)c->layers * s->N * c->heads * c->head_width;
    x->stream = malloc(((size_t)c->layers + 1) * s->N * c->width * sizeof *x->stream);
    x->q = malloc(heads * sizeof *x->q);
    x->k = malloc(heads * sizeof *x->k);
    x->v = malloc(heads * sizeof *x->v);
    x->z = malloc(heads * sizeof *x->z);
    x->mean = pw_alloc((size_t)s->N, sizeof *x->mean);
    x->count = pw_alloc((size_t)s->N, sizeof *x->count);
    return x->stream != NULL && x->q != NULL && x->k != NULL && x->v != NULL && x->z != NULL;
}

static void free_pass(struct pass *x)
{
    free(x->stream);
    free(x->q);
    free(x->k);
    free(x->v);
    free(x->z);
    free(x->mean);
    free(x->count);
}

static enum pw_code begin_theorem1(struct pw_probing_at *p, struct pw_err *err)
{
    struct state *s = p->state = pw_alloc(1, sizeof *s);
    enum pw_code code = pw_proof_init(&s->proof, p, 1, ((const struct options *)p->opts)->positions, err);
    if (code != PW_OK)
        return code;
    const struct pw_config *c = s->proof.cfg;
    s->side = s->proof.N < SIDE ? s->proof.N : SIDE;
    s->probs = malloc((size_t)c->layers * c->heads * s->side * s->side * sizeof *s->probs);
    s->score = malloc((size_t)c->layers * c->heads * s->side * s->side * sizeof *s->score);
    if (s->probs == NULL || s->score == NULL || !alloc_pass(&s->now, &s->proof) ||
        !alloc_pass(&s->then, &s->proof))
        return pw_fail(err, PW_ENOMEM, "probe theorem1: out of memory for %d tokens", s->proof.N);
    p->units = s->proof.moved ? 3 : 2;
    return PW_OK;
}

/* Row 3 of the first layer's W_O, [H*D]. The caller frees it. */
static float *third_row(struct pw_model *m, int HD)
{
    float *row = pw_alloc((size_t)HD, sizeof *row);
    int n;
    const struct pw_param *t = pw_model_params(m, &n);
    while (strcmp(t->name, "layers.0.attn.o.weight") != 0)
        t++;
    pw_model_read_acting(m, row, t->offset + 2 * (size_t)HD, (size_t)HD);
    return row;
}

static enum pw_code check_construction(struct pass *x, struct pw_model *m, const struct pw_proof *s,
                                       struct pw_err *err)
{
    size_t C = (size_t)s->cfg->width, HD = (size_t)s->cfg->heads * s->cfg->head_width, N = (size_t)s->N;
    const struct pw_inspection want = {.resid = x->stream, .q = x->q, .k = x->k, .v = x->v, .z = x->z};
    enum pw_code code = pw_model_inspect(m, s->tokens, s->N, &want, err);
    if (code != PW_OK)
        return code;
    float *out = third_row(m, (int)HD);
    for (size_t t = 0; t < N; t++) {
        x->mean[t] = x->stream[t * C + 2];
        for (size_t i = 0; i < HD; i++)
            x->mean[t] += (double)out[i] * x->z[t * HD + i];
        x->count[t] = x->stream[(N + t) * C + 2];
    }
    free(out);
    return PW_OK;
}

static enum pw_code unit(struct pw_probing_at *p, int i, struct pw_err *err)
{
    struct state *s = p->state;
    const struct pw_probe_subject *a = &p->in->subject[0];
    if (i == 0)
        return pw_model_inspect(a->model, s->proof.tokens, s->side,
                                &(struct pw_inspection){.probs = s->probs, .score = s->score}, err);
    return i == 1 ? check_construction(&s->now, a->model, &s->proof, err)
                  : check_construction(&s->then, a->control, &s->proof, err);
}

/* ---- errors */

struct worst {
    double reciprocal; /* relative error of 1/t */
    double keys;       /* largest difference between two keys of head 0 */
    double count;      /* error of t, up to T */
    double bend;       /* relative error of the curve beyond T */
    int merged;        /* positions with 1/t not smaller than at the previous position */
};

static struct worst worst_of(const struct pass *x, const struct pw_proof *s)
{
    struct worst w = {0};
    size_t HD = (size_t)s->cfg->heads * s->cfg->head_width;
    for (int t = 1; t <= s->N; t++) {
        double u = x->mean[t - 1];
        w.reciprocal = fmax(w.reciprocal, fabs(u * t - 1));
        w.merged += t < s->N && !(u > x->mean[t]);
        for (int d = 0; d < s->cfg->head_width; d++)
            w.keys = fmax(w.keys, fabs((double)x->k[(size_t)(t - 1) * HD + d] - x->k[d]));
        if (t <= s->T)
            w.count = fmax(w.count, fabs(x->count[t - 1] - t));
        else
            w.bend = fmax(w.bend, fabs(x->count[t - 1] / pw_theorem_count(1.0 / t, s->T) - 1));
    }
    return w;
}

/* Eq. 24: the largest difference between a score of head 0 and the sum of its query, relative to the largest
 * score. */
static double worst_sum(const struct state *s)
{
    const struct pw_config *c = s->proof.cfg;
    double worst = 0, most = 0;
    for (int t = 0; t < s->side; t++) {
        double sum = 0;
        for (int d = 0; d < c->head_width; d++)
            sum += (double)s->now.q[(size_t)t * c->heads * c->head_width + d];
        sum *= c->scale ? 1 / sqrt(c->head_width) : 1;
        most = fmax(most, fabs(sum));
        for (int i = 0; i <= t; i++)
            worst = fmax(worst, fabs((double)s->score[t * s->side + i] - sum));
    }
    return most > 0 ? worst / most : worst;
}

static void add_tables(const struct state *s, const struct pw_probing_at *p, struct pw_finding *f)
{
    const struct pw_proof *proof = &s->proof;
    const struct pass *x = &s->now;
    size_t C = (size_t)proof->cfg->width, HD = (size_t)proof->cfg->heads * proof->cfg->head_width;
    int rows = proof->N < ROWS ? proof->N : ROWS;
    int h0 = pw_finding_table(
        f, "H0, the word embeddings (Eq. 20): the three dimensions of the proof, and the next one", rows,
        PW_THEOREM_DIMS + 1);
    static const char *const steps[] = {"key", "value", "on <bos>", "after head", "after MLP"};
    int layer = pw_finding_table(f, "head 0 of the first layer, and its MLP (Eq. 22 to 27)", rows, 5);
    for (int i = 0; i <= PW_THEOREM_DIMS; i++)
        pw_finding_col(f, h0, i, "dim %d", i + 1);
    for (int i = 0; i < 5; i++)
        pw_finding_col(f, layer, i, "%s", steps[i]);
    for (int t = 0; t < rows; t++) {
        pw_proof_row(proof, p, f, h0, t + 1);
        pw_proof_row(proof, p, f, layer, t + 1);
        for (int i = 0; i <= PW_THEOREM_DIMS; i++)
            pw_finding_put(f, h0, t, i, x->stream[(size_t)t * C + i]);
        pw_finding_put(f, layer, t, 0, x->k[(size_t)t * HD]);
        pw_finding_put(f, layer, t, 1, x->v[(size_t)t * HD]);
        pw_finding_put(f, layer, t, 2, s->probs[t * s->side]);
        pw_finding_put(f, layer, t, 3, x->mean[t]);
        pw_finding_put(f, layer, t, 4, x->count[t]);
    }
    int map =
        pw_finding_map(f, "attention of head 0 (Eq. 25): 1/t in every row", s->side, s->side, 0, 0, false);
    for (int i = 0; i < s->side; i++)
        for (int j = 0; j <= i; j++)
            pw_finding_put(f, map, i, j, s->probs[i * s->side + j]);
}

/* x, or NaN if it is not positive: a logarithmic axis can't show it. An arm that was trained further may
 * output any value. */
static double above_zero(double x)
{
    return x > 0 ? x : NAN;
}

static void add_plots(const struct state *s, struct pw_finding *f)
{
    const struct pw_proof *proof = &s->proof;
    int at[PW_PROOF_POINTS], n = pw_proof_points(at, proof->N, proof->T), then = proof->moved ? 1 : 0;
    int mean =
        pw_finding_plot(f, "dimension 3 after attention (Eq. 27)", "t", "dimension 3", n, 2 + then, false);
    int count = pw_finding_plot(f, "dimension 3 after the MLP", "t", "dimension 3", n, 3 + then, false);
    f->blocks[mean].log_x = f->blocks[mean].log_y = true;
    f->blocks[mean].n_reference = 1 + then;
    f->blocks[count].n_reference = 2 + then;
    pw_finding_name(f, mean, 0, "arm");
    pw_finding_name(f, count, 0, "arm");
    if (proof->moved) {
        pw_finding_name(f, mean, 1, "as constructed");
        pw_finding_name(f, count, 1, "as constructed");
    }
    pw_finding_name(f, mean, 1 + then, "1/t");
    pw_finding_name(f, count, 1 + then, "t");
    pw_finding_name(f, count, 2 + then, "predicted for T=%d", proof->T);
    for (int i = 0; i < n; i++) {
        int t = at[i];
        pw_finding_x(f, mean, i, t);
        pw_finding_x(f, count, i, t);
        pw_finding_y(f, mean, i, 0, above_zero(s->now.mean[t - 1]));
        pw_finding_y(f, count, i, 0, s->now.count[t - 1]);
        if (proof->moved) {
            pw_finding_y(f, mean, i, 1, s->then.mean[t - 1]);
            pw_finding_y(f, count, i, 1, s->then.count[t - 1]);
        }
        pw_finding_y(f, mean, i, 1 + then, 1.0 / t);
        pw_finding_y(f, count, i, 1 + then, t);
        pw_finding_y(f, count, i, 2 + then, pw_theorem_count(1.0 / t, proof->T));
    }
}

/* Adds a table of the curve beyond T. */
static void add_bend(const struct state *s, struct pw_finding *f)
{
    const struct pw_proof *proof = &s->proof;
    const int T = proof->T, quarters[] = {4, 5, 8, 16};
    int at[4], rows = 0;
    for (int i = 0; i < 4; i++) {
        int t = quarters[i] * T / 4;
        if (t <= proof->N && (rows == 0 || t > at[rows - 1]))
            at[rows++] = t;
    }
    if (rows < 2) {
        pw_finding_remark(f,
                          "%d positions with T=%d are too few to show where the curve of the MLP bends; use "
                          "'construct theorem1 T=%d context=%d'",
                          proof->N, T, T, pw_theorem_positions(T));
        return;
    }
    int b = pw_finding_table(f, "output of the MLP beyond its width", rows, 2);
    pw_finding_col(f, b, 0, "it says");
    pw_finding_col(f, b, 1, "predicted");
    for (int i = 0; i < rows; i++) {
        pw_finding_row(f, b, i, "t=%d", at[i]);
        pw_finding_put(f, b, i, 0, s->now.count[at[i] - 1]);
        pw_finding_put(f, b, i, 1, pw_theorem_count(1.0 / at[i], T));
    }
    pw_finding_remark(f,
                      "the MLP of an existence proof has a finite width: T=%d positions need %d hidden "
                      "units, and at any sequence length its output stays below %d",
                      T, proof->cfg->ffn, 2 * T);
}

static void add_moved(const struct state *s, const struct worst *now, struct pw_finding *f)
{
    const struct worst then = worst_of(&s->then, &s->proof);
    int b = pw_finding_table(f, "change since the construction: largest errors", 3, 2);
    pw_finding_col(f, b, 0, "now");
    pw_finding_col(f, b, 1, "as constructed");
    pw_finding_row(f, b, 0, "1/t, relative");
    pw_finding_row(f, b, 1, "keys, apart");
    pw_finding_row(f, b, 2, "t up to %d", s->proof.T);
    pw_finding_put(f, b, 0, 0, now->reciprocal);
    pw_finding_put(f, b, 0, 1, then.reciprocal);
    pw_finding_put(f, b, 1, 0, now->keys);
    pw_finding_put(f, b, 1, 1, then.keys);
    pw_finding_put(f, b, 2, 0, now->count);
    pw_finding_put(f, b, 2, 1, then.count);
}

static void add_claims(const struct state *s, const struct worst *w, const struct pw_probing_at *p,
                       struct pw_finding *f)
{
    int N = s->proof.N, T = s->proof.T;
    pw_finding_claim(
        f, pw_proof_verdict(p, w->reciprocal <= RECIPROCAL && w->keys == 0),
        "Kazemnejad et al. 2023, Eq. 22 to 27: all keys are equal, so the first layer writes 1/t at every t",
        "t = 1..%d: relative error of 1/t %.1e (tolerance %.0e), keys differ by %.1g", N, w->reciprocal,
        RECIPROCAL, w->keys);
    double sums = worst_sum(s);
    pw_finding_claim(f, pw_proof_verdict(p, sums <= SUM),
                     "Kazemnejad et al. 2023, Eq. 24: every score of a query is q_1 + ... + q_h",
                     "t = 1..%d, all keys: relative error %.1e (tolerance %.0e)", s->side, sums, SUM);
    pw_finding_claim(f, pw_proof_verdict(p, w->merged == 0),
                     "Theorem 1: absolute positions are recovered, so no two positions have the same value",
                     "%d of %d positions have a smaller value than the one before", N - 1 - w->merged, N - 1);
    pw_finding_claim(f, pw_proof_verdict(p, w->count <= COUNT),
                     "C.1: a ReLU MLP of sufficient width recovers t from 1/t",
                     "t = 1..%d: error %.1e (tolerance %.0e) with %d hidden units", N < T ? N : T, w->count,
                     COUNT, s->proof.cfg->ffn);
    if (N > T)
        pw_finding_claim(
            f, pw_proof_verdict(p, w->bend <= BEND),
            "limit of C.1: the MLP counts only up to its width T; beyond T its curve bends towards 2T - 1",
            "t = %d..%d: relative error of the predicted curve %.1e (tolerance %.0e)", T + 1, N, w->bend,
            BEND);
}

static enum pw_code end(struct pw_probing_at *p, struct pw_finding *f, struct pw_err *err)
{
    struct state *s = p->state;
    const struct worst w = worst_of(&s->now, &s->proof);
    (void)err;
    pw_finding_init(f, "theorem1", p->in->topic,
                    "absolute positions without an encoding: arm %s, T=%d, %d positions",
                    p->in->subject[0].name, s->proof.T, s->proof.N);
    add_tables(s, p, f);
    add_plots(s, f);
    add_bend(s, f);
    pw_proof_remarks(&s->proof, p, f);
    if (s->proof.moved)
        add_moved(s, &w, f);
    else
        add_claims(s, &w, p, f);
    pw_finding_remark(f, "1/t is available at every t, not only at <bos>: the flag of <bos> is averaged over "
                         "the t tokens that a query sees");
    if (!s->proof.moved)
        pw_finding_remark(f, "in float32 a sum of T terms deviates from t, by 6e-3 at T=2048; two of the "
                             "hidden units add and subtract a constant, which rounds the sum");
    pw_finding_remark(f, "errata: before Eq. 19, 'W_Q will write' must be W_O; the last row of Eq. 17 and 20 "
                         "repeats e_{d,2}; the stream already holds 1/t, so the MLP adds t - 1/t");
    return PW_OK;
}

static void fini(struct pw_probing_at *p)
{
    struct state *s = p->state;
    pw_proof_fini(&s->proof);
    free_pass(&s->now);
    free_pass(&s->then);
    free(s->probs);
    free(s->score);
    free(s);
}

const struct pw_probe pw_probe_theorem1 = {
    .name = "theorem1",
    .summary = "proof that NoPE can represent absolute positions: check its steps in an arm of 'construct'",
    .source = "Kazemnejad et al. 2023, appendix C.1",
    .detail = "The sequence starts with the pinned prompt, if there is one. An arm that was trained since "
              "its construction\nis shown beside the initial construction.",
    .opts = opts,
    .opts_size = sizeof(struct options),
    .takes = PW_PROBE_ARM | PW_PROBE_CONTROL | PW_PROBE_ANY_PROMPT,
    .begin = begin_theorem1,
    .unit = unit,
    .end = end,
    .fini = fini,
};
