/* sinusoidal.c - fixed sines and cosines added to the embedding (Vaswani et al. 2017, section 3.5).
 *
 * Pair i of C/2 has the frequency base^(-2i/C) for i from 0. (Kazemnejad et al. 2023, Eq. 11, starts at i =
 * 1, which drops the frequency 1; the code behind it starts at 0, like Vaswani.) The layouts hold the same
 * numbers: interleaved is sin, cos, sin, cos, ... as in the paper and in Eq. 11, split is all sines, then all
 * cosines, as in that code. A following matrix can undo the permutation, so the choice matters only to
 * whoever compares rows. */
#include "base/maths.h"
#include "model/pe.h"

struct options {
    float base, amplitude;
    int layout;
};

enum { INTERLEAVED, SPLIT };

static const char *const layouts[] = {"interleaved", "split", NULL};

static const struct pw_opt opts_table[] = {
    {"base", PW_OPT_FLOAT, offsetof(struct options, base), "10000", 1.01, 1e9, NULL, 0,
     "ratio of the longest to the shortest wavelength"},
    {"layout", PW_OPT_CHOICE, offsetof(struct options, layout), "interleaved", 0, 0, layouts, 0,
     "sin cos sin cos ..., or all sines, then all cosines"},
    {"amplitude", PW_OPT_FLOAT, offsetof(struct options, amplitude), "1", 0, 100, NULL, 0,
     "of each sine; token embeddings start with standard deviation 1"},
    {0},
};

static enum pw_code check(const void *opts, const struct pw_config *cfg, struct pw_err *err)
{
    (void)opts;
    if (cfg->width % 2 != 0)
        return pw_fail(err, PW_EUSER,
                       "sinusoidal: width=%d: the width must be even, a sine and a cosine each", cfg->width);
    return PW_OK;
}

static void build(const void *opts, const struct pw_config *cfg, struct pw_pe_tables *t)
{
    const struct options *o = opts;
    int C = cfg->width, half = C / 2;

    for (int i = 0; i < half; i++) {
        double frequency = pw_pow(o->base, -2.0 * i / C);
        int sine = o->layout == SPLIT ? i : 2 * i;
        int cosine = o->layout == SPLIT ? half + i : 2 * i + 1;
        for (int pos = 0; pos < t->P; pos++) {
            float *row = t->added + (size_t)pos * C;
            row[sine] = (float)(o->amplitude * pw_sin(pos * frequency));
            row[cosine] = (float)(o->amplitude * pw_cos(pos * frequency));
        }
    }
}

const struct pw_pe pw_pe_sinusoidal = {
    .name = "sinusoidal",
    .summary = "fixed sines and cosines of the position, added to the embedding",
    .source = "Vaswani et al. 2017, section 3.5",
    .opts = opts_table,
    .opts_size = sizeof(struct options),
    .uses = PW_PE_ADDED,
    .check = check,
    .build = build,
};
