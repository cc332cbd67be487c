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
     .help = "distances or positions, until changed; 0: as the longest sample"},
    {.name = "layer",
     .type = PW_OPT_MOVE,
     .offset = offsetof(struct table_opts, layer),
     .def = "+0",
     .max = 1000,
     .help =
         "of the score by distance, from 0, until changed; +1 is the next, and behind the last the first"},
    {.name = NULL}};

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    struct table_opts o = {.length = -1}; /* -1: keep the present length */
    struct pw_args rest;
    struct pw_arm *arm;
    if (pw_args_words(args) > 0)
        return pw_fail(err, PW_EUSER,
                       "table: '%s' is not key=value; usage: table [length=N] [layer=L] [arm=K]",
                       pw_args_word(args, 0));
    pw_opt_defaults(opts, &o);
    enum pw_code code = pw_scope_arm(ctx, args, &rest, &arm, err);
    if (code == PW_OK)
        code = pw_args_opts(&rest, opts, &o, err);
    return code == PW_OK ? pw_lab_look_at_table(ctx, arm, o.length, o.layer, err) : code;
}

const struct pw_command pw_cmd_table = {
    .name = "table",
    .search = "heatmap",
    .usage = "table [length=N] [layer=L] [arm=K]",
    .summary = "an arm's encoding: buckets, slopes, frequencies, rows, keys, queries, and the score by "
               "distance",
    .detail =
        "What training met stands beside it: pairs of query and key at each distance, rows at each "
        "position,\n"
        "and the mean size of the gradient that each learned entry received, since the encoding was set.\n"
        "The kernel is what the encoding itself puts into the score of a query and a key d apart; the mean\n"
        "score is that of the whole, over validation samples.\n"
        "Where rows go by the length of the sequence (dpe and its like) they are those of one of length=N.\n"
        "With causal=off the last half of the buckets of t5, and the last rows of clipped, are for keys "
        "after\n"
        "the query, whose distances are negative; export table has them as bucket_of_later_keys, by the "
        "size\n"
        "of the distance, and all buckets' biases as bucket_bias [buckets,heads].\n"
        "Relative keys (shaw) are those of layer=L; export table calls them keys, a row for each distance "
        "from\n"
        "key_from on, the outermost ones also for all beyond, with key_met and key_grad of each row.\n"
        "A bias that depends on both positions (fire) is told of up to 12 queries: the last one, one where\n"
        "fire's threshold lies, and others spread evenly; beside them the tensors that it is made of, with\n"
        "norm and mean gradient. What shows one bias by distance shows that of the last query; its kernel "
        "is\n"
        "the mean over the queries that have the distance. export table has them as queries, query_bias\n"
        "[heads,queries,length] (null where a query has no key), tensors and fire; bias_query is the "
        "position\n"
        "of the query whose bias is told as bias, -1 where it is the same for all.",
    .where = PW_AT_LAB,
    .opts = opts,
    .also = pw_scope_opts,
    .values = pw_offer_values,
    .run = run,
};
