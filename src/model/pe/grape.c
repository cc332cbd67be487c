/* grape.c - a bias that is linear in the distance, with slopes that the query and the key make of their
 * content: additive GRAPE (Zhang et al. 2026, "Group Representational Position Encoding", ICLR).
 *
 *     score(i,j) = scale * q_i . k_j - (i - j) w_h (softplus(v_h . q_i / sqrt(D)) + softplus(u_h . k_j /
 * sqrt(D))) w_h = softplus(omega_h) * slope_h
 *
 * u_h and v_h are learned directions, which are divided by their length. slope_h are those of ALiBi. At u = v
 * = 0 this is ALiBi times 2 ln 2 softplus(omega). gate=key keeps the part of the keys only, gate=query that
 * of the queries; both are in the authors' code (model-architectures/GRAPE, KeyGatedAdditiveBias), from which
 * the initial values are, too: omega so that its softplus is 1, directions with standard deviation 1/sqrt(D).
 *
 * Weight decay acts on the directions, as on every matrix, but only their direction matters. The sign of a
 * distance needs the causal mask: a later key would be rewarded for its distance. */
#include "base/maths.h"
#include "model/pe.h"

#include <math.h>

struct options {
    int gate;
    float omega;
};

enum { BOTH, KEY, QUERY };

static const char *const gates[] = {"both", "key", "query", NULL};

static const struct pw_opt opts_table[] = {
    {"gate", PW_OPT_CHOICE, offsetof(struct options, gate), "both", 0, 0, gates, 0,
     "who makes the slope: the query and the key, or one of them"},
    {"omega", PW_OPT_FLOAT, offsetof(struct options, omega), "1", 1e-6, 50, NULL, 0,
     "initial factor of ALiBi's slopes; learned"},
    {0},
};

static void slopes(const void *opts, bool *query, bool *key)
{
    int gate = ((const struct options *)opts)->gate;

    *query = gate != KEY;
    *key = gate != QUERY;
}

static int params(const void *opts, const struct pw_config *cfg, struct pw_pe_param *out)
{
    double omega = (double)((const struct options *)opts)->omega;
    float raw = (float)(omega + pw_log(1 - pw_exp(-omega))); /* softplus(raw) = omega */
    float std = 1.0f / sqrtf((float)cfg->head_width);
    int n = 0, H = cfg->heads, D = cfg->head_width;
    bool query, key;

    slopes(opts, &query, &key);
    out[n++] = (struct pw_pe_param){"omega", 0, H, 0, raw, false, cfg->layers};
    if (query)
        out[n++] = (struct pw_pe_param){"v", H, D, std, 0, true, cfg->layers};
    if (key)
        out[n++] = (struct pw_pe_param){"u", H, D, std, 0, true, cfg->layers};
    return n;
}

const struct pw_pe pw_pe_grape = {
    .name = "grape",
    .summary = "subtracts the distance times slopes that query and key make of their content",
    .source = "Zhang et al. 2026, additive GRAPE",
    .opts = opts_table,
    .opts_size = sizeof(struct options),
    .uses = PW_PE_SLOPES,
    .needs_mask = true,
    .params = params,
    .slopes = slopes,
};
