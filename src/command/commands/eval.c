/* eval - measure exact match and token accuracy by length, for all arms. */
#include "lab/actions.h"
#include "lab/offer.h"

struct eval_opts {
    struct pw_range lengths;
    int samples;
};

static const struct pw_opt opts[] = {{.name = "lengths",
                                      .type = PW_OPT_RANGE,
                                      .offset = offsetof(struct eval_opts, lengths),
                                      .min = 1,
                                      .max = 16384,
                                      .help = "lengths to test; default: trained and test lengths"},
                                     {.name = "samples",
                                      .type = PW_OPT_INT,
                                      .offset = offsetof(struct eval_opts, samples),
                                      .def = "256",
                                      .min = 1,
                                      .max = 1000000,
                                      .help = "samples of each length"},
                                     {.name = NULL}};

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    struct eval_opts o = {.lengths = {0, 0}};
    pw_opt_defaults(opts, &o);
    if (pw_args_words(args) > 0)
        return pw_fail(err, PW_EUSER, "eval: '%s' is not key=value; usage: eval [lengths=A..B] [samples=N]",
                       pw_args_word(args, 0));
    enum pw_code code = pw_args_opts(args, opts, &o, err);
    return code == PW_OK ? pw_lab_eval(ctx, o.lengths, o.samples, err) : code;
}

const struct pw_command pw_cmd_eval = {
    .name = "eval",
    .search = "test validate accuracy score",
    .usage = "eval [lengths=A..B] [samples=N]",
    .example = "eval lengths=2..12 samples=16",
    .summary = "measure exact match and token accuracy by length, of all arms",
    .detail =
        "One teacher-forced pass per sample: greedy decoding is right if and only if every argmax is\n"
        "right. Where that does not hold, answers are decoded up to the end mark (or 1.5 times the right\n"
        "length), and both numbers are printed: for tasks with a scratchpad (only the answer after it\n"
        "counts), for encodings that need the length of the whole sequence, and for causal=off (sees later\n"
        "tokens). The decoded number is compared and drawn; evaluations during training are\n"
        "teacher-forced, and marked so. If a length is a pair (addition, lego), samples cover its pairs\n"
        "evenly. * marks trained lengths with fewer than 100000 different inputs, which training has seen:\n"
        "see held=on of task.",
    .where = PW_AT_LAB,
    .opts = opts,
    .values = pw_offer_values,
    .run = run,
};
