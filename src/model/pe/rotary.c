/* rotary.c - rotates q and k, pair by pair, by angles proportional to the position, so that their product
 * depends on content and distance (Su et al. 2021, section 3.2.2).
 *
 * Pair i of a rotated width of `dims` turns by base^(-2i/dims) radians per token. The option pairing names
 * the entries of a pair: half (i, i + dims/2) as in GPT-NeoX and Llama, interleaved (2i, 2i+1) as in the
 * paper and GPT-J. The two differ by one permutation. With dims below the head width the first dims entries
 * rotate and the others stay: the full spectrum in fewer pairs, as in GPT-J's partial rotary.
 *
 * Kazemnejad et al. 2023 write that every two consecutive entries rotate. Their released code rotates the
 * first quarter of a head, interleaved, whatever its configuration. In a model of that code "rotary" means
 * this as long as no pairing is given. */
#include "base/maths.h"
#include "model/pe.h"

struct options {
    float base;
    int dims, pairing;
};

enum { AUTO, INTERLEAVED, HALF };

static const char *const pairings[] = {"auto", "interleaved", "half", NULL};

static const struct pw_opt opts_table[] = {
    {"base", PW_OPT_FLOAT, offsetof(struct options, base), "10000", 1.01, 1e9, NULL, 0,
     "ratio of the longest to the shortest wavelength"},
    {"dims", PW_OPT_INT, offsetof(struct options, dims), "0", 0, 1024, NULL, 0,
     "number of a head's entries that rotate, even; 0: all"},
    {"pairing", PW_OPT_CHOICE, offsetof(struct options, pairing), "auto", 0, 0, pairings, 0,
     "pairs (2i,2i+1), or (i,i+dims/2); default with scale=off init=t5: interleaved, a quarter of the head"},
    {0},
};

static int rotated(const struct options *o, const struct pw_config *cfg)
{
    return o->dims > 0 ? o->dims : cfg->head_width;
}

/* Uses a quarter of the head in whole pairs, at least one pair. */
static void resolve(void *opts, const struct pw_config *cfg)
{
    struct options *o = opts;
    int quarter = cfg->head_width / 8 * 2;

    if (o->pairing != AUTO)
        return;
    o->pairing = pw_config_released(cfg) ? INTERLEAVED : HALF;
    if (pw_config_released(cfg) && o->dims == 0)
        o->dims = quarter > 0 ? quarter : 2;
}

static enum pw_code check(const void *opts, const struct pw_config *cfg, struct pw_err *err)
{
    int dims = rotated(opts, cfg);

    if (dims > cfg->head_width)
        return pw_fail(err, PW_EUSER, "rotary: dims=%d: at most the head width, %d", dims, cfg->head_width);
    if (dims % 2 != 0)
        return pw_fail(err, PW_EUSER, "rotary: %d entries of a head cannot form pairs; use an even dims=N",
                       dims);
    return PW_OK;
}

static void settle(void *opts, const struct pw_config *cfg)
{
    struct options *o = opts;

    o->dims = rotated(o, cfg);
}

static int pairs(const void *opts, const struct pw_config *cfg)
{
    return rotated(opts, cfg) / 2;
}

static enum pw_pairing pairing(const void *opts)
{
    return ((const struct options *)opts)->pairing == INTERLEAVED ? PW_PAIRING_INTERLEAVED : PW_PAIRING_HALF;
}

double pw_rotary_frequency(int i, int dims, double base)
{
    return pw_pow(base, -2.0 * i / dims);
}

static void build(const void *opts, const struct pw_config *cfg, struct pw_pe_tables *t)
{
    const struct options *o = opts;
    int dims = rotated(o, cfg), n = dims / 2;

    for (int i = 0; i < n; i++) {
        double frequency = pw_rotary_frequency(i, dims, o->base);
        for (int pos = 0; pos < t->P; pos++) {
            double place = t->from + pos * t->step;
            t->cosine[(size_t)pos * n + i] = (float)pw_cos(place * frequency);
            t->sine[(size_t)pos * n + i] = (float)pw_sin(place * frequency);
        }
    }
}

const struct pw_pe pw_pe_rotary = {
    .name = "rotary",
    .summary = "rotates queries and keys by angles proportional to the position",
    .source = "Su et al. 2021, section 3.2.2",
    .aliases = {"rope", "new_rotary"},
    .opts = opts_table,
    .opts_size = sizeof(struct options),
    .uses = PW_PE_ROTATION,
    .resolve = resolve,
    .check = check,
    .settle = settle,
    .pairs = pairs,
    .pairing = pairing,
    .build = build,
};
