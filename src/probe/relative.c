/* relative.c - the probe relative: theorem 2 with other functions of the distance. Kazemnejad et al. 2023,
 * the last sentence of C.2: the first layer's MLP "can write any arbitrary function of absolute positions to
 * the third dimension of the hidden state, which enables more complex relative encoding schemes".
 *
 * The MLP of src/model/theorem.c has a unit ReLU(1/k - u) for each k < T, with u = 1/t. Any function g of t =
 * 1..T is a weighted sum of these units and 1. Between 1/k and 1/(k+1) the sum is linear in u, and its slope
 * is the sum of the first k weights. So
 *
 *     w_1 + ... + w_k = (g(k+1) - g(k)) k (k+1),   g(1) by the constant.
 *
 * Eq. 28 and 29 read one such dimension as g(i) - g(t). This is a function of t - i only if g is linear; for
 * other g a table shows the share that depends on the distance. Several dimensions give every function f of
 * the distance. Continued evenly and with the period 2T, f is a sum of cosines. Each term is cos w(t-i) = cos
 * wt cos wi + sin wt sin wi. The first layer therefore writes 2T - 1 functions of t, and a head of the second
 * layer reads them. Its queries scale them by the weights of the cosines; its keys copy them. The backend's
 * own kernels run the model, without score scale and with content in further dimensions. */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/maths.h"
#include "model/pe.h"
#include "probe/draw.h"
#include "probe/own.h"
#include "probe/relative.h"

#define WRITTEN 1e-3 /* tolerance of the MLP's output, which is between -1 and 1 */
#define SCORED  1e-2 /* tolerance of f(t-i), relative to its range */

enum { USE = 66 };

struct options {
    int T;
};

static const struct pw_opt opts[] = {
    {"T", PW_OPT_INT, offsetof(struct options, T), "32", 4, 64, NULL, 0,
     "number of positions that the MLP distinguishes"},
    {0},
};

static const char *const functions[] = {"-ln(1 + d)", "0, from T/4 on -4", "T5 8/16, drawn",
                                        "cos(2 pi d / 7)", "drawn for every d"};

enum { FUNCTIONS = sizeof functions / sizeof *functions };

struct state {
    struct pw_relative_sizes at;
    int *tokens;
    float *stream, *q, *k, *score; /* [3,T,C], [2,T,D], [2,T,T] */
    double *f;                     /* [FUNCTIONS,T + 1] by distance; the last value continues f */
    double *got;                   /* [FUNCTIONS,T] the score without its content, mean over pairs */
    double written, off[FUNCTIONS], range[FUNCTIONS];
};

static double value_of(int function, int d, int T, const double *drawn)
{
    switch (function) {
    case 0: return -pw_log(1 + d);
    case 1: return d < T / 4 ? 0 : -4;
    case 2: return drawn[pw_t5_bucket(d, 8, 16)];
    case 3: return pw_cos(6.283185307179586 * d / 7);
    default: return drawn[d];
    }
}

static enum pw_code begin_relative(struct pw_probing_at *p, struct pw_err *err)
{
    const struct options *o = p->opts;
    struct state *s = p->state = pw_alloc(1, sizeof *s);
    struct pw_rng rng;
    size_t T = (size_t)o->T;
    (void)err;
    s->at = pw_relative_of(o->T);
    s->tokens = pw_alloc(T, sizeof *s->tokens);
    s->stream = pw_alloc(3 * T * s->at.C, sizeof *s->stream);
    s->q = pw_alloc(4 * T * s->at.D, sizeof *s->q);
    s->k = s->q + 2 * T * s->at.D;
    s->score = pw_alloc(2 * T * T, sizeof *s->score);
    s->f = pw_alloc(FUNCTIONS * (T + 1), sizeof *s->f);
    s->got = pw_alloc(FUNCTIONS * T, sizeof *s->got);
    pw_draw_init(&rng, p->in, USE, 0);
    for (size_t t = 0; t < T; t++)
        s->tokens[t] = t == 0 ? PW_RELATIVE_FIRST
                              : PW_RELATIVE_FIRST + 1 +
                                    (int)pw_rng_below(&rng, PW_RELATIVE_VOCAB - PW_RELATIVE_FIRST - 1);
    for (int i = 0; i < FUNCTIONS; i++) {
        double drawn[65], low = INFINITY, high = -INFINITY, *f = s->f + (size_t)i * (T + 1);
        for (int d = 0; d <= s->at.T; d++)
            drawn[d] = pw_draw_normal(&rng);
        for (int d = 0; d <= s->at.T; d++) {
            f[d] = value_of(i, d, s->at.T, drawn);
            low = fmin(low, f[d]);
            high = fmax(high, f[d]);
        }
        s->range[i] = high - low;
    }
    p->units = FUNCTIONS;
    return PW_OK;
}

static void compare(struct state *s, int function)
{
    int T = s->at.T, C = s->at.C, D = s->at.D;
    const double *f = s->f + (size_t)function * (T + 1);
    for (int t = 1; t <= T; t++) {
        for (int g = 0; g < s->at.waves; g++) /* after the first layer */
            s->written =
                fmax(s->written, fabs((double)s->stream[(size_t)(T + t - 1) * C + PW_RELATIVE_WAVES + g] -
                                      pw_relative_wave(s->at.T, g, t)));
        for (int i = 1; i <= t; i++) {
            const float *q = s->q + (size_t)(T + t - 1) * D, *k = s->k + (size_t)(T + i - 1) * D;
            double content = 0;
            for (int d = D - PW_RELATIVE_CONTENT; d < D; d++)
                content += (double)q[d] * (double)k[d];
            double adds = (double)s->score[(size_t)T * T + (size_t)(t - 1) * T + i - 1] - content;
            s->off[function] = fmax(s->off[function], fabs(adds - f[t - i]));
            s->got[function * T + t - i] += adds / (T - (t - i));
        }
    }
}

static enum pw_code unit(struct pw_probing_at *p, int i, struct pw_err *err)
{
    struct state *s = p->state;
    struct pw_model *m = NULL;
    struct pw_config cfg = pw_own_config(2, s->at.C, 1, s->at.D, s->at.T, PW_RELATIVE_VOCAB, true);
    cfg.norm = PW_NORM_NONE;
    cfg.scale = false;
    cfg.ffn = s->at.T;
    enum pw_code code = pw_own_model(&m, p->in, &cfg, NULL, 0, err);
    if (code != PW_OK)
        return code;
    pw_relative_write(m, p->in, &s->at, s->f + (size_t)i * (s->at.T + 1));
    code = pw_model_inspect(
        m, s->tokens, s->at.T,
        &(struct pw_inspection){.resid = s->stream, .q = s->q, .k = s->k, .score = s->score}, err);
    if (code == PW_OK)
        compare(s, i);
    pw_model_destroy(m);
    return code;
}

/* ---- a single dimension */

static double one_dimension(int g, int t)
{
    return g == 0 ? t : g == 1 ? pw_log(t) : g == 2 ? sqrt(t) : (double)t * t;
}

/* The share of the variance of g(i) - g(t), over all pairs i <= t, that a function of t - i explains. */
static double share_of_distance(int g, int T)
{
    double between = 0, all = 0, mean = 0, n = T * (T + 1) / 2.0;
    for (int d = 0; d < T; d++) {
        double sum = 0;
        for (int t = d + 1; t <= T; t++) {
            double v = one_dimension(g, t - d) - one_dimension(g, t);
            sum += v;
            all += v * v / n;
        }
        between += sum * sum / (T - d) / n;
        mean += sum / n;
    }
    return (between - mean * mean) / (all - mean * mean);
}

static void add_alone(struct pw_finding *f, int T)
{
    static const char *const names[] = {"t", "ln t", "sqrt t", "t^2"};
    int b = pw_finding_table(
        f, "dimension 3 alone (Eq. 28, 29): the share of g(i) - g(t) that is a function of t - i", 4, 1);
    pw_finding_col(f, b, 0, "share");
    for (int g = 0; g < 4; g++) {
        pw_finding_row(f, b, g, "g(t) = %s", names[g]);
        pw_finding_put(f, b, g, 0, share_of_distance(g, T));
    }
    pw_finding_remark(f, "the third dimension alone, as Eq. 28 and 29 read it, gives a function of t - i "
                         "only for a linear g; other functions of the distance need several dimensions");
}

static enum pw_code end(struct pw_probing_at *p, struct pw_finding *f, struct pw_err *err)
{
    const struct state *s = p->state;
    enum pw_claim_verdict fails = p->in->ops->portable ? PW_CLAIM_CONTRADICTED : PW_CLAIM_INCONCLUSIVE;
    double most = 0;
    (void)err;
    pw_finding_init(f, "relative", "",
                    "theorem 2 with other functions of the distance: T=%d, %d functions of the position",
                    s->at.T, s->at.waves);
    int b = pw_finding_table(f, "score without its content term, all pairs i <= t", FUNCTIONS, 2);
    int plot = pw_finding_plot(f, "contribution of the position to the score, mean by distance", "t - i",
                               "score", s->at.T, 2 * FUNCTIONS, false);
    f->blocks[plot].n_reference = FUNCTIONS;
    pw_finding_col(f, b, 0, "largest error");
    pw_finding_col(f, b, 1, "range of f");
    for (int i = 0; i < FUNCTIONS; i++) {
        pw_finding_row(f, b, i, "%s", functions[i]);
        pw_finding_put(f, b, i, 0, s->off[i]);
        pw_finding_put(f, b, i, 1, s->range[i]);
        most = fmax(most, s->off[i] / s->range[i]);
        pw_finding_name(f, plot, i, "%s", functions[i]);
        pw_finding_name(f, plot, FUNCTIONS + i, "f %d", i + 1);
        for (int d = 0; d < s->at.T; d++) {
            pw_finding_x(f, plot, d, d);
            pw_finding_y(f, plot, d, i, s->got[i * s->at.T + d]);
            pw_finding_y(f, plot, d, FUNCTIONS + i, s->f[i * (s->at.T + 1) + d]);
        }
    }
    add_alone(f, s->at.T);
    pw_finding_claim(
        f, s->written <= WRITTEN ? PW_CLAIM_REPRODUCED : fails,
        "Kazemnejad et al. 2023, C.2: the first layer's MLP can write any function of the position",
        "%d functions between -1 and 1, t = 1..%d: within %.1e (tolerance %g)", s->at.waves, s->at.T,
        s->written, WRITTEN);
    pw_finding_claim(
        f, most <= SCORED ? PW_CLAIM_REPRODUCED : fails,
        "Kazemnejad et al. 2023, C.2: such functions enable more complex relative encoding schemes",
        "%d functions of t - i, one of them random at every distance: all %d pairs within %.1e of the range "
        "of f (tolerance %g)",
        FUNCTIONS, s->at.T * (s->at.T + 1) / 2, most, SCORED);
    return PW_OK;
}

static void fini(struct pw_probing_at *p)
{
    struct state *s = p->state;
    free(s->tokens);
    free(s->stream);
    free(s->q);
    free(s->score);
    free(s->f);
    free(s->got);
    free(s);
}

const struct pw_probe pw_probe_relative = {
    .name = "relative",
    .summary =
        "theorem 2 with other functions of the distance: logarithm, window, buckets, cosine, random values",
    .source = "Kazemnejad et al. 2023, C.2",
    .opts = opts,
    .opts_size = sizeof(struct options),
    .begin = begin_relative,
    .unit = unit,
    .end = end,
    .fini = fini,
};
