/* transplant - copy the learned parameters of another arm's encoding into an arm. */
#include <string.h>

#include "lab/actions.h"
#include "lab/offer.h"
#include "lab/scope.h"

extern const struct pw_command pw_cmd_transplant;

static enum pw_code run_on(struct pw_lab *lab, struct pw_replica *arm, const struct pw_args *args,
                           struct pw_err *err)
{
    long from;
    enum pw_code code = pw_args_limit(&pw_cmd_transplant, args, 1, 1, err);
    if (code == PW_OK)
        code = pw_args_opts(args, NULL, NULL, err);
    if (code == PW_OK && strcmp(pw_args_word(args, 0), "nearest") == 0)
        return pw_lab_fill_untrained(lab, arm, err);
    if (code == PW_OK && !pw_text_int(pw_args_word(args, 0), 1, PW_MAX_ARMS, &from))
        code = pw_fail(err, PW_EUSER, "transplant: '%s' is neither the number of an arm nor 'nearest'",
                       pw_args_word(args, 0));
    return code == PW_OK ? pw_lab_transplant(lab, arm, (int)from, err) : code;
}

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    return pw_scope_run(ctx, args, run_on, err);
}

static void complete(struct pw_completion *c)
{
    if (c->at != 0)
        return;
    pw_offer_arms(c);
    pw_complete_offer(c, "nearest");
}

const struct pw_command pw_cmd_transplant = {
    .name = "transplant",
    .usage = "transplant FROM|nearest [arm=K]",
    .example = "transplant 2",
    .summary = "copy the learned encoding of arm FROM (T5's bias, learned rows) to an arm",
    .detail =
        "Both must have the same encoding, of the same shape. All other weights stay; the moments of "
        "the copied\n"
        "weights start at 0. An arm that was evaluated is evaluated again at once. 'probe transplant' "
        "puts a\n"
        "head's attention pattern into another arm.\n"
        "`transplant nearest` gives learned entries that training never read (buckets of long distances, "
        "late\n"
        "positions) the values of the nearest trained entry. `why` tests whether that helps.",
    .where = PW_AT_LAB,
    .lasts = true,
    .also = pw_scope_opts,
    .complete = complete,
    .values = pw_offer_values,
    .run = run,
};
