/* 2dspe.c - half of the columns encodes the position by sinusoids, the other half encodes the sequence length
 * l (Qiu et al. 2021, appendix F, Eq. 24). Each half has the frequencies of its own width, base^(-4i/C). The
 * second half is one row for the whole sequence: it carries the length and nothing more. */
#include "model/pe.h"
#include "model/sines.h"

static enum pw_code check(const void *opts, const struct pw_config *cfg, struct pw_err *err)
{
    (void)opts;
    return pw_sines_check("2dspe", 2, cfg, err);
}

static void build(const void *opts, const struct pw_config *cfg, struct pw_pe_tables *t)
{
    pw_sines_fill(opts, t, 0, cfg->width / 2, t->from, false);
    pw_sines_fill(opts, t, 1, cfg->width / 2, 1, false);
}

const struct pw_pe pw_pe_2dspe = {
    .name = "2dspe",
    .summary = "half of the columns: sines of the position; the other half: sines of the length",
    .source = "Qiu et al. 2021, Eq. 24",
    .opts = pw_sines_opts,
    .opts_size = sizeof(struct pw_sines),
    .uses = PW_PE_ADDED,
    .by = {PW_PE_BY_POSITION, PW_PE_BY_LENGTH},
    .halves = true,
    .resolve = pw_sines_resolve,
    .check = check,
    .build = build,
};
