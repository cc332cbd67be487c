/* grape_turn.c - q and k turn in learned planes: multiplicative GRAPE (Zhang et al. 2026, "Group
 * representational position encoding", ICLR, sections 2 and 3).
 *
 *     score(i,j) = scale * (G(i) q_i) . (G(j) k_j) = scale * q_i . G(j - i) k_j
 *     G(n) = exp(n L),   L = sum over c of w_c (a_c b_c^T - b_c a_c^T)
 *
 * Each head of each layer has learned vectors a and b of its planes, and learned frequencies w. With unit
 * vectors that are all orthogonal (the gauge that the paper fixes for initial values, section 2.1, and the
 * mutually orthogonal planes of section 3.1) the turns commute. Then G is exact by Rodrigues' formula, costs
 * 4 D products for each plane, and scores depend on distances alone. Gram-Schmidt keeps the vectors so at
 * every step, in the order a_1, b_1, a_2, ..., so their lengths and common parts have no effect. The paper
 * learns an orthogonal basis (algorithm 1) without saying by which rule it stays orthogonal. Its planes that
 * do not commute (algorithm 2) have spectra of the same form.
 *
 * The first frequencies are those of rotary with `planes` pairs. A frequency is learned as the logarithm of
 * its factor, so it stays positive. That is what the authors' code learns (model-architectures/GRAPE,
 * GRAPE-M); its planes stay the pairs of coordinates, with one set of frequencies for all heads. Planes begin
 * at random, one set for each head; a turn in any planes is one of coordinate pairs after a change of basis,
 * which W_q and W_k can have, too. Without weight decay, as only directions matter. */
#include "base/maths.h"
#include "model/pe.h"

#include <math.h>

struct options {
    float base;
    int planes;
};

static const struct pw_opt opts_table[] = {
    {"base", PW_OPT_FLOAT, offsetof(struct options, base), "10000", 1.01, 1e9, NULL, 0,
     "ratio of the longest to the shortest wavelength at first, nearly"},
    {"planes", PW_OPT_INT, offsetof(struct options, planes), "0", 0, 512, NULL, 0,
     "planes of a head, at most half of its width; 0: half of it"},
    {0},
};

static int planes_of(const struct options *o, const struct pw_config *cfg)
{
    return o->planes > 0 ? o->planes : cfg->head_width / 2;
}

static int planes(const void *opts, const struct pw_config *cfg, double *fall)
{
    int N = planes_of(opts, cfg);

    *fall = pw_log((double)((const struct options *)opts)->base) / N;
    return N;
}

static enum pw_code check(const void *opts, const struct pw_config *cfg, struct pw_err *err)
{
    const struct options *o = opts;

    if (cfg->head_width < 2)
        return pw_fail(err, PW_EUSER, "grape_turn: head_width=%d: a plane needs a width of 2 at least",
                       cfg->head_width);
    if (o->planes > cfg->head_width / 2)
        return pw_fail(err, PW_EUSER, "grape_turn: planes=%d: at most half of the head width, %d", o->planes,
                       cfg->head_width / 2);
    return PW_OK;
}

static void settle(void *opts, const struct pw_config *cfg)
{
    struct options *o = opts;

    o->planes = planes_of(o, cfg);
}

static int params(const void *opts, const struct pw_config *cfg, struct pw_pe_param *out)
{
    int N = planes_of(opts, cfg), H = cfg->heads, D = cfg->head_width, L = cfg->layers;
    float std = 1.0f / sqrtf((float)D);

    out[0] = (struct pw_pe_param){"log_factor", H, N, 0, 0, false, L};
    out[1] = (struct pw_pe_param){"a", H * N, D, std, 0, false, L};
    out[2] = (struct pw_pe_param){"b", H * N, D, std, 0, false, L};
    return 3;
}

/* Where the vectors a and b of layer l begin. */
static const float *vectors_of(const struct pw_pe_pass *x, const float *param, int l, const float **b)
{
    size_t N = (size_t)planes_of((const void *)x->use->o.bytes, x->cfg), H = (size_t)x->cfg->heads,
           L = (size_t)x->cfg->layers, layer = H * N * (size_t)x->cfg->head_width;
    const float *a = param + L * H * N + (size_t)l * layer;

    *b = a + L * layer;
    return a;
}

static void fill(const struct pw_pe_pass *x, float *unit, const float *param)
{
    int N = planes_of((const void *)x->use->o.bytes, x->cfg);

    for (int l = 0; l < x->layers; l++) {
        const float *b, *a = vectors_of(x, param, l, &b);
        x->ops->planes_make(x->c, unit + (size_t)l * x->floats, a, b, x->cfg->heads, N, x->cfg->head_width);
    }
}

static void fill_bwd(const struct pw_pe_pass *x, float *d_param, float *d_unit, const float *param)
{
    int N = planes_of((const void *)x->use->o.bytes, x->cfg);

    for (int l = 0; l < x->layers; l++) {
        const float *b, *a = vectors_of(x, param, l, &b);
        x->ops->planes_make_bwd(x->c, d_param + (a - param), d_param + (b - param),
                                d_unit + (size_t)l * x->floats, a, b, x->cfg->heads, N, x->cfg->head_width);
    }
}

const struct pw_pe pw_pe_grape_turn = {
    .name = "grape_turn",
    .summary = "turns queries and keys in learned planes",
    .source = "Zhang et al. 2026, multiplicative GRAPE",
    .aliases = {"grape_m"},
    .opts = opts_table,
    .opts_size = sizeof(struct options),
    .uses = PW_PE_PLANES,
    .by_layer = PW_PE_PLANES,
    .check = check,
    .settle = settle,
    .computed = PW_PE_PLANES,
    .params = params,
    .fill = fill,
    .fill_bwd = fill_bwd,
    .planes = planes,
};
