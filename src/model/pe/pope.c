/* pope.c - polar coordinates: the content of an entry is a length, its position an angle (Gopalakrishnan et
 * al. 2025, "Decoupling the what and where with polar coordinate positional embedding").
 *
 *     score(i,j) = scale * sum over c of softplus(q_ic) softplus(k_jc) cos((i - j) w_c - delta_hc)
 *     w_c = base^(-c/D)
 *
 * Each of the D entries of a head turns at its own frequency; rotary has D/2. Its angle does not depend on
 * the content, while rotary adds the angle of the pair (q_2c, q_2c+1) to that of the position. delta is a
 * learned phase of each layer, head and entry, at least -2 pi and at most 0, with the gradient 0 outside. As
 * in x-transformers (PolarEmbedding) it is added to the angles of keys and begins at 0.
 *
 * The turned q and k have two numbers for each entry, so their product costs twice as much, and a cached key
 * takes twice the memory. */
#include "base/maths.h"
#include "model/pe.h"

struct options {
    float base;
};

static const struct pw_opt opts_table[] = {
    {"base", PW_OPT_FLOAT, offsetof(struct options, base), "10000", 1.01, 1e9, NULL, 0,
     "ratio of the longest to the shortest wavelength, nearly"},
    {0},
};

static int params(const void *opts, const struct pw_config *cfg, struct pw_pe_param *out)
{
    (void)opts;
    out[0] = (struct pw_pe_param){"learned_bias", cfg->heads, cfg->head_width, 0, 0, true, cfg->layers};
    return 1;
}

static void build(const void *opts, const struct pw_config *cfg, struct pw_pe_tables *t)
{
    double base = (double)((const struct options *)opts)->base;
    int D = cfg->head_width;

    for (int c = 0; c < D; c++) {
        double frequency = pw_rotary_frequency(c, 2 * D, base);
        for (int pos = 0; pos < t->P; pos++) {
            double angle = (t->from + pos * t->step) * frequency;
            t->polar_cosine[(size_t)pos * D + c] = (float)pw_cos(angle);
            t->polar_sine[(size_t)pos * D + c] = (float)pw_sin(angle);
        }
    }
}

const struct pw_pe pw_pe_pope = {
    .name = "pope",
    .summary = "the content of each entry is a length, its position an angle",
    .source = "Gopalakrishnan et al. 2025",
    .aliases = {"polar"},
    .opts = opts_table,
    .opts_size = sizeof(struct options),
    .uses = PW_PE_POLAR,
    .params = params,
    .build = build,
};
