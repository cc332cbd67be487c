/* sinusoidal.c - fixed sines and cosines of the position, added to the embedding (Vaswani et al. 2017,
 * section 3.5). Qiu et al. 2021 call it SPE. sines.c has the formula. */
#include "model/pe.h"
#include "model/sines.h"

static enum pw_code check(const void *opts, const struct pw_config *cfg, struct pw_err *err)
{
    (void)opts;
    return pw_sines_check("sinusoidal", 1, cfg, err);
}

static void build(const void *opts, const struct pw_config *cfg, struct pw_pe_tables *t)
{
    pw_sines_fill(opts, t, 0, cfg->width, t->from, false);
}

const struct pw_pe pw_pe_sinusoidal = {
    .name = "sinusoidal",
    .summary = "adds fixed sines and cosines of the position to the embedding",
    .source = "Vaswani et al. 2017, section 3.5",
    .aliases = {"sin", "sine", "sinusoid", "spe", "ape", "abs_sinusoid"}, /* APE: in Kazemnejad et al. 2023 */
    .opts = pw_sines_opts,
    .opts_size = sizeof(struct pw_sines),
    .uses = PW_PE_ADDED,
    .by = {PW_PE_BY_POSITION},
    .resolve = pw_sines_resolve,
    .check = check,
    .build = build,
};
