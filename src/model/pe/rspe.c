/* rspe.c - the sinusoidal encoding counted from the end: row pos of a sequence of length l encodes l - 1 -
 * pos (Qiu et al. 2021, Eq. 2). It is SPE reversed. The last tokens of all sequences have the same rows and
 * the first tokens have not: backward-aware, not forward-aware (their corollary 3.6). */
#include "model/pe.h"
#include "model/sines.h"

static enum pw_code check(const void *opts, const struct pw_config *cfg, struct pw_err *err)
{
    (void)opts;
    return pw_sines_check("rspe", 1, cfg, err);
}

static void build(const void *opts, const struct pw_config *cfg, struct pw_pe_tables *t)
{
    pw_sines_fill(opts, t, 0, cfg->width, 0, false);
}

const struct pw_pe pw_pe_rspe = {
    .name = "rspe",
    .summary = "sines and cosines of the position from the end",
    .source = "Qiu et al. 2021, Eq. 2",
    .opts = pw_sines_opts,
    .opts_size = sizeof(struct pw_sines),
    .uses = PW_PE_ADDED,
    .by = {PW_PE_BY_REVERSE},
    .resolve = pw_sines_resolve,
    .check = check,
    .build = build,
};
