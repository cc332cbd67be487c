/* learned.c - a learned vector per position, added to the embedding (Kazemnejad et al. 2023, Eq. 8 and 9).
 *
 * The table starts with the standard deviation of the token embeddings, 1, as in the code of Kazemnejad et
 * al. 2023. GPT-2's 0.02 belongs to embeddings of 0.02. Beside embeddings of 1 it would be a fiftieth of the
 * tokens, and the first hundred steps would train a model that cannot see positions. */
#include "model/pe.h"

static int rows(const void *opts, const struct pw_config *cfg)
{
    (void)opts;
    return cfg->context;
}

const struct pw_pe pw_pe_learned = {
    .name = "learned",
    .summary = "a learned vector for each position, added to the embedding",
    .source = "Gehring et al. 2017; Radford et al. 2019",
    .aliases = {"absolute", "abs_learned"},
    .uses = PW_PE_ADDED,
    .by = {PW_PE_BY_POSITION},
    .param = "table",
    .param_rows = rows,
    .init_std = 1,
};
