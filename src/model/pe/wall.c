/* wall.c - each channel of a head forgets at a rate of its own (Wall attention, Averbuch and Pai 2026, in
 * flash-linear-attention: WallAttention). Each row t has a gate for each entry c of each head:
 *
 *     f(t) = sigmoid(W x(t) + b)
 *     score(i,j) = scale * sum over c of q_ic k_jc f_c(j+1) ... f_c(i)
 *
 * x is the layer's normed input, which also gives q, k and v. The product of the gates is exp(P_i - P_j) with
 * P(t) the sum of ln f. fox has one gate for a head, which it adds to the score; here a channel fades, and
 * the sign of its part stays. The tokens between a key and the query decide how much is left, not their
 * number.
 *
 * The parameters have the name of the authors' layer, g_proj. They start as there: weights with standard
 * deviation 0.02, biases 8. So f starts near 1, and a new model nearly has plain products. gate_bias=B is
 * another initial bias. */
#include "model/pe.h"

struct options {
    float gate_bias;
};

static const struct pw_opt opts_table[] = {
    {"gate_bias", PW_OPT_FLOAT, offsetof(struct options, gate_bias), "8", -20, 20, NULL, 0,
     "initial bias of the gates: a channel keeps sigmoid(gate_bias) at each token"},
    {0},
};

static struct pw_pe_walk walk(const void *opts, const struct pw_config *cfg)
{
    (void)opts;
    (void)cfg;
    return (struct pw_pe_walk){.kind = PW_WALK_SCALE};
}

static int params(const void *opts, const struct pw_config *cfg, struct pw_pe_param *out)
{
    float bias = ((const struct options *)opts)->gate_bias;
    int L = cfg->layers, HD = cfg->heads * cfg->head_width;

    out[0] = (struct pw_pe_param){"g_proj.weight", HD, cfg->width, 0.02f, 0, true, L};
    out[1] = (struct pw_pe_param){"g_proj.bias", 0, HD, 0, bias, false, L};
    return 2;
}

const struct pw_pe pw_pe_wall = {
    .name = "wall",
    .summary = "a learned gate on each token and channel decides how much of q.k is left of earlier tokens",
    .source = "Averbuch and Pai 2026, Wall attention",
    .opts = opts_table,
    .opts_size = sizeof(struct options),
    .uses = PW_PE_WALK,
    .needs_mask = true,
    .params = params,
    .walk = walk,
};
