/* tune - change options of an arm's encoding while all weights stay. */
#include <string.h>

#include "lab/actions.h"
#include "lab/encodings.h"
#include "lab/offer.h"
#include "lab/scope.h"

extern const struct pw_command pw_cmd_tune;

static void note_tuning(struct pw_lab *lab, const struct pw_replica *arm)
{
    struct pw_str now = {0};
    pw_encoding_shown(&now, &arm->pe);
    pw_lab_note(lab, "arm %d: %s; all weights stay", arm->id, pw_str_text(&now));
    pw_str_fini(&now);
}

static enum pw_code run_on(struct pw_lab *lab, struct pw_replica *arm, const struct pw_args *args,
                           struct pw_err *err)
{
    const char *word = pw_args_word(args, 0);
    struct pw_str text = {0};
    if (word != NULL && (strcmp(word, "off") != 0 || args->n > 1))
        return pw_fail(err, PW_EUSER, "tune: '%s': usage: %s", word, pw_cmd_tune.usage);
    for (int i = 0; word == NULL && i < args->n; i++)
        pw_str_add(&text, "%s%s=%s", i > 0 ? " " : "", args->words[i].key, args->words[i].value);
    enum pw_code code =
        args->n == 0 ? PW_OK : pw_lab_tune(lab, arm, word != NULL ? NULL : pw_str_text(&text), err);
    pw_str_fini(&text);
    if (code == PW_OK)
        note_tuning(lab, arm);
    return code;
}

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    return pw_scope_run(ctx, args, run_on, err);
}

/* Also offer the options of the arm's own encoding. */
static void complete(struct pw_completion *c)
{
    const struct pw_arm_view *arm = pw_offer_arm(c);
    const struct pw_opt *opts = arm != NULL ? pw_encoding_opts_of(arm->info.pe) : NULL;
    if (c->at == 0)
        pw_complete_offer(c, "off");
    for (const struct pw_opt *o = opts; o != NULL && o->name != NULL; o++)
        pw_complete_offer(c, "%s=", o->name);
}

const struct pw_command pw_cmd_tune = {
    .name = "tune",
    .usage = "tune [off] [key=value] [arm=K]",
    .example = "tune stretch=0.5",
    .summary = "change options of an arm's encoding without retraining; all weights stay",
    .detail =
        "  offset=N        N is added to all positions\n"
        "  stretch=X       positions and distances times X; 0.5 is linear interpolation by 2\n"
        "  gain=X          a fixed bias or slopes times X (alibi, grape)\n"
        "  temperature=X   q.k is divided by X\n"
        "  logn=N          beyond N tokens q.k is multiplied by ln(keys seen) / ln N\n"
        "and the encoding's own options that keep every parameter's shape: rotary base=, t5 distance=.\n"
        "'tune off' resets the first five. An arm that was evaluated is evaluated again at once.\n"
        "race rotary,alibi; train; eval; tune stretch=0.5 arm=1; tune gain=0.5 arm=2",
    .where = PW_AT_LAB,
    .lasts = true,
    .opts = pw_pe_tune_opts,
    .also = pw_scope_opts,
    .complete = complete,
    .values = pw_offer_values,
    .run = run,
};
