/* decay.c - the probe decay: does an encoding by itself reduce the weight of distant tokens? (Su 2024,
 * kexue.fm 10347, "Prior Knowledge" and shortcoming 4; Su et al. 2021, section 3.4.3.)
 *
 * The rotary score of a query and a key at distance r is a sum of terms that rotate at frequencies theta. Its
 * behaviour depends on the assumption about q and k. The probe shows two assumptions, and Su et al.'s bound:
 *
 * aligned      q = k. The mean score is K(r) = (2/d) sum cos(r theta), times sqrt(d) for q ~ N(0,I). K is
 *              also the product of two sinusoidal rows. It falls, but not at every step.
 * independent  q and k are independent with mean 0. At every r the score has mean 0 and standard deviation
 *              1, because a rotation of independent vectors is another such pair. There is no decay.
 * bound        RoFormer's bound applies to neither case. It falls because it is a bound.
 *
 * Then the probe measures the arm. First comes the encoding's contribution to the scores by distance, learned
 * or fixed (kernel.h). An encoding that forgets by the tokens has no function of the distance; its curve is
 * the share of a token that it keeps (forgetting.h), as a mean over queries. Second comes the
 * attention mass by distance on random tokens. ln(mass) is fitted against r (exponential decay) and against
 * ln r (a power law). Only queries that have all distances before them count, so that uniform attention gives
 * a flat curve. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/maths.h"
#include "probe/draw.h"
#include "probe/fit.h"
#include "probe/forgetting.h"
#include "probe/kernel.h"

/* Tolerances of sampled scores. A mean of DRAWS scores has a standard error of 0.022; the standard deviation
 * has one of 0.016. */
#define MEAN_WITHIN      0.09
#define DEVIATION_WITHIN 0.07
enum { DRAWS = 2000, AT_ONCE = 20, USE_VECTORS = 9, SAMPLES_OF_KERNEL = 8 };

static const int distances[] = {0, 1, 4, 16, 64, 128, 256, 1024};
enum { DISTANCES = sizeof distances / sizeof *distances };

struct options {
    int samples, length, width;
    double base;
};

static const struct pw_opt opts[] = {
    {"samples", PW_OPT_INT, offsetof(struct options, samples), "64", 1, 8192, NULL, 0,
     "sequences of random tokens"},
    {"length", PW_OPT_INT, offsetof(struct options, length), "0", 0, 65536, NULL, 0,
     "tokens per sequence; 0: the length that the arm was trained on"},
    {"width", PW_OPT_INT, offsetof(struct options, width), "64", 2, 1024, NULL, 0,
     "width d of the rotated vectors, an even number"},
    {"base", PW_OPT_DOUBLE, offsetof(struct options, base), "10000", 1.01, 1e9, NULL, 0,
     "ratio of the longest to the shortest wavelength"},
    {0},
};

enum { ALIGNED, INDEPENDENT, CASES };

struct state {
    int T, reach, heads; /* distances 0..reach; heads in all layers */
    double sum[CASES][DISTANCES], square[CASES][DISTANCES];
    float *probs, *kernel, *score; /* probs [heads,T,T]; kernel, score [heads,T] */
    double *mass[2];               /* [heads,reach + 1], of the arm and its untrained twin */
    struct pw_forgetting forgetting;
    int *tokens, *pos, *start; /* of a batch */
};

static enum pw_code begin_decay(struct pw_probing_at *p, struct pw_err *err)
{
    const struct options *o = p->opts;
    const struct pw_probe_subject *subject = p->in->subject;
    const struct pw_config *c = pw_model_config(subject->model);
    struct state *s = p->state = pw_alloc(1, sizeof *s);
    enum pw_code code = pw_draw_length(&s->T, p, subject, o->length, pw_draw_trained(p->in, subject), err);
    if (code == PW_OK && o->width % 2 != 0)
        code = pw_fail(err, PW_EUSER, "probe decay: width=%d: allowed are even numbers", o->width);
    if (code == PW_OK && s->T < 8)
        code = pw_fail(err, PW_EUSER, "probe decay: length %d: at least 8 tokens are needed", s->T);
    if (code != PW_OK)
        return code;
    s->reach = (s->T - 2) / 2;
    s->heads = c->layers * c->heads;
    for (int i = 0; i < 2; i++)
        s->mass[i] = pw_alloc((size_t)s->heads * (s->reach + 1), sizeof(double));
    pw_forgetting_init(&s->forgetting, subject->model, s->T, s->reach);
    s->kernel = pw_alloc(2 * (size_t)s->heads * s->T, sizeof *s->kernel);
    s->score = s->kernel + (size_t)s->heads * s->T;
    s->tokens = pw_alloc(2 * (size_t)SAMPLES_OF_KERNEL * s->T + SAMPLES_OF_KERNEL + 1, sizeof *s->tokens);
    s->pos = s->tokens + SAMPLES_OF_KERNEL * s->T;
    s->start = s->pos + SAMPLES_OF_KERNEL * s->T;
    s->probs = malloc((size_t)s->heads * s->T * s->T * sizeof *s->probs);
    if (s->probs == NULL)
        return pw_fail(err, PW_ENOMEM, "probe decay: out of memory for %d heads of %d tokens", s->heads,
                       s->T);
    p->units = DRAWS / AT_ONCE + c->layers + 2 * o->samples;
    return PW_OK;
}

/* ---- the kernel of rotary */

static double kernel_of(int r, int d, double base)
{
    double sum = 0;
    for (int i = 0; i < d / 2; i++)
        sum += pw_cos(r * pw_rotary_frequency(i, d, base));
    return 2 * sum / d;
}

/* Su et al. 2021, Eq. 37, divided by the largest change of q k: (2/d) sum over j of |sum over i < j of e^(i r
 * theta)|. */
static double bound_of(int r, int d, double base)
{
    double real = 0, imaginary = 0, sum = 0;
    for (int i = 0; i < d / 2; i++) {
        double angle = r * pw_rotary_frequency(i, d, base);
        real += pw_cos(angle);
        imaginary += pw_sin(angle);
        sum += sqrt(real * real + imaginary * imaginary);
    }
    return 2 * sum / d;
}

/* The score of k and of q rotated by distance r. */
static double score_of(const double *q, const double *k, int r, int d, double base)
{
    double sum = 0;
    for (int i = 0; i < d / 2; i++) {
        double angle = r * pw_rotary_frequency(i, d, base), c = pw_cos(angle), s = pw_sin(angle);
        sum +=
            (q[2 * i] * c - q[2 * i + 1] * s) * k[2 * i] + (q[2 * i] * s + q[2 * i + 1] * c) * k[2 * i + 1];
    }
    return sum / sqrt(d);
}

static void draw_unit(const struct pw_probing_at *p, int i)
{
    const struct options *o = p->opts;
    struct state *s = p->state;
    double *q = pw_alloc(2 * (size_t)o->width, sizeof *q), *k = q + o->width;
    struct pw_rng rng;
    pw_draw_init(&rng, p->in, USE_VECTORS, (uint64_t)i);
    for (int n = 0; n < AT_ONCE; n++) {
        for (int e = 0; e < 2 * o->width; e++)
            q[e] = pw_draw_normal(&rng);
        for (int r = 0; r < DISTANCES; r++)
            for (int c = 0; c < CASES; c++) {
                double v = score_of(q, c == ALIGNED ? q : k, distances[r], o->width, o->base);
                s->sum[c][r] += v;
                s->square[c][r] += v * v;
            }
    }
    free(q);
}

/* ---- the arm */

static enum pw_code kernel_unit(const struct pw_probing_at *p, int layer, struct pw_err *err)
{
    const struct pw_probe_subject *subject = p->in->subject;
    struct state *s = p->state;
    size_t at = (size_t)layer * pw_model_config(subject->model)->heads * s->T;
    struct pw_kernel k = {.layer = layer, .N = s->T, .kernel = s->kernel + at, .score = s->score + at};
    struct pw_batch b = {.n_seqs = SAMPLES_OF_KERNEL,
                         .n_rows = SAMPLES_OF_KERNEL * s->T,
                         .start = s->start,
                         .tokens = s->tokens,
                         .pos = s->pos};
    for (int i = 0; i <= SAMPLES_OF_KERNEL; i++)
        s->start[i] = i * s->T;
    for (int i = 0; i < SAMPLES_OF_KERNEL; i++) {
        pw_draw_tokens(s->tokens + i * s->T, s->T, p->in, (uint64_t)i);
        for (int t = 0; t < s->T; t++)
            s->pos[i * s->T + t] = t;
    }
    enum pw_code code = pw_kernel_measure(&k, subject->model, &b, err);
    for (size_t i = 0; i < (size_t)pw_model_config(subject->model)->heads * s->T; i++)
        if (isinf(k.kernel[i])) /* a mask hides the key */
            k.kernel[i] = NAN;
    return code;
}

/* Adds the attention mass by distance of one sequence. Queries reach+1..T-1 have all distances 0..reach
 * before them, without the first token as a key. */
static enum pw_code mass_unit(const struct pw_probing_at *p, int i, struct pw_err *err)
{
    const struct options *o = p->opts;
    const struct pw_probe_subject *subject = p->in->subject;
    struct state *s = p->state;
    int T = s->T, from = s->reach + 1;
    struct pw_inspection in = s->forgetting.read;
    in.probs = s->probs;
    pw_draw_tokens(s->tokens, T, p->in, (uint64_t)i / 2);
    enum pw_code code =
        pw_model_inspect(i % 2 == 0 ? subject->model : subject->control, s->tokens, T, &in, err);
    if (code == PW_OK)
        pw_forgetting_add(&s->forgetting, i % 2, 1.0 / ((T - from) * o->samples));
    for (int h = 0; h < s->heads && code == PW_OK; h++)
        for (int t = from; t < T; t++)
            for (int r = 0; r <= s->reach; r++)
                s->mass[i % 2][h * (s->reach + 1) + r] +=
                    (double)s->probs[((size_t)h * T + t) * T + t - r] / ((T - from) * o->samples);
    return code;
}

static enum pw_code unit(struct pw_probing_at *p, int i, struct pw_err *err)
{
    int layers = pw_model_config(p->in->subject->model)->layers;
    if (i >= DRAWS / AT_ONCE + layers)
        return mass_unit(p, i - DRAWS / AT_ONCE - layers, err);
    if (i >= DRAWS / AT_ONCE)
        return kernel_unit(p, i - DRAWS / AT_ONCE, err);
    draw_unit(p, i);
    return PW_OK;
}

/* ---- the finding */

static void add_rotary(const struct state *s, struct pw_finding *f, const struct options *o)
{
    static const char *const heads[] = {"K aligned", "drawn, aligned", "mean, independent",
                                        "s.d., independent", "RoFormer's bound"};
    double off = 0, mean_most = 0, deviation_most = 0, before = INFINITY;
    bool falls = true;
    int b =
        pw_finding_table(f, "rotary and sinusoidal: score of a query and a key at distance r", DISTANCES, 5);
    for (int k = 0; k < 5; k++)
        pw_finding_col(f, b, k, "%s", heads[k]);
    for (int r = 0; r < DISTANCES; r++) {
        double kernel = kernel_of(distances[r], o->width, o->base);
        double drawn = s->sum[ALIGNED][r] / DRAWS / sqrt(o->width), mean = s->sum[INDEPENDENT][r] / DRAWS;
        double deviation = sqrt(s->square[INDEPENDENT][r] / DRAWS - mean * mean);
        const double row[] = {kernel, drawn, mean, deviation, bound_of(distances[r], o->width, o->base)};
        pw_finding_row(f, b, r, "r = %d", distances[r]);
        for (int k = 0; k < 5; k++)
            pw_finding_put(f, b, r, k, row[k]);
        /* compares 64, 256 and 1024 only: in between, K may rise for a while */
        falls = falls && (distances[r] == 128 || kernel < before);
        before = distances[r] == 128 ? before : kernel;
        off = fmax(off, fabs(drawn - kernel));
        mean_most = fmax(mean_most, fabs(mean));
        deviation_most = fmax(deviation_most, fabs(deviation - 1));
    }
    pw_finding_claim(
        f, pw_claim_holds(falls && off <= MEAN_WITHIN),
        "Su et al. 2021, section 3.4.3: rotary scores decay with distance; tested for aligned q = k",
        "K(1) = %.3f, K(16) = %.3f, K(256) = %.3f; sampled means within %.3f (tolerance %g)",
        kernel_of(1, o->width, o->base), kernel_of(16, o->width, o->base), kernel_of(256, o->width, o->base),
        off, MEAN_WITHIN);
    pw_finding_claim(
        f, pw_claim_holds(mean_most <= MEAN_WITHIN && deviation_most <= DEVIATION_WITHIN),
        "scores of independent q and k don't decay: mean 0, standard deviation 1 at every distance",
        "mean within %.3f of 0 (tolerance %g), standard deviation within %.3f of 1 (tolerance %g)", mean_most,
        MEAN_WITHIN, deviation_most, DEVIATION_WITHIN);
}

/* Adds one plot per layer: the arm's encoding, head by head. */
static void add_kernel(const struct state *s, struct pw_finding *f, const struct pw_model *m)
{
    const struct pw_config *c = pw_model_config(m);
    for (int l = 0; l < c->layers; l++) {
        char title[96];
        if (!pw_kernel_has(pw_model_config(m), pw_model_pe(m)->pe, l))
            continue;
        snprintf(title, sizeof title, "layer %d: contribution of the encoding to the score, by distance", l);
        int b = pw_finding_plot(f, title, "distance r", "score", s->T, c->heads, false);
        for (int h = 0; h < c->heads; h++) {
            pw_finding_name(f, b, h, "head %d", h);
            for (int r = 0; r < s->T; r++)
                pw_finding_y(f, b, r, h, (double)s->kernel[((size_t)l * c->heads + h) * s->T + r]);
        }
        for (int r = 0; r < s->T; r++)
            pw_finding_x(f, b, r, r);
    }
}

struct fits {
    struct pw_fitted_line exponential, power; /* ln mass fitted against r, and against ln r; r = 1..reach */
};

static struct fits fits_of(const struct state *s, int side, int h)
{
    double *x = pw_alloc(3 * (size_t)s->reach, sizeof *x), *lx = x + s->reach, *y = lx + s->reach;
    for (int r = 1; r <= s->reach; r++) {
        double mass = s->mass[side][h * (s->reach + 1) + r];
        x[r - 1] = r;
        lx[r - 1] = pw_log(r);
        y[r - 1] = pw_log(mass > 1e-30 ? mass : 1e-30);
    }
    struct fits k = {pw_fit_line(x, y, s->reach), pw_fit_line(lx, y, s->reach)};
    free(x);
    return k;
}

static void add_mass(const struct state *s, struct pw_finding *f, int layers)
{
    static const char *const heads[] = {
        "against r", "R^2", "against ln r", "R^2", "untrained, r", "falls by times", "untrained, times"};
    int H = s->heads / layers;
    int b = pw_finding_table(
        f, "slope of ln(attention mass), and the factor by which the mass falls from distance 1 to the last",
        s->heads, 7);
    f->blocks[b].decimals = 3;
    for (int k = 0; k < 7; k++)
        pw_finding_col(f, b, k, "%s", heads[k]);
    for (int h = 0; h < s->heads; h++) {
        struct fits k = fits_of(s, 0, h);
        double fresh = fits_of(s, 1, h).exponential.slope;
        const double row[] = {k.exponential.slope,
                              k.exponential.r2,
                              k.power.slope,
                              k.power.r2,
                              fresh,
                              pw_exp(-k.exponential.slope * (s->reach - 1)),
                              pw_exp(-fresh * (s->reach - 1))};
        pw_finding_row(f, b, h, "layer %d head %d", h / H, h % H);
        for (int i = 0; i < 7; i++)
            pw_finding_put(f, b, h, i, row[i]);
    }
    b = pw_finding_plot(f, "mass of attention by distance, mean over the heads of a layer", "distance r",
                        "mass", s->reach + 1, 2 * layers, false);
    f->blocks[b].log_y = true;
    for (int k = 0; k < 2 * layers; k++) {
        pw_finding_name(f, b, k, "layer %d%s", k / 2, k % 2 ? ", untrained" : "");
        for (int r = 0; r <= s->reach; r++) {
            double mean = 0;
            for (int h = k / 2 * H; h < (k / 2 + 1) * H; h++)
                mean += s->mass[k % 2][h * (s->reach + 1) + r] / H;
            pw_finding_x(f, b, r, r);
            pw_finding_y(f, b, r, k, mean);
        }
    }
}

/* Claims that ALiBi's bias falls with distance. It is fixed, so it is the same before and after
 * training. */
static void claim_alibi(const struct state *s, struct pw_finding *f)
{
    int falling = 0, pairs = s->heads * (s->T - 1);
    for (int h = 0; h < s->heads; h++)
        for (int r = 1; r < s->T; r++)
            falling += s->kernel[(size_t)h * s->T + r] < s->kernel[(size_t)h * s->T + r - 1];
    pw_finding_claim(f, pw_claim_holds(falling == pairs),
                     "Su 2024: ALiBi assumes that more distant tokens are, on average, less important",
                     "the bias falls from one distance to the next in %d of %d cases, over %d heads", falling,
                     pairs, s->heads);
}

static enum pw_code end(struct pw_probing_at *p, struct pw_finding *f, struct pw_err *err)
{
    const struct options *o = p->opts;
    const struct pw_probe_subject *subject = p->in->subject;
    const struct state *s = p->state;
    (void)err;
    pw_finding_init(f, "decay", p->in->topic,
                    "scores and attention by distance: rotary with d = %d, and arm %s on %d sequences of %d "
                    "random tokens",
                    o->width, subject->name, o->samples, s->T);
    add_rotary(s, f, o);
    add_kernel(s, f, subject->model);
    pw_forgetting_report(&s->forgetting, f, pw_model_pe(subject->model)->pe->name);
    add_mass(s, f, pw_model_config(subject->model)->layers);
    if (strcmp(pw_model_pe(subject->model)->pe->name, "alibi") == 0)
        claim_alibi(s, f);
    if (pw_probe_nope(subject, false))
        pw_probe_remark_one(f, "decay");
    if (pw_model_pe(subject->model)->pe->uses & PW_PE_DENSE)
        pw_finding_remark(f, "the contribution of the encoding depends on the position of the query; each "
                             "value is the mean over the queries that have a key at this distance");
    pw_finding_remark(f,
                      "aligned: query and key are the same vector; independent: they are drawn "
                      "independently. The mean rotary score decays with distance only for aligned vectors");
    return PW_OK;
}

static void fini(struct pw_probing_at *p)
{
    struct state *s = p->state;
    free(s->probs);
    free(s->kernel);
    free(s->tokens);
    free(s->mass[0]);
    free(s->mass[1]);
    pw_forgetting_fini(&s->forgetting);
    free(s);
}

const struct pw_probe pw_probe_decay = {
    .name = "decay",
    .summary = "scores by distance from the encoding alone, for aligned and independent vectors; attention "
               "mass by distance",
    .source = "Su 2024 (kexue.fm 10347); Su et al. 2021, section 3.4.3",
    .opts = opts,
    .opts_size = sizeof(struct options),
    .takes = PW_PROBE_ARM | PW_PROBE_CONTROL,
    .begin = begin_decay,
    .unit = unit,
    .end = end,
    .fini = fini,
};
