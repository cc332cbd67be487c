/* resolution.c - the probe resolution: how precisely does a scalar 1/sqrt(n) distinguish positions? (Su 2024,
 * kexue.fm 10347, shortcoming 2.)
 *
 * There are three limits.
 * - The step from 1/sqrt(n) to 1/sqrt(n+1) falls as n^-1.5 / 2.
 * - A vector of d random numbers determines its norm only to a relative error of 1/sqrt(2d). It can therefore
 *   separate n and n + 1 up to about n = sqrt(d/2). For a mean square m the log-likelihood of n is (d/2) ln n
 *   - n d m / 2. The probability that its maximum is the right n follows from chi squared. The probe compares
 *   this probability with outputs of real uniform attention.
 * - Rounded to a number format, both values become the same number.
 *
 * Then it measures the arm, beside its untrained twin: a linear readout of the position from the stream after
 * the last layer, on other sequences than it was fitted on. The result is the distance between the readout's
 * means at n and n + 1, in standard deviations. Unlike the mean error, it doesn't depend on the readout's
 * scale, nor on its shrinkage to the middle. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/maths.h"
#include "probe/draw.h"
#include "probe/fit.h"
#include "probe/own.h"

/* EXPONENT_WITHIN: the exponent of the step from n = 16 on; theory -1.5. ODDS_WITHIN: measured frequencies of
 * the most likely n against their probabilities; with AVERAGES samples the standard deviation is at most
 * 0.022. */
#define EXPONENT_WITHIN 0.02
#define ODDS_WITHIN     0.08
#define LAMBDA          1e-3 /* as in position.c */

enum {
    KEYS = 64,
    TOKENS = 4096,
    AVERAGES = 512,
    FORMATS = 3,
    STRIDE = 1 << 18, /* values of n that one unit searches for equal numbers */
    SEARCH = 32,      /* units of the search, which reaches 8 million */
    USE_VALUES = 6,
    USE_SHUFFLE = 7,
    HELD_OUT = 1 << 20
};

static const struct {
    const char *name;
    int bits; /* bits of the significand */
} formats[FORMATS] = {{"bf16", 8}, {"fp16", 11}, {"fp32", 24}};

struct options {
    int samples, length, width;
};

static const struct pw_opt opts[] = {
    {"samples", PW_OPT_INT, offsetof(struct options, samples), "256", 8, 8192, NULL, 0,
     "sequences of random tokens to fit the arm's readout on, and as many to score it"},
    {"length", PW_OPT_INT, offsetof(struct options, length), "0", 0, 65536, NULL, 0,
     "tokens per sequence; 0: the length that the arm was trained on"},
    {"width", PW_OPT_INT, offsetof(struct options, width), "64", 2, 1024, NULL, 0,
     "d, the number of entries of the vector"},
    {0},
};

enum { PLACE, SHUFFLED, READOUTS };

struct side {
    struct pw_ridge ridge;
    double *weights;              /* [C+1,READOUTS] */
    double *sum, *square, *error; /* [READOUTS,T] sums of the readout, of its square, and of |readout - i| */
};

struct state {
    int T, C, streams;
    struct pw_model *average;
    int *choice, *tokens;
    float *own, *resid;
    int right[KEYS];
    int64_t same[FORMATS]; /* the first n with the same number as n + 1; 0: none yet */
    struct side side[2];
};

static enum pw_code begin_resolution(struct pw_probing_at *p, struct pw_err *err)
{
    const struct options *o = p->opts;
    const struct pw_probe_subject *subject = p->in->subject;
    const struct pw_config *c = pw_model_config(subject->model);
    struct state *s = p->state = pw_alloc(1, sizeof *s);
    enum pw_code code = pw_draw_length(&s->T, p, subject, o->length, pw_draw_trained(p->in, subject), err);
    if (code == PW_OK && o->width % 2 != 0)
        code = pw_fail(err, PW_EUSER, "probe resolution: width=%d: allowed are even numbers", o->width);
    if (code == PW_OK)
        code = pw_own_average(&s->average, p->in, o->width, KEYS, TOKENS, err);
    if (code != PW_OK)
        return code;
    bool there = true;
    s->C = c->width;
    s->streams = c->layers + 1;
    s->choice = pw_alloc(TOKENS, sizeof *s->choice);
    for (int i = 0; i < TOKENS; i++)
        s->choice[i] = i;
    s->own = pw_alloc((size_t)KEYS * o->width, sizeof *s->own);
    s->tokens = pw_alloc(2 * (size_t)s->T, sizeof *s->tokens);
    s->resid = pw_alloc((size_t)s->streams * s->T * s->C, sizeof *s->resid);
    for (int i = 0; i < 2; i++) {
        struct side *d = &s->side[i];
        there = there && pw_ridge_init(&d->ridge, s->C, READOUTS);
        d->weights = pw_alloc((size_t)(s->C + 1) * READOUTS, sizeof *d->weights);
        d->sum = pw_alloc(3 * (size_t)READOUTS * s->T, sizeof *d->sum);
        d->square = d->sum + (size_t)READOUTS * s->T;
        d->error = d->square + (size_t)READOUTS * s->T;
    }
    p->units = AVERAGES + SEARCH + 2 * (2 * o->samples + 1);
    return there ? PW_OK : pw_fail(err, PW_ENOMEM, "probe resolution: out of memory for width %d", s->C);
}

/* ---- the scalar 1/sqrt(n) */

/* The probability that chi squared with d degrees of freedom (d even) is at most x: 1 - a sum of Poisson
 * terms. */
static double chi_squared(double x, int d)
{
    double ln = -x / 2, sum = 0;
    for (int k = 0; k < d / 2; k++) {
        sum += pw_exp(ln);
        ln += pw_log(x / 2 / (k + 1));
    }
    return 1 - sum;
}

/* The probability that n is more likely than n - 1 and n + 1, given that n is right. */
static double odds(int n, int d)
{
    double low = chi_squared(n * d * pw_log((n + 1.0) / n), d);
    return (n > 1 ? chi_squared(n * d * pw_log(n / (n - 1.0)), d) : 1) - low;
}

/* The most likely n for a sum of d squares. KEYS + 1: any larger n. */
static int most_likely(double squares, int d)
{
    int n = 1;
    while (n <= KEYS && d * pw_log((n + 1.0) / n) > squares)
        n++;
    return n;
}

static enum pw_code average_unit(const struct pw_probing_at *p, int i, struct pw_err *err)
{
    const struct options *o = p->opts;
    struct state *s = p->state;
    struct pw_rng rng;
    pw_draw_init(&rng, p->in, USE_VALUES, (uint64_t)i);
    for (int k = 0; k < KEYS; k++) { /* values without replacement */
        int j = k + (int)pw_rng_below(&rng, (uint32_t)(TOKENS - k)), was = s->choice[k];
        s->choice[k] = s->choice[j];
        s->choice[j] = was;
    }
    enum pw_code code =
        pw_model_inspect(s->average, s->choice, KEYS, &(struct pw_inspection){.z = s->own}, err);
    for (int t = 0; t < KEYS && code == PW_OK; t++) {
        double squares = 0;
        for (int c = 0; c < o->width; c++)
            squares += (double)s->own[t * o->width + c] * (double)s->own[t * o->width + c];
        s->right[t] += most_likely(squares, o->width) == t + 1;
    }
    return code;
}

/* x rounded to a significand of `bits` bits, ties to even. */
static double rounded(double x, int bits)
{
    int e;
    double m = frexp(x, &e);
    return ldexp(rint(ldexp(m, bits)), e - bits);
}

static void search_unit(struct state *s, int i)
{
    for (int k = 0; k < FORMATS; k++) {
        int64_t n = (int64_t)i * STRIDE + 1, end = n + STRIDE;
        double here = rounded(1 / sqrt((double)n), formats[k].bits), next;
        for (; n < end && s->same[k] == 0; n++, here = next) {
            next = rounded(1 / sqrt((double)n + 1), formats[k].bits);
            if (here == next)
                s->same[k] = n;
        }
    }
}

/* ---- the arm and its twin */

static enum pw_code arm_unit(const struct pw_probing_at *p, int i, struct pw_err *err)
{
    const struct options *o = p->opts;
    const struct pw_probe_subject *subject = p->in->subject;
    struct state *s = p->state;
    struct side *d = &s->side[i % 2];
    bool fitting = i / 2 < o->samples;
    struct pw_rng rng;
    int *place = s->tokens + s->T;
    if (i / 2 == o->samples) {
        pw_ridge_solve(&d->ridge, d->weights, LAMBDA);
        return PW_OK;
    }
    uint64_t index = (uint64_t)i / 2 + (fitting ? 0 : HELD_OUT);
    pw_draw_tokens(s->tokens, s->T, p->in, index);
    pw_draw_init(&rng, p->in, USE_SHUFFLE, index);
    for (int t = 0; t < s->T; t++)
        place[t] = t;
    pw_draw_shuffle(&rng, place + 1, s->T - 1);
    enum pw_code code = pw_model_inspect(i % 2 == 0 ? subject->model : subject->control, s->tokens, s->T,
                                         &(struct pw_inspection){.resid = s->resid}, err);
    for (int t = 1; t < s->T && code == PW_OK; t++) {
        const float *x = s->resid + ((size_t)(s->streams - 1) * s->T + t) * s->C;
        const double y[READOUTS] = {t, place[t]};
        for (int k = 0; k < READOUTS && !fitting; k++) {
            double read = pw_ridge_predict(d->weights, x, s->C, READOUTS, k);
            d->sum[k * s->T + t] += read;
            d->square[k * s->T + t] += read * read;
            d->error[k * s->T + t] += fabs(read - t);
        }
        if (fitting)
            pw_ridge_add(&d->ridge, x, y);
    }
    return code;
}

static enum pw_code unit(struct pw_probing_at *p, int i, struct pw_err *err)
{
    if (i < AVERAGES)
        return average_unit(p, i, err);
    if (i >= AVERAGES + SEARCH)
        return arm_unit(p, i - AVERAGES - SEARCH, err);
    search_unit(p->state, i - AVERAGES);
    return PW_OK;
}

/* ---- the finding */

static void add_steps(const struct state *s, struct pw_finding *f)
{
    enum { ROWS = 11 }; /* 1, 2, 4, ... 1024 */
    static const char *const heads[] = {"1/sqrt(n)", "1/sqrt(n+1)", "step", "relative"};
    double x[ROWS], y[ROWS];
    int b = pw_finding_table(f, "the scalar at n and n + 1", ROWS, 4);
    for (int k = 0; k < 4; k++)
        pw_finding_col(f, b, k, "%s", heads[k]);
    for (int i = 0; i < ROWS; i++) {
        double n = (double)(1 << i), here = 1 / sqrt(n), next = 1 / sqrt(n + 1);
        const double row[] = {here, next, here - next, 1 - next / here};
        pw_finding_row(f, b, i, "n = %d", 1 << i);
        for (int k = 0; k < 4; k++)
            pw_finding_put(f, b, i, k, row[k]);
        x[i] = pw_log(n);
        y[i] = pw_log(here - next);
    }
    b = pw_finding_table(f, "first n at which 1/sqrt(n) and 1/sqrt(n+1) round to the same number", FORMATS,
                         1);
    pw_finding_col(f, b, 0, "n");
    f->blocks[b].decimals = 0;
    for (int k = 0; k < FORMATS; k++) {
        pw_finding_row(f, b, k, "%s", formats[k].name);
        pw_finding_put(f, b, k, 0, s->same[k] > 0 ? (double)s->same[k] : NAN);
    }
    double slope = pw_fit_line(x + 4, y + 4, ROWS - 4).slope; /* from n = 16 on */
    pw_finding_claim(
        f, pw_claim_holds(fabs(slope + 1.5) <= EXPONENT_WITHIN && s->same[0] > 0 && s->same[1] > 0),
        "Su 2024, shortcoming 2: for large n 1/sqrt(n) and 1/sqrt(n+1) are indistinguishable",
        "step ~ n^%.3f (-1.5, tolerance %g); rounded to the same number from n = %lld in bf16, %lld in fp16, "
        "%lld in fp32",
        slope, EXPONENT_WITHIN, (long long)s->same[0], (long long)s->same[1], (long long)s->same[2]);
}

static void add_odds(const struct state *s, struct pw_finding *f, int d)
{
    double most = 0, limit = sqrt(d / 2.0);
    int b = pw_finding_plot(f, "frequency with which the most likely n for one vector is right", "keys n",
                            "frequency", KEYS, 2, false);
    f->blocks[b].n_reference = 1;
    f->blocks[b].log_x = true;
    pw_finding_name(f, b, 0, "uniform attention");
    pw_finding_name(f, b, 1, "chi squared");
    for (int t = 0; t < KEYS; t++) {
        double found = (double)s->right[t] / AVERAGES, expected = odds(t + 1, d);
        pw_finding_x(f, b, t, t + 1);
        pw_finding_y(f, b, t, 0, found);
        pw_finding_y(f, b, t, 1, expected);
        most = fabs(found - expected) > most ? fabs(found - expected) : most;
    }
    pw_finding_claim(f, pw_claim_holds(most <= ODDS_WITHIN),
                     "one vector of d numbers distinguishes n from n + 1 up to n = sqrt(d/2)",
                     "d = %d: sqrt(d/2) = %.1f; frequency at n = 1, 4, 16: %.2f, %.2f, %.2f; within %.3f of "
                     "chi squared (tolerance %g)",
                     d, limit, (double)s->right[0] / AVERAGES, (double)s->right[3] / AVERAGES,
                     (double)s->right[15] / AVERAGES, most, ODDS_WITHIN);
}

/* The distance between the means of readout k at t and t + 1, in standard deviations. */
static double apart(const struct side *d, int k, int t, int T, int samples)
{
    double variance = 0, step = 0;
    for (int i = 0; i < 2; i++) {
        double mean = d->sum[k * T + t + i] / samples;
        variance += (d->square[k * T + t + i] / samples - mean * mean) / 2;
        step += i ? mean : -mean;
    }
    return variance > 0 ? step / sqrt(variance) : NAN;
}

/* The mean of apart over positions from..to-1. */
static double mean_apart(const struct side *d, int from, int to, int T, int samples)
{
    double sum = 0;
    for (int t = from; t < to; t++)
        sum += apart(d, PLACE, t, T, samples) / (to - from);
    return sum;
}

static void add_arm(const struct state *s, struct pw_finding *f, int samples, bool nope)
{
    int T = s->T, third = (T - 2) / 3 > 0 ? (T - 2) / 3 : 1;
    int b =
        pw_finding_plot(f, "a readout's means at positions n and n + 1: their distance, held-out sequences",
                        "keys n", "standard deviations", T - 2, 3, false);
    int e = pw_finding_plot(f, "mean |error| of the readout", "keys n", "tokens", T - 1, 3, false);
    for (int k = 0; k < 3; k++) {
        static const char *const names[] = {"arm", "untrained", "shuffled"};
        const struct side *d = &s->side[k == 1];
        pw_finding_name(f, b, k, "%s", names[k]);
        pw_finding_name(f, e, k, "%s", names[k]);
        for (int t = 1; t < T; t++) {
            if (t < T - 1)
                pw_finding_y(f, b, t - 1, k, apart(d, k == 2, t, T, samples));
            pw_finding_y(f, e, t - 1, k, d->error[(k == 2) * T + t] / samples);
        }
    }
    for (int t = 1; t < T; t++) {
        if (t < T - 1)
            pw_finding_x(f, b, t - 1, t + 1);
        pw_finding_x(f, e, t - 1, t + 1);
    }
    int thirds =
        pw_finding_table(f, "standard deviations between positions n and n + 1: means over positions", 2, 2);
    pw_finding_col(f, thirds, 0, "first third");
    pw_finding_col(f, thirds, 1, "last third");
    for (int i = 0; i < 2; i++) {
        pw_finding_row(f, thirds, i, "%s", i == 0 ? "arm" : "untrained");
        pw_finding_put(f, thirds, i, 0, mean_apart(&s->side[i], 1, 1 + third, T, samples));
        pw_finding_put(f, thirds, i, 1, mean_apart(&s->side[i], T - 1 - third, T - 1, T, samples));
    }
    if (nope)
        pw_probe_remark_one(f, "resolution");
}

static enum pw_code end(struct pw_probing_at *p, struct pw_finding *f, struct pw_err *err)
{
    const struct options *o = p->opts;
    const struct pw_probe_subject *subject = p->in->subject;
    const struct state *s = p->state;
    (void)err;
    pw_finding_init(f, "resolution", p->in->topic,
                    "resolution of positions: by the scalar 1/sqrt(n), and by a readout of the last stream "
                    "of arm %s, %d + %d sequences of %d random tokens",
                    subject->name, o->samples, o->samples, s->T);
    add_steps(s, f);
    add_odds(s, f, o->width);
    add_arm(s, f, o->samples, pw_probe_nope(subject, false));
    return PW_OK;
}

static void fini(struct pw_probing_at *p)
{
    struct state *s = p->state;
    pw_model_destroy(s->average);
    for (int i = 0; i < 2; i++) {
        pw_ridge_fini(&s->side[i].ridge);
        free(s->side[i].weights);
        free(s->side[i].sum);
    }
    free(s->choice);
    free(s->own);
    free(s->tokens);
    free(s->resid);
    free(s);
}

const struct pw_probe pw_probe_resolution = {
    .name = "resolution",
    .summary = "resolution of positions by a scalar 1/sqrt(n): step, noise, rounding; and by the arm",
    .source = "Su 2024 (kexue.fm 10347), shortcoming 2",
    .opts = opts,
    .opts_size = sizeof(struct options),
    .takes = PW_PROBE_ARM | PW_PROBE_CONTROL,
    .begin = begin_resolution,
    .unit = unit,
    .end = end,
    .fini = fini,
};
