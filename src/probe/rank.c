/* rank.c - the probe rank: the number of dimensions that hold position in a model (Su 2024, kexue.fm 10347,
 * shortcoming 1: "only compresses positional information into a single scalar").
 *
 * The mean of a state at position t over many sequences of random tokens depends on position alone. These
 * means, centred over positions, are decomposed by PCA. The probe reports the share of the first component,
 * and the effective rank (sum lambda)^2 / sum lambda^2. A straight line has one component, whatever the
 * spacing of its points.
 *
 * A mean over finitely many sequences keeps some of the content. The probe therefore splits the sequences
 * into two halves and multiplies the means of one half by those of the other; the content cancels on average.
 * Its remainder has eigenvalues of both signs, unlike a covariance. Division by a trace that includes the
 * negative ones gave first components of up to 1.0014 of the variance. Hence:
 *
 *     first component   lambda_1 / sum of the positive lambda: at most 1, and an underestimate, because the
 *                       positive half of the remainder is in the sum
 *     effective rank    of those lambda that exceed the absolute value of the most negative one, so that
 *                       they can't belong to the remainder: at least 1, and an underestimate, because
 *                       weak components count as 0
 *
 * Each errs against the claim that it supports. Position's share of the whole variance needs no such care. It
 * is at most 1: the product of two means is at most the mean of their squares, and this is at most the mean
 * square of the states. If position's share of the variance is within chance, the rank is not defined.
 *
 * First the probe measures the case of Su 2024: one head with uniform attention, over tokens after a constant
 * first token. The mean of its output is (v_1 - v)/n + v, a line. Then it measures the arm, layer by layer,
 * beside its untrained twin. The control has positions shuffled within each sequence. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "probe/draw.h"
#include "probe/fit.h"
#include "probe/own.h"

/* A share of the first component of at least this counts as a single component; the rest is noise of the
 * means. */
#define SCALAR 0.98
/* Limit for position's share of the variance with shuffled positions, times the number of sequences. Chance
 * is below 1, because the means of the halves have the states' variance / (samples / 2). */
#define CONTROL 5.0

enum { WIDTH = 32, MOST_PLACES = 64, USE_SHUFFLE = 11 };
enum { AVERAGE, ARM, UNTRAINED, SHUFFLED, SIDES };

struct options {
    int samples, length;
};

static const struct pw_opt opts[] = {
    {"samples", PW_OPT_INT, offsetof(struct options, samples), "512", 4, 8192, NULL, 0,
     "sequences of random tokens, an even number"},
    {"length", PW_OPT_INT, offsetof(struct options, length), "0", 0, 65536, NULL, 0,
     "tokens per sequence; 0: the length that the arm was trained on"},
    {0},
};

/* One model. View 2 l is the output of attention in layer l; view 2 l + 1 is the stream after the layer. */
struct side {
    struct pw_model *m;
    int views;
    double *sum[2];               /* [views,places,widest] by half */
    double *square;               /* [views] sums of squares of all values */
    double *share, *first, *rank; /* [views] position's share of the variance; the first component's share of
                                     it; effective rank */
};

struct state {
    int T, places, widest; /* places: positions to measure, evenly spread over 1..T-1 */
    struct pw_model *average;
    struct side side[SIDES];
    float *resid, *z;
    int *tokens, *order;
};

static int place(const struct state *s, int i)
{
    return 1 + (int)((long)i * (s->T - 2) / (s->places - 1));
}

static enum pw_code begin_rank(struct pw_probing_at *p, struct pw_err *err)
{
    const struct options *o = p->opts;
    const struct pw_probe_subject *subject = p->in->subject;
    const struct pw_config *c = pw_model_config(subject->model);
    struct state *s = p->state = pw_alloc(1, sizeof *s);
    int HD = c->heads * c->head_width;
    enum pw_code code = pw_draw_length(&s->T, p, subject, o->length, pw_draw_trained(p->in, subject), err);
    if (code == PW_OK && o->samples % 2 != 0)
        code = pw_fail(err, PW_EUSER, "probe rank: samples=%d: allowed are even numbers", o->samples);
    if (code == PW_OK)
        code = pw_own_average(&s->average, p->in, WIDTH, s->T, p->in->vocab, err);
    if (code != PW_OK)
        return code;
    s->places = s->T - 1 < MOST_PLACES ? s->T - 1 : MOST_PLACES;
    s->widest = HD > c->width ? HD : c->width;
    s->widest = s->widest > WIDTH ? s->widest : WIDTH;
    for (int i = 0; i < SIDES; i++) {
        struct side *d = &s->side[i];
        d->m = i == AVERAGE ? s->average : i == UNTRAINED ? subject->control : subject->model;
        d->views = i == AVERAGE ? 1 : 2 * c->layers;
        for (int half = 0; half < 2; half++)
            d->sum[half] = pw_alloc((size_t)d->views * s->places * s->widest, sizeof(double));
        d->square = pw_alloc(4 * (size_t)d->views, sizeof *d->square);
        d->share = d->square + d->views;
        d->first = d->share + d->views;
        d->rank = d->first + d->views;
    }
    s->resid = pw_alloc((size_t)(c->layers + 1) * s->T * s->widest, sizeof *s->resid);
    s->z = pw_alloc((size_t)c->layers * s->T * s->widest, sizeof *s->z);
    s->tokens = pw_alloc(2 * (size_t)s->T, sizeof *s->tokens);
    s->order = s->tokens + s->T;
    p->units = SIDES * o->samples + s->side[AVERAGE].views + 3 * s->side[ARM].views;
    return PW_OK;
}

static int width_of(const struct side *d, int view)
{
    const struct pw_config *c = pw_model_config(d->m);
    return view % 2 == 0 ? c->heads * c->head_width : c->width;
}

static enum pw_code add_rank(const struct pw_probing_at *p, int side, int index, struct pw_err *err)
{
    struct state *s = p->state;
    struct side *d = &s->side[side];
    struct pw_rng rng;
    pw_draw_tokens(s->tokens, s->T, p->in, (uint64_t)index);
    for (int i = 0; i < s->places; i++)
        s->order[i] = i;
    pw_draw_init(&rng, p->in, USE_SHUFFLE, (uint64_t)index);
    if (side == SHUFFLED)
        pw_draw_shuffle(&rng, s->order, s->places);
    enum pw_code code =
        pw_model_inspect(d->m, s->tokens, s->T, &(struct pw_inspection){.resid = s->resid, .z = s->z}, err);
    for (int v = 0; v < d->views && code == PW_OK; v++) {
        int W = width_of(d, v);
        const float *from = v % 2 == 0 ? s->z : s->resid;
        for (int i = 0; i < s->places; i++) {
            const float *x = from + ((size_t)(v + 1) / 2 * s->T + place(s, s->order[i])) * W;
            double *sum = d->sum[index % 2] + ((size_t)v * s->places + i) * s->widest;
            for (int c = 0; c < W; c++) {
                sum[c] += (double)x[c];
                d->square[v] += (double)x[c] * (double)x[c];
            }
        }
    }
    return code;
}

/* Divides the sums x by samples and subtracts the mean over positions, which it writes to means [W]. */
static void centre(const struct state *s, double *x, double *means, int W, double samples)
{
    for (int c = 0; c < W; c++) {
        means[c] = 0;
        for (int i = 0; i < s->places; i++)
            means[c] += (x[(size_t)i * s->widest + c] /= samples) / s->places;
        for (int i = 0; i < s->places; i++)
            x[(size_t)i * s->widest + c] -= means[c];
    }
}

static void decompose(const struct pw_probing_at *p, struct side *d, int v)
{
    const struct options *o = p->opts;
    const struct state *s = p->state;
    int W = width_of(d, v), P = s->places;
    double half = o->samples / 2.0, trace = 0, positive = 0, sum = 0, squares = 0, level = 0;
    double *gram = pw_alloc((size_t)P * P + P + 2 * (size_t)W, sizeof *gram), *value = gram + (size_t)P * P;
    double *mean = value + P, *x[2];
    for (int k = 0; k < 2; k++) {
        x[k] = d->sum[k] + (size_t)v * P * s->widest;
        centre(s, x[k], mean + k * W, W, half);
    }
    for (int c = 0; c < W; c++)
        level += mean[c] * mean[W + c];
    for (int i = 0; i < P; i++)
        for (int j = 0; j < P; j++)
            for (int c = 0; c < W; c++)
                gram[(size_t)i * P + j] +=
                    0.5 * (x[0][(size_t)i * s->widest + c] * x[1][(size_t)j * s->widest + c] +
                           x[0][(size_t)j * s->widest + c] * x[1][(size_t)i * s->widest + c]);
    for (int i = 0; i < P; i++)
        trace += gram[(size_t)i * P + i];
    pw_eigenvalues(value, gram, P);
    double edge = fmax(-value[P - 1], 0); /* eigenvalues are in descending order */
    for (int i = 0; i < P && value[i] > 0; i++) {
        positive += value[i];
        sum += value[i] > edge ? value[i] : 0;
        squares += value[i] > edge ? value[i] * value[i] : 0;
    }
    d->share[v] = trace / P / (d->square[v] / o->samples / P - level);
    bool some = d->share[v] > CONTROL / o->samples;
    d->first[v] = some ? value[0] / positive : (double)NAN;
    d->rank[v] = some && sum > 0 ? sum * sum / squares : (double)NAN;
    free(gram);
}

static enum pw_code unit(struct pw_probing_at *p, int i, struct pw_err *err)
{
    const struct options *o = p->opts;
    struct state *s = p->state;
    int side = 0;
    if (i < SIDES * o->samples)
        return add_rank(p, i % SIDES, i / SIDES, err);
    for (i -= SIDES * o->samples; i >= s->side[side].views; side++)
        i -= s->side[side].views;
    decompose(p, &s->side[side], i);
    return PW_OK;
}

static enum pw_code end(struct pw_probing_at *p, struct pw_finding *f, struct pw_err *err)
{
    static const char *const heads[] = {"position's share", "first component", "effective rank",
                                        "untrained, share", "first",           "rank",
                                        "shuffled, share"};
    const struct options *o = p->opts;
    const struct pw_probe_subject *subject = p->in->subject;
    const struct state *s = p->state;
    const struct side *a = &s->side[ARM], *u = &s->side[UNTRAINED], *x = &s->side[SHUFFLED],
                      *average = &s->side[AVERAGE];
    double chance = 0;
    (void)err;
    pw_finding_init(
        f, "rank", p->in->topic,
        "number of dimensions that hold position in the states of arm %s, %d sequences of %d random tokens",
        subject->name, o->samples, s->T);
    int b = pw_finding_table(f,
                             "share of variance that is position's; where it exceeds chance, the share of "
                             "its first component, and its effective rank",
                             a->views + 1, 7);
    f->blocks[b].decimals = 3;
    for (int k = 0; k < 7; k++)
        pw_finding_col(f, b, k, "%s", heads[k]);
    pw_finding_row(f, b, 0, "one uniform head");
    pw_finding_put(f, b, 0, 0, average->share[0]);
    pw_finding_put(f, b, 0, 1, average->first[0]);
    pw_finding_put(f, b, 0, 2, average->rank[0]);
    for (int v = 0; v < a->views; v++) {
        const double row[] = {a->share[v], a->first[v], a->rank[v], u->share[v],
                              u->first[v], u->rank[v],  x->share[v]};
        pw_finding_row(f, b, v + 1, v % 2 == 0 ? "layer %d attention" : "stream %d",
                       v % 2 == 0 ? v / 2 : v / 2 + 1);
        for (int k = 0; k < 7; k++)
            pw_finding_put(f, b, v + 1, k, row[k]);
        chance = fmax(chance, fabs(x->share[v]));
    }
    pw_finding_claim(
        f,
        isnan(average->first[0])      ? PW_CLAIM_INCONCLUSIVE
        : average->first[0] >= SCALAR ? PW_CLAIM_REPRODUCED
                                      : PW_CLAIM_CONTRADICTED,
        "Su 2024, shortcoming 1: a head without an encoding compresses position into a single scalar",
        "one uniform head: first component %.4f of position's variance (threshold %g)", average->first[0],
        SCALAR);
    pw_finding_remark(
        f, "control: position's share of the variance with shuffled positions is at most %.4f (%s %.3f)",
        chance,
        chance <= CONTROL / o->samples ? "as expected, below the limit of"
                                       : "TOO LARGE: no number of this finding is valid; the limit is",
        CONTROL / o->samples);
    if (pw_probe_nope(subject, true))
        pw_probe_remark_one(f, "scalar");
    return PW_OK;
}

static void fini(struct pw_probing_at *p)
{
    struct state *s = p->state;
    pw_model_destroy(s->average);
    for (int i = 0; i < SIDES; i++) {
        free(s->side[i].sum[0]);
        free(s->side[i].sum[1]);
        free(s->side[i].square);
    }
    free(s->resid);
    free(s->z);
    free(s->tokens);
    free(s);
}

const struct pw_probe pw_probe_rank = {
    .name = "rank",
    .summary = "number of dimensions that hold position in the states: a scalar, or a vector",
    .source = "Su 2024 (kexue.fm 10347), shortcoming 1",
    .opts = opts,
    .opts_size = sizeof(struct options),
    .takes = PW_PROBE_ARM | PW_PROBE_CONTROL,
    .begin = begin_rank,
    .unit = unit,
    .end = end,
    .fini = fini,
};
