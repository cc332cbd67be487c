/* ldpe.c - learned DPE (Qiu et al. 2021, section 3). Half of the columns is a learned vector for the
 * position. The other half is one for the position counted from the end, l - 1 - pos in a sequence of length
 * l.
 *
 * pe.table [2 context, C/2]: row r is for position r, row context + r for position r from the end. Initial
 * values as in learned.c. */
#include "model/pe.h"

static enum pw_code check(const void *opts, const struct pw_config *cfg, struct pw_err *err)
{
    (void)opts;
    if (cfg->width % 2 != 0)
        return pw_fail(err, PW_EUSER, "ldpe: width=%d: the width must be even, two halves", cfg->width);
    return PW_OK;
}

static int rows(const void *opts, const struct pw_config *cfg)
{
    (void)opts;
    return 2 * cfg->context;
}

const struct pw_pe pw_pe_ldpe = {
    .name = "ldpe",
    .summary = "half of the columns: learned by the position from the front; the other half: from the end",
    .source = "Qiu et al. 2021, section 3",
    .uses = PW_PE_ADDED,
    .by = {PW_PE_BY_POSITION, PW_PE_BY_REVERSE},
    .halves = true,
    .check = check,
    .param = "table",
    .param_rows = rows,
    .init_std = 1,
};
