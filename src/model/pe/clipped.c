/* clipped.c - a learned bias on the score per head and distance up to k; longer distances share the bias of
 * k. These are the truncated relative positions of Shaw et al. 2018, section 3.2, with a bias in place of
 * their vectors: T5 without logarithmic buckets. Their k is 16.
 *
 * pe.bias: row r is for distance r up to k; without the causal mask row k + r is for a key r
 * positions after the query. */
#include "model/pe.h"

struct options {
    int distance;
};

static const struct pw_opt opts_table[] = {
    {"distance", PW_OPT_INT, offsetof(struct options, distance), "16", 1, 4096, NULL, 0,
     "k: all distances from k on share one bias"},
    {0},
};

static int rows(const void *opts, const struct pw_config *cfg)
{
    int k = ((const struct options *)opts)->distance;

    return cfg->causal ? k + 1 : 2 * k + 1;
}

static int row(const void *opts, const struct pw_config *cfg, int distance)
{
    (void)cfg;
    int k = ((const struct options *)opts)->distance;

    if (distance < 0)
        return k + (-distance < k ? -distance : k);
    return distance < k ? distance : k;
}

const struct pw_pe pw_pe_clipped = {
    .name = "clipped",
    .summary = "a learned bias on the score for each head and distance up to k",
    .source = "Shaw et al. 2018, section 3.2",
    .opts = opts_table,
    .opts_size = sizeof(struct options),
    .uses = PW_PE_BIAS,
    .param = "bias",
    .param_rows = rows,
    .init_std = 0.1f,
    .index = row,
};
