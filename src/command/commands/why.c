/* why - run the probe why (src/probe/why*.c) at a length. */
#include "lab/actions.h"
#include "lab/offer.h"
#include "lab/scope.h"
#include "probe/probe.h"

extern const struct pw_command pw_cmd_why;

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    const struct pw_probe *probe = pw_probe_find("why");
    struct pw_args as_probe = *args; /* borrows the words; the probe's name is put before them */
    long length;
    if (pw_args_words(args) != 1)
        return pw_fail(err, PW_EUSER, "usage: %s", pw_cmd_why.usage);
    if (!pw_text_int(pw_args_word(args, 0), 1, 100000, &length))
        return pw_fail(err, PW_EUSER, "why: '%s' is not a length; usage: %s", pw_args_word(args, 0),
                       pw_cmd_why.usage);
    if (args->n == PW_MAX_WORDS)
        return pw_fail(err, PW_EUSER, "why: too many arguments; usage: %s", pw_cmd_why.usage);
    as_probe.words[0] = (struct pw_word){.value = (char *)probe->name};
    for (int i = 0; i < args->n; i++) {
        as_probe.words[i + 1] = args->words[i];
        if (args->words[i].key == NULL)
            as_probe.words[i + 1].key = (char *)pw_why_settings[0].name;
    }
    as_probe.n++;
    return pw_lab_probe(ctx, probe, pw_cmd_why.name, &as_probe, NULL, err);
}

static void complete(struct pw_completion *c)
{
    if (c->at == 0)
        pw_offer_lengths(c);
}

const struct pw_command pw_cmd_why = {
    .name = "why",
    .search = "cause diagnose explain extrapolation failure drop",
    .usage = "why LENGTH [samples=N] [arm=K]",
    .example = "why 8",
    .summary = "test what would recover the exact match that an arm lacks at a length",
    .detail =
        "Change a copy of the arm's model in one way at a time, on the same samples: options of the "
        "encoding,\n"
        "temperature of scores, scale and shift of positions, learned values, a window, heads. The changes "
        "are\n"
        "ranked by the exact match that they recover, with 95 % intervals and p-values (Holm). A cause\n"
        "recovers at least half of what is missing; the first one is measured again on further samples. The\n"
        "finding says 'none of these' if the model works at this length, or if there is no such change. The\n"
        "arm stays unchanged; Enter on a row of the finding puts the commands that make an arm of the "
        "change\n"
        "into the prompt. The same as `probe why length=LENGTH`; `help probe why` lists all changes.\n"
        "train 500; eval; why 20",
    .where = PW_AT_LAB,
    .lasts = true,
    .opts = &pw_why_settings[1],
    .also = pw_scope_opts,
    .complete = complete,
    .values = pw_offer_values,
    .run = run,
};
