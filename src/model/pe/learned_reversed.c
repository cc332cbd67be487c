/* learned_reversed.c - a learned vector per position counted from the end, l - 1 - pos in a sequence of
 * length l, added to the embedding. It is to learned.c as RSPE is to SPE (Qiu et al. 2021). Initial values as
 * in learned.c. */
#include "model/pe.h"

static int rows(const void *opts, const struct pw_config *cfg)
{
    (void)opts;
    return cfg->context;
}

const struct pw_pe pw_pe_learned_reversed = {
    .name = "learned_reversed",
    .summary = "a learned vector for each position from the end, added to the embedding",
    .source = "Qiu et al. 2021, section 3",
    .uses = PW_PE_ADDED,
    .by = {PW_PE_BY_REVERSE},
    .param = "table",
    .param_rows = rows,
    .init_std = 1,
};
