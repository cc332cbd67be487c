/* path.c - products of reflections between a key and the query (Yang et al. 2025, "PaTH attention", arXiv
 * 2505.16381, section 3). Each row t has a vector w of length 1 and a factor b for each head:
 *
 *     score(i,j) = scale * q_i . H(i) H(i-1) ... H(j+1) k_j        H(t) = I - b(t) w(t) w(t)^T
 *     b = 2 sigmoid(V x + c)        w = c / |c|, c = silu(conv(W2 W1 x))
 *
 * x is the layer's normed input, which also gives q, k and v. H has the eigenvalue 1 - b in the direction of
 * w: b = 1 removes that part, b near 2 reflects it. So the tokens between a key and the query rotate and
 * erase parts of the product, and no position is read. A row's reflection acts on its query after the
 * product with the row's own key, which is therefore plain.
 *
 * The names are those of the authors' layer (PaTHAttention of flash-linear-attention): w_proj.0, w_proj.1,
 * w_conv1d, bt_proj. The convolution reads three rows, each channel on its own. Initial values: b = 1, and
 * matrices that keep the size of their input. The authors' standard deviation of 0.02 is for a width of 1000
 * and more; at a small width it would leave the vectors so short that the added eps decides their length. */
#include <math.h>

#include "model/pe.h"

enum { MOST = 256 };

struct options {
    int rank, conv;
};

static const struct pw_opt opts_table[] = {
    {"rank", PW_OPT_INT, offsetof(struct options, rank), "32", 1, MOST, NULL, 0,
     "rank of the projection that gives the vectors"},
    {"conv", PW_OPT_INT, offsetof(struct options, conv), "3", 0, PW_WALK_TAPS, NULL, 0,
     "rows that a convolution reads before the vectors are made; 0: none"},
    {0},
};

static struct pw_pe_walk walk(const void *opts, const struct pw_config *cfg)
{
    const struct options *o = opts;

    (void)cfg;
    return (struct pw_pe_walk){.kind = PW_WALK_REFLECT, .rank = o->rank, .taps = o->conv};
}

static float std_of(int inputs)
{
    return (float)(1 / sqrt((double)inputs));
}

static int params(const void *opts, const struct pw_config *cfg, struct pw_pe_param *out)
{
    const struct options *o = opts;
    int n = 0, L = cfg->layers, C = cfg->width, HD = cfg->heads * cfg->head_width;

    out[n++] = (struct pw_pe_param){"w_proj.0.weight", o->rank, C, std_of(C), 0, true, L};
    out[n++] = (struct pw_pe_param){"w_proj.1.weight", HD, o->rank, std_of(o->rank), 0, true, L};
    if (o->conv > 0)
        out[n++] = (struct pw_pe_param){"w_conv1d.weight", HD, o->conv, std_of(o->conv), 0, true, L};
    out[n++] = (struct pw_pe_param){"bt_proj.weight", cfg->heads, C, 0.02f, 0, true, L};
    out[n++] = (struct pw_pe_param){"bt_proj.bias", 0, cfg->heads, 0, 0, false, L};
    return n;
}

const struct pw_pe pw_pe_path = {
    .name = "path",
    .summary = "each token between a key and the query reflects the query along a vector of its own",
    .source = "Yang et al. 2025, arXiv 2505.16381",
    .aliases = {"householder"},
    .opts = opts_table,
    .opts_size = sizeof(struct options),
    .uses = PW_PE_WALK,
    .needs_mask = true,
    .params = params,
    .walk = walk,
};
