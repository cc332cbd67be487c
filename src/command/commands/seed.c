/* seed - set the seed of the data and of every initialisation, or of one arm's initialisation only. */
#include "lab/actions.h"
#include "lab/offer.h"

struct seed_opts {
    int arm;
};

static const struct pw_opt opts[] = {{.name = "arm",
                                      .type = PW_OPT_INT,
                                      .offset = offsetof(struct seed_opts, arm),
                                      .def = "0",
                                      .min = 0,
                                      .max = PW_MAX_ARMS,
                                      .help = "only the initialisation of this arm; 0: data and all arms"},
                                     {.name = NULL}};

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    static const struct pw_opt number[] = {{.name = "N", .type = PW_OPT_SEED, .help = "a number"},
                                           {.name = NULL}};
    struct seed_opts o;
    uint64_t seed;
    pw_opt_defaults(opts, &o);
    if (pw_args_words(args) != 1)
        return pw_fail(err, PW_EUSER, "usage: seed N [arm=K]");
    enum pw_code code = pw_opt_set(number, &seed, "seed", "N", pw_args_word(args, 0), err);
    if (code == PW_OK)
        code = pw_args_opts(args, opts, &o, err);
    return code == PW_OK ? pw_lab_set_seed(ctx, seed, o.arm, err) : code;
}

const struct pw_command pw_cmd_seed = {
    .name = "seed",
    .search = "random",
    .usage = "seed N [arm=K]",
    .example = "seed 7",
    .summary = "set the seed of data and initialisation; draws new weights",
    .detail =
        "Replica k of an arm (race seeds=N) is initialised from the seed plus k - 1; with batches=own it\n"
        "trains on the samples of the lab's seed plus k - 1, which 'seed N arm=K' does not change.",
    .where = PW_AT_LAB,
    .opts = opts,
    .values = pw_offer_values,
    .run = run,
};
