/* race - create one fresh arm for each encoding, with one or several initialisations. All arms use the same
 * batches. With own batches each replica has its own order of samples, shared with the replicas of the same
 * number in the other arms. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "lab/actions.h"
#include "lab/encodings.h"

struct race_opts {
    int seeds, batches;
};

static const char *const batches[] = {"shared", "own", NULL};

static const struct pw_opt opts[] = {
    {.name = "seeds",
     .type = PW_OPT_INT,
     .offset = offsetof(struct race_opts, seeds),
     .def = "1",
     .min = 1,
     .max = PW_MAX_REPLICAS,
     .help = "replicas of each arm: seed, seed + 1, ..."},
    {.name = "batches",
     .type = PW_OPT_CHOICE,
     .offset = offsetof(struct race_opts, batches),
     .def = "shared",
     .choices = batches,
     .help = "own: each replica has its own batches, the same in all arms; shared: all have the same"},
    {.name = NULL}};

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    char *list = NULL, *pes[PW_MOST_ENCODINGS];
    struct race_opts o;
    pw_opt_defaults(opts, &o);
    if (pw_args_words(args) != 1)
        return pw_fail(err, PW_EUSER,
                       "usage: race PE,PE,... [seeds=N] [batches=own]; options in parentheses: "
                       "t5(buckets=8,distance=16)");
    enum pw_code code = pw_args_opts(args, opts, &o, err);
    if (code != PW_OK)
        return code;
    list = pw_text_dup(pw_args_word(args, 0));
    code = pw_lab_race(ctx, pes, pw_cut_encodings(list, pes), o.seeds, o.batches > 0, err);
    free(list);
    for (int id = 1; code == PW_OK && id <= PW_MAX_ARMS && pw_lab_arm(ctx, id) != NULL; id++)
        pw_lab_note_encoding(ctx, pw_lab_arm(ctx, id));
    return code;
}

const struct pw_command pw_cmd_race = {
    .name = "race",
    .search = "compare",
    .usage = "race PE,PE,... [seeds=N] [batches=own]",
    .example = "race none,t5,alibi seeds=2",
    .summary = "start a new arm for each encoding, with the same model, seed and batches",
    .detail =
        "race none,t5,alibi,rotary,sinusoidal; train\n"
        "race t5(buckets=8,distance=16),t5(buckets=32,distance=128)\n"
        "race none,alibi seeds=3; train; eval\n"
        "t5 without options has 8 buckets up to distance 16 for contexts up to 256, else 32 up to 128.\n"
        "With seeds=N every arm trains N replicas: models that differ only in their initialisation. Curves\n"
        "show their median, minimum and maximum. The first replica answers prompts and is inspected, until\n"
        "'inspect replica=R' chooses another.\n"
        "batches=own: replicas differ in their training samples, too. Replica k of every arm trains on the\n"
        "samples of seed + k - 1 (with data=N: on the fixed set of that seed), so replicas with the same\n"
        "number still share batches. All are evaluated on the same samples.",
    .where = PW_AT_LAB,
    .opts = opts,
    .complete = pw_complete_encoding,
    .run = run,
};
