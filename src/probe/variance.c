/* variance.c - the probe variance: the size of attention's output by position (Su 2024, kexue.fm 10347,
 * "Identifying Position via Variance"; Chi et al. 2023).
 *
 * The mean of n independent values of variance s^2 has the mean square s^2/n. (Erratum: Su's formula sums
 * v_{n,i}; it must be v_{m,i}.) First the probe measures Su's case, a head with uniform attention, on two
 * kinds of values. In the first all values are different. In the second values repeat, as tokens do. Then
 * only different tokens are independent, and the prediction is s^2 sum over tokens (sum of their weights)^2.
 *
 * Then it measures the arm and its untrained twin on random tokens, layer by layer: the output of attention,
 * the stream after the addition, and attention's share that passes the norm. A norm sets the mean square of
 * the whole stream to 1. The remaining signal is thus the size of attention's part relative to a part of
 * fixed size.
 *
 * For an arm the predicted line is |mean value|^2 + s^2 R_n, with R_n = sum of squared weights. In layer 0
 * values depend on the token alone, so the weights of equal tokens are added before squaring. The line
 * assumes that weights and values are independent. This holds over many models; in a single model with few
 * tokens it holds only roughly. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "probe/draw.h"
#include "probe/own.h"
#include "probe/variance.h"

enum { TOKENS = 4096, /* token ids of Su's case; so many that few sequences share a value */ USE_VALUES = 3 };

struct options {
    int samples, length;
};

static const struct pw_opt opts[] = {
    {"samples", PW_OPT_INT, offsetof(struct options, samples), "64", 2, 4096, NULL, 0,
     "sequences of random tokens for the arm"},
    {"length", PW_OPT_INT, offsetof(struct options, length), "0", 0, 65536, NULL, 0,
     "tokens per sequence; 0: the length that the arm was trained on"},
    {0},
};

static enum pw_code begin_variance(struct pw_probing_at *p, struct pw_err *err)
{
    const struct options *o = p->opts;
    const struct pw_probe_subject *subject = p->in->subject;
    const struct pw_config *c = pw_model_config(subject->model);
    struct pw_variance *s = p->state = pw_alloc(1, sizeof *s);
    enum pw_code code = pw_draw_length(&s->T, p, subject, o->length, pw_draw_trained(p->in, subject), err);
    if (code == PW_OK)
        code = pw_own_average(&s->average, p->in, PW_VARIANCE_WIDTH, PW_VARIANCE_KEYS, TOKENS, err);
    if (code != PW_OK)
        return code;
    size_t L = (size_t)c->layers, H = (size_t)c->heads, T = (size_t)s->T, HD = H * c->head_width;
    size_t most = T > PW_VARIANCE_KEYS ? T : PW_VARIANCE_KEYS;
    s->tokens = pw_alloc(2 * most, sizeof *s->tokens);
    s->first = s->tokens + most;
    s->sums = pw_alloc(most, sizeof *s->sums);
    s->choice = pw_alloc(TOKENS, sizeof *s->choice);
    for (int i = 0; i < TOKENS; i++)
        s->choice[i] = i;
    s->own = pw_alloc((size_t)PW_VARIANCE_KEYS * PW_VARIANCE_WIDTH, sizeof *s->own);
    for (int i = 0; i < 2; i++)
        s->side[i] = (struct pw_variance_side){.ms = pw_alloc(PW_MS * L * T, sizeof(double)),
                                               .weights = pw_alloc(L * H * T, sizeof(double)),
                                               .mean = pw_alloc(L * HD, sizeof(double)),
                                               .squares = pw_alloc(L * H, sizeof(double))};
    s->resid = pw_alloc((L + 1) * T * c->width, sizeof *s->resid);
    s->v = pw_alloc(2 * L * T * HD, sizeof *s->v);
    s->z = s->v + L * T * HD;
    s->W = pw_alloc((size_t)c->width * (HD + 1), sizeof *s->W);
    s->bias = s->W + (size_t)c->width * HD;
    s->probs = malloc(L * H * T * T * sizeof *s->probs);
    if (s->probs == NULL)
        return pw_fail(err, PW_ENOMEM, "probe variance: out of memory for %d tokens", s->T);
    p->units = PW_VARIANCE_AVERAGES + 2 * o->samples;
    return PW_OK;
}

/* ---- the uniform head of Su 2024 */

/* Shuffles the first PW_VARIANCE_KEYS entries of choice: a new sample without replacement. */
static void choose(struct pw_variance *s, struct pw_rng *rng)
{
    for (int i = 0; i < PW_VARIANCE_KEYS; i++)
        pw_rng_deal(rng, s->choice, TOKENS, i);
}

static enum pw_code run_average(struct pw_variance *s, double *sums, struct pw_err *err)
{
    enum pw_code code =
        pw_model_inspect(s->average, s->tokens, PW_VARIANCE_KEYS, &(struct pw_inspection){.z = s->own}, err);
    for (int t = 0; t < PW_VARIANCE_KEYS && code == PW_OK; t++)
        for (int c = 0; c < PW_VARIANCE_WIDTH; c++) {
            double y = (double)s->own[t * PW_VARIANCE_WIDTH + c];
            sums[t] += y * y / PW_VARIANCE_WIDTH;
        }
    return code;
}

/* first[t] = index of the first occurrence of token t. */
static void find_first(struct pw_variance *s, int T)
{
    for (int t = 0; t < T; t++)
        for (s->first[t] = 0; s->tokens[s->first[t]] != s->tokens[t];)
            s->first[t]++;
}

/* The sum over tokens of (sum of the token's weights in a row of n keys)^2. */
static double shared(struct pw_variance *s, const float *row, int n)
{
    double sum = 0;
    memset(s->sums, 0, (size_t)n * sizeof *s->sums);
    for (int j = 0; j < n; j++)
        s->sums[s->first[j]] += (double)row[j];
    for (int j = 0; j < n; j++)
        sum += s->sums[j] * s->sums[j];
    return sum;
}

static enum pw_code average_unit(const struct pw_probing_at *p, int i, struct pw_err *err)
{
    struct pw_variance *s = p->state;
    struct pw_rng rng;
    float even[PW_VARIANCE_KEYS];
    int few = p->in->vocab - 2 < PW_VARIANCE_KEYS ? p->in->vocab - 2 : PW_VARIANCE_KEYS;
    pw_draw_init(&rng, p->in, USE_VALUES, (uint64_t)i);
    choose(s, &rng);
    memcpy(s->tokens, s->choice, PW_VARIANCE_KEYS * sizeof *s->tokens);
    enum pw_code code = run_average(s, s->distinct, err);
    choose(s, &rng); /* as many different tokens as the task has, a new set each time */
    for (int t = 0; t < PW_VARIANCE_KEYS; t++)
        s->tokens[t] = s->choice[pw_rng_below(&rng, (uint32_t)few)];
    find_first(s, PW_VARIANCE_KEYS);
    for (int t = 0; t < PW_VARIANCE_KEYS; t++) {
        for (int k = 0; k <= t; k++)
            even[k] = (float)(1.0 / (t + 1));
        s->repeats[t] += shared(s, even, t + 1);
    }
    return code == PW_OK ? run_average(s, s->repeated, err) : code;
}

/* ---- the arm and its twin */

static void read_output(struct pw_model *m, int l, struct pw_variance *s)
{
    char name[48];
    snprintf(name, sizeof name, "layers.%d.attn.o.weight", l);
    pw_own_get(m, name, s->W);
    snprintf(name, sizeof name, "layers.%d.attn.o.bias", l);
    if (pw_model_config(m)->bias)
        pw_own_get(m, name, s->bias);
}

/* Adds the mean squares at position t: of attention's addition to the stream, and of the stream after it. */
static void add_stream(const struct pw_variance *s, struct pw_variance_side *d, const struct pw_config *c,
                       int l, int t)
{
    int C = c->width, HD = c->heads * c->head_width, L = c->layers, T = s->T;
    const float *z = s->z + ((size_t)l * T + t) * HD, *x = s->resid + ((size_t)l * T + t) * C;
    double part = 0, whole = 0;
    for (int o = 0; o < C; o++) {
        double sum = c->bias ? (double)s->bias[o] : 0;
        for (int e = 0; e < HD; e++)
            sum += (double)s->W[(size_t)o * HD + e] * (double)z[e];
        part += sum * sum / C;
        whole += ((double)x[o] + sum) * ((double)x[o] + sum) / C;
    }
    d->ms[((size_t)PW_MS_STREAM * L + l) * T + t] += whole;
    d->ms[((size_t)PW_MS_SHARE * L + l) * T + t] += part / whole;
}

static void add_heads(struct pw_variance *s, struct pw_variance_side *d, const struct pw_config *c, int l,
                      int t, bool by_token)
{
    int H = c->heads, D = c->head_width, L = c->layers, T = s->T, n = c->causal ? t + 1 : T;
    const float *v = s->v + ((size_t)l * T + t) * H * D, *z = s->z + ((size_t)l * T + t) * H * D;
    for (int h = 0; h < H; h++) {
        const float *row = s->probs + (((size_t)l * H + h) * T + t) * T;
        double squares = 0, sum = 0;
        for (int e = h * D; e < (h + 1) * D; e++) {
            d->mean[(size_t)l * H * D + e] += (double)v[e];
            squares += (double)v[e] * (double)v[e];
            sum += (double)z[e] * (double)z[e];
        }
        d->squares[l * H + h] += squares;
        d->ms[((size_t)PW_MS_OUTPUT * L + l) * T + t] += sum / (H * D);
        sum = 0;
        for (int j = 0; j < n; j++)
            sum += (double)row[j] * (double)row[j];
        d->weights[((size_t)l * H + h) * T + t] += by_token ? shared(s, row, n) : sum;
    }
}

static enum pw_code arm_unit(const struct pw_probing_at *p, int i, struct pw_err *err)
{
    const struct pw_probe_subject *subject = p->in->subject;
    struct pw_variance *s = p->state;
    struct pw_variance_side *d = &s->side[i % 2];
    struct pw_model *m = i % 2 == 0 ? subject->model : subject->control;
    const struct pw_config *c = pw_model_config(m);
    bool added = pw_model_pe(m)->pe->uses & PW_PE_ADDED;
    pw_draw_tokens(s->tokens, s->T, p->in, (uint64_t)i / 2);
    find_first(s, s->T);
    enum pw_code code = pw_model_inspect(
        m, s->tokens, s->T,
        &(struct pw_inspection){.resid = s->resid, .v = s->v, .z = s->z, .probs = s->probs}, err);
    for (int l = 0; l < c->layers && code == PW_OK; l++) {
        read_output(m, l, s);
        for (int t = 0; t < s->T; t++) {
            add_heads(s, d, c, l, t, l == 0 && !added);
            add_stream(s, d, c, l, t);
        }
    }
    return code;
}

static enum pw_code unit(struct pw_probing_at *p, int i, struct pw_err *err)
{
    return i < PW_VARIANCE_AVERAGES ? average_unit(p, i, err) : arm_unit(p, i - PW_VARIANCE_AVERAGES, err);
}

static enum pw_code end(struct pw_probing_at *p, struct pw_finding *f, struct pw_err *err)
{
    const struct options *o = p->opts;
    (void)err;
    pw_variance_report(p->state, p->in, o->samples, f);
    return PW_OK;
}

static void fini(struct pw_probing_at *p)
{
    struct pw_variance *s = p->state;
    pw_model_destroy(s->average);
    for (int i = 0; i < 2; i++) {
        free(s->side[i].ms);
        free(s->side[i].weights);
        free(s->side[i].mean);
        free(s->side[i].squares);
    }
    free(s->tokens);
    free(s->sums);
    free(s->choice);
    free(s->own);
    free(s->resid);
    free(s->v);
    free(s->W);
    free(s->probs);
    free(s);
}

const struct pw_probe pw_probe_variance = {
    .name = "variance",
    .summary = "mean square of attention's output by position, compared with sigma^2/n",
    .source = "Su 2024 (kexue.fm 10347); Chi et al. 2023",
    .opts = opts,
    .opts_size = sizeof(struct options),
    .takes = PW_PROBE_ARM | PW_PROBE_CONTROL,
    .begin = begin_variance,
    .unit = unit,
    .end = end,
    .fini = fini,
};
