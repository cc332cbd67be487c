/* judge - judge the present measurements against a study's claims; `reproduce` ends with this command. */
#include <stdio.h>

#include "lab/actions.h"
#include "reproduce/repro.h"

extern const struct pw_command pw_cmd_judge;

/* Read the study and its options. */
static enum pw_code read_study(const struct pw_args *args, const struct pw_repro **study, void *opts,
                               struct pw_err *err)
{
    enum pw_code code = pw_args_limit(&pw_cmd_judge, args, 1, 1, err);
    if (code == PW_OK)
        code = pw_repro_find(study, pw_args_word(args, 0), err);
    if (code == PW_OK && (*study)->opts != NULL)
        pw_opt_defaults((*study)->opts, opts);
    if (code == PW_OK)
        code = pw_args_opts(args, (*study)->opts, opts, err);
    return code == PW_OK && (*study)->check != NULL ? (*study)->check(opts, err) : code;
}

/* Compare the lab with the study's plan. */
static enum pw_code check_plan(struct pw_lab *lab, const struct pw_repro *study, const void *opts,
                               struct pw_err *err)
{
    struct pw_plan plan = {.points = 1};
    char place[64];
    if (!pw_repro_plan(study, opts, &plan))
        return PW_OK;
    snprintf(place, sizeof place, "judge %s", study->name);
    enum pw_code code = pw_lab_plan_held(lab, &plan, err);
    if (code != PW_OK)
        pw_err_at(err, place);
    return code;
}

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    union {
        char bytes[PW_REPRO_OPTS_MAX];
        double align;
    } opts;
    struct pw_lab *lab = ctx;
    struct pw_finding f = {0};
    const struct pw_repro *study;
    enum pw_code code = read_study(args, &study, opts.bytes, err);
    if (code == PW_OK && !pw_repro_has_verdict(study))
        code = pw_fail(err, PW_EUSER, "judge: %s: its probe gives the verdict; run 'reproduce %s'",
                       study->name, study->name);
    if (code == PW_OK)
        code = check_plan(lab, study, opts.bytes, err);
    if (code == PW_OK)
        code = pw_repro_judge(study, opts.bytes, pw_lab_facts(lab).record, &f, err);
    if (code == PW_OK)
        pw_lab_emit_finding(lab, NULL, &f);
    pw_finding_fini(&f);
    return code;
}

static const struct pw_opt *opts_for(const struct pw_args *so_far)
{
    return pw_repro_opts(pw_args_word(so_far, 0));
}

static void complete(struct pw_completion *c)
{
    for (int i = 0; c->at == 0 && pw_repros[i] != NULL; i++)
        if (pw_repro_has_verdict(pw_repros[i]))
            pw_complete_offer(c, "%s", pw_repros[i]->name);
}

const struct pw_command pw_cmd_judge = {
    .name = "judge",
    .usage = "judge STUDY [key=value]",
    .example = "judge lengths",
    .summary = "give the verdict of a study from the evaluations and findings so far",
    .detail = "`reproduce STUDY` ends with this command. Use it alone to judge measurements made by hand; "
              "they must\n"
              "match the study's task, encodings, seeds, steps and samples.",
    .where = PW_AT_LAB,
    .opts_for = opts_for,
    .complete = complete,
    .run = run,
};
