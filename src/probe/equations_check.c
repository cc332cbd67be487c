/* equations_check.c - measures the equations that equations.c lists, each on a model of its own. */
#include <math.h>

#include "base/maths.h"
#include "model/pe.h"
#include "probe/draw.h"
#include "probe/equations.h"
#include "probe/own.h"

enum {
    N = PW_EQUATIONS_N,
    C = PW_EQUATIONS_C,
    SEQUENCES = PW_EQUATIONS_SEQUENCES,
    HEADS = PW_EQUATIONS_HEADS,
    LONG = PW_EQUATIONS_LONG,
    WIDE = PW_EQUATIONS_WIDE,
    VOCAB = 16,
    FIRST = 2,
    USE = 68
};
enum { ALIBI = PW_EQUATIONS_RELATIVE, ROTARY, ADDED };

const char *const pw_equations_relative[PW_EQUATIONS_RELATIVE] = {"alibi", "t5", "clipped", "rotary", "shaw"};

/* Creates a model of one layer without norm and scale, with one head as wide as the stream. */
static enum pw_code make(struct pw_model **m, const struct pw_probing_at *p, const char *pe,
                         struct pw_pe_use_opts *use, struct pw_err *err)
{
    struct pw_config cfg = pw_own_config(1, C, 1, C, N, VOCAB, true);
    cfg.norm = PW_NORM_NONE;
    cfg.scale = false;
    return pw_own_named(m, p->in, &cfg, pe, use, err);
}

/* Writes the scores of sequence k, and the stream before the layer to s->x. */
static enum pw_code read_scores(const struct pw_probing_at *p, struct pw_model *m, int k, float *score,
                                struct pw_err *err)
{
    struct pw_equations *s = p->state;
    float stream[2 * N * C];
    int tokens[N];
    struct pw_rng rng;
    pw_draw_init(&rng, p->in, USE, (uint64_t)k);
    for (int t = 0; t < N; t++)
        tokens[t] = FIRST + (int)pw_rng_below(&rng, VOCAB - FIRST);
    enum pw_code code =
        pw_model_inspect(m, tokens, N, &(struct pw_inspection){.resid = stream, .score = score}, err);
    for (int e = 0; e < N * C && code == PW_OK; e++)
        s->x[e] = stream[e];
    return code;
}

/* out [C] = W x. W [C,C] has one row per output. */
static void apply(double *out, const float *W, const double *x)
{
    for (int r = 0; r < C; r++) {
        out[r] = 0;
        for (int c = 0; c < C; c++)
            out[r] += (double)W[r * C + c] * x[c];
    }
}

static double dot(const double *a, const double *b)
{
    double sum = 0;
    for (int c = 0; c < C; c++)
        sum += a[c] * b[c];
    return sum;
}

/* Computes queries and keys [N,C] from the stream x [N,C]. */
static void project(struct pw_model *m, double *q, double *k, const double *x)
{
    float W[2][C * C];
    pw_own_get(m, "layers.0.attn.q.weight", W[0]);
    pw_own_get(m, "layers.0.attn.k.weight", W[1]);
    for (int t = 0; t < N; t++) {
        apply(q + t * C, W[0], x + t * C);
        apply(k + t * C, W[1], x + t * C);
    }
}

/* The largest difference between score and expected [N,N], relative to the largest expected score. */
static double off(const float *score, const double *expected)
{
    double most = 0, worst = 0;
    for (int t = 0; t < N; t++)
        for (int i = 0; i <= t; i++) {
            most = fmax(most, fabs(expected[t * N + i]));
            worst = fmax(worst, fabs((double)score[t * N + i] - expected[t * N + i]));
        }
    return worst / most;
}

/* ---- Kazemnejad et al. 2023 */

static enum pw_code check_alibi(struct pw_probing_at *p, struct pw_err *err)
{
    struct pw_equations *s = p->state;
    struct pw_model *m = NULL;
    struct pw_pe_use_opts use;
    struct pw_pe_tables t;
    struct pw_config cfg = pw_own_config(1, C, HEADS, 0, N, VOCAB, true);
    enum pw_code code = pw_own_named(&m, p->in, &cfg, "alibi", &use, err);
    if (code == PW_OK)
        code = pw_model_tables(m, N, &t, err);
    if (code == PW_OK) {
        for (int h = 0; h < HEADS; h++)
            for (int r = 0; r < N; r++)
                s->alibi = fmax(s->alibi, fabs((double)pw_pe_bias_at(&t, h, r, 0) + r * ldexp(1, -(h + 1))));
        pw_pe_tables_free(&t);
    }
    pw_model_destroy(m);
    return code;
}

/* The score q_t R^(i-t) k_i of unrotated q and k: every pair of dimensions rotates with its frequency. */
static double turned(const struct pw_pe *pe, const void *opts, const struct pw_config *cfg, const double *q,
                     const double *k, int by)
{
    int pairs = pe->pairs(opts, cfg);
    bool half = pe->pairing(opts) == PW_PAIRING_HALF;
    double sum = 0;
    for (int d = 2 * pairs; d < C; d++) /* dimensions that don't rotate */
        sum += q[d] * k[d];
    for (int n = 0; n < pairs; n++) {
        int a = half ? n : 2 * n, b = half ? n + pairs : 2 * n + 1;
        double angle = by * pw_rotary_frequency(n, 2 * pairs, 10000), c = pw_cos(angle), z = pw_sin(angle);
        sum += q[a] * (c * k[a] - z * k[b]) + q[b] * (z * k[a] + c * k[b]);
    }
    return sum;
}

static enum pw_code check_rotary(struct pw_probing_at *p, struct pw_err *err)
{
    struct pw_equations *s = p->state;
    struct pw_model *m = NULL;
    struct pw_pe_use_opts use;
    enum pw_code code = make(&m, p, "rotary base=10000", &use, err);
    for (int n = 0; n < SEQUENCES && code == PW_OK; n++) {
        double x[N * C], q[N * C], k[N * C], expected[N * N];
        code = read_scores(p, m, n, s->score, err);
        for (int e = 0; e < N * C; e++)
            x[e] = (double)s->x[e];
        project(m, q, k, x);
        for (int t = 0; t < N; t++)
            for (int i = 0; i <= t; i++)
                expected[t * N + i] =
                    turned(use.pe, use.o.bytes, pw_model_config(m), q + t * C, k + i * C, i - t);
        s->rotary = fmax(s->rotary, off(s->score, expected));
    }
    pw_model_destroy(m);
    return code;
}

/* ---- Qiu et al. 2021 */

/* Eq. 13: (X_i + P_i) W_q W_k^T (X_j + P_j)^T. X is the embedding; P follows its formula. */
static enum pw_code check_added(struct pw_probing_at *p, struct pw_err *err)
{
    struct pw_equations *s = p->state;
    struct pw_model *m = NULL, *bare = NULL;
    struct pw_pe_use_opts use;
    enum pw_code code = make(&m, p, "sinusoidal", &use, err);
    if (code == PW_OK)
        code = make(&bare, p, "none", &use, err);
    for (int n = 0; n < SEQUENCES && code == PW_OK; n++) {
        double x[N * C], q[N * C], k[N * C], expected[N * N];
        code = read_scores(p, m, n, s->score, err);
        if (code == PW_OK)
            code = read_scores(p, bare, n, s->without, err); /* sets s->x to the embedding alone */
        for (int e = 0; e < N * C; e++) {
            double angle = (double)(e / C) / pw_pow(10000, (double)(e % C / 2 * 2) / C);
            x[e] = (double)s->x[e] + (e % 2 == 0 ? pw_sin(angle) : pw_cos(angle));
        }
        project(m, q, k, x);
        for (int t = 0; t < N; t++)
            for (int i = 0; i <= t; i++)
                expected[t * N + i] = dot(q + t * C, k + i * C);
        s->added = fmax(s->added, off(s->score, expected));
    }
    pw_model_destroy(m);
    pw_model_destroy(bare);
    return code;
}

/* Eq. 14: the range of the encoding's contribution at each distance, over all pairs of all sequences. */
static enum pw_code check_relative(struct pw_probing_at *p, int which, struct pw_err *err)
{
    struct pw_equations *s = p->state;
    struct pw_model *m = NULL, *bare = NULL;
    struct pw_pe_use_opts use;
    double low[N], high[N], least = INFINITY, most = -INFINITY;
    enum pw_code code = make(&m, p, pw_equations_relative[which], &use, err);
    if (code == PW_OK)
        code = make(&bare, p, "none", &use, err);
    for (int d = 0; d < N; d++) {
        low[d] = INFINITY;
        high[d] = -INFINITY;
    }
    for (int n = 0; n < SEQUENCES && code == PW_OK; n++) {
        code = read_scores(p, m, n, s->score, err);
        if (code == PW_OK)
            code = read_scores(p, bare, n, s->without, err);
        for (int t = 0; t < N && code == PW_OK; t++)
            for (int i = 0; i <= t; i++) {
                double adds = (double)s->score[t * N + i] - (double)s->without[t * N + i];
                low[t - i] = fmin(low[t - i], adds);
                high[t - i] = fmax(high[t - i], adds);
            }
    }
    for (int d = 0; d < N; d++) {
        least = fmin(least, low[d]);
        most = fmax(most, high[d]);
        s->varies[which] = fmax(s->varies[which], high[d] - low[d]);
    }
    s->varies[which] /= most > least ? most - least : 1;
    pw_model_destroy(m);
    pw_model_destroy(bare);
    return code;
}

/* Eq. 24 at every position of every length 1..LONG. */
static enum pw_code check_2dspe(struct pw_probing_at *p, struct pw_err *err)
{
    struct pw_equations *s = p->state;
    struct pw_model *m = NULL;
    struct pw_pe_use_opts use;
    struct pw_config cfg = pw_own_config(1, WIDE, 1, 0, LONG, VOCAB, true);
    enum pw_code code = pw_own_named(&m, p->in, &cfg, "2dspe", &use, err);
    for (int l = 1; l <= LONG && code == PW_OK; l++) {
        struct pw_pe_tables t;
        code = pw_model_tables(m, l, &t, err);
        for (int e = 0; e < l * WIDE && code == PW_OK; e++) {
            int pos = e / WIDE, c = e % WIDE, i = c % (WIDE / 2) / 2;
            double angle = (c < WIDE / 2 ? pos : l) / pw_pow(10000, 4.0 * i / WIDE);
            double row = c % 2 == 0 ? pw_sin(angle) : pw_cos(angle);
            s->dspe = fmax(s->dspe, fabs((double)t.added[e] - row));
        }
        if (code == PW_OK)
            pw_pe_tables_free(&t);
    }
    pw_model_destroy(m);
    return code;
}

enum pw_code pw_equations_unit(struct pw_probing_at *p, int i, struct pw_err *err)
{
    return i < PW_EQUATIONS_RELATIVE ? check_relative(p, i, err)
           : i == ALIBI              ? check_alibi(p, err)
           : i == ROTARY             ? check_rotary(p, err)
           : i == ADDED              ? check_added(p, err)
                                     : check_2dspe(p, err);
}
