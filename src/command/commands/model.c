/* model - the shape of an arm. */
#include <stdio.h>
#include <string.h>

#include "lab/lab_int.h"
#include "lab/offer.h"
#include "lab/scope.h"

static enum pw_code run_on(struct pw_lab *lab, struct pw_arm *arm, const struct pw_args *args,
                           struct pw_err *err)
{
    struct pw_config cfg = arm->cfg;
    struct pw_optim optim = arm->optim;
    char preset[sizeof arm->preset];
    snprintf(preset, sizeof preset, "%s", arm->preset);
    if (pw_args_words(args) > 1)
        return pw_fail(err, PW_EUSER, "model: one preset at most, not '%s' too", pw_args_word(args, 1));
    enum pw_code code = PW_OK;
    if (pw_args_words(args) == 1) {
        code = pw_preset(pw_args_word(args, 0), &cfg, &optim, err);
        snprintf(preset, sizeof preset, "%s", pw_args_word(args, 0));
    }
    /* What follows from another key moves with it, unless it is given too. */
    if (pw_args_key(args, "heads") != NULL)
        cfg.head_width = 0;
    if (pw_args_key(args, "width") != NULL)
        pw_config_unset_width(&cfg);
    if (code == PW_OK)
        code = pw_args_opts(args, pw_config_opts, &cfg, err);
    if (code == PW_OK)
        code = pw_lab_set_model(lab, arm, preset, &cfg, &optim, err);
    if (code == PW_OK && args->n == 0) {
        struct pw_str s = {0};
        pw_opt_print(pw_config_opts, &cfg, false, &s);
        pw_lab_note(lab, "model %s%s", preset, pw_str_text(&s));
        pw_str_fini(&s);
    }
    return code;
}

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    return pw_scope_run(ctx, args, run_on, err);
}

static void complete(struct pw_completion *c)
{
    if (c->at == 0)
        pw_complete_offer_all(c, pw_preset_names);
}

const struct pw_command pw_cmd_model = {
    .name = "model",
    .usage = "model [PRESET] [key=value] [arm=K]",
    .summary = "shape of the current arm, or of arm K; begins it anew",
    .detail = "A preset (tiny, small, medium, paper) sets model, optimiser and steps; keys override it.",
    .where = PW_AT_LAB,
    .opts = pw_config_opts,
    .also = pw_scope_opts,
    .complete = complete,
    .values = pw_offer_values,
    .run = run,
};
