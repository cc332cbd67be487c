/* cope.c - contextual position encoding (Golovneva et al. 2024, arXiv 2405.18719). A query counts the keys
 * that matter to it: each key l has a gate on its score s, and the position of key j is the sum of the gates
 * from it to the query i:
 *
 *     g(i,l) = sigmoid(s_il)        p(i,j) = min(sum over l = j..i of g(i,l), npos - 1)
 *     score(i,j) = s_ij + (1 - w) q_i . e[f] + w q_i . e[f + 1]        f = floor(p), w = p - f
 *
 * The positions are real numbers, so the products of two neighbouring embeddings are interpolated. Each layer
 * has a table that its heads share. The part of position is not scaled, as in the listing of the paper. The
 * table has the name and the shape [D, npos] of the authors' code (pos_emb), and starts with zeros as there.
 *
 * npos is one more than the largest position: 0 is possible, too. The authors' default is a position for each
 * token. Here it is at most 64, because gates near 1/2 halve the positions that occur. */
#include "model/pe.h"

enum { USUAL = 64, MOST = 1024 };

struct options {
    int npos; /* 0: not given */
};

static const struct pw_opt opts_table[] = {
    {"npos", PW_OPT_INT, offsetof(struct options, npos), NULL, 2, MOST, NULL, 0,
     "number of positions; the keys beyond share the last; default: context + 1, at most 64"},
    {0},
};

static void resolve(void *opts, const struct pw_config *cfg)
{
    struct options *o = opts;

    if (o->npos == 0)
        o->npos = cfg->context + 1 < USUAL ? cfg->context + 1 : USUAL;
}

static int positions(const void *opts)
{
    return ((const struct options *)opts)->npos;
}

struct pw_pe_param pw_pe_context_param(const struct pw_config *cfg, int n)
{
    return (struct pw_pe_param){"pos_emb", cfg->head_width, n, 0, 0, true, cfg->layers};
}

static int params(const void *opts, const struct pw_config *cfg, struct pw_pe_param *out)
{
    *out = pw_pe_context_param(cfg, positions(opts));
    return 1;
}

const struct pw_pe pw_pe_cope = {
    .name = "cope",
    .summary = "a query counts the keys that its gates let through, and adds a learned part for each count",
    .source = "Golovneva et al. 2024, arXiv 2405.18719",
    .aliases = {"contextual"},
    .opts = opts_table,
    .opts_size = sizeof(struct options),
    .uses = PW_PE_SCAN,
    .scan = PW_SCAN_CONTEXT,
    .scan_rows = positions,
    .needs_mask = true,
    .resolve = resolve,
    .choice = "context + 1, at most 64",
    .params = params,
};
