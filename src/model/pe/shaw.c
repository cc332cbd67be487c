/* shaw.c - learned relative keys: the key that a query sees depends on how far away it is, up to a distance
 * beyond which all are alike (Shaw et al. 2018, sections 3.1 and 3.2).
 *
 *     score(i, j) = scale * q_i . (k_j + a[clip(i - j, k)])      Eq. 4
 *
 * The paper counts j - i and has 2k+1 rows; a causal mask leaves i - j >= 0, so row r is that of distance
 * min(r, k). Without the mask there are 2k+1, row r that of distance r - k. Each layer has a table, which its
 * heads share (section 3.3).
 *
 * The paper also adds a table to the values (Eq. 3). It finds no use for that one beside the keys (section
 * 4.3), and it would give the output of a head a part that no map of attention shows: left out.
 *
 * Rows begin with Glorot's deviation, sqrt(2 / (rows + D)), as in the authors' code (params.c): below the
 * keys that they are added to, so content leads at first. Their k is 16; section 4.3 finds little difference
 * from 2 on. Contexts up to 256 take 8: of a line of 20 tokens a third of the pairs then reads the last row,
 * which is what longer lines read at all distances that were never trained; with 16 it would be a twentieth.
 */
#include "model/pe.h"

enum { SMALL_CONTEXT = 256, MAX_DISTANCE = 512 };

struct options {
    int distance; /* 0: not given */
};

static const struct pw_opt opts_table[] = {
    {"distance", PW_OPT_INT, offsetof(struct options, distance), NULL, 1, MAX_DISTANCE, NULL, 0,
     "from here on all distances share one key; 8 for contexts up to 256, else 16"},
    {0},
};

static void resolve(void *opts, const struct pw_config *cfg)
{
    struct options *o = opts;

    if (o->distance == 0)
        o->distance = cfg->context <= SMALL_CONTEXT ? 8 : 16;
}

static int reach(const void *opts)
{
    return ((const struct options *)opts)->distance;
}

static int rows(const void *opts, const struct pw_config *cfg)
{
    struct pw_attn a = {.causal = cfg->causal, .reach = reach(opts)};
    return pw_key_rows(&a);
}

const struct pw_pe pw_pe_shaw = {
    .name = "shaw",
    .summary = "a learned vector for each layer and distance, added to the key",
    .source = "Shaw et al. 2018, Eq. 4, without the values' table",
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
