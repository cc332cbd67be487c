/* variance.c - the clock in the variance: how large is the output of attention, by position? (Su 2024,
 * kexue.fm 10347, "Identifying Position via Variance"; Chi et al. 2023.)
 *
 * An average of n independent values of variance s^2 has the mean square s^2/n. (The document's formula sums
 * v_{n,i}; it must be v_{m,i}.) First the document's own case, a head that looks at everything alike, on
 * values that are all different and on values that repeat as tokens do: there only different tokens are
 * independent, and the line is s^2 sum over tokens (sum of their weights)^2. Then the arm and its untrained
 * twin on random tokens, layer by layer: the output of attention, the stream after it was added, and the
 * share of it that the norm lets through. A norm sets the mean square of the whole to 1, so what is left of
 * the clock is how large attention's part is beside a part of fixed size.
 *
 * For an arm the line is |mean value|^2 + s^2 R_n, with R_n = sum of squared weights, those of the same token
 * added first in layer 0, where values are the tokens'. It takes weights and values as independent: over many
 * models they are, in a single one with few tokens only roughly. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/maths.h"
#include "probe/draw.h"
#include "probe/fit.h"
#include "probe/own.h"

/* The slope of the mean square against the position, both logarithms; theory: -1. With WIDTH * AVERAGES
 * = 32768 numbers behind a point its standard deviation is 0.8 %. */
#define SLOPE_WITHIN 0.02
#define LINE_WITHIN  0.02
/* An arm's slope counts as the document's within this, and as falling at all below that. */
#define STEEP_WITHIN 0.1
#define FALLS        -0.1

enum {
    WIDTH = 64,
    KEYS = 64,
    TOKENS = 4096, /* of the document's case: few sequences share a value */
    AVERAGES = 512,
    USE_VALUES = 3
};

struct options {
    int samples, length;
};

static const struct pw_opt opts[] = {
    {"samples", PW_OPT_INT, offsetof(struct options, samples), "64", 2, 4096, NULL, 0,
     "sequences of random tokens for the arm"},
    {"length", PW_OPT_INT, offsetof(struct options, length), "0", 0, 65536, NULL, 0,
     "of them, tokens; 0: the longest that the arm has been trained on"},
    {0},
};

enum measure { OUTPUT, STREAM, SHARE, LINE, MEASURES };

/* A model over its sequences: sums. */
struct side {
    double *ms;             /* [MEASURES,L,T] */
    double *weights;        /* [L,H,T] R_n */
    double *mean, *squares; /* [L,H,D] and [L,H] of the values */
};

struct state {
    struct pw_model *average;
    int T, *tokens, *first, *choice; /* choice [TOKENS]: shuffled more and more */
    double *sums;
    float *own;                                           /* [KEYS,WIDTH] */
    double distinct[KEYS], repeated[KEYS], repeats[KEYS]; /* sums; the last: the line */
    struct side side[2];                                  /* the arm, untrained */
    float *resid, *v, *z, *probs, *W, *bias;
};

static enum pw_code begin(struct pw_probing_at *p, struct pw_err *err)
{
    const struct options *o = p->opts;
    const struct pw_probe_subject *subject = p->in->subject;
    const struct pw_config *c = pw_model_config(subject->model);
    struct state *s = p->state = pw_alloc(1, sizeof *s);
    enum pw_code code = pw_draw_length(&s->T, p, subject, o->length, pw_draw_trained(p->in, subject), err);
    if (code == PW_OK)
        code = pw_own_average(&s->average, p->in, WIDTH, KEYS, TOKENS, err);
    if (code != PW_OK)
        return code;
    size_t L = (size_t)c->layers, H = (size_t)c->heads, T = (size_t)s->T, HD = H * c->head_width;
    size_t most = T > KEYS ? T : KEYS;
    s->tokens = pw_alloc(2 * most, sizeof *s->tokens);
    s->first = s->tokens + most;
    s->sums = pw_alloc(most, sizeof *s->sums);
    s->choice = pw_alloc(TOKENS, sizeof *s->choice);
    for (int i = 0; i < TOKENS; i++)
        s->choice[i] = i;
    s->own = pw_alloc((size_t)KEYS * WIDTH, sizeof *s->own);
    for (int i = 0; i < 2; i++)
        s->side[i] = (struct side){.ms = pw_alloc(MEASURES * L * T, sizeof(double)),
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
    p->units = AVERAGES + 2 * o->samples;
    return PW_OK;
}

/* ---- the document's case */

/* The first KEYS of choice become a fresh draw without replacement. */
static void choose(struct state *s, struct pw_rng *rng)
{
    for (int i = 0; i < KEYS; i++) {
        int j = i + (int)pw_rng_below(rng, (uint32_t)(TOKENS - i)), was = s->choice[i];
        s->choice[i] = s->choice[j];
        s->choice[j] = was;
    }
}

static enum pw_code run_average(struct state *s, double *sums, struct pw_err *err)
{
    enum pw_code code =
        pw_model_inspect(s->average, s->tokens, KEYS, &(struct pw_inspection){.z = s->own}, err);
    for (int t = 0; t < KEYS && code == PW_OK; t++)
        for (int c = 0; c < WIDTH; c++) {
            double y = (double)s->own[t * WIDTH + c];
            sums[t] += y * y / WIDTH;
        }
    return code;
}

/* first[t] = where token t occurs first. */
static void find_first(struct state *s, int T)
{
    for (int t = 0; t < T; t++)
        for (s->first[t] = 0; s->tokens[s->first[t]] != s->tokens[t];)
            s->first[t]++;
}

/* The sum over tokens of the square of the sum of their weights in a row of n keys. */
static double shared(struct state *s, const float *row, int n)
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
    struct state *s = p->state;
    struct pw_rng rng;
    float even[KEYS];
    int few = p->in->vocab - 2 < KEYS ? p->in->vocab - 2 : KEYS;
    pw_draw_init(&rng, p->in, USE_VALUES, (uint64_t)i);
    choose(s, &rng);
    memcpy(s->tokens, s->choice, KEYS * sizeof *s->tokens);
    enum pw_code code = run_average(s, s->distinct, err);
    choose(s, &rng); /* as many different ones as the task has tokens, anew each time */
    for (int t = 0; t < KEYS; t++)
        s->tokens[t] = s->choice[pw_rng_below(&rng, (uint32_t)few)];
    find_first(s, KEYS);
    for (int t = 0; t < KEYS; t++) {
        for (int k = 0; k <= t; k++)
            even[k] = (float)(1.0 / (t + 1));
        s->repeats[t] += shared(s, even, t + 1);
    }
    return code == PW_OK ? run_average(s, s->repeated, err) : code;
}

/* ---- the arm and its twin */

static void read_output(struct pw_model *m, int l, struct state *s)
{
    char name[48];
    snprintf(name, sizeof name, "layers.%d.attn.o.weight", l);
    pw_own_get(m, name, s->W);
    snprintf(name, sizeof name, "layers.%d.attn.o.bias", l);
    if (pw_model_config(m)->bias)
        pw_own_get(m, name, s->bias);
}

/* What attention adds to the stream at position t, and the stream then: mean squares. */
static void add_stream(const struct state *s, struct side *d, const struct pw_config *c, int l, int t)
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
    d->ms[((size_t)STREAM * L + l) * T + t] += whole;
    d->ms[((size_t)SHARE * L + l) * T + t] += part / whole;
}

static void add_heads(struct state *s, struct side *d, const struct pw_config *c, int l, int t, bool by_token)
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
        d->ms[((size_t)OUTPUT * L + l) * T + t] += sum / (H * D);
        sum = 0;
        for (int j = 0; j < n; j++)
            sum += (double)row[j] * (double)row[j];
        d->weights[((size_t)l * H + h) * T + t] += by_token ? shared(s, row, n) : sum;
    }
}

static enum pw_code arm_unit(const struct pw_probing_at *p, int i, struct pw_err *err)
{
    const struct pw_probe_subject *subject = p->in->subject;
    struct state *s = p->state;
    struct side *d = &s->side[i % 2];
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
    return i < AVERAGES ? average_unit(p, i, err) : arm_unit(p, i - AVERAGES, err);
}

/* ---- what came of it */

/* The line of layer l: |mean value|^2 + s^2 R_n, mean over heads. */
static void add_line(const struct state *s, struct side *d, const struct pw_config *c, int l, int samples)
{
    int H = c->heads, D = c->head_width, L = c->layers, T = s->T;
    double rows = (double)samples * T;
    for (int h = 0; h < H; h++) {
        double mean = 0;
        for (int e = h * D; e < (h + 1) * D; e++) {
            double m = d->mean[(size_t)l * H * D + e] / rows;
            mean += m * m / D;
        }
        double variance = d->squares[l * H + h] / rows / D - mean;
        for (int t = 0; t < T; t++) /* a sum over samples, as the others are */
            d->ms[((size_t)LINE * L + l) * T + t] +=
                (mean * samples + variance * d->weights[((size_t)l * H + h) * T + t]) / H;
    }
}

/* The slope of ln y against ln n over positions from `from` on. */
static double log_slope(const double *y, int from, int T)
{
    double *x = pw_alloc(2 * (size_t)T, sizeof *x), *ln = x + T;
    for (int t = from; t < T; t++) {
        x[t] = pw_log(t + 1);
        ln[t] = pw_log(y[t]);
    }
    double slope = pw_fit_line(x + from, ln + from, T - from).slope;
    free(x);
    return slope;
}

static double off_line(const double *y, const double *line, int from, int T)
{
    double sum = 0;
    for (int t = from; t < T; t++)
        sum += fabs(y[t] / line[t] - 1) / (T - from);
    return sum;
}

static void tell_average(const struct state *s, struct pw_finding *f)
{
    const double *const curves[] = {s->distinct, s->repeated, s->repeats};
    const char *const names[] = {"all different", "tokens repeat", "line of repeats", "1/n"};
    int b = pw_finding_plot(f, "uniform attention over iid N(0,1) values: mean square of the average",
                            "keys n", "mean square", KEYS, 4, false);
    f->blocks[b].n_reference = 2;
    f->blocks[b].log_x = f->blocks[b].log_y = true;
    for (int k = 0; k < 4; k++)
        pw_finding_name(f, b, k, "%s", names[k]);
    for (int t = 0; t < KEYS; t++) {
        pw_finding_x(f, b, t, t + 1);
        for (int k = 0; k < 3; k++)
            pw_finding_y(f, b, t, k, curves[k][t] / AVERAGES);
        pw_finding_y(f, b, t, 3, 1.0 / (t + 1));
    }
    double slope = log_slope(s->distinct, 0, KEYS), off = off_line(s->repeated, s->repeats, 0, KEYS);
    pw_finding_claim(f, fabs(slope + 1) <= SLOPE_WITHIN ? PW_CLAIM_REPRODUCED : PW_CLAIM_CONTRADICTED,
                     "Su 2024: an average of n iid values has the mean square sigma^2/n (slope -1)",
                     "slope %.4f over n = 1..%d (within %g)", slope, KEYS, SLOPE_WITHIN);
    pw_finding_claim(f, off <= LINE_WITHIN ? PW_CLAIM_REPRODUCED : PW_CLAIM_CONTRADICTED,
                     "of tokens that repeat: sigma^2 times the sum over tokens of (sum of weights)^2",
                     "mean deviation %.4f (at most %g)", off, LINE_WITHIN);
}

static void tell_layer(const struct state *s, struct pw_finding *f, int l, int L, int samples)
{
    const struct {
        const char *name;
        int side, measure;
    } curves[] = {{"output", 0, OUTPUT},           {"stream", 0, STREAM}, {"untrained output", 1, OUTPUT},
                  {"untrained stream", 1, STREAM}, {"line", 0, LINE},     {"untrained line", 1, LINE}};
    char title[64];
    snprintf(title, sizeof title, "layer %d: mean square by position", l);
    int b = pw_finding_plot(f, title, "keys n", "mean square", s->T, 6, false);
    f->blocks[b].n_reference = 2;
    f->blocks[b].log_x = f->blocks[b].log_y = true;
    for (int k = 0; k < 6; k++) {
        pw_finding_name(f, b, k, "%s", curves[k].name);
        for (int t = 0; t < s->T; t++)
            pw_finding_y(f, b, t, k,
                         s->side[curves[k].side].ms[((size_t)curves[k].measure * L + l) * s->T + t] /
                             samples);
    }
    for (int t = 0; t < s->T; t++)
        pw_finding_x(f, b, t, t + 1);
}

/* Slopes from the second position on: at the first there is one key, the first word. */
static void tell_slopes(const struct state *s, struct pw_finding *f, int L)
{
    const char *const heads[] = {"output", "stream", "share in norm", "off its line"};
    int b =
        pw_finding_table(f, "slope of ln(mean square) against ln n; mean distance from the line", 2 * L, 4);
    f->blocks[b].decimals = 3;
    for (int k = 0; k < 4; k++)
        pw_finding_col(f, b, k, "%s", heads[k]);
    for (int l = 0; l < L; l++)
        for (int i = 0; i < 2; i++) {
            const double *ms[MEASURES];
            for (int k = 0; k < MEASURES; k++)
                ms[k] = s->side[i].ms + ((size_t)k * L + l) * s->T;
            pw_finding_row(f, b, 2 * l + i, "layer %d%s", l, i ? ", untrained" : "");
            for (int k = 0; k < 3; k++)
                pw_finding_put(f, b, 2 * l + i, k, log_slope(ms[k], 1, s->T));
            pw_finding_put(f, b, 2 * l + i, 3, off_line(ms[OUTPUT], ms[LINE], 1, s->T));
        }
}

static enum pw_claim_verdict falls(double slope)
{
    return fabs(slope + 1) <= STEEP_WITHIN ? PW_CLAIM_REPRODUCED
           : slope <= FALLS                ? PW_CLAIM_TOY
           : slope <= 0                    ? PW_CLAIM_INCONCLUSIVE
                                           : PW_CLAIM_CONTRADICTED;
}

/* Of an arm without an encoding: layer 0 before training, where the values are still independent; after it
 * whichever layer keeps time best. */
static void claim_arm(const struct state *s, struct pw_finding *f, int L, bool trained)
{
    double fresh = log_slope(s->side[1].ms, 1, s->T), steepest = INFINITY;
    int at = 0;
    for (int l = 0; l < L; l++) {
        double slope = log_slope(s->side[0].ms + (size_t)l * s->T, 1, s->T);
        at = slope < steepest ? l : at;
        steepest = slope < steepest ? slope : steepest;
    }
    pw_finding_claim(f, falls(fresh),
                     "Su 2024: without an encoding position is in the variance, at initialisation",
                     "slope in layer 0: %.2f (-1 within %g; falling: below %g)", fresh, STEEP_WITHIN, FALLS);
    if (trained)
        pw_finding_claim(f, falls(steepest), "Chi et al. 2023, in Su 2024: and in trained models",
                         "steepest slope, layer %d: %.2f (-1 within %g; falling: below %g)", at, steepest,
                         STEEP_WITHIN, FALLS);
}

static enum pw_code end(struct pw_probing_at *p, struct pw_finding *f, struct pw_err *err)
{
    const struct options *o = p->opts;
    const struct pw_probe_subject *subject = p->in->subject;
    const struct pw_config *c = pw_model_config(subject->model);
    struct state *s = p->state;
    (void)err;
    pw_finding_init(f, "variance", p->in->topic,
                    "mean square of attention's output by position: the document's case, and arm %s on %d "
                    "sequences of %d random tokens",
                    subject->name, o->samples, s->T);
    tell_average(s, f);
    for (int l = 0; l < c->layers; l++) {
        for (int i = 0; i < 2; i++)
            add_line(s, &s->side[i], c, l, o->samples);
        tell_layer(s, f, l, c->layers, o->samples);
    }
    tell_slopes(s, f, c->layers);
    if (pw_model_pe(subject->model)->pe->uses == 0 && c->causal)
        claim_arm(s, f, c->layers, pw_model_step_count(subject->model) > 0);
    pw_finding_remark(f, "the document sums v_{n,i}; it must be v_{m,i}, m = 1..n");
    pw_finding_remark(f,
                      "a norm sets the mean square of the whole to 1: 'share in norm' is the slope of what "
                      "remains, attention's part of the stream");
    return PW_OK;
}

static void fini(struct pw_probing_at *p)
{
    struct state *s = p->state;
    if (s == NULL)
        return;
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
    .summary = "mean square of attention's output by position, with the sigma^2/n line",
    .source = "Su 2024 (kexue.fm 10347); Chi et al. 2023",
    .opts = opts,
    .opts_size = sizeof(struct options),
    .takes = PW_PROBE_ARM | PW_PROBE_CONTROL,
    .begin = begin,
    .unit = unit,
    .end = end,
    .fini = fini,
};
