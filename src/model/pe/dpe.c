/* dpe.c - half of the columns encodes the position by sinusoids, the other half encodes the position counted
 * from the end (Qiu et al. 2021, section 3). Each half has the frequencies of its own width, base^(-4i/C).
 * Tokens at the same position from the front share the left half at any length; tokens at the same position
 * from the end share the right half. So the encoding is forward- and backward-aware. */
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
    .summary = "half of the columns: sines of the position from the front; the other half: from the end",
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
