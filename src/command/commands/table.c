/* table - report an encoding's tables (buckets, slopes, frequencies, rows, queries), what was seen in
 * training, and the encoding's effect on scores by distance. */
#include "lab/actions.h"
#include "lab/offer.h"
#include "lab/scope.h"

struct table_opts {
    int length;
    struct pw_move layer;
};

static const struct pw_opt opts[] = {
    {.name = "length",
     .type = PW_OPT_INT,
     .offset = offsetof(struct table_opts, length),
     .min = 0,
     .max = 1 << 16,
     .help = "distances or positions of the table, until changed; 0: those of the longest sample"},
    {.name = "layer",
     .type = PW_OPT_MOVE,
     .offset = offsetof(struct table_opts, layer),
     .def = "+0",
     .max = 1000,
     .help = "layer of the score by distance, from 0, until changed; +1: the next, after the last the first"},
    {.name = NULL}};

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    struct table_opts o = {.length = -1}; /* -1: keep the present length */
    struct pw_args rest;
    struct pw_replica *arm;
    if (pw_args_words(args) > 0)
        return pw_fail(err, PW_EUSER,
                       "table: '%s' is not key=value; usage: table [length=N] [layer=L] [arm=K]",
                       pw_args_word(args, 0));
    pw_opt_defaults(opts, &o);
    enum pw_code code = pw_scope_arm(ctx, args, &rest, &arm, err);
    if (code == PW_OK)
        code = pw_args_opts(&rest, opts, &o, err);
    return code == PW_OK ? pw_lab_choose_table(ctx, arm, o.length, o.layer, err) : code;
}

const struct pw_command pw_cmd_table = {
    .name = "table",
    .search = "heatmap",
    .usage = "table [length=N] [layer=L] [arm=K]",
    .example = "table length=32",
    .summary = "read an arm's encoding: buckets, slopes, frequencies, rows, keys, queries, score by distance",
    .detail =
        "It also counts what was seen in training since the encoding was set: pairs of query and key at\n"
        "each distance, rows at each position, and the mean absolute gradient of each learned entry. The\n"
        "kernel is the encoding's own part of the score of a query and a key at distance d; the mean score\n"
        "is the whole score, over validation samples.\n"
        "If rows depend on the length of the sequence (dpe and similar), they are those for length=N. With\n"
        "causal=off the second half of t5's buckets, and the last rows of clipped, are for keys after the\n"
        "query (negative distances); export table writes them as bucket_of_later_keys, by absolute\n"
        "distance, and the biases of all buckets as bucket_bias [buckets,heads].\n"
        "Relative keys (shaw) are those of layer=L; export table writes them as keys, one row for each\n"
        "distance from key_from on (the outermost rows also serve all larger distances), with key_met and\n"
        "key_grad. A bias that depends on both positions (fire) is read for up to 12 queries: the last\n"
        "one, one at fire's threshold, and others spread evenly; in addition the tensors of its network,\n"
        "with norm and mean gradient. Views of one bias by distance show the last query's; the kernel is\n"
        "the mean over the queries that have the distance. export table writes queries, query_bias\n"
        "[heads,queries,length] (null where a query has no key), tensors and fire; bias_query is the\n"
        "position of the query of bias, or -1 if the bias is the same for all.\n"
        "Of a formula the learned parameters are listed with their values and mean gradients; export table\n"
        "writes them as learned: shape is [layers,heads,size], where 1 stands for a parameter that all\n"
        "layers or heads share, and a table has rms, the root mean square, beside its entries.",
    .where = PW_AT_LAB,
    .opts = opts,
    .also = pw_scope_opts,
    .values = pw_offer_values,
    .run = run,
};
