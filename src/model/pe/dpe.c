/* dpe.c - half of the columns is the sinusoidal encoding of the position, half that of the position counted
 * from the end, each with the frequencies of its own width, base^(-4i/C) (Qiu et al. 2021, section 3). Tokens
 * at the same place from the front share the left half whatever the length, those at the same place from the
 * end the right one: forward- and backward-aware. */
#include "model/pe.h"
#include "model/sines.h"

static enum pw_code check(const void *opts, const struct pw_config *cfg, struct pw_err *err)
{
    (void)opts;
    return pw_sines_check("dpe", 2, cfg, err);
}

static void build(const void *opts, const struct pw_config *cfg, struct pw_pe_tables *t)
{
    pw_sines_fill(opts, t, 0, cfg->width / 2, t->from, false);
    pw_sines_fill(opts, t, 1, cfg->width / 2, 0, false);
}

const struct pw_pe pw_pe_dpe = {
    .name = "dpe",
    .summary = "one half sines from the front, the other half sines from the end",
    .source = "Qiu et al. 2021, section 3",
    .opts = pw_sines_opts,
    .opts_size = sizeof(struct pw_sines),
    .uses = PW_PE_ADDED,
    .by = {PW_PE_BY_POSITION, PW_PE_BY_REVERSE},
    .halves = true,
    .resolve = pw_sines_resolve,
    .check = check,
    .build = build,
};
