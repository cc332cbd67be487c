/* scores.c - the probe scores: decomposes attention scores into S(t,i) = f_rel(t-i) + f_abs(t,i) + content
 * (Kazemnejad et al. 2023, Theorem 2 and Eq. 1). The paper states this for NoPE; the probe measures trained
 * models with any encoding.
 *
 * The input is many sequences of random tokens of one length. The mean of each row of scores is subtracted,
 * because the softmax ignores it. The mean over sequences is the part of position; the variation about it is
 * the part of content. f_rel is the least-squares function of the distance alone that fits the mean; f_abs is
 * the residual. After rows are centred, a bias linear in the key's position equals one linear in the distance
 * (ALiBi relies on this). It counts as relative.
 *
 * Shares are of the variance within rows. A mean over sequences keeps some of content's variance. The
 * sequences are therefore split into two halves, and a share is the product of the parts of both halves, in
 * which content cancels. This estimate is unbiased, and is sometimes slightly negative. Two keys are left
 * out. The first token is the same in all sequences, so a head that attends to it would seem to use position.
 * The score of the query's own key reflects the token's similarity to itself. Controls: the untrained twin,
 * and keys shuffled within each row. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "probe/draw.h"
#include "probe/fit.h"

/* With shuffled keys, the part of position must stay below this over the number of sequences: chance, with a
 * wide margin. */
#define CONTROL 5.0
enum { ARM, UNTRAINED, SHUFFLED, SIDES, USE_SHUFFLE = 8 };

struct options {
    int samples, length;
};

static const struct pw_opt opts[] = {
    {"samples", PW_OPT_INT, offsetof(struct options, samples), "256", 4, 8192, NULL, 0,
     "sequences of random tokens, an even number"},
    {"length", PW_OPT_INT, offsetof(struct options, length), "0", 0, 65536, NULL, 0,
     "tokens per sequence; 0: the length that the arm was trained on"},
    {0},
};

struct state {
    int T, N, heads; /* N distances: -(T-1)..T-1; heads in all layers */
    bool causal;
    float *score;             /* [heads,T,T] */
    double *sum[SIDES][2];    /* [heads,T,T] sums of centred rows, by half */
    double *variance[SIDES];  /* [heads] sums over sequences of the mean variance of a row */
    double *rel, *abs, *part; /* rel, abs [SIDES,heads]: shares; part [heads,N]: f_rel of the arm */
    int *tokens, *place, *order;
};

static enum pw_code begin_scores(struct pw_probing_at *p, struct pw_err *err)
{
    const struct options *o = p->opts;
    const struct pw_probe_subject *subject = p->in->subject;
    const struct pw_config *c = pw_model_config(subject->model);
    struct state *s = p->state = pw_alloc(1, sizeof *s);
    enum pw_code code = pw_draw_length(&s->T, p, subject, o->length, pw_draw_trained(p->in, subject), err);
    if (code == PW_OK && o->samples % 2 != 0)
        code = pw_fail(err, PW_EUSER, "probe scores: samples=%d: allowed are even numbers", o->samples);
    if (code != PW_OK)
        return code;
    s->N = 2 * s->T - 1;
    s->heads = c->layers * c->heads;
    s->causal = c->causal;
    size_t maps = (size_t)s->heads * s->T * s->T;
    s->score = malloc(maps * sizeof *s->score);
    bool there = s->score != NULL;
    for (int i = 0; i < 2 * SIDES; i++)
        there = (s->sum[i / 2][i % 2] = calloc(maps, sizeof(double))) != NULL && there;
    for (int i = 0; i < SIDES; i++)
        s->variance[i] = pw_alloc((size_t)s->heads, sizeof(double));
    s->rel = pw_alloc((size_t)SIDES * s->heads, sizeof *s->rel);
    s->abs = pw_alloc((size_t)SIDES * s->heads, sizeof *s->abs);
    s->part = pw_alloc((size_t)s->heads * s->N, sizeof *s->part);
    s->tokens = pw_alloc(3 * (size_t)s->T, sizeof *s->tokens);
    s->place = s->tokens + s->T;
    s->order = s->place + s->T;
    p->units = SIDES * (o->samples + s->heads);
    return there ? PW_OK
                 : pw_fail(err, PW_ENOMEM, "probe scores: out of memory for %d heads of %d tokens", s->heads,
                           s->T);
}

/* Returns true if key i of query t counts. */
static bool counts(const struct state *s, int t, int i)
{
    return i != t && (i < t || !s->causal);
}

/* The number of keys in 1..T-1 that count. */
static int n_keys(const struct state *s, int t)
{
    return s->causal ? t - 1 : s->T - 1 - (t > 0);
}

/* The first query with more than one key that counts: the variance of a single key is 0. */
static int first_query(const struct state *s)
{
    return s->causal ? 3 : 0;
}

/* Adds row t of a head, less its mean, and its variance. place[i]: the key whose score is used at key i. */
static void add_row(struct state *s, int side, int half, int h, int t)
{
    int T = s->T, n = n_keys(s, t);
    const float *row = s->score + ((size_t)h * T + t) * T;
    double *sum = s->sum[side][half] + ((size_t)h * T + t) * T, mean = 0, square = 0;
    for (int i = 1; i < T; i++)
        mean += counts(s, t, i) ? (double)row[i] / n : 0;
    for (int i = 1; i < T; i++) {
        if (!counts(s, t, i))
            continue;
        double v = (double)row[s->place[i]] - mean;
        sum[i] += v;
        square += v * v / n;
    }
    s->variance[side][h] += square / (T - first_query(s));
}

/* Writes the keys of query t to `place` in a random order. Keys that don't count stay in place. */
static void shuffle_keys(struct state *s, struct pw_rng *rng, int t)
{
    int n = 0;
    for (int i = 1; i < s->T; i++)
        if (counts(s, t, i))
            s->order[n++] = i;
    pw_draw_shuffle(rng, s->order, n);
    for (int i = 1, k = 0; i < s->T; i++)
        s->place[i] = counts(s, t, i) ? s->order[k++] : i;
}

/* A score that a mask hides has no value to fit. */
static enum pw_code check_seen(const struct state *s, struct pw_err *err)
{
    for (int h = 0; h < s->heads; h++)
        for (int t = first_query(s); t < s->T; t++)
            for (int i = 1; i < s->T; i++)
                if (counts(s, t, i) && isinf(s->score[((size_t)h * s->T + t) * s->T + i]))
                    return pw_fail(
                        err, PW_EUSER,
                        "probe scores: the encoding's mask hides key %d from query %d: allowed are "
                        "encodings that hide no key",
                        i, t);
    return PW_OK;
}

static enum pw_code add_sequence(const struct pw_probing_at *p, int side, int index, struct pw_err *err)
{
    const struct pw_probe_subject *subject = p->in->subject;
    struct state *s = p->state;
    struct pw_rng rng;
    pw_draw_tokens(s->tokens, s->T, p->in, (uint64_t)index);
    pw_draw_init(&rng, p->in, USE_SHUFFLE, (uint64_t)index);
    for (int i = 0; i < s->T; i++)
        s->place[i] = i;
    enum pw_code code = pw_model_inspect(side == UNTRAINED ? subject->control : subject->model, s->tokens,
                                         s->T, &(struct pw_inspection){.score = s->score}, err);
    if (code == PW_OK)
        code = check_seen(s, err);
    for (int t = first_query(s); t < s->T && code == PW_OK; t++) {
        if (side == SHUFFLED)
            shuffle_keys(s, &rng, t);
        for (int h = 0; h < s->heads; h++)
            add_row(s, side, index % 2, h, t);
    }
    return code;
}

/* ---- the fit */

/* Fits f_rel [N] to a map of centred rows by least squares, with equal weights for all rows. The normal
 * equations have one row per distance. A constant is undetermined. */
static void fit(const struct state *s, double *rel, const double *map)
{
    int T = s->T, N = s->N;
    double *a = pw_alloc((size_t)N * N, sizeof *a);
    memset(rel, 0, (size_t)N * sizeof *rel);
    for (int t = first_query(s); t < T; t++) {
        int n = n_keys(s, t);
        for (int i = 1; i < T; i++) {
            int r = T - 1 + t - i;
            if (!counts(s, t, i))
                continue;
            a[(size_t)r * N + r] += 1.0 / n;
            for (int j = i; j < T; j++)
                a[(size_t)r * N + T - 1 + t - j] -= counts(s, t, j) ? 1.0 / n / n : 0;
            rel[r] += map[(size_t)t * T + i] / n;
        }
    }
    pw_cholesky_solve(a, rel, N, 1);
    free(a);
}

/* Writes f_rel in centred rows to map [T,T]. */
static void spread(const struct state *s, double *map, const double *rel)
{
    int T = s->T;
    memset(map, 0, (size_t)T * T * sizeof *map);
    for (int t = first_query(s); t < T; t++) {
        double mean = 0;
        for (int i = 1; i < T; i++)
            mean += counts(s, t, i) ? rel[T - 1 + t - i] / n_keys(s, t) : 0;
        for (int i = 1; i < T; i++)
            map[(size_t)t * T + i] = counts(s, t, i) ? rel[T - 1 + t - i] - mean : 0;
    }
}

/* The mean over rows of the covariance within a row. */
static double product(const struct state *s, const double *one, const double *two)
{
    int T = s->T;
    double sum = 0;
    for (int t = first_query(s); t < T; t++)
        for (int i = 1; i < T; i++) /* 0 for keys that don't count */
            sum += one[(size_t)t * T + i] * two[(size_t)t * T + i] / n_keys(s, t);
    return sum / (T - first_query(s));
}

/* Computes the shares of a head from its sums. */
static void share(const struct pw_probing_at *p, int side, int h)
{
    const struct options *o = p->opts;
    struct state *s = p->state;
    size_t cells = (size_t)s->T * s->T;
    double half = o->samples / 2.0, total = s->variance[side][h] / o->samples;
    double *map = pw_alloc(2 * cells, sizeof *map), *rel = pw_alloc(2 * (size_t)s->N, sizeof *rel);
    const double *sum[2];
    for (int i = 0; i < 2; i++) {
        sum[i] = s->sum[side][i] + (size_t)h * cells;
        fit(s, rel + i * s->N, sum[i]);
        spread(s, map + i * cells, rel + i * s->N);
    }
    double both = product(s, sum[0], sum[1]) / half / half;
    double relative = product(s, map, map + cells) / half / half;
    s->rel[side * s->heads + h] = total > 0 ? relative / total : NAN;
    s->abs[side * s->heads + h] = total > 0 ? (both - relative) / total : NAN;
    for (int r = 0; r < s->N && side == ARM; r++)
        s->part[(size_t)h * s->N + r] = (rel[r] + rel[s->N + r]) / o->samples;
    free(map);
    free(rel);
}

static enum pw_code unit(struct pw_probing_at *p, int i, struct pw_err *err)
{
    const struct options *o = p->opts;
    const struct state *s = p->state;
    if (i < SIDES * o->samples)
        return add_sequence(p, i % SIDES, i / SIDES, err);
    i -= SIDES * o->samples;
    share(p, i / s->heads, i % s->heads);
    return PW_OK;
}

/* ---- the finding */

/* Adds plots of f_rel over the distances that occur. f_rel has no value at 0. */
static void add_parts(const struct state *s, struct pw_finding *f, int layers)
{
    int H = s->heads / layers, zero = s->T - 1;
    int from = s->causal ? zero + 1 : 1, points = s->causal ? s->T - 2 : s->N - 2;
    for (int l = 0; l < layers; l++) {
        char title[96];
        snprintf(title, sizeof title, "layer %d: f_rel of each head, minus its value at distance 1", l);
        int b = pw_finding_plot(f, title, "distance t - i", "score", points, H, false);
        for (int h = 0; h < H; h++) {
            const double *part = s->part + (size_t)(l * H + h) * s->N;
            pw_finding_name(f, b, h, "head %d", h);
            for (int k = 0; k < points; k++)
                pw_finding_y(f, b, k, h, from + k != zero ? part[from + k] - part[zero + 1] : NAN);
        }
        for (int k = 0; k < points; k++)
            pw_finding_x(f, b, k, from + k - zero);
    }
}

static void add_shares(const struct state *s, struct pw_finding *f, int layers)
{
    static const char *const heads[] = {"relative",       "absolute",       "content",
                                        "untr. relative", "untr. absolute", "shuffled, both"};
    int H = s->heads / layers;
    int b = pw_finding_table(f, "shares of the variance of scores within rows, head by head", s->heads, 6);
    f->blocks[b].decimals = 3;
    for (int k = 0; k < 6; k++)
        pw_finding_col(f, b, k, "%s", heads[k]);
    for (int h = 0; h < s->heads; h++) {
        const double *rel = s->rel + h, *other = s->abs + h;
        int u = UNTRAINED * s->heads, x = SHUFFLED * s->heads;
        const double row[] = {rel[0], other[0], 1 - rel[0] - other[0], rel[u], other[u], rel[x] + other[x]};
        pw_finding_row(f, b, h, "layer %d head %d", h / H, h % H);
        for (int k = 0; k < 6; k++)
            pw_finding_put(f, b, h, k, row[k]);
    }
}

/* The largest absolute sum of both shares over the heads with shuffled keys. */
static double largest_shuffled(const struct state *s)
{
    double chance = 0;
    for (int h = SHUFFLED * s->heads; h < (SHUFFLED + 1) * s->heads; h++)
        chance = fmax(chance, fabs(s->rel[h] + s->abs[h]));
    return chance;
}

static enum pw_code end(struct pw_probing_at *p, struct pw_finding *f, struct pw_err *err)
{
    const struct options *o = p->opts;
    const struct pw_probe_subject *subject = p->in->subject;
    const struct state *s = p->state;
    int layers = pw_model_config(subject->model)->layers;
    (void)err;
    pw_finding_init(
        f, "scores", p->in->topic,
        "scores of arm %s as f_rel(t-i) + f_abs(t,i) + content, over %d sequences of %d random tokens",
        subject->name, o->samples, s->T);
    add_shares(s, f, layers);
    add_parts(s, f, layers);
    double chance = largest_shuffled(s), most = CONTROL / o->samples;
    pw_finding_remark(f, "control: position's share with shuffled keys is at most %.4f in a head (%s %.3f)",
                      chance,
                      chance <= most ? "as expected, below the limit of"
                                     : "TOO LARGE: no number of this finding is valid; the limit is",
                      most);
    if (pw_probe_nope(subject, true))
        pw_probe_remark_one(f, "scores");
    pw_finding_remark(
        f, "for the softmax, a term that is linear in the key's position is also linear in the distance, so "
           "it counts as relative; the first token and the query's own token are left out as keys");
    return PW_OK;
}

static void fini(struct pw_probing_at *p)
{
    struct state *s = p->state;
    free(s->score);
    for (int i = 0; i < SIDES; i++) {
        free(s->sum[i][0]);
        free(s->sum[i][1]);
        free(s->variance[i]);
    }
    free(s->rel);
    free(s->abs);
    free(s->part);
    free(s->tokens);
    free(s);
}

const struct pw_probe pw_probe_scores = {
    .name = "scores",
    .summary = "decompose attention scores into relative, absolute and content shares, head by head",
    .source = "Kazemnejad et al. 2023, Eq. 1",
    .opts = opts,
    .opts_size = sizeof(struct options),
    .takes = PW_PROBE_ARM | PW_PROBE_CONTROL,
    .begin = begin_scores,
    .unit = unit,
    .end = end,
    .fini = fini,
};
