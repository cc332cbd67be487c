/* compare - run the probe of attention distances (src/probe/distance.c) under a name that users look for. */
#include "lab/actions.h"
#include "lab/offer.h"
#include "lab/scope.h"
#include "probe/probe.h"

extern const struct pw_command pw_cmd_compare;

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    const struct pw_probe *probe = pw_probe_find("distance");
    struct pw_args as_probe = *args; /* borrows the words; the probe's name is put before them */
    if (pw_args_words(args) == 1)
        return pw_fail(err, PW_EUSER, "compare: arm %s: name at least one other arm; usage: %s",
                       pw_args_word(args, 0), pw_cmd_compare.usage);
    if (args->n == PW_MAX_WORDS)
        return pw_fail(err, PW_EUSER, "compare: too many arguments; usage: %s", pw_cmd_compare.usage);
    as_probe.words[0] = (struct pw_word){.value = (char *)probe->name};
    for (int i = 0; i < args->n; i++)
        as_probe.words[i + 1] = args->words[i];
    as_probe.n++;
    return pw_lab_probe(ctx, probe, pw_cmd_compare.name, &as_probe, NULL, err);
}

const struct pw_command pw_cmd_compare = {
    .name = "compare",
    .usage = "compare [ARM ARM...] [key=value]",
    .example = "compare 1 2",
    .summary = "measure the distance between the attention of arms, by length and layer",
    .detail =
        "compare 1 3 4                 arms 3 and 4 with arm 1; without arguments, all arms\n"
        "compare against=all           every pair of arms\n"
        "compare 1 3 formula=released  as the released code for Figure 4 of Kazemnejad et al. 2023\n"
        "The distance is the least Jensen-Shannon divergence of all pairs of heads in a layer (their Eq. "
        "2),\n"
        "in nats, on sequences of the task with their right answers; pairs=matched pairs each head with one\n"
        "other head. A curve with * is the floor: two seeds of one encoding. Arms of one seed start from "
        "the\n"
        "same weights and are marked. The same as `probe distance`; the finding has that name.",
    .where = PW_AT_LAB,
    .lasts = true,
    .opts = pw_distance_options,
    .complete = pw_offer_arms,
    .values = pw_offer_values,
    .run = run,
};
