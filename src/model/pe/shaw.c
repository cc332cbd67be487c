/* shaw.c - learned relative keys (Shaw et al. 2018, sections 3.1 and 3.2). A vector is added to each key. It
 * depends on the distance from the query, and is the same for all distances beyond a limit.
 *
 *     score(i, j) = scale * q_i . (k_j + a[clip(i - j, k)])      Eq. 4
 *
 * The paper counts j - i and has 2k+1 rows. A causal mask leaves i - j >= 0, so row r is for distance min(r,
 * k). Without the mask there are 2k+1 rows, and row r is for distance r - k. Each layer has a table that its
 * heads share (section 3.3).
 *
 * The paper also adds a table to the values (Eq. 3), but finds no benefit from it beside the keys (section
 * 4.3). It is omitted, because it would give a head's output a part that no attention map shows.
 *
 * Rows start with Glorot's standard deviation, sqrt(2 / (rows + D)), as in the authors' code (params.c). This
 * is below the keys that they are added to, so content dominates at first. Their k is 16; section 4.3 finds
 * little difference from 2 on. Contexts up to 256 use 8. In a line of 20 tokens a third of the pairs then
 * reads the last row, which longer lines read at all untrained distances; with 16 it would be a twentieth. */
#include "model/pe.h"

enum { SMALL_CONTEXT = 256, MAX_DISTANCE = 512 };

struct options {
    int distance; /* 0: not given */
};

static const struct pw_opt opts_table[] = {
    {"distance", PW_OPT_INT, offsetof(struct options, distance), NULL, 1, MAX_DISTANCE, NULL, 0,
     "all distances from here on share one key; default: 8 for contexts up to 256, else 16"},
    {0},
};

static void resolve(void *opts, const struct pw_config *cfg)
{
    struct options *o = opts;

    if (o->distance == 0)
        o->distance = cfg->context <= SMALL_CONTEXT ? 8 : 16;
}

static int reach(const void *opts, const struct pw_config *cfg)
{
    (void)cfg;
    return ((const struct options *)opts)->distance;
}

static int rows(const void *opts, const struct pw_config *cfg)
{
    struct pw_attn a = {.causal = cfg->causal, .reach = reach(opts, cfg)};
    return pw_key_rows(&a);
}

const struct pw_pe pw_pe_shaw = {
    .name = "shaw",
    .summary = "a learned vector for each layer and distance, added to the key",
    .source = "Shaw et al. 2018, Eq. 4, without the table for values",
    .aliases = {"relative_key"},
    .opts = opts_table,
    .opts_size = sizeof(struct options),
    .uses = PW_PE_KEYS,
    .resolve = resolve,
    .choice = "8 up to context 256, 16 beyond",
    .param = "keys",
    .param_rows = rows,
    .reach = reach,
};
