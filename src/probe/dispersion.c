/* dispersion.c - the probe dispersion: attention spreads over more keys as sequences get longer (Su 2024,
 * kexue.fm 10347, shortcoming 4; Velickovic et al. 2024).
 *
 * A query with n keys has the entropy H_n = -sum a ln a, at most ln n. Its effective number of keys is e^H,
 * or n_eff = 1 / sum a^2. For a focused head both are independent of n. For a dispersing head both grow with
 * n. The slope of H against ln n is 0 in the first case and 1 in the second. Independent scores N(0,s^2)
 * disperse: H -> ln n - s^2/2 and n_eff -> n e^(-s^2). ALiBi's bias alone doesn't disperse. For slope m and
 * no content
 *
 *     H -> -ln(1 - e^-m) + m e^-m / (1 - e^-m),   n_eff -> coth(m/2).
 *
 * The arm is measured on test samples of the task: the prompt and the right answer. Only rows of the answer
 * count, because there the model has something to attend to. */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/maths.h"
#include "probe/draw.h"
#include "probe/fit.h"

/* DRAWN_WITHIN: the mean entropy of ROWS rows of random scores has a standard error of 0.004 at s = 1. The
 * rest of the tolerance covers the deviation from the limit, which requires n far above e^(s^2). */
#define DRAWN_WITHIN 0.02
#define LIMIT_WITHIN 1e-3

enum {
    KEYS = 1024,
    ROWS = 64,
    FAR = 8192, /* ALiBi's row has reached its limit after this many keys */
    USE_SCORES = 10
};

static const double deviations[] = {0, 0.5, 1, 2}, slopes[] = {1.0 / 2, 1.0 / 4, 1.0 / 16, 1.0 / 256};

enum { DRAWN = sizeof deviations / sizeof *deviations, SLOPES = sizeof slopes / sizeof *slopes };

struct options {
    int samples;
};

static const struct pw_opt opts[] = {
    {"samples", PW_OPT_INT, offsetof(struct options, samples), "16", 1, 4096, NULL, 0,
     "samples per length, from the shortest trained to the longest test length"},
    {0},
};

/* Measures of one attention row, or sums of them over rows. */
struct row {
    double entropy, keys /* n_eff */, most /* the largest weight */, even /* entropy / ln n */;
};

struct state {
    int first, lengths, heads; /* layers * heads of the subject */
    float *probs;
    int *tokens, cap;
    struct row *sum; /* [lengths,heads] sums over rows */
    double *keys;    /* [lengths] sums of ln n */
    int *rows;       /* [lengths] numbers of rows */
    struct row drawn[DRAWN];
};

static enum pw_code begin_dispersion(struct pw_probing_at *p, struct pw_err *err)
{
    const struct pw_probe_in *in = p->in;
    const struct options *o = p->opts;
    const struct pw_config *c = pw_model_config(in->subject->model);
    struct state *s = p->state = pw_alloc(1, sizeof *s);
    s->first = in->lengths.lo;
    s->lengths = in->test.hi - s->first + 1;
    s->heads = c->layers * c->heads;
    s->cap = c->context;
    s->tokens = pw_alloc((size_t)s->cap, sizeof *s->tokens);
    s->sum = pw_alloc((size_t)s->lengths * s->heads, sizeof *s->sum);
    s->keys = pw_alloc((size_t)s->lengths, sizeof *s->keys);
    s->rows = pw_alloc((size_t)s->lengths, sizeof *s->rows);
    s->probs = malloc((size_t)s->heads * s->cap * s->cap * sizeof *s->probs);
    if (s->probs == NULL)
        return pw_fail(err, PW_ENOMEM, "probe dispersion: out of memory for %d heads of %d tokens", s->heads,
                       s->cap);
    p->units = DRAWN * ROWS + s->lengths * o->samples;
    return PW_OK;
}

static void add_row(struct row *sum, const float *a, int n)
{
    double entropy = 0, squares = 0, most = 0;
    for (int j = 0; j < n; j++) {
        double v = (double)a[j];
        entropy -= v > 0 ? v * pw_log(v) : 0;
        squares += v * v;
        most = v > most ? v : most;
    }
    sum->entropy += entropy;
    sum->keys += 1 / squares;
    sum->most += most;
    sum->even += n > 1 ? entropy / pw_log(n) : 0;
}

/* Writes the softmax of a row of scores. */
static void softmax(float *a, const double *score, int n)
{
    double most = -INFINITY, sum = 0;
    for (int j = 0; j < n; j++)
        most = score[j] > most ? score[j] : most;
    for (int j = 0; j < n; j++)
        sum += pw_exp(score[j] - most);
    for (int j = 0; j < n; j++)
        a[j] = (float)(pw_exp(score[j] - most) / sum);
}

static void drawn_unit(const struct pw_probing_at *p, int i)
{
    struct state *s = p->state;
    double score[KEYS];
    float a[KEYS];
    struct pw_rng rng;
    pw_draw_init(&rng, p->in, USE_SCORES, (uint64_t)i);
    for (int j = 0; j < KEYS; j++)
        score[j] = deviations[i % DRAWN] * pw_draw_normal(&rng);
    softmax(a, score, KEYS);
    add_row(&s->drawn[i % DRAWN], a, KEYS);
}

static enum pw_code arm_unit(const struct pw_probing_at *p, int i, struct pw_err *err)
{
    const struct options *o = p->opts;
    struct state *s = p->state;
    int at = i / o->samples, n_prompt, T = 0;
    bool causal = pw_model_config(p->in->subject->model)->causal;
    if (p->in->has(p->in->arg, s->first + at))
        T = p->in->sequence(p->in->arg, s->first + at, i % o->samples, s->tokens, s->cap, &n_prompt);
    if (T == 0) /* no sample, or longer than the model's context */
        return PW_OK;
    enum pw_code code = pw_model_inspect(p->in->subject->model, s->tokens, T,
                                         &(struct pw_inspection){.probs = s->probs}, err);
    for (int h = 0; code == PW_OK && h < s->heads; h++)
        for (int t = n_prompt - 1; t < T; t++)
            add_row(&s->sum[at * s->heads + h], s->probs + ((size_t)h * T + t) * T, causal ? t + 1 : T);
    for (int t = n_prompt - 1; code == PW_OK && t < T; t++, s->rows[at]++)
        s->keys[at] += pw_log(causal ? t + 1 : T);
    return code;
}

static enum pw_code unit(struct pw_probing_at *p, int i, struct pw_err *err)
{
    if (i >= DRAWN * ROWS)
        return arm_unit(p, i - DRAWN * ROWS, err);
    drawn_unit(p, i);
    return PW_OK;
}

/* ---- the finding */

static void add_drawn(const struct state *s, struct pw_finding *f)
{
    static const char *const heads[] = {"H",          "ln n - s^2/2", "n_eff",
                                        "n e^(-s^2)", "H / ln n",     "largest weight"};
    double off = 0;
    int b = pw_finding_table(f, "independent scores N(0,s^2), 1024 keys", DRAWN, 6);
    for (int k = 0; k < 6; k++)
        pw_finding_col(f, b, k, "%s", heads[k]);
    for (int i = 0; i < DRAWN; i++) {
        const struct row *r = &s->drawn[i];
        double v = deviations[i] * deviations[i], line = pw_log(KEYS) - v / 2;
        const double row[] = {r->entropy / ROWS, line,           r->keys / ROWS,
                              KEYS * pw_exp(-v), r->even / ROWS, r->most / ROWS};
        pw_finding_row(f, b, i, "s = %g", deviations[i]);
        for (int k = 0; k < 6; k++)
            pw_finding_put(f, b, i, k, row[k]);
        if (deviations[i] <= 1) /* the formula requires s^2/2 far below ln n */
            off = fmax(off, fabs(row[0] - line));
    }
    pw_finding_claim(
        f, pw_claim_holds(off <= DRAWN_WITHIN),
        "Su 2024, shortcoming 4: attention from scores without a prior disperses: H = ln n - s^2/2",
        "%d keys, s up to 1: entropy within %.4f (tolerance %g)", KEYS, off, DRAWN_WITHIN);
}

static void add_alibi(struct pw_finding *f)
{
    static const char *const heads[] = {"H", "its limit", "n_eff", "coth(m/2)", "largest weight"};
    double *score = pw_alloc(FAR, sizeof *score), off = 0;
    float *a = pw_alloc(FAR, sizeof *a);
    int b = pw_finding_table(f, "ALiBi's bias without content: a row of 8192 keys", SLOPES, 5);
    for (int k = 0; k < 5; k++)
        pw_finding_col(f, b, k, "%s", heads[k]);
    for (int i = 0; i < SLOPES; i++) {
        double m = slopes[i], q = pw_exp(-m), limit = -pw_log(1 - q) + m * q / (1 - q);
        struct row r = {0};
        for (int j = 0; j < FAR; j++)
            score[j] = -m * j;
        softmax(a, score, FAR);
        add_row(&r, a, FAR);
        const double row[] = {r.entropy, limit, r.keys, (1 + q) / (1 - q), r.most};
        pw_finding_row(f, b, i, "m = 1/%.0f", 1 / m);
        for (int k = 0; k < 5; k++)
            pw_finding_put(f, b, i, k, row[k]);
        off = fmax(off, fabs(row[0] - limit));
    }
    free(score);
    free(a);
    pw_finding_claim(f, pw_claim_holds(off <= LIMIT_WITHIN),
                     "Su 2024: ALiBi's prior keeps attention from dispersing: its entropy has a limit",
                     "slopes 1/2 to 1/256: entropy within %.1e of the limit (tolerance %g)", off,
                     LIMIT_WITHIN);
}

static const struct row *row_at(const struct state *s, int length, int head)
{
    return &s->sum[length * s->heads + head];
}

static void add_entropy(const struct state *s, struct pw_finding *f, int layers, int points)
{
    int H = s->heads / layers;
    int b = pw_finding_plot(f, "mean entropy over the heads of a layer", "ln(keys)", "nats", points,
                            layers + 1, true);
    f->blocks[b].n_reference = 1;
    pw_finding_name(f, b, layers, "uniform: ln n");
    for (int l = 0; l < layers; l++)
        pw_finding_name(f, b, l, "layer %d", l);
    for (int i = 0, k = 0; i < s->lengths; i++) {
        if (s->rows[i] == 0)
            continue;
        pw_finding_x(f, b, k, s->keys[i] / s->rows[i]);
        pw_finding_y(f, b, k, layers, s->keys[i] / s->rows[i]);
        for (int l = 0; l < layers; l++) {
            double mean = 0, low = INFINITY, high = 0;
            for (int h = l * H; h < (l + 1) * H; h++) {
                double e = row_at(s, i, h)->entropy / s->rows[i];
                mean += e / H;
                low = e < low ? e : low;
                high = e > high ? e : high;
            }
            pw_finding_band(f, b, k, l, mean, low, high);
        }
        k++;
    }
}

static void add_slopes(const struct state *s, struct pw_finding *f, int layers, int points)
{
    int H = s->heads / layers;
    double *x = pw_alloc(2 * (size_t)points, sizeof *x), *y = x + points;
    int b = pw_finding_table(f, "slope of entropy against ln(number of keys); 0: stays focused, 1: disperses",
                             layers, H);
    f->blocks[b].decimals = 3;
    for (int h = 0; h < H; h++)
        pw_finding_col(f, b, h, "head %d", h);
    for (int h = 0; h < s->heads; h++) {
        int k = 0;
        for (int i = 0; i < s->lengths; i++)
            if (s->rows[i] > 0) {
                x[k] = s->keys[i] / s->rows[i];
                y[k++] = row_at(s, i, h)->entropy / s->rows[i];
            }
        pw_finding_row(f, b, h / H, "layer %d", h / H);
        pw_finding_put(f, b, h / H, h % H, pw_fit_line(x, y, points).slope);
    }
    free(x);
}

/* Adds a table with each head at the shortest and at the longest length. */
static void add_heads(const struct state *s, struct pw_finding *f, int layers)
{
    static const char *const heads[] = {"n_eff",   "longest",  "largest weight",
                                        "longest", "H / ln n", "longest"};
    int H = s->heads / layers, ends[2] = {-1, -1};
    for (int i = 0; i < s->lengths; i++)
        if (s->rows[i] > 0) {
            ends[0] = ends[0] < 0 ? i : ends[0];
            ends[1] = i;
        }
    int b = pw_finding_table(f, "each head at the shortest and the longest length", s->heads, 6);
    f->blocks[b].decimals = 3;
    for (int k = 0; k < 6; k++)
        pw_finding_col(f, b, k, "%s", heads[k]);
    for (int h = 0; h < s->heads; h++) {
        pw_finding_row(f, b, h, "layer %d head %d", h / H, h % H);
        for (int e = 0; e < 2; e++) {
            const struct row *r = row_at(s, ends[e], h);
            double n = s->rows[ends[e]];
            pw_finding_put(f, b, h, e, r->keys / n);
            pw_finding_put(f, b, h, 2 + e, r->most / n);
            pw_finding_put(f, b, h, 4 + e, r->even / n);
        }
    }
}

static enum pw_code end(struct pw_probing_at *p, struct pw_finding *f, struct pw_err *err)
{
    const struct options *o = p->opts;
    const struct pw_probe_subject *subject = p->in->subject;
    const struct state *s = p->state;
    int layers = pw_model_config(subject->model)->layers, points = 0;
    for (int i = 0; i < s->lengths; i++)
        points += s->rows[i] > 0;
    if (points < 2)
        return pw_fail(err, PW_EUSER,
                       "probe dispersion: the task has samples of %d length%s that fit the model: at least "
                       "two are needed",
                       points, points == 1 ? "" : "s");
    pw_finding_init(f, "dispersion", p->in->topic,
                    "entropy of attention by length, arm %s, answer rows of %d samples per length",
                    subject->name, o->samples);
    add_entropy(s, f, layers, points);
    add_slopes(s, f, layers, points);
    add_heads(s, f, layers);
    add_drawn(s, f);
    add_alibi(f);
    if (pw_model_pe(subject->model)->pe->uses == 0)
        pw_probe_remark_one(f, "dispersion");
    return PW_OK;
}

static void fini(struct pw_probing_at *p)
{
    struct state *s = p->state;
    free(s->probs);
    free(s->tokens);
    free(s->sum);
    free(s->keys);
    free(s->rows);
    free(s);
}

const struct pw_probe pw_probe_dispersion = {
    .name = "dispersion",
    .summary = "entropy of attention as sequences get longer, head by head",
    .source = "Su 2024 (kexue.fm 10347); Velickovic et al. 2024",
    .opts = opts,
    .opts_size = sizeof(struct options),
    .takes = PW_PROBE_ARM,
    .begin = begin_dispersion,
    .unit = unit,
    .end = end,
    .fini = fini,
};
