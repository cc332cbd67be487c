/* fire.c - a bias on the score that a small learned network computes from the distance, relative to the
 * query's position in the sequence (Li et al. 2023, "Functional Interpolation for Relative Positions"):
 *
 *     b(i,j) = f( psi(i-j) / psi(max(i,L)) ),    psi(x) = ln(|c| x + 1),    f: 1 -> K -> H with a ReLU
 *
 * Longer sequences give fractions that were also seen in training. So a bias that was learned on short
 * sequences is interpolated on long ones, not extrapolated. Queries before the threshold L are measured by L;
 * otherwise their few distances would all seem far. c and L's factor are learned with the network, and all
 * layers share all of it. Formulas and gradients are one operation of the backend (kernels/backend.h,
 * fire_fwd), because no step waits for the host.
 *
 * The formula in encodings/fire_formula.pe says the same, but a formula is computed in double precision, and
 * this operation in float after its logarithms. So the trained bits differ from the first step on, and
 * recorded sessions would not verify if this file were a formula. Therefore the operation stays.
 *
 * The parameters have the names of the authors' module, so its state can be copied by name. Their initial
 * values have its standard deviations; PyTorch draws from a uniform distribution, pewter from a normal one as
 * everywhere (params.c). The authors' L is 512 with 2048 positions in training, a quarter. Here context is
 * the length that an arm can read, several times the trained length, so the default is a sixteenth of it.
 *
 * The bias depends on both positions, not on their distance alone. It is dense: context x
 * context entries per head. */
#include <math.h>

#include "model/pe.h"

enum { MOST_HIDDEN = 256, LEAST_THRESHOLD = 4, PART = 16 };

struct options {
    int hidden;
    int threshold; /* 0: not given */
};

static const struct pw_opt opts_table[] = {
    {"hidden", PW_OPT_INT, offsetof(struct options, hidden), "32", 1, MOST_HIDDEN, NULL, 0,
     "hidden units of the network"},
    {"threshold", PW_OPT_INT, offsetof(struct options, threshold), NULL, 1, 65536, NULL, 0,
     "earlier queries divide by this instead of their position; times a learned factor; default: context / "
     "16"},
    {0},
};

static void resolve(void *opts, const struct pw_config *cfg)
{
    struct options *o = opts;

    if (o->threshold == 0)
        o->threshold = cfg->context / PART > LEAST_THRESHOLD ? cfg->context / PART : LEAST_THRESHOLD;
}

static enum pw_code check(const void *opts, const struct pw_config *cfg, struct pw_err *err)
{
    (void)opts;
    if (cfg->context > PW_DENSE_MOST)
        return pw_fail(err, PW_EUSER,
                       "fire: context=%d: allowed are contexts up to %d, because its bias has an entry per "
                       "pair of positions",
                       cfg->context, PW_DENSE_MOST);
    return PW_OK;
}

static int params(const void *opts, const struct pw_config *cfg, struct pw_pe_param *out)
{
    int K = ((const struct options *)opts)->hidden, H = cfg->heads;
    float in = (float)(1 / sqrt(3)), across = in / sqrtf((float)K); /* U(-a,a) has deviation a/sqrt(3) */

    out[0] = (struct pw_pe_param){"c", 0, 1, 0, 0.1f, false, 0};
    out[1] = (struct pw_pe_param){"L_multiplier", 0, 1, 0, 1, false, 0};
    out[2] = (struct pw_pe_param){"mlp.0.weight", K, 1, in, 0, true, 0};
    out[3] = (struct pw_pe_param){"mlp.0.bias", 0, K, in, 0, false, 0};
    out[4] = (struct pw_pe_param){"mlp.2.weight", H, K, across, 0, true, 0};
    out[5] = (struct pw_pe_param){"mlp.2.bias", 0, H, across, 0, false, 0};
    return 6;
}

static struct pw_fire fire_of(const struct pw_pe_use_opts *use, const struct pw_config *cfg)
{
    const struct options *o = (const void *)use->o.bytes;

    return (struct pw_fire){.hidden = o->hidden,
                            .threshold = (float)o->threshold,
                            .from = use->tune.offset,
                            .step = use->tune.stretch,
                            .causal = cfg->causal};
}

static void fill(const struct pw_pe_pass *x, float *bias, const float *param)
{
    struct pw_fire f = fire_of(x->use, x->cfg);

    x->ops->fire_fwd(x->c, bias, param, &f, x->cfg->heads, x->P);
}

static void fill_bwd(const struct pw_pe_pass *x, float *d_param, float *d_bias, const float *param)
{
    struct pw_fire f = fire_of(x->use, x->cfg);

    x->ops->fire_bwd(x->c, d_param, d_bias, param, &f, x->cfg->layers, x->cfg->heads, x->P);
}

const struct pw_pe pw_pe_fire = {
    .name = "fire",
    .summary = "a bias by a small learned network, of the distance divided by the query's position",
    .source = "Li et al. 2023, section 3",
    .opts = opts_table,
    .opts_size = sizeof(struct options),
    .uses = PW_PE_DENSE,
    .resolve = resolve,
    .choice = "a threshold of a sixteenth of the context, at least 4",
    .check = check,
    .computed = PW_PE_DENSE,
    .params = params,
    .fill = fill,
    .fill_bwd = fill_bwd,
};
