/* fox.c - a gate that reads the token decides what attention forgets (Lin et al. 2025, "Forgetting
 * Transformer", section 3). Each layer and head has a gate on its normed input x, which also gives q, k and
 * v:
 *
 *     f(t) = sigmoid(w . x(t) + b)
 *     score(i,j) = scale * q_i . k_j + sum over l = j+1..i of ln f(l)
 *
 * The sum is C(i) - C(j) with C(t) = sum over l <= t of ln f(l). So there is no table, and a row has one
 * number for each head (kernels/backend.h, terms_fwd). The sum is at most 0. The tokens between a key and the
 * query decide how much of the key is forgotten, not their number; a token with f = 1 costs nothing.
 *
 * The parameters have the name of the authors' module, fgate_proj. They start as there: weights with standard
 * deviation 0.02, biases 0. So f starts near 1/2, and a new model first attends to the last few tokens.
 * open=B is another initial bias. With 4, f is 0.98. This is for a trained model, whose heads would otherwise
 * lose all but the last tokens at once.
 *
 * The sums need the causal mask, because a later key would have a positive term. fox reads no positions, so
 * nothing can be shifted or stretched. */
#include "model/pe.h"

struct options {
    float open;
};

static const struct pw_opt opts_table[] = {
    {"open", PW_OPT_FLOAT, offsetof(struct options, open), "0", -20, 20, NULL, 0,
     "initial bias of the gates: a token keeps sigmoid(open) of what came before it"},
    {0},
};

void pw_pe_gate_params(struct pw_pe_param out[2], const struct pw_config *cfg, float open)
{
    out[0] = (struct pw_pe_param){"fgate_proj.weight", cfg->heads, cfg->width, 0.02f, 0, true, cfg->layers};
    out[1] = (struct pw_pe_param){"fgate_proj.bias", 0, cfg->heads, 0, open, false, cfg->layers};
}

static int params(const void *opts, const struct pw_config *cfg, struct pw_pe_param *out)
{
    pw_pe_gate_params(out, cfg, ((const struct options *)opts)->open);
    return 2;
}

const struct pw_pe pw_pe_fox = {
    .name = "fox",
    .summary = "a learned gate on each token decides how much of the earlier ones each head forgets",
    .source = "Lin et al. 2025, section 3",
    .aliases = {"forgetting"},
    .opts = opts_table,
    .opts_size = sizeof(struct options),
    .uses = PW_PE_TERMS,
    .needs_mask = true,
    .params = params,
};
