/* inkling.c - a bias by distance that each query mixes (Thinking Machines 2026, model Inkling, in place of
 * rotary). Each layer has a bank P of M functions of the distance, shared by its heads. Each head has M
 * weights r of the token, from the normed input x that also gives q, k and v:
 *
 *     score(i,j) = tau(i) * (scale * q_i . k_j + sum over m of r_m(i) P[m, i-j]),  r(i) = W x(i)
 *
 * for 0 <= i-j < reach; farther keys have no bias. So a token can choose how its head looks back: one token
 * to the key before it, another one evenly. tau(i) = 1 + alpha ln max(1, (i+1) / floor) sharpens the scores
 * of later queries; alpha=0, the default, is tau = 1.
 *
 * The parameters have the names of transformers' modeling_inkling.py: r_proj.weight, rel_logits_proj.proj.
 * There M is 16 and reach 1024 (512 in layers with a window), alpha 0.1 and floor 128000. The initial values
 * have standard deviation 0.02, so a new model has almost no bias. The bank has no weight decay, as a table
 * of T5 has none.
 *
 * Distances are those of position ids. Beyond `reach` nothing is learned, so nothing can be stretched. */
#include "base/maths.h"
#include "model/pe.h"

struct options {
    int reach, mixes, floor;
    float alpha;
};

static const struct pw_opt opts_table[] = {
    {"reach", PW_OPT_INT, offsetof(struct options, reach), "32", 1, 4096, NULL, 0,
     "distances with a bias: 0 .. reach - 1"},
    {"mixes", PW_OPT_INT, offsetof(struct options, mixes), "4", 1, 64, NULL, 0,
     "functions of the distance that a query mixes, and weights of each head"},
    {"alpha", PW_OPT_FLOAT, offsetof(struct options, alpha), "0", 0, 10, NULL, 0,
     "growth of the scores with the logarithm of the position; 0: none"},
    {"floor", PW_OPT_INT, offsetof(struct options, floor), "64", 1, 1e9, NULL, 0,
     "number of keys from which on alpha acts"},
    {0},
};

struct pw_pe_param pw_pe_mix_param(const struct pw_config *cfg, int M)
{
    return (struct pw_pe_param){"r_proj.weight", cfg->heads * M, cfg->width, 0.02f, 0, true, cfg->layers};
}

static int params(const void *opts, const struct pw_config *cfg, struct pw_pe_param *out)
{
    const struct options *o = opts;

    out[0] = pw_pe_mix_param(cfg, o->mixes);
    out[1] = (struct pw_pe_param){"rel_logits_proj.proj", o->mixes, o->reach, 0.02f, 0, false, cfg->layers};
    return 2;
}

static int mixes(const void *opts)
{
    return ((const struct options *)opts)->mixes;
}

static int reach(const void *opts, const struct pw_config *cfg)
{
    (void)cfg;
    return ((const struct options *)opts)->reach;
}

static bool gains(const void *opts)
{
    return ((const struct options *)opts)->alpha > 0;
}

static void build(const void *opts, const struct pw_config *cfg, struct pw_pe_tables *t)
{
    const struct options *o = opts;

    (void)cfg;
    for (int r = 0; t->gain != NULL && r < t->rows; r++) {
        double keys = (t->from + r * t->step + 1) / o->floor;
        t->gain[r] = (float)(1 + (double)o->alpha * pw_log(keys > 1 ? keys : 1));
    }
}

const struct pw_pe pw_pe_inkling = {
    .name = "inkling",
    .summary = "each token mixes a bias by distance for its query from a learned bank",
    .source = "Thinking Machines 2026; transformers, models/inkling",
    .opts = opts_table,
    .opts_size = sizeof(struct options),
    .uses = PW_PE_MIXES | PW_PE_GAIN,
    .gains = gains,
    .build = build,
    .params = params,
    .mixes = mixes,
    .reach = reach,
};
