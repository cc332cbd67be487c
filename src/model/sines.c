/* sines.c - the sinusoids of Vaswani et al. 2017, section 3.5.
 *
 * Pair i of W/2 has the frequency base^(-2i/W), i from 0. (Kazemnejad et al. 2023, Eq. 11, starts at i = 1,
 * which drops the frequency 1; their code starts at 0, like Vaswani et al.) The layouts hold the same
 * numbers. interleaved is sin, cos, sin, cos, ... as in the paper and in Eq. 11. split is all sines, then all
 * cosines, as in that code, and is the default in a model of its kind. A following matrix can undo the
 * permutation, so the layout matters only when rows are compared. */
#include "model/sines.h"

#include "base/maths.h"

enum { AUTO, INTERLEAVED, SPLIT };

static const char *const layouts[] = {"auto", "interleaved", "split", NULL};

#define AT(member) offsetof(struct pw_sines, member)

const struct pw_opt pw_sines_opts[] = {
    {"base", PW_OPT_FLOAT, AT(base), "10000", 1.01, 1e9, NULL, 0,
     "ratio of the longest to the shortest wavelength"},
    {"layout", PW_OPT_CHOICE, AT(layout), "auto", 0, 0, layouts, 0,
     "sin cos sin cos ..., or all sines, then all cosines; default with scale=off init=t5: split"},
    {"amplitude", PW_OPT_FLOAT, AT(amplitude), "1", 0, 100, NULL, 0,
     "amplitude of each sine; token embeddings start with standard deviation 1"},
    {0},
};

void pw_sines_resolve(void *opts, const struct pw_config *cfg)
{
    struct pw_sines *o = opts;

    if (o->layout == AUTO)
        o->layout = pw_config_released(cfg) ? SPLIT : INTERLEAVED;
}

void pw_sines_fill(const struct pw_sines *o, struct pw_pe_tables *t, int k, int W, double first, bool swapped)
{
    int half = W / 2;

    for (int i = 0; i < half; i++) {
        double frequency = pw_pow(o->base, -2.0 * i / W);
        int even = o->layout == SPLIT ? i : 2 * i, odd = o->layout == SPLIT ? half + i : 2 * i + 1;
        int sine = swapped ? odd : even, cosine = swapped ? even : odd;
        for (int r = 0; r < t->P; r++) {
            float *row = t->add[k] + (size_t)r * W;
            double place = first + r * t->step;
            row[sine] = (float)(o->amplitude * pw_sin(place * frequency));
            row[cosine] = (float)(o->amplitude * pw_cos(place * frequency));
        }
    }
}

enum pw_code pw_sines_check(const char *name, int tables, const struct pw_config *cfg, struct pw_err *err)
{
    if (cfg->width % (2 * tables) == 0)
        return PW_OK;
    if (tables == 1)
        return pw_fail(err, PW_EUSER, "%s: width=%d: the width must be even (pairs of sine and cosine)", name,
                       cfg->width);
    return pw_fail(
        err, PW_EUSER,
        "%s: width=%d: the width must be a multiple of 4 (pairs of sine and cosine in both halves)", name,
        cfg->width);
}
